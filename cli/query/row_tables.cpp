// What the commands holders, threads, tasks and memory answer is also what their tables have: each row is that of the
// command's JSON, under the same keys, redacted and escaped as in CSV. So a table cannot say something else than the
// command does.

#include "cli/query/row_tables.h"

#include "analysis/holders.h"
#include "analysis/memory.h"
#include "analysis/root_names.h"
#include "analysis/threads.h"
#include "cli/json.h"
#include "cli/render/export.h"
#include "cli/render/holders.h"
#include "cli/render/memory.h"
#include "cli/render/object.h"
#include "cli/render/tasks.h"
#include "cli/render/threads.h"
#include "cli/task_reader.h"
#include "cli/write/json.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"
#include "parsers/cpython/types.h"

#include <algorithm>
#include <numeric>

namespace heapsift {
namespace {

using Kind = SqlColumn::Kind;

SqlCell number_cell(std::uint64_t value) { return static_cast<std::int64_t>(value); }
SqlCell address_cell(Address address) { return number_cell(address.value); }
SqlCell text_cell(const std::string& text) { return escape_for_terminal(text); }

/// What a cell of CSV says of this, as SQL has it.
SqlCell cell_of_datum(const Datum* datum, Redactor& redactor) {
    if (!datum) return {};
    struct Convert {
        Redactor& redactor;
        SqlCell operator()(std::nullptr_t) const { return {}; }
        SqlCell operator()(bool truth) const { return std::int64_t{truth}; }
        SqlCell operator()(std::int64_t number) const { return number; }
        SqlCell operator()(std::uint64_t number) const { return number_cell(number); }
        SqlCell operator()(double number) const { return number; }
        SqlCell operator()(const std::string& text) const { return text_cell(text); }
        SqlCell operator()(Address address) const { return address_cell(address); }
        SqlCell operator()(const std::shared_ptr<const Datum::Long>& text) const {
            return text_cell(long_text(*text, redactor));
        }
        SqlCell operator()(const Datum::List& list) const { return json_text(Datum(list), redactor); }
        SqlCell operator()(const Datum::Entries& entries) const {
            return cell_of_datum(Datum(entries).find("address"), redactor);
        }
        SqlCell operator()(const std::shared_ptr<const Datum::Stream>&) const { return {}; }
    };
    return std::visit(Convert{redactor}, datum->content());
}

SqlRow row_of_datum(const Datum& datum, const std::vector<SqlColumn>& columns, Redactor& redactor) {
    SqlRow row;
    for (const SqlColumn& column : columns) row.push_back(cell_of_datum(datum.find(column.name), redactor));
    return row;
}

/// NULLs first, then numbers, then text, as SQLite sorts.
bool comes_before(const SqlCell& a, const SqlCell& b) {
    if (a.index() != b.index()) return a.index() < b.index();
    if (const auto* number = std::get_if<std::int64_t>(&a)) return *number < std::get<std::int64_t>(b);
    if (const auto* text = std::get_if<std::string>(&a)) return *text < std::get<std::string>(b);
    return false;
}

class RowsCursor final : public SqlCursor {
public:
    explicit RowsCursor(RowsTable& table) : table_(table) {}
    void scan(int order) override {
        by_order_ = order >= 0 ? table_.sorted_by(order).data() : nullptr;
        at_ = 0;
        end_ = table_.all().size();
    }
    void find(std::size_t index, const SqlKey& key) override {
        const int column = table_.orders()[index];
        const bool is_text = table_.columns()[static_cast<std::size_t>(column)].kind == Kind::text;
        SqlCell wanted;
        if (is_text && key.text) wanted = *key.text;
        if (!is_text && key.integer) wanted = *key.integer;
        const std::vector<std::uint32_t>& sorted = table_.sorted_by(column);
        by_order_ = sorted.data();
        at_ = end_ = 0;
        if (std::holds_alternative<std::monostate>(wanted)) return;
        const auto cell = [&](std::uint32_t row) -> const SqlCell& {
            return table_.all()[row][static_cast<std::size_t>(column)];
        };
        const auto first = std::lower_bound(
            sorted.begin(), sorted.end(), wanted,
            [&](std::uint32_t row, const SqlCell& value) { return comes_before(cell(row), value); });
        auto last = first;
        while (last != sorted.end() && !comes_before(wanted, cell(*last))) ++last;
        at_ = static_cast<std::size_t>(first - sorted.begin());
        end_ = static_cast<std::size_t>(last - sorted.begin());
    }
    bool at_end() const override { return at_ >= end_; }
    void next() override { ++at_; }
    void column(int column, SqlResult& result) override {
        result.cell(table_.all()[row()][static_cast<std::size_t>(column)]);
    }
    std::int64_t rowid() override { return static_cast<std::int64_t>(row()); }

private:
    std::size_t row() const { return by_order_ ? by_order_[at_] : at_; }
    RowsTable& table_;
    const std::uint32_t* by_order_ = nullptr;
    std::size_t at_ = 0, end_ = 0;
};

ThreadsResult threads_of(QueryHeap& heap) {
    const RetainedLookup& retained = heap.retained();
    return heap.compute(
        [&] { return threads(heap.heap(), 1, &retained, false, heap.question()->answers()); });
}

/// Each thread, and each of its calls, as the command's rows have them.
void visit_threads(QueryHeap& heap, const std::function<void(std::int64_t number, const Datum&)>& visit) {
    const Document document = render_threads(threads_of(heap));
    std::int64_t number = 0;
    document.rows([&](const Datum& thread) { visit(number++, thread); });
}

}  // namespace

std::vector<SqlTable::Index> RowsTable::indexes() const {
    std::vector<Index> all;
    for (const int column : shape_.indexed)
        all.push_back({column, 1, shape_.unique && column == shape_.indexed.front(), 2});
    return all;
}

std::unique_ptr<SqlCursor> RowsTable::open() { return std::make_unique<RowsCursor>(*this); }

const std::vector<SqlRow>& RowsTable::all() {
    if (make_) {
        rows_ = make_();
        make_ = nullptr;
    }
    return rows_;
}

const std::vector<std::uint32_t>& RowsTable::sorted_by(int column) {
    std::vector<std::uint32_t>& sorted = sorted_[column];
    if (sorted.size() != all().size()) {
        sorted.resize(all().size());
        std::iota(sorted.begin(), sorted.end(), 0U);
        const auto at = static_cast<std::size_t>(column);
        std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
            return comes_before(rows_[a][at], rows_[b][at]);
        });
    }
    return sorted;
}

std::unique_ptr<RowsTable> meta_table(QueryHeap& heap) {
    RowsTable::Shape shape{"meta", {{"key", Kind::text}, {"value", Kind::text}}, {0}};
    return std::make_unique<RowsTable>(std::move(shape), [&heap] {
        std::vector<SqlRow> rows;
        const Json meta = export_meta(heap.session().head("export"), heap.columns().types.size(),
                                      heap.columns().object_count(), heap.redactor().active());
        for (const auto& [key, value] : meta.items()) {
            SqlCell cell;
            if (value.is_boolean())
                cell = std::int64_t{value.get<bool>()};
            else if (value.is_number_integer())
                cell = value.get<std::int64_t>();
            else if (!value.is_null())
                cell = value.is_string() ? text_cell(value.get<std::string>()) : SqlCell(json_text(value));
            rows.push_back({key, std::move(cell)});
        }
        return rows;
    });
}

std::unique_ptr<RowsTable> type_table(QueryHeap& heap) {
    RowsTable::Shape shape{
        "type",
        {{"id"}, {"name", Kind::text}, {"address", Kind::address}, {"basicsize"}, {"itemsize"}, {"base_id"}},
        {0, 1, 2},
        static_cast<double>(heap.columns().types.size())};
    return std::make_unique<RowsTable>(std::move(shape), [&heap] {
        const TypeTable& types = heap.columns().types;
        std::vector<SqlRow> rows;
        for (TypeId id{0}; id < types.size(); ++id) {
            const TypeInfo& info = types[id];
            rows.push_back(
                {std::int64_t{std::uint32_t{id}}, text_cell(info.name), address_cell(info.address),
                 number_cell(info.basicsize), std::int64_t{info.itemsize},
                 info.base == no_type ? SqlCell() : SqlCell(std::int64_t{std::uint32_t{info.base}})});
        }
        return rows;
    });
}

std::unique_ptr<RowsTable> root_table(QueryHeap& heap) {
    // The column of addresses is no key: an object may have several roots.
    RowsTable::Shape shape{
        "root", {{"address", Kind::address}, {"kind", Kind::text}, {"name", Kind::text}}, {0}, 10000, false};
    return std::make_unique<RowsTable>(std::move(shape), [&heap] {
        const HeapGraph& graph = heap.graph();
        RootNamer names(graph);
        std::vector<SqlRow> rows;
        for (const HeapGraph::PlacedRoot& placed : graph.roots())
            rows.push_back({address_cell(heap.columns().address_of(placed.root.object)),
                            std::string(name_of(placed.root.kind)), text_cell(names.name(placed.root))});
        return rows;
    });
}

std::unique_ptr<RowsTable> holder_table(QueryHeap& heap) {
    RowsTable::Shape shape{"holder",
                           {{"type", Kind::text},
                            {"holder", Kind::text},
                            {"attribute", Kind::text},
                            {"expression", Kind::text},
                            {"example", Kind::address},
                            {"count"},
                            {"size"},
                            {"memory"},
                            {"array_data"},
                            {"native"},
                            {"retained"}},
                           {},
                           1000};
    const std::vector<SqlColumn> columns = shape.columns;
    return std::make_unique<RowsTable>(std::move(shape), [&heap, columns] {
        heap.retained();
        HoldersResult found = heap.compute([&] {
            return holders(heap.graph(), {}, {}, 0, heap.session().progress(), heap.question()->answers(),
                           &heap.question()->retained());
        });
        heap.session().clear_progress();
        std::vector<SqlRow> rows;
        render_holders(std::move(found), "holders", "").rows([&](const Datum& row) {
            rows.push_back(row_of_datum(row, columns, heap.redactor()));
        });
        return rows;
    });
}

std::unique_ptr<RowsTable> thread_table(QueryHeap& heap) {
    RowsTable::Shape shape{"thread",
                           {{"id"},
                            {"tid"},
                            {"name", Kind::text},
                            {"gil"},
                            {"ident", Kind::address},
                            {"interpreter"},
                            {"state", Kind::address},
                            {"retained"}},
                           {0}};
    const std::vector<SqlColumn> columns = shape.columns;
    return std::make_unique<RowsTable>(std::move(shape), [&heap, columns] {
        std::vector<SqlRow> rows;
        visit_threads(heap, [&](std::int64_t number, const Datum& thread) {
            rows.push_back(row_of_datum(thread, columns, heap.redactor()));
            rows.back().front() = number;
        });
        return rows;
    });
}

std::unique_ptr<RowsTable> frame_table(QueryHeap& heap) {
    RowsTable::Shape shape{"frame",
                           {{"thread_id"},
                            {"depth"},
                            {"function", Kind::text},
                            {"file", Kind::text},
                            {"line"},
                            {"frame", Kind::address},
                            {"code", Kind::address},
                            {"retained"}}};
    const std::vector<SqlColumn> columns = shape.columns;
    return std::make_unique<RowsTable>(std::move(shape), [&heap, columns] {
        std::vector<SqlRow> rows;
        visit_threads(heap, [&](std::int64_t number, const Datum& thread) {
            std::int64_t depth = 0;
            for (const Datum& frame : thread.find("frames")->items()) {
                rows.push_back(row_of_datum(frame, columns, heap.redactor()));
                rows.back()[0] = number;
                rows.back()[1] = depth++;
            }
        });
        return rows;
    });
}

std::unique_ptr<RowsTable> task_table(QueryHeap& heap) {
    RowsTable::Shape shape{"task",
                           {{"address", Kind::address},
                            {"kind", Kind::text},
                            {"name", Kind::text},
                            {"coroutine", Kind::text},
                            {"function", Kind::text},
                            {"file", Kind::text},
                            {"line"},
                            {"awaits", Kind::text},
                            {"waits_for", Kind::address},
                            {"finishes"},
                            {"retained"},
                            {"expression", Kind::text}},
                           {0},
                           1000};
    const std::vector<SqlColumn> columns = shape.columns;
    return std::make_unique<RowsTable>(std::move(shape), [&heap, columns] {
        heap.retained();
        std::vector<SqlRow> rows;
        heap.compute([&] {
            const ProgressCallback progress = heap.session().progress();
            const TaskReader reader(heap.question());
            const TasksResult found = reader.find(progress);
            std::vector<ObjectId> objects;
            for (const TaskRow& row : found.rows) objects.push_back(row.object);
            const ReadTask read = reader.read(found, objects, progress);
            for (const TaskRow& row : found.rows)
                rows.push_back(row_of_datum(task_data(found, row, read(row)), columns, heap.redactor()));
            return 0;
        });
        heap.session().clear_progress();
        return rows;
    });
}

std::unique_ptr<RowsTable> region_table(QueryHeap& heap) {
    // `end` is a word of SQL.
    RowsTable::Shape shape{"region",
                           {{"start", Kind::address},
                            {"size"},
                            {"flags", Kind::text},
                            {"saved"},
                            {"file", Kind::text},
                            {"owner", Kind::text}},
                           {0},
                           1000};
    const std::vector<SqlColumn> columns = shape.columns;
    return std::make_unique<RowsTable>(std::move(shape), [&heap, columns] {
        heap.need(Need::memory);
        heap.need(Need::native);
        std::vector<SqlRow> rows;
        MemoryResult found =
            heap.compute([&] { return memory(heap.heap(), true, 0, heap.question()->answers()); });
        render_memory(std::move(found), true).rows([&](const Datum& row) {
            rows.push_back(row_of_datum(row, columns, heap.redactor()));
        });
        return rows;
    });
}

}  // namespace heapsift
