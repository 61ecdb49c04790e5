// The tables of references, and of C code's blocks.
//
// References are named while an object is read, so they come object by object: all references of one source are read at
// once, and handed out one by one. What refers to an object is not in the object: the first lookup by target turns the
// columns of references round (QueryHeap::referrers), and each lookup then reads the few sources of one target.

#include "analysis/native.h"
#include "cli/query/heap_table.h"
#include "cli/query/object_tables.h"
#include "cli/render/object.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <unordered_map>

namespace heapsift {
namespace {

using KindOf = SqlColumn::Kind;

class ReferenceCursor final : public SqlCursor {
public:
    explicit ReferenceCursor(QueryHeap& heap) : heap_(heap) {}
    void scan(int) override {
        begin();
        until_ = heap_.columns().object_count();
        natives_left_ = true;
        read_on();
    }
    void find(std::size_t index, const SqlKey& key) override {
        begin();
        if (!key.integer) return;
        const Address address(static_cast<std::uint64_t>(*key.integer));
        if (index == 0)
            find_source(address);
        else
            find_target(address);
    }
    bool at_end() const override { return at_ >= rows_.size(); }
    void next() override {
        if (++at_ == rows_.size()) read_on();
    }
    void column(int column, SqlResult& result) override {
        const Row& row = rows_[at_];
        switch (column) {
            case 0:
                return result.number(row.source.value);
            case 1:
                return result.number(row.reference.target.value);
            case 2:
                return result.text(escape_for_terminal(heap_.redactor().reference_name(row.reference.step)));
            case 3:
                return result.text(name_of(row.reference.kind));
            default:
                return result.integer(heap_.structural().follows(row.followed_from, row.reference) ? 1 : 0);
        }
    }
    std::int64_t rowid() override;

private:
    struct Row {
        Address source, followed_from;
        Reference reference;
    };

    void begin() {
        heap_.need_references();
        rows_.clear();
        at_ = 0;
        next_ = ObjectId(0);
        until_ = 0;
        natives_left_ = false;
    }
    void add_of(ObjectId source) {
        const Address address = heap_.columns().address_of(source);
        heap_.heap().visit_references(source, [&](const Reference& reference) {
            rows_.push_back({address, address, reference});
        });
    }
    template <class Keep>
    void add_natives(const Keep& keep) {
        heap_.heap().visit_native_references([&](const Reference& reference) {
            if (keep(reference)) rows_.push_back({reference.word, Address(), reference});
        });
    }
    /// The next object that has references.
    void read_on() {
        rows_.clear();
        at_ = 0;
        while (rows_.empty() && next_ < until_) {
            add_of(next_);
            ++next_;
        }
        if (!rows_.empty() || !natives_left_) return;
        natives_left_ = false;
        add_natives([](const Reference&) { return true; });
    }
    void find_source(Address address) {
        if (const ObjectId source = heap_.columns().find(address); source != no_object) return add_of(source);
        add_natives([&](const Reference& reference) { return reference.word == address; });
    }
    void find_target(Address address) {
        const ObjectId target = heap_.columns().find(address);
        if (target == no_object) return find_lost(address);
        ObjectId last = no_object;
        std::vector<ObjectId> sources;
        for (const ObjectId source : heap_.referrers().of(target)) sources.push_back(source);
        std::sort(sources.begin(), sources.end());
        const ObjectId only[] = {target};
        for (const ObjectId source : sources) {
            if (source == last) continue;
            last = source;
            const Address from = heap_.columns().address_of(source);
            heap_.heap().visit_references_to(source, only, [&](const Reference& reference) {
                rows_.push_back({from, from, reference});
            });
        }
        for (const Reference& reference : natives_to(address))
            rows_.push_back({reference.word, Address(), reference});
    }
    /// References to an address at which there is no object: only a look at all of them tells.
    void find_lost(Address address) {
        for (ObjectId source{0}; source < heap_.columns().object_count(); ++source) {
            const std::size_t before = rows_.size();
            add_of(source);
            rows_.erase(std::remove_if(rows_.begin() + static_cast<std::ptrdiff_t>(before), rows_.end(),
                                       [&](const Row& row) { return row.reference.target != address; }),
                        rows_.end());
        }
        add_natives([&](const Reference& reference) { return reference.target == address; });
    }
    const std::vector<Reference>& natives_to(Address target) {
        if (!has_natives_) {
            has_natives_ = true;
            heap_.heap().visit_native_references(
                [&](const Reference& reference) { natives_[reference.target.value].push_back(reference); });
        }
        static const std::vector<Reference> none;
        const auto found = natives_.find(target.value);
        return found == natives_.end() ? none : found->second;
    }

    QueryHeap& heap_;
    std::vector<Row> rows_;
    std::size_t at_ = 0;
    ObjectId next_{0};
    std::size_t until_ = 0;
    bool natives_left_ = false;
    bool has_natives_ = false;
    std::unordered_map<std::uint64_t, std::vector<Reference>> natives_;  // by target
};

/// Of source and target, and which it is of those between the two: the same whichever of them was looked up. But for
/// a chance of 2^-64 a pair no two rows have the same.
std::int64_t ReferenceCursor::rowid() {
    const Row& row = rows_[at_];
    std::uint64_t which = 0;
    for (std::size_t i = at_; i-- > 0 && rows_[i].source == row.source;)
        which += rows_[i].reference.target == row.reference.target;
    std::uint64_t mixed = row.source.value * 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 31 ^ row.reference.target.value) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 29 ^ which) * 0x94d049bb133111ebU;
    return static_cast<std::int64_t>(mixed ^ mixed >> 32);
}

// --- native

struct Block {
    Address address;
    std::uint32_t row;
};

/// By address; read when first asked for.
class NativeTable final : public SqlTable {
public:
    explicit NativeTable(QueryHeap& heap) : heap_(heap) {}
    const char* name() const override { return "native"; }
    const std::vector<SqlColumn>& columns() const override {
        static const std::vector<SqlColumn> all = {{"address", KindOf::address}, {"size"},
                                                   {"class", KindOf::text},      {"content", KindOf::text},
                                                   {"held_by", KindOf::text},    {"leaked"}};
        return all;
    }
    double rows() const override { return 100000; }
    std::vector<Index> indexes() const override { return {{0, 1, true, 1}}; }
    std::unique_ptr<SqlCursor> open() override;

    const std::vector<Block>& blocks() {
        if (!reader_) {
            heap_.need(Need::native);
            heap_.compute([&] {
                heap_.heap().visit_native_blocks([&](Address start, std::uint32_t row) {
                    blocks_.push_back({start, row});
                });
                std::sort(blocks_.begin(), blocks_.end(),
                          [](const Block& a, const Block& b) { return a.address < b.address; });
                return reader_.emplace(heap_.heap()), 0;
            });
        }
        return blocks_;
    }
    NativeListRow row(const Block& block) { return reader_->row(block.address, block.row); }
    std::uint64_t size(const Block& block) const { return heap_.columns().native->rows[block.row].size; }

private:
    QueryHeap& heap_;
    std::vector<Block> blocks_;
    std::optional<NativeListReader> reader_;
};

class NativeCursor final : public SqlCursor {
public:
    explicit NativeCursor(NativeTable& table) : table_(table) {}
    void scan(int) override {
        blocks_ = table_.blocks();
        go_to(0);
    }
    void find(std::size_t, const SqlKey& key) override {
        blocks_ = {};
        if (key.integer) {
            const std::vector<Block>& all = table_.blocks();
            const Address address(static_cast<std::uint64_t>(*key.integer));
            const auto found = std::lower_bound(all.begin(), all.end(), address,
                                                [](const Block& a, Address b) { return a.address < b; });
            if (found != all.end() && found->address == address) blocks_ = {&*found, 1};
        }
        go_to(0);
    }
    bool at_end() const override { return at_ >= blocks_.size(); }
    void next() override { go_to(at_ + 1); }
    std::int64_t rowid() override { return static_cast<std::int64_t>(blocks_[at_].address.value); }
    void column(int column, SqlResult& result) override {
        const Block& block = blocks_[at_];
        if (column == 0) return result.number(block.address.value);
        if (column == 1) return result.number(table_.size(block));
        if (!row_) row_ = table_.row(block);
        const auto text = [&](const std::string& words) {
            if (!words.empty()) result.text(escape_for_terminal(words));
        };
        if (column == 2) return text(row_->of_class);
        if (column == 3) return text(row_->content);
        if (column == 4) return text(row_->held_by);
        if (row_->leaked) result.integer(*row_->leaked ? 1 : 0);
    }

private:
    void go_to(std::size_t place) {
        at_ = place;
        row_.reset();
    }
    NativeTable& table_;
    std::span<const Block> blocks_;
    std::size_t at_ = 0;
    std::optional<NativeListRow> row_;
};

std::unique_ptr<SqlCursor> NativeTable::open() { return std::make_unique<NativeCursor>(*this); }

}  // namespace

std::unique_ptr<SqlTable> reference_table(QueryHeap& heap) {
    using Table = HeapTable<ReferenceCursor>;
    return std::make_unique<Table>(heap, Table::Shape{"reference",
                                                      {{"source", KindOf::address},
                                                       {"target", KindOf::address},
                                                       {"name", KindOf::text},
                                                       {"kind", KindOf::text},
                                                       {"followed"}},
                                                      3,
                                                      {{0, 3, false, 3}, {1, 3, false, 12}}});
}
std::unique_ptr<SqlTable> native_table(QueryHeap& heap) { return std::make_unique<NativeTable>(heap); }

}  // namespace heapsift
