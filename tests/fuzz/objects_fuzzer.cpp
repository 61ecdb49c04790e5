// Every kind of object, in every layout, with arbitrary bodies.
//
// The types are good (made as in tests/cpython, and found by the real finder); the bodies are the fuzzer's.
// An input is the layout, the type (two bytes), then words. A word is a byte that says how it is made, and
// what that takes: a number, a small number, a power of two, a pointer into the bodies themselves, to a good
// object, or to a type. So it easily makes chains of bodies that refer to each other, and lengths that are
// huge, negative, or one too many.
//
// It asks everything that heapsift asks of an object; answers must come, and be no longer than the memory
// that is there. A type has the size of its kind's struct in the layout; with any other size it would be read
// by guess.

#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/object_kinds.h"
#include "tests/cpython/heap_questions.h"
#include "tests/elf/core_writer.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"

#include <algorithm>
#include <array>
#include <memory>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t body_bytes = 8192;
constexpr std::uint64_t object_at = 64;
constexpr std::uint64_t most_references = 200'000;

struct FuzzedHeap {
    PythonHeapBuilder heap;
    Address bodies;
    std::vector<Address> types;
    std::vector<Address> good;

    explicit FuzzedHeap(const Layout& layout) : heap(layout) {
        const auto all = all_object_kinds();
        heap.kinds.assign(all.begin(), all.end());
        for (const ObjectKind* kind : all)
            for (const char* name : kind->type_names) types.push_back(type_called(name, *kind));
        types.push_back(heap.python_class("Point", {.attributes = {"x", "y"}}));
        types.push_back(struct_sequence());
        types.push_back(heap.python_class("Module", {.base = heap.builtin("module")}));
        const bool has_ordered = layout.ordered_dict.size.present();  // in 2.7 it is written in Python
        types.push_back(heap.python_class(
            "Cache",
            {.base = heap.builtin(has_ordered ? "collections.OrderedDict" : "collections.defaultdict")}));
        types.push_back(
            heap.c_type("fuzz.unknown", {.basicsize = 200, .flags = heapsift::test::have_gc_flag}));
        types.push_back(heap.c_type("fuzz.unknown_items",
                                    {.basicsize = 24, .itemsize = 8, .flags = heapsift::test::have_gc_flag}));
        good = {heap.none(), heap.integer(7), heap.str("name"), heap.bytes("bytes"), heap.real(1.5)};
        good.push_back(heap.tuple({good[1], good[2]}));
        good.push_back(heap.list({good[1], good[5]}, 4));
        good.push_back(heap.dict({{good[2], good[6]}}));
        if (layout.dict_keys.size.present()) good.push_back(heap.keys({{good[2], good[1]}}));
        good.push_back(heap.set({good[2]}));
        bodies = heap.map(Address(0x7e0000000000), body_bytes);
        (void)heap.heap();
    }
    Address type_called(const std::string& name, const ObjectKind& kind) {
        try {
            return heap.builtin(name);
        } catch (const std::exception&) {
            const LayoutOffset size = kind.struct_size ? kind.struct_size(heap.layout()) : LayoutOffset();
            return heap.c_type(name, {.basicsize = size.or_else(80),
                                      .flags = heapsift::test::have_gc_flag,
                                      .own_sizeof = kind.size != nullptr});
        }
    }
    /// A struct sequence made by C, with more fields than its length says.
    Address struct_sequence() {
        const Address type = heap.c_type(
            "fuzz.stat", {.base = heap.builtin("tuple"),
                          .basicsize = 24,
                          .itemsize = 8,
                          .flags = heapsift::test::have_gc_flag | heapsift::test::tuple_subclass_flag});
        heap.set(type, heap.layout().type.tp_dict, heap.dict({{heap.str("n_fields"), heap.integer(900)}}));
        return type;
    }
};

const std::vector<std::unique_ptr<FuzzedHeap>>& heaps() {
    static const auto made = [] {
        std::vector<std::unique_ptr<FuzzedHeap>> all;
        for (const Layout* layout : layouts_of_3()) all.push_back(std::make_unique<FuzzedHeap>(*layout));
        return all;
    }();
    return made;
}

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    bool empty() const { return size_ == 0; }
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        const std::size_t there = std::min(bytes, size_);
        std::memcpy(&value, data_, there);
        data_ += there;
        size_ -= there;
        return value;
    }

private:
    const std::uint8_t* data_;
    std::size_t size_;
};

std::uint64_t read_word(Input& input, const FuzzedHeap& heap) {
    switch (input.number(1) % 8) {
        case 0:
            return input.number(8);
        case 1:
            return input.number(1);
        case 2:
            return std::uint64_t{1} << (input.number(1) & 63);
        case 3:
            return heap.bodies.value + input.number(1) * 8;
        case 4:
            return heap.good[input.number(1) % heap.good.size()].value;
        case 5:
            return heap.types[input.number(2) % heap.types.size()].value;
        case 6:
            return 0 - input.number(1);
        default:
            return heap.bodies.value + (input.number(2) % body_bytes);
    }
}

/// The allocations of a core with one page and no allocator: no block proves anything.
const Allocations& no_allocations() {
    static const CoreFile core = [] {
        MemoryFile file;
        const std::string bytes = CoreWriter()
                                      .thread(100, 0)
                                      .process(100, "python3", "python3")
                                      .load(0x10000, std::string(4096, 'a'))
                                      .bytes();
        file.write(bytes.data(), bytes.size());
        Diagnostics diagnostics;
        return CoreFile::open(file.path(), {}, diagnostics);
    }();
    static const Allocations none(core, Pymalloc(), MallocHeaps());
    return none;
}

struct CountReferences : ReferenceVisitor {
    void visit(Address target, ReferenceKind, const ReferenceName&) override {
        require(!target.is_null());
        ++count;
    }
    std::uint64_t count = 0;
};

void ask(FuzzedHeap& fuzzed, Address object) {
    if (fuzzed.heap.type_id(fuzzed.heap.heap().type_address(object)) == no_type) return;
    const ObjectReader reader = fuzzed.heap.reader(object);
    const ObjectKind* kind = reader.type().kind;
    CountReferences references;
    const ObjectAccess access(fuzzed.heap.heap(), no_allocations());
    access.visit_references(object, reader.type(), references);
    require(references.count < most_references);
    (void)access.references_exact(object, reader.type());
    (void)access.gc_tracked(object, reader.type());
    (void)access.requested(object, reader.type());
    (void)access.size(object, reader.type());
    (void)buffers(fuzzed.heap, object);
    (void)size_of(fuzzed.heap, object);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{60}, std::size_t{100'000}})
        require(text_of(fuzzed.heap, object, limit).size() <= 16 * body_bytes + 16 * limit);
    (void)plausible(fuzzed.heap, object);
    if (kind && kind->body_size) (void)kind->body_size(reader);
    (void)inline_values_size(reader);
}

}  // namespace

std::vector<std::string> heapsift::test::fuzz_seeds() {
    // Every kind can be reached by some input: each is that of some type in some version. (Those of 2.7 alone are not asked:
    // its layout lacks the structs of kinds that it does not have.)
    FuzzedHeap of_2(*all_layouts().front());
    const auto has = [](FuzzedHeap& fuzzed, const ObjectKind* kind) {
        return std::any_of(fuzzed.types.begin(), fuzzed.types.end(),
                           [&](Address type) { return fuzzed.heap.type(type).kind == kind; });
    };
    for (const ObjectKind* kind : all_object_kinds())
        require(has(of_2, kind) || std::any_of(heaps().begin(), heaps().end(),
                                               [&](const auto& fuzzed) { return has(*fuzzed, kind); }));
    std::vector<std::string> seeds;
    const std::size_t types = heaps().front()->types.size();
    for (std::size_t layout = 0; layout < heaps().size(); ++layout)
        for (std::size_t type = layout; type < types; type += heaps().size()) {
            std::string words;
            for (int i = 0; i < 24; ++i)
                words += {static_cast<char>(1 + (i + static_cast<int>(type)) % 5), static_cast<char>(i * 3)};
            seeds.push_back(std::string{static_cast<char>(layout), static_cast<char>(type),
                                        static_cast<char>(type >> 8)} +
                            words);
        }
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    FuzzedHeap& fuzzed = *heaps()[input.number(1) % heaps().size()];
    const Address type = fuzzed.types[input.number(2) % fuzzed.types.size()];
    std::array<std::uint64_t, body_bytes / 8> words{};
    for (std::size_t i = 0; i < words.size() && !input.empty(); ++i) words[i] = read_word(input, fuzzed);
    words[object_at / 8] = 1;
    words[object_at / 8 + 1] = type.value;
    fuzzed.heap.put(fuzzed.bodies, words);
    ask(fuzzed, fuzzed.bodies + object_at);
    ask(fuzzed, fuzzed.bodies);  // whatever type the first words name
    ask(fuzzed, fuzzed.bodies + (body_bytes - 16));
    return 0;
}
