#pragma once

// A tensor's fields: in the Python object, in torch's TensorImpl, and in the StorageImpl that owns the bytes. (How they
// are found and proved: tensor_layout.cpp.)

#include "parsers/cpython/object_kind.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

inline constexpr std::size_t most_tensor_dimensions = 64;  // torch's own limit in many places

/// The size of what every counted object of torch begins with: a table of virtual functions, and counts of strong and
/// weak pointers.
enum class TorchHeader : std::uint8_t {
    words = 24,  // the counts have 8 bytes each: up to 2.2
    halves = 16  // 4 bytes each
};

/// Where pointers stand in a TensorImpl, in bytes behind its header: the first four fields; and, if there are more
/// dimensions than these, what leads to its sizes. And how far they reach in a StorageImpl.
inline constexpr std::uint64_t tensor_pointers = 32, tensor_extents = 56, tensor_inline_dimensions = 5,
                               storage_pointers = 24;

/// A StorageImpl: bytes that one or more tensors show.
struct StorageFacts {
    Address address;
    std::uint32_t count = 0;  // pointers that own it
    Address table;            // of its virtual functions
    Address data;             // null without memory of this process, as on a device
    std::uint64_t bytes = 0;  // tensor.untyped_storage().nbytes()
    bool owns_data = false;   // it frees `data` itself; false: somebody else's memory
    Address data_field;       // where the pointer to free stands
};

/// A TensorImpl, checked: its counts, sizes, strides and number of elements agree, and what it shows is in its storage.
struct TensorFacts {
    Address impl;
    TorchHeader header = TorchHeader::words;
    std::uint32_t count = 0;  // pointers that own it, the Python object's included
    Address table;
    Address object;            // its Python object; null if none was ever made
    bool owns_object = false;  // C++ keeps the Python object, which nothing in Python refers to
    std::size_t nd = 0;
    std::array<std::int64_t, most_tensor_dimensions> shape{},
        strides{};  // strides in elements, as torch has them
    std::uint64_t itemsize = 0;
    std::uint64_t elements = 0;
    std::uint16_t dtype = 0;                    // c10::ScalarType
    std::int8_t device = 0, device_index = -1;  // c10::DeviceType
    Address storage_field;                      // where the pointer to the storage stands
    std::optional<StorageFacts> storage;
    Address data;      // of its first element; null if its storage has none
    Address autograd;  // what autograd knows of it; null without gradient
    std::uint64_t nbytes() const { return elements * itemsize; }
};

/// Of a TensorImpl. Nothing if these bytes cannot be one.
std::optional<TensorFacts> tensor_impl_facts(const AddressSpace& memory, Address impl, TorchHeader header);

/// The same of a StorageImpl.
std::optional<StorageFacts> storage_impl_facts(const AddressSpace& memory, Address storage,
                                               TorchHeader header);

/// Of an instance of torch.Tensor, whose TensorImpl leads back to it. Nothing if it has none (yet), or torch is one with
/// other fields.
std::optional<TensorFacts> tensor_facts(const ObjectReader& tensor);

/// Of an instance of torch.UntypedStorage.
std::optional<StorageFacts> storage_facts(const ObjectReader& storage);

/// Where an object of Python (a tensor or a storage) keeps its pointer to `target`, if that owns it.
std::optional<Address> owning_field(const PythonHeap& heap, Address object, Address target);

/// "float32"; "dtype 99" for one that is not known.
std::string tensor_dtype(const TensorFacts& tensor);
/// "cpu", "cuda:0", "meta".
std::string tensor_device(const TensorFacts& tensor);
/// "(3, 2)"
std::string tensor_shape(const TensorFacts& tensor);

}  // namespace heapsift
