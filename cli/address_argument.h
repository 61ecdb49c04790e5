#pragma once

// An ADDRESS as people type or paste it.

#include "parsers/base/address.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct AddressArgument {
    std::string typed;
    /// One; or two for digits alone: decimal (a pasted id(x)) first, then hexadecimal. Which is meant, only
    /// the core can tell.
    std::vector<Address> readings;
    bool expression = false;  // `typed` is one (analysis/expression.h), and has no readings
};

/// 0x…; hexadecimal without 0x from 8 digits on; digits; <Node object at 0x…>; else an expression. Throws
/// `Error` (exit 2, "bad-address").
AddressArgument parse_address(std::string_view text);

/// True where a word can only be meant as an address: 0x…, 8 or more hexadecimal digits, or a pasted repr.
bool looks_like_address(std::string_view text);

/// True where a word that is no file can be meant as an expression: its brackets are closed, and it begins
/// with a name or an address. So is every name.
bool may_be_expression(std::string_view text);

/// True where it can be meant as nothing else: there are brackets in it, or steps after an address.
bool looks_like_expression(std::string_view text);

}  // namespace heapsift
