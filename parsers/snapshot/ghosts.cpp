#include "parsers/snapshot/ghosts.h"

#include <bit>

#include "parsers/cpython/build/refcount.h"

namespace heapsift {

bool in_hash_table(const ObjectReader& object, std::uint64_t count) {
    const object_layout& l = object.layout().object;
    const std::uint64_t hash_of_type = std::rotr(object.type().address.value, 4);
    return (has_two_counts(object.layout()) ? object.integer<std::uint64_t>(l.ob_ref_shared) : count) ==
           hash_of_type;
}

bool in_table_of_types(const PythonHeap& heap, Address object, const TypeInfo& type) {
    const auto type_at = [&](Address at) {
        return heap.types().find(Address(heap.integer<std::uint64_t>(at)));
    };
    const std::uint32_t word_before = *heap.layout().object.ob_type - 8;
    if (type_at(object + word_before) != no_type) return true;
    const auto longer_than_an_entry = [&](Address start) {
        if (count_of(heap, start) >= 4096) return false;
        const TypeId id = heap.type_of(start);
        return id != no_type && heap.types()[id].basicsize > 16;
    };
    return type.basicsize > 16 && count_of(heap, object) < 4096 &&
           (longer_than_an_entry(object + 16) || longer_than_an_entry(object - 16));
}

bool references_lead_into_memory(const ObjectAccess& access, Address object, const TypeInfo& type) {
    struct Reader : ReferenceVisitor {
        explicit Reader(const AddressSpace& m) : memory(m) {}
        void visit(Address target, ReferenceKind, const ReferenceName&) override {
            good = good && target.aligned(8) && memory.state_of(target) != ByteState::unmapped;
        }
        const AddressSpace& memory;
        bool good = true;
    } reader(access.heap().memory());
    if (access.references_exact(object, type)) access.visit_references(object, type, reader);
    return reader.good;
}

bool references_lead_to_objects(const ObjectAccess& access, Address object, const TypeInfo& type) {
    struct Reader : ReferenceVisitor {
        explicit Reader(const ObjectAccess& a) : access(a) {}
        void visit(Address target, ReferenceKind kind, const ReferenceName&) override {
            good =
                good && (!is_owned(kind) || (target.aligned(8) && access.heap().type_of(target) != no_type &&
                                             access.refcount(target) > 0));
        }
        const ObjectAccess& access;
        bool good = true;
    } reader(access);
    if (access.references_exact(object, type)) access.visit_references(object, type, reader);
    return reader.good;
}

bool reads_as_remains(const ObjectAccess& access, Address object, const TypeInfo& type) {
    struct Reader : ReferenceVisitor {
        explicit Reader(const ObjectAccess& a) : access(a) {}
        void visit(Address target, ReferenceKind kind, const ReferenceName&) override {
            if (!is_owned(kind) || access.heap().memory().state_of(target) != ByteState::in_core) return;
            dead += !target.aligned(8) || access.heap().type_of(target) == no_type ||
                    access.refcount(target) <= 0;
        }
        const ObjectAccess& access;
        int dead = 0;
    } reader(access);
    if (!type.kind || !type.kind->visit_references || !access.references_exact(object, type)) return false;
    access.visit_references(object, type, reader);
    return reader.dead >= 2;
}

}  // namespace heapsift
