#pragma once

// A command line taken apart into options, wherever they stand, and words.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct OptionUse {
    std::string name;  // as it was typed: "--limit", "-n"; a whole "-xyz" where one of its letters is unknown
    std::optional<std::string> value;  // of "--limit 5", "--limit=5", "-n5", "-n 5"
    bool known = true;
    bool missing_value = false;  // it takes one, and nothing follows
};

struct Arguments {
    std::vector<OptionUse> options;
    std::vector<std::string> words;
};

enum class OptionShape { unknown, flag, value };

/// `shape_of` is asked with "--name" or "-n". A value may begin with a dash unless it is itself a known long
/// option. "-" alone is a word; after "--" all are.
Arguments split_arguments(const std::vector<std::string>& arguments,
                          const std::function<OptionShape(const std::string&)>& shape_of);

}  // namespace heapsift
