// The line is read as invocation.cpp reads it, but no word is wrong: a word that fits nowhere is passed over.
// Options and their values are those that the commands declare, so that nothing here has to be told of a new
// one.

#include "cli/complete/candidates.h"

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/declared_command.h"
#include "cli/help.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

namespace heapsift {
namespace {

constexpr std::size_t many_types = 100;

using Option = CommandOptions::Option;

class Completion {
public:
    Completion(const std::vector<std::string>& before, const std::string& current,
               const CompletionSources& sources)
        : current_(current), sources_(sources), commands_(declared_commands(common_, all_commands())) {
        arguments_ = split_arguments(before, [this](const std::string& name) { return shape_of(name); });
        options_ended_ = std::find(before.begin(), before.end(), "--") != before.end();
        find_command();
    }

    std::vector<Candidate> found() {
        if (!arguments_.options.empty() && arguments_.options.back().missing_value) {
            if (const Option* option = option_named(arguments_.options.back().name)) add_values(*option, "");
        } else if (current_.starts_with('-') && !options_ended_) {
            const std::size_t equals = current_.find('=');
            if (equals == std::string::npos)
                add_options();
            else if (const Option* option = option_named(current_.substr(0, equals)))
                add_values(*option, current_.substr(0, equals + 1));
        } else {
            add_words();
        }
        return std::move(found_);
    }

private:
    const Option* option_named(const std::string& name) const {
        if (command_)
            if (const Option* option = command_->options.find(name)) return option;
        for (const auto& command : commands_)
            if (const Option* option = command->options.find(name)) return option;
        return nullptr;
    }
    OptionShape shape_of(const std::string& name) const {
        if (name == "--version") return OptionShape::flag;
        const Option* option = option_named(name);
        return !option ? OptionShape::unknown : option->is_flag() ? OptionShape::flag : OptionShape::value;
    }
    const DeclaredCommand* command_named(const std::string& name) const {
        for (const auto& command : commands_)
            if (command->command.words.name == name) return command.get();
        return nullptr;
    }
    /// The value of an option that takes one.
    std::string value_of(const std::string& name) const {
        for (const OptionUse& use : arguments_.options)
            if (use.name == name && use.value) return *use.value;
        return {};
    }
    bool uses(const std::string& name) const {
        return std::any_of(arguments_.options.begin(), arguments_.options.end(),
                           [&](const OptionUse& use) { return use.name == name; });
    }

    /// The first word that names one, and the first that is a file.
    void find_command() {
        for (const std::string& word : arguments_.words) {
            const DeclaredCommand* named = command_ ? nullptr : command_named(word);
            if (named)
                command_ = named;
            else if (core_.empty() && sources_.is_file(word))
                core_ = word;
            else if (is_number(word))
                has_process_ = true;
        }
    }

    void add(const std::string& value, const std::string& remark, bool open = false) {
        if (value.starts_with(current_)) found_.push_back({value, remark, open});
    }
    /// As words.cpp has it: longer ones are addresses.
    static bool is_number(const std::string& word) {
        constexpr std::size_t most_digits = 7;
        return !word.empty() && word.size() <= most_digits &&
               word.find_first_not_of("0123456789") == std::string::npos;
    }
    bool has_core() const { return !core_.empty() || has_process_ || uses("--core"); }
    void add_processes() {
        if (!current_.empty() && !is_number(current_)) return;
        for (const Candidate& process : sources_.processes(current_)) add(process.value, process.remark);
    }
    void add_paths(PathKind kind, const std::string& before) {
        for (const Candidate& path : sources_.paths(current_.substr(before.size()), kind))
            add(before + path.value, path.remark, path.open);
    }

    /// Those of the command, or of the one that a core alone means. One that was given is not given twice.
    void add_options() {
        const DeclaredCommand& command = command_ ? *command_ : *command_named("overview");
        for (const Option& option : command.options.all()) {
            const auto given = [&](const std::string& name) { return uses("--" + name); };
            const auto given_short = [&](const std::string& name) { return uses("-" + name); };
            const bool is_given =
                std::any_of(option.long_names.begin(), option.long_names.end(), given) ||
                std::any_of(option.short_names.begin(), option.short_names.end(), given_short);
            if (is_given && !option.several) continue;
            for (const std::string& name : option.long_names) add("--" + name, option.description);
        }
        if (!command_ && arguments_.words.empty()) add("--version", "the version");
    }

    /// `before`: "--sort=", or nothing.
    void add_values(const Option& option, std::string before) {
        switch (option.kind) {
            case ValueKind::type:
                for (const Candidate& type : type_candidates(type_names(), current_.substr(before.size())))
                    add(before + type.value, type.remark, type.open);
                return;
            case ValueKind::core:
                return add_paths(PathKind::cores, before);
            case ValueKind::file:
                return add_paths(PathKind::all, before);
            case ValueKind::directory:
                return add_paths(PathKind::folders, before);
            case ValueKind::any:
            case ValueKind::number:
            case ValueKind::choice:
                break;
        }
        if (option.several)
            if (const std::size_t comma = current_.rfind(',');
                comma != std::string::npos && comma >= before.size())
                before = current_.substr(0, comma + 1);
        if (option.words_begin)
            if (const std::size_t bar = current_.rfind('|'); bar != std::string::npos && bar >= before.size())
                before = current_.substr(0, bar + 1);
        for (const std::string& word : option.words)
            add(before + word, "", option.several || option.words_begin);
    }

    std::vector<std::string> type_names() const {
        if (has_process_) return {};  // known once its core is read
        CompletionSources::CoreAsked asked;
        asked.wishes.argument = core_;
        asked.wishes.option = value_of("--core");
        asked.wishes.search = {value_of("--executable"), value_of("--sysroot"), value_of("--debug-dir")};
        if (const std::string number = value_of("--interpreter"); !number.empty())
            asked.wishes.search.runtime = std::strtoull(number.c_str(), nullptr, 10);
        asked.index_dir = value_of("--index-dir");
        asked.no_native = uses("--no-native");
        return sources_.type_names(asked);
    }

    void add_words() {
        if (!command_) {
            for (const auto& command : commands_) add(command->command.words.name, command->command.summary);
            if (has_core()) return;
            add_paths(PathKind::cores, "");
            if (!current_.empty())
                add_processes();  // before a digit is typed, commands are what is looked for
            return;
        }
        const WordShape& takes = command_->command.words;
        if (takes.takes_topics) {
            for (const std::string& topic : help_topics()) add(topic, "topic");
            for (const auto& command : commands_) add(command->command.words.name, command->command.summary);
        } else if (takes.takes_process) {
            if (!has_process_) add_processes();
        } else if (takes.takes_paths) {
            add_paths(takes.takes_exports ? PathKind::cores_and_exports : PathKind::cores, "");
            if (takes.takes_exports && !current_.empty()) add_processes();  // diff core.1 PID
        } else if (takes.takes_core && (!has_core() || takes.takes_older)) {
            add_paths(takes.takes_exports ? PathKind::cores_and_exports : PathKind::cores, "");
            add_processes();
        }
    }

    const std::string& current_;
    const CompletionSources& sources_;
    CommonOptions common_;
    std::vector<std::unique_ptr<DeclaredCommand>> commands_;
    Arguments arguments_;
    bool options_ended_ = false;
    const DeclaredCommand* command_ = nullptr;
    std::string core_;
    bool has_process_ = false;
    std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> candidates(const std::vector<std::string>& before, const std::string& current,
                                  const CompletionSources& sources) {
    return Completion(before, current, sources).found();
}

std::vector<Candidate> type_candidates(const std::vector<std::string>& names, const std::string& current) {
    std::vector<Candidate> found;
    for (const std::string& name : names)
        if (name.starts_with(current)) found.push_back({name, "", false});
    if (found.size() <= many_types) return found;
    std::set<std::string> seen;
    std::vector<Candidate> packages;
    for (const Candidate& one : found) {
        const std::size_t dot = one.value.find('.', current.size());
        const std::string part = one.value.substr(0, dot == std::string::npos ? dot : dot + 1);
        if (seen.insert(part).second) packages.push_back({part, "", dot != std::string::npos});
    }
    return packages;
}

}  // namespace heapsift
