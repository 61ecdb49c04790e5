#pragma once

// When a core is to be taken, as it is typed: --when 'rss>80%|2GiB|growth>500MiB', --every 10m; and what the
// files are called.

#include "parsers/process/memory_watch.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// MEASURE>AMOUNT, several with | between them, of which one is enough; a further amount alone is of the same
/// measure. Measures are rss, cgroup and growth; an amount is a size with its unit (500M, 2GiB) or, but for growth, a
/// percentage. Throws `Error` (exit 2, "bad-option").
std::vector<WatchCondition> read_watch_conditions(std::string_view typed);

/// What a condition begins with: "rss>", "cgroup>", "growth>".
std::vector<std::string> watch_beginnings();

/// "rss > 1.6 GiB": a condition as it was met, for people.
std::string condition_words(const WatchCondition& condition, const WatchEnd& end);

/// 30s, 10m, 2h, 1d; a number alone is in seconds. From one second to a year. Throws `Error` (exit 2,
/// "bad-option").
std::chrono::seconds read_period(const std::string& option, std::string_view typed);

/// What a file name is made of, as in core_pattern (core(5)).
struct CoreNameParts {
    std::int32_t pid = 0;
    std::int64_t time = 0;      // seconds since 1970
    std::uint64_t number = 0;   // of this run, from 1
    std::string host, program;  // hostname; the process's name
};

/// `pattern` with %p, %t, %n, %h, %e and %% replaced; slashes of a name become !, as the kernel has it.
/// Throws `Error` (exit 2, "bad-option") for any other % .
std::string core_name(std::string_view pattern, const CoreNameParts& parts);

/// Whether two cores of one run get different names: the pattern has %t or %n.
bool names_differ(std::string_view pattern);

}  // namespace heapsift
