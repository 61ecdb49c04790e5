// The way that is left, divided by the speed, is the time until the threshold is passed. Half of it is slept,
// so that what is passed halves with each look. The speed is the largest seen lately (it fades by half in a
// few looks), doubled for what may come, and at least a tenth of the threshold a second: a process that stood
// still for an hour may begin to load a file at any moment.
//
// How fast the process grows is told by another speed: looks that are 5 ms apart find a process that waits for a processor
// to have stopped growing, and one that takes a megabyte to grow by 200 a second.
//
// Far from its threshold a process is looked at twice a second. One that stays just below it costs most: at 1
// % below it, 20 looks a second, of some 30 microseconds each.

#include "parsers/process/watch_pace.h"

#include <algorithm>
#include <cmath>

namespace heapsift {
namespace {

constexpr double window = 0.25;  // seconds

}  // namespace

WatchPace::Duration WatchPace::next(std::uint64_t left, Duration elapsed) {
    constexpr double shortest = 0.005, longest = 0.5, fade = 0.7;
    const double way = static_cast<double>(left);
    if (last_left_ >= 0 && elapsed.count() > 0) {
        speed_ = std::max((last_left_ - way) / elapsed.count(), speed_ * fade);
        growth_ += last_left_ - way;
        during_ += elapsed.count();
        if (during_ >= window) {
            lately_ = std::max(growth_ / during_, lately_ * std::pow(fade, during_ / longest));
            growth_ = during_ = 0;
        }
    }
    last_left_ = way;
    const double expected = std::max({2 * speed_, threshold_ / 10, 1.0});
    return Duration(std::clamp(way / expected / 2, shortest, longest));
}

double WatchPace::speed() const { return std::max(lately_, growth_ / std::max(during_, window)); }

}  // namespace heapsift
