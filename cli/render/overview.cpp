// The first screen: whose core this is, one sentence, where the memory is, the largest types.

#include "cli/render/overview.h"

#include "analysis/doctor.h"
#include "cli/render/object.h"
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
    std::string text = extent.cut() ? fmt::format("{}, cut: {} of it are missing; numbers are at least what is shown",
                                                  page.bytes(extent.mapped_bytes), page.bytes(extent.cut_bytes))
                                    : fmt::format("{}, complete", page.bytes(extent.mapped_bytes));
    std::string where;
    if (core.modules_missing > 0) {
        text +=
            fmt::format(". Program files not found here: {} of {}", grouped(core.modules_missing), grouped(core.module_count));
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

std::string memory_text(const OverviewResult& result, const Page& page) {
    constexpr std::size_t bar_width = 20;
    using Align = TableColumn::Align;
    Table table({{Align::left, "Where the memory is"},
                 {Align::right, page.bytes(result.mapped_bytes)},
                 {Align::right, ""},
                 {Align::left, "", TableColumn::Fit::end}});
    for (const auto& row : result.memory) {
        if (row.bytes == 0) continue;
        const double share =
            result.mapped_bytes == 0 ? 0 : static_cast<double>(row.bytes) / static_cast<double>(result.mapped_bytes);
        table.add({"  " + escape_for_terminal(row.name), page.bytes(row.bytes), percent_in_table(row.bytes, result.mapped_bytes),
                   bar(share, bar_width)});
    }
    return table.empty() ? std::string() : table.text(page.width, page.colour, 0) + "\n";
}

std::string overview_text(const OverviewResult& result, const OverviewCore& core, const Page& page) {
    std::string text =
        heading(core, page) + "\n" + bold(wrapped(headline_text(result, page), page.width, 2), page.colour) + "\n\n";
    text += memory_text(result, page);
    if (result.types.types.empty()) return text + "No Python objects could be found in it.\n";
    text += types_table(result.types, SortKey::memory, page) + types_footer(result.types, page);
    const ObjectRow& largest = result.types.types.front().largest;
    return text + next_line(page, "show " + hexadecimal(largest.address.value), "the largest " + type_text(largest.type));
}

Json memory_json(const OverviewResult& result, const OverviewCore& core) {
    Json json;
    json["mapped"] = result.mapped_bytes;
    json["in_core"] = core.extent.in_core_bytes;
    json["categories"] = Json::array();
    for (const auto& row : result.memory) json["categories"].push_back({{"name", row.name}, {"bytes", row.bytes}});
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
    const auto has_file = [](const Module& module) { return module.file_state != ModuleFileState::not_needed; };
    facts.module_count = static_cast<std::size_t>(std::count_if(core.modules().begin(), core.modules().end(), has_file));
    facts.modules_missing = missing_files(core.modules()).size();
    return facts;
}

std::string headline_text(const OverviewResult& result, const Page& page) {
    const OverviewHeadline& headline = result.headline;
    if (headline.bytes == 0) return "Nothing is known of its memory.";
    const std::string share =
        fmt::format("{} of its memory ({} of {})", page.at_least(percent(headline.bytes, result.mapped_bytes)),
                    page.bytes(headline.bytes), page.bytes(result.mapped_bytes));
    const std::string type = headline.type ? type_text(headline.type->name) : "";
    const std::uint64_t count = headline.type ? headline.type->count : 0;
    switch (headline.kind) {
        case OverviewHeadline::Kind::array_data:
            return fmt::format("{} is array data, {}in {} {}.", share, headline.all_in_type ? "" : "most of it ", grouped(count),
                               type);
        case OverviewHeadline::Kind::objects:
            return fmt::format("{} belongs to {}.", share, counted(count, "object of type " + type, "objects of type " + type));
        case OverviewHeadline::Kind::other_memory:
            break;
    }
    return fmt::format("{} is {}; no type of Python object has much of it.", share, escape_for_terminal(headline.region));
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
    answer.data["suspects"] = nullptr;
    answer.data["signature"] = core.signature;
    answer.text = [&result, &core](const Page& page) { return overview_text(result, core, page); };
    return answer;
}

}  // namespace heapsift
