// bash hands a completion function the line as words that are cut at $COMP_WORDBREAKS, quotes and all, and
// puts what it gets back into the line as it is. So words are read here as the shell would read them (POSIX,
// XCU 2.2, and $'...'), and what is given back is quoted in the same manner: after an open quote, for that
// quote; else with backslashes. A type's name comes from a core, and could be `$(reboot)`: nothing of it may
// mean anything to the shell.
//
// bash replaces the word from its last unquoted break character on, so of --type=app.No only app.No: whatever
// stands before it is left out of what is given back.

#include "cli/complete/shell_line.h"

#include <algorithm>

namespace heapsift {
namespace {

/// Characters that stand for themselves in an unquoted word of any shell.
bool is_plain_in_shell(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./+,%@:=").find(c) != std::string_view::npos;
}

bool is_blank_in_shell(char c) { return c == ' ' || c == '\t' || c == '\n'; }

class LineReader {
public:
    LineReader(std::string_view line, std::string_view breaks) : line_(line), breaks_(breaks) {}

    ShellLine read() {
        while (at_ < line_.size()) take();
        return std::move(read_);
    }

private:
    void take() {
        const char c = line_[at_++];
        if (read_.quote == '\'') {
            c == '\'' ? close_quote() : add(c);
        } else if (read_.quote == '"') {
            if (c == '"')
                close_quote();
            else if (c == '\\' && at_ < line_.size() && is_escaped_in_quotes(line_[at_]))
                add(line_[at_++]);
            else
                add(c);
        } else if (c == '\\') {
            if (at_ < line_.size()) add(line_[at_++]);
        } else if (c == '\'' || c == '"') {
            open_quote(c);
        } else if (is_blank_in_shell(c)) {
            end_word();
        } else {
            add(c);
            if (breaks_.find(c) != std::string_view::npos) read_.kept = read_.current;
        }
    }

    static bool is_escaped_in_quotes(char c) {
        return std::string_view("$`\"\\").find(c) != std::string_view::npos;
    }
    void add(char c) {
        read_.current += c;
        in_word_ = true;
    }
    void open_quote(char c) {
        read_.quote = c;
        before_quote_ = read_.kept;
        read_.kept = read_.current;
        in_word_ = true;
    }
    /// What was quoted is part of the word that is replaced.
    void close_quote() {
        read_.quote = 0;
        read_.kept = before_quote_;
    }
    void end_word() {
        if (in_word_) read_.words.push_back(read_.current);
        read_.current.clear();
        read_.kept.clear();
        in_word_ = false;
    }

    std::string_view line_, breaks_;
    std::size_t at_ = 0;
    bool in_word_ = false;
    std::string before_quote_;
    ShellLine read_;
};

}  // namespace

ShellLine read_shell_line(std::string_view line, std::string_view breaks) {
    return LineReader(line, breaks).read();
}

std::string in_shell_line(const ShellLine& line, std::string_view value) {
    if (value.substr(0, line.kept.size()) != line.kept) return {};
    std::string out;
    for (const char c : value.substr(line.kept.size())) {
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) return {};
        if (line.quote == '\'') {
            out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        } else if (line.quote == '"') {
            if (c == '!') return {};  // history is expanded in double quotes, and a backslash would stay
            out += std::string_view("$`\"\\").find(c) != std::string_view::npos ? std::string("\\") + c
                                                                                : std::string(1, c);
        } else {
            out += is_plain_in_shell(c) ? std::string(1, c) : std::string("\\") + c;
        }
    }
    return out;
}

}  // namespace heapsift
