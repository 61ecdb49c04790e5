#include "cli/render/diff_data.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

Datum numbers_of(const std::vector<Amounts>& at, std::uint64_t Amounts::*field) {
    return Datum::list_of(at, [&](const Amounts& amounts) { return Datum(amounts.*field); });
}

/// Fields of a row: before, after and growth of each sum.
Datum with_amounts(Datum row, const AmountsByCore& amounts, std::int64_t whole) {
    const auto add = [&](const std::string& name, std::uint64_t before, std::uint64_t after) {
        row[name + "_before"] = before;
        row[name + "_after"] = after;
        row[name + "_delta"] = AmountsByCore::difference(before, after);
    };
    const Amounts &first = amounts.at.front(), &last = amounts.at.back();
    add("count", first.count, last.count);
    add("size", first.size, last.size);
    add("memory", first.memory, last.memory);
    add("array_data", first.array_data, last.array_data);
    add("native", first.native, last.native);
    row["share"] = whole > 0 ? static_cast<double>(amounts.bytes_growth()) / static_cast<double>(whole) : 0.0;
    if (amounts.at.size() > 2) {
        row["counts"] = numbers_of(amounts.at, &Amounts::count);
        row["memories"] = numbers_of(amounts.at, &Amounts::memory);
    }
    return row;
}

Datum grown_type(const GrowthResult& all, const GrownName& row) {
    Datum data = with_amounts(entries({{"name", row.name}}), row.amounts, all.whole);
    data["retained_before"] = row.retained.front();
    data["retained_after"] = row.retained.back();
    data["retained_delta"] =
        row.retained.front() && row.retained.back()
            ? Datum(AmountsByCore::difference(*row.retained.front(), *row.retained.back()))
            : Datum();
    return data;
}

Datum grown_array(const GrowthResult& all, const GrownName& row) {
    return with_amounts(entries({{"name", row.name}}), row.amounts, all.whole);
}

Datum grown_line(const GrowthResult&, const GrownName& row) {
    const Amounts &first = row.amounts.at.front(), &last = row.amounts.at.back();
    return entries({{"file", FilePath{row.name}},
                    {"line", row.line},
                    {"count_before", first.count},
                    {"count_after", last.count},
                    {"count_delta", row.amounts.count_growth()},
                    {"size_before", first.size},
                    {"size_after", last.size},
                    {"size_delta", row.amounts.bytes_growth()}});
}

Datum grown_row(const GrowthResult& all, const GrownRow& row) {
    Datum data = entries({{"type", row.row.type},
                          {"holder", row.row.holder},
                          {"attribute", row.row.attribute},
                          {"expression", row.row.expression},
                          {"example", row.row.example}});
    data["garbage"] = row.row.kind == HeldRow::Kind::garbage;
    data = with_amounts(std::move(data), row.amounts, all.whole);
    if (all.cores.back().compared) {
        data["appeared"] = row.row.appeared;
        data["stayed"] = row.row.stayed;
    }
    return data;
}

Datum grown_place(const GrowthResult& all, const GrownPlace& place) {
    Datum data = entries(
        {{"holder", place.holder},
         {"attribute", place.place},
         {"expression", place.expression},
         {"example", place.example},
         {"bytes_before", place.before()},
         {"bytes_after", place.after()},
         {"bytes_delta", place.growth},
         {"units", place.units},
         {"steady", place.steady},
         {"attributes", Datum::list_of(place.names, [](const std::string& name) { return Datum(name); })},
         {"usual", place.usual}});
    data["garbage"] = place.kind == HeldRow::Kind::garbage;
    data["share"] = all.whole > 0 ? static_cast<double>(place.growth) / static_cast<double>(all.whole) : 0.0;
    data["parts"] = Datum::list_of(place.parts, [](const GrownPlace::Part& part) {
        return entries({{"type", part.type},
                        {"count_delta", part.count},
                        {"bytes_delta", part.bytes},
                        {"each", part.each == 0 ? Datum() : Datum(part.each)},
                        {"beside", part.beside}});
    });
    if (place.bytes.size() > 2)
        data["bytes"] = Datum::list_of(place.bytes, [](std::uint64_t bytes) { return Datum(bytes); });
    if (all.cores.back().compared) {
        data["appeared"] = place.appeared;
        data["stayed"] = place.stayed;
    }
    return data;
}

Datum grown_native(const GrowthResult&, const GrownNative& row) {
    return entries({{"class", or_null(row.now.of_class)},
                    {"size", row.now.size},
                    {"count_before", row.count.front()},
                    {"count_after", row.count.back()},
                    {"count_delta", row.count_growth()},
                    {"bytes_before", row.bytes.front()},
                    {"bytes_after", row.bytes.back()},
                    {"bytes_delta", row.growth()},
                    {"leaked", row.now.leaked},
                    {"held_by", or_null(row.now.held_by)},
                    {"example", row.now.example}});
}

Datum grown_memory_row(const GrowthResult&, const GrownMemory& row) {
    return entries({{"name", row.name},
                    {"bytes_before", row.bytes.front()},
                    {"bytes_after", row.bytes.back()},
                    {"bytes_delta", row.growth()}});
}

Datum compared_core(const GrowthResult& all, const GrowthResult::Core& core) {
    Datum data = entries({{"file", FilePath{core.file}},
                          {"pid", core.pid},
                          {"python", core.python},
                          {"objects", core.objects},
                          {"in_use", core.in_use}});
    if (all.same_process && core.compared) {
        data["appeared"] = core.appeared;
        data["kept"] = core.kept;
        data["gone"] = core.gone;
    }
    return data;
}

const char* name_of_cause(GrowthResult::Cause cause) {
    switch (cause) {
        case GrowthResult::Cause::place:
            return "place";
        case GrowthResult::Cause::native:
            return "native";
        case GrowthResult::Cause::memory:
            return "memory";
        case GrowthResult::Cause::nothing:
            break;
    }
    return "nothing";
}

template <class Row>
Document::Table grown_table(const char* key, const std::shared_ptr<const GrowthResult>& result,
                            std::vector<Row> GrowthResult::*rows,
                            Datum (*make)(const GrowthResult&, const Row&), std::size_t most = 0) {
    return {key, [result, rows, make, most](const std::function<void(const Datum&)>& visit) {
                std::size_t shown = 0;
                for (const Row& row : *result.*rows) {
                    if (most != 0 && shown++ == most) break;
                    visit(make(*result, row));
                }
            }};
}

const std::vector<std::string> grown_sums_columns = {
    "count_before",  "count_after",       "count_delta",      "size_before",
    "size_after",    "size_delta",        "memory_before",    "memory_after",
    "memory_delta",  "array_data_before", "array_data_after", "array_data_delta",
    "native_before", "native_after",      "native_delta",     "share"};

std::vector<std::string> columns_with_sums(std::vector<std::string> names) {
    names.insert(names.end(), grown_sums_columns.begin(), grown_sums_columns.end());
    return names;
}

}  // namespace

void add_diff_data(const std::shared_ptr<const GrowthResult>& result, const DiffShown& shown, Text headline,
                   Document& document) {
    struct Choice {
        DiffTable table;
        Document::Table rows;
        std::vector<std::string> columns;
    };
    const auto most = [&](DiffTable table) { return table == shown.table ? shown.rows : 0; };
    std::vector<Choice> tables;
    tables.push_back({DiffTable::types,
                      grown_table("types", result, &GrowthResult::types, grown_type, most(DiffTable::types)),
                      columns_with_sums({"name"})});
    tables.push_back(
        {DiffTable::holders,
         grown_table("holders", result, &GrowthResult::held, grown_row, most(DiffTable::holders)),
         columns_with_sums({"type", "holder", "attribute", "expression", "example"})});
    tables.push_back(
        {DiffTable::arrays,
         grown_table("arrays", result, &GrowthResult::arrays, grown_array, most(DiffTable::arrays)),
         columns_with_sums({"name"})});
    tables.push_back(
        {DiffTable::native,
         grown_table("native", result, &GrowthResult::natives, grown_native, most(DiffTable::native)),
         {"class", "size", "count_before", "count_after", "count_delta", "bytes_before", "bytes_after",
          "bytes_delta", "leaked", "held_by", "example"}});
    tables.push_back({DiffTable::lines,
                      grown_table("lines", result, &GrowthResult::lines, grown_line, most(DiffTable::lines)),
                      {"file", "line", "count_before", "count_after", "count_delta", "size_before",
                       "size_after", "size_delta"}});
    tables.push_back({DiffTable::memory,
                      grown_table("memory", result, &GrowthResult::memories, grown_memory_row),
                      {"name", "bytes_before", "bytes_after", "bytes_delta"}});
    const DiffTable first = shown.table == DiffTable::summary ? DiffTable::types : shown.table;
    for (Choice& one : tables)
        if (one.table == first) {
            document.rows_key = one.rows.key;
            document.rows = std::move(one.rows.rows);
            document.csv_columns = std::move(one.columns);
        } else {
            document.more_tables.push_back(std::move(one.rows));
        }
    document.more_tables.push_back(grown_table("places", result, &GrowthResult::places, grown_place));
    document.data["cores"] = Datum::list_of(
        result->cores, [&](const GrowthResult::Core& core) { return compared_core(*result, core); });
    document.data["same_process"] = result->same_process;
    document.data["same_program"] = result->same_program;
    document.data["headline"] = std::move(headline);
    document.data["cause"] = name_of_cause(result->cause);
    document.data["growth"] = result->whole;
    document.data["in_use_delta"] =
        AmountsByCore::difference(result->cores.front().in_use, result->cores.back().in_use);
}

}  // namespace heapsift
