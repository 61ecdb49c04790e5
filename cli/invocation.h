#pragma once

// One run of the program, from the command line to an exit code.

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/console.h"
#include "cli/program_run.h"

#include <memory>
#include <string>
#include <vector>

namespace heapsift {

class Invocation {
public:
    /// Splits the command line; never throws, whatever it contains. `program` runs another command line, for
    /// commands that need to. `end` is called when an answer is written.
    Invocation(std::vector<std::string> arguments, ProgramRun program, EndProcess end = nullptr);
    ~Invocation();

    /// Throws `Error`, and `OutputClosed` if the reader of standard output is gone.
    ExitCode run();
    /// Reports why `run` threw: one line, and the document if one was asked for.
    ExitCode fail(const Error& error);

private:
    struct Parser;  // a command with its options

    bool uses(const std::string& name) const;
    const OptionUse* find_use(const std::string& name) const;
    OptionShape shape_of(const std::string& name) const;
    Parser* parser_of(const std::string& command) const;

    bool wants_document() const;
    bool asks_nothing() const;
    ExitCode show_asked_help();
    ExitCode show_help(const std::vector<std::string>& topics);
    ExitCode show_first_words();
    Words understand_words();
    void take_top_option(Words& words);
    void throw_if_unknown() const;
    [[noreturn]] void throw_unknown_option(const OptionUse& use, const Parser& parser) const;
    void check_options(const Parser& parser) const;
    void check_contradictions(const Parser& parser) const;
    void parse_options(Parser& parser);
    ExitCode run_command(Parser& parser, const Words& words);

    ProgramRun program_;
    EndProcess end_;
    std::vector<std::unique_ptr<Parser>> parsers_;
    CommonOptions options_;
    Arguments arguments_;
    Redactor redactor_;
    Console console_;
    std::string command_;  // the first word that names one, until all words are understood
    std::unique_ptr<Session> session_;
    Words words_;
    std::string typed_;
};

}  // namespace heapsift
