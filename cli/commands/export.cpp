// heapsift export: the whole heap as a file, for SQL, data frames and other programs.

#include "cli/commands/export.h"

#include "cli/address_lookup.h"
#include "cli/command_options.h"
#include "cli/exported_inventory.h"
#include "cli/output_file.h"
#include "cli/query/object_tables.h"
#include "cli/query/row_tables.h"
#include "cli/question.h"
#include "cli/render/export.h"
#include "cli/render/export_heapsnapshot.h"
#include "cli/render/export_pictures.h"
#include "cli/render/types.h"
#include "cli/report/svg.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace heapsift {
namespace {

constexpr std::size_t most_drawn = 200;  // nobody can read a larger picture
constexpr std::size_t drawn_of_top = 60;
constexpr std::size_t deepest_stack = 64;
constexpr std::uint64_t many_nodes = 5000000;

struct ExportOptions {
    std::string output;
    std::optional<ExportFormat> format;
    bool overwrite = false;
    std::string object;  // as typed; empty: none
    std::optional<std::size_t> depth;
    bool treemap = false;

    bool to_standard_output() const { return output == "-"; }
};

ExportFormat format_of(const ExportOptions& options) {
    if (options.format) return *options.format;
    if (options.to_standard_output()) return ExportFormat::jsonl;
    for (std::size_t i = 0; i < export_format_names.size(); ++i)
        if (options.output.ends_with(std::string(".") + export_format_names[i]))
            return static_cast<ExportFormat>(i);
    throw wrong_usage("unknown-ending",
                      fmt::format("-o {}: no format has this extension", shell_quoted(options.output)),
                      fmt::format("end it in .{}, or add --format {}", fmt::join(export_format_names, ", ."),
                                  fmt::join(export_format_names, "|")));
}

void check(const Session& session, const ExportOptions& options, ExportFormat format) {
    if (session.options().limit && format != ExportFormat::dot)
        throw wrong_usage("bad-option", "-n: an export is always complete",
                          command_line("objects -n N --format jsonl") + " has the largest objects");
    if (!options.object.empty() && format != ExportFormat::dot)
        throw wrong_usage("bad-option", "--object: only a picture (.dot) is drawn around one object",
                          "name the file FILE.dot");
    if (options.treemap && format != ExportFormat::svg)
        throw wrong_usage("bad-option", "--treemap: only a picture (.svg) is one", "name the file FILE.svg");
    if (options.depth && format != ExportFormat::dot && format != ExportFormat::folded)
        throw wrong_usage("bad-option", "--depth: an export is always complete",
                          "--depth is for .dot and .folded");
    if (!options.to_standard_output()) return;
    if (format == ExportFormat::db)
        throw wrong_usage("not-a-file", "a database cannot be written to standard output",
                          "name a file: -o heap.db");
    if (session.options().format == Format::json)
        throw wrong_usage("two-answers", "--json and -o -: both would be written to standard output",
                          "leave one out");
}

/// Counts references, roots and arrays on their way to another sink.
template <class Sink>
struct Counted {
    Sink& sink;
    std::uint64_t references = 0, roots = 0, arrays = 0;
    void type(const ExportedType& row) { sink.type(row); }
    void object(const ExportedObject& row) { sink.object(row); }
    void reference(const ExportedReference& row) {
        ++references;
        sink.reference(row);
    }
    void root(const ExportedRoot& row) {
        ++roots;
        sink.root(row);
    }
    void array(const ArrayRow& row) {
        ++arrays;
        sink.array(row);
    }
};

using Write = std::function<void(std::string_view)>;

template <class Sink>
void write_rows(Session& session, Work& work, ExportSummary& summary, Sink sink) {
    const ExportReader rows(work.graph(), work.retained(), work.states());
    sink.meta(export_meta(session.head("export"), rows.type_count(), rows.object_count(),
                          session.redactor().active()));
    Counted<Sink> counted{sink};
    for_each_row(rows, work.heap(), session.progress(), counted);
    summary.rows = {{"type", rows.type_count()},
                    {"object", rows.object_count()},
                    {"reference", counted.references},
                    {"root", counted.roots},
                    {"array", counted.arrays}};
}

/// The tables that `query` has besides.
void write_query_tables(Database& database, QueryHeap& heap, ExportSummary& summary) {
    const auto write = [&](std::unique_ptr<SqlTable> table, bool has_key) {
        summary.rows.emplace_back(table->name(), write_table(database, *table, has_key));
    };
    write(string_table(heap), true);
    write(native_table(heap), true);
    write(holder_table(heap), false);
    write(thread_table(heap), true);
    write(frame_table(heap), false);
    write(task_table(heap), true);
    write(region_table(heap), true);
}

void write_database(Session& session, const std::shared_ptr<Question>& question, ExportSummary& summary,
                    const OutputFile& file) {
    Work& work = question->work();
    Database database(file.temporary_path(), file.name());
    write_rows(session, work, summary, DatabaseExport(database, session.redactor()));
    QueryHeap heap(session, question, nullptr);
    write_query_tables(database, heap, summary);
    finish_database(database);
    if (!session.redactor().active())
        write_inventory(database, take_inventory(work, whole_identity(work.heap())));
    database.commit();
}

void write_nodes(Session& session, Work& work, ExportSummary& summary, const Write& write) {
    const HeapSnapshotCounts counts =
        write_heap_snapshot(work.graph(), session.redactor(), write, session.progress());
    summary.rows = {{"node", counts.nodes}, {"edge", counts.edges}};
    if (counts.nodes > many_nodes)
        session.note("large-for-readers",
                     fmt::format("{} nodes: DevTools and memlab are slow from a few million on, and may fail",
                                 counts.nodes));
}

void write_picture(Session& session, Work& work, const ExportOptions& options, ExportSummary& summary,
                   const Write& write) {
    const std::size_t asked =
        session.options().limit.value_or(options.object.empty() ? drawn_of_top : most_drawn);
    const std::size_t limit = asked == 0 ? most_drawn : std::min(asked, most_drawn);
    const auto draw = [&] {
        if (options.object.empty())
            return picture_of_top(work.graph(), work.retained(), options.depth.value_or(6), limit);
        const ObjectId middle = find_object(session, work.heap(), parse_address(options.object));
        return picture_of(work.graph(), work.retained(), middle, options.depth.value_or(3), limit);
    };
    const Picture picture = draw();
    write(dot_text(picture, session.redactor()));
    summary.rows = {{"node", picture.nodes.size()}, {"edge", picture.edges.size()}};
}

/// The flame graph's tree, as areas.
void write_areas(Session& session, Work& work, const ExportOptions& options, ExportSummary& summary,
                 const Write& write) {
    const Page page = session.page_of_file();
    const AreaNode top = areas_of_types(work.graph(), work.retained(), page);
    const std::string title =
        fmt::format("{}: what retains what, by group and type",
                    escape_for_terminal(base_name(session.redactor().path(session.choice().path))));
    const std::string svg = options.treemap ? svg_treemap(top, title, page) : svg_icicle(top, title, page);
    write(svg);
    summary.rows = {{"area", count_areas(top)}};
}

/// Every format except the database.
void write_text(Session& session, Work& work, const ExportOptions& options, ExportSummary& summary,
                ExportFormat format, const Write& write) {
    switch (format) {
        case ExportFormat::heapsnapshot:
            return write_nodes(session, work, summary, write);
        case ExportFormat::folded:
            summary.rows = {{"stack", write_folded(work.graph(), work.retained(),
                                                   options.depth.value_or(deepest_stack), write)}};
            return;
        case ExportFormat::dot:
            return write_picture(session, work, options, summary, write);
        case ExportFormat::svg:
            return write_areas(session, work, options, summary, write);
        case ExportFormat::jsonl:
        case ExportFormat::db:
            return write_rows(session, work, summary, LinesExport(write, session.redactor()));
    }
}

std::uint64_t bytes_of(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)
               ? static_cast<std::uint64_t>(facts.st_size)
               : 0;
}

ExitCode run_export(Session& session, const ExportOptions& options) {
    if (options.output.empty())
        throw wrong_usage("no-output", "export needs -o FILE",
                          command_line("export -o heap.db") + ", or -o heap.jsonl");
    const ExportFormat format = format_of(options);
    check(session, options, format);
    if (!options.object.empty()) parse_address(options.object);
    std::optional<OutputFile> file;
    if (!options.to_standard_output())
        file.emplace(options.output, OutputFile::Rules{.overwrite = options.overwrite,
                                                       .seekable = format == ExportFormat::db,
                                                       .protected_path = session.choice().path});

    const auto question = std::make_shared<Question>(session, std::vector{Need::retained});
    if (format == ExportFormat::db) {
        question->also(Need::memory);
        question->also(Need::native);
    }
    const HeapReader& heap = question->filled();
    note_uncertain_sizes(types(heap, SortKey::memory, 1, session.progress()), session.diagnostics());
    session.note_references(heap);
    Work& work = question->work();
    work.retained();
    ExportSummary summary{options.output, format, 0, {}};
    if (!file) {
        Output output;
        write_text(session, work, options, summary, format,
                   [&](std::string_view text) { output.write(text); });
        output.flush();
        return session.write(Document{.command = "export"});
    }
    if (format == ExportFormat::db)
        write_database(session, question, summary, *file);
    else
        write_text(session, work, options, summary, format,
                   [&](std::string_view text) { file->write(text); });
    file->commit();
    summary.bytes = bytes_of(options.output);
    return session.write(render_export(summary));
}

constexpr const char* details_of_formats =
    R"(Everything, as tables:

  db     SQLite. Addresses are integers: printf('0x%x', address). From 2^63 on
         they are stored minus 2^64
  jsonl  one line of JSON per row, with the name of its table:
         {"table":"meta",...}, then "type", "object", "reference", "root",
         "array". -o - writes to standard output. Objects look as in
)";

constexpr const char* details_of_tables =
    R"(
The tables are those of `query`: heapsift help query lists them, with a dozen
questions. (In lines: meta, type, object, reference, root and array.) A db has
one more, inventory: what diff and report read of it where it stands for a
core (heapsift diff old.db core.2); with --redact it has none.

  object.state        reachable; held (by something that was not found); or
                      garbage: waiting (for the collector), uncollectable,
                      invisible (to the collector)
  object.retained     what deleting the object would free, in bytes
  object.native       of that, blocks of C code (0 with --no-native)
  object.dominator    the object without which this one would be freed; NULL
                      where that is a frame, a thread, a module's group, or
                      several of these
  object.generation   0, 1 or 2; 3 after gc.freeze(); NULL where the object is
                      in none of the collector's lists
  reference.kind      reported: the collector is told of it, but another
                      object owns it
  reference.followed  0 where it keeps nothing alive, or leads into a module
                      or a static type

Graphs, for other programs:

  heapsnapshot  for the Memory panel of Chrome DevTools (Load profile) and for
                memlab. Nodes are named <app.Node 0x7f... value> and grouped
                by type; sizes are memory; references that heapsift does not
                follow are weak; blocks of C code are left out. Works for up to one or two million objects.
                Nodes of two exports match only where their addresses do
  folded        stacks for flamegraph.pl, inferno or speedscope: the dominator
                tree by group, frame and type. The width of a frame is what it
                retains. A chain of one type is one frame (app.Node x100).
                --depth N frames, 64 by default
  dot           a picture for Graphviz (dot -Tsvg), as objgraph draws it. With
                --object ADDRESS: the path that keeps it alive, and everything
                within --depth N (3) steps. Without: what retains most,
                --depth N (6) steps below the groups. -n N nodes, at most 200.
                A node is as large as what it retains. None and the constants
                of code are left out
  svg           a picture as it is: an icicle of the stacks of folded, the top
                above and each area as wide as what it retains; --treemap: the
                same as areas inside of each other. Titles say on hovering what
                has no room

From Python, with pandas:

  import sqlite3, pandas
  with sqlite3.connect("heap.db") as heap:
      types = pandas.read_sql("SELECT * FROM type_total", heap)

DuckDB reads the answers of `query` as files, CSV (and JSON, --format jsonl):

  $ heapsift query "SELECT * FROM named_object" --format csv > objects.csv
  D SELECT type, sum(memory) FROM 'objects.csv' GROUP BY 1 ORDER BY 2 DESC;

FILE appears when it is complete, readable by you alone; after Ctrl-C or an
error there is none. Exit codes: 0 written; 3 written, but the core is cut or
damaged (meta: complete is 0); 2 FILE exists or cannot be created; 1 the core
cannot be analysed, or the disk is full.
)";

}  // namespace

std::string export_details() {
    return fmt::format("{}         {}\n{}", details_of_formats, command_line("objects --format jsonl"),
                       details_of_tables);
}

CommandRunner setup_export(CommandOptions& declare) {
    auto options = std::make_shared<ExportOptions>();
    declare.text("-o,--output", options->output, "FILE", "the file; - is standard output",
                 CommandOptions::Repeated::refused, ValueKind::file);
    declare.text("--object", options->object, "ADDRESS", "dot: the object at the centre",
                 CommandOptions::Repeated::refused);
    declare.number("--depth", options->depth, "dot: steps; folded: frames");
    declare.flag("--treemap", options->treemap, "svg: areas inside of each other");
    declare.choice(
        "--format", {export_format_names.begin(), export_format_names.end()},
        [options](std::size_t choice) { options->format = static_cast<ExportFormat>(choice); },
        "default: by the extension of FILE");
    declare.flag("-f,--force", options->overwrite, "overwrite FILE if it exists");
    return [options](Session& session) { return run_export(session, *options); };
}

}  // namespace heapsift
