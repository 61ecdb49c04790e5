#pragma once

// --redact: what may leave the machine. Names of types, modules, functions and attributes, base names of
// files, numbers and addresses stay. Values that the program stored, its arguments, and directories go.

#include "parsers/cpython/object_facts.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

class Redactor {
public:
    explicit Redactor(bool active = false) : active_(active) {}
    bool active() const { return active_; }

    /// What is shown for a value of type `type` (empty: inferred from the literal). A literal becomes "‹str
    /// 12 #7›": its type, its length, and a number that equal values share. Names and summaries stay.
    std::string value(const ShortValue& value, std::string_view type = {});
    /// The name of a reference; its key is redacted as a value.
    std::string reference_name(const ReferenceStep& step);

    /// The base name of a path.
    std::string path(std::string_view path) const;
    /// A directory becomes a number.
    std::string directory(std::string_view path);
    /// The command line of the process becomes a number.
    std::string arguments(std::string_view arguments);

    /// A warning or an error, each path in it reduced to its base name. Directories, and paths with blanks,
    /// must be made known first.
    std::string message(std::string_view text) const;
    void know_path(std::string_view path);
    void know_directory(std::string_view path);

private:
    std::size_t number_of(const std::string& secret);
    void know(std::string_view text, const std::string& replacement);

    bool active_;
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::pair<std::string, std::string>> known_;  // longest first
};

/// The type of a literal in Python's notation: 'x' is str, b'' bytes, 1.5 float; "value" for any other.
std::string literal_type(std::string_view literal);

}  // namespace heapsift
