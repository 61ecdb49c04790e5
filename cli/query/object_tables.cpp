// A row is an object's number. Its cells are read from the core when they are asked for, and only then: what a query
// does not mention costs nothing.

#include "cli/query/object_tables.h"

#include "analysis/array_row.h"
#include "cli/json.h"
#include "cli/query/heap_table.h"
#include "cli/render/object.h"
#include "parsers/base/text.h"

#include <algorithm>

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

/// Over a list of objects, sorted by number, which is made when it is first asked for; found by address.
class ListedCursor : public ObjectsCursor {
public:
    using List = const std::vector<ObjectId>& (QueryHeap::*)();
    ListedCursor(QueryHeap& heap, List list) : ObjectsCursor(heap), list_(list) {}
    void scan(int) override { go_over((heap_.*list_)()); }
    void find(std::size_t, const SqlKey& key) override {
        const ObjectId found = key.integer ? heap_.find(*key.integer) : no_object;
        const std::vector<ObjectId>& all = (heap_.*list_)();
        go_to(std::binary_search(all.begin(), all.end(), found) ? found : no_object);
    }

private:
    List list_;
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

class ObjectTable final : public HeapTable<ObjectCursor> {
public:
    using HeapTable::HeapTable;
    std::vector<Index> indexes() const override {
        const double of_type = object_count() / static_cast<double>(heap_.columns().types.size() + 1);
        return {
            {object_address, 1, true, 1}, {object_type, of_type, false, 1}, {object_dominator, 2, false, 8}};
    }
    std::vector<int> orders() const override {
        const std::size_t count = heap_.columns().object_count();
        const bool positive = count == 0 || heap_.columns().address_of(ObjectId(count - 1)).value >> 63 == 0;
        return positive ? std::vector<int>{object_address, object_type} : std::vector<int>{object_type};
    }
};

// --- array

class NumpyCursor final : public ListedCursor {
public:
    explicit NumpyCursor(QueryHeap& heap) : ListedCursor(heap, &QueryHeap::arrays) {}
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

// --- string

class StringCursor final : public ListedCursor {
public:
    explicit StringCursor(QueryHeap& heap) : ListedCursor(heap, &QueryHeap::strings) {}
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

}  // namespace

std::unique_ptr<SqlTable> object_table(QueryHeap& heap) {
    return std::make_unique<ObjectTable>(heap, ObjectTable::Shape{"object",
                                                                  {{"address", Kind::address},
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
                                                                   {"native"}},
                                                                  1});
}

std::unique_ptr<SqlTable> array_table(QueryHeap& heap) {
    using Table = HeapTable<NumpyCursor>;
    return std::make_unique<Table>(heap, Table::Shape{"array",
                                                      {{"address", Kind::address},
                                                       {"dtype", Kind::text},
                                                       {"shape", Kind::text},
                                                       {"strides", Kind::text},
                                                       {"nbytes"},
                                                       {"data", Kind::address},
                                                       {"owns_data"},
                                                       {"base", Kind::address},
                                                       {"owner", Kind::address}},
                                                      0.01,
                                                      {{0, 1, true, 1}}});
}

std::unique_ptr<SqlTable> string_table(QueryHeap& heap) {
    using Table = HeapTable<StringCursor>;
    return std::make_unique<Table>(
        heap, Table::Shape{"string",
                           {{"address", Kind::address}, {"length"}, {"hash"}, {"value", Kind::text}},
                           1.0 / 3,
                           {{0, 1, true, 1}}});
}

}  // namespace heapsift
