// The threads that work on a pass share one account of it, under a mutex: which piece is next to begin, which is next
// to be taken, which are finished. Pieces take milliseconds, so nobody waits long for it. Whoever has finished a
// piece takes the results that are due, unless another thread is at that, and goes on with the next piece.

#include "parsers/base/in_pieces.h"

#include "parsers/base/helper_threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

namespace heapsift {
namespace {

std::size_t threads_in_use = 1;

using PieceWork = std::function<void(std::size_t, std::size_t)>;

/// Pieces that begin in order, are worked on at the same time, and are taken in order.
class OrderedPieces {
public:
    OrderedPieces(std::size_t pieces, std::size_t slots, const PieceWork& work, const PieceWork& take)
        : pieces_(pieces), finished_(slots), work_(work), take_(take) {}

    /// Until all are taken, or one has thrown.
    void help() {
        std::unique_lock lock(mutex_);
        while (taken_ < pieces_ && !failure_) {
            if (!taking_ && finished_[taken_ % finished_.size()])
                take_next(lock);
            else if (begun_ < pieces_ && begun_ - taken_ < finished_.size())
                work_on_next(lock);
            else
                changed_.wait(lock);
        }
    }

    void throw_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void take_next(std::unique_lock<std::mutex>& lock) {
        taking_ = true;
        unlocked(lock, take_, taken_);
        taking_ = false;
        finished_[taken_ % finished_.size()] = false;
        ++taken_;
        changed_.notify_all();
    }

    // Pieces in work follow each other without a gap: no two have one slot.
    void work_on_next(std::unique_lock<std::mutex>& lock) {
        const std::size_t piece = begun_++;
        unlocked(lock, work_, piece);
        finished_[piece % finished_.size()] = true;
    }

    void unlocked(std::unique_lock<std::mutex>& lock, const PieceWork& part, std::size_t piece) {
        std::exception_ptr thrown;
        lock.unlock();
        try {
            part(piece, piece % finished_.size());
        } catch (...) {
            thrown = std::current_exception();
        }
        lock.lock();
        if (!thrown) return;
        if (!failure_) failure_ = thrown;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t pieces_, begun_ = 0, taken_ = 0;
    std::vector<bool> finished_;  // by slot: worked on, and not taken
    bool taking_ = false;
    std::exception_ptr failure_;
    const PieceWork& work_;
    const PieceWork& take_;
};

}  // namespace

void set_threads(std::size_t threads) { threads_in_use = std::max<std::size_t>(threads, 1); }

std::size_t threads() { return threads_in_use; }

namespace in_pieces_detail {

std::size_t slot_count() { return threads() == 1 ? 1 : 4 * threads(); }

void run(std::size_t pieces, std::size_t slots, const PieceWork& work, const PieceWork& take) {
    if (slots == 1 || pieces <= 1) {
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            work(piece, 0);
            take(piece, 0);
        }
        return;
    }
    OrderedPieces ordered(pieces, slots, work, take);
    with_helpers(std::min(threads(), pieces) - 1, [&] { ordered.help(); });
    ordered.throw_failure();
}

}  // namespace in_pieces_detail

void in_any_order(std::size_t pieces, const std::function<void(std::size_t)>& work) {
    if (threads() == 1 || pieces <= 1) {
        for (std::size_t piece = 0; piece < pieces; ++piece) work(piece);
        return;
    }
    std::atomic<std::size_t> next = 0;
    std::mutex failing;
    std::exception_ptr failure;
    with_helpers(std::min(threads(), pieces) - 1, [&] {
        for (std::size_t piece; (piece = next++) < pieces;) {
            try {
                work(piece);
            } catch (...) {
                next = pieces;
                const std::lock_guard lock(failing);
                if (!failure) failure = std::current_exception();
            }
        }
    });
    if (failure) std::rethrow_exception(failure);
}

}  // namespace heapsift
