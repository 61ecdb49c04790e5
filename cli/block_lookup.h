#pragma once

// From a typed address to the block of C code that is meant.

#include "analysis/native_block.h"
#include "cli/address_argument.h"
#include "cli/question.h"

#include <optional>

namespace heapsift {

/// Nothing for an expression, for the address of an object or of free memory, and with --no-native. To tell
/// takes retained sizes: they are declared, and computed, only for memory that is no object's.
std::optional<NativeBlock> asked_block(Session& session, Question& question, const AddressArgument& argument);

}  // namespace heapsift
