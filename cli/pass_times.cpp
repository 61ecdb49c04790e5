// Thirty rows of milliseconds, rounded one by one, do not add up to the rounded total. So the running sums
// are rounded, and a row shows the difference of two of them: off by a millisecond at most, with the right
// total.

#include "cli/pass_times.h"

#include "cli/table.h"
#include "cli/units.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

constexpr double least_seconds = 0.0005;          // shown as 0.001
constexpr std::uint64_t least_bytes = 64 * 1024;  // shown as 0.1 MiB

std::string milliseconds(long long count) { return fmt::format("{}.{:03}", count / 1000, count % 1000); }

/// Running sums, rounded; each row is the growth of its sum.
class RoundedSum {
public:
    long long grow(double seconds) {
        exact_ += seconds;
        const long long before = std::exchange(shown_, std::llround(exact_ * 1000));
        return shown_ - before;
    }
    long long shown() const { return shown_; }

private:
    double exact_ = 0;
    long long shown_ = 0;
};

}  // namespace

std::string pass_table(std::span<const Pass> passes) {
    using Align = TableColumn::Align;
    std::vector<Pass> rows;
    Pass other{"other", 0, 0, 0}, whole{"the whole run", 0, 0, 0};
    const auto add = [](Pass& to, const Pass& pass) {
        to.seconds += pass.seconds;
        to.cpu_seconds += pass.cpu_seconds;
        to.peak_bytes += pass.peak_bytes;
    };
    for (const Pass& pass : passes) {
        add(whole, pass);
        const bool small =
            pass.seconds < least_seconds && pass.cpu_seconds < least_seconds && pass.peak_bytes < least_bytes;
        if (small)
            add(other, pass);
        else
            rows.push_back(pass);
    }
    if (rows.size() < passes.size()) rows.push_back(other);
    Table table(
        {{Align::left, "pass"}, {Align::right, "seconds"}, {Align::right, "CPU"}, {Align::right, "memory"}});
    const auto memory = [](std::uint64_t bytes) {
        return bytes == 0 ? "–" : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
    };
    RoundedSum seconds, cpu_seconds;
    for (const Pass& row : rows) {
        const long long by_wall = seconds.grow(row.seconds), by_cpu = cpu_seconds.grow(row.cpu_seconds);
        table.add({row.name, milliseconds(by_wall), milliseconds(by_cpu), memory(row.peak_bytes)});
    }
    table.add({whole.name, milliseconds(seconds.shown()), milliseconds(cpu_seconds.shown()),
               memory(whole.peak_bytes)});
    return table.text(0, false);
}

}  // namespace heapsift
