#include "parsers/snapshot/object_kinds.h"

// Every kind that heapsift reads: the interpreter's (parsers/cpython/objects/kinds.cpp) NumPy's
// and those of parsers/libraries. A type that is in no list is read as its nearest base that is, and the rest of its body is guessed.

#include "parsers/cpython/objects/kinds.h"
#include "parsers/libraries/kinds.h"
#include "parsers/numpy/kinds.h"

#include <vector>

namespace heapsift {

std::span<const ObjectKind* const> all_object_kinds() {
    static const std::vector<const ObjectKind*> kinds = [] {
        std::vector<const ObjectKind*> all(cpython_kinds().begin(), cpython_kinds().end());
        all.insert(all.end(), {&ndarray_kind, &numpy_scalar_kind, &numpy_void_kind, &numpy_dtype_kind,
                               &tensor_kind, &torch_storage_kind, &greenlet_kind});
        for (const ObjectKind& kind : numpy_internal_kinds()) all.push_back(&kind);
        return all;
    }();
    return kinds;
}

}  // namespace heapsift
