#pragma once

// A command line split into options, wherever they stand, and words.

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct OptionUse {
    std::string name;  // as typed: "--limit", "-n"; a whole "-xyz" if one of its letters is unknown
    std::optional<std::string> value;  // of "--limit 5", "--limit=5", "-n5", "-n 5"
    bool known = true;
    bool missing_value = false;  // it takes a value, and none follows
};

struct Arguments {
    std::vector<OptionUse> options;
    std::vector<std::string> words;
};

enum class OptionShape { unknown, flag, value };

/// `shape_of` is asked about "--name" or "-n". A value may begin with a dash unless it is itself a known long
/// option. "-" alone is a word, and so is everything after "--".
Arguments split_arguments(const std::vector<std::string>& arguments,
                          const std::function<OptionShape(const std::string&)>& shape_of);

}  // namespace heapsift
