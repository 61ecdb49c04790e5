#pragma once

// A pass over millions of objects on several processors, with the same result for any number of them.
//
// The pass is cut into pieces; how many does not depend on the processors. Each piece is worked on by
// itself, into a result of its own, on any thread. The results are taken in the order of the pieces, one at a
// time: so a column grows as if one thread had filled it, and only a few results exist at once. What a piece
// reads must not be changed by another piece, nor by taking a result, unless it is atomic.
//
// helper_threads.h has the threads. With one thread a pass is a loop.

#include <cstddef>
#include <functional>
#include <vector>

namespace heapsift {

/// Threads that work in pieces may use from now on; at least 1. Not while such work is under way.
void set_threads(std::size_t threads);
/// 1 unless set.
std::size_t threads();

namespace in_pieces_detail {
/// Results that may wait to be taken, or be in work: of so many pieces one after the other, each is in
/// another slot.
std::size_t slot_count();
void run(std::size_t pieces, std::size_t slots,
         const std::function<void(std::size_t piece, std::size_t slot)>& work,
         const std::function<void(std::size_t piece, std::size_t slot)>& take);
}  // namespace in_pieces_detail

/// work(piece, result) for each piece, on any thread; then take(piece, result), in order and one at a time,
/// though not always on the same thread. A result is used again for later pieces, as it was left by `take`:
/// so its vectors keep their room. The first exception of either ends all, and is thrown.
template <class Result, class Work, class Take>
void in_pieces(std::size_t pieces, Work&& work, Take&& take) {
    std::vector<Result> results(in_pieces_detail::slot_count());
    in_pieces_detail::run(
        pieces, results.size(), [&](std::size_t piece, std::size_t slot) { work(piece, results[slot]); },
        [&](std::size_t piece, std::size_t slot) { take(piece, results[slot]); });
}

/// work(piece) for each piece, in any order, on any thread.
void in_any_order(std::size_t pieces, const std::function<void(std::size_t piece)>& work);

/// Appends what a piece has to a column, and empties it for the next piece.
template <class T>
void move_to_end(std::vector<T>& from, std::vector<T>& to) {
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
}

/// What piece number `piece` of a column of `count` has: [begin, end).
struct Piece {
    std::size_t begin, end;
};
inline Piece piece_of(std::size_t piece, std::size_t count, std::size_t piece_size) {
    const std::size_t begin = piece * piece_size;
    return {begin, count - begin < piece_size ? count : begin + piece_size};
}
inline std::size_t piece_count(std::size_t count, std::size_t piece_size) {
    return count / piece_size + (count % piece_size != 0);
}

}  // namespace heapsift
