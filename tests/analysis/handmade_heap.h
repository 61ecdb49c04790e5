#pragma once

// A heap whose objects a test writes down one by one: its columns, and a reader of values and names beside
// them, so that what analyses and renderers do can be said without a core of an interpreter.

#include "parsers/cpython/layout.h"
#include "parsers/reading/heap_reader.h"
#include "parsers/snapshot/reported_references.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heapsift::test {

struct HandmadeObject {
    Address address;
    std::string type;
    ObjectFacts facts;
    ShortValue value;
    std::vector<Reference> references;
    FoundBy found_by = FoundBy::collector;
    bool finalized = false;
};

class HandmadeReader;

/// Types are made as they are named: one for each name, at 0x1000, 0x1100, …, in the order of first use;
/// `types` adds to them, and comes first. Objects may come in any order. What keeps them alive: `natives`
/// (they are reachable then), a count above the references there are (held), `immortal`; a type of `types`
/// that is none of a Python class is a root where it is an object.
struct HandmadeHeap {
    std::vector<TypeInfo> types;
    std::vector<HandmadeObject> objects;
    std::vector<MemoryRow> memory;
    std::vector<NativeBlockRow> native;  // blocks of C code
    AddressFinding finding{AddressFinding::Kind::unmapped, no_object,
                           no_object};                       // of addresses that are no object
    std::string core_bytes;                                  // an ELF core; empty: a small whole one
    Layout layout = *builtin_layout({3, 11, false, false});  // where a test lays objects out in memory
    std::vector<PythonInterpreter> interpreters;
    std::vector<Reference> natives;  // by word; from blocks of C code

    HandmadeReader build() const;
    /// The columns, all but the roots, which are read from `core_bytes`; `objects` in the order of addresses.
    HeapSnapshot columns() const;
};

/// Answers from what was written down; from the core's bytes where a test laid objects out there.
class HandmadeReader final : public HeapReader {
public:
    explicit HandmadeReader(const HandmadeHeap& made);
    HandmadeReader(HandmadeReader&&) noexcept;
    ~HandmadeReader() override;

    const CoreFile& core() const override;
    const PythonHeap& python_heap() const override;
    ObjectFacts facts(ObjectId object) const override;
    void sizes(ObjectId first, std::span<ObjectSizes> out) const override;
    CollectorFacts collector_facts(ObjectId object) const override;
    ShortValue value(ObjectId object, std::size_t limit = 60) const override;
    AddressFinding locate(Address address) const override;
    void visit_references(ObjectId object, const std::function<void(const Reference&)>& visit) const override;
    void visit_references_to(ObjectId source, std::span<const ObjectId> targets,
                             const std::function<void(const Reference&)>& visit) const override;
    void visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const override;
    void visit_referrers(ObjectId target,
                         const std::function<void(ObjectId, const Reference&)>& visit) const override;
    void visit_native_references(const std::function<void(const Reference&)>& visit) const override;
    void visit_native_blocks(
        const std::function<void(Address start, std::uint32_t row)>& visit) const override;
    ReportedReferences reported_references(std::span<const std::uint8_t> asked,
                                           const ProgressCallback& progress = {}) const override;

private:
    struct State;
    explicit HandmadeReader(std::unique_ptr<State> state);
    const HandmadeObject& object(ObjectId object) const;

    std::unique_ptr<State> state_;
};

ShortValue literal(std::string text, std::uint64_t length);
Reference reference(std::uint64_t target, std::string name, ReferenceKind kind = ReferenceKind::strong);
/// The value at a key of a dict, and the key itself.
Reference item(std::uint64_t target, ShortValue key, ReferenceKind kind = ReferenceKind::strong);
Reference key(std::uint64_t target, ShortValue key, ReferenceKind kind = ReferenceKind::strong);
ObjectFacts facts(std::uint64_t size, std::uint64_t memory, std::uint64_t array_data = 0,
                  std::int64_t refcount = 1);

}  // namespace heapsift::test
