// The whole way from bytes to answers, on a small good core in which the fuzzer overwrites words and cuts off
// the end.
//
// Random bytes would never get past the search for the interpreter, so the input is a list of changes of ten
// bytes each: two say which word (of those that are not zero in the good core), one how its new value is
// made, seven the value. A value is a number, a small one, a power of two, an address of the core's memory,
// or another word of the core.
//
// Besides "no crash": objects are in address order, no object's memory is larger than what was mapped,
// references come to an end, and the rows of memory add up.

#include "parsers/base/error.h"
#include "parsers/reading/core_heap.h"
#include "parsers/snapshot/reference_graph.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/snapshot/small_core.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::size_t change_bytes = 10;
constexpr std::size_t most_changes = 64;

struct GoodCore {
    SmallCore core;
    std::string bytes = core.bytes();
    std::vector<std::size_t> words;  // offsets of those that are not zero, from the program headers on
    std::vector<std::uint64_t> starts;
    MemoryFile file;

    GoodCore() {
        for (std::size_t at = 64; at + 8 <= bytes.size(); at += 8)
            if (word(at) != 0) words.push_back(at);
        for (const Region& region : core.heap.regions()) starts.push_back(region.start.value);
        file.write(bytes.data(), bytes.size());
    }
    std::uint64_t word(std::size_t at) const {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + at, 8);
        return value;
    }
};

struct Change {
    std::size_t at;
    std::uint64_t value;
};

Change read_change(const GoodCore& good, const std::uint8_t* data) {
    const auto which = static_cast<std::size_t>(data[0] | data[1] << 8);
    std::uint64_t number = 0;
    std::memcpy(&number, data + 3, 7);
    const std::size_t at = good.words[which % good.words.size()];
    switch (data[2] % 7) {
        case 0:
            return {at, number << 8 | data[2]};
        case 1:
            return {at, number & 0xff};
        case 2:
            return {at, std::uint64_t{1} << (number & 63)};
        case 3:
            return {at, good.starts[number % good.starts.size()] + (number >> 8 & 0xffff)};
        case 4:
            return {at, good.word(good.words[number % good.words.size()])};
        case 5:
            return {at, good.word(at) + (number & 0xff) - 128};
        default:
            return {at, 0 - (number & 0xffff)};
    }
}

/// Every reference of the graph leads to an object, and is counted among those found to it. References from
/// elsewhere are found by their words, and are no more than the object counts.
void ask_graph(const HeapReader& heap) {
    const ReferenceGraph& graph = *heap.snapshot().references;
    require(graph.object_count() == heap.snapshot().object_count());
    std::vector<std::uint64_t> found(heap.snapshot().object_count());
    for (ObjectId id{0}; id < graph.object_count(); ++id)
        for (const ObjectId target : graph.targets(id)) {
            require(target < found.size());
            ++found[target];
        }
    Address last;
    std::vector<std::uint64_t> native(heap.snapshot().object_count());
    for (const NativeReference& reference : graph.natives()) {
        require(reference.target < found.size() && last < reference.word);
        last = reference.word;
        ++native[reference.target];
    }
    std::size_t named = 0;
    heap.visit_native_references([&](const Reference& r) { named += !r.name().empty(); });
    require(named == graph.natives().size());
    for (ObjectId id{0}; id < graph.object_count(); ++id) {
        require(graph.found(id) == found[id] + native[id]);
        if (native[id] == 0) continue;
        const std::int64_t count = heap.facts(id).refcount;
        require(count > 0 && found[id] + native[id] <= static_cast<std::uint64_t>(count));
    }
    std::uint64_t natives = 0;
    heap.visit_native_references([&](const Reference& r) { natives += r.name().empty() ? 0 : 1; });
    require(natives == graph.natives().size());
    for (ObjectId id{0}; id < heap.snapshot().object_count(); id = ObjectId(id + 7U))
        heap.visit_referrers(id, [](ObjectId, const Reference&) {});
    require(heap.snapshot().object_count() == 0 ||
            heap.snapshot().find(heap.snapshot().address_of(ObjectId(0))) == 0);
}

void ask(const HeapReader& heap) {
    const std::uint64_t mapped = heap.core().extent().mapped_bytes;
    std::uint64_t references = 0;
    for (ObjectId id{0}; id < heap.snapshot().object_count(); ++id) {
        require(id == 0 || heap.snapshot().address_of(ObjectId(id - 1U)) < heap.snapshot().address_of(id));
        const ObjectFacts facts = heap.facts(id);
        require(facts.memory <= mapped && facts.size <= mapped && facts.array_data <= facts.memory);
        (void)heap.value(id);
        heap.visit_references(id, [&](const Reference& r) { references += r.name().empty() ? 0 : 1; });
    }
    require(references < 10'000'000);
    std::uint64_t sum = 0;
    for (const auto& row : heap.snapshot().memory->rows) sum += row.bytes;
    require(sum == mapped);
    (void)heap.locate(Address(0x7f0000000123));
    ask_graph(heap);
}

}  // namespace

std::vector<std::string> heapsift::test::fuzz_seeds() {
    std::vector<std::string> seeds;
    for (unsigned way = 0; way < 7; ++way) {
        std::string changes;
        for (unsigned i = 0; i < 8; ++i) {
            const auto which = static_cast<char>(way * 29 + i * 7);
            changes += {which,
                        static_cast<char>(i),
                        static_cast<char>(way),
                        static_cast<char>(i * 5),
                        static_cast<char>(i),
                        0,
                        0,
                        0,
                        0,
                        0};
        }
        seeds.push_back(changes);
    }
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static GoodCore good;
    std::vector<Change> changes;
    for (; size >= change_bytes && changes.size() < most_changes; data += change_bytes, size -= change_bytes)
        changes.push_back(read_change(good, data));
    for (const Change& change : changes) good.file.write_at(change.at, &change.value, 8);
    // What is left over cuts the core: two bytes, in 65,536ths.
    if (size >= 2)
        good.file.resize(good.bytes.size() * static_cast<std::uint64_t>(data[0] | data[1] << 8) / 65536);
    Diagnostics diagnostics;
    FileSearch search;
    search.sysroot = "/nonexistent";
    try {
        ask(CoreHeap::open(CoreFile::open(good.file.path(), search, diagnostics), all_columns, diagnostics));
    } catch (const Error& error) {
        require(error.exit() == ExitCode::cannot_analyse);
    }
    if (size >= 2) good.file.write(good.bytes.data(), good.bytes.size());
    for (const Change& change : changes) good.file.write_at(change.at, good.bytes.data() + change.at, 8);
    return 0;
}
