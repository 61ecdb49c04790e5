#pragma once

// A struct to look for in debug information, and the places of its members.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// One struct to look for. `names` are tags or typedefs, best first: the first with a full definition is
/// used. Each entry of `members` is a list of alternative paths, of which the first that exists is used. A
/// path goes through struct members by `.` and into an array's first element by `[]` ("interpreters.head",
/// "generations[].count"); it does not name anonymous members.
struct StructRequest {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> members;
};

/// Where a member lies, from the start of the requested struct. For a bit field, `byte` holds its first bit,
/// `bit` is that bit's place in the byte and `bit_width` its width; for any other member both are 0.
/// `byte_size` is the member's own size, 0 for an array or if unknown.
struct MemberPlace {
    std::uint64_t byte = 0;
    std::uint64_t byte_size = 0;
    unsigned bit = 0;
    unsigned bit_width = 0;
};

/// A definition found for one request: its name, its size, and a place for each of the request's members (or
/// none).
struct StructPlace {
    std::string name;
    std::uint64_t byte_size = 0;
    std::vector<std::optional<MemberPlace>> members;
};

}  // namespace heapsift
