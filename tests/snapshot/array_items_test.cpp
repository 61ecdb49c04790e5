#include "parsers/snapshot/array_items.h"

#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr Address table(0x900000);  // read-only data of a file that is not here
constexpr std::uint64_t row_bytes = 48;

/// The rows of 3.13: b B u w h H i I l L q Q f d.
enum Row : std::uint64_t { row_of_bytes = 1, row_of_shorts = 4, row_of_doubles = 13 };

Address add_array(SmallCore& core, Row row, std::uint64_t allocated, std::uint64_t bytes) {
    PythonHeapBuilder& heap = core.heap;
    const auto& fields = heap.layout().array;
    const Address array = heap.object("array.array");
    heap.put(array + *heap.layout().var_object.ob_size, std::int64_t{1});
    heap.set(array, fields.allocated, allocated);
    heap.set(array, fields.ob_descr, table + row * row_bytes);
    heap.set(array, fields.ob_item, heap.allocate(bytes));
    return array;
}

CoreHeap snapshot_of(SmallCore& core, Diagnostics& diagnostics) {
    const TemporaryDirectory directory;  // the core is mapped, and need not be there any more
    return CoreHeap::open(CoreFile::open(directory.write("core", core.bytes()), {}, diagnostics), all_columns,
                          diagnostics);
}

bool has_warning(const Diagnostics& diagnostics, const std::string& code) {
    return std::any_of(diagnostics.all().begin(), diagnostics.all().end(),
                       [&](const auto& one) { return one.code == code; });
}

}  // namespace

TEST_CASE("array.array: item sizes are learned from the buffers where the table of types was not saved",
          "[snapshot][array]") {
    SmallCore core;
    const Address bytes = add_array(core, row_of_bytes, 1000, 1000);
    const Address shorts = add_array(core, row_of_shorts, 1000, 2000);
    const Address doubles = add_array(core, row_of_doubles, 1000, 8000);
    Diagnostics diagnostics;
    const CoreHeap heap = snapshot_of(core, diagnostics);
    const std::uint64_t basic = heap.snapshot().type_info(heap.snapshot().find(bytes)).basicsize;
    CHECK(heap.facts(heap.snapshot().find(bytes)).size == basic + 1000);
    CHECK(heap.facts(heap.snapshot().find(shorts)).size == basic + 2000);
    CHECK(heap.facts(heap.snapshot().find(doubles)).size == basic + 8000);
    CHECK(heap.facts(heap.snapshot().find(doubles)).array_data == 8000);
    CHECK_FALSE(has_warning(diagnostics, "array-items-unknown"));
}

TEST_CASE("array.array: where the buffers do not tell, the arrays are counted and no size is made up",
          "[snapshot][array]") {
    SmallCore core;
    const Address one = add_array(core, row_of_shorts, 1, 8);  // one item: of one, two, four or eight bytes
    Diagnostics diagnostics;
    const CoreHeap heap = snapshot_of(core, diagnostics);
    CHECK(heap.facts(heap.snapshot().find(one)).size ==
          heap.snapshot().type_info(heap.snapshot().find(one)).basicsize);
    CHECK(has_warning(diagnostics, "array-items-unknown"));
}
