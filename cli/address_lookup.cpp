// Looking an address up. Digits alone are decimal or hexadecimal: whichever lies in dumped memory; where both do, whichever is an
// object, the decimal one first, since that is what id(x) prints.

#include "cli/address_lookup.h"

#include "analysis/object_row.h"
#include "cli/units.h"
#include "parsers/base/error.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

Address reading_meant(const HeapSnapshot& heap, const AddressArgument& argument) {
    std::vector<Address> mapped;
    for (const Address reading : argument.readings)
        if (heap.core().memory().state_of(reading) != ByteState::unmapped) mapped.push_back(reading);
    for (const Address reading : mapped)
        if (heap.find(reading) != no_object) return reading;
    return mapped.empty() ? argument.readings.front() : mapped.front();
}

// "0x3039", and what was typed where that does not look like it: "12345 (0x3039)".
std::string as_read(const AddressArgument& argument, Address address) {
    const std::string text = hexadecimal(address.value);
    const bool decimal =
        argument.readings.front() == address && argument.typed.find_first_not_of("0123456789") == std::string::npos;
    return decimal ? fmt::format("{} ({})", argument.typed, text) : text;
}

std::string described(const HeapSnapshot& heap, ObjectId object) {
    return fmt::format("the {} at {}", type_name(heap, heap.type_of(object)), hexadecimal(heap.address_of(object).value));
}

std::string nearest_hint(const HeapSnapshot& heap, const AddressFinding& finding) {
    if (finding.nearest == no_object) return "heapsift objects lists live ones";
    return "nearest live object: " + described(heap, finding.nearest);
}

Error no_object_there(const HeapSnapshot& heap, const std::string& text, const AddressFinding& finding) {
    const std::string hint = nearest_hint(heap, finding);
    using Kind = AddressFinding::Kind;
    switch (finding.kind) {
        case Kind::free_block:
            return wrong_usage("address-free", text + " is free memory: the object that was there is gone", hint);
        case Kind::not_saved:
            return wrong_usage("address-not-saved", text + " lies in memory that is not in the core", hint);
        case Kind::unmapped:
            return wrong_usage("address-unmapped", text + " is not in the memory of this process", hint);
        default:
            return wrong_usage("address-not-an-object", text + " lies in memory that belongs to no Python object", hint);
    }
}

}  // namespace

FoundAddress find_object(const HeapSnapshot& heap, const AddressArgument& argument) {
    const Address address = reading_meant(heap, argument);
    const AddressFinding finding = heap.locate(address);
    const std::string text = as_read(argument, address);
    using Kind = AddressFinding::Kind;
    switch (finding.kind) {
        case Kind::object:
            return {finding.object, {}};
        case Kind::inside_object:
            return {finding.object, fmt::format("{} lies inside {} (shown here)", text, described(heap, finding.object))};
        case Kind::buffer_of_object:
            return {finding.object,
                    fmt::format("{} lies in memory owned by {} (shown here)", text, described(heap, finding.object))};
        default:
            throw no_object_there(heap, text, finding);
    }
}

AddressArgument required_address(const Session& session, const char* command) {
    if (!session.words().address)
        throw wrong_usage("no-address", fmt::format("{} needs an address", command),
                          fmt::format("heapsift {} 0x…, as heapsift objects and heapsift types print it", command));
    return parse_address(*session.words().address);
}

ObjectId find_object(Session& session, const HeapSnapshot& heap, const AddressArgument& argument) {
    const FoundAddress found = find_object(heap, argument);
    if (!found.note.empty()) session.note("address-within", found.note);
    return found.object;
}

}  // namespace heapsift
