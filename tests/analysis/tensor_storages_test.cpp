// Tensors in the table of arrays: what owns their bytes, what slices pin, and what autograd alone has.

#include "analysis/tensor_storages.h"
#include "analysis/array_table.h"
#include "tests/catch.h"
#include "tests/snapshot/small_torch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr Columns needed{
    .sizes = true, .references = true, .roots = true, .native = true, .native_graph = true};

/// The tensor is what a list holds that is itself held, so that no view is garbage.
void hold(SmallTorch& torch, const std::vector<Address>& tensors) {
    auto& heap = torch.small.heap;
    const Address list = heap.list(tensors);
    heap.put(heap.heap().pointer(torch.small.items + *heap.layout().list.ob_item), list);
}

const SeenArray& seen_of(const CoreHeap& heap, const ArrayTable& table, Address tensor) {
    const ObjectId object = heap.snapshot().find(tensor);
    for (const SeenArray& seen : table.arrays)
        if (seen.object == object) return seen;
    FAIL("no such array");
    return table.arrays.front();
}

}  // namespace

TEST_CASE("tensors: one that shows all of its storage owns it, and a slice pins nothing then",
          "[analysis][torch]") {
    SmallTorch torch;
    const auto storage = torch.storage(4000, 2);
    const Address whole = torch.tensor(torch.impl(storage, 1000, 1)),
                  slice = torch.tensor(torch.impl(storage, 10, 1, 100));
    hold(torch, {whole, slice});
    const CoreHeap heap = torch.open(needed);
    const HeapGraph graph(heap);
    const ArrayTable table = array_table(graph);
    REQUIRE(table.owners.size() == 1);
    const ArrayOwner& owner = table.owners[0];
    CHECK(owner.object == no_object);
    CHECK(owner.storage == storage.impl);
    CHECK(owner.nbytes() == 4000);
    CHECK(owner.visible_bytes == 4000);
    CHECK_FALSE(owner.pinned());
    CHECK(seen_of(heap, table, whole).owns_bytes);
    CHECK_FALSE(seen_of(heap, table, slice).owns_bytes);
    CHECK(seen_of(heap, table, slice).nbytes == 40);
    CHECK(table.sums.tensors == 2);
    CHECK(table.sums.storages == 1);
    CHECK(table.sums.storage_bytes == 4000);
    CHECK(table.sums.arrays == 2);
}

TEST_CASE("tensors: a slice alone pins the storage, with what no tensor shows", "[analysis][torch]") {
    SmallTorch torch;
    const auto storage = torch.storage(4000, 1);
    const Address slice = torch.tensor(torch.impl(storage, 10, 1, 100));
    hold(torch, {slice});
    const CoreHeap heap = torch.open(needed);
    const HeapGraph graph(heap);
    const ArrayTable table = array_table(graph);
    REQUIRE(table.owners.size() == 1);
    CHECK(table.owners[0].pinned());
    CHECK(table.owners[0].visible_bytes == 40);
    CHECK(table.sums.pinned == 1);
    CHECK(table.sums.pinned_bytes == 4000);
    CHECK(table.sums.pinned_visible == 40);
    const auto facts = shown_tensor(heap, heap.snapshot().find(slice));
    REQUIRE(facts);
    CHECK(facts->data == storage.data + 400);
    CHECK(is_tensor(heap.snapshot(), heap.snapshot().find(slice)));
    CHECK_FALSE(is_tensor(heap.snapshot(), heap.snapshot().find(torch.small.text)));
    CHECK_FALSE(shown_tensor(heap, heap.snapshot().find(torch.small.text)));
}

TEST_CASE("tensors: what autograd saved is in use, without a Python object", "[analysis][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const auto storage = torch.storage(4000, 2);
    const Address slice = torch.tensor(torch.impl(storage, 10, 1, 100)), saved = torch.impl(storage, 1000, 1);
    const Address graph_object = heap.object(heap.c_type("app.Node", {.basicsize = 32}));
    const Address node = heap.allocate(1000);
    heap.put(graph_object + 16, node);
    heap.put(node + 8, saved);
    hold(torch, {slice, graph_object});
    const CoreHeap core = torch.open(needed);
    const HeapGraph graph(core);
    const ObjectId tensors[] = {core.snapshot().find(slice)};
    const TensorStorages storages(graph, tensors);
    CHECK(storages.saved() == std::vector{std::pair(storage.impl, saved)});
    const ArrayTable table = array_table(graph);
    REQUIRE(table.owners.size() == 1);
    CHECK(table.owners[0].visible_bytes == 4000);
    CHECK_FALSE(table.owners[0].pinned());
}

TEST_CASE("tensors: a base that only its views keep is not in hand", "[analysis][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const auto storage = torch.storage(4000, 2);
    const std::uint64_t owners_of_base = GENERATE(1, 2);
    const Address base = torch.impl(storage, 1000, owners_of_base), view = torch.impl(storage, 10, 1, 100);
    const Address slice = torch.tensor(view);
    const Address noted = heap.allocate(200);  // what autograd notes of the view
    heap.put(noted, torch.table + 32);
    heap.put(noted + 64, base);
    heap.put(view + SmallTorch::header + 8, noted);
    hold(torch, {slice});
    const CoreHeap core = torch.open(needed);
    const HeapGraph graph(core);
    const ObjectId tensors[] = {core.snapshot().find(slice)};
    const TensorStorages storages(graph, tensors);
    const auto facts = tensor_impl_facts(core.core().memory(), base, TorchHeader::words);
    REQUIRE(facts);
    // Two own it, and one of them is no view.
    CHECK(storages.is_base_only(*facts) == (owners_of_base == 1));
    CHECK(storages.saved().size() == owners_of_base - 1);
    const ArrayTable table = array_table(graph);
    REQUIRE(table.owners.size() == 1);
    CHECK(table.owners[0].visible_bytes == (owners_of_base == 1 ? 40 : 4000));
    CHECK(table.owners[0].pinned() == (owners_of_base == 1));
}

TEST_CASE("tensors: those without elements in this memory are counted apart", "[analysis][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const auto storage = torch.storage(4000), elsewhere = torch.storage(8000);
    heap.put(elsewhere.impl + SmallTorch::header, Address());  // as a meta tensor's
    const Address here = torch.tensor(torch.impl(storage, 1000, 1)),
                  meta = torch.tensor(torch.impl(elsewhere, 2000, 1)),
                  damaged = torch.tensor(torch.impl(storage, 5000, 1));  // more than the storage has
    hold(torch, {here, meta, damaged});
    const CoreHeap core = torch.open(needed);
    const HeapGraph graph(core);
    const ArrayTable table = array_table(graph);
    CHECK(table.sums.tensors == 1);
    CHECK(table.sums.tensors_without_bytes == 1);
    CHECK(has_no_bytes(core, core.snapshot().find(meta)));
    CHECK_FALSE(has_no_bytes(core, core.snapshot().find(here)));
    CHECK_FALSE(has_no_bytes(core, core.snapshot().find(damaged)));
    CHECK_FALSE(has_no_bytes(core, core.snapshot().find(torch.small.text)));
}
