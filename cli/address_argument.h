#pragma once

// An ADDRESS as people type or paste it.

#include "parsers/base/address.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct AddressArgument {
    std::string typed;
    /// One reading; two for digits alone: decimal (a pasted id(x)) first, then hexadecimal. Only the core can
    /// tell which is meant.
    std::vector<Address> readings;
    bool expression = false;  // `typed` is an expression (analysis/expression.h), and there are no readings
};

/// Takes 0x…; hexadecimal without 0x, from 8 digits on; decimal digits; a pasted <Node object at 0x…>;
/// anything else as an expression. Throws `Error` (exit 2, "bad-address").
AddressArgument parse_address(std::string_view text);

/// True if a word can only be an address: 0x…, 8 or more hexadecimal digits, or a pasted repr.
bool looks_like_address(std::string_view text);

/// True if a word that names no file can be an expression: its brackets are closed, and it begins with a name
/// or an address. Every name is one.
bool may_be_expression(std::string_view text);

/// True if a word can only be an expression: it has brackets, or steps after an address.
bool looks_like_expression(std::string_view text);

}  // namespace heapsift
