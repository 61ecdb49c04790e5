#pragma once

// JSON as every command writes it: keys in the order of the contract, addresses as "0x…".

#include "parsers/base/address.h"
#include "parsers/base/ids.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

using Json = nlohmann::ordered_json;

/// One line of ASCII, whatever the strings hold: other characters as \uNNNN, since some of them act on a
/// terminal or end a line; bytes that are no UTF-8 as U+FFFD.
std::string json_text(const Json& json);

Json address_json(Address address);

/// Ids are numbers there.
template <class Kind>
void to_json(Json& json, Id<Kind> id) {
    json = std::uint32_t{id};
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// A cell of CSV, quoted where it must be.
std::string csv_quoted(const std::string& text);

std::string csv_heading(const std::vector<std::string>& keys);

}  // namespace heapsift
