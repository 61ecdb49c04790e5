#pragma once

// From an address that somebody typed to the object that is meant.

#include "cli/address_argument.h"
#include "cli/session.h"
#include "parsers/reading/heap_reader.h"

#include <string>

namespace heapsift {

struct FoundAddress {
    ObjectId object = no_object;
    std::string note;  // "0x… lies inside …"; empty where it is the object's own address
};

/// Throws `Error` (exit 2): "address-free", "address-not-an-object", "address-not-saved", "address-unmapped",
/// each with the nearest live object; of an expression "ambiguous-address" with the objects that fit,
/// "no-such-object" with how far it got. What comes from the core is shown as `redactor` lets it be.
FoundAddress find_object(const HeapReader& heap, const AddressArgument& argument, Redactor& redactor);
FoundAddress find_object(const HeapReader& heap, const AddressArgument& argument);

/// The address that a command needs. Throws `Error` (exit 2) where none was typed: "no-address".
AddressArgument required_address(const Session& session, const char* command);

/// The object that is meant; where the address is not its own, a note says so.
ObjectId find_object(Session& session, const HeapReader& heap, const AddressArgument& argument);

}  // namespace heapsift
