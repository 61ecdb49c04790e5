// What heapsift reads of jemalloc in a core, for jemalloc.py, and whether it finds musl: the sums, then for each address of the standard input the
// block that holds it. It asks the allocator alone, so that it answers for programs without Python, too.
//
//     jemalloc_blocks core <addresses

#include "parsers/base/diagnostics.h"
#include "parsers/elf/core_file.h"
#include "parsers/memory/jemalloc.h"
#include "parsers/memory/musl.h"

#include <cinttypes>
#include <cstdio>
#include <exception>
#include <map>

int main(int count, char** arguments) {
    using namespace heapsift;
    if (count != 2) return 2;
    try {
        Diagnostics diagnostics;
        const CoreFile core = CoreFile::open(arguments[1], {}, diagnostics);
        std::printf("musl %d\n", has_musl(core.memory(), core.modules()));
        const auto jemalloc = Jemalloc::find(core.memory(), core.modules(), core.threads());
        if (!jemalloc) {
            std::puts("no jemalloc");
            return 1;
        }
        std::uint64_t in_use = 0, free = 0, blocks = 0;
        std::map<std::uint64_t, std::uint64_t> sizes;
        Address last;
        bool in_order = true;
        jemalloc->visit_blocks([&](std::span<const MemoryBlock> some) {
            for (const MemoryBlock& block : some) {
                (block.in_use ? in_use : free) += block.bytes;
                ++blocks;
                if (block.in_use) ++sizes[block.bytes];
                in_order = in_order && block.start >= last;
                last = block.start + block.bytes;
            }
        });
        const Jemalloc::Doubts& doubts = jemalloc->doubts();
        const auto print = [](const char* name, std::uint64_t value) {
            std::printf("%s %" PRIu64 "\n", name, value);
        };
        print("in_use", in_use);
        print("free", free);
        print("own", jemalloc->own_bytes());
        print("cached_in_slabs", jemalloc->cached().in_slabs);
        print("cached_large", jemalloc->cached().large);
        print("blocks", blocks);
        print("in_order", in_order);
        print("extents", doubts.extents);
        print("cached", doubts.cached);
        print("no_caches", doubts.no_caches);
        for (const auto& [bytes, number] : sizes)
            std::printf("class %" PRIu64 " %" PRIu64 "\n", bytes, number);
        std::uint64_t address = 0;
        while (std::scanf("%" SCNx64, &address) == 1) {
            const auto block = jemalloc->block_at(Address(address));
            if (block)
                std::printf("0x%" PRIx64 " 0x%" PRIx64 " %" PRIu64 " %s\n", address, block->start.value,
                            block->bytes, block->in_use ? "in_use" : "free");
            else
                std::printf("0x%" PRIx64 " none\n", address);
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
