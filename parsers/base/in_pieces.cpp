#include "parsers/base/in_pieces.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <memory>
#include <mutex>

namespace heapsift {
namespace {

struct Threads {
    std::size_t count = 1;
    std::mutex making;
    std::unique_ptr<tbb::global_control> limit;  // also lets oneTBB have more than there are processors
};

Threads& all_threads() {
    static Threads all;
    return all;
}

/// Not before the first work for several: to start oneTBB takes a millisecond, as long as some answers.
void start_threads() {
    Threads& all = all_threads();
    const std::lock_guard lock(all.making);
    if (!all.limit)
        all.limit =
            std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, all.count);
}

}  // namespace

void set_threads(std::size_t threads) {
    Threads& all = all_threads();
    all.count = std::max<std::size_t>(threads, 1);
    all.limit.reset();
}

std::size_t threads() { return all_threads().count; }

namespace in_pieces_detail {

std::size_t slot_count() { return threads() == 1 ? 1 : 4 * threads(); }

void run(std::size_t pieces, std::size_t slots, const std::function<void(std::size_t, std::size_t)>& work,
         const std::function<void(std::size_t, std::size_t)>& take) {
    if (slots == 1 || pieces <= 1) {
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            work(piece, 0);
            take(piece, 0);
        }
        return;
    }
    start_threads();
    // Pieces in work follow each other without a gap, for they end in order: no two have one slot.
    std::size_t next = 0;
    tbb::parallel_pipeline(
        slots,
        tbb::make_filter<void, std::size_t>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
            if (next == pieces) flow.stop();
            return next == pieces ? 0 : next++;
        }) & tbb::make_filter<std::size_t, std::size_t>(tbb::filter_mode::parallel, [&](std::size_t piece) {
            work(piece, piece % slots);
            return piece;
        }) & tbb::make_filter<std::size_t, void>(tbb::filter_mode::serial_in_order, [&](std::size_t piece) {
            take(piece, piece % slots);
        }));
}

}  // namespace in_pieces_detail

void in_any_order(std::size_t pieces, const std::function<void(std::size_t)>& work) {
    if (threads() == 1 || pieces <= 1) {
        for (std::size_t piece = 0; piece < pieces; ++piece) work(piece);
        return;
    }
    start_threads();
    tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t piece) { work(piece); });
}

}  // namespace heapsift
