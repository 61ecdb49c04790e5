// The rules are those of the contract: the first word is a command's name, else an existing file; a word with
// a slash is always a file; after the command an existing file is the core and the other word the address.
// Where a core may stand, and no file has that name, a number of up to seven digits is a process. Every other
// word is an error, because a word that is dropped silently changes the question.

#include "cli/words.h"

#include "cli/address_argument.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

bool has_slash(const std::string& word) { return word.find('/') != std::string::npos; }

// core, core.1234, core.python3.1000.zst, dump.core. An expression has dots too (app.CACHE, core.tables), and
// is not matched.
bool looks_like_core(const std::string& word) {
    if (word.find_first_of("[]()<>'\"") != std::string::npos) return false;
    for (const char* ending : {".core", ".dmp", ".dump", ".zst", ".lz4", ".xz", ".gz"})
        if (word.ends_with(ending)) return true;
    if (word.starts_with("core"))
        return word == "core" || word.find_first_of("0123456789") != std::string::npos;
    return word.find('.') != std::string::npos && !may_be_expression(word);
}

// A statement has a blank or a bracket in it.
bool looks_like_sql(const std::string& word) {
    return word == "-" || word.find_first_of(" \t\n\r(;") != std::string::npos;
}

class Reader {
public:
    explicit Reader(const WordRules& rules) : rules_(rules) {}

    Words read(std::span<const std::string> words) {
        if (words.empty()) return result_;
        all_ = words;
        std::size_t next = take_command(words);
        if (command_ && command_->takes_paths && result_.core) {  // heapsift core.1 batch core.2
            result_.paths.push_back(*result_.core);
            result_.core.reset();
        }
        for (; next < words.size(); ++next) take_after_command(words[next]);
        return result_;
    }

private:
    const WordShape* command_named(const std::string& word) const {
        const auto found = std::find_if(rules_.commands.begin(), rules_.commands.end(),
                                        [&](const auto& c) { return c.name == word; });
        return found == rules_.commands.end() ? nullptr : &*found;
    }

    // app.CACHE['/x'] has a slash, but is a file only if one exists; so has SELECT size/1024.
    bool is_file(const std::string& word) const {
        if (rules_.core_given) return false;
        if (command_ && command_->takes_sql && looks_like_sql(word)) return rules_.is_file(word);
        return rules_.is_file(word) || (has_slash(word) && !(wants_address() && looks_like_expression(word)));
    }

    // The command is the first word, or the second after a file, or the default. Returns how many words that
    // took.
    std::size_t take_command(std::span<const std::string> words) {
        std::size_t taken = 0;
        if (!command_named(words[0]) && is_file(words[0]))
            take_core(words[taken++]);
        else if (is_process_id(words[0]))
            take_process(words[taken++]);
        if (taken == words.size()) {
            command_ = command_named(rules_.default_command);
        } else if ((command_ = command_named(words[taken]))) {
            note_file_of_that_name(words[taken++]);
        } else if (taken == 1 && is_file(words[1])) {
            take_core(words[1]);
        } else if (taken == 1 && is_process_id(words[1])) {
            take_process(words[1]);
        } else {
            throw_unknown_command(words[taken]);
        }
        if (command_) result_.command = command_->name;
        return taken;
    }

    void note_file_of_that_name(const std::string& word) {
        if (!rules_.core_given && rules_.is_file(word))
            result_.notes.push_back(
                fmt::format("{} is taken as the command; the file of that name is ./{}", word, word));
    }

    void take_after_command(const std::string& word) {
        if (command_->takes_paths)
            result_.paths.push_back(word);
        else if (command_->takes_topics)
            take_topic(word);
        else if (command_->takes_sql && !result_.sql && looks_like_sql(word) && !is_file(word))
            result_.sql = word;
        else if (command_->takes_core && is_file(word) && !is_address_beside_core(word))
            take_core(word);
        else if (command_->takes_core && is_process_id(word) &&
                 (core_beside(word).empty() || !wants_address()))
            take_process(word);
        else if (wants_address())
            take_address(word);
        else
            throw_unexpected(word);
    }

    // If the core is already known, a word that looks like an object is not taken for a file.
    bool is_address_beside_core(const std::string& word) const {
        if (!result_.core || !wants_address() || has_slash(word)) return false;
        return looks_like_address(word) || (may_be_expression(word) && !looks_like_core(word));
    }

    bool wants_address() const {
        return command_ && command_->takes_address && (!result_.address || command_->takes_addresses);
    }

    void take_address(const std::string& word) {
        if (!result_.core && !result_.process && !rules_.core_given && !looks_like_address(word) &&
            looks_like_core(word) && !names_core_beside(word))
            throw wrong_usage("no-such-file",
                              fmt::format("{} is neither a file nor an address", shell_quoted(word)),
                              "an address looks like 0x…: " + command_line("objects") + " lists some");
        if (result_.address)
            result_.more_addresses.push_back(word);
        else
            result_.address = word;
    }

    void take_topic(const std::string& word) {
        if (!result_.topics.empty())
            throw wrong_usage(
                "unexpected-word",
                fmt::format("{}: {} shows one topic or command", shell_quoted(word), command_->name),
                command_line(command_->name + " " + shell_quoted(result_.topics.front())));
        result_.topics.push_back(word);
    }

    void take_core(const std::string& word) {
        throw_if_script(word);
        if (result_.older && command_ && command_->takes_lines) {
            result_.paths.push_back(word);
            return;
        }
        throw_if_second(word);
        result_.core = word;
    }

    void take_process(const std::string& word) {
        throw_if_second(word);
        result_.process = static_cast<std::int32_t>(std::stol(word));
    }

    void throw_if_second(const std::string& word) {
        if (command_ && command_->takes_older && result_.core && !result_.older) {
            result_.older = std::exchange(result_.core, std::nullopt);
            return;
        }
        if (result_.older) throw third_core(word, command_->name);
        if (result_.core) throw two_cores(*result_.core, word);
        if (result_.process) throw two_cores(std::to_string(*result_.process), word);
    }

    static void throw_if_script(const std::string& word) {
        if (word.ends_with(".py"))
            throw wrong_usage(
                "script", fmt::format("{} is a script, and heapsift reads processes and cores of them", word),
                fmt::format("while it runs: {}, with the number that pgrep -f {} prints", command_line("PID"),
                            shell_quoted(word)));
    }

    // Reports that the first word, or the one after a core, is no command.
    [[noreturn]] void throw_unknown_command(const std::string& word) const {
        throw_if_script(word);
        throw_if_address(word);
        if (looks_like_expression(word)) throw_address(word, "an expression");
        std::vector<std::string> names;
        for (const WordShape& command : rules_.commands) names.push_back(command.name);
        const auto nearest = nearest_words(word, names);
        const bool may_be_file = !result_.core && !result_.process && !rules_.core_given;
        const std::string message =
            may_be_file ? fmt::format("{} is neither a command nor a file", shell_quoted(word))
                        : fmt::format("{} is not a command", shell_quoted(word));
        throw wrong_usage("unknown-command", message,
                          nearest.empty() ? command_line("--help") + " lists the commands"
                                          : "did you mean: " + command_line(nearest.front()));
    }

    // Reports a word after the command that the command does not take.
    [[noreturn]] void throw_unexpected(const std::string& word) const {
        throw_if_script(word);
        if (!command_->takes_address) throw_if_address(word);
        const bool may_be_file = !rules_.core_given && !result_.core && !result_.process;
        if (command_->takes_address && looks_like_address(word) && looks_like_address(*result_.address))
            throw wrong_usage("unexpected-word",
                              fmt::format("two addresses given, {} and {}", *result_.address, word),
                              "name one");
        const bool word_is_address = command_->takes_address && looks_like_address(word);
        throw wrong_usage(may_be_file ? "no-such-file" : "unexpected-word",
                          fmt::format("{}: {}", shell_quoted(word_is_address ? *result_.address : word),
                                      may_be_file ? "no such file" : "not understood here"),
                          fmt::format("{} takes {}", command_->name, what_it_takes()));
    }

    std::string what_it_takes() const {
        if (command_->takes_sql) return "SQL in one word (quoted for the shell), or -, and a core";
        if (command_->takes_address)
            return rules_.core_given ? "an address or an expression"
                                     : "an address or an expression, and a core";
        if (command_->takes_older && !rules_.core_given) return "a core, or an older and a newer one";
        return rules_.core_given ? "no words beside --core" : "a core and no other word";
    }

    bool is_process_id(const std::string& word) const {
        return looks_like_process_id(word) && !rules_.core_given && !is_file(word);
    }

    void throw_if_address(const std::string& word) const {
        if (looks_like_address(word)) throw_address(word, "an address");
    }

    [[noreturn]] void throw_address(const std::string& word, const char* what) const {
        const std::string core = core_beside(word);
        throw wrong_usage("unexpected-word", fmt::format("{} is {}", shell_quoted(word), what),
                          "did you mean: " + command_line("show " + shell_quoted(word) +
                                                          (core.empty() ? core : " " + shell_quoted(core))));
    }

    // True if another word is the core; then a word that may be an expression is one.
    bool names_core_beside(const std::string& word) const {
        return may_be_expression(word) && !core_beside(word).empty();
    }

    // The core that the line names before or after `word`; empty if it names none.
    std::string core_beside(const std::string& word) const {
        if (result_.core) return *result_.core;
        const auto found = std::find_if(all_.begin(), all_.end(), [&](const std::string& other) {
            return other != word && is_file(other);
        });
        return found == all_.end() ? std::string() : *found;
    }

    const WordRules& rules_;
    std::span<const std::string> all_;
    const WordShape* command_ = nullptr;
    Words result_;
};

}  // namespace

bool looks_like_process_id(const std::string& word) {
    constexpr std::size_t most_digits = 7;  // PID_MAX_LIMIT is 4194304
    return word.size() <= most_digits && !word.empty() &&
           word.find_first_not_of("0123456789") == std::string::npos;
}

Error two_cores(const std::string& first, const std::string& second) {
    return wrong_usage("two-cores",
                       fmt::format("two cores given, {} and {}", shell_quoted(first), shell_quoted(second)),
                       "name one");
}

Error third_core(const std::string& word, const std::string& command) {
    return wrong_usage("two-cores", fmt::format("{}: a third core", shell_quoted(word)),
                       fmt::format("{} takes a core, or an older and a newer one", command));
}

Words read_words(std::span<const std::string> words, const WordRules& rules) {
    return Reader(rules).read(words);
}

}  // namespace heapsift
