#pragma once

// Cores taken when it is time: --when, --every, --keep of `capture`.

#include "cli/console.h"
#include "cli/watch_conditions.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

class CommandOptions;

struct CaptureWatchOptions {
    std::string when, every;          // as typed; "" if not given
    std::optional<std::size_t> keep;  // of --every: so many cores, the newest

    bool given() const { return !when.empty() || !every.empty() || keep.has_value(); }
};

/// Declares them. Parsing fills `options`, which must live until then.
void declare_capture_watch(CommandOptions& declare, CaptureWatchOptions& options);

/// What is done with the process when it is time; `pressed`: its memory grows so fast that it may be killed
/// while its core is taken, unless it stands. Returns the files that it wrote. Throws `Error`.
using TakeCore = std::function<std::vector<std::string>(const std::string& path, bool pressed)>;

/// Throws `Error` if no core can be written there.
using CheckPlace = std::function<void(const std::string& path)>;

/// Watches the process and takes its cores until a condition is met, or with --every alone until it ends.
/// Says on standard error what it waits for, and what has happened. Returns the files that are there at the
/// end, in order. The place of the first is checked before it waits. Throws `Error`: exit 2 for options that
/// do not fit together; exit 1, "process-ended", if it has ended before any core was taken; and what `check`
/// throws, and `take`, unless a later core is due: then that is said, and it waits on.
std::vector<std::string> watch_and_capture(Console& console, std::int32_t pid,
                                           const CaptureWatchOptions& options, const std::string& pattern,
                                           const TakeCore& take, const CheckPlace& check);

/// The parts for one core, now.
CoreNameParts core_name_parts(std::int32_t pid, std::uint64_t number);

}  // namespace heapsift
