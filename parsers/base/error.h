#pragma once

// The two ways in which heapsift can fail to answer. `Error` is thrown where a command cannot go on, and
// caught once, in `main`.

#include <stdexcept>
#include <string>
#include <utility>

namespace heapsift {

/// The exit codes that users rely on.
enum class ExitCode : int {
    answered = 0,
    cannot_analyse = 1,
    wrong_usage = 2,
    answered_in_part = 3,
    limit_exceeded = 4
};

/// One line for a person (`message`: lower case, no final period), what would help (`hint`, may be empty),
/// and a stable `code` for scripts, in kebab-case ("not-a-core", "no-such-object").
class Error : public std::runtime_error {
public:
    Error(ExitCode exit, std::string code, std::string message, std::string hint = {})
        : std::runtime_error(std::move(message)),
          exit_(exit),
          code_(std::move(code)),
          hint_(std::move(hint)) {}

    ExitCode exit() const { return exit_; }
    const std::string& code() const { return code_; }
    std::string message() const { return what(); }
    const std::string& hint() const { return hint_; }

private:
    ExitCode exit_;
    std::string code_;
    std::string hint_;
};

/// The input cannot be analysed: exit 1.
inline Error cannot_analyse(std::string code, std::string message, std::string hint = {}) {
    return Error(ExitCode::cannot_analyse, std::move(code), std::move(message), std::move(hint));
}

/// The command line is wrong: exit 2.
inline Error wrong_usage(std::string code, std::string message, std::string hint = {}) {
    return Error(ExitCode::wrong_usage, std::move(code), std::move(message), std::move(hint));
}

}  // namespace heapsift
