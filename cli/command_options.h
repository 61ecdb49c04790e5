#pragma once

// The options of one command: declared here in the kinds of value that heapsift has, parsed by CLI11, and
// listed for help and for whoever tells options from words. No other file includes CLI11, which costs a
// compiler some seconds wherever it is included.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

class CommandOptions {
public:
    struct Option {
        std::vector<std::string> short_names,
            long_names;          // "n", "limit": without dashes; there is always a long one
        std::string value_name;  // "PATH", "text|json"; empty for a flag
        std::string description;
        bool common = false;  // one of every command's
        bool is_flag() const { return value_name.empty(); }
    };
    enum class Repeated { last_counts, refused };

    CommandOptions(const std::string& command, const std::string& summary);
    ~CommandOptions();
    CommandOptions(const CommandOptions&) = delete;

    // Declaring. `names` is "-n,--limit"; what an option fills must live until parse(). Given twice the last
    // one counts, unless said otherwise.

    void flag(const std::string& names, bool& given, const std::string& description);
    void flag(const std::string& names, std::function<void()> given, const std::string& description);
    void text(const std::string& names, std::string& value, const std::string& value_name,
              const std::string& description, Repeated repeated = Repeated::last_counts);
    /// Each time it is given it adds what it was given, divided at the commas.
    void texts(const std::string& names, std::vector<std::string>& values, const std::string& value_name,
               const std::string& description);
    /// One of `words`; `chosen` is given its place.
    void choice(const std::string& names, std::vector<std::string> words,
                std::function<void(std::size_t)> chosen, const std::string& description);
    /// A number from `least` to `most`, with a unit or not (64K).
    void number(const std::string& names, std::optional<std::size_t>& value, const std::string& description,
                std::size_t least = 0, std::size_t most = SIZE_MAX);
    /// What is declared from here on is every command's.
    void begin_common() { common_ = true; }

    /// In the order of their declaration, --help first.
    const std::vector<Option>& all() const { return declared_; }
    /// `name` with its dashes; null where there is none.
    const Option* find(const std::string& name) const;

    /// `arguments`: "--limit=5", "--all". Throws `Error` (exit 2, "bad-option") of one line for a value that
    /// an option cannot have.
    void parse(std::vector<std::string> arguments);

private:
    struct Parser;

    void declare(const std::string& names, const std::string& value_name, const std::string& description);

    std::unique_ptr<Parser> parser_;
    std::vector<Option> declared_;
    bool common_ = false;
};

}  // namespace heapsift
