#pragma once

// The options of one command: declared here with heapsift's kinds of value, parsed by CLI11, and listed for
// help and for the code that tells options from words. No other file includes CLI11, which takes seconds to
// compile.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// What the value of an option is, for completion.
enum class ValueKind { any, number, choice, type, core, file, directory };

class CommandOptions {
public:
    struct Option {
        std::vector<std::string> short_names,
            long_names;          // "n", "limit": without dashes; there is always a long one
        std::string value_name;  // "PATH", "text|json"; empty for a flag
        std::string description;
        bool common = false;   // every command has it
        bool several = false;  // values of each use, divided by commas
        ValueKind kind = ValueKind::any;
        std::vector<std::string> words;  // values there are: all of them for a choice, else the usual ones
        bool words_begin = false;  // a value begins with one of them, and so does each part of it between |
        bool is_flag() const { return value_name.empty(); }
    };
    enum class Repeated { last_counts, refused };

    CommandOptions(const std::string& command, const std::string& summary);
    ~CommandOptions();
    CommandOptions(const CommandOptions&) = delete;

    // Declaring. `names` is "-n,--limit". The variable that an option fills must live until parse(). Of an
    // option given twice the last one counts, unless `repeated` says otherwise.

    void flag(const std::string& names, bool& given, const std::string& description);
    void flag(const std::string& names, std::function<void()> given, const std::string& description);
    void text(const std::string& names, std::string& value, const std::string& value_name,
              const std::string& description, Repeated repeated = Repeated::last_counts,
              ValueKind kind = ValueKind::any);
    void text(const std::string& names, std::string& value, const std::string& value_name,
              const std::string& description, ValueKind kind);
    /// `words`: what a value begins with, also behind a |.
    void text_of_parts(const std::string& names, std::string& value, const std::string& value_name,
                       const std::string& description, std::vector<std::string> words);
    /// Each use adds its values, split at commas. `words`: what a value may be, or begin with.
    void texts(const std::string& names, std::vector<std::string>& values, const std::string& value_name,
               const std::string& description, std::vector<std::string> words = {});
    /// One of `words`; `chosen` gets its index.
    void choice(const std::string& names, std::vector<std::string> words,
                std::function<void(std::size_t)> chosen, const std::string& description);
    /// A number from `least` to `most`, with or without a unit (64K).
    void number(const std::string& names, std::optional<std::size_t>& value, const std::string& description,
                std::size_t least = 0, std::size_t most = SIZE_MAX);
    /// What is declared from here on belongs to every command.
    void begin_common() { common_ = true; }

    /// In order of declaration, --help first.
    const std::vector<Option>& all() const { return declared_; }
    /// `name` with its dashes; null if there is no such option.
    const Option* find(const std::string& name) const;
    bool has(const std::string& name) const { return find(name) != nullptr; }

    /// `arguments` are like "--limit=5", "--all". Throws `Error` (exit 2, "bad-option"), one line, for a
    /// value that the option cannot have.
    void parse(std::vector<std::string> arguments);

private:
    struct Parser;

    Option& declare(const std::string& names, const std::string& value_name, const std::string& description,
                    ValueKind kind = ValueKind::any);

    std::unique_ptr<Parser> parser_;
    std::vector<Option> declared_;
    bool common_ = false;
};

}  // namespace heapsift
