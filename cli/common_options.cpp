// Options of every command. --json is --format json; together with another --format it is an error. If an
// option is given twice, the last one counts.

#include "cli/common_options.h"

#include "cli/command_options.h"

namespace heapsift {
namespace {

void add_when(CommandOptions& declare, const std::string& name, When& when, const std::string& description) {
    declare.choice(
        name, {"auto", "always", "never"}, [&when](std::size_t choice) { when = static_cast<When>(choice); },
        description);
}

}  // namespace

void add_common_options(CommandOptions& declare, CommonOptions& options, bool own_format) {
    declare.begin_common();
    declare.text("--core", options.core, "PATH", "the core (else $HEAPSIFT_CORE or the one in use)",
                 ValueKind::core);
    declare.text("--executable", options.search.executable, "PATH", "the interpreter's binary, if not found",
                 ValueKind::file);
    declare.number("--interpreter", options.search.runtime,
                   "of several CPythons in the process: which, from 1 on", 1, most_runtimes);
    declare.text("--sysroot", options.search.sysroot, "DIR", "root of the crashed machine's program files",
                 ValueKind::directory);
    declare.text("--debug-dir", options.search.debug_dir, "DIR", "directory of debug files, by build-id",
                 ValueKind::directory);
    if (!declare.has("--keep"))
        declare.text("--keep", options.keep, "FILE", "of a living process: keep its core in FILE",
                     ValueKind::file);
    declare.flag("--no-native", options.no_native,
                 "retained sizes of Python's objects alone, as if C code owned nothing");
    declare.flag("--no-index", options.no_index, "neither read nor write the core's index");
    declare.text("--index-dir", options.index_dir, "DIR", "where indexes lie (default ~/.cache/heapsift)",
                 ValueKind::directory);
    if (!own_format)
        declare.choice(
            "--format", {"text", "json", "jsonl", "csv"},
            [&options](std::size_t choice) { options.format = static_cast<Format>(choice); },
            "format of the answer (default text)");
    declare.flag(
        "--json", [&options] { options.format = Format::json; }, "the same as --format json: one document");
    if (!declare.has("--jobs"))
        declare.number("-j,--jobs", options.jobs, "threads (default: one for each processor)", 1, most_jobs);
    declare.number("--memory", options.memory,
                   "own memory, 2G; what is beyond lies on disk (default: what is free)", 1, most_memory);
    declare.number("-n,--limit", options.limit, "rows, 0 for all (default: 20 in text, else all)");
    declare.flag("--bytes", options.exact_bytes, "show exact bytes in text");
    declare.flag("--redact", options.redact, "leave out values, arguments and directories");
    add_when(declare, "--color", options.colour, "colour (default auto; respects NO_COLOR)");
    add_when(declare, "--progress", options.progress, "progress on standard error (default auto)");
    declare.flag("-q,--quiet", options.quiet, "print only errors on standard error");
    declare.flag("-v,--verbose", options.verbose, "more notes, and what each pass took");
}

}  // namespace heapsift
