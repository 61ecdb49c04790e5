#pragma once

// An opened core: the columns of its heap, and the reader of its bytes.

#include "parsers/base/diagnostics.h"
#include "parsers/reading/heap_reader.h"
#include "parsers/snapshot/kept_parts.h"
#include "parsers/snapshot/passes.h"

#include <memory>
#include <vector>

namespace heapsift {

class CoreHeap final : public HeapReader {
public:
    /// Finds the interpreter and all objects (`find_heap`). Throws `Error` (exit 1) if there is no CPython,
    /// or none that is supported.
    /// What `index` keeps is read from there; it must live as long. `runtime`: which of the process's CPythons, from 1
    /// on; 0: the first, with a diagnostic if there are more.
    static CoreHeap open(CoreFile core, Diagnostics& diagnostics, const ProgressCallback& progress = {},
                         IndexFile* index = nullptr, std::size_t runtime = 0);
    /// The same, with columns.
    static CoreHeap open(CoreFile core, Columns columns, Diagnostics& diagnostics,
                         const ProgressCallback& progress = {});

    /// Adds the columns that are not there yet (`add_columns`). What was read from the snapshot stays valid.
    void add(const ColumnWishes& wishes, const ProgressCallback& progress = {}) {
        add_columns(*sources_, *heap_, wishes, progress);
    }

    /// The parts of an index that this heap has, and its index does not; to be written while it lives.
    std::vector<PartWriter> parts() const {
        return parts_of(*heap_,
                        {sources_->layout, *sources_->allocations, sources_->odd_of_pools, sources_->learned,
                         sources_->odd_of_objects},
                        sources_->index);
    }

    /// malloc's blocks in use that hold no object: C code's, and those that objects own. Some ms for each GiB of
    /// malloc's heaps.
    std::uint64_t most_native_blocks() const;

    const CoreFile& core() const override { return sources_->core; }
    const PythonHeap& python_heap() const override { return *sources_->python; }
    ObjectFacts facts(ObjectId object) const override;
    void sizes(ObjectId first, std::span<ObjectSizes> out) const override;
    CollectorFacts collector_facts(ObjectId object) const override;
    bool references_exact(ObjectId object) const override {
        return access().references_exact(snapshot().address_of(object), type_info(object));
    }
    ShortValue value(ObjectId object, std::size_t limit = 60) const override;
    AddressFinding locate(Address address) const override;
    bool handed_out(Address address) const override;
    void visit_references(ObjectId object, const std::function<void(const Reference&)>& visit) const override;
    void visit_references_to(ObjectId source, std::span<const ObjectId> targets,
                             const std::function<void(const Reference&)>& visit) const override;
    void visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const override;
    void fetch(ObjectId object) const override { core().memory().fetch(snapshot().address_of(object)); }
    void fetch_parts(ObjectId object) const override {
        access().fetch_references(snapshot().address_of(object), type_info(object));
    }
    void visit_referrers(ObjectId target,
                         const std::function<void(ObjectId, const Reference&)>& visit) const override;
    void visit_native_references(const std::function<void(const Reference&)>& visit) const override;
    void visit_native_blocks(
        const std::function<void(Address start, std::uint32_t row)>& visit) const override;
    ReportedReferences reported_references(std::span<const std::uint8_t> asked,
                                           const ProgressCallback& progress = {}) const override;

private:
    CoreHeap(std::unique_ptr<HeapSnapshot> heap, std::unique_ptr<HeapSources> sources);
    void visit_named(ObjectId source, std::vector<Address> only,
                     const std::function<void(ObjectId, const Reference&)>& visit) const;
    void visit_natives(const std::function<void(const NativeReference&)>& visit) const;
    Reference native_reference(const NativeReference& native) const;
    bool is_known_block(Address address) const;
    const ObjectAccess& access() const { return *sources_->access; }
    const TypeInfo& type_info(ObjectId object) const { return snapshot().type_info(object); }

    std::unique_ptr<HeapSnapshot> heap_;
    std::unique_ptr<HeapSources> sources_;   // refers to heap_
    std::vector<AddressRange> kept_stacks_;  // kept_stacks.h
};

}  // namespace heapsift
