// What the allocators beside malloc have in a core, block by block, for tests that compare it with what the process knew.
//
//     heapsift-allocated-blocks CORE < addresses
//
// For each address in hexadecimal, a line: the address, the start of its block, its bytes, and "in_use" or "free"; or "none". Then, for
// each allocator, "total", its name, its blocks in use and their bytes.

#include "parsers/base/diagnostics.h"
#include "parsers/base/error.h"
#include "parsers/elf/core_file.h"
#include "parsers/memory/other_allocators.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>

using namespace heapsift;

int main(int count, char** arguments) {
    if (count != 2) return 2;
    try {
        Diagnostics diagnostics;
        const CoreFile core = CoreFile::open(arguments[1], {}, diagnostics);
        const auto began = std::chrono::steady_clock::now();
        const auto allocators = find_other_allocators(core, diagnostics);
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
        std::uint64_t address = 0;
        while (std::cin >> std::hex >> address) {
            std::optional<MemoryBlock> block;
            for (const auto& allocator : allocators)
                if (!block) block = allocator->block_at(Address(address));
            if (block)
                fmt::print("{:#x} {:#x} {} {}\n", address, block->start.value, block->bytes,
                           block->in_use ? "in_use" : "free");
            else
                fmt::print("{:#x} none\n", address);
        }
        for (const auto& allocator : allocators) {
            std::uint64_t blocks = 0, bytes = 0;
            allocator->visit_blocks([&](std::span<const MemoryBlock> some) {
                for (const MemoryBlock& block : some)
                    if (block.in_use) ++blocks, bytes += block.bytes;
            });
            fmt::print("total {} {} {}\n", allocator->name(), blocks, bytes);
        }
        for (const Diagnostic& diagnostic : diagnostics.all()) fmt::print(stderr, "{}\n", diagnostic.message);
        fmt::print(stderr, "found in {:.2f} ms\n", took.count());
        return 0;
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
