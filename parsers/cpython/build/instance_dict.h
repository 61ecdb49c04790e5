#pragma once

// Where an instance keeps its attributes, and who reports them. (How each form is read: instance.cpp.)

#include "parsers/cpython/layout.h"

#include <string_view>

namespace heapsift {

/// Of a class whose dict the interpreter manages.
enum class ManagedDict {
    none,           // up to 3.10 there is a dict at tp_dictoffset, and no other form
    two_words,      // 3.11: a word for values, one for a dict; one of them is set
    tagged_word,    // 3.12: one word, odd where it leads to values
    inline_values,  // 3.13: a word for a dict, and values inside the object's own block while they are valid
};

inline ManagedDict managed_dict(const Layout& layout) {
    if (layout.dict_values.embedded.present()) return ManagedDict::inline_values;
    if (until(10).contain(layout.version)) return ManagedDict::none;
    return is_minor(layout.version, 12) ? ManagedDict::tagged_word : ManagedDict::two_words;
}

/// Does an instance with a __dict__ report that alone, and the dict its values where they lie in the
/// instance? Up to 3.13.12 it is the instance that reports them, and nobody the dict (gh-130327). Debian's
/// 3.13.5 has both forms: then the build-ids that are known tell. `build_id` is empty where it is not known.
bool instance_reports_dict(const PythonVersion& version, std::string_view build_id);

}  // namespace heapsift
