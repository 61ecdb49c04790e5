#pragma once

// What may stand at the cursor of a command line.

#include "cli/core_choice.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// A whole word.
struct Candidate {
    std::string value;
    std::string remark;  // for people; may be empty
    bool open = false;   // more of the word follows: a folder, the package of a type
    bool operator==(const Candidate&) const = default;
};

/// Which files are offered, besides folders.
enum class PathKind { folders, cores, cores_and_exports, all };

/// What is asked of the machine.
struct CompletionSources {
    /// Paths that begin with the text.
    std::function<std::vector<Candidate>(const std::string& beginning, PathKind kind)> paths;
    /// Whether something exists at this path.
    std::function<bool(const std::string&)> is_file;
    /// Living processes that may be Pythons, and whose number begins with the text.
    std::function<std::vector<Candidate>(const std::string& beginning)> processes;
    struct CoreAsked {
        CoreWishes wishes;  // `argument` and `option` of the line, and its FileSearch
        std::string index_dir;
        bool no_native = false;
    };
    /// The names of the types of a core, the most frequent first; empty if they are not at hand.
    std::function<std::vector<std::string>(const CoreAsked& core)> type_names;
};

/// `before`: the words before the cursor, without the program's name. `current` is the beginning of the word
/// at the cursor. Each candidate begins with it.
std::vector<Candidate> candidates(const std::vector<std::string>& before, const std::string& current,
                                  const CompletionSources& sources);

/// Those `names` that begin with `current`. If they are many, by packages: "numpy." for all of them in it.
std::vector<Candidate> type_candidates(const std::vector<std::string>& names, const std::string& current);

}  // namespace heapsift
