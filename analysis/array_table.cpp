// Who owns the bytes. An array that owns its elements owns them. Any other shows somebody else's, and
// following `base` leads to the owner: another array, a bytes, an mmap, what a memoryview was made of, a
// capsule; or to an array without a base, to which C code lent memory that no object stands for. Each byte
// has one owner and counts there, however many arrays show it.
//
// A slice costs more than it shows: it keeps its whole owner alive. An owner is kept by views alone if it
// could be freed if no array had a base: if a walk from all roots that follows every reference but `base`
// does not reach it, and its count has no reference that was not found. The same walk tells the views that
// something else holds from those in between, which exist because NumPy does not always collapse a chain of
// bases. What an owner shows is then what the former views show of it, overlaps counted once
// (seen_bytes.cpp); the rest is memory that nobody can reach and nothing frees.
//
// pandas up to 1.5 has another such reference: the manager of a slice keeps the manager that it was cut from,
// with all its blocks (pandas_frames.cpp). The caller passes these.
//
// torch's tensors never own bytes: a storage of C++ does, whether one tensor shows it or many. So a storage is an owner
// without a Python object, and always kept by what shows it: by tensors in hand, of Python or saved by autograd, and not
// by those that are only the base of a view (tensor_storages.cpp). A storage over an array's memory (torch.from_numpy) is
// that array's; an array over a tensor's (tensor.numpy()) belongs to the tensor's storage.
//
// numpy.void scalars are elements of structured arrays, and keep the array alive as views do.

#include "analysis/array_table.h"

#include "analysis/array_row.h"
#include "analysis/pass.h"
#include "analysis/tensor_storages.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/libraries/kinds.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

#include <algorithm>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr int longest_chain = 1000;  // of bases

/// What the roots reach as if no array had a base. Nearly everything is reached from what comes before it in
/// the preorder, so one pass over the rows of edges finds nearly all.
class ReachedWithoutBases {
public:
    /// `base_of`: by object.
    ReachedWithoutBases(const HeapGraph& graph, const std::vector<ObjectId>& base_of)
        : graph_(graph),
          base_of_(base_of),
          is_base_(graph.preorder().reached()),
          reached_(graph.preorder().reached()) {
        for (const ObjectId base : base_of)
            if (base != no_object) is_base_[graph.position(base)] = true;
        reached_[0] = true;
        const std::span<const std::uint32_t> parents = graph.preorder().parents();
        const SourceRows& rows = graph.sources();
        const auto no_fetch = [](std::uint32_t) {};
        rows.visit_up(
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                if (p > 0) reached_[p] = leads(parents[p], p) || one_leads(sources, p);
            },
            no_fetch);
        std::vector<std::uint32_t> again;
        rows.visit_up(
            [&](std::uint32_t p, std::span<const std::uint32_t> sources) {
                if (reached_[p] || !one_leads(sources, p)) return;
                reached_[p] = true;
                again.push_back(p);
            },
            no_fetch);
        while (!again.empty()) {
            const std::uint32_t position = again.back();
            again.pop_back();
            const NodeId node = graph.preorder().node_at(position);
            for (const NodeId target : graph.targets(node)) {
                const std::uint32_t at = graph.preorder().position(target);
                if (reached_[at] || !graph.follows(node, position, target, at) || !leads(position, at))
                    continue;
                reached_[at] = true;
                again.push_back(at);
            }
        }
    }
    bool operator[](ObjectId object) const { return reached_[graph_.position(object)]; }

private:
    /// For an edge that is followed.
    bool leads(std::uint32_t source, std::uint32_t target) const {
        if (!reached_[source] || !is_base_[target]) return reached_[source];
        const NodeId node = graph_.preorder().node_at(source);
        return graph_.kind(node) != NodeKind::object ||
               HeapGraph::node_of(base_of_[HeapGraph::object_of(node)]) != graph_.preorder().node_at(target);
    }
    bool one_leads(std::span<const std::uint32_t> sources, std::uint32_t target) const {
        return std::any_of(sources.begin(), sources.end(),
                           [&](std::uint32_t source) { return leads(source, target); });
    }

    const HeapGraph& graph_;
    const std::vector<ObjectId>& base_of_;
    std::vector<bool> is_base_, reached_;  // by position
};

ObjectReader reader_of(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    return ObjectReader(heap.python_heap(), columns.address_of(object), columns.type_info(object));
}

/// The buffer of an exporter that contains `inside`; an empty range if its size is not read.
ByteRange buffer_of(const ObjectReader& exporter, std::uint64_t inside) {
    const ObjectKind* kind = exporter.type().kind;
    struct Finder final : BufferVisitor {
        std::uint64_t inside = 0;
        ByteRange found;
        void visit(Address start, std::uint64_t bytes, bool) override {
            if (inside - start.value < bytes || (bytes > 0 && inside == start.value + bytes))
                found = {start.value, start.value + bytes};
        }
    } finder;
    finder.inside = inside;
    const std::uint64_t length = static_cast<std::uint64_t>(std::max<std::int64_t>(exporter.var_size(), 0));
    if (kind == &bytes_kind) {
        finder.visit(exporter.at(*exporter.layout().bytes.ob_sval), length, false);
    } else if (kind == &bytearray_kind) {  // its buffer has spare room, and a NUL
        finder.visit(exporter.pointer(exporter.layout().bytearray.ob_start), length, false);
    } else if (exporter.type().known == KnownType::mmap) {
        // mmap_object (mmapmodule.c): after the header, the address and the size.
        const std::uint64_t header = *exporter.layout().object.size;
        const auto size = exporter.heap().integer<std::int64_t>(exporter.at(header + 8));
        if (size > 0)
            finder.visit(exporter.heap().pointer(exporter.at(header)), static_cast<std::uint64_t>(size),
                         false);
    } else if (kind && kind->visit_buffers) {
        kind->visit_buffers(exporter, finder);
        const auto& l = exporter.layout().array;
        const auto room = exporter.integer<std::int64_t>(l.allocated);
        if (exporter.type().known == KnownType::array_array && room > 0 && exporter.var_size() >= 0 &&
            exporter.var_size() <= room)
            finder.found.end = finder.found.begin + finder.found.size() / static_cast<std::uint64_t>(room) *
                                                        static_cast<std::uint64_t>(exporter.var_size());
    }
    return finder.found;
}

bool is_saved(const AddressSpace& memory, const ByteRange& bytes) {
    return memory.saved_bytes(Address(bytes.begin), bytes.size()) == bytes.size();
}

/// An array's elements, kept for one question.
struct Elements {
    std::vector<std::int64_t> shape, strides;
    ArrayElements array;
};

bool read_elements(const TensorFacts& tensor, Elements& out) {
    out.shape.assign(tensor.shape.begin(), tensor.shape.begin() + static_cast<std::ptrdiff_t>(tensor.nd));
    out.strides.assign(tensor.strides.begin(),
                       tensor.strides.begin() + static_cast<std::ptrdiff_t>(tensor.nd));
    for (std::int64_t& stride : out.strides)
        if (__builtin_mul_overflow(stride, static_cast<std::int64_t>(tensor.itemsize), &stride)) return false;
    out.array = {tensor.data.value, tensor.itemsize, out.shape, out.strides};
    return true;
}

bool read_elements(const HeapReader& heap, const SeenArray& seen, Elements& out) {
    const ObjectReader reader = reader_of(heap, seen.object);
    out.array = {};
    if (seen.is_tensor) {
        const auto shown = shown_tensor(heap, seen.object);
        return shown && read_elements(*shown, out);
    }
    if (seen.is_scalar) {
        const auto shown = void_facts(reader);
        if (!shown) return false;
        out.array.data = shown->data.value;
        out.array.itemsize = shown->itemsize;
        return true;
    }
    const auto facts = array_facts(reader);
    auto strides = facts ? array_strides(reader, *facts) : std::nullopt;
    if (!strides) return false;
    out.shape.assign(facts->shape.begin(), facts->shape.begin() + facts->nd);
    out.strides = std::move(*strides);
    out.array = {facts->data.value, facts->itemsize, out.shape, out.strides};
    return true;
}

/// The table under construction: arrays are found, then grouped by owner; the walk tells which owners are
/// kept, the strides which bytes are seen.
class TableBuilder {
public:
    explicit TableBuilder(const HeapGraph& graph) : graph_(graph), heap_(graph.heap()) {}

    void find(const ProgressCallback& progress);
    void find_storages();
    void group();
    void walk_without_bases(const std::vector<std::pair<ObjectId, ObjectId>>& like_bases,
                            const ProgressCallback& progress);
    void see();
    void add_up();

    ArrayTable table;

private:
    bool is_garbage(const ArrayOwner& owner) const;
    void add_saved(const ArrayOwner& owner, SeenBytes& seen) const;

    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }
    std::uint32_t storage_owner(const TensorFacts& tensor, ObjectId object);
    void add_tensor(ObjectId object);
    bool lends(const ArrayOwner& owner) const { return owner.object == no_object && owner.storage.is_null(); }

    std::unordered_map<std::uint64_t, std::uint32_t> by_storage_;
    std::optional<TensorStorages> tensors_;

    const HeapReader& heap_;
};

void TableBuilder::find(const ProgressCallback& progress) {
    std::unordered_map<ObjectId, std::uint32_t> by_object,
        by_last;  // owners; of native memory by the array it was lent to
    const PythonHeap& python = heap_.python_heap();
    for_each_object(heap_.snapshot(), "arrays", progress, [&](ObjectId object) {
        const TypeId type = columns().type_of(object);
        const ObjectKind* kind = type == no_type ? nullptr : columns().types[type].kind;
        if (kind == &tensor_kind) return add_tensor(object);
        if (kind != &ndarray_kind && kind != &numpy_void_kind) return;
        SeenArray seen;
        seen.object = object;
        const ObjectReader reader(python, columns().address_of(object), columns().types[type]);
        Address last = reader.address(), owner;
        if (kind == &numpy_void_kind) {
            const auto shown = void_facts(reader);
            if (!shown || shown->base.is_null()) return;
            seen.is_scalar = true;
            seen.nbytes = shown->itemsize;
            last = shown->base;
            const ObjectId base = columns().find(last);
            owner = base != no_object && is_array(heap_.snapshot(), base)
                        ? array_owner(reader_of(heap_, base))
                        : last;
        } else {
            const auto facts = array_facts(reader);
            ObjectSizes sizes;
            if (facts && facts->owns_data()) heap_.sizes(object, std::span(&sizes, 1));
            if (!facts || sizes.damaged) {
                ++table.sums.unread;
                return;
            }
            seen.nbytes = facts->nbytes;
            owner = facts->owns_data() ? reader.address() : array_owner(reader);
        }
        ObjectId id = owner.is_null() ? no_object : columns().find(owner);
        if (id != no_object)
            if (const auto tensor = shown_tensor(heap_, id)) {
                seen.owner = storage_owner(*tensor, id);
                table.arrays.push_back(seen);
                return;
            }
        if (id == no_object) {  // native memory: by the array at the end of the chain
            for (int steps = 0; steps < longest_chain; ++steps) {
                const ObjectId at = columns().find(last);
                const auto facts = at != no_object && is_array(heap_.snapshot(), at)
                                       ? array_facts(reader_of(heap_, at))
                                       : std::nullopt;
                if (!facts || facts->base.is_null() || columns().find(facts->base) == no_object) break;
                last = facts->base;
            }
            id = columns().find(last);
            if (id == no_object) id = object;
        }
        const bool is_native = owner.is_null() || columns().find(owner) == no_object;
        const auto [at, added] =
            (is_native ? by_last : by_object).emplace(id, static_cast<std::uint32_t>(table.owners.size()));
        if (added) {
            table.owners.emplace_back();
            (is_native ? table.owners.back().lent_to : table.owners.back().object) = id;
        }
        seen.owner = at->second;
        seen.owns_bytes = id == object && !is_native;
        table.arrays.push_back(seen);
    });
}

std::uint32_t TableBuilder::storage_owner(const TensorFacts& tensor, ObjectId object) {
    const auto [at, added] =
        by_storage_.emplace(tensor.storage->address.value, static_cast<std::uint32_t>(table.owners.size()));
    if (added) {
        ArrayOwner& owner = table.owners.emplace_back();
        owner.lent_to = object;
        owner.storage = tensor.storage->address;
        const std::uint64_t begin = tensor.storage->data.value;
        owner.bytes = {begin, begin + std::min(tensor.storage->bytes, ~begin)};
    }
    return at->second;
}

void TableBuilder::add_tensor(ObjectId object) {
    const auto tensor = shown_tensor(heap_, object);
    if (!tensor) {
        table.sums.tensors_without_bytes += has_no_bytes(heap_, object);
        return;
    }
    SeenArray seen;
    seen.object = object;
    seen.is_tensor = true;
    seen.nbytes = tensor->nbytes();
    seen.owner = storage_owner(*tensor, object);
    table.arrays.push_back(seen);
}

/// Once all arrays are found: storages over an array's memory are that array's, and the first tensor that shows
/// all of a storage stands for it.
void TableBuilder::find_storages() {
    if (by_storage_.empty()) return;
    std::vector<ObjectId> objects;
    for (const SeenArray& seen : table.arrays)
        if (seen.is_tensor) objects.push_back(seen.object);
    tensors_.emplace(graph_, objects);
    struct Memory {
        ByteRange bytes;
        std::uint32_t owner;
    };
    std::vector<Memory> of_arrays;
    for (std::uint32_t i = 0; i < table.owners.size(); ++i) {
        const ObjectId array = table.owners[i].object;
        if (array == no_object || !is_array(columns(), array)) continue;
        const auto facts = array_facts(reader_of(heap_, array));
        if (facts && facts->nbytes > 0)
            of_arrays.push_back({{facts->data.value, facts->data.value + facts->nbytes}, i});
    }
    std::sort(of_arrays.begin(), of_arrays.end(),
              [](const Memory& a, const Memory& b) { return a.bytes.begin < b.bytes.begin; });
    std::vector<std::uint32_t> place(table.owners.size());
    std::vector<ArrayOwner> kept;
    std::vector<std::uint32_t> lent;  // to which array's memory, of the storages that are left out
    for (std::uint32_t i = 0; i < table.owners.size(); ++i) {
        const ArrayOwner& owner = table.owners[i];
        place[i] = static_cast<std::uint32_t>(kept.size());
        const auto above =
            std::upper_bound(of_arrays.begin(), of_arrays.end(), owner.bytes.begin,
                             [](std::uint64_t at, const Memory& m) { return at < m.bytes.begin; });
        const bool is_lent = !owner.storage.is_null() && owner.nbytes() > 0 && above != of_arrays.begin() &&
                             owner.bytes.end <= (above - 1)->bytes.end;
        lent.push_back(is_lent ? (above - 1)->owner : i);
        if (!is_lent) kept.push_back(owner);
    }
    table.owners = std::move(kept);
    std::vector<bool> shown(table.owners.size());
    for (SeenArray& seen : table.arrays) {
        seen.owner = place[lent[seen.owner]];
        const ArrayOwner& owner = table.owners[seen.owner];
        if (!seen.is_tensor || owner.storage.is_null() || shown[seen.owner] || seen.nbytes != owner.nbytes())
            continue;
        const auto tensor = shown_tensor(heap_, seen.object);
        const auto strides =
            tensor ? std::span(tensor->strides).first(tensor->nd) : std::span<const std::int64_t>();
        if (!tensor || tensor->data != tensor->storage->data) continue;
        bool spread = true;
        for (std::size_t i = 0; i < strides.size(); ++i)
            spread = spread && (strides[i] > 0 || tensor->shape[i] <= 1);
        shown[seen.owner] = seen.owns_bytes = spread;
    }
}

void TableBuilder::group() {
    for (const SeenArray& seen : table.arrays) ++table.owners[seen.owner].count;
    std::uint32_t first = 0;
    for (ArrayOwner& owner : table.owners) {
        owner.first = first;
        first += owner.count;
        owner.count = 0;
    }
    table.of_owners.resize(table.arrays.size());
    for (std::uint32_t i = 0; i < table.arrays.size(); ++i) {
        ArrayOwner& owner = table.owners[table.arrays[i].owner];
        table.of_owners[owner.first + owner.count++] = i;
        owner.views += !table.arrays[i].owns_bytes;
    }
}

void TableBuilder::walk_without_bases(const std::vector<std::pair<ObjectId, ObjectId>>& like_bases,
                                      const ProgressCallback& progress) {
    if (progress) progress("arrays' holders", 0);
    std::vector<ObjectId> base_of(graph_.object_count(), no_object);
    for (const SeenArray& seen : table.arrays) {
        if (seen.is_tensor) continue;
        const ObjectReader reader = reader_of(heap_, seen.object);
        Address base;
        if (seen.is_scalar) {
            if (const auto shown = void_facts(reader)) base = shown->base;
        } else if (const auto facts = array_facts(reader)) {
            base = facts->base;
        }
        if (!base.is_null()) base_of[seen.object] = columns().find(base);
    }
    for (const auto& [source, target] : like_bases)
        if (source < base_of.size()) base_of[source] = target;
    const ReachedWithoutBases reached(graph_, base_of);
    const ReferenceGraph& references = *columns().references;
    const auto held = [&](ObjectId object) {
        if (reached[object]) return true;
        const CollectorFacts facts = heap_.collector_facts(object);
        return !facts.immortal && facts.refcount > static_cast<std::int64_t>(references.found(object));
    };
    for (SeenArray& seen : table.arrays) {
        seen.held_by_base = !held(seen.object);
        if (seen.is_tensor && tensors_)
            if (const auto tensor = shown_tensor(heap_, seen.object))
                seen.held_by_base |= tensors_->is_base_only(*tensor);
    }
    // Without native memory nobody knows what C++ holds.
    for (ArrayOwner& owner : table.owners)
        owner.kept_by_views =
            owner.object != no_object ? !held(owner.object) : !lends(owner) && graph_.native();
}

void TableBuilder::see() {
    Elements elements;
    for (ArrayOwner& owner : table.owners) {
        const auto own = table.of_owner(owner);
        ByteRange shown;  // by any of its arrays
        const auto widen = [&](const ByteRange& more) {
            if (more.size() == 0) return;
            if (shown.size() == 0) shown = more;
            shown = {std::min(shown.begin, more.begin), std::max(shown.end, more.end)};
        };
        const bool owner_is_array = owner.object != no_object && is_array(heap_.snapshot(), owner.object);
        if (owner_is_array) {
            ObjectSizes sizes;
            heap_.sizes(owner.object, std::span(&sizes, 1));
            if (const auto facts = array_facts(reader_of(heap_, owner.object))) {
                // if damaged, only what can be there
                const std::uint64_t nbytes = sizes.damaged ? sizes.array_data : facts->nbytes;
                owner.bytes = {facts->data.value, facts->data.value + std::min(nbytes, ~facts->data.value)};
            }
        } else if (lends(owner) || owner.object != no_object) {
            for (const std::uint32_t i : own)
                if (read_elements(heap_, table.arrays[i], elements)) widen(extent_of(elements.array));
            if (owner.object != no_object)
                owner.bytes = buffer_of(reader_of(heap_, owner.object), shown.begin);
            owner.size_known = owner.bytes.size() > 0;
            // as_strided makes arrays that end anywhere.
            const std::uint64_t there =
                heap_.core().memory().mapped_bytes(Address(shown.begin), shown.size());
            if (!owner.size_known) owner.bytes = {shown.begin, shown.begin + there};
        }
        owner.garbage = is_garbage(owner);
        owner.saved = is_saved(heap_.core().memory(), owner.bytes);
        const auto in_hand = [&](std::uint32_t i) { return !table.arrays[i].held_by_base; };
        const bool itself = (owner_is_array || !owner.storage.is_null()) && !owner.kept_by_views;
        if (itself || owner.nbytes() == 0) {
            owner.visible_bytes = owner.nbytes();
            continue;
        }
        SeenBytes seen(owner.bytes);
        for (const std::uint32_t i : own)
            if (in_hand(i) && read_elements(heap_, table.arrays[i], elements)) seen.add(elements.array);
        if (tensors_ && !owner.storage.is_null()) add_saved(owner, seen);
        owner.visible_bytes = seen.count();
        owner.visible_exact = seen.exact();
    }
}

/// What autograd saved of a storage.
void TableBuilder::add_saved(const ArrayOwner& owner, SeenBytes& seen) const {
    const auto shown = shown_tensor(heap_, owner.lent_to);
    if (!shown) return;
    const auto& saved = tensors_->saved();
    Elements elements;
    auto at = std::lower_bound(saved.begin(), saved.end(), std::pair(owner.storage, Address()));
    for (; at != saved.end() && at->first == owner.storage; ++at)
        if (const auto tensor = tensor_impl_facts(heap_.core().memory(), at->second, shown->header);
            tensor && read_elements(*tensor, elements))
            seen.add(elements.array);
}

/// True if no root reaches it or any of its arrays.
bool TableBuilder::is_garbage(const ArrayOwner& owner) const {
    const auto reachable = [&](ObjectId object) { return graph_.reach(object) != Reach::unreachable; };
    if (owner.object != no_object && reachable(owner.object)) return false;
    const auto own = table.of_owner(owner);
    return std::none_of(own.begin(), own.end(),
                        [&](std::uint32_t i) { return reachable(table.arrays[i].object); });
}

void TableBuilder::add_up() {
    for (const SeenArray& seen : table.arrays) {
        table.sums.scalars += seen.is_scalar;
        if (seen.is_scalar) continue;
        ++table.sums.arrays;
        table.sums.tensors += seen.is_tensor;
        if (seen.owns_bytes) continue;
        ++table.sums.views;
        table.sums.view_bytes += seen.nbytes;
    }
    for (const ArrayOwner& owner : table.owners) {
        ++table.sums.owners;
        table.sums.owned_bytes += owner.nbytes();
        if (!owner.storage.is_null()) {
            ++table.sums.storages;
            table.sums.storage_bytes += owner.nbytes();
        } else if (owner.object == no_object) {
            ++table.sums.native_owners;
            table.sums.native_bytes += owner.nbytes();
        } else if (is_array(heap_.snapshot(), owner.object)) {
            ++table.sums.array_owners;
            table.sums.array_owned_bytes += owner.nbytes();
        }
        if (!owner.saved) {
            ++table.sums.not_saved;
            table.sums.not_saved_bytes += owner.nbytes();
        }
        table.sums.kept_by_views += owner.kept_by_views;
        if (owner.garbage) {
            ++table.sums.garbage;
            table.sums.garbage_bytes += owner.nbytes();
        }
        if (!owner.pinned()) continue;
        ++table.sums.pinned;
        table.sums.pinned_bytes += owner.nbytes();
        table.sums.pinned_visible += owner.visible_bytes;
        for (const std::uint32_t i : table.of_owner(owner))
            table.sums.pinned_views += !table.arrays[i].held_by_base;
    }
}

}  // namespace

ArrayTable array_table(const HeapGraph& graph, const std::vector<std::pair<ObjectId, ObjectId>>& like_bases,
                       const ProgressCallback& progress) {
    const TypeTable& types = graph.columns().types;
    bool any = false;
    for (TypeId id{0}; id < types.size(); ++id)
        any = any || types[id].kind == &ndarray_kind || types[id].kind == &tensor_kind;
    if (!any) return {};
    TableBuilder builder(graph);
    builder.find(progress);
    builder.find_storages();
    builder.group();
    builder.walk_without_bases(like_bases, progress);
    builder.see();
    builder.add_up();
    return std::move(builder.table);
}

std::uint64_t shown_bytes(const HeapReader& heap, const ArrayTable& table, const ArrayOwner& owner,
                          std::span<const std::uint32_t> places) {
    if (owner.nbytes() == 0) return 0;
    SeenBytes seen(owner.bytes);
    Elements elements;
    for (const std::uint32_t i : places) {
        if (table.arrays[i].owns_bytes) return owner.nbytes();
        if (read_elements(heap, table.arrays[i], elements)) seen.add(elements.array);
    }
    return seen.count();
}

const ArrayOwner* ArrayTable::owner_of(ObjectId object) const {
    const auto at = std::lower_bound(arrays.begin(), arrays.end(), object,
                                     [](const SeenArray& seen, ObjectId id) { return seen.object < id; });
    if (at != arrays.end() && at->object == object) return &owners[at->owner];
    const auto owner =
        std::find_if(owners.begin(), owners.end(), [&](const ArrayOwner& o) { return o.object == object; });
    return owner == owners.end() ? nullptr : &*owner;
}

}  // namespace heapsift
