#pragma once

// Where an instance keeps its attributes, and who reports them. (instance.cpp says how each form is read.)

#include "parsers/cpython/layout.h"

#include <string_view>

namespace heapsift {

/// The form in classes whose dict the interpreter manages.
enum class ManagedDict {
    none,           // up to 3.10: always a dict at tp_dictoffset
    two_words,      // 3.11: a word for values, one for a dict; one of them is set
    tagged_word,    // 3.12: one word, odd if it leads to values
    inline_values,  // 3.13: a word for a dict, and values inside the object's own block while they are valid
};

inline ManagedDict managed_dict(const Layout& layout) {
    if (layout.dict_values.embedded.present()) return ManagedDict::inline_values;
    if (until(10).contain(layout.version)) return ManagedDict::none;
    return is_minor(layout.version, 12) ? ManagedDict::tagged_word : ManagedDict::two_words;
}

/// Whether an instance with a __dict__ reports only that, and the dict reports its values, even if they lie
/// in the instance. Up to 3.13.12 and 3.14.3 the instance reports the values, and nobody reports the dict
/// (gh-130327).
/// Debian's 3.13.5 has both forms, told apart by known build-ids. `build_id` is empty if unknown.
bool instance_reports_dict(const PythonVersion& version, std::string_view build_id);

}  // namespace heapsift
