// A slice of a tensor is another TensorImpl that shows the same storage, so any slice keeps all of it. Which bytes can
// still be used is what the tensors in hand show: Python's, and those that autograd saved for its backward pass, which
// have no Python object. One sort is not in hand: autograd notes of each view the tensor that it was cut from, its base,
// and that alone keeps the base alive, Python object and all, when nothing else has it any more. A base is told by its
// count: as many words as own it stand in what autograd noted of views (their TensorImpl's autograd_meta_) of the same
// storage.
//
// TensorImpls without a Python object are the blocks that begin with the virtual functions of those that have one.
// (torch/csrc/autograd/variable.h of torch 1.13 and 2.6: AutogradMeta, DifferentiableViewMeta, ViewInfo::base_.)

#include "analysis/tensor_storages.h"

#include "parsers/libraries/kinds.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t most_noted = 1024;  // bytes of what autograd notes of a tensor

}  // namespace

bool is_tensor(const HeapSnapshot& heap, ObjectId object) {
    const TypeId type = heap.type_of(object);
    return type != no_type && heap.types[type].kind == &tensor_kind;
}

std::optional<TensorFacts> shown_tensor(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    if (!is_tensor(columns, object)) return std::nullopt;
    auto facts =
        tensor_facts(ObjectReader(heap.python_heap(), columns.address_of(object), columns.type_info(object)));
    if (facts && (facts->data.is_null() || !facts->storage)) facts.reset();
    return facts;
}

bool has_no_bytes(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    return is_tensor(columns, object) && !shown_tensor(heap, object) &&
           tensor_facts(
               ObjectReader(heap.python_heap(), columns.address_of(object), columns.type_info(object)));
}

TensorStorages::TensorStorages(const HeapGraph& graph, std::span<const ObjectId> tensors) {
    const NativeGraph* const native = graph.native();
    if (!native) return;
    const AddressSpace& memory = graph.heap().core().memory();
    std::vector<Address> tables;
    TorchHeader header = TorchHeader::words;
    for (const ObjectId object : tensors) {
        const auto facts = shown_tensor(graph.heap(), object);
        if (!facts) continue;
        header = facts->header;
        if (std::find(tables.begin(), tables.end(), facts->table) == tables.end() && tables.size() < 64)
            tables.push_back(facts->table);
        add_base(graph, *facts);
    }
    std::vector<TensorFacts> without_object;
    for (BlockId block{0}; block < native->size(); ++block) {
        const auto table = memory.read_address(native->start(block));
        if (!table || std::find(tables.begin(), tables.end(), *table) == tables.end()) continue;
        const auto facts = tensor_impl_facts(memory, native->start(block), header);
        if (!facts || !facts->object.is_null() || !facts->storage || facts->data.is_null()) continue;
        add_base(graph, *facts);
        saved_.emplace_back(facts->storage->address, facts->impl);
    }
    std::sort(bases_.begin(), bases_.end());
    std::erase_if(saved_, [&](const std::pair<Address, Address>& saved) {
        const auto facts = tensor_impl_facts(memory, saved.second, header);
        return !facts || is_base_only(*facts);
    });
    std::sort(saved_.begin(), saved_.end());
}

void TensorStorages::add_base(const HeapGraph& graph, const TensorFacts& view) {
    const BlockId noted = view.autograd.is_null() ? no_block : graph.native()->find(view.autograd);
    if (noted == no_block || graph.native()->start(noted) != view.autograd) return;
    const AddressSpace& memory = graph.heap().core().memory();
    const AddressSpace::Window words(memory, view.autograd, graph.native()->bytes(noted));
    for (std::uint64_t at = 8; at + 8 <= std::min(graph.native()->bytes(noted), most_noted); at += 8) {
        const Address base = words.pointer(at);
        if (base.is_null() || !base.aligned(16) || graph.native()->find(base) == no_block) continue;
        const auto facts = tensor_impl_facts(memory, base, view.header);
        if (facts && facts->storage && facts->storage->address == view.storage->address)
            bases_.emplace_back(base, view.autograd + at);
    }
}

bool TensorStorages::is_base_only(const TensorFacts& tensor) const {
    if (!tensor.object.is_null() && !tensor.owns_object) return false;  // Python has it
    const auto first = std::lower_bound(bases_.begin(), bases_.end(), std::pair(tensor.impl, Address()));
    std::uint64_t count = 0;
    for (auto base = first; base != bases_.end() && base->first == tensor.impl; ++base) ++count;
    return count > 0 && count >= tensor.count;
}

}  // namespace heapsift
