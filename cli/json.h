#pragma once

// JSON as all commands write it: keys in the order of the contract, addresses as "0x…".

#include "parsers/base/address.h"
#include "parsers/base/ids.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

using Json = nlohmann::ordered_json;

/// One line of ASCII, whatever the strings hold: other characters become \uNNNN, since some of them control a
/// terminal or end a line; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);

/// Adds `text` as a JSON string: byte for byte what `json_text` makes of it.
void add_json_string(std::string& out, std::string_view text);

Json address_json(Address address);

/// Ids are written as numbers.
template <class Kind>
void to_json(Json& json, Id<Kind> id) {
    json = std::uint32_t{id};
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// A cell of CSV, quoted if needed.
std::string csv_quoted(const std::string& text);

std::string csv_heading(const std::vector<std::string>& keys);

}  // namespace heapsift
