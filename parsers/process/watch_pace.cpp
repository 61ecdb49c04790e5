// The way that is left, divided by the speed, is the time until the threshold is passed. Half of it is slept,
// so that what is passed halves with each look. The speed is the largest seen lately (it fades by half in a
// few looks), doubled for what may come, and at least a tenth of the threshold a second: a process that stood
// still for an hour may begin to load a file at any moment.
//
// Far from its threshold a process is looked at twice a second. One that stays just below it costs most: at 1
// % below it, 20 looks a second, of some 30 microseconds each.

#include "parsers/process/watch_pace.h"

#include <algorithm>

namespace heapsift {

WatchPace::Duration WatchPace::next(std::uint64_t left, Duration elapsed) {
    constexpr double shortest = 0.005, longest = 0.5, fade = 0.7;
    const double way = static_cast<double>(left);
    if (last_left_ >= 0 && elapsed.count() > 0)
        speed_ = std::max((last_left_ - way) / elapsed.count(), speed_ * fade);
    last_left_ = way;
    const double expected = std::max({2 * speed_, threshold_ / 10, 1.0});
    return Duration(std::clamp(way / expected / 2, shortest, longest));
}

}  // namespace heapsift
