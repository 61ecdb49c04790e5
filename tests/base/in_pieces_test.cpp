// Work in pieces: the same for any number of threads, in order, and with its errors.

#include "parsers/base/in_pieces.h"

#include "tests/catch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace heapsift;

namespace {

struct ThreadsForNow {
    explicit ThreadsForNow(std::size_t count) { set_threads(count); }
    ThreadsForNow(const ThreadsForNow&) = delete;
    ThreadsForNow& operator=(const ThreadsForNow&) = delete;
    ~ThreadsForNow() { set_threads(1); }
};

/// The squares below `count`, piece by piece; some pieces take long.
std::vector<std::size_t> squares(std::size_t count, std::size_t piece_size) {
    std::vector<std::size_t> column;
    in_pieces<std::vector<std::size_t>>(
        piece_count(count, piece_size),
        [&](std::size_t piece, std::vector<std::size_t>& result) {
            if (piece % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
            const auto [begin, end] = piece_of(piece, count, piece_size);
            for (std::size_t i = begin; i < end; ++i) result.push_back(i * i);
        },
        [&](std::size_t, std::vector<std::size_t>& result) { move_to_end(result, column); });
    return column;
}

}  // namespace

TEST_CASE("pieces: a column is filled in order, by any number of threads", "[base][pieces]") {
    std::vector<std::size_t> expected(1000);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i * i;
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{16}}) {
        const ThreadsForNow now(count);
        CHECK(threads() == count);
        for (const std::size_t piece_size : {1, 3, 64, 999, 1000, 5000})
            CHECK(squares(1000, piece_size) == expected);
        CHECK(squares(0, 10).empty());
    }
}

TEST_CASE("pieces: results are taken one at a time, and each is of its own piece", "[base][pieces]") {
    const ThreadsForNow now(4);
    std::atomic<int> taking = 0;
    std::size_t next = 0;
    in_pieces<std::size_t>(
        500, [](std::size_t piece, std::size_t& result) { result = 3 * piece; },
        [&](std::size_t piece, std::size_t& result) {
            CHECK(++taking == 1);
            CHECK(piece == next++);
            CHECK(result == 3 * piece);
            --taking;
        });
    CHECK(next == 500);
}

TEST_CASE("pieces: in any order, each once", "[base][pieces]") {
    for (const std::size_t count : {std::size_t{1}, std::size_t{4}}) {
        const ThreadsForNow now(count);
        std::vector<std::atomic<int>> met(300);
        in_any_order(met.size(), [&](std::size_t piece) { ++met[piece]; });
        for (const auto& times : met) CHECK(times == 1);
    }
}

TEST_CASE("pieces: an exception of either part ends the work and arrives", "[base][pieces]") {
    for (const std::size_t count : {std::size_t{1}, std::size_t{4}}) {
        const ThreadsForNow now(count);
        const auto fails_in = [](bool work, std::size_t at) {
            in_pieces<int>(
                100,
                [&](std::size_t piece, int&) {
                    if (work && piece == at) throw std::runtime_error("piece " + std::to_string(piece));
                },
                [&](std::size_t piece, int&) {
                    if (!work && piece == at) throw std::runtime_error("taking " + std::to_string(piece));
                });
        };
        CHECK_THROWS_WITH(fails_in(true, 37), "piece 37");
        CHECK_THROWS_WITH(fails_in(false, 41), "taking 41");
        CHECK_THROWS_AS(in_any_order(10,
                                     [](std::size_t piece) {
                                         if (piece == 4) throw std::bad_alloc();
                                     }),
                        std::bad_alloc);
        CHECK(squares(100, 7).size() == 100);  // and the next work is not disturbed
    }
}

TEST_CASE("pieces: work in pieces inside a piece", "[base][pieces]") {
    const ThreadsForNow now(4);
    std::vector<std::size_t> sums;
    in_pieces<std::size_t>(
        50,
        [](std::size_t piece, std::size_t& result) {
            result = 0;
            std::atomic<std::size_t> inner = 0;
            in_any_order(piece, [&](std::size_t i) { inner += i; });
            in_pieces<std::size_t>(
                piece, [](std::size_t i, std::size_t& number) { number = i; },
                [&](std::size_t, std::size_t number) { result += number; });
            result += inner;
        },
        [&](std::size_t, std::size_t result) { sums.push_back(result); });
    REQUIRE(sums.size() == 50);
    for (std::size_t piece = 0; piece < 50; ++piece) CHECK(sums[piece] == (piece ? piece * (piece - 1) : 0));
}

TEST_CASE("pieces: in a copy of the process, where one thread goes on", "[base][pieces]") {
    const ThreadsForNow now(4);
    REQUIRE(squares(100, 7).size() == 100);  // there are helpers now
    const pid_t child = ::fork();
    if (child == 0) ::_exit(squares(100, 7).size() == 100 ? 0 : 1);
    REQUIRE(child > 0);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("pieces: passes from several threads at once", "[base][pieces]") {
    const ThreadsForNow now(3);
    std::vector<std::thread> owners;
    std::atomic<int> right = 0;
    for (int owner = 0; owner < 4; ++owner)
        owners.emplace_back([&] {
            for (int turn = 0; turn < 50; ++turn) right += squares(100, 7).size() == 100;
        });
    for (std::thread& owner : owners) owner.join();
    CHECK(right == 200);
}

TEST_CASE("pieces: cover a column without a gap", "[base][pieces]") {
    for (const std::size_t count : {0, 1, 9, 10, 11, 99, 100}) {
        std::size_t next = 0;
        for (std::size_t piece = 0; piece < piece_count(count, 10); ++piece) {
            const auto [begin, end] = piece_of(piece, count, 10);
            CHECK(begin == next);
            CHECK(end > begin);
            CHECK(end - begin <= 10);
            next = end;
        }
        CHECK(next == count);
    }
}
