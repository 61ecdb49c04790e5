// A row is an object's number. Its cells are read from the core when they are asked for, and only then: what a query
// does not mention costs nothing.

#include "cli/query/object_tables.h"

#include "analysis/array_row.h"
#include "cli/json.h"
#include "cli/render/object.h"
#include "parsers/base/text.h"

namespace heapsift {
namespace {

using Kind = SqlColumn::Kind;

void put(SqlResult& result, Address address) { result.number(address.value); }
void put(SqlResult& result, const std::optional<Address>& address) {
    if (address) put(result, *address);
}

/// Goes over objects: all of them, or a list.
class ObjectsCursor : public SqlCursor {
public:
    explicit ObjectsCursor(QueryHeap& heap) : heap_(heap) {}
    bool at_end() const override { return at_ >= end_; }
    void next() override {
        ++at_;
        moved();
    }
    std::int64_t rowid() override { return std::uint32_t{object()}; }

protected:
    ObjectId object() const { return list_ ? list_[at_] : ObjectId(at_); }
    void go_over(std::span<const ObjectId> list) {
        list_ = list.data();
        at_ = 0;
        end_ = list_ ? list.size() : 0;
        moved();
    }
    void go_over_all() {
        list_ = nullptr;
        at_ = 0;
        end_ = heap_.columns().object_count();
        moved();
    }
    void go_to(ObjectId object) {
        list_ = nullptr;
        at_ = object == no_object ? 0 : std::size_t{object};
        end_ = object == no_object ? 0 : at_ + 1;
        moved();
    }
    void go_to(const SqlKey& address) { go_to(address.integer ? heap_.find(*address.integer) : no_object); }
    /// Another row is the current one.
    virtual void moved() = 0;

    QueryHeap& heap_;

private:
    const ObjectId* list_ = nullptr;
    std::size_t at_ = 0, end_ = 0;
};

// --- object

enum ObjectColumn {
    object_address,
    object_type,
    object_size,
    object_memory,
    object_block_size,
    object_refcount,
    object_gc_tracked,
    object_generation,
    object_state,
    object_retained,
    object_dominator,
    object_value,
    object_native
};

class ObjectCursor final : public ObjectsCursor {
public:
    using ObjectsCursor::ObjectsCursor;
    void scan(int order) override {
        if (order == object_type)
            go_over(heap_.by_type().objects);
        else
            go_over_all();
    }
    void find(std::size_t index, const SqlKey& key) override {
        if (index == 0) return go_to(key);
        if (index == 1) {
            const bool there = key.integer && *key.integer >= 0;
            return go_over(there ? heap_.by_type().of(static_cast<std::size_t>(*key.integer) + 1)
                                 : std::span<const ObjectId>());
        }
        find_dominated(key);
    }
    void column(int column, SqlResult& result) override;

private:
    void moved() override { has_facts_ = false; }
    const ObjectFacts& facts() {
        if (!has_facts_) facts_ = heap_.heap().facts(object());
        has_facts_ = true;
        return facts_;
    }
    void find_dominated(const SqlKey& key) {
        dominated_.clear();
        const ObjectId above = key.integer ? heap_.find(*key.integer) : no_object;
        const RetainedLookup& retained = heap_.retained();
        if (above != no_object)
            heap_.compute([&] {
                retained.visit_children(HeapGraph::node_of(above), [&](NodeId node) {
                    if (heap_.graph().kind(node) == NodeKind::object)
                        dominated_.push_back(HeapGraph::object_of(node));
                });
                return 0;
            });
        go_over(dominated_);
    }

    ObjectFacts facts_;
    bool has_facts_ = false;
    std::vector<ObjectId> dominated_;
};

void ObjectCursor::column(int column, SqlResult& result) {
    const ObjectId id = object();
    const HeapSnapshot& columns = heap_.columns();
    switch (column) {
        case object_address:
            return put(result, columns.address_of(id));
        case object_type:
            if (columns.type_of(id) != no_type) result.integer(std::uint32_t{columns.type_of(id)});
            return;
        case object_size:
            return result.number(facts().size);
        case object_memory:
            return result.number(facts().memory);
        case object_block_size:
            return result.number(facts().block_size);
        case object_refcount:
            return result.integer(facts().refcount);
        case object_gc_tracked:
            return result.integer(facts().gc_tracked ? 1 : 0);
        case object_generation:
            if (const std::int8_t found = heap_.generations()[id]; found != no_generation)
                result.integer(found);
            return;
        case object_state:
            return result.text(name_of(heap_.states().of(id)));
        case object_retained:
            return result.number(heap_.retained().memory(id));
        case object_native:
            return result.number(heap_.retained().native(id));
        case object_dominator: {
            const NodeId above = heap_.retained().dominator(id);
            if (heap_.graph().kind(above) == NodeKind::object)
                put(result, columns.address_of(HeapGraph::object_of(above)));
            return;
        }
        case object_value: {
            const ShortValue value = heap_.heap().value(id);
            if (value.kind == ShortValue::Kind::none) return;
            return result.text(escape_for_terminal(
                heap_.redactor().value(value, type_name(columns.types, columns.type_of(id)))));
        }
        default:
            return;
    }
}

class ObjectTable final : public SqlTable {
public:
    explicit ObjectTable(QueryHeap& heap) : heap_(heap) {}
    const char* name() const override { return "object"; }
    const std::vector<SqlColumn>& columns() const override {
        static const std::vector<SqlColumn> all = {{"address", Kind::address},
                                                   {"type_id"},
                                                   {"size"},
                                                   {"memory"},
                                                   {"block_size"},
                                                   {"refcount"},
                                                   {"gc_tracked"},
                                                   {"generation"},
                                                   {"state", Kind::text},
                                                   {"retained"},
                                                   {"dominator", Kind::address},
                                                   {"value", Kind::text},
                                                   {"native"}};
        return all;
    }
    double rows() const override { return static_cast<double>(heap_.columns().object_count()); }
    std::vector<Index> indexes() const override {
        const double of_type = rows() / static_cast<double>(heap_.columns().types.size() + 1);
        return {
            {object_address, 1, true, 1}, {object_type, of_type, false, 1}, {object_dominator, 2, false, 8}};
    }
    std::vector<int> orders() const override {
        const std::size_t count = heap_.columns().object_count();
        const bool positive = count == 0 || heap_.columns().address_of(ObjectId(count - 1)).value >> 63 == 0;
        return positive ? std::vector<int>{object_address, object_type} : std::vector<int>{object_type};
    }
    std::unique_ptr<SqlCursor> open() override { return std::make_unique<ObjectCursor>(heap_); }

private:
    QueryHeap& heap_;
};

// --- array

class NumpyCursor final : public ObjectsCursor {
public:
    using ObjectsCursor::ObjectsCursor;
    void scan(int) override { go_over(heap_.arrays()); }
    void find(std::size_t, const SqlKey& key) override {
        const ObjectId found = key.integer ? heap_.find(*key.integer) : no_object;
        go_to(found != no_object && is_array(heap_.columns(), found) ? found : no_object);
    }
    void column(int column, SqlResult& result) override {
        if (column == 0) return put(result, heap_.columns().address_of(object()));
        if (!row_) row_ = array_row(heap_.heap(), object());
        switch (column) {
            case 1:
                if (row_->dtype) result.text(escape_for_terminal(*row_->dtype));
                return;
            case 2:
                if (row_->shape) result.text(json_text(*row_->shape));
                return;
            case 3:
                if (row_->strides) result.text(json_text(*row_->strides));
                return;
            case 4:
                if (row_->nbytes) result.number(*row_->nbytes);
                return;
            case 5:
                return put(result, row_->data);
            case 6:
                if (row_->owns_data) result.integer(*row_->owns_data ? 1 : 0);
                return;
            case 7:
                return put(result, row_->base);
            default:
                return put(result, row_->owner);
        }
    }

private:
    void moved() override { row_.reset(); }
    std::optional<ArrayRow> row_;
};

class NumpyTable final : public SqlTable {
public:
    explicit NumpyTable(QueryHeap& heap) : heap_(heap) {}
    const char* name() const override { return "array"; }
    const std::vector<SqlColumn>& columns() const override {
        static const std::vector<SqlColumn> all = {{"address", Kind::address},
                                                   {"dtype", Kind::text},
                                                   {"shape", Kind::text},
                                                   {"strides", Kind::text},
                                                   {"nbytes"},
                                                   {"data", Kind::address},
                                                   {"owns_data"},
                                                   {"base", Kind::address},
                                                   {"owner", Kind::address}};
        return all;
    }
    double rows() const override { return static_cast<double>(heap_.columns().object_count()) / 100 + 1; }
    std::vector<Index> indexes() const override { return {{0, 1, true, 1}}; }
    std::unique_ptr<SqlCursor> open() override { return std::make_unique<NumpyCursor>(heap_); }

private:
    QueryHeap& heap_;
};

// --- string

class StringCursor final : public ObjectsCursor {
public:
    using ObjectsCursor::ObjectsCursor;
    void scan(int) override { go_over(heap_.strings()); }
    void find(std::size_t, const SqlKey& key) override {
        const ObjectId found = key.integer ? heap_.find(*key.integer) : no_object;
        const std::vector<ObjectId>& strings = heap_.strings();
        go_to(std::binary_search(strings.begin(), strings.end(), found) ? found : no_object);
    }
    void column(int column, SqlResult& result) override {
        const HeapSnapshot& columns = heap_.columns();
        if (column == 0) return put(result, columns.address_of(object()));
        if (column == 2) {
            // Equal values have equal hashes: whoever may not see values may not try them out either.
            const std::uint64_t hash =
                heap_.redactor().active() ? ContentHashes::none : heap_.hashes().of(object());
            if (hash != ContentHashes::none) result.number(hash);
            return;
        }
        if (!value_) value_ = heap_.heap().value(object(), longest_string_value);
        if (value_->kind != ShortValue::Kind::literal) return;
        if (column == 1) return result.number(value_->length);
        result.text(escape_for_terminal(
            heap_.redactor().value(*value_, type_name(columns.types, columns.type_of(object())))));
    }

private:
    void moved() override { value_.reset(); }
    std::optional<ShortValue> value_;
};

class StringTable final : public SqlTable {
public:
    explicit StringTable(QueryHeap& heap) : heap_(heap) {}
    const char* name() const override { return "string"; }
    const std::vector<SqlColumn>& columns() const override {
        static const std::vector<SqlColumn> all = {
            {"address", Kind::address}, {"length"}, {"hash"}, {"value", Kind::text}};
        return all;
    }
    double rows() const override { return static_cast<double>(heap_.columns().object_count()) / 3 + 1; }
    std::vector<Index> indexes() const override { return {{0, 1, true, 1}}; }
    std::unique_ptr<SqlCursor> open() override { return std::make_unique<StringCursor>(heap_); }

private:
    QueryHeap& heap_;
};

}  // namespace

std::unique_ptr<SqlTable> object_table(QueryHeap& heap) { return std::make_unique<ObjectTable>(heap); }
std::unique_ptr<SqlTable> array_table(QueryHeap& heap) { return std::make_unique<NumpyTable>(heap); }
std::unique_ptr<SqlTable> string_table(QueryHeap& heap) { return std::make_unique<StringTable>(heap); }

}  // namespace heapsift
