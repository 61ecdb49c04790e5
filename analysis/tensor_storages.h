#pragma once

// Tensors that no Python object stands for, and those that only views keep. (How they are told: tensor_storages.cpp.)

#include "analysis/holding/heap_graph.h"
#include "parsers/libraries/tensor_layout.h"

#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// A tensor of torch, or of a subclass.
bool is_tensor(const HeapSnapshot& heap, ObjectId object);

/// Nothing for another object, for a tensor without storage in this process' memory, and for one that cannot be read.
std::optional<TensorFacts> shown_tensor(const HeapReader& heap, ObjectId object);

/// Whether it is a tensor that reads, without elements in this process' memory: an empty or sparse one, or one of another
/// device.
bool has_no_bytes(const HeapReader& heap, ObjectId object);

class TensorStorages {
public:
    /// `tensors`: Python's, whatever their order. Cost: one look at the first word of every block of C code.
    TensorStorages(const HeapGraph& graph, std::span<const ObjectId> tensors);

    /// Whether nothing keeps this TensorImpl but views of the same storage, whose base it is.
    bool is_base_only(const TensorFacts& tensor) const;
    /// (StorageImpl, TensorImpl) of tensors that C++ alone has (autograd saved them), but not those that are bases only.
    const std::vector<std::pair<Address, Address>>& saved() const { return saved_; }

private:
    void add_base(const HeapGraph& graph, const TensorFacts& view);

    std::vector<std::pair<Address, Address>> saved_;
    std::vector<std::pair<Address, Address>> bases_;  // (base, the word that names it); sorted
};

}  // namespace heapsift
