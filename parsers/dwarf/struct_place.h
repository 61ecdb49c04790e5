#pragma once

// A struct that is looked for in debug information, and where its members were found to lie.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// One struct to look for. `names` are tags or typedefs, best first: the first that has a full definition
/// serves. Each entry of `members` is a list of alternative paths, of which the first that exists serves. A
/// path goes through struct members by `.` and into an array's first element by `[]` ("interpreters.head",
/// "generations[].count"); anonymous members are passed through unnamed.
struct StructRequest {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> members;
};

/// Where a member lies, from the start of the requested struct. For a bit field, `byte` holds its first bit,
/// `bit` is that bit's place in the byte and `bit_width` its width; for any other member `bit` and
/// `bit_width` are 0. `byte_size` is the member's own size, 0 for an array and where it is not known.
struct MemberPlace {
    std::uint64_t byte = 0;
    std::uint64_t byte_size = 0;
    unsigned bit = 0;
    unsigned bit_width = 0;
};

/// A definition found for one request: under which name, its size, and a place for each of the request's
/// members (or none).
struct StructPlace {
    std::string name;
    std::uint64_t byte_size = 0;
    std::vector<std::optional<MemberPlace>> members;
};

}  // namespace heapsift
