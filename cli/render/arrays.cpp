// Arrays: a summary of owners, then tables of owners, views, or holders.

#include "cli/render/arrays.h"

#include "analysis/object_paths.h"
#include "cli/render/array.h"
#include "cli/render/object.h"
#include "cli/render/pandas_frames.h"
#include "cli/render/path.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <map>

namespace heapsift {
namespace {

constexpr std::size_t most_holders_in_summary = 10;

using ColumnAlign = TableColumn::Align;
using ColumnFit = TableColumn::Fit;

const HeapReader& heap_of(const Arrays& arrays) { return arrays.graph().heap(); }

std::string with_shape(const HeapReader& heap, ObjectId object, const Page& page) {
    return value_text(brief_object_row(heap, object), page.redact());
}

// "numpy.ndarray (463, 32, 32, 3) float64", "bytes", "native memory".
std::string owner_words(const Arrays& arrays, const ArrayOwner& owner, const Page& page) {
    if (owner.object == no_object) return "native memory";
    const HeapReader& heap = heap_of(arrays);
    const std::string type = type_text(type_name(heap, heap.type_of(owner.object)));
    return is_array(heap, owner.object) ? type + " " + with_shape(heap, owner.object, page) : type;
}

Address address_of(const Arrays& arrays, const ArrayOwner& owner) {
    return heap_of(arrays).address_of(owner.object == no_object ? owner.lent_to : owner.object);
}

// --- JSON

Json array_json(const Arrays& arrays, std::uint32_t place, Redactor& redactor) {
    const HeapReader& heap = heap_of(arrays);
    const SeenArray& seen = arrays.arrays()[place];
    const ArrayOwner& owner = arrays.owners()[seen.owner];
    Json json = object_json(object_row(heap, seen.object), redactor);
    add_array(json, array_row(heap, seen.object));
    json["owner_nbytes"] = owner.nbytes();
    json["saved"] = owner.saved;
    return json;
}

Json owner_json(const Arrays& arrays, std::uint32_t place, const ArrayPlace* where, Redactor& redactor) {
    const HeapReader& heap = heap_of(arrays);
    const ArrayOwner& owner = arrays.owners()[place];
    Json json;
    json["owner"] =
        owner.object == no_object ? Json(nullptr) : object_json(object_row(heap, owner.object), redactor);
    json["nbytes"] = owner.nbytes();
    json["views"] = owner.views;
    json["visible_bytes"] = owner.visible_bytes;
    json["pinned"] = owner.pinned();
    json["kept_by_views"] = owner.kept_by_views;
    json["visible_exact"] = owner.visible_exact;
    json["size_known"] = owner.size_known;
    json["saved"] = owner.saved;
    json["garbage"] = owner.garbage;
    json["data"] = address_json(Address(owner.bytes.begin));
    if (owner.object == no_object) json["lent_to"] = address_json(heap.address_of(owner.lent_to));
    if (!where) return json;
    json["example"] =
        where->example == no_object ? Json(nullptr) : address_json(heap.address_of(where->example));
    const std::string expression = expression_of(where->expression, redactor);
    json["expression"] = expression.empty() ? Json(nullptr) : Json(expression);
    json["root"] = where->root.empty() ? Json(nullptr) : Json(where->root);
    return json;
}

std::string dominator_words(const RetainedLookup& retained, NodeId node) {
    const HeapGraph& graph = retained.graph();
    switch (graph.kind(node)) {
        case NodeKind::root:
            return "several groups";
        case NodeKind::group:
            return graph.groups()[graph.group_of(node)].name;
        case NodeKind::frame:
            return frame_words(graph.frame(graph.frame_of(node)));
        case NodeKind::object:
            break;
    }
    return hexadecimal(graph.heap().address_of(graph.object_of(node)).value);
}

Json holder_json(const ArrayHolderRow& row, const RetainedLookup* retained) {
    Json json{{"holder", row.holder},
              {"attribute", row.attribute},
              {"frame_type", row.frame_type.empty() ? Json(nullptr) : Json(row.frame_type)},
              {"arrays", row.arrays},
              {"nbytes", row.nbytes},
              {"shown_bytes", row.shown_bytes},
              {"pinned_bytes", row.pinned_bytes},
              {"pinned_visible_bytes", row.pinned_visible},
              {"pinned_owners", row.pinned_owners},
              {"kept_bytes", row.kept_bytes},
              {"expression", row.expression},
              {"root", row.root},
              {"example", address_json(row.example_address)},
              {"dominator", nullptr}};
    if (retained && row.dominator) json["dominator"] = dominator_words(*retained, *row.dominator);
    return json;
}

Json sums_json(const Arrays& arrays) {
    const ArraySums& sums = arrays.sums();
    return {{"arrays", sums.arrays},
            {"views", sums.views},
            {"view_bytes", sums.view_bytes},
            {"scalars", sums.scalars},
            {"owners", sums.owners},
            {"owned_bytes", sums.owned_bytes},
            {"array_owners", sums.array_owners},
            {"array_owned_bytes", sums.array_owned_bytes},
            {"native_owners", sums.native_owners},
            {"native_bytes", sums.native_bytes},
            {"not_saved", sums.not_saved},
            {"not_saved_bytes", sums.not_saved_bytes},
            {"kept_by_views", sums.kept_by_views},
            {"garbage_owners", sums.garbage},
            {"garbage_bytes", sums.garbage_bytes},
            {"pinned_owners", sums.pinned},
            {"pinned_bytes", sums.pinned_bytes},
            {"pinned_visible_bytes", sums.pinned_visible},
            {"pinned_views", sums.pinned_views},
            {"unread", sums.unread}};
}

// --- text

std::string none_text(const Page& page) {
    const char* where = page.lower_bounds ? "what is left of this core" : "this core";
    return wrapped(fmt::format("There are no NumPy arrays in {}.", where), page.width, 2) + "\n";
}

/// What is garbage is not pinned: the collector, or nobody, will free it.
std::string garbage_text(const ArraySums& sums, const Page& page) {
    if (sums.garbage == 0) return {};
    return wrapped_with_tail(fmt::format("{}, {}, {} garbage.", counted(sums.garbage, "owner"),
                                         page.bytes(sums.garbage_bytes), sums.garbage == 1 ? "is" : "are"),
                             page.command("cycles"), page.width, 2) +
           "\n";
}

std::string pinned_sentence(const ArraySums& sums, const Page& page) {
    if (sums.pinned == 0) return "No slice keeps alive what nobody sees: 0 pinned.";
    return fmt::format("{} {} and {} {} alive: {} pinned, since nothing else holds {}.",
                       counted(sums.pinned_views, "slice shows", "slices show"),
                       page.bytes(sums.pinned_visible), sums.pinned_views == 1 ? "keeps" : "keep",
                       page.bytes(sums.pinned_bytes), counted(sums.pinned, "owner is", "owners are"),
                       sums.pinned == 1 ? "it" : "them");
}

std::string holders_table(const ArrayHolders& holders, bool pinned, const Page& page) {
    bool any_pinned = pinned;
    for (const ArrayHolderRow& row : holders.rows) any_pinned = any_pinned || row.pinned_owners > 0;
    std::vector<TableColumn> columns{{ColumnAlign::right, "arrays"},
                                     {ColumnAlign::right, "they show"},
                                     {ColumnAlign::right, sorted_heading("they keep", !pinned)}};
    if (any_pinned) columns.push_back({ColumnAlign::right, sorted_heading("unseen", pinned)});
    columns.push_back({ColumnAlign::left, "held as", ColumnFit::middle});
    columns.push_back({ColumnAlign::left, pinned ? "from" : "for example", ColumnFit::end});
    Table table(std::move(columns));
    for (const ArrayHolderRow& row : holders.rows) {
        std::vector<std::string> cells{grouped(row.arrays), page.bytes(row.shown_bytes),
                                       page.bytes(row.kept_bytes)};
        if (any_pinned) cells.push_back(row.unseen_bytes() == 0 ? "–" : page.bytes(row.unseen_bytes()));
        cells.push_back(held_as_text(row));
        cells.push_back(escape_for_terminal(pinned ? row.root : row.expression));
        table.add(std::move(cells));
    }
    return table.text(page.width, page.colour);
}

/// Rows that hang below one node: once for all of them.
std::string dominators_text(const ArrayHolders& holders, const RetainedLookup& retained, const Page& page) {
    std::vector<std::pair<NodeId, std::size_t>> nodes;  // and how many rows
    for (const ArrayHolderRow& row : holders.rows) {
        if (!row.dominator || retained.graph().kind(*row.dominator) == NodeKind::root) continue;
        const auto at = std::find_if(nodes.begin(), nodes.end(),
                                     [&](const auto& n) { return n.first == *row.dominator; });
        if (at == nodes.end())
            nodes.emplace_back(*row.dominator, 1);
        else
            ++at->second;
    }
    std::erase_if(nodes, [&](const auto& n) {
        return n.second < 2 || retained.graph().kind(n.first) == NodeKind::group;
    });
    if (nodes.empty()) return {};
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto [node, rows] = nodes.front();
    std::string words = dominator_words(retained, node);
    if (retained.graph().kind(node) == NodeKind::object) {
        const ObjectId object = HeapGraph::object_of(node);
        const ObjectExpressions expressions(retained.graph(), {object});
        const auto found = expressions.of(object);
        const std::string expression =
            found ? expression_of(found->expression, page.redact()) : std::string();
        const ObjectRow row = object_row(retained.graph().heap(), object);
        const std::string value = value_text(row, page.redact());
        const std::string type = type_text(row.type);
        words = (expression.empty() ? words : expression) + ", " +
                (value.starts_with(type) ? value : type + " " + value) + ",";
    }
    return wrapped(
               fmt::format(
                   "{} rows hang below one object: without {} all of their arrays would go; it retains {}.",
                   grouped(rows), escape_for_terminal(words), page.bytes(retained.memory(node))),
               page.width, 2) +
           "\n";
}

std::string more_text(std::uint64_t total, std::size_t shown, const std::string& command, const Page& page) {
    if (total <= shown) return {};
    return wrapped_with_tail(fmt::format("… {} more.", grouped(total - shown)),
                             "All: " + page.command(command + all_rows), page.width, 2) +
           "\n";
}

std::string summary_table(const Arrays& arrays, const Page& page) {
    struct Kind {
        std::uint64_t owners = 0, bytes = 0, views = 0;
    };
    std::map<std::string, Kind> kinds;
    const HeapReader& heap = heap_of(arrays);
    for (const ArrayOwner& owner : arrays.owners()) {
        const std::string name = owner.object == no_object ? "native memory, lent by C code"
                                 : is_array(heap, owner.object)
                                     ? "arrays that own their elements"
                                     : type_text(type_name(heap, heap.type_of(owner.object)));
        Kind& kind = kinds[name];
        ++kind.owners;
        kind.bytes += owner.nbytes();
        kind.views += owner.views;
    }
    std::vector<std::pair<std::string, Kind>> rows(kinds.begin(), kinds.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    Table table({{ColumnAlign::right, "owners"},
                 {ColumnAlign::right, "bytes"},
                 {ColumnAlign::right, "views"},
                 {ColumnAlign::left, "", ColumnFit::middle}});
    for (const auto& [name, kind] : rows)
        table.add({grouped(kind.owners), page.bytes(kind.bytes), grouped(kind.views), name});
    return table.text(page.width, page.colour);
}

std::string arrays_text(const ArraysResult& result, const Page& page) {
    const ArraySums& sums = result.arrays.sums();
    if (sums.arrays == 0) return none_text(page);
    std::string head = page.at_least(fmt::format(
        "{}: {} own their elements, {} of them are views. {} of data", counted(sums.arrays, "array"),
        grouped(sums.arrays - sums.views), grouped(sums.views), page.bytes(sums.owned_bytes)));
    if (sums.not_saved > 0)
        head += fmt::format(", {} of it not in the core", page.bytes(sums.not_saved_bytes));
    std::string text = bold(wrapped(head + ".", page.width, 2), page.colour) + "\n";
    text += summary_table(result.arrays, page);
    text += wrapped(pinned_sentence(sums, page), page.width, 2) + "\n" + garbage_text(sums, page);
    if (sums.scalars > 0)
        text += wrapped(fmt::format("{} (numpy.void) of structured arrays keep them as slices do.",
                                    counted(sums.scalars, "element")),
                        page.width, 2) +
                "\n";
    ArrayHolders first = result.holders;
    if (first.rows.size() > most_holders_in_summary) first.rows.resize(most_holders_in_summary);
    text += holders_table(first, false, page);
    text += more_text(first.total_rows, first.rows.size(), "arrays --by-holder", page);
    text += dominators_text(first, result.retained, page);
    text += frames_text(result.arrays, result.frames, page);
    text += dropped_text(result.arrays, result.frames, result.dropped, page);
    if (sums.pinned > 0) return text + next_line(page, "arrays --pinned", "which slices keep what");
    if (result.holders.rows.empty()) return text + next_line(page, "arrays --owners");
    return text + next_line(page, "why " + hexadecimal(result.holders.rows.front().example_address.value),
                            "the path to one of the first row");
}

std::string owners_text(const OwnersResult& result, bool pinned, const Page& page) {
    const ArraySums& sums = result.arrays.sums();
    if (sums.arrays == 0) return none_text(page);
    std::string text;
    if (pinned)
        text = bold(wrapped(pinned_sentence(sums, page), page.width, 2), page.colour) + "\n" +
               garbage_text(sums, page);
    if (pinned) text += dropped_text(result.arrays, result.frames, result.dropped, page);
    if (result.owners.empty()) return text;
    if (pinned) {
        text += holders_table(result.holders, true, page);
        text += more_text(result.holders.total_rows, result.holders.rows.size(),
                          "arrays --pinned --by-holder", page);
    }
    Table table({{ColumnAlign::right, sorted_heading(pinned ? "keeps" : "bytes", !pinned)},
                 {ColumnAlign::right, pinned ? "shown" : "seen"},
                 {ColumnAlign::right, "views"},
                 {ColumnAlign::left, "owner"},
                 {ColumnAlign::left, "", ColumnFit::middle},
                 {ColumnAlign::left, pinned ? "kept by" : "held by", ColumnFit::end}});
    for (std::size_t i = 0; i < result.owners.size(); ++i) {
        const ArrayOwner& owner = result.arrays.owners()[result.owners[i]];
        const ArrayPlace& place = result.places[i];
        const std::string expression = escape_for_terminal(expression_of(place.expression, page.redact()));
        std::string words = owner_words(result.arrays, owner, page);
        if (!owner.saved) words += " (not in the core)";
        table.add({page.bytes(owner.nbytes()),
                   (owner.visible_exact ? "" : "≤ ") + page.bytes(owner.visible_bytes), grouped(owner.views),
                   hexadecimal(address_of(result.arrays, owner).value), words,
                   !expression.empty() || place.example == no_object
                       ? expression
                       : hexadecimal(heap_of(result.arrays).address_of(place.example).value)});
    }
    text += table.text(page.width, page.colour);
    text += more_text(pinned ? sums.pinned : sums.owners, result.owners.size(),
                      pinned ? "arrays --pinned" : "arrays --owners", page);
    const ObjectId first = result.places.front().example;
    if (pinned) text += "cure: store copies, data[i].copy()\n";
    if (first == no_object) return text;
    const std::string expression = expression_of(result.places.front().expression, page.redact());
    const bool typed = !expression.empty() && !page.redact().active();
    return text + next_line(page,
                            "why " + (typed ? shell_quoted(expression)
                                            : hexadecimal(heap_of(result.arrays).address_of(first).value)),
                            pinned ? "the path to the first slice" : "");
}

std::string views_text(const Arrays& arrays, const std::vector<std::uint32_t>& listed, const Page& page) {
    const ArraySums& sums = arrays.sums();
    if (sums.arrays == 0) return none_text(page);
    if (listed.empty()) return "No array of this core is a view: each owns its elements.\n";
    Table table({{ColumnAlign::left, "address"},
                 {ColumnAlign::right, sorted_heading("shows", true)},
                 {ColumnAlign::right, "of"},
                 {ColumnAlign::left, "array", ColumnFit::middle},
                 {ColumnAlign::left, "owner"},
                 {ColumnAlign::left, "", ColumnFit::end}});
    for (const std::uint32_t place : listed) {
        const SeenArray& seen = arrays.arrays()[place];
        const ArrayOwner& owner = arrays.owners()[seen.owner];
        table.add({hexadecimal(heap_of(arrays).address_of(seen.object).value), page.bytes(seen.nbytes),
                   page.bytes(owner.nbytes()), with_shape(heap_of(arrays), seen.object, page),
                   hexadecimal(address_of(arrays, owner).value), owner_words(arrays, owner, page)});
    }
    std::string text = table.text(page.width, page.colour);
    text += more_text(sums.views, listed.size(), "arrays --views", page);
    return text +
           next_line(page,
                     "show " + hexadecimal(
                                   heap_of(arrays).address_of(arrays.arrays()[listed.front()].object).value));
}

std::function<void(const RowVisitor&)> owner_rows(const Arrays& arrays,
                                                  const std::vector<std::uint32_t>& owners,
                                                  const std::vector<ArrayPlace>* places, Redactor& redactor) {
    return [&arrays, &owners, places, &redactor](const RowVisitor& visit) {
        for (std::size_t i = 0; i < owners.size(); ++i)
            visit(owner_json(arrays, owners[i], places ? &(*places)[i] : nullptr, redactor));
    };
}

std::function<void(const RowVisitor&)> holder_rows(const ArrayHolders& holders,
                                                   const RetainedLookup* retained) {
    return [&holders, retained](const RowVisitor& visit) {
        for (const ArrayHolderRow& row : holders.rows) visit(holder_json(row, retained));
    };
}

std::function<void(const RowVisitor&)> dropped_rows(const Arrays& arrays,
                                                    const std::vector<PandasFrame>& frames,
                                                    const std::vector<DroppedFrame>& dropped,
                                                    Redactor& redactor) {
    return [&arrays, &frames, &dropped, &redactor](const RowVisitor& visit) {
        for (const DroppedFrame& frame : dropped) visit(dropped_json(arrays, frame, frames, redactor));
    };
}

const std::vector<std::string> array_columns = {"address", "type",   "dtype",       "shape",
                                                "strides", "nbytes", "data",        "owns_data",
                                                "base",    "owner",  "owner_nbytes"};

}  // namespace

std::string held_as_text(const ArrayHolderRow& row) {
    const bool joined = row.joined || row.attribute.empty();
    return escape_for_terminal(row.holder + (joined ? "" : ".") + row.attribute) +
           (row.frame_type.empty() ? "" : " (" + short_type(row.frame_type) + ")");
}

Answer render_arrays(const ArraysResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "arrays";
    answer.rows_key = "arrays";
    answer.rows = [&result, &redactor](const RowVisitor& visit) {
        for (const std::uint32_t place : result.listed) visit(array_json(result.arrays, place, redactor));
    };
    answer.csv_columns = array_columns;
    answer.more_tables = {
        {"owners", owner_rows(result.arrays, result.owners, nullptr, redactor)},
        {"holders", holder_rows(result.holders, &result.retained)},
        {"frames",
         [&result, &redactor](const RowVisitor& visit) {
             for (const PandasFrame& frame : result.frames) visit(frame_json(result.arrays, frame, redactor));
         }},
        {"dropped_frames", dropped_rows(result.arrays, result.frames, result.dropped, redactor)}};
    answer.data["total"] = sums_json(result.arrays);
    answer.text = [&result](const Page& page) { return arrays_text(result, page); };
    return answer;
}

Answer render_owners(const OwnersResult& result, bool pinned, Redactor& redactor) {
    Answer answer;
    answer.command = "arrays";
    answer.rows_key = "owners";
    answer.rows = owner_rows(result.arrays, result.owners, &result.places, redactor);
    if (pinned)
        answer.more_tables = {
            {"dropped_frames", dropped_rows(result.arrays, result.frames, result.dropped, redactor)}};
    answer.csv_columns = {"owner", "nbytes", "views", "visible_bytes", "pinned", "example", "expression"};
    answer.data["total"] = sums_json(result.arrays);
    answer.text = [&result, pinned](const Page& page) { return owners_text(result, pinned, page); };
    return answer;
}

Answer render_views(const Arrays& arrays, std::vector<std::uint32_t> listed, Redactor& redactor) {
    Answer answer;
    answer.command = "arrays";
    answer.rows_key = "arrays";
    answer.rows = [&arrays, listed, &redactor](const RowVisitor& visit) {
        for (const std::uint32_t place : listed) visit(array_json(arrays, place, redactor));
    };
    answer.csv_columns = array_columns;
    answer.data["total"] = sums_json(arrays);
    answer.text = [&arrays, listed](const Page& page) { return views_text(arrays, listed, page); };
    return answer;
}

Answer render_array_holders(const Arrays& arrays, const ArrayHolders& holders, bool pinned,
                            const RetainedLookup& retained, Redactor& redactor) {
    (void)redactor;
    Answer answer;
    answer.command = "arrays";
    answer.rows_key = "holders";
    answer.rows = holder_rows(holders, &retained);
    answer.csv_columns = {"holder",     "attribute",    "arrays",  "nbytes",
                          "kept_bytes", "pinned_bytes", "example", "expression"};
    answer.data["total"] = sums_json(arrays);
    answer.data["total"]["holders"] = holders.total_rows;
    answer.data["total"]["without_path"] = holders.without_path;
    answer.text = [&arrays, &holders, pinned, &retained](const Page& page) {
        if (arrays.sums().arrays == 0) return none_text(page);
        if (holders.rows.empty())
            return pinned ? pinned_sentence(arrays.sums(), page) + "\n"
                          : std::string("No root reaches any array of this core.\n");
        std::string text = holders_table(holders, pinned, page);
        text += more_text(holders.total_rows, holders.rows.size(),
                          pinned ? "arrays --pinned --by-holder" : "arrays --by-holder", page);
        if (holders.without_path > 0)
            text += fmt::format(
                "{} no root reaches.\n",
                counted(holders.without_path, "array more is garbage:", "arrays more are garbage:"));
        text += dominators_text(holders, retained, page);
        return text + next_line(page, "why " + hexadecimal(holders.rows.front().example_address.value),
                                "the path to one of the first row");
    };
    return answer;
}

}  // namespace heapsift
