#pragma once

// The tables of a fleet's page.

#include "cli/document/document.h"
#include "cli/page.h"
#include "cli/report/fleet.h"

#include <map>
#include <string>
#include <vector>

namespace heapsift {

/// "2026-11-28", or "11-28", of hours since 1970.
std::string day_text(std::int64_t hour, bool with_year = true);
/// "11-28 04h".
std::string hour_text(std::int64_t hour);

class FleetTables {
public:
    /// `causes`: of `fleet`, the most frequent first. All of them must outlive this.
    FleetTables(const Fleet& fleet, const std::vector<const FleetCause*>& causes, const Page& page);

    /// The signature of a cause. The program's name was among its arguments: under --redact it is a number.
    Text signature(const FleetCause& cause) const;
    /// One sentence about its cores: when, where, how large; the `hosts` most frequent are named.
    Text facts(const FleetCause& cause, std::size_t hosts) const;

    Block causes(std::size_t most) const;
    /// `counts`: of the first causes, one for each label.
    Block by_time(const std::vector<std::string>& labels,
                  const std::vector<std::vector<std::uint64_t>>& counts) const;
    Block by_interpreter(std::size_t most) const;
    /// Versions of packages that a cause has at least twice as often as all other cores with the package have it.
    Block by_package(std::size_t most) const;
    Block by_host(std::size_t most) const;
    /// Causes of at least five cores, most of which are on one host, where there are others.
    Block hosts_that_differ(std::size_t most) const;
    Block failures() const;

private:
    Text host(std::uint32_t number) const;

    const Fleet& fleet_;
    const std::vector<const FleetCause*>& causes_;
    const Page& page_;
    std::map<std::string, std::size_t> programs_;  // numbers of programs, for --redact
};

}  // namespace heapsift
