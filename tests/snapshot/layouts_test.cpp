// A layout that is wrong in one place, however it came to be believed, gives an answer or an error, never a
// crash. Tested with each field of the layout moved in turn, and with other values in the core's own debug
// offsets.

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include "parsers/base/error.h"
#include "parsers/cpython/layout_check.h"
#include "parsers/cpython/type_finder.h"
#include "parsers/reading/core_heap.h"
#include "parsers/snapshot/builder.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/object_kinds.h"
#include "parsers/snapshot/reference_graph.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// The core's objects if its interpreter has this layout, each with its size and references counted.
struct Counted {
    std::size_t objects = 0, references = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Counted&) const = default;
};

struct ReferenceCounter : ReferenceVisitor {
    void visit(Address, ReferenceKind, const ReferenceName&) override { ++count; }
    std::size_t count = 0;
};

Counted count(const CoreFile& core, const PythonRuntime& python) {
    Diagnostics diagnostics;
    const AddressSpace& memory = core.memory();
    const TypeTable none;
    Pymalloc pymalloc = Pymalloc::find(PythonHeap(memory, python, none), diagnostics);
    const TypeTable types = find_types(memory, python, all_object_kinds(), core.modules(), pymalloc.ranges());
    const PythonHeap heap(memory, python, types);
    const Allocations allocations(core, std::move(pymalloc), MallocHeaps::find(memory));
    const ObjectAccess access(heap, allocations);
    const FoundObjects found = find_objects(core, access, diagnostics, {});
    ReferenceCounter references;
    Counted counted{found.addresses.size(), 0, 0};
    for (std::size_t i = 0; i < found.addresses.size(); ++i) {
        const TypeInfo& type = types[found.types[i]];
        access.visit_references(found.addresses[i], type, references);
        counted.bytes += access.requested(ObjectReader(heap, found.addresses[i], type));
        (void)heap.unicode_text(found.addresses[i]);
    }
    counted.references = references.count;
    return counted;
}

}  // namespace

TEST_CASE("layouts: each field absent in turn, what is read is the same", "[snapshot][layout]") {
    SmallCore small;
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics);
    PythonRuntime python = find_python_runtime(core, diagnostics);
    const Layout table = *builtin_layout({3, 13, false, false}), proved = python.layout;
    const Counted whole = count(core, python);
    REQUIRE(whole.objects > 10);
    REQUIRE(whole.references > 10);
    for (const LayoutFieldName& field : layout_field_names()) {
        if (field.is_struct_size() || !field.versions.require(table.version)) continue;
        INFO(field.struct_name << "." << field.field_name);
        Layout read = proved;
        if (field.bits)
            layout_bits(read, field) = {};
        else
            layout_offset(read, field) = {};
        python.layout = completed_layout(proved, read).layout;
        REQUIRE(count(core, python) == whole);
    }
}

TEST_CASE("layouts: each field moved in turn, no read leaves the core", "[snapshot][layout]") {
    SmallCore small;
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics);
    PythonRuntime python = find_python_runtime(core, diagnostics);
    const Layout proved = python.layout;
    const Counted whole = count(core, python);
    std::size_t without_effect = 0, moved = 0;
    for (const LayoutFieldName& field : layout_field_names()) {
        if (!layout_place(proved, field).present()) continue;
        for (const std::uint32_t by : {8U, 64U, 1U << 20}) {
            INFO(field.struct_name << "." << field.field_name << " moved by " << by);
            python.layout = proved;
            LayoutOffset& place =
                field.bits ? layout_bits(python.layout, field).byte : layout_offset(python.layout, field);
            place = *place + by;
            const Counted counted = count(core, python);
            CHECK(counted.objects <= 10 * whole.objects);
            without_effect += counted == whole ? 1 : 0;
            ++moved;
        }
    }
    CHECK(moved > 1500);
    CHECK(without_effect < moved);  // the layout that was moved is the one that was read
}

TEST_CASE("layouts: each of the core's own debug offsets overwritten in turn", "[snapshot][layout]") {
    const std::uint64_t value =
        GENERATE(std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{4096}, std::uint64_t{1} << 23,
                 std::uint64_t{1} << 24, std::uint64_t{0xffffffff}, ~std::uint64_t{0});
    SmallCore whole_core;
    TemporaryDirectory directory;
    std::size_t answers = 0, errors = 0;
    for (std::uint64_t at = 24; at < 480; at += 8) {
        INFO("word at " << at << " is " << value);
        SmallCore small;
        small.heap.put(small.runtime + at, value);
        Diagnostics diagnostics;
        try {
            const CoreHeap heap =
                CoreHeap::open(CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics),
                               all_columns, diagnostics);
            CHECK(heap.snapshot().references->dangling() <= heap.snapshot().object_count());
            ++answers;
        } catch (const Error&) {
            ++errors;
        }
    }
    CHECK(answers > 30);  // most of the words are of no matter
    CHECK(answers + errors == (480 - 24) / 8);
}
