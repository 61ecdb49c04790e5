// Which pages changed, and where they are kept.

#include "parsers/capture/page_hashes.h"
#include "parsers/capture/page_hash.h"
#include "tests/capture/simulated_process.h"
#include "tests/catch.h"

#include <thread>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("hashes: a page is known by its address and bytes, also one that went away and came back",
          "[capture]") {
    SimulatedProcess process;
    process.mappings.push_back({0x100000, 600, true});
    for (const std::uint64_t n : {0, 1, 2, 300, 599})
        process.page_seeds[0x100000 + n * captured_page] = n + 7;
    const MemoryPlan plan = process.plan();
    CHECK(plan.chunks.size() == 3);
    PageHashes hashes(plan);
    const auto take_all = [&] {
        std::uint64_t differ = 0;
        std::vector<std::byte> buffer;
        for (const Chunk& chunk : plan.chunks)
            differ += hashes.take(plan, chunk, process.read(plan, chunk, buffer));
        return differ;
    };
    std::size_t hint = 0;
    const AddressRange all{Address(0x100000), Address(0x100000 + 600 * captured_page)};
    CHECK(hashes.count(all) == 0);
    CHECK_FALSE(hashes.equals(0x100000, SimulatedProcess::bytes_of(7).data(), hint));
    CHECK(take_all() == 5);
    CHECK(take_all() == 0);
    CHECK(hashes.count(all) == 5);
    CHECK(hashes.count({Address(0x101000), Address(0x103000)}) == 2);
    CHECK(hashes.equals(0x100000 + 300 * captured_page, SimulatedProcess::bytes_of(307).data(), hint));
    CHECK(hashes.equals(0x100000, SimulatedProcess::bytes_of(7).data(), hint));
    CHECK_FALSE(hashes.equals(0x100000, SimulatedProcess::bytes_of(8).data(), hint));
    CHECK_FALSE(hashes.equals(0x103000, SimulatedProcess::bytes_of(8).data(), hint));
    process.page_seeds.erase(0x101000);
    CHECK(take_all() == 1);
    CHECK_FALSE(hashes.equals(0x101000, SimulatedProcess::bytes_of(8).data(), hint));
    CHECK(hashes.count(all) == 5);  // what was written of it is still there
}

TEST_CASE("changed pages: more than memory may take go to a file, from several threads", "[capture]") {
    constexpr std::uint64_t pages = 400;
    ChangedPages changed(7, 100 * captured_page, "/tmp");
    std::vector<std::uint32_t> places(pages);
    const auto add = [&](std::uint64_t from) {
        for (std::uint64_t n = from; n < pages; n += 2)
            places[n] = changed.add(SimulatedProcess::bytes_of(n + 1).data());
    };
    std::thread other(add, 1);
    add(0);
    other.join();
    CHECK(changed.count() == pages);
    std::vector<std::byte> bytes(captured_page);
    std::size_t wrong = 0;
    for (std::uint64_t n = 0; n < pages; ++n) {
        changed.read(places[n], bytes.data());
        wrong += bytes != SimulatedProcess::bytes_of(n + 1);
    }
    CHECK(wrong == 0);
}

TEST_CASE("page hashes: the same with and without AVX2, and others for each changed bit", "[capture]") {
    std::size_t differ = 0, equal = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        std::vector<std::byte> page = SimulatedProcess::bytes_of(seed);
        const std::uint64_t before = hash_of_page_by_sse2(page.data());
        CHECK(hash_of_page(page.data()) == before);
        if (__builtin_cpu_supports("avx2")) differ += hash_of_page_by_avx2(page.data()) != before;
        for (std::size_t at = seed; at < page.size(); at += 97) {
            page[at] ^= std::byte{static_cast<unsigned char>(1U << at % 8)};
            equal += hash_of_page(page.data()) == before;
            page[at] ^= std::byte{static_cast<unsigned char>(1U << at % 8)};
        }
    }
    CHECK(differ == 0);
    CHECK(equal == 0);
}
