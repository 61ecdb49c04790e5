// Common options. --json is --format json; where both are given, the last one counts, as it does for every option given twice.

#include "cli/common_options.h"

#include <CLI/CLI.hpp>

#include <map>

namespace heapsift {
namespace {

const std::map<std::string, Format> formats = {
    {"text", Format::text}, {"json", Format::json}, {"jsonl", Format::jsonl}, {"csv", Format::csv}};
const std::map<std::string, When> whens = {{"auto", When::automatic}, {"always", When::always}, {"never", When::never}};

template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& value, const std::map<std::string, Value>& choices,
                        const std::string& words, const std::string& description) {
    return app
        .add_option_function<std::string>(
            name, [&value, &choices](const std::string& word) { value = choices.at(word); }, description)
        ->check(CLI::IsMember(choices))
        ->type_name(words);
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
    app.option_defaults()->group(common_group)->take_last();
    app.add_option("--core", options.core, "the core; without it a word that is a file, $HEAPSIFT_CORE, or the core in use")
        ->type_name("PATH");
    app.add_option("--executable", options.search.executable, "the interpreter's binary, where it is not found")
        ->type_name("PATH");
    app.add_option("--sysroot", options.search.sysroot, "where the program files of the crashed machine are")->type_name("DIR");
    app.add_option("--debug-dir", options.search.debug_dir, "where debug files are, by build-id")->type_name("DIR");
    add_choice(app, "--format", options.format, formats, "text|json|jsonl|csv", "how to answer");
    app.add_flag_callback(
        "--json", [&options] { options.format = Format::json; }, "the same as --format json");
    app.add_option("-n,--limit", options.limit, "rows to show; 0 for all (20 in text, else all)")->type_name("N");
    app.add_flag("--bytes", options.exact_bytes, "exact bytes in text");
    app.add_flag("--redact", options.redact, "leave out values, arguments and directories; keep names and numbers");
    add_choice(app, "--color", options.colour, whens, "auto|always|never", "colour in text; NO_COLOR is heeded");
    add_choice(app, "--progress", options.progress, whens, "auto|always|never", "a progress line on standard error");
    app.add_flag("-q,--quiet", options.quiet, "errors only on standard error");
    app.add_flag("-v,--verbose", options.verbose, "say more on standard error");
    app.option_defaults()->group("Options");
}

}  // namespace heapsift
