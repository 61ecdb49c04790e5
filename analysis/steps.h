#pragma once

// What steps mean to whoever says where something is: which of them stand only between two that a person
// writes, and which can be typed.

#include "parsers/cpython/object_facts.h"

#include <optional>

namespace heapsift {

/// The attribute that an item of a __dict__ is; nothing where its key is no identifier.
std::optional<ReferenceStep> as_attribute(const ReferenceStep& item);

/// Does it stand only between two steps that a person writes? An object's __dict__, unless it is itself what
/// is meant (`is_last`); the way into a cell.
bool stands_between(const ReferenceStep& step, bool is_last);

/// The local that a frame's reference to a value or a cell is called by: ".x" of ".f_locals['x']".
std::optional<ReferenceStep> as_local(const ReferenceStep& step);

/// Does Python have no name for it, or none that is a path: ".<cache>", "<+24>", "key 'x'"?
bool has_no_name(const ReferenceStep& step);
/// Can it be typed into Python as it is written?
bool can_be_typed(const ReferenceStep& step);
/// If it cannot: does heapsift understand it, where no other reference of its owner is called the same?
bool can_be_typed_if_single(const ReferenceStep& step);

/// An attribute that begins with two underscores.
bool is_dunder(const ReferenceStep& step);

}  // namespace heapsift
