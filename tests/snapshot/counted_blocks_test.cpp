// Blocks that count their owners: torch's tensors and storages in a small core, with a library for their classes.
// Stale words lead to them as well, and own nothing.

#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/snapshot/small_torch.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t header = SmallTorch::header, page = ImageWriter::page;

CoreHeap open(SmallTorch& torch) { return torch.open({.native = true, .native_graph = true}); }

/// The blocks and objects that lead to the block at `at`: their starts.
std::vector<Address> owners_of(const HeapSnapshot& heap, Address at) {
    const NativeGraph& graph = *heap.native_graph;
    const std::uint32_t target =
        static_cast<std::uint32_t>(heap.object_count() + std::uint32_t{graph.find(at)});
    std::vector<Address> owners;
    for (BlockId block{0}; block < graph.size(); ++block)
        for (const std::uint32_t node : graph.targets(block))
            if (node == target) owners.push_back(graph.start(block));
    for (std::size_t i = 0; i < graph.owners().size(); ++i)
        for (const std::uint32_t node : graph.owned(i))
            if (node == target) owners.push_back(heap.address_of(graph.owners()[i].object));
    return owners;
}

Credit credit_of(const HeapSnapshot& heap, Address at) {
    return heap.native_graph->credit(heap.native_graph->find(at));
}

using Owners = std::vector<Address>;

}  // namespace

TEST_CASE("counted blocks: from a tensor to its storage's bytes, and stale words own none of it",
          "[snapshot][native][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const auto storage = torch.storage(200'000);
    const Address impl = torch.impl(storage, 50'000, 1), tensor = torch.tensor(impl);
    // Of a C type that is alive: a buffer with what was there before.
    const Address other = heap.object(heap.c_type("app.Native", {.basicsize = 32}));
    const Address buffer = heap.allocate(1000);
    heap.put(other + 16, buffer);
    heap.put(buffer + 64, impl);
    heap.put(buffer + 72, storage.impl);
    heap.put(buffer + 80, storage.data);
    heap.put(buffer + 88, storage.data + 4096);
    const CoreHeap core = open(torch);
    const HeapSnapshot& found = core.snapshot();
    CHECK(owners_of(found, impl) == Owners{tensor});
    CHECK(owners_of(found, storage.impl) == Owners{impl});
    CHECK(owners_of(found, storage.data) == Owners{storage.impl});
    for (const Address at : {impl, storage.impl, storage.data}) CHECK(credit_of(found, at) == Credit::sure);
}

TEST_CASE("counted blocks: an owner without a Python object counts, if the count has room for it",
          "[snapshot][native][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const std::uint64_t count = GENERATE(1, 2);
    const auto storage = torch.storage(200'000, count);
    const Address impl = torch.impl(storage, 50'000, 1), saved = torch.impl(storage, 50'000, 1);
    const Address tensor = torch.tensor(impl);
    const Address graph = heap.object(heap.c_type("app.Node", {.basicsize = 32}));
    const Address node = heap.allocate(1000);
    heap.put(graph + 16, node);
    heap.put(node + 8, saved);
    const CoreHeap core = open(torch);
    Owners owners = owners_of(core.snapshot(), storage.impl);
    // With a count of 1 one of them is wrong, and nothing tells which.
    CHECK(owners == Owners{std::min(impl, saved), std::max(impl, saved)});
    CHECK(owners_of(core.snapshot(), saved) == Owners{node});
    CHECK(owners_of(core.snapshot(), impl) == Owners{tensor});
    CHECK(owners_of(core.snapshot(), storage.data) == Owners{storage.impl});
}

TEST_CASE("counted blocks: a tensor that C++ owns is no owner of its TensorImpl",
          "[snapshot][native][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const auto storage = torch.storage(200'000);
    const Address impl = torch.impl(storage, 50'000, 1), tensor = torch.tensor(impl);
    heap.put(tensor + 16, std::uint8_t{1});  // borrowed
    heap.put(impl + header + 40, tensor + 1);
    const Address graph = heap.object(heap.c_type("app.Node", {.basicsize = 32}));
    const Address node = heap.allocate(1000);
    heap.put(graph + 16, node);
    heap.put(node + 8, impl);
    const CoreHeap core = open(torch);
    CHECK(owners_of(core.snapshot(), impl) == Owners{node});
    CHECK(owners_of(core.snapshot(), storage.impl) == Owners{impl});
}

TEST_CASE("counted blocks: where an owner was not found, other words keep what they had",
          "[snapshot][native][torch]") {
    SmallTorch torch;
    auto& heap = torch.small.heap;
    const auto storage = torch.storage(200'000);
    const Address impl = torch.impl(storage, 50'000, 2);
    torch.tensor(torch.impl(torch.storage(1000), 250, 1));  // by which the class is known
    const Address memory = heap.map(Address(0x7c0000000000), page);
    heap.put(memory + 64, impl);
    const CoreHeap core = open(torch);
    CHECK(credit_of(core.snapshot(), impl) == Credit::other);
    CHECK(credit_of(core.snapshot(), storage.data) == Credit::other);
    CHECK(owners_of(core.snapshot(), storage.data) == Owners{storage.impl});
}
