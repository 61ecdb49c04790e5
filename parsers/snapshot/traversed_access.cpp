#include "parsers/snapshot/object_access.h"

// References of an object whose traverse is known from its own code, put together with what is known besides.
//
// The visits say what is reported, and nothing of names. So a kind that describes a part of the object (that
// of a known base), and for types made by C the attributes, give names to the visits that lead where they
// say; what they hold as reported and the traverse does not visit is hidden. The rest is named by where it stands.
// What a class statement adds is reported by the class's own traverse (typeobject.c, subtype_traverse), which
// calls that of the C type, and reports the class unless the C type is a heap type with a traverse, which
// would do so itself.

#include "parsers/cpython/build/refcount.h"
#include "parsers/snapshot/nothing_reported.h"

namespace heapsift {
namespace {

constexpr std::uint64_t longest_body = 1 << 16;

/// Gives names to visits.
struct NameVisits : ReferenceVisitor {
    NameVisits(VisitList& v, ReferenceVisitor& to) : visits(v), inner(to) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        const bool reports = kind == ReferenceKind::strong || kind == ReferenceKind::reported;
        VisitList::Visit* const one = reports ? visits.find(target) : nullptr;
        if (one)
            one->taken = true;
        else if (kind == ReferenceKind::reported || (kind == ReferenceKind::guess && visits.find(target)))
            return;  // a guess that a visit proves is that visit's; a word like one that has its name may be another
        inner.visit(target, kind == ReferenceKind::strong && !one ? ReferenceKind::hidden : kind, name);
    }
    VisitList& visits;
    ReferenceVisitor& inner;
};

}  // namespace

bool ObjectAccess::visit_traversed(const ObjectReader& object, const TraversedReferences::Reading& reading,
                                   ReferenceVisitor& visit) const {
    VisitList visits;
    if (!traversed_->visits_of(reading, object.address(), heap_->memory(), visits)) return false;
    if (visits.nothing_asked) {
        NothingReported unreported(visit);
        name_visits(object, reading, visits, unreported);
    } else {
        name_visits(object, reading, visits, visit);
    }
    return true;
}

void ObjectAccess::name_visits(const ObjectReader& object, const TraversedReferences::Reading& reading,
                               VisitList& visits, ReferenceVisitor& visit) const {
    const TypeInfo& type = object.type();
    const TypeInfo& made_by_c = *c_base(*heap_, type);
    NameVisits names(visits, visit);
    if (type.heap_type) {
        const bool asks_base =
            made_by_c.heap_type &&
            !heap_->pointer(made_by_c.address + *heap_->layout().type.tp_traverse).is_null();
        const bool by_class = type.python_class && !reading.whole && !asks_base;
        VisitList::Visit* const one = by_class ? nullptr : visits.find(type.address);
        if (one) one->taken = true;
        visit.named(type.address, ".__class__",
                    by_class || one ? ReferenceKind::strong : ReferenceKind::hidden);
    }
    if (type.kind && type.kind->visit_references) type.kind->visit_references(object, names);
    visit_instance_attributes(object, type.python_class && !reading.whole ? visit : names);

    // Where the visits of an emulated object came from.
    const std::uint64_t body = std::min(made_by_c.basicsize, longest_body);
    std::uint64_t offset = 16;
    for (std::size_t i = 0; i < visits.size(); ++i) {
        VisitList::Visit& one = visits[i];
        if (one.taken) continue;
        std::int32_t at = one.offset;
        // Mostly the words follow each other as the visits do.
        for (std::uint64_t looked = 16; at < 0 && looked + 8 <= body; looked += 8) {
            if ((heap_->pointer(object.at(offset)).value & ~std::uint64_t{1}) == one.target.value)
                at = static_cast<std::int32_t>(offset);
            offset = offset + 16 <= body ? offset + 8 : 16;
        }
        if (at < 0)
            visit.indexed(one.target, i, ReferenceKind::strong, ".<visited>");
        else if (at == made_by_c.dictoffset && heap_->is_dict(one.target))
            visit.named(one.target, ".__dict__");
        else
            visit.visit(one.target, ReferenceKind::strong,
                        {ReferenceName::Form::offset, "", static_cast<std::uint64_t>(at), type.address});
    }
    for (const std::uint32_t word : reading.unreported) {
        const Address target = heap_->pointer(object.at(word));
        if (target.is_null() || !target.aligned(8) || visits.has(target) ||
            heap_->type_of(target) == no_type || refcount(target) <= 0)
            continue;
        visit.visit(target, ReferenceKind::guess, {ReferenceName::Form::offset, "", word, type.address});
    }
}

}  // namespace heapsift
