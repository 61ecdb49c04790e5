// The yardstick: a plain sweep over a mapped file that sums all its 8-byte words, and does nothing else.
//
// A core is mapped and read in address order, so the least that any answer can cost is one look at every
// word. `run.py` gives all other times as multiples of this. Prints "CPU seconds, bytes, sum" twice: first
// with pages that are not yet in this process's page table, as every command finds them, then with all of
// them there.

#include "parsers/elf/file_mapping.h"
#include "tests/benchmarks/cpu_time.h"

#include <cstdio>
#include <cstring>

namespace {

std::uint64_t sum_of_words(heapsift::Bytes bytes) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        sum += word;
    }
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: benchmark-sum-words FILE\n", stderr);
        return 2;
    }
    heapsift::FileMapping::Status status;
    const auto mapping = heapsift::FileMapping::open(argv[1], status);
    if (mapping.bytes().empty()) {
        std::fprintf(stderr, "benchmark-sum-words: %s cannot be mapped\n", argv[1]);
        return 1;
    }
    for (const char* pass : {"first touch", "pages there"}) {
        const double began = heapsift::cpu_seconds();
        const std::uint64_t sum = sum_of_words(mapping.bytes());
        std::printf("%s\t%.6f\t%zu\t%llu\n", pass, heapsift::cpu_seconds() - began, mapping.bytes().size(),
                    static_cast<unsigned long long>(sum));
    }
    return 0;
}
