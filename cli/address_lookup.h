#pragma once

// From a typed address to the object that is meant.

#include "cli/address_argument.h"
#include "cli/session.h"
#include "parsers/reading/heap_reader.h"

#include <string>

namespace heapsift {

struct FoundAddress {
    ObjectId object = no_object;
    std::string note;  // "0x… lies inside …"; empty if the address is the object's own
};

/// Throws `Error` (exit 2). For an address: "address-free", "address-not-an-object", "address-not-saved" or
/// "address-unmapped", each with the nearest live object. For an expression: "ambiguous-address" with the
/// objects that fit, or "no-such-object" with how far it got. Values from the core pass through `redactor`.
/// `may_be_block`: says how to ask about a block of C code where no object's memory is.
FoundAddress find_object(const HeapReader& heap, const AddressArgument& argument, Redactor& redactor,
                         bool may_be_block = true);
FoundAddress find_object(const HeapReader& heap, const AddressArgument& argument);

/// The address that a command needs. Throws `Error` (exit 2, "no-address") if none was typed.
AddressArgument required_address(const Session& session, const char* command);

/// An address that is typed as a number and is in memory that no Python object owns: perhaps a block of C code.
std::optional<Address> address_of_no_object(const HeapReader& heap, const AddressArgument& argument);

/// The object that is meant; notes it if the address lies inside the object.
ObjectId find_object(Session& session, const HeapReader& heap, const AddressArgument& argument);

}  // namespace heapsift
