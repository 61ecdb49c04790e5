#pragma once

// What the steps of a path mean to a person: which only stand between two that a person writes, and which can
// be typed.

#include "parsers/cpython/object_facts.h"

#include <optional>

namespace heapsift {

/// The attribute that an item of a __dict__ is; nothing if its key is not an identifier.
std::optional<ReferenceStep> as_attribute(const ReferenceStep& item);

/// True if it only stands between two steps that a person writes: an object's __dict__, unless that is the
/// object meant (`is_last`), or the way into a cell.
bool stands_between(const ReferenceStep& step, bool is_last);

/// The local that a frame's reference to a value or a cell is: ".x" for ".f_locals['x']".
std::optional<ReferenceStep> as_local(const ReferenceStep& step);

/// True if Python has no name for it, or none that is a path: ".<cache>", "<+24>", "key 'x'".
bool has_no_name(const ReferenceStep& step);
/// True if it can be typed into Python as it is written.
bool can_be_typed(const ReferenceStep& step);
/// For a step that cannot: true if heapsift understands it as long as no other reference of its owner has the
/// same name.
bool can_be_typed_if_single(const ReferenceStep& step);

/// True for an attribute that begins with two underscores.
bool is_dunder(const ReferenceStep& step);

}  // namespace heapsift
