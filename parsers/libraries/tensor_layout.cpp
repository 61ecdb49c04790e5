// What torch keeps of a tensor. The Python object is a shell: after its header stand a flag and the address of a
// c10::TensorImpl, which has shape, strides, dtype and device, and leads to a c10::StorageImpl, which has the bytes and
// their number. Views are other TensorImpls of the same storage. Both are counted objects: they begin with a table of
// virtual functions and two counts.
//
// These are C++ classes without an ABI, but their order has not changed since 1.10; only the counts in front shrank
// from 8 bytes each to 4. So all offsets here are from the end of the header, of which there are two sizes, and the
// fields prove themselves: the TensorImpl has the address of its Python object (with 1 added, if C++ owns that object
// rather than the other way round), the product of its shape is its number of elements, dtype and device are known
// ones, and its last element lies in its storage. Bytes for which one of this fails are no tensor here.
//
// Source: c10/core/TensorImpl.h, StorageImpl.h, impl/SizesAndStrides.h, util/intrusive_ptr.h, core/ScalarType.h and
// DeviceType.h, torch/csrc/autograd/python_variable.h of torch 1.13 and 2.6; offsets as read from the memory of
// running processes of both. Since 2.9 the two counts are one word, of which the highest bit says that there is a
// Python object; it is masked here.

#include "parsers/libraries/tensor_layout.h"

#include "parsers/libraries/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

// THPVariable and THPStorage: a c10::MaybeOwned, of a flag (true: borrowed) and a pointer; or, up to 1.13, a storage's
// plain pointer where the flag would be.
constexpr std::uint64_t at_borrowed = 16, at_pointer = 24;

// TensorImpl, from the end of its header.
constexpr std::uint64_t at_storage = 0, at_autograd = 8, at_object = 40, at_nd = 48, at_sizes = 56,
                        inline_dimensions = 5, at_storage_offset = 136, at_elements = 144, at_dtype = 152,
                        at_device = 154, impl_size = 160;
// StorageImpl, from the end of its header: data, deleter, what that frees, device, bytes.
constexpr std::uint64_t at_data = 0, at_deleter = 8, at_freed = 16, at_bytes = 32, storage_size = 40;

constexpr std::uint64_t most_counted = 1 << 28;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;  // above: a size that is an expression
constexpr std::uint32_t count_mask = 0x7fffffff;

struct Dtype {
    const char* name;
    std::uint8_t size;
};
constexpr std::array dtypes = {Dtype{"uint8", 1},           Dtype{"int8", 1},
                               Dtype{"int16", 2},           Dtype{"int32", 4},
                               Dtype{"int64", 8},           Dtype{"float16", 2},
                               Dtype{"float32", 4},         Dtype{"float64", 8},
                               Dtype{"complex32", 4},       Dtype{"complex64", 8},
                               Dtype{"complex128", 16},     Dtype{"bool", 1},
                               Dtype{"qint8", 1},           Dtype{"quint8", 1},
                               Dtype{"qint32", 4},          Dtype{"bfloat16", 2},
                               Dtype{"quint4x2", 1},        Dtype{"quint2x4", 1},
                               Dtype{"bits1x8", 1},         Dtype{"bits2x4", 1},
                               Dtype{"bits4x2", 1},         Dtype{"bits8", 1},
                               Dtype{"bits16", 2},          Dtype{"float8_e5m2", 1},
                               Dtype{"float8_e4m3fn", 1},   Dtype{"float8_e5m2fnuz", 1},
                               Dtype{"float8_e4m3fnuz", 1}, Dtype{"uint16", 2},
                               Dtype{"uint32", 4},          Dtype{"uint64", 8}};
constexpr std::array devices = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};

bool is_of_module(const AddressSpace& memory, Address address) {
    const Segment* const segment = memory.find(address);
    return segment && segment->module >= 0;
}

struct Counted {
    Address table;
    std::uint32_t count = 0;
};

/// The header of a counted object that is alive.
std::optional<Counted> counted(const AddressSpace& memory, const AddressSpace::Window& fields,
                               TorchHeader header) {
    const Address table = fields.pointer(0);
    if (!table.aligned(8) || !is_of_module(memory, table)) return std::nullopt;
    std::uint64_t strong = 0, weak = 0;
    if (header == TorchHeader::words) {
        strong = fields.read<std::uint64_t>(8).value_or(0);
        weak = fields.read<std::uint64_t>(16).value_or(0);
    } else {
        strong = fields.read<std::uint32_t>(8).value_or(0);
        weak = fields.read<std::uint32_t>(12).value_or(0) & count_mask;
    }
    if (strong == 0 || weak == 0 || strong > most_counted || weak > most_counted) return std::nullopt;
    return Counted{table, static_cast<std::uint32_t>(strong)};
}

/// std::optional<Device>, or torch's own, up to 2.2, which begins with the flag.
bool read_device(const AddressSpace::Window& fields, std::uint64_t at, TensorFacts& facts) {
    std::array<std::int8_t, 3> b{};
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = fields.read<std::int8_t>(at + i).value_or(-1);
    const auto take = [&](std::int8_t flag, std::int8_t type, std::int8_t index) {
        if (flag != 1 || type < 0 || static_cast<std::size_t>(type) >= devices.size() || index < -1)
            return false;
        facts.device = type;
        facts.device_index = index;
        return true;
    };
    if (facts.header == TorchHeader::halves && take(b[2], b[0], b[1])) return true;
    return take(b[0], b[1], b[2]) || take(b[2], b[0], b[1]);
}

/// Where sizes and strides stand: in the object, or, if there are many, in a block of their own.
bool read_extents(const AddressSpace& memory, const AddressSpace::Window& fields, std::uint64_t first,
                  TensorFacts& facts) {
    const bool is_inline = facts.nd <= inline_dimensions;
    const Address sizes = is_inline ? facts.impl + (first + at_sizes) : fields.pointer(first + at_sizes);
    const Address strides = sizes + 8 * (is_inline ? inline_dimensions : facts.nd);
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < facts.nd; ++i) {
        const auto extent = memory.read<std::int64_t>(sizes + 8 * i);
        const auto stride = memory.read<std::int64_t>(strides + 8 * i);
        if (!extent || !stride || *extent < 0 || *stride < 0) return false;
        facts.shape[i] = *extent;
        facts.strides[i] = *stride;
        if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(*extent), &elements)) return false;
    }
    return elements == facts.elements;
}

/// Whether the last element, counted from `offset` on, ends within so many bytes.
bool ends_within(const TensorFacts& facts, std::uint64_t offset, std::uint64_t bytes) {
    if (facts.elements == 0) return true;
    std::uint64_t last = offset;
    for (std::size_t i = 0; i < facts.nd; ++i) {
        std::uint64_t more = 0;
        if (__builtin_mul_overflow(static_cast<std::uint64_t>(facts.strides[i]),
                                   static_cast<std::uint64_t>(facts.shape[i] - 1), &more) ||
            __builtin_add_overflow(last, more, &last))
            return false;
    }
    return last < most_bytes / 16 && (last + 1) * facts.itemsize <= bytes;
}

}  // namespace

std::optional<StorageFacts> storage_impl_facts(const AddressSpace& memory, Address storage,
                                               TorchHeader header) {
    if (!storage.aligned(8)) return std::nullopt;
    const auto first = static_cast<std::uint64_t>(header);
    const AddressSpace::Window fields(memory, storage, first + storage_size);
    const auto counts = counted(memory, fields, header);
    const auto bytes = fields.read<std::uint64_t>(first + at_bytes);
    if (!counts || !bytes || *bytes >= most_bytes) return std::nullopt;
    StorageFacts facts;
    facts.address = storage;
    facts.count = counts->count;
    facts.table = counts->table;
    facts.data = fields.pointer(first + at_data);
    facts.bytes = *bytes;
    // The order of the two is that of std::unique_ptr's members.
    const Address one = fields.pointer(first + at_deleter), other = fields.pointer(first + at_freed);
    const bool one_is_freed = is_of_module(memory, other);
    facts.owns_data = !facts.data.is_null() && (one_is_freed ? one : other) == facts.data &&
                      is_of_module(memory, one_is_freed ? other : one);
    facts.data_field = storage + first + at_data;
    return facts;
}

std::optional<TensorFacts> tensor_impl_facts(const AddressSpace& memory, Address impl, TorchHeader header) {
    if (impl.is_null() || !impl.aligned(8)) return std::nullopt;
    const auto first = static_cast<std::uint64_t>(header);
    const AddressSpace::Window fields(memory, impl, first + impl_size);
    const auto counts = counted(memory, fields, header);
    if (!counts) return std::nullopt;
    std::optional<TensorFacts> result(std::in_place);
    TensorFacts& facts = *result;
    facts.impl = impl;
    facts.header = header;
    facts.count = counts->count;
    facts.table = counts->table;
    const std::uint64_t object = fields.pointer(first + at_object).value;
    if (object % 8 > 1) return std::nullopt;
    facts.object = Address(object & ~std::uint64_t{7});
    facts.owns_object = object % 8 == 1;
    const auto nd = fields.read<std::uint64_t>(first + at_nd);
    const auto elements = fields.read<std::uint64_t>(first + at_elements);
    const auto offset = fields.read<std::uint64_t>(first + at_storage_offset);
    const auto dtype = fields.read<std::uint16_t>(first + at_dtype);
    if (!nd || !elements || !offset || !dtype || *nd > most_tensor_dimensions ||
        *elements >= most_bytes / 16 || *offset >= most_bytes / 16 || *dtype >= dtypes.size())
        return std::nullopt;
    facts.nd = *nd;
    facts.elements = *elements;
    facts.dtype = *dtype;
    facts.itemsize = dtypes[*dtype].size;
    facts.storage_field = impl + (first + at_storage);
    facts.autograd = fields.pointer(first + at_autograd);
    if (!read_device(fields, first + at_device, facts) || !read_extents(memory, fields, first, facts))
        return std::nullopt;
    // Sparse tensors and the like have no storage.
    const Address storage = fields.pointer(first + at_storage);
    if (storage.is_null()) return result;
    facts.storage = storage_impl_facts(memory, storage, header);
    if (!facts.storage) return std::nullopt;
    if (facts.storage->data.is_null()) return result;
    if (!ends_within(facts, *offset, facts.storage->bytes)) return std::nullopt;
    if (facts.device == 0) facts.data = facts.storage->data + *offset * facts.itemsize;
    return result;
}

std::optional<TensorFacts> tensor_facts(const ObjectReader& tensor) {
    const PythonHeap& heap = tensor.heap();
    for (const std::uint64_t place : {at_pointer, at_borrowed})
        for (const TorchHeader header : {TorchHeader::halves, TorchHeader::words}) {
            auto facts = tensor_impl_facts(heap.memory(), heap.pointer(tensor.at(place)), header);
            if (facts && facts->object == tensor.address()) return facts;
        }
    return std::nullopt;
}

std::optional<StorageFacts> storage_facts(const ObjectReader& storage) {
    const PythonHeap& heap = storage.heap();
    for (const std::uint64_t place : {at_pointer, at_borrowed})
        for (const TorchHeader header : {TorchHeader::halves, TorchHeader::words})
            if (auto facts = storage_impl_facts(heap.memory(), heap.pointer(storage.at(place)), header))
                return facts;
    return std::nullopt;
}

std::optional<Address> owning_field(const PythonHeap& heap, Address object, Address target) {
    if (heap.pointer(object + at_borrowed) == target) return object + at_borrowed;
    if (heap.pointer(object + at_pointer) == target &&
        (heap.integer<std::uint8_t>(object + at_borrowed) & 1) == 0)
        return object + at_pointer;
    return std::nullopt;
}

std::string tensor_dtype(const TensorFacts& tensor) { return dtypes[tensor.dtype].name; }

std::string tensor_device(const TensorFacts& tensor) {
    const char* const name = devices[static_cast<std::size_t>(tensor.device)];
    if (tensor.device_index < 0) return name;
    return fmt::format("{}:{}", name, tensor.device_index);
}

std::string tensor_shape(const TensorFacts& tensor) {
    std::string text = "(";
    for (std::size_t i = 0; i < tensor.nd; ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(tensor.shape[i]);
    }
    return text + (tensor.nd == 1 ? ",)" : ")");
}

}  // namespace heapsift
