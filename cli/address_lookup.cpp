// Looks up an address or an expression. Digits alone are read as decimal and as hexadecimal; the reading that
// lies in dumped memory counts. If both do, the one that is an object counts, the decimal one first, since
// id(x) prints decimal.

#include "cli/address_lookup.h"

#include "analysis/expression.h"
#include "analysis/object_row.h"
#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

Address reading_meant(const HeapReader& heap, const AddressArgument& argument) {
    std::vector<Address> mapped;
    for (const Address reading : argument.readings)
        if (heap.core().memory().state_of(reading) != ByteState::unmapped) mapped.push_back(reading);
    for (const Address reading : mapped)
        if (heap.snapshot().find(reading) != no_object) return reading;
    return mapped.empty() ? argument.readings.front() : mapped.front();
}

// "0x3039"; "12345 (0x3039)" if something else was typed.
std::string as_read(const AddressArgument& argument, Address address) {
    const std::string text = hexadecimal(address.value);
    const bool decimal = argument.readings.front() == address &&
                         argument.typed.find_first_not_of("0123456789") == std::string::npos;
    return decimal ? fmt::format("{} ({})", argument.typed, text) : text;
}

std::string described(const HeapSnapshot& heap, ObjectId object) {
    return fmt::format("the {} at {}", type_name(heap.types, heap.type_of(object)),
                       hexadecimal(heap.address_of(object).value));
}

std::string nearest_hint(const HeapSnapshot& heap, const AddressFinding& finding) {
    if (finding.nearest == no_object) return command_line("objects") + " lists live ones";
    return "nearest live object: " + described(heap, finding.nearest);
}

/// `block`: an address that may be in a block of C code; null for none.
Error no_object_there(const HeapSnapshot& heap, const std::string& text, const AddressFinding& finding,
                      Address block) {
    const std::string hint = nearest_hint(heap, finding);
    using Kind = AddressFinding::Kind;
    switch (finding.kind) {
        case Kind::free_block:
            return wrong_usage("address-free", text + " is free memory: no object is there any more", hint);
        case Kind::not_saved:
            return wrong_usage("address-not-saved", text + " is in memory that the core does not contain",
                               hint);
        case Kind::unmapped:
            return wrong_usage("address-unmapped", text + " is not in the memory of this process", hint);
        default:
            return wrong_usage(
                "address-not-an-object", text + " is in memory that belongs to no Python object",
                block.is_null() ? hint
                                : fmt::format("if it is C code's, {} tells what it is; {}",
                                              command_line("show " + hexadecimal(block.value)), hint));
    }
}

constexpr std::size_t most_listed = 10;

// "0x7f31c2a4d5e0 (dict of 3)", "0x7f31c2a4d5e8 (app.Node)"
std::string listed(const HeapReader& heap, ObjectId object, Redactor& redactor) {
    const HeapSnapshot& columns = heap.snapshot();
    const std::string type = type_name(columns.types, columns.type_of(object));
    const ShortValue short_value = heap.value(object);
    const std::string value = escape_for_terminal(redactor.value(short_value, type));
    const std::string address = hexadecimal(columns.address_of(object).value);
    if (short_value.says_type && short_value.kind == ShortValue::Kind::summary)
        return fmt::format("{} ({})", address, value);
    return fmt::format("{} ({}{}{})", address, escape_for_terminal(type), value.empty() ? "" : ", ", value);
}

std::string listed(const HeapReader& heap, const std::vector<ObjectId>& objects, Redactor& redactor) {
    std::string text;
    for (std::size_t i = 0; i < objects.size() && i < most_listed; ++i)
        text += (i > 0 ? ", " : "") + listed(heap, objects[i], redactor);
    if (objects.size() > most_listed)
        text += fmt::format(" and {} more", grouped(objects.size() - most_listed));
    return text;
}

std::string near_hint(const ExpressionFinding& finding, Redactor& redactor) {
    std::string names;
    for (const ReferenceStep& step : finding.near)
        names += (names.empty() ? "" : ", ") + escape_for_terminal(redactor.reference_name(step));
    if (names.empty()) return {};
    return (finding.near_is_guess ? "did you mean " : "there is ") + names;
}

// Says how far an expression got that leads to no object.
Error no_such_object(const HeapReader& heap, const std::string& typed, const ExpressionFinding& finding,
                     Redactor& redactor) {
    const std::string code = "no-such-object", understood = escape_for_terminal(finding.understood),
                      missing = escape_for_terminal(finding.missing);
    const std::string hint = near_hint(finding, redactor);
    if (!finding.lost.empty())
        return wrong_usage(
            code, fmt::format("{} leads to {}, where no object was found", escape_for_terminal(typed),
                              hexadecimal(finding.lost.front().value)));
    if (finding.understood.empty())
        return wrong_usage(
            code,
            fmt::format("{} was not found: no such module, name in __main__ or running function", missing),
            hint);
    if (finding.is_frame && finding.stopped_at.empty())
        return finding.missing.empty()
                   ? wrong_usage(code, understood + " is running, but has no frame object", hint)
                   : wrong_usage(code, fmt::format("{} is running, but has no {}", understood, missing),
                                 hint);
    const std::string what = listed(heap, finding.stopped_at, redactor);
    return wrong_usage(
        code, fmt::format("{} was found, {}, but has nothing called {}", understood, what, missing), hint);
}

FoundAddress find_by_expression(const HeapReader& heap, const std::string& typed, Redactor& redactor) {
    // An address inside an object, or of no object, gets the same message as when typed alone.
    std::string note;
    if (const std::string_view address = first_address(typed); !address.empty())
        if (const AddressArgument first = parse_address(address); !first.expression)
            note = find_object(heap, first).note;
    const ExpressionFinding finding = find_expression(heap, typed);
    if (finding.objects.size() == 1) return {finding.objects.front(), note};
    if (finding.objects.empty()) throw no_such_object(heap, typed, finding, redactor);
    throw wrong_usage("ambiguous-address",
                      fmt::format("{} fits {} objects: {}", escape_for_terminal(typed),
                                  grouped(finding.objects.size()), listed(heap, finding.objects, redactor)),
                      "give the address of one");
}

}  // namespace

FoundAddress find_object(const HeapReader& heap, const AddressArgument& argument) {
    Redactor shows_all;
    return find_object(heap, argument, shows_all);
}

FoundAddress find_object(const HeapReader& heap, const AddressArgument& argument, Redactor& redactor,
                         bool may_be_block) {
    if (argument.expression) return find_by_expression(heap, argument.typed, redactor);
    const Address address = reading_meant(heap, argument);
    const AddressFinding finding = heap.locate(address);
    const std::string text = as_read(argument, address);
    using Kind = AddressFinding::Kind;
    switch (finding.kind) {
        case Kind::object:
            return {finding.object, {}};
        case Kind::inside_object:
            return {finding.object, fmt::format("{} lies inside {} (shown here)", text,
                                                described(heap.snapshot(), finding.object))};
        case Kind::buffer_of_object:
            return {finding.object, fmt::format("{} lies in memory owned by {} (shown here)", text,
                                                described(heap.snapshot(), finding.object))};
        default:
            throw no_object_there(heap.snapshot(), text, finding, may_be_block ? address : Address());
    }
}

std::optional<Address> address_of_no_object(const HeapReader& heap, const AddressArgument& argument) {
    if (argument.expression) return std::nullopt;
    const Address address = reading_meant(heap, argument);
    if (heap.locate(address).kind != AddressFinding::Kind::other_memory) return std::nullopt;
    return address;
}

AddressArgument required_address(const Session& session, const char* command) {
    if (!session.words().address)
        throw wrong_usage("no-address", fmt::format("{} needs an address", command),
                          fmt::format("{} 0x…, an address from a table, or an expression, such as app.CACHE",
                                      command_line(command)));
    return parse_address(*session.words().address);
}

ObjectId find_object(Session& session, const HeapReader& heap, const AddressArgument& argument) {
    // These two have looked for a block before.
    const std::string& command = session.words().command;
    const bool may_be_block = command != "show" && command != "why";
    const FoundAddress found = find_object(heap, argument, session.redactor(), may_be_block);
    if (!found.note.empty()) session.note("address-within", found.note);
    return found.object;
}

}  // namespace heapsift
