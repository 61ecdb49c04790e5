// The doctor's report, section by section: memory, program files, interpreter, objects, and what no core
// tells.

#include "cli/render/doctor.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

using ColumnAlign = TableColumn::Align;

std::string name_of(ModuleFileState state) {
    switch (state) {
        case ModuleFileState::found:
            return "found";
        case ModuleFileState::unverified:
            return "unverified";
        case ModuleFileState::mismatch:
            return "mismatch";
        case ModuleFileState::missing:
            return "missing";
        case ModuleFileState::not_needed:
            return "not_needed";
    }
    return "";
}

std::string in_words(ModuleFileState state) {
    switch (state) {
        case ModuleFileState::unverified:
            return "not used: no build-id";
        case ModuleFileState::mismatch:
            return "not used: another build";
        case ModuleFileState::missing:
            return "not found";
        case ModuleFileState::not_needed:
            return "not needed";
        case ModuleFileState::found:
            break;
    }
    return "found";
}

std::string segments_text(const DoctorResult& result, const Page& page) {
    const auto& segments = result.segments;
    Table table({{ColumnAlign::left, ""}, {ColumnAlign::right, ""}});
    table.add({"in the core", page.bytes(segments.in_core)});
    table.add({"from program files found here", page.bytes(segments.from_file)});
    table.add({"mapped, but not saved", page.bytes(segments.not_saved)});
    if (segments.cut > 0) table.add({"promised by the headers, and cut off", page.bytes(segments.cut)});
    return bold("Memory, " + counted(segments.segments, "segment"), page.colour) + "\n" +
           table.text(0, false);
}

std::string modules_text(const DoctorResult& result, const Page& page) {
    if (result.modules.empty()) return bold("Program files", page.colour) + "\n  The core names none.\n";
    constexpr std::size_t enough = 12;  // digits of a build-id, for a reader
    Table table({{ColumnAlign::left, "state"},
                 {ColumnAlign::left, "build-id"},
                 {ColumnAlign::left, "path", TableColumn::Fit::middle},
                 {ColumnAlign::left, "file here", TableColumn::Fit::middle}});
    for (const Module& module : result.modules) {
        const std::string file =
            module.file.empty() || module.file == module.path ? "" : page.redact().path(module.file);
        const std::string build_id = page.width == 0 ? module.build_id : module.build_id.substr(0, enough);
        table.add({in_words(module.file_state), build_id.empty() ? "–" : build_id,
                   escape_for_terminal(page.redact().path(module.path)), escape_for_terminal(file)});
    }
    const std::size_t missing = missing_files(result.modules).size();
    std::string text = bold("Program files", page.colour) + "\n" + table.text(page.width, page.colour);
    if (missing > 0)
        text += "  " +
                wrapped_with_tail(
                    counted(missing, "file") +
                        " not found: copy them from that machine, and pass --sysroot DIR; they are listed by",
                    page.command("doctor --missing"), page.width, 4, 2) +
                "\n";
    return text;
}

std::string interpreter_text(const DoctorResult& result, const Page& page) {
    std::string text = bold("Python", page.colour) + "\n";
    if (result.layout_source.empty()) return text + "  No interpreter was found.\n";
    const auto passed = std::count_if(result.checks.begin(), result.checks.end(),
                                      [](const LayoutCheck& c) { return c.passed; });
    Table table({{ColumnAlign::left, ""}, {ColumnAlign::left, "", TableColumn::Fit::wrap}});
    table.add({"interpreter", escape_for_terminal(page.redact().message(result.python_found_by))});
    table.add({"layout", escape_for_terminal(page.redact().message(result.layout_source))});
    table.add({"checks", fmt::format("{} of {} passed", passed, result.checks.size())});
    for (const LayoutCheck& check : result.checks)
        if (!check.passed) table.add({"", "failed: " + escape_for_terminal(check.what)});
    table.add({"types",
               grouped(result.types) + (result.unnamed_types == 0
                                            ? ", all with their names"
                                            : fmt::format(", {} without a name: their files were not found",
                                                          grouped(result.unnamed_types)))});
    return text + table.text(page.width, false);
}

/// How far what was found can be trusted, in a sentence.
std::string counts_text(const DoctorResult::ReferenceCounts& counts, const Page& page) {
    if (counts.objects == 0) return {};
    std::string text = fmt::format("The references found are as many as Python counted for {} of {} ({})",
                                   grouped(counts.balanced), counted(counts.objects, "mortal object"),
                                   percent(counts.balanced, counts.objects));
    if (counts.short_of > 0) text += fmt::format("; {} have more than was found", grouped(counts.short_of));
    text += fmt::format(". {} from memory that is no object's",
                        counted(counts.native, "reference is", "references are"));
    if (const std::uint64_t believed = counts.guesses_proved + counts.guesses_allowed;
        believed + counts.guesses_refused > 0)
        text += fmt::format("; of {}, counts proved {}, left room for {} and refused {}",
                            counted(believed + counts.guesses_refused, "guess", "guesses"),
                            grouped(counts.guesses_proved), grouped(counts.guesses_allowed),
                            grouped(counts.guesses_refused));
    return wrapped(text + ".", page.width, 2) + "\n";
}

std::string objects_text(const DoctorResult& result, const Page& page) {
    const std::uint64_t total = result.references_written + result.references_guessed;
    if (total == 0) return {};
    std::string text = bold(counted(total, "object") + ", and how each was found", page.colour) + "\n";
    Table found({{ColumnAlign::left, ""}, {ColumnAlign::right, ""}, {ColumnAlign::right, ""}});
    for (const auto& [how, count] : result.found_by)
        found.add({how, grouped(count), percent_in_table(count, total)});
    text += found.text(0, false);
    text += counts_text(result.counts, page);
    if (result.guessed.empty()) return text + "  What they refer to is known for all.\n";
    text +=
        wrapped(fmt::format("What {} refer to is guessed ({} of all), for want of a way to read their types",
                            counted(result.references_guessed, "object"),
                            percent(result.references_guessed, total)),
                page.width, 2) +
        "\n";
    constexpr std::size_t most = 10;
    Table guessed({{ColumnAlign::right, "objects"},
                   {ColumnAlign::right, "memory"},
                   {ColumnAlign::left, "type", TableColumn::Fit::middle}});
    for (std::size_t i = 0; i < result.guessed.size() && i < most; ++i)
        guessed.add({grouped(result.guessed[i].objects), page.bytes(result.guessed[i].memory),
                     type_text(result.guessed[i].name)});
    text += guessed.text(page.width, page.colour);
    if (result.guessed.size() > most)
        text += fmt::format("  … {}\n", counted(result.guessed.size() - most, "more type"));
    return text;
}

std::string doctor_text(const DoctorResult& result, const Page& page) {
    std::string text = segments_text(result, page) + "\n" + modules_text(result, page) + "\n" +
                       interpreter_text(result, page) + "\n";
    const std::string objects = objects_text(result, page);
    if (!objects.empty()) text += objects + "\n";
    text += bold("What no core can tell", page.colour) + "\n";
    for (const std::string& sentence : result.cannot_tell)
        text += "  " + wrapped(sentence, page.width, 4, 2) + "\n";
    return text;
}

Json modules_json(const DoctorResult& result, Redactor& redactor) {
    Json json = Json::array();
    for (const Module& module : result.modules)
        json.push_back({{"path", redactor.path(module.path)},
                        {"build_id", module.build_id.empty() ? Json(nullptr) : Json(module.build_id)},
                        {"state", name_of(module.file_state)},
                        {"file", module.file.empty() ? Json(nullptr) : Json(redactor.path(module.file))},
                        {"start", address_json(module.start)},
                        {"end", address_json(module.end)},
                        {"is_executable", module.is_executable}});
    return json;
}

Json layout_json(const DoctorResult& result, Redactor& redactor) {
    Json checks = Json::array();
    for (const LayoutCheck& check : result.checks)
        checks.push_back({{"what", check.what}, {"passed", check.passed}});
    Json json;
    json["source"] =
        result.layout_source.empty() ? Json(nullptr) : Json(redactor.message(result.layout_source));
    json["python_found_by"] =
        result.python_found_by.empty() ? Json(nullptr) : Json(redactor.message(result.python_found_by));
    json["checks"] = checks;
    json["types"] = result.types;
    json["unnamed_types"] = result.unnamed_types;
    return json;
}

Json paths_json(const std::vector<std::string>& paths, Redactor& redactor) {
    Json json = Json::array();
    for (const std::string& path : paths) json.push_back(redactor.path(path));
    return json;
}

}  // namespace

Answer render_doctor(const DoctorResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "doctor";
    Json& data = answer.data;
    const auto& segments = result.segments;
    data["segments"] = {{"count", segments.segments},
                        {"in_core", segments.in_core},
                        {"from_file", segments.from_file},
                        {"not_saved", segments.not_saved},
                        {"cut", segments.cut}};
    data["modules"] = modules_json(result, redactor);
    data["layout"] = layout_json(result, redactor);
    // Learned and emulated references are not built; their numbers are therefore 0.
    data["references"] = {{"written", result.references_written},
                          {"learned", 0},
                          {"emulated", 0},
                          {"guessed", result.references_guessed}};
    const DoctorResult::ReferenceCounts& counts = result.counts;
    data["counts"] = {{"objects", counts.objects},
                      {"balanced", counts.balanced},
                      {"short", counts.short_of},
                      {"native", counts.native},
                      {"guesses_proved", counts.guesses_proved},
                      {"guesses_allowed", counts.guesses_allowed},
                      {"guesses_refused", counts.guesses_refused}};
    data["guessed"] = Json::array();
    for (const auto& type : result.guessed)
        data["guessed"].push_back({{"name", type.name}, {"objects", type.objects}, {"memory", type.memory}});
    data["found_by"] = Json::array();
    for (const auto& [how, count] : result.found_by)
        data["found_by"].push_back({{"how", how}, {"objects", count}});
    data["missing"] = paths_json(missing_files(result.modules), redactor);
    data["cannot_tell"] = result.cannot_tell;
    answer.text = [&result](const Page& page) { return doctor_text(result, page); };
    return answer;
}

Answer render_missing(const std::vector<std::string>& paths, Redactor& redactor) {
    Answer answer;
    answer.command = "doctor";
    answer.data["missing"] = paths_json(paths, redactor);
    answer.text = [paths](const Page& page) {
        std::string text;
        for (const std::string& path : paths) text += escape_for_terminal(page.redact().path(path)) + "\n";
        return text;
    };
    return answer;
}

}  // namespace heapsift
