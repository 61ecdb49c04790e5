// An index whose checksums are right and whose values lie: the index of a small program, in which the fuzzer
// overwrites words, resizes columns and changes the table of blobs. The harness mends all checksums, so that
// the values themselves must be found out.
//
// The input is a list of changes of twelve bytes each: one says which blob, one what is done, two where,
// eight the value. The last blob number is the slot: its table of names, offsets and lengths.
//
// Besides "no crash": whatever of the index is used, objects are in order, and references, dominators and
// states are of objects that are there. The answers need not be right: nobody can know that from the values.

#include "analysis/work.h"
#include "parsers/base/error.h"
#include "parsers/index/index_file.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"
#include "tests/program/program_heap.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr IndexKey key{1, 2};
constexpr std::size_t change_bytes = 12, most_changes = 24;
// The layout of the file (parsers/index/index_file.cpp).
constexpr std::size_t slot_bytes = 4096, first_blob = 2 * slot_bytes, alignment = 64, most_blobs = 83;
constexpr std::size_t used_at = 40, count_at = 48, table_at = 56;
constexpr std::size_t checksum_at = table_at + most_blobs * sizeof(IndexBlob);

template <class T>
T word_at(const std::string& bytes, std::size_t at) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <class T>
void set_word(std::string& bytes, std::size_t at, const T& value) {
    if (at < bytes.size()) std::memcpy(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at));
}

std::string read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string program() {
    ProgramHeap program;
    program.add_all_kinds();
    return program.bytes();
}

/// A heap that is opened with an index, and asked for all that an index keeps.
struct Opened {
    Opened(const std::string& core, const std::string& path)
        : index(path, key),
          heap(CoreHeap::open(CoreFile::open(core, nowhere(), diagnostics), diagnostics, {}, &index)),
          work((heap.add({all_columns}), heap), {}, &index) {
        work.retained();
        work.states();
        work.every_path();
    }
    static FileSearch nowhere() {
        FileSearch search;
        search.sysroot = "/nonexistent";
        return search;
    }

    Diagnostics diagnostics;
    IndexFile index;
    CoreHeap heap;
    Work work;
};

struct GoodIndex {
    TemporaryDirectory directory;
    std::string core = directory.write("core", program());
    std::string path = directory.path() + "/core.index";
    std::string slot;
    std::vector<IndexBlob> table;
    std::vector<std::string> blobs;
    int file = -1;

    GoodIndex() {
        Opened cold(core, path);
        std::vector<PartWriter> parts = cold.heap.parts();
        cold.work.add_parts(parts);
        require(cold.index.keep(parts, ~std::uint64_t{0}).kept == IndexFile::Kept::kept);
        const std::string whole = read_file(path);
        slot = whole.substr(0, slot_bytes);
        for (std::size_t i = 0; i < word_at<std::uint64_t>(slot, count_at); ++i) {
            table.push_back(word_at<IndexBlob>(slot, table_at + i * sizeof(IndexBlob)));
            blobs.push_back(whole.substr(table.back().offset, table.back().bytes));
        }
        file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        write(written(blobs, {}));  // it is put together as it was
        require(file >= 0 && Opened(core, path).index.state() == IndexFile::State::usable);
    }
    ~GoodIndex() { ::close(file); }

    struct SlotChange {
        std::size_t at;
        std::uint64_t value;
    };
    /// The whole file, with right checksums.
    std::string written(const std::vector<std::string>& changed,
                        const std::vector<SlotChange>& of_slot) const {
        std::string all = slot + std::string(slot_bytes, '\0');
        for (std::size_t i = 0; i < changed.size(); ++i) {
            all.resize((all.size() + alignment - 1) / alignment * alignment);
            IndexBlob blob = table[i];
            blob.offset = changed[i].empty() ? first_blob : all.size();
            blob.bytes = changed[i].size();
            set_word(all, table_at + i * sizeof blob, blob);
            all += changed[i];
        }
        set_word(all, used_at, std::uint64_t{all.size()});
        for (const SlotChange& change : of_slot) set_word(all, change.at, change.value);
        for (std::size_t i = 0; i < most_blobs; ++i) {
            auto blob = word_at<IndexBlob>(all, table_at + i * sizeof(IndexBlob));
            if (blob.offset <= all.size() && blob.bytes <= all.size() - blob.offset)
                blob.checksum = XXH3_64bits(all.data() + blob.offset, blob.bytes);
            set_word(all, table_at + i * sizeof blob, blob);
        }
        set_word(all, checksum_at, std::uint64_t{XXH3_64bits(all.data(), checksum_at)});
        return all;
    }
    void write(const std::string& bytes) const {
        require(::ftruncate(file, static_cast<off_t>(bytes.size())) == 0 &&
                ::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    }
};

void change_blob(std::vector<std::string>& blobs, std::size_t number, const std::uint8_t* data) {
    std::string& blob = blobs[number];
    const auto place = static_cast<std::size_t>(data[2] | data[3] << 8);
    std::uint64_t value = 0;
    std::memcpy(&value, data + 4, 8);
    const std::size_t words = blob.size() / 4;
    const std::size_t at = words == 0 ? 0 : place % words * 4;
    const auto there = [&] { return at + 4 <= blob.size() ? word_at<std::uint32_t>(blob, at) : 0; };
    switch (data[1] % 8) {
        case 0:
            return set_word(blob, at / 8 * 8, value);
        case 1:
            return set_word(blob, at, static_cast<std::uint32_t>(value));
        case 2:
            return set_word(blob, blob.empty() ? 0 : place % blob.size(), static_cast<std::uint8_t>(value));
        case 3:
            return set_word(blob, at, static_cast<std::uint32_t>(value & 0xff));
        case 4:
            return set_word(blob, at, there() + static_cast<std::uint32_t>(value & 0xff) - 128);
        case 5:
            return blob.resize(value % (blob.size() * 2 + 16));
        case 6:
            if (words > 0) set_word(blob, at, word_at<std::uint32_t>(blob, value % words * 4));
            return;
        default:
            return std::swap(blob, blobs[value % blobs.size()]);
    }
}

void ask(Opened& opened) {
    const HeapSnapshot& heap = opened.heap.snapshot();
    const HeapGraph& graph = opened.work.graph();
    const RetainedLookup retained(graph, opened.work.retained());
    const ObjectStates& states = opened.work.states();
    const ReferenceGraph& references = *heap.references;
    const std::size_t count = heap.object_count();
    require(references.object_count() == count && heap.sizes->count() == count);
    std::uint64_t sum = 0;
    for (ObjectId id{0}; id < count; ++id) {
        require(id == 0 || heap.address_of(ObjectId(id - 1U)) < heap.address_of(id));
        for (const ObjectId target : references.targets(id)) require(target < count);
        for (const ObjectId source : references.sources_of(id)) require(source < count);
        for (const ObjectId source : references.unowned_sources_of(id)) require(source < count);
        require(heap.find(heap.address_of(id)) == no_object || heap.find(heap.address_of(id)) < count);
        sum += (*heap.sizes)[id].size + references.found(id) + retained.memory(id);
        require(graph.node_count() > static_cast<std::size_t>(graph.reach(id)));
        sum += static_cast<std::uint64_t>(states.of(id)) + (states.in_garbage_list(id) ? 1 : 0);
        sum += opened.heap.value(id).text.size() + opened.heap.facts(id).size;
        opened.heap.visit_references(id, [&](const Reference& r) { sum += r.name().size(); });
        if (id % 7 == 0)
            opened.heap.visit_referrers(id, [&](ObjectId, const Reference& r) { sum += r.name().size(); });
        if (const auto path = opened.work.every_path().path(graph, id))
            for (const ObjectId on_path : *path) require(on_path < count);
        const auto dominator = retained.dominator(id);
        sum += static_cast<std::uint64_t>(graph.kind(dominator));
    }
    opened.heap.visit_native_references([&](const Reference& r) { sum += r.name().size(); });
    for (std::uint32_t node = 0; node < graph.node_count(); ++node)
        for (const NodeId target : graph.targets(NodeId(node))) require(target < graph.node_count());
    (void)graph.sources();
    for (const auto& row : heap.memory->rows) sum += row.bytes;
    for (std::uint64_t way = 0; way < 64; ++way)
        (void)opened.heap.locate(Address(heap.address_of(ObjectId(way % count)).value + way * 24));
    [[maybe_unused]] static volatile std::uint64_t kept = 0;
    kept = sum;
}

}  // namespace

std::vector<std::string> heapsift::test::fuzz_seeds() {
    std::vector<std::string> seeds;
    for (unsigned number = 0; number < 40; ++number) {
        std::string changes;
        for (unsigned i = 0; i < 3; ++i) {
            std::array<char, change_bytes> change{};
            change[0] = static_cast<char>(number);
            change[1] = static_cast<char>(number + i * 3);
            change[2] = static_cast<char>(i * 5 + number * 3);
            change[4] = static_cast<char>(number * 37 + i);
            changes.append(change.data(), change.size());
        }
        seeds.push_back(changes);
    }
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const GoodIndex good;
    std::vector<std::string> blobs = good.blobs;
    std::vector<GoodIndex::SlotChange> of_slot;
    std::size_t changes = 0;
    for (; size >= change_bytes && changes < most_changes; data += change_bytes, size -= change_bytes) {
        const std::size_t number = data[0] % (blobs.size() + 1);
        ++changes;
        if (number < blobs.size()) {
            change_blob(blobs, number, data);
            continue;
        }
        // Not the mark and the key: then nothing is read.
        const std::size_t words = (checksum_at - 32) / 8;
        GoodIndex::SlotChange change{32 + static_cast<std::size_t>(data[2] | data[3] << 8) % words * 8, 0};
        std::memcpy(&change.value, data + 4, 8);
        if (data[1] % 2 == 1) change.value &= 0xfff;
        of_slot.push_back(change);
    }
    good.write(good.written(blobs, of_slot));
    try {
        Opened opened(good.core, good.path);
        ask(opened);
        // Another heap is found beside the damaged parts: it must be possible to keep that, too.
        if (changes % 4 == 3) (void)opened.heap.parts();
    } catch (const Error& error) {
        require(error.exit() == ExitCode::cannot_analyse);
    }
    return 0;
}
