// Tensors with both sizes of torch's header of counted objects: fields, and what disproves them. Offsets are those of
// running torch 1.13 and 2.6.

#include "parsers/libraries/kinds.h"
#include "parsers/libraries/tensor_layout.h"
#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A heap with one tensor of 3 x 4 float32, the second half of a storage of 96 bytes.
struct Torch {
    explicit Torch(TorchHeader of) : heap(*builtin_layout({3, 12, false, false})), header(of) {
        heap.kinds.push_back(&tensor_kind);
        heap.kinds.push_back(&torch_storage_kind);
        const Address type = heap.c_type("torch._C.TensorBase", {.basicsize = 48});
        tensor = heap.object(type);
        const Address table = heap.allocate_static(64);
        storage = counted(200, table);
        data = heap.allocate(96);
        heap.put(storage + first(), data);
        heap.put(storage + first() + 8, heap.code_address());  // the deleter
        heap.put(storage + first() + 16, data);
        heap.put(storage + first() + 32, std::uint64_t{96});
        impl = counted(208, table);
        heap.put(impl + first(), storage);
        heap.put(impl + first() + 40, tensor);
        extents({3, 4}, {4, 1});
        heap.put(impl + first() + 136, std::uint64_t{12});
        heap.put(impl + first() + 144, std::uint64_t{12});
        heap.put(impl + first() + 152, std::uint16_t{6});
        const bool halves = header == TorchHeader::halves;
        heap.put(impl + first() + 154, std::int8_t{halves ? std::int8_t{0} : std::int8_t{1}});
        heap.put(impl + first() + 155, std::int8_t{halves ? std::int8_t{-1} : std::int8_t{0}});
        heap.put(impl + first() + 156, std::int8_t{halves ? std::int8_t{1} : std::int8_t{-1}});
        heap.put(tensor + 24, impl);
    }
    std::uint64_t first() const { return static_cast<std::uint64_t>(header); }
    Address counted(std::uint64_t bytes, Address table) {
        const Address at = heap.allocate(bytes);
        heap.put(at, table);
        if (header == TorchHeader::words) {
            heap.put(at + 8, std::uint64_t{2});
            heap.put(at + 16, std::uint64_t{1});
        } else {
            heap.put(at + 8, std::uint32_t{2});
            heap.put(at + 12, std::uint32_t{0x80000001});
        }
        return at;
    }
    void extents(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
        const std::uint64_t nd = shape.size();
        heap.put(impl + first() + 48, nd);
        Address at = impl + first() + 56;
        const std::uint64_t apart = nd <= 5 ? 5 : nd;
        if (nd > 5) {
            const Address block = heap.allocate(16 * nd);
            heap.put(at, block);
            at = block;
        }
        for (std::uint64_t i = 0; i < nd; ++i) {
            heap.put(at + 8 * i, shape[i]);
            heap.put(at + 8 * (apart + i), strides[i]);
        }
    }
    std::optional<TensorFacts> facts() { return tensor_facts(heap.reader(tensor)); }

    PythonHeapBuilder heap;
    TorchHeader header;
    Address tensor, impl, storage, data;
};

}  // namespace

TEST_CASE("tensor: shape, strides, dtype, device, and the storage with its bytes", "[libraries][torch]") {
    Torch torch(GENERATE(TorchHeader::words, TorchHeader::halves));
    const auto facts = torch.facts();
    REQUIRE(facts);
    CHECK(facts->header == torch.header);
    CHECK(facts->impl == torch.impl);
    CHECK(facts->count == 2);
    CHECK(facts->object == torch.tensor);
    CHECK_FALSE(facts->owns_object);
    CHECK(facts->nd == 2);
    CHECK(facts->shape[0] == 3);
    CHECK(facts->strides[0] == 4);
    CHECK(facts->nbytes() == 48);
    CHECK(facts->data == torch.data + 48);
    CHECK(tensor_dtype(*facts) == "float32");
    CHECK(tensor_device(*facts) == "cpu");
    REQUIRE(facts->storage);
    CHECK(facts->storage->address == torch.storage);
    CHECK(facts->storage->bytes == 96);
    CHECK(facts->storage->owns_data);
    CHECK(torch.heap.reader(torch.tensor).type().kind->describe(torch.heap.reader(torch.tensor), 80).text ==
          "(3, 4) float32, 48 B of a storage of 96 B");
}

TEST_CASE("tensor: more than five dimensions stand in a block of their own", "[libraries][torch]") {
    Torch torch(GENERATE(TorchHeader::words, TorchHeader::halves));
    torch.extents({1, 1, 1, 1, 3, 4}, {12, 12, 12, 12, 4, 1});
    const auto facts = torch.facts();
    REQUIRE(facts);
    CHECK(tensor_shape(*facts) == "(1, 1, 1, 1, 3, 4)");
    CHECK(facts->strides[4] == 4);
}

TEST_CASE("tensor: C++ may own the Python object, and then 1 is added to its address", "[libraries][torch]") {
    Torch torch(TorchHeader::words);
    torch.heap.put(torch.impl + torch.first() + 40, torch.tensor + 1);
    torch.heap.put(torch.tensor + 16, std::uint8_t{1});
    const auto facts = torch.facts();
    REQUIRE(facts);
    CHECK(facts->owns_object);
    CHECK_FALSE(owning_field(torch.heap.heap(), torch.tensor, torch.impl));
}

TEST_CASE("tensor: a Python object owns the pointer that it has not borrowed", "[libraries][torch]") {
    Torch torch(TorchHeader::halves);
    CHECK(owning_field(torch.heap.heap(), torch.tensor, torch.impl) == torch.tensor + 24);
    CHECK_FALSE(owning_field(torch.heap.heap(), torch.tensor, torch.storage));
}

TEST_CASE("tensor: bytes that contradict each other are none", "[libraries][torch]") {
    Torch torch(GENERATE(TorchHeader::words, TorchHeader::halves));
    const std::uint64_t first = torch.first();
    SECTION("the TensorImpl belongs to another object") {
        torch.heap.put(torch.impl + first + 40, torch.data);
    }
    SECTION("the shape has another number of elements") {
        torch.heap.put(torch.impl + first + 144, std::uint64_t{13});
    }
    SECTION("the last element is behind the storage") {
        torch.heap.put(torch.impl + first + 136, std::uint64_t{13});
    }
    SECTION("an offset that overflows") { torch.heap.put(torch.impl + first + 136, ~std::uint64_t{0}); }
    SECTION("strides that overflow") { torch.extents({3, 4}, {std::int64_t{1} << 62, 1}); }
    SECTION("a dtype that is not known") { torch.heap.put(torch.impl + first + 152, std::uint16_t{99}); }
    SECTION("too many dimensions") { torch.heap.put(torch.impl + first + 48, std::uint64_t{65}); }
    SECTION("nobody owns it") { torch.heap.put(torch.impl + 8, std::uint64_t{0}); }
    SECTION("its functions are no module's") { torch.heap.put(torch.impl, torch.data); }
    SECTION("its storage is none") { torch.heap.put(torch.storage, torch.data); }
    SECTION("its storage has no end") { torch.heap.put(torch.storage + first + 32, std::uint64_t{1} << 63); }
    CHECK_FALSE(torch.facts());
}

TEST_CASE("tensor: memory of somebody else is not the storage's own", "[libraries][torch]") {
    Torch torch(TorchHeader::halves);
    torch.heap.put(torch.storage + torch.first() + 16, torch.impl);  // what its deleter is called with
    const auto facts = torch.facts();
    REQUIRE(facts);
    CHECK_FALSE(facts->storage->owns_data);
}
