// The doctor's report, section by section: memory, program files, interpreter, objects, and what no core
// tells.

#include "cli/render/doctor.h"

#include "cli/render/index.h"
#include "cli/render/object.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_guessed = 10;

const char* name_of(ModuleFileState state) {
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

const char* in_words(ModuleFileState state) {
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

/// A table without headings.
Block plain_table(std::vector<TextColumn> columns, std::vector<TableRow> rows) {
    TableBlock table;
    table.columns = std::move(columns);
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

void say_segments(const DoctorResult& result, Document& document) {
    const auto& segments = result.segments;
    std::vector<TableRow> rows{{.cells = {"in the core", ByteCount{segments.in_core}}},
                               {.cells = {"from program files found here", ByteCount{segments.from_file}}},
                               {.cells = {"mapped, but not saved", ByteCount{segments.not_saved}}}};
    if (segments.cut > 0)
        rows.push_back({.cells = {"promised by the headers, and cut off", ByteCount{segments.cut}}});
    document.say(line(says("Memory, {}", how_many(segments.segments, "segment")).bold()));
    document.say(plain_table({left(""), right("")}, std::move(rows)));
}

TableRow module_row(const Module& module) {
    const bool elsewhere = !module.file.empty() && module.file != module.path;
    return {.cells = {in_words(module.file_state),
                      module.build_id.empty() ? Text("–") : Text(Digest{module.build_id}),
                      FilePath{module.path}, elsewhere ? Text(FilePath{module.file}) : Text()}};
}

void say_modules(const DoctorResult& result, Document& document) {
    document.say(line(Text("Program files").bold()));
    if (result.modules.empty()) return document.say(line("The core names none.", 1));
    TableBlock table;
    table.columns = {left("state"), left("build-id"), left("path", TextColumn::Fit::middle),
                     left("file here", TextColumn::Fit::middle)};
    std::vector<TableRow> rows;
    for (const Module& module : result.modules) rows.push_back(module_row(module));
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (!result.missing.empty())
        document.say(sentence(
            says("{} not found: copy them from that machine, and pass --sysroot DIR; they are listed by",
                 how_many(result.missing.size(), "file")),
            CommandLine{"doctor --missing"}, 1));
}

Text types_words(const DoctorResult& result) {
    if (result.unnamed_types == 0) return says("{}, all with their names", Count{result.types});
    return says("{}, {} without a name: their files were not found", Count{result.types},
                Count{result.unnamed_types});
}

void say_interpreter(const DoctorResult& result, Document& document) {
    document.say(line(Text("Python").bold()));
    if (result.layout_source.empty()) return document.say(line("No interpreter was found.", 1));
    std::vector<TableRow> rows{
        {.cells = {"interpreter", Message{result.python_found_by}}},
        {.cells = {"layout", Message{result.layout_source}}},
        {.cells = {"checks", says("{} of {} passed", std::to_string(result.checks_passed),
                                  std::to_string(result.checks.size()))}}};
    for (const LayoutCheck& check : result.checks)
        if (!check.passed) rows.push_back({.cells = {"", says("failed: {}", check.what)}});
    rows.push_back({.cells = {"types", types_words(result)}});
    document.say(plain_table({left(""), left("", TextColumn::Fit::wrap)}, std::move(rows)));
}

/// One sentence on how far the findings can be trusted.
void say_counts(const DoctorResult::ReferenceCounts& counts, Document& document) {
    if (counts.objects == 0) return;
    Text text = says(
        "Self-check: for {} of the objects ({} of {} mortal ones) every reference that Python counted was "
        "found",
        Share{counts.balanced, counts.objects}, Count{counts.balanced}, Count{counts.objects});
    if (counts.short_of > 0) text += says("; for {} some were not", Count{counts.short_of});
    text += says(". {} from memory that is no object's",
                 how_many(counts.native, "reference is", "references are"));
    const std::uint64_t guesses = counts.guesses_proved + counts.guesses_allowed + counts.guesses_refused;
    if (guesses > 0)
        text += says("; of {}, counts proved {}, left room for {} and refused {}",
                     how_many(guesses, "guess", "guesses"), Count{counts.guesses_proved},
                     Count{counts.guesses_allowed}, Count{counts.guesses_refused});
    document.say(sentence(text + "."));
}

void say_guessed(const DoctorResult& result, std::uint64_t objects, Document& document) {
    if (const std::uint64_t run = result.references_learned + result.references_emulated; run > 0)
        document.say(sentence(says(
            "References known from the types' own code: those of {}; learned for {} of {}, emulated for {} "
            "of {}",
            how_many(run, "object"), Count{result.references_learned}, how_many(result.learned_types, "type"),
            Count{result.references_emulated}, how_many(result.emulated_types, "type"))));
    if (result.guessed.empty()) return document.say(line("What they refer to is known for all.", 1));
    document.say(sentence(
        says("References guessed: those of {} ({} of all), whose types are not known to heapsift",
             how_many(result.references_guessed, "object"), Share{result.references_guessed, objects})));
    if (!result.can_emulate)
        document.say(
            sentence("Their types' own code would tell, but cannot be run: this heapsift was built without "
                     "libunicorn, or it is not installed."));
    TableBlock table;
    table.columns = {right("objects"), right("memory"), left("type", TextColumn::Fit::middle)};
    std::vector<TableRow> rows;
    for (std::size_t i = 0; i < std::min(most_guessed, result.guessed.size()); ++i) {
        const DoctorResult::GuessedType& type = result.guessed[i];
        rows.push_back({.cells = {Count{type.objects}, ByteCount{type.memory}, TypeName{type.name}}});
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (result.guessed.size() > most_guessed)
        document.say(line("… " + how_many(result.guessed.size() - most_guessed, "more type"), 1));
}

void say_objects(const DoctorResult& result, Document& document) {
    const std::uint64_t total = result.references_written + result.references_learned +
                                result.references_emulated + result.references_guessed;
    if (total == 0) return;
    document.say(line(says("{}, and how each was found", how_many(total, "object")).bold()));
    std::vector<TableRow> rows;
    for (const auto& [how, count] : result.found_by)
        rows.push_back({.cells = {how, Count{count}, Share{count, total, true}}});
    document.say(plain_table({left(""), right(""), right("")}, std::move(rows)));
    say_counts(result.counts, document);
    say_guessed(result, total, document);
    document.say(gap());
}

Datum module_data(const Module& module) {
    return entries({{"path", FilePath{module.path}},
                    {"build_id", or_null(module.build_id)},
                    {"state", name_of(module.file_state)},
                    {"file", module.file.empty() ? Datum() : Datum(FilePath{module.file})},
                    {"start", module.start},
                    {"end", module.end},
                    {"is_executable", module.is_executable}});
}

Datum layout_data(const DoctorResult& result) {
    const auto check_data = [](const LayoutCheck& check) {
        return entries({{"what", check.what}, {"passed", check.passed}});
    };
    const auto message = [](const std::string& text) {
        return text.empty() ? Datum() : Datum(Message{text});
    };
    return entries({{"source", message(result.layout_source)},
                    {"python_found_by", message(result.python_found_by)},
                    {"checks", Datum::list_of(result.checks, check_data)},
                    {"types", result.types},
                    {"unnamed_types", result.unnamed_types}});
}

Datum paths_data(const std::vector<std::string>& paths) {
    return Datum::list_of(paths, [](const std::string& path) { return Datum(FilePath{path}); });
}

void add_data(const DoctorResult& result, Datum& data) {
    const auto& segments = result.segments;
    const DoctorResult::ReferenceCounts& counts = result.counts;
    data["segments"] = entries({{"count", segments.segments},
                                {"in_core", segments.in_core},
                                {"from_file", segments.from_file},
                                {"not_saved", segments.not_saved},
                                {"cut", segments.cut}});
    data["modules"] = Datum::list_of(result.modules, module_data);
    data["layout"] = layout_data(result);
    data["references"] = entries({{"written", result.references_written},
                                  {"learned", result.references_learned},
                                  {"emulated", result.references_emulated},
                                  {"guessed", result.references_guessed}});
    data["counts"] = entries({{"objects", counts.objects},
                              {"balanced", counts.balanced},
                              {"short", counts.short_of},
                              {"native", counts.native},
                              {"guesses_proved", counts.guesses_proved},
                              {"guesses_allowed", counts.guesses_allowed},
                              {"guesses_refused", counts.guesses_refused}});
    data["guessed"] = Datum::list_of(result.guessed, [](const DoctorResult::GuessedType& type) {
        return entries({{"name", type.name}, {"objects", type.objects}, {"memory", type.memory}});
    });
    data["found_by"] = Datum::list_of(result.found_by, [](const auto& row) {
        return entries({{"how", row.first}, {"objects", row.second}});
    });
    data["missing"] = paths_data(result.missing);
    data["cannot_tell"] =
        Datum::list_of(result.cannot_tell, [](const std::string& sentence) { return Datum(sentence); });
}

}  // namespace

Document render_doctor(const DoctorResult& result, const std::optional<IndexThere>& index) {
    Document document{.command = "doctor"};
    add_data(result, document.data);
    say_segments(result, document);
    document.say(gap());
    say_modules(result, document);
    document.say(gap());
    say_interpreter(result, document);
    document.say(gap());
    say_objects(result, document);
    add_index(index, document);
    document.say(line(Text("What no core can tell").bold()));
    for (const std::string& words : result.cannot_tell) document.say(sentence(words, {}, 1));
    return document;
}

Document render_missing(const std::vector<std::string>& paths) {
    Document document{.command = "doctor"};
    document.data["missing"] = paths_data(paths);
    for (const std::string& path : paths) document.say(line(FilePath{path}));
    return document;
}

}  // namespace heapsift
