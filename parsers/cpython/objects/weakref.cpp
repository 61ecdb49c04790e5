// weakref.ref and proxies: the referent is weak, the callback strong. Calling a reference returns its
// referent; a proxy passes every call and attribute on to it. (weakrefobject.h)

#include "parsers/cpython/objects/kinds.h"

namespace heapsift {

namespace {

void visit_weak(const ObjectReader& object, FieldName name, FieldName callback, ReferenceVisitor& visit) {
    const auto& l = object.layout().weakref;
    const Address referent = object.pointer(l.wr_object);
    // A cleared reference points at None.
    const TypeId type = referent.is_null() ? no_type : object.heap().type_of(referent);
    if (type != no_type && !object.heap().types().is(type, KnownType::none))
        visit.named(referent, name, ReferenceKind::weak);
    visit.named(object.pointer(l.wr_callback), callback);
}

void weakref_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_weak(object, "()", ".__callback__", visit);
}

void proxy_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit_weak(object, ".<referent>", ".<callback>", visit);
}

ShortValue weakref_describe(const ObjectReader& object, std::size_t) {
    const Address referent = object.pointer(object.layout().weakref.wr_object);
    const TypeId type = referent.is_null() ? no_type : object.heap().type_of(referent);
    if (type == no_type || object.heap().types().is(type, KnownType::none))
        return {ShortValue::Kind::summary, "dead", 0};
    return {ShortValue::Kind::summary, "to " + object.heap().types()[type].name, 0};
}

constexpr const char* weakref_names[] = {"weakref", "weakref.ReferenceType"};
constexpr const char* proxy_names[] = {"weakproxy", "weakcallableproxy", "weakref.ProxyType",
                                       "weakref.CallableProxyType"};

}  // namespace

const ObjectKind weakref_kind = {
    .name = "weakref", .type_names = weakref_names, .visit_references = weakref_references, .describe = weakref_describe};
const ObjectKind weakproxy_kind = {.name = "weak proxy",
                                   .type_names = proxy_names,
                                   .visit_references = proxy_references,
                                   .describe = weakref_describe};

}  // namespace heapsift
