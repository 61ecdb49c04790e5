// Common options. --json is --format json, and another --format beside it is an error. Of an option given twice the last one
// counts.

#include "cli/common_options.h"

#include "cli/option_kinds.h"

#include <CLI/CLI.hpp>

namespace heapsift {
namespace {

void add_when(CLI::App& app, const std::string& name, When& when, const std::string& description) {
    add_choice(
        app, name, {"auto", "always", "never"}, [&when](std::size_t choice) { when = static_cast<When>(choice); }, description);
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options, bool own_format) {
    app.option_defaults()->group(common_group)->take_last();
    app.add_option("--core", options.core, "the core; without it a word that is a file, $HEAPSIFT_CORE, or the core in use")
        ->type_name("PATH");
    app.add_option("--executable", options.search.executable, "the interpreter's binary, where it is not found")
        ->type_name("PATH");
    app.add_option("--sysroot", options.search.sysroot, "where the program files of the crashed machine are")->type_name("DIR");
    app.add_option("--debug-dir", options.search.debug_dir, "where debug files are, by build-id")->type_name("DIR");
    if (!own_format)
        add_choice(
            app, "--format", {"text", "json", "jsonl", "csv"},
            [&options](std::size_t choice) { options.format = static_cast<Format>(choice); }, "how to answer");
    app.add_flag_callback(
        "--json", [&options] { options.format = Format::json; },
        "answer with one JSON document: the same as --format json, where that is a choice");
    add_number(app, "-n,--limit", options.limit, "rows to show; 0 for all (20 in text, else all)");
    app.add_flag("--bytes", options.exact_bytes, "exact bytes in text");
    app.add_flag("--redact", options.redact, "leave out values, arguments and directories; keep names and numbers");
    add_when(app, "--color", options.colour, "colour in text; NO_COLOR is heeded");
    add_when(app, "--progress", options.progress, "a progress line on standard error");
    app.add_flag("-q,--quiet", options.quiet, "errors only on standard error");
    app.add_flag("-v,--verbose", options.verbose, "say more on standard error");
    app.option_defaults()->group("Options");
}

}  // namespace heapsift
