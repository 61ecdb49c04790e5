// tracemalloc's tables, written down as each version has them: they are found by what is in them, and what is damaged
// is left out and counted.

#include "parsers/cpython/tracemalloc.h"

#include "parsers/cpython/hash_table.h"
#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"

#include <bit>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint32_t numpy_domain = 389047;

/// A small process that traces.
class TracingProcess {
public:
    explicit TracingProcess(const Layout& layout)
        : heap(layout), hash_form(hash_table_form(layout.version)), form(tracemalloc_form(layout.version)) {
        variables = heap.allocate_static(512);
        place = variables + 256;
    }

    /// Keys are of pointer_t until 3.8 if a table has domains.
    Address table(std::uint64_t buckets, std::uint64_t key_size = 8) {
        const Address at = heap.allocate(*hash_form.size);
        heap.put(at + *hash_form.bucket_count, buckets);
        heap.put(at + *hash_form.buckets, heap.allocate(buckets * 8));
        for (const LayoutOffset& function :
             {hash_form.get_entry_func, hash_form.hash_func, hash_form.compare_func, hash_form.malloc_func,
              hash_form.free_func})
            heap.set(at, function, heap.code_address());
        heap.set(at, hash_form.key_size, key_size);
        heap.set(at, hash_form.data_size, std::uint64_t{16});
        return at;
    }

    /// Puts an entry with `hash` at the head of its list, and counts it.
    Address entry(Address table, std::uint64_t hash, std::uint64_t bytes) {
        const Address at = heap.allocate(bytes);
        const std::uint64_t mask = word(table + *hash_form.bucket_count) - 1;
        const Address head = Address(word(table + *hash_form.buckets)) + 8 * (hash & mask);
        heap.put(at + hash_form.next, word(head));
        heap.put(at + hash_form.key_hash, hash);
        heap.put(head, at);
        heap.put(table + *hash_form.entry_count, word(table + *hash_form.entry_count) + 1);
        return at;
    }

    /// A block; its entry.
    Address trace(Address table, Address block, std::uint64_t size, Address traceback,
                  std::uint32_t domain = 0) {
        const std::uint64_t hash = std::rotr(block.value, 4);
        if (hash_form.value.present()) {
            const Address at = entry(table, hash, *hash_form.entry_size);
            const Address record = heap.allocate(form.trace_bytes);
            heap.put(record + form.trace_size, size);
            heap.put(record + form.trace_traceback, traceback);
            heap.put(at + hash_form.key, block);
            heap.put(at + *hash_form.value, record);
            return at;
        }
        const std::uint64_t key_size = word(table + *hash_form.key_size);
        const Address at = entry(table, hash ^ domain, 16 + key_size + 16);
        heap.put(at + hash_form.key, block);
        if (key_size == 12) heap.put(at + hash_form.key + form.domain_in_key, domain);
        heap.put(at + hash_form.key + key_size + form.trace_size, size);
        heap.put(at + hash_form.key + key_size + form.trace_traceback, traceback);
        return at;
    }

    /// The most recent call first.
    Address traceback(const std::vector<std::pair<std::string, std::uint32_t>>& calls) {
        const Address at = heap.allocate(form.frames + calls.size() * form.frame_bytes);
        heap.put(at + form.nframe, static_cast<std::uint16_t>(calls.size()));
        if (form.total_nframe.present())
            heap.put(at + *form.total_nframe, static_cast<std::uint16_t>(calls.size() + 1));
        Address frame = at + form.frames;
        for (const auto& [file, line] : calls) {
            heap.put(frame + form.frame_filename,
                     form.filename_is_c_string ? heap.c_string(file) : heap.str(file));
            heap.put(frame + form.frame_lineno, line);
            frame = frame + form.frame_bytes;
        }
        return at;
    }

    /// The variable that leads to the table of traces, the config and the counter.
    TracemallocVariables begin(Address traces, std::uint64_t bytes) {
        heap.put(place, traces);
        const Address state = form.state_traces.present() ? place - *form.state_traces : variables;
        heap.put(state + form.config_initialized, std::int32_t{1});
        heap.put(state + form.config_tracing, std::int32_t{1});
        heap.put(state + form.config_max_nframe, std::int32_t{7});
        const Address counter =
            form.state_traces.present() ? state + *form.state_traced_memory : variables + 128;
        heap.put(counter, bytes);
        if (form.state_traces.present()) return {};
        return {.config = state, .traced_memory = {}};
    }

    TracedMemory read(const TracemallocVariables& known = {}) {
        const AddressRange range{variables, variables + 512};
        return traced_memory(heap.heap(), {&range, 1}, known);
    }

    std::uint64_t word(Address at) { return heap.heap().integer<std::uint64_t>(at); }

    PythonHeapBuilder heap;
    HashTableForm hash_form;
    TracemallocForm form;
    Address variables, place;
};

struct ThreeBlocks {
    explicit ThreeBlocks(const Layout& layout) : process(layout), traces(process.table(16)) {
        near = process.traceback({{"app.py", 12}, {"run.py", 3}});
        far = process.traceback({{"app.py", 99}});
        first = process.trace(traces, Address(0x10000), 100, near);
        second = process.trace(traces, Address(0x20000), 200, near);
        third = process.trace(traces, Address(0x10010), 400, far);
        known = process.begin(traces, 700);
    }
    TracingProcess process;
    Address traces, near, far, first, second, third;
    TracemallocVariables known;
};

std::uint64_t bytes_of(const TracedMemory& traced, std::uint32_t domain) {
    std::uint64_t bytes = 0;
    for (const TracedBlock& block : traced.blocks)
        if (block.domain == domain) bytes += block.size;
    return bytes;
}

}  // namespace

TEST_CASE("tracemalloc: blocks, their sizes and their calls are read in each version",
          "[cpython][tracemalloc]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    ThreeBlocks made(*layout);
    const TracedMemory traced = made.process.read(made.known);
    CHECK(traced.tracing);
    CHECK(traced.most_frames == 7);
    CHECK(traced.bytes == 700);
    CHECK(traced.counted_bytes == 700);
    CHECK(traced.unread == 0);
    REQUIRE(traced.blocks.size() == 3);
    CHECK(traced.files.size() == 2);
    for (const TracedBlock& block : traced.blocks) {
        const auto calls = traced.traceback(block.traceback);
        CHECK(traced.files[calls[0].file] == "app.py");
        CHECK(calls[0].line == (block.size == 400 ? 99 : 12));
        CHECK(calls.size() == (block.size == 400 ? 1 : 2));
        if (calls.size() == 2) CHECK(traced.files[calls[1].file] == "run.py");
        CHECK(block.domain == 0);
    }
    CHECK(traced.traceback_count() == 2);
}

TEST_CASE("tracemalloc: one block is looked up by where it begins", "[cpython][tracemalloc]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    ThreeBlocks made(*layout);
    const AddressRange range{made.process.variables, made.process.variables + 512};
    const TracedMemory one = traced_block(made.process.heap.heap(), {&range, 1}, Address(0x20000));
    REQUIRE(one.blocks.size() == 1);
    CHECK(one.blocks[0].size == 200);
    CHECK(one.traceback(one.blocks[0].traceback)[0].line == 12);
    CHECK(traced_block(made.process.heap.heap(), {&range, 1}, Address(0x20008)).blocks.empty());
    CHECK(traced_block(made.process.heap.heap(), {}, Address(0x20000)).blocks.empty());
}

TEST_CASE("tracemalloc: blocks of another domain are told apart", "[cpython][tracemalloc]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    TracingProcess process(*layout);
    const Address traceback = process.traceback({{"app.py", 1}});
    if (process.hash_form.value.present()) {
        const Address traces = process.table(16), others = process.table(16), domains = process.table(16);
        process.trace(traces, Address(0x10000), 10, traceback);
        process.trace(others, Address(0x10000), 5, traceback);
        const Address entry = process.entry(domains, numpy_domain, *process.hash_form.entry_size);
        process.heap.put(entry + process.hash_form.key, std::uint64_t{numpy_domain});
        process.heap.put(entry + *process.hash_form.value, others);
        process.begin(traces, 15);
        process.heap.put(process.place + 8, domains);
    } else {
        const Address traces = process.table(16, 12);
        process.trace(traces, Address(0x10000), 10, traceback);
        process.trace(traces, Address(0x10000), 5, traceback, numpy_domain);
        process.begin(traces, 15);
    }
    const TracedMemory traced = process.read();
    CHECK(traced.blocks.size() == 2);
    CHECK(bytes_of(traced, 0) == 10);
    CHECK(bytes_of(traced, numpy_domain) == 5);
    CHECK(traced.counted_bytes == 15);
}

TEST_CASE("tracemalloc: without a table there was no tracing, and 2.7 has none", "[cpython][tracemalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    TracingProcess process(*layout);
    process.heap.put(process.place, process.table(16));  // empty, as after stop()
    const TracedMemory traced = process.read();
    CHECK_FALSE(traced.tracing);
    CHECK(traced.blocks.empty());
    CHECK(traced.available == !is_python_2(layout->version));
}

TEST_CASE("tracemalloc: a config that traces is believed without tables", "[cpython][tracemalloc]") {
    TracingProcess process(*builtin_layout({3, 11, false, false}));
    const TracemallocVariables known = process.begin(Address(), 0);
    CHECK(process.read(known).tracing);
    CHECK(process.read(known).blocks.empty());
    process.heap.put(process.variables + process.form.config_max_nframe, std::int32_t{-5});
    CHECK_FALSE(process.read(known).tracing);
}

TEST_CASE("tracemalloc: damaged entries are left out and counted", "[cpython][tracemalloc]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    ThreeBlocks made(*layout);
    PythonHeapBuilder& heap = made.process.heap;
    SECTION("a list that closes on itself") {
        heap.put(made.second + made.process.hash_form.next, made.second);
        const TracedMemory traced = made.process.read(made.known);
        CHECK(traced.blocks.size() + traced.unread == 3);
        CHECK(traced.unread >= 1);
    }
    SECTION("a list that leads to another list's entry") {
        heap.put(made.third + made.process.hash_form.next, made.first);
        const TracedMemory traced = made.process.read(made.known);
        CHECK(traced.blocks.size() + traced.unread == 3);
    }
    SECTION("a list that leads nowhere") {
        heap.put(made.first + made.process.hash_form.next, Address(0x123456789a8));
        CHECK(made.process.read(made.known).blocks.size() >= 2);
    }
    SECTION("a hash that is not the key's") {
        heap.put(made.third + made.process.hash_form.key_hash, std::uint64_t{0x1234567});
        const TracedMemory traced = made.process.read(made.known);
        CHECK(traced.blocks.size() == 2);
        CHECK(traced.unread == 1);
        CHECK(traced.bytes != traced.counted_bytes.value_or(0));
    }
    SECTION("a traceback of more frames than there is memory") {
        heap.put(made.far + made.process.form.nframe, std::uint16_t{0xffff});
        if (made.process.form.total_nframe.present())
            heap.put(made.far + *made.process.form.total_nframe, std::uint16_t{0xffff});
        CHECK(made.process.read(made.known).blocks.size() == 2);
    }
    SECTION("a frame whose file is no name") {
        heap.put(made.far + made.process.form.frames, Address(0x10));
        const TracedMemory traced = made.process.read(made.known);
        CHECK(traced.blocks.size() == 2);
        CHECK(traced.traceback_count() == 1);
        CHECK(traced.frames.size() == 2);
    }
    SECTION("more entries are promised than there are") {
        heap.put(made.traces + *made.process.hash_form.entry_count, std::uint64_t{14});
        const TracedMemory traced = made.process.read(made.known);
        CHECK(traced.blocks.size() == 3);
        CHECK(traced.unread == 11);
    }
}

TEST_CASE("hash table: a header with absurd numbers is none", "[cpython][tracemalloc]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    ThreeBlocks made(*layout);
    const HashTableForm& form = made.process.hash_form;
    PythonHeapBuilder& heap = made.process.heap;
    const auto table = [&] { return read_hash_table(heap.memory(), form, made.traces); };
    REQUIRE(table());
    CHECK(table()->entry_count == 3);
    SECTION("more entries than memory has room for") {
        heap.put(made.traces + *form.entry_count, ~std::uint64_t{0});
    }
    SECTION("buckets that are no power of two") {
        heap.put(made.traces + *form.bucket_count, std::uint64_t{17});
    }
    SECTION("more buckets than are mapped") {
        heap.put(made.traces + *form.bucket_count, std::uint64_t{1} << 30);
    }
    SECTION("buckets nowhere") { heap.put(made.traces + *form.buckets, Address(0x7)); }
    SECTION("a function that is data") { heap.set(made.traces, form.hash_func, made.traces); }
    CHECK_FALSE(table());
    CHECK_FALSE(made.process.read().tracing);
}

TEST_CASE("tracemalloc: since 3.12 the state says that it traces, whatever became of the tables",
          "[cpython][tracemalloc]") {
    TracingProcess process(*builtin_layout({3, 13, false, false}));
    process.begin(Address(), 0);
    const Address state = process.place - *process.form.state_traces;
    for (std::uint64_t i = 0; i < 3; ++i)
        for (std::uint64_t function = 1; function <= 4; ++function)
            process.heap.put(state + *process.form.state_allocators + i * 40 + function * 8,
                             process.heap.code_address());
    const TracedMemory traced = process.read();
    CHECK(traced.tracing);
    CHECK(traced.most_frames == 7);
    CHECK(traced.blocks.empty());
}
