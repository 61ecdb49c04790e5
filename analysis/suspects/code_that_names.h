#pragma once

// Where a suspect's attribute or global stands in the program's source.

#include "analysis/kept_answers.h"
#include "analysis/source_places.h"
#include "analysis/suspects/scene.h"

#include <cstddef>
#include <string>
#include <vector>

namespace heapsift {

/// The name by which the program's own code reaches the holder: the attribute of an instance or class of its own,
/// else the global of its module, nearest the holder. "" if there is none, as for a local.
std::string name_in_source(const Scene& scene);

/// Functions of the program's own code, not of Python's library or installed packages, that use a name as a global or
/// an attribute; and bodies of its modules ("<module>"), but not of classes. None for a name that containers and
/// strings have as a method ("items").
class CodeThatNames {
public:
    /// Cost: a look at the type of each object, if no answer is kept; and at the names of each code object of the
    /// program.
    explicit CodeThatNames(const HeapReader& heap, KeptAnswers* answers = nullptr);

    /// At most `most` of them, those that do not run only once first (`__init__`, a module's body), then by file and
    /// line. `all` is how many there are.
    std::vector<SourcePlace> of(const std::string& name, std::size_t most, std::size_t& all) const;

private:
    struct Code {
        SourcePlace place;
        std::vector<std::string> names;
    };
    std::vector<Code> codes_;
};

}  // namespace heapsift
