// The core of a process whose memory changes between the copying and the stop: every byte of it must be that of the stop,
// whatever became of mappings and pages meanwhile.

#include "parsers/capture/core_file_out.h"
#include "parsers/capture/process_notes.h"
#include "parsers/elf/core_file.h"
#include "tests/capture/simulated_process.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <thread>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::array all_compressions = {Compression::none, Compression::zstd, Compression::gzip,
                                         Compression::xz, Compression::lz4};
constexpr std::uint64_t low = 0x7f0000000000;

class Writing {
public:
    explicit Writing(Compression compression)
        : path_(directory_.path() + "/core" + std::string(ending_of(compression))),
          descriptor_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600)) {
        target_ = {descriptor_, "core", directory_.path(), compression};
        out_ = CoreFileOut::create(target_);
    }
    ~Writing() { ::close(descriptor_); }

    CoreFileOut& out() { return *out_; }
    const std::string& path() const { return path_; }

    void keep_all(const SimulatedProcess& process, const MemoryPlan& plan, PageHashes& hashes) {
        for (const Chunk& chunk : plan.chunks) {
            std::vector<std::byte> buffer;
            const ChunkBytes read = process.read(plan, chunk, buffer);
            if (hashes.take(plan, chunk, read)) out_->keep(plan, chunk, read);
        }
    }

private:
    TemporaryDirectory directory_;
    std::string path_;
    int descriptor_;
    CaptureTarget target_;
    std::unique_ptr<CoreFileOut> out_;
};

std::string notes() {
    ProcessRecords records;
    records.stat = "7 (a b) c) S 1 7 7 0 -1";
    ThreadState thread;
    thread.tid = 7;
    return core_notes(records, std::vector{thread}, {}, {"0.1.0", 1764234000, 5000000, false, 3});
}

void check_core(const std::string& path, const SimulatedProcess& process) {
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(path, {}, diagnostics);
    CHECK(diagnostics.complete());
    std::size_t wrong = 0, zero_wrong = 0;
    for (const SimulatedMapping& mapping : process.mappings)
        for (std::uint64_t n = 0; n < mapping.pages; ++n) {
            const std::uint64_t at = mapping.start + n * captured_page;
            std::vector<std::byte> got(captured_page);
            const bool there = core.memory().read_bytes(Address(at), got.data(), got.size());
            const auto page = process.page_seeds.find(at);
            if (page != process.page_seeds.end())
                wrong += !there || got != SimulatedProcess::bytes_of(page->second);
            else if (there)
                zero_wrong += got != std::vector<std::byte>(captured_page);
        }
    CHECK(wrong == 0);
    CHECK(zero_wrong == 0);
    CHECK(core.extent().segment_count == process.mappings.size());
}

/// Some of everything that a process does to its memory.
void change(SimulatedProcess& process, std::mt19937& random) {
    const auto chance = [&](unsigned of) { return random() % of == 0; };
    std::vector<SimulatedMapping> mappings;
    for (SimulatedMapping mapping : process.mappings) {
        const std::uint64_t previous_end =
            mappings.empty() ? 0 : mappings.back().start + mappings.back().pages * captured_page;
        if (chance(12)) continue;                                               // munmap
        if (chance(4)) mapping.pages += random() % 700;                         // it grew
        if (chance(5) && mapping.pages > 3) mapping.pages -= random() % 3;      // it shrank
        if (chance(5) && mapping.start >= previous_end + 40 * captured_page) {  // downwards
            mapping.start -= 40 * captured_page;
            mapping.pages += 40;
        }
        if (chance(6) && mapping.pages > 10) {  // mprotect of a part
            SimulatedMapping first = mapping;
            first.pages = mapping.pages / 2;
            first.writable = false;
            mapping.start += first.pages * captured_page;
            mapping.pages -= first.pages;
            mappings.push_back(first);
        } else if (chance(6) && !mappings.empty() &&
                   previous_end + 2000 * captured_page > mapping.start) {  // joined
            mapping.pages += (mapping.start - mappings.back().start) / captured_page;
            mapping.start = mappings.back().start;
            mappings.pop_back();
        }
        mappings.push_back(mapping);
    }
    process.mappings = mappings;
    std::map<std::uint64_t, std::uint64_t> pages;
    for (const SimulatedMapping& mapping : mappings)
        for (std::uint64_t n = 0; n < mapping.pages; ++n) {
            const std::uint64_t at = mapping.start + n * captured_page;
            const auto page = process.page_seeds.find(at);
            if (page != process.page_seeds.end() && !chance(50))
                pages[at] = chance(20) ? random() : page->second;
            else if (page == process.page_seeds.end() && chance(30))
                pages[at] = random();
        }
    process.page_seeds = pages;
}

SimulatedProcess some_process(std::mt19937& random) {
    SimulatedProcess process;
    std::uint64_t at = low;
    for (int i = 0; i < 12; ++i) {
        at += (1 + random() % 1500) * captured_page;
        const std::uint64_t pages = 1 + random() % 900;
        process.mappings.push_back({at, pages, random() % 4 != 0});
        for (std::uint64_t n = 0; n < pages; ++n)
            if (random() % 8 != 0)
                process.page_seeds[at + n * captured_page] = random() % 5 == 0 ? 0 : random();
        at += (pages + 800) * captured_page;
    }
    return process;
}

}  // namespace

TEST_CASE("captured core: its bytes are those of the stop, whatever changed while it was copied",
          "[capture]") {
    const Compression compression = GENERATE(from_range(all_compressions));
    const bool two_ways = compression == Compression::none || compression == Compression::zstd;
    for (unsigned seed = 1; seed <= (two_ways ? 6 : 2);
         ++seed) {  // the other formats differ in the packer alone
        std::mt19937 random(seed);
        SimulatedProcess process = some_process(random);
        Writing writing(compression);
        const MemoryPlan first = process.plan();
        PageHashes hashes(first);
        writing.out().begin(first);
        writing.keep_all(process, first, hashes);
        if (seed % 2 == 0) {  // it took long, and is copied again
            change(process, random);
            writing.keep_all(process, first, hashes);
        }
        change(process, random);
        const MemoryPlan plan = process.plan();
        writing.out().finish(plan, process.read_again(plan, hashes), hashes, notes());
        INFO("seed " << seed << ending_of(compression));
        check_core(writing.path(), process);
    }
}

TEST_CASE("captured core: what was planned and cannot be read is zeros, however much it is", "[capture]") {
    const Compression compression = GENERATE(from_range(all_compressions));
    SimulatedProcess process;
    process.mappings.push_back({low, 1500, true});
    for (std::uint64_t n = 0; n < 1500; ++n) process.page_seeds[low + n * captured_page] = n + 1;
    const MemoryPlan plan = process.plan();
    for (std::uint64_t n = 300; n < 1200; ++n) process.page_seeds.erase(low + n * captured_page);
    Writing writing(compression);
    PageHashes hashes(plan);
    writing.out().begin(plan);
    writing.keep_all(process, plan, hashes);
    writing.out().finish(plan, process.read_again(plan, hashes), hashes, notes());
    check_core(writing.path(), process);
}

TEST_CASE("captured core: of memory that stands still", "[capture]") {
    const Compression compression = GENERATE(from_range(all_compressions));
    std::mt19937 random(99);
    const SimulatedProcess process = some_process(random);
    Writing writing(compression);
    const MemoryPlan plan = process.plan();
    std::vector<std::byte> buffer;
    ChunkBytes read;
    writing.out().write_all(plan, notes(), [&](const Chunk& chunk) -> const ChunkBytes& {
        return read = process.read(plan, chunk, buffer);
    });
    check_core(writing.path(), process);
}

TEST_CASE("captured core: with more mappings than an ELF header can count", "[capture]") {
    SimulatedProcess process;
    for (std::uint64_t i = 0; i < 66000; ++i)
        process.mappings.push_back({low + i * 2 * captured_page, 1, i % 2 == 0});
    for (const std::uint64_t i : {0, 1000, 65999}) process.page_seeds[low + i * 2 * captured_page] = i + 1;
    Writing writing(GENERATE(Compression::none, Compression::zstd));
    const MemoryPlan plan = process.plan();
    PageHashes hashes(plan);
    writing.out().begin(plan);
    writing.keep_all(process, plan, hashes);
    writing.out().finish(plan, process.read_again(plan, hashes), hashes, notes());
    check_core(writing.path(), process);
}

TEST_CASE("captured core: the disk that it takes is that of the pages that are there", "[capture]") {
    SimulatedProcess process;
    process.mappings.push_back({low, 1 << 18, true});  // 1 GiB, of which three pages were touched
    for (const std::uint64_t n : {0, 70000, (1 << 18) - 1})
        process.page_seeds[low + n * captured_page] = n + 1;
    Writing writing(Compression::none);
    const MemoryPlan plan = process.plan();
    CHECK(plan.pages == 3);
    PageHashes hashes(plan);
    writing.out().begin(plan);
    writing.keep_all(process, plan, hashes);
    writing.out().finish(plan, process.read_again(plan, hashes), hashes, notes());
    struct stat facts {};
    REQUIRE(::stat(writing.path().c_str(), &facts) == 0);
    CHECK(facts.st_blocks * 512 < 1 << 20);
    CHECK(writing.out().file_bytes() == static_cast<std::uint64_t>(facts.st_size));
}

TEST_CASE("captured core: what was never touched costs nearly nothing, compressed too", "[capture]") {
    constexpr std::uint64_t pages = std::uint64_t{256} << 18;  // 256 GiB
    SimulatedProcess process;
    process.mappings.push_back({low, pages, true});
    for (const std::uint64_t n : {std::uint64_t{0}, pages / 3, pages - 1})
        process.page_seeds[low + n * captured_page] = n + 1;
    Writing writing(Compression::zstd);
    const MemoryPlan plan = process.plan();
    PageHashes hashes(plan);
    writing.out().begin(plan);
    writing.keep_all(process, plan, hashes);
    writing.out().finish(plan, process.read_again(plan, hashes), hashes, notes());
    struct stat facts {};
    REQUIRE(::stat(writing.path().c_str(), &facts) == 0);
    CHECK(facts.st_size < 10 << 20);
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(writing.path(), {}, diagnostics);
    CHECK(diagnostics.complete());
    for (const auto& [address, seed] : process.page_seeds) {
        std::vector<std::byte> got(captured_page);
        CHECK(core.memory().read_bytes(Address(address), got.data(), got.size()));
        CHECK(got == SimulatedProcess::bytes_of(seed));
    }
    std::vector<std::byte> between(captured_page, std::byte{1});
    CHECK(core.memory().read_bytes(Address(low + pages / 2 * captured_page), between.data(), between.size()));
    CHECK(between == std::vector<std::byte>(captured_page));
}

TEST_CASE("captured core: into a pipe, each byte once", "[capture]") {
    std::mt19937 random(7);
    SimulatedProcess process = some_process(random);
    const TemporaryDirectory directory;
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    std::string got;
    std::thread reader([&] {
        std::array<char, 65536> block;
        for (ssize_t count = 0; (count = ::read(ends[0], block.data(), block.size())) > 0;)
            got.append(block.data(), static_cast<std::size_t>(count));
    });
    const CaptureTarget target{ends[1], "-", "", Compression::zstd, true};
    const auto out = CoreFileOut::create(target);
    const MemoryPlan first = process.plan();
    PageHashes hashes(first);
    out->begin(first);
    for (const Chunk& chunk : first.chunks) {
        std::vector<std::byte> buffer;
        const ChunkBytes read = process.read(first, chunk, buffer);
        if (hashes.take(first, chunk, read)) out->keep(first, chunk, read);
    }
    change(process, random);
    const MemoryPlan plan = process.plan();
    out->finish(plan, process.read_again(plan, hashes), hashes, notes());
    ::close(ends[1]);
    reader.join();
    ::close(ends[0]);
    CHECK(got.size() == out->file_bytes());
    check_core(directory.write("core", got), process);
}

TEST_CASE("frames: what is packed unpacks to the same, and zeros to as many", "[capture]") {
    for (const Compression compression : all_compressions) {
        if (compression == Compression::none) continue;
        INFO(ending_of(compression));
        CHECK(compression_by_ending("/x/core.1" + std::string(ending_of(compression))) == compression);
        const auto packer = FramePacker::create(compression);
        std::vector<std::byte> packed, expected;
        const FramePacker::Give give = [&](std::span<const std::byte> part) {
            packed.insert(packed.end(), part.begin(), part.end());
        };
        std::mt19937 random(3);
        for (const std::size_t size : {0, 1, 4096, 1 << 20, (1 << 20) + 1, 3 << 20}) {
            std::vector<std::byte> bytes(size);
            for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 7 == 0 ? random() : 0);
            packer->pack(bytes, give);
            expected.insert(expected.end(), bytes.begin(), bytes.end());
            const std::uint64_t zeros = size * 3 + 5;
            packer->pack_zeros(zeros, give);
            expected.resize(expected.size() + zeros);
        }
        const auto stream = unpack_bytes(packed, 1 << 16);
        REQUIRE(stream);
        std::vector<std::byte> unpacked;
        Bytes block;
        ByteStream::Status status;
        while ((status = stream->next(block)) == ByteStream::Status::block)
            unpacked.insert(unpacked.end(), block.begin(), block.end());
        CHECK(status == ByteStream::Status::end);
        CHECK(unpacked == expected);
    }
    CHECK(compression_by_ending("core.zst.old") == Compression::none);
}

TEST_CASE("memory plan: what was told twice is planned once", "[capture]") {
    Mapping mapping;
    mapping.range = {Address(0x100000), Address(0x900000)};
    const std::vector<PageRun> runs = {
        {Address(0x100000), 3, false},    {Address(0x700000), 0x100, false}, {Address(0x101000), 4, false},
        {Address(0x7ff000), 0x20, false}, {Address(0x8ff000), 7, false},
    };
    PlanBuilder builder;
    builder.add(mapping, mapping.range.size(), runs);
    const MemoryPlan plan = builder.take();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> planned;
    for (const PageRun& run : plan.runs) planned.emplace_back(run.start.value, run.pages);
    CHECK(planned == std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                         {0x100000, 3}, {0x700000, 0x100}, {0x800000, 0x1f}, {0x8ff000, 1}});
    CHECK(plan.pages == 3 + 0x100 + 0x1f + 1);
    for (std::size_t i = 1; i < plan.chunks.size(); ++i)
        CHECK(plan.chunks[i - 1].range.end <= plan.chunks[i].range.start);
}
