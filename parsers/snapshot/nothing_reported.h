#pragma once

#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// For an object that takes no part in collection: nothing is reported, so strong references become hidden.
struct NothingReported : ReferenceVisitor {
    explicit NothingReported(ReferenceVisitor& v) : inner(v) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        if (kind != ReferenceKind::reported)
            inner.visit(target, kind == ReferenceKind::strong ? ReferenceKind::hidden : kind, name);
    }
    ReferenceVisitor& inner;
};

}  // namespace heapsift
