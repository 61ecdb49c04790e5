// What may be had of memory, whether a question fits into it, and columns that lie in files.

#include "cli/control_group.h"
#include "cli/large_blocks.h"
#include "cli/memory_plan.h"
#include "parsers/base/error.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

/// Puts things back as they are at the start of the program.
struct InMemoryAfterwards {
    ~InMemoryAfterwards() {
        keep_large_blocks_in_memory();
        if_disk_is_full(WithoutRoom::use_memory);
    }
};

/// The largest file that may be written, for the time of a test: as a full disk.
class FileLimit {
public:
    explicit FileLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        handler_ = ::signal(SIGXFSZ, SIG_IGN);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

constexpr std::uint64_t mebibyte = 1 << 20;

}  // namespace

TEST_CASE("control groups: version 2, with limits above", "[cli][memory]") {
    const TemporaryDirectory directory;
    const fs::path root = directory.path();
    const ControlGroupPlace place{(root / "membership").string(), (root / "mount").string()};
    write(place.membership, "0::/a/b\n");
    write(root / "mount/a/b/memory.max", "1000000\n");
    write(root / "mount/a/b/memory.current", "600000\n");
    write(root / "mount/a/b/memory.stat", "anon 100000\ninactive_file 300000\nactive_file 150000\n");
    CHECK(memory_left_in_group(place) == 850000);
    write(root / "mount/a/memory.max", "700000\n");
    write(root / "mount/a/memory.current", "600000\n");
    CHECK(memory_left_in_group(place) == 100000);
    write(root / "mount/a/memory.max", "max\n");
    write(root / "mount/a/b/memory.current", "2000000\n");
    CHECK(memory_left_in_group(place) == 0);  // more than the limit, which was lowered

    CHECK_FALSE(processors_of_group(place));
    write(root / "mount/a/b/cpu.max", "150000 100000\n");
    CHECK(processors_of_group(place) == 2);
    write(root / "mount/a/cpu.max", "max 100000\n");
    CHECK(processors_of_group(place) == 2);
}

TEST_CASE("control groups: version 1, and a container that shows its own group as the root",
          "[cli][memory]") {
    const TemporaryDirectory directory;
    const fs::path root = directory.path();
    const ControlGroupPlace place{(root / "membership").string(), (root / "mount").string()};
    CHECK_FALSE(memory_left_in_group(place));
    write(place.membership, "4:memory:/docker/12ab\n3:cpu,cpuacct:/docker/12ab\n0::/\n");
    write(root / "mount/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write(root / "mount/memory/memory.usage_in_bytes", "5000\n");
    CHECK_FALSE(memory_left_in_group(place));
    write(root / "mount/memory/memory.limit_in_bytes", "8000\n");
    write(root / "mount/memory/memory.stat", "cache 1\ntotal_inactive_file 1000\ntotal_active_file 500\n");
    CHECK(memory_left_in_group(place) == 4500);
    write(root / "mount/cpu/cpu.cfs_quota_us", "-1\n");
    write(root / "mount/cpu/cpu.cfs_period_us", "100000\n");
    CHECK_FALSE(processors_of_group(place));
    write(root / "mount/cpu/cpu.cfs_quota_us", "50000\n");
    CHECK(processors_of_group(place) == 1);
    write(place.membership, "4:memory:/../../other\n");  // a group outside this namespace
    CHECK(memory_left_in_group(place) == 4500);
}

TEST_CASE("memory: whether a question fits", "[cli][memory]") {
    MemoryRoom room{.memory = 500, .memory_is = "--memory allows", .folder = "/cache", .disk = 2000};
    CHECK(use_of(room, 500) == MemoryFit::in_memory);
    CHECK(use_of(room, 501) == MemoryFit::in_files);
    CHECK(use_of(room, 2001) == MemoryFit::too_much);
    room.folder_is_memory = true;
    CHECK(use_of(room, 501) == MemoryFit::too_much);
    CHECK(use_of(room, 500) == MemoryFit::in_memory);
    room.folder_is_memory = false;
    room.folder.clear();
    CHECK(use_of(room, 501) == MemoryFit::too_much);

    constexpr MemoryNeed needs[] = {MemoryNeed::found,  MemoryNeed::objects, MemoryNeed::references,
                                    MemoryNeed::states, MemoryNeed::graph,   MemoryNeed::retained};
    for (std::size_t i = 1; i < std::size(needs); ++i)
        CHECK(memory_for(1'000'000, 0, needs[i - 1]) < memory_for(1'000'000, 0, needs[i]));
    CHECK(memory_for(1000, 1'000'000, MemoryNeed::references) == memory_for(1000, 0, MemoryNeed::references));
    CHECK(memory_for(1000, 1'000'000, MemoryNeed::references) <
          memory_for(1000, 1'000'000, MemoryNeed::native));
    CHECK(memory_for(1000, 1'000'000, MemoryNeed::retained) ==
          memory_for(1'001'000, 0, MemoryNeed::retained));
}

TEST_CASE("memory: what there is", "[cli][memory]") {
    const TemporaryDirectory directory;
    const MemoryRoom wished = memory_room(123456, directory.path() + "/not/there/yet");
    CHECK(wished.memory == 123456);
    CHECK(wished.memory_is == "--memory allows");
    CHECK(wished.disk > 0);
    CHECK(memory_room({}, "").memory > 0);
    CHECK(memory_room({}, "").disk == 0);
    // In a bare tree there is no file system in memory.
    std::ifstream mounts("/proc/mounts");
    for (std::string device, place, type, rest;
         mounts >> device >> place >> type && std::getline(mounts, rest);)
        if (type == "tmpfs" && fs::is_directory(place))
            CHECK(memory_room({}, place + "/heapsift").folder_is_memory);
}

TEST_CASE("memory: a question that is refused says what it needs, and what would help", "[cli][memory]") {
    const auto refusal = [](const MemoryRoom& room, std::uint64_t least = 800 * mebibyte) {
        try {
            refuse_for_memory(room, 3000 * mebibyte, least);
        } catch (const Error& error) {
            CHECK(error.exit() == ExitCode::cannot_analyse);
            CHECK(error.code() == "too-little-memory");
            return error.message() + "; " + error.hint();
        }
        return std::string();
    };
    MemoryRoom room{
        .memory = 1024 * mebibyte, .memory_is = "--memory allows", .folder = "/cache", .disk = 5 * mebibyte};
    CHECK(refusal(room) ==
          "this question needs some 2.9 GiB of memory; --memory allows 1.0 GiB, and /cache, where the rest "
          "could lie, "
          "has 5.0 MiB free; --index-dir on a disk with 2.9 GiB free, or a machine with more memory; types "
          "--sort memory "
          "needs 800.0 MiB");
    CHECK(refusal(room, 3000 * mebibyte).find("types --sort memory") == std::string::npos);
    room.folder_is_memory = true;
    CHECK(refusal(room).find("/cache, where the rest could lie, is in memory itself") != std::string::npos);
    room.folder.clear();
    CHECK(refusal(room).find("there is no folder") != std::string::npos);
}

TEST_CASE("large blocks: columns lie in files without a name, and go with them", "[cli][memory]") {
    const TemporaryDirectory directory;
    const InMemoryAfterwards afterwards;
    const std::string folder = directory.path() + "/cache/heapsift";
    const std::uint64_t before = large_block_bytes();
    CHECK(before == 0);
    REQUIRE(keep_large_blocks_in(folder));
    {
        std::vector<std::uint32_t> column(3 * mebibyte);
        CHECK(large_block_bytes() == 12 * mebibyte);
        CHECK(is_in_large_block(&column[5]));
        CHECK(is_in_large_block(&column.back()));
        CHECK(std::all_of(column.begin(), column.end(), [](std::uint32_t value) { return value == 0; }));
        std::iota(column.begin(), column.end(), 0U);
        column.resize(4 * mebibyte);  // copied to a larger file
        CHECK(column[3 * mebibyte - 1] == 3 * mebibyte - 1);
        CHECK(fs::is_empty(folder));
        const std::vector<std::uint8_t> small(1000);
        CHECK_FALSE(is_in_large_block(small.data()));
        keep_large_blocks_in_memory();
        const std::vector<std::uint8_t> in_memory(2 * mebibyte);
        CHECK_FALSE(is_in_large_block(in_memory.data()));
        CHECK(is_in_large_block(&column[5]));
    }
    CHECK(large_block_bytes() == 0);
}

TEST_CASE("large blocks: a folder that cannot be written", "[cli][memory]") {
    const InMemoryAfterwards afterwards;
    CHECK_FALSE(keep_large_blocks_in("/proc/none"));
    const std::vector<std::uint8_t> column(2 * mebibyte);
    CHECK_FALSE(is_in_large_block(column.data()));
}

TEST_CASE("large blocks: a full disk", "[cli][memory]") {
    const TemporaryDirectory directory;
    const InMemoryAfterwards afterwards;
    REQUIRE(keep_large_blocks_in(directory.path()));
    const FileLimit limit(4 * mebibyte);
    const std::vector<std::uint8_t> fits(3 * mebibyte);
    CHECK(is_in_large_block(fits.data()));
    {
        const std::vector<std::uint8_t> too_large(5 * mebibyte);
        CHECK_FALSE(is_in_large_block(too_large.data()));
    }
    if_disk_is_full(WithoutRoom::fail);
    CHECK_THROWS_AS(std::vector<std::uint8_t>(5 * mebibyte), std::bad_alloc);
}

TEST_CASE("large blocks: several threads", "[cli][memory]") {
    const TemporaryDirectory directory;
    const InMemoryAfterwards afterwards;
    REQUIRE(keep_large_blocks_in(directory.path()));
    std::vector<std::thread> threads;
    std::vector<int> wrong(4);
    for (std::size_t thread = 0; thread < wrong.size(); ++thread)
        threads.emplace_back([&, thread] {
            for (std::size_t round = 0; round < 20; ++round) {
                const std::vector<std::size_t> column(mebibyte / 4 + round, thread * 100 + round);
                wrong[thread] += !is_in_large_block(column.data()) || column.back() != thread * 100 + round;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4));
    CHECK(large_block_bytes() == 0);
}
