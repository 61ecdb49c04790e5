#pragma once

// One line of a batch, as far as the page of a fleet needs it.
//
// A line may come from anywhere. It is read token by token, so that an overview in it costs no memory, however deep it
// is; and each text is cut to a length that a page has room for.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {

struct FleetLine {
    std::string path = {}, identity = {}, signature = {}, host = {}, interpreter = {}, signal = {},
                headline = {};
    std::string kind = {}, cause = {}, fix = {};                     // of the largest suspect
    std::string error_code = {}, error_message = {};                 // of one that was not analysed
    std::vector<std::pair<std::string, std::string>> packages = {};  // name, version; the first 200
    std::int64_t exit = 0;
    std::optional<std::int64_t> hour = {};  // since 1970, of `stored`, else of `started`
    std::optional<std::uint64_t> in_use = {};

    bool is_failure() const { return exit == 1 || !error_code.empty(); }
    /// How a core is told from others: its identity, else its path. Never 0.
    std::uint64_t key() const;
    /// Of the path alone; differs from the key of any identity. Never 0.
    std::uint64_t path_key() const;
};

enum class FleetLineState : std::uint8_t { read, no_json, other_schema };

/// `line` is filled where it is `read`. A text that is longer than what is kept of it ends in a number that differs where
/// the texts do. Never throws but for memory.
FleetLineState read_fleet_line(std::string_view text, FleetLine& line);

/// Hours since 1970 of "2026-11-28T02:52:47Z"; nothing for another form, or before 2000 or after 2100: a clock that was
/// not set.
std::optional<std::int64_t> hour_of(std::string_view utc);

}  // namespace heapsift
