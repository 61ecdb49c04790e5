// In order: tell options from words, find the command among the words, check the options against that
// command, and only then let CLI11 (command_options) read their values. CLI11 itself would have to know the
// command before it could tell an option's value from a word.

#include "cli/invocation.h"

#include "cli/command_list.h"
#include "cli/command_options.h"
#include "cli/declared_command.h"
#include "cli/help.h"
#include "cli/version.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace heapsift {
namespace {

// --sysroot must name an existing directory, --executable an existing file: a wrong path would only make the
// answer poorer, and nobody would see why.
void check_search(const FileSearch& search) {
    const auto check = [](const char* option, const std::string& path, bool directory) {
        if (path.empty()) return;
        std::error_code error;
        const auto status = std::filesystem::status(path, error);
        if (!std::filesystem::exists(status))
            throw wrong_usage("no-such-file", fmt::format("{} {}: no such {}", option, shell_quoted(path),
                                                          directory ? "directory" : "file"));
        if (directory && !std::filesystem::is_directory(status))
            throw wrong_usage("not-a-directory",
                              fmt::format("{} {}: not a directory", option, shell_quoted(path)));
        if (!directory && !std::filesystem::is_regular_file(status))
            throw wrong_usage("not-a-regular-file",
                              fmt::format("{} {}: not a regular file", option, shell_quoted(path)));
    };
    check("--executable", search.executable, false);
    check("--sysroot", search.sysroot, true);
    check("--debug-dir", search.debug_dir, true);
}

bool exists(const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

std::string without_dashes(const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

}  // namespace

struct Invocation::Parser : DeclaredCommand {
    using DeclaredCommand::DeclaredCommand;

    std::vector<std::string> option_names() const {
        std::vector<std::string> names;
        for (const CommandOptions::Option& option : options.all())
            for (const std::string& name : option.long_names) names.push_back("--" + name);
        return names;
    }
};

Invocation::~Invocation() = default;

Invocation::Invocation(std::vector<std::string> arguments, ProgramRun program, EndProcess end)
    : program_(program), end_(end), console_(false, redactor_) {
    for (const std::string& argument : arguments)
        typed_ += (typed_.empty() ? "" : " ") + shell_quoted(argument);
    for (const Command& command : all_commands())
        parsers_.push_back(std::make_unique<Parser>(command, options_));
    arguments_ = split_arguments(arguments, [this](const std::string& name) { return shape_of(name); });
    redactor_ = Redactor(uses("--redact"));
    if (uses("--redact")) settle_program_name(default_program_name);  // the path may reveal a user
    console_.set_quiet(uses("-q") || uses("--quiet"));
    for (const std::string& word : arguments_.words)
        if (command_.empty() && parser_of(word)) command_ = word;
}

OptionShape Invocation::shape_of(const std::string& name) const {
    if (name == "--version") return OptionShape::flag;
    for (const auto& parser : parsers_)
        if (const auto* option = parser->options.find(name))
            return option->is_flag() ? OptionShape::flag : OptionShape::value;
    return OptionShape::unknown;
}

const OptionUse* Invocation::find_use(const std::string& name) const {
    const auto found = std::find_if(arguments_.options.rbegin(), arguments_.options.rend(),
                                    [&](const OptionUse& use) { return use.name == name; });
    return found == arguments_.options.rend() ? nullptr : &*found;
}

bool Invocation::uses(const std::string& name) const { return find_use(name) != nullptr; }

Invocation::Parser* Invocation::parser_of(const std::string& command) const {
    for (const auto& parser : parsers_)
        if (parser->command.words.name == command) return parser.get();
    return nullptr;
}

// Known before the options are parsed, because a document must also report that they cannot be parsed.
bool Invocation::wants_document() const {
    const OptionUse* format = find_use("--format");
    return uses("--json") || (format && format->value == "json");
}

// True if there is no word and no option that asks for an answer: heapsift alone.
bool Invocation::asks_nothing() const {
    constexpr const char* manner[] = {"-q",      "--quiet",    "-v",      "--verbose",
                                      "--color", "--progress", "--bytes", "--redact"};
    return arguments_.words.empty() &&
           std::all_of(arguments_.options.begin(), arguments_.options.end(), [&](const OptionUse& use) {
               return std::find(std::begin(manner), std::end(manner), use.name) != std::end(manner);
           });
}

ExitCode Invocation::run() {
    Output output;
    if (uses("--version")) {
        output.write("heapsift " + version() + "\n");
        output.flush();
        return ExitCode::answered;
    }
    if (uses("--help") || uses("-h")) return show_asked_help();
    if (asks_nothing()) return show_first_words();
    throw_if_unknown();
    words_ = understand_words();
    words_.typed = typed_;
    take_top_option(words_);
    command_ = words_.command;
    Parser& parser = *parser_of(words_.command);
    check_options(parser);
    parse_options(parser);
    for (const std::string& note : words_.notes) console_.note(note);
    return parser.run ? run_command(parser, words_) : show_help(words_.topics);
}

// `heapsift types --help`. The rest of the line is checked as usual.
ExitCode Invocation::show_asked_help() {
    throw_if_unknown();
    const bool general = command_.empty() || command_ == "help";
    const Words words = understand_words();
    return show_help(general ? words.topics : std::vector{words.command});
}

Words Invocation::understand_words() {
    std::vector<WordShape> shapes;
    for (const auto& parser : parsers_) shapes.push_back(parser->command.words);
    const OptionUse* core = find_use("--core");
    const WordRules rules{shapes, "overview", core && core->value, exists};
    Words words = read_words(arguments_.words, rules);
    if (words.command.empty()) words.command = rules.default_command;
    return words;
}

// Turns `heapsift core.1234 --top types` into `heapsift types core.1234`.
void Invocation::take_top_option(Words& words) {
    const OptionUse* top = find_use("--top");
    if (!top || words.command != "overview" || !top->value) return;
    const std::string table = *top->value;
    if (table == "native")
        throw wrong_usage("not-built", fmt::format("--top {}: this version does not have that table", table),
                          "choose types, objects or arrays");
    if (table != "types" && table != "objects" && table != "arrays")
        throw wrong_usage("bad-option", fmt::format("--top {} is not a table", shell_quoted(table)),
                          "choose types, objects or arrays");
    words.command = table;
    std::erase_if(arguments_.options, [](const OptionUse& use) { return use.name == "--top"; });
}

// Reports an option that no command has before the words are looked at, since the next word may be its value.
void Invocation::throw_if_unknown() const {
    for (const OptionUse& use : arguments_.options)
        if (!use.known)
            throw_unknown_option(use, command_.empty() ? *parsers_.front() : *parser_of(command_));
}

void Invocation::throw_unknown_option(const OptionUse& use, const Parser& parser) const {
    const std::string& command = parser.command.words.name;
    if (use.name == "--top")
        throw wrong_usage("unknown-option", fmt::format("--top: {} has no such option", command),
                          "it goes with the core: " + command_line("CORE --top types"));
    const std::string typed = use.name.starts_with("--") ? use.name : "--" + without_dashes(use.name);
    const auto nearest = nearest_words(typed, parser.option_names());
    throw wrong_usage("unknown-option",
                      use.known ? fmt::format("{}: {} has no such option", use.name, command)
                                : fmt::format("{} is not an option", use.name),
                      nearest.empty() ? command_line(command + " --help") + " lists them"
                                      : fmt::format("did you mean {}", nearest.front()));
}

void Invocation::check_options(const Parser& parser) const {
    for (const OptionUse& use : arguments_.options) {
        const CommandOptions::Option* option = parser.options.find(use.name);
        if (!option) throw_unknown_option(use, parser);
        const std::string& value = option->value_name;
        if (use.missing_value || (!value.empty() && use.value && use.value->empty()))
            throw wrong_usage("missing-value", fmt::format("{} needs a value", use.name),
                              fmt::format("{} {}", use.name, value));
        if (value.empty() && use.value)
            throw wrong_usage("unexpected-value", fmt::format("{} takes no value", use.name));
    }
    check_contradictions(parser);
}

// Of an option given twice the last one counts, unless the two ask different questions.
void Invocation::check_contradictions(const Parser& parser) const {
    const OptionUse* core = find_use("--core");
    const OptionUse* format = find_use("--format");
    for (const OptionUse& use : arguments_.options)
        if (use.name == "--core" && use.value != core->value)
            throw two_cores(use.value.value_or(""), core->value.value_or(""));
    if (uses("--json") && !parser.command.own_format && format && format->value != "json")
        throw wrong_usage("two-formats",
                          fmt::format("two formats given, --json and --format {}",
                                      shell_quoted(format->value.value_or(""))),
                          "choose one");
}

void Invocation::parse_options(Parser& parser) {
    std::vector<std::string> arguments;
    for (const OptionUse& use : arguments_.options) {
        // The long name joined to its value leaves nothing to guess. With --json and --format the last one
        // counts.
        const std::string name = "--" + parser.options.find(use.name)->long_names.front();
        const bool is_format = name == "--json" && !parser.command.own_format;
        arguments.push_back(is_format ? "--format=json" : use.value ? name + "=" + *use.value : name);
    }
    parser.options.parse(std::move(arguments));
    check_search(options_.search);
    if (options_.format == Format::csv && !parser.command.is_table)
        throw wrong_usage("not-a-table",
                          fmt::format("--format csv is for tables; {} is not one", parser.command.words.name),
                          "use --json");
}

ExitCode Invocation::run_command(Parser& parser, const Words& words) {
    if (!options_.keep.empty() && !words.process)
        throw wrong_usage("bad-option",
                          "--keep FILE: it keeps the core of a living process, and none is named",
                          command_line("PID --keep FILE"));
    session_ = std::make_unique<Session>(options_, words, console_, redactor_, program_, end_);
    const ExitCode exit = parser.run(*session_);
    session_->tell_passes();
    return exit;
}

ExitCode Invocation::show_help(const std::vector<std::string>& topics) {
    std::string text;
    if (topics.empty()) text = general_help(all_commands(), parsers_.front()->options);
    for (const std::string& topic : topics) {
        Parser* parser = parser_of(topic);
        const std::string part = parser ? command_help(parser->command, parser->options) : help_topic(topic);
        if (part.empty()) {
            std::vector<std::string> known = help_topics();
            for (const Command& command : all_commands()) known.push_back(command.words.name);
            const auto nearest = nearest_words(topic, known);
            throw wrong_usage("no-such-topic", fmt::format("{} is not a help topic", topic),
                              nearest.empty()
                                  ? command_line("help TOPIC") +
                                        ": capture, fleet, address, words, environment or a command's name"
                                  : "did you mean: " + command_line("help " + nearest.front()));
        }
        text += (text.empty() ? "" : "\n") + part;
    }
    Output output;
    output.write(text);
    output.flush();
    return ExitCode::answered;
}

ExitCode Invocation::show_first_words() {
    const char* environment = std::getenv("HEAPSIFT_CORE");
    CoreWishes wishes;
    wishes.environment = environment ? environment : "";
    std::string in_use;
    try {
        in_use = redactor_.path(choose_core(wishes, CoreInUseStore::from_environment()).path);
    } catch (const Error& error) {
        if (error.code() != "no-core") in_use = console_.shown(error.message());
    }
    Output output;
    output.write(first_words(in_use));
    output.flush();
    return ExitCode::answered;
}

ExitCode Invocation::fail(const Error& thrown) {
    const Error error = session_ ? session_->explained(thrown) : thrown;
    if (session_) session_->clear_progress();
    console_.error(error);
    if (!wants_document()) return error.exit();
    const std::string command = command_.empty() ? "error" : command_;
    Json document;
    if (session_) {
        document = session_->error_document(command, error);
    } else {
        document = envelope_json({command, nullptr, true, true, {}}, redactor_);
        document["data"] = nullptr;
        document["error"] = error_json(error, redactor_);
    }
    Output output;
    output.write(json_text(document) + "\n");
    output.flush();
    return error.exit();
}

}  // namespace heapsift
