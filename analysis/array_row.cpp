#include "analysis/array_row.h"

#include "analysis/tensor_storages.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

namespace heapsift {
namespace {

std::optional<Address> unless_null(Address address) {
    return address.is_null() ? std::nullopt : std::optional(address);
}

}  // namespace

bool is_array(const HeapSnapshot& heap, ObjectId object) {
    const TypeId type = heap.type_of(object);
    return type != no_type && heap.types[type].kind == &ndarray_kind;
}

ArrayRow array_row(const HeapReader& heap, ObjectId array) {
    const HeapSnapshot& columns = heap.snapshot();
    ArrayRow row;
    row.address = columns.address_of(array);
    const ObjectReader reader(heap.python_heap(), row.address, columns.type_info(array));
    if (const auto tensor = shown_tensor(heap, array)) {
        row.dtype = tensor_dtype(*tensor);
        row.shape.emplace(tensor->shape.begin(),
                          tensor->shape.begin() + static_cast<std::ptrdiff_t>(tensor->nd));
        row.strides.emplace();
        for (std::size_t i = 0; i < tensor->nd; ++i) {
            std::int64_t& stride = row.strides->emplace_back();
            if (__builtin_mul_overflow(tensor->strides[i], tensor->itemsize, &stride)) row.strides.reset();
            if (!row.strides) break;
        }
        row.nbytes = tensor->nbytes();
        row.data = tensor->data;
        row.owns_data = false;
        return row;
    }
    const auto facts = array_facts(reader);
    if (!facts) return row;
    if (const auto descr = descr_facts(heap.python_heap(), facts->descr))
        row.dtype = descr_str(heap.python_heap(), *descr);
    row.shape.emplace(facts->shape.begin(), facts->shape.begin() + facts->nd);
    row.strides = array_strides(reader, *facts);
    row.nbytes = facts->nbytes;
    row.data = facts->data;
    row.owns_data = facts->owns_data();
    row.base = unless_null(facts->base);
    row.owner = unless_null(array_owner(reader));
    return row;
}

}  // namespace heapsift
