// heapsift export: the whole heap in a file, for SQL, data frames and other programs.

#include "cli/commands/export.h"

#include "cli/option_kinds.h"
#include "cli/output_file.h"
#include "cli/render/export.h"
#include "cli/render/types.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <array>
#include <memory>
#include <optional>

namespace heapsift {
namespace {

enum class FileFormat { db, jsonl };
constexpr std::array format_names = {"db", "jsonl"};

struct ExportOptions {
    std::string output;
    std::optional<FileFormat> format;
    bool overwrite = false;

    bool to_standard_output() const { return output == "-"; }
};

FileFormat format_of(const ExportOptions& options) {
    if (options.format) return *options.format;
    if (options.to_standard_output()) return FileFormat::jsonl;
    for (std::size_t i = 0; i < format_names.size(); ++i)
        if (options.output.ends_with(std::string(".") + format_names[i])) return static_cast<FileFormat>(i);
    throw wrong_usage(
        "unknown-ending", fmt::format("-o {}: the format is not known by this ending", shell_quoted(options.output)),
        fmt::format("end it in .{}, or add --format {}", fmt::join(format_names, " or ."), fmt::join(format_names, "|")));
}

void check(const Session& session, const ExportOptions& options, FileFormat format) {
    if (session.options().limit)
        throw wrong_usage("bad-option", "-n: an export is whole", "heapsift objects -n N --format jsonl has the largest objects");
    if (!options.to_standard_output()) return;
    if (format == FileFormat::db)
        throw wrong_usage("not-a-file", "a database cannot be written to standard output", "name a file: -o heap.db");
    if (session.options().format == Format::json)
        throw wrong_usage("two-answers", "--json and -o -: both would be written to standard output", "leave one out");
}

/// Counts references and arrays on their way to another sink.
template <class Sink>
struct Counted {
    Sink& sink;
    std::uint64_t references = 0, arrays = 0;
    void type(const ExportedType& row) { sink.type(row); }
    void object(const ExportedObject& row) { sink.object(row); }
    void reference(const ExportedReference& row) {
        ++references;
        sink.reference(row);
    }
    void array(const ExportedArray& row) {
        ++arrays;
        sink.array(row);
    }
};

struct RowCounts {
    std::uint64_t references = 0, arrays = 0;
};

template <class Sink>
RowCounts write_rows(Session& session, const HeapSnapshot& heap, const Export& rows, Sink sink) {
    sink.meta(export_meta(session.head("export"), rows, session.redactor().active()));
    Counted<Sink> counted{sink};
    for_each_row(rows, heap, session.progress(), counted);
    return {counted.references, counted.arrays};
}

RowCounts write_lines(Session& session, const HeapSnapshot& heap, const Export& rows, const LinesExport::Write& write) {
    return write_rows(session, heap, rows, LinesExport(write, session.redactor()));
}

RowCounts write_database(Session& session, const HeapSnapshot& heap, const Export& rows, const OutputFile& file) {
    Database database(file.temporary_path(), file.name());
    const RowCounts counts = write_rows(session, heap, rows, DatabaseExport(database, session.redactor()));
    database.commit();
    return counts;
}

std::uint64_t bytes_of(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

ExitCode run_export(Session& session, const ExportOptions& options) {
    if (options.output.empty())
        throw wrong_usage("no-output", "export needs -o FILE", "heapsift export -o heap.db, or -o heap.jsonl");
    const FileFormat format = format_of(options);
    check(session, options, format);
    std::optional<OutputFile> file;
    if (!options.to_standard_output())
        file.emplace(options.output, OutputFile::Rules{options.overwrite, format == FileFormat::db, session.choice().path});

    const HeapSnapshot heap = session.open_heap();
    note_uncertain_sizes(group_by_type(heap, SortKey::memory, 1, session.progress()), session.diagnostics());
    heap.references(session.progress());
    session.note_references(heap);
    const Export rows(heap);
    ExportSummary summary{
        options.output, format_names[static_cast<std::size_t>(format)], 0, rows.type_count(), rows.object_count(), 0, 0};
    if (!file) {
        Output output;
        write_lines(session, heap, rows, [&](std::string_view text) { output.write(text); });
        output.flush();
        Answer answer;
        answer.command = "export";
        answer.text = [](const Page&) { return std::string(); };
        return session.write(answer);
    }
    const RowCounts counts = format == FileFormat::db
                                 ? write_database(session, heap, rows, *file)
                                 : write_lines(session, heap, rows, [&](std::string_view text) { file->write(text); });
    summary.references = counts.references;
    summary.arrays = counts.arrays;
    file->commit();
    summary.bytes = bytes_of(options.output);
    return session.write(render_export(summary, session.redactor()));
}

}  // namespace

const char* const export_details =
    R"(The tables: meta(key, value), type, object, reference, array, and root, which is empty so far; so are the columns
state, retained and dominator of object: meta's not_computed says it. A reference that is only reported
(kind reported) is owned by another object; followed is 0 for what holds nothing, or leads into a module or static type. generation is 0, 1 or 2, 3 for objects put
aside by gc.freeze(), and NULL where the collector has the object in no list.

  db     SQLite. Addresses are integers (printf('0x%x', address)); one from 2^63 on is stored less 2^64
  jsonl  a line of JSON a row, its table first: {"table":"meta",...}, then "type", "object", "reference", "array"; objects as
         heapsift objects --format jsonl has them. -o - writes it to standard output

FILE appears when it is whole, readable by you alone; after Ctrl-C or an error there is none. Exit codes: 0 written;
3 written, and the core is cut or damaged (meta: complete is 0); 2 FILE exists, or cannot be made; 1 the core cannot
be analysed, or the disk is full.
)";

CommandRunner setup_export(CLI::App& app) {
    auto options = std::make_shared<ExportOptions>();
    app.add_option("-o,--output", options->output, "the file to write; - is standard output (jsonl)")
        ->type_name("FILE")
        ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    add_choice(
        app, "--format", {format_names.begin(), format_names.end()},
        [options](std::size_t choice) { options->format = static_cast<FileFormat>(choice); },
        "what to write; without it the ending of FILE tells");
    app.add_flag("-f,--force", options->overwrite, "overwrite FILE where it exists");
    return [options](Session& session) { return run_export(session, *options); };
}

}  // namespace heapsift
