// The first screen: whose core this is, one sentence, where the memory is, the largest types.
//
// On a terminal it is no longer than that, so that the sentence does not scroll away: first the table of
// types is cut, then left to its own command, then the small rows of the memory become one.

#include "cli/render/overview.h"

#include "analysis/doctor.h"
#include "cli/render/arrays.h"
#include "cli/render/object.h"
#include "cli/render/path.h"
#include "cli/render/process.h"
#include "cli/render/types.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

// In lines that begin with `margin` blanks.
std::string state_of_core(const OverviewCore& core, std::size_t margin, const Page& page) {
    const CoreExtent& extent = core.extent;
    std::string text = extent.cut()
                           ? fmt::format("{}, cut: {} of it are missing; numbers are at least what is shown",
                                         page.bytes(extent.mapped_bytes), page.bytes(extent.cut_bytes))
                           : fmt::format("{}, complete", page.bytes(extent.mapped_bytes));
    std::string where;
    if (core.modules_missing > 0) {
        text += fmt::format(". Program files not found here: {} of {}", grouped(core.modules_missing),
                            grouped(core.module_count));
        where = "(" + page.command("doctor") + ")";
    }
    return std::string(margin, ' ') + wrapped_with_tail(text, where, page.width, margin, margin) + "\n";
}

std::string heading(const OverviewCore& core, const Page& page) {
    const std::string name = escape_for_terminal(core.file_name);
    const std::size_t beside = display_width(name) + 3;
    const bool narrow = page.width != 0 && beside > page.width / 3;  // the name has a line of its own then
    const std::size_t margin = narrow ? 2 : beside;
    const std::string who = command_text(core.process, page.redact());
    const std::string facts = fmt::format("{}, x86-64, pid {}, {}, {}", core.python, core.process.pid,
                                          counted(core.threads, "thread"), how_it_ended(core.process));
    const std::string line = name + "   " + who + "     " + facts;
    const bool fits = page.width == 0 || display_width(line) <= page.width;
    const std::string blanks(margin, ' ');
    const std::string rest =
        wrapped(who, page.width, margin, margin) + "\n" + blanks + wrapped(facts, page.width, margin, margin);
    const std::string first = fits ? line : name + (narrow ? "\n" + blanks : std::string(3, ' ')) + rest;
    return first + "\n" + state_of_core(core, margin, page);
}

/// `small_as_one`: the rows below 1 % are one, where there are several.
std::string memory_text(const OverviewResult& result, const Page& page, bool small_as_one) {
    constexpr std::size_t bar_width = 20;
    using Align = TableColumn::Align;
    Table table({{Align::left, "Where the memory is"},
                 {Align::right, page.bytes(result.mapped_bytes)},
                 {Align::right, ""},
                 {Align::left, "", TableColumn::Fit::end}});
    const auto add = [&](const std::string& name, std::uint64_t bytes) {
        const double share = result.mapped_bytes == 0
                                 ? 0
                                 : static_cast<double>(bytes) / static_cast<double>(result.mapped_bytes);
        table.add({"  " + name, page.bytes(bytes), percent_in_table(bytes, result.mapped_bytes),
                   bar(share, bar_width)});
    };
    const auto is_small = [&](const MemoryRow& row) {
        return row.bytes > 0 && row.bytes < result.mapped_bytes / 100;
    };
    const bool fold = small_as_one && std::count_if(result.memory.begin(), result.memory.end(), is_small) > 1;
    std::uint64_t rest = 0;
    for (const MemoryRow& row : result.memory) {
        if (row.bytes == 0) continue;
        if (fold && is_small(row))
            rest += row.bytes;
        else
            add(escape_for_terminal(row.name), row.bytes);
    }
    if (rest > 0) add("the rest", rest);
    return table.empty() ? std::string() : table.text(page.width, page.colour, 0);
}

// "'selected' of func(), worker.py, now at line 41", "app.CACHE", "app.A and app.B together".
std::string holder_words(const TopHolder& holder, const Page& page) {
    if (holder.joint) {
        std::vector<std::string> words;
        for (std::size_t i = 0; i < holder.joint->holders.size(); ++i)
            words.push_back(
                i < holder.joint->expressions.size() && !holder.joint->expressions[i].root.empty()
                    ? escape_for_terminal(expression_of(holder.joint->expressions[i], page.redact()))
                    : hexadecimal(holder.joint->holders[i].address.value));
        for (const std::string& group : holder.joint->groups) words.push_back(escape_for_terminal(group));
        return fmt::format("{} together", fmt::join(words, " and "));
    }
    if (!holder.object) {
        const std::string group = escape_for_terminal(holder.group);
        return (holder.group_kind == GroupKind::module ? "module " : "") + group +
               fmt::format(", in {}", counted(holder.many, "object"));
    }
    if (!holder.local.empty())
        return fmt::format("the local '{}' of {}", escape_for_terminal(holder.local),
                           escape_for_terminal(holder.frame));
    const std::string expression = escape_for_terminal(expression_of(holder.expression, page.redact()));
    const bool is_address =
        holder.expression.steps.size() == holder.expression.first && expression.starts_with("0x");
    if (expression.empty() || is_address)
        return fmt::format("the {} at {}", type_text(holder.object->type),
                           hexadecimal(holder.object->address.value));
    if (!holder.root.empty()) return expression + " (" + escape_for_terminal(holder.root) + ")";
    return holder.frame.empty() ? expression : expression + ", by " + escape_for_terminal(holder.frame);
}

// "list of 100, mostly numpy.ndarray"
std::string content_words(const TopHolder& holder, const Page& page) {
    std::string text;
    if (holder.object) {
        const std::string value = value_text(*holder.object, page.redact());
        const std::string type = type_text(holder.object->type);
        text = value.empty()                                              ? type
               : value.starts_with(type) || value.starts_with("<" + type) ? value
                                                                          : type + " " + value;
        text = shortened_at_the_end(text, 60);
    }
    if (!holder.content_type.empty())
        text += (text.empty() ? "" : ", in it ") +
                fmt::format("{} {}", grouped(holder.content_count), type_text(holder.content_type));
    if (!holder.remark.empty()) text += ", " + escape_for_terminal(holder.remark);
    return text;
}

std::string holder_sentence(const OverviewResult& result, const Page& page) {
    const TopHolder& holder = result.holders.front();
    const std::string bytes = fmt::format("{} of it ({})", page.at_least(page.bytes(holder.retained)),
                                          percent(holder.retained, result.mapped_bytes));
    const std::string content = content_words(holder, page);
    if (holder.group_kind == GroupKind::unreachable)
        return fmt::format("{} is garbage, which no root reaches: {}.", bytes, content);
    const std::string words = holder_words(holder, page);
    return fmt::format("{} is {}{}: {}.", bytes, words.starts_with("held by ") ? "" : "held by ", words,
                       content);
}

std::string pinned_sentence(const OverviewResult& result, const Page& page) {
    const ArrayHolderRow& row = *result.pinned;
    const std::string place = row.local.empty() ? "held as " + held_as_text(row)
                                                : fmt::format("in '{}' of {}", escape_for_terminal(row.local),
                                                              escape_for_terminal(row.frame));
    return fmt::format(
        "{} of it ({}) is array data that nobody uses: {} {} and {} {} alive, {}.",
        page.at_least(page.bytes(row.unseen_bytes())), percent(row.unseen_bytes(), result.mapped_bytes),
        counted(row.pinned_arrays, "slice shows", "slices show"), page.bytes(row.pinned_visible),
        row.pinned_arrays == 1 ? "keeps" : "keep", counted(row.pinned_owners, "array"), place);
}

std::string holders_text(const OverviewResult& result, const Page& page) {
    if (result.holders.empty()) return {};
    using Align = TableColumn::Align;
    Table table({{Align::right, "retained"},
                 {Align::right, "share"},
                 {Align::left, "What holds most", TableColumn::Fit::middle},
                 {Align::left, "", TableColumn::Fit::end}});
    for (const TopHolder& holder : result.holders) {
        std::string content = content_words(holder, page);
        if (holder.group_kind == GroupKind::unreachable) content += " (garbage)";
        table.add({page.bytes(holder.retained), percent_in_table(holder.retained, result.mapped_bytes),
                   holder_words(holder, page), content});
    }
    std::string text = table.text(page.width, page.colour);
    const TopHolder& first = result.holders.front();
    if (first.group_kind == GroupKind::unreachable && !first.object)
        return text + next_line(page, "dominators", "the garbage is below: unreachable") + "\n";
    if (!first.object)
        return text + next_line(page, "dominators", "what is held together, and by what") + "\n";
    const std::string expression = expression_of(first.expression, page.redact());
    const bool typed = !expression.empty() && !page.redact().active();
    return text +
           next_line(page,
                     "why " + (typed ? shell_quoted(expression) : hexadecimal(first.object->address.value))) +
           "\n";
}

Json holder_json(const TopHolder& holder, const Page& plain) {
    Json json;
    json["retained"] = holder.retained;
    json["group"] = holder.group;
    json["object"] = holder.object ? object_json(*holder.object, plain.redact()) : Json(nullptr);
    const std::string expression = expression_of(holder.expression, plain.redact());
    json["expression"] = expression.empty() ? Json(nullptr) : Json(expression);
    json["frame"] = holder.frame.empty() ? Json(nullptr) : Json(holder.frame);
    json["words"] = holder_words(holder, plain);
    json["content"] = {{"type", holder.content_type.empty() ? Json(nullptr) : Json(holder.content_type)},
                       {"count", holder.content_count}};
    json["holders"] = Json::array();
    if (holder.joint) {
        for (std::size_t i = 0; i < holder.joint->holders.size(); ++i)
            json["holders"].push_back(
                {{"address", address_json(holder.joint->holders[i].address)},
                 {"type", holder.joint->holders[i].type},
                 {"expression", expression_of(holder.joint->expressions[i], plain.redact())}});
        for (const std::string& group : holder.joint->groups) json["holders"].push_back({{"group", group}});
    }
    return json;
}

/// Only where it matters: from 1 % of the memory on.
std::string garbage_sentence(const OverviewResult& result, const Page& page) {
    std::string text;
    const auto matters = [&](std::uint64_t bytes) { return bytes > 0 && bytes >= result.mapped_bytes / 100; };
    const auto why = [](std::string_view remark) {
        constexpr std::string_view said = "in gc.garbage: ";  // the sentence does
        if (remark.starts_with(said)) remark.remove_prefix(said.size());
        return remark.empty() ? "" : " (" + escape_for_terminal(remark) + ")";
    };
    const auto part = [&](std::uint64_t bytes) {
        return fmt::format("{} ({})", page.at_least(page.bytes(bytes)), percent(bytes, result.mapped_bytes));
    };
    if (matters(result.garbage_memory))
        text =
            part(result.garbage_memory) + " is garbage that was not freed" + why(result.garbage_remark) + ".";
    if (matters(result.garbage_list_memory))
        text += (text.empty() ? "" : " ") + part(result.garbage_list_memory) +
                " is held by gc.garbage alone" + why(result.garbage_list_remark) + ".";
    if (text.empty()) return {};
    return wrapped(text, page.width, 2) + "\n" + next_line(page, "cycles", "what it is") + "\n";
}

std::string types_part(const OverviewResult& result, std::size_t rows, const Page& page) {
    if (result.types.types.empty()) return "\nNo Python objects could be found in it.\n";
    if (rows == 0) return next_line(page, "types", "what the Python objects are");
    TypesResult types = result.types;
    while (types.types.size() > rows) {
        types.shown_memory -= types.types.back().memory;
        types.types.pop_back();
    }
    const ObjectRow& largest = types.types.front().largest;
    return "\n" + types_table(types, SortKey::memory, page) + types_footer(types, page) +
           next_line(page, "show " + hexadecimal(largest.address.value),
                     "the largest " + type_text(largest.type));
}

// `above`: what stands above the tables.
std::string tables_text(const OverviewResult& result, const std::string& above, const Page& page) {
    constexpr std::size_t fewest_types = 3;
    constexpr std::size_t for_others = 3;  // lines of a screen: the prompt, and what a script says before it
    const auto fits = [&](const std::string& tables) {
        const auto lines =
            std::count(above.begin(), above.end(), '\n') + std::count(tables.begin(), tables.end(), '\n');
        return page.height == 0 || static_cast<std::size_t>(lines) + for_others <= page.height;
    };
    const std::string memory = memory_text(result, page, false);
    for (std::size_t rows = result.types.types.size(); rows >= fewest_types; --rows)
        if (const std::string tables = memory + types_part(result, rows, page); fits(tables)) return tables;
    const std::size_t rows = page.height == 0 ? result.types.types.size() : 0;
    const std::string tables = memory + types_part(result, rows, page);
    return fits(tables) ? tables : memory_text(result, page, true) + types_part(result, rows, page);
}

std::string overview_text(const OverviewResult& result, const OverviewCore& core, const Page& page) {
    std::string text = heading(core, page) + "\n" +
                       bold(wrapped(headline_text(result, page), page.width, 2), page.colour) + "\n\n";
    if (result.pinned)
        text += "cure: store copies, data[i].copy()\n" +
                next_line(page, "arrays --pinned",
                          result.pinned_owners == result.pinned->pinned_owners
                              ? std::string("which slices keep what")
                              : fmt::format("all {} owners, {}", grouped(result.pinned_owners),
                                            page.bytes(result.pinned_bytes))) +
                "\n";
    text += holders_text(result, page);
    if (result.dropped_frames > 0)
        text += next_line(page, "arrays --pinned",
                          counted(result.dropped_frames, "DataFrame that is gone, but slices keep",
                                  "DataFrames that are gone, but slices keep")) +
                "\n";
    text += garbage_sentence(result, page);
    return text + tables_text(result, text, page);
}

Json memory_json(const OverviewResult& result, const OverviewCore& core) {
    Json json;
    json["mapped"] = result.mapped_bytes;
    json["in_core"] = core.extent.in_core_bytes;
    json["categories"] = Json::array();
    for (const auto& row : result.memory)
        json["categories"].push_back({{"name", row.name}, {"bytes", row.bytes}});
    return json;
}

Json types_json(const OverviewResult& result, Redactor& redactor) {
    Json json;
    json["types"] = Json::array();
    for (const TypeRow& row : result.types.types) json["types"].push_back(type_json(row, redactor));
    json["total"] = types_total_json(result.types);
    return json;
}

}  // namespace

OverviewCore overview_core(const CoreFile& core, const PythonRuntime& python) {
    OverviewCore facts;
    facts.file_name = base_name(core.path());
    facts.process = core.process();
    facts.threads = core.threads().size();
    facts.extent = core.extent();
    facts.python = "CPython " + python.version.text() + (python.free_threaded ? ", free-threaded" : "") +
                   (python.debug ? ", debug build" : "");
    const auto has_file = [](const Module& module) {
        return module.file_state != ModuleFileState::not_needed;
    };
    facts.module_count =
        static_cast<std::size_t>(std::count_if(core.modules().begin(), core.modules().end(), has_file));
    facts.modules_missing = missing_files(core.modules()).size();
    return facts;
}

std::string headline_text(const OverviewResult& result, const Page& page) {
    const OverviewHeadline& headline = result.headline;
    if (headline.bytes == 0) return "Nothing is known of its memory.";
    const std::string share = fmt::format("{} of its memory ({} of {})",
                                          page.at_least(percent(headline.bytes, result.mapped_bytes)),
                                          page.bytes(headline.bytes), page.bytes(result.mapped_bytes));
    const std::string type = headline.type ? type_text(headline.type->name) : "";
    const std::uint64_t count = headline.type ? headline.type->count : 0;
    switch (headline.kind) {
        case OverviewHeadline::Kind::pinned:
            return pinned_sentence(result, page);
        case OverviewHeadline::Kind::holder:
            return holder_sentence(result, page);
        case OverviewHeadline::Kind::array_data:
            return fmt::format("{} is array data, {}in {} {}.", share,
                               headline.all_in_type ? "" : "most of it ", grouped(count), type);
        case OverviewHeadline::Kind::objects:
            return fmt::format("{} belongs to {}.", share,
                               counted(count, "object of type " + type, "objects of type " + type));
        case OverviewHeadline::Kind::other_memory:
            break;
    }
    return fmt::format("{} is {}; no type of Python object has much of it.", share,
                       escape_for_terminal(headline.region));
}

Answer render_overview(const OverviewResult& result, const OverviewCore& core, Redactor& redactor) {
    Answer answer;
    answer.command = "overview";
    Page plain;
    plain.redactor = &redactor;
    answer.data["process"] = process_json(core.process, core.threads, redactor);
    answer.data["headline"] = headline_text(result, plain);
    answer.data["memory"] = memory_json(result, core);
    answer.data["types"] = types_json(result, redactor);
    answer.data["holders"] = Json::array();
    for (const TopHolder& holder : result.holders)
        answer.data["holders"].push_back(holder_json(holder, plain));
    answer.data["garbage"] = result.garbage_memory;
    answer.data["suspects"] = nullptr;
    answer.data["signature"] = core.signature;
    answer.text = [&result, &core](const Page& page) { return overview_text(result, core, page); };
    return answer;
}

}  // namespace heapsift
