// functools and operator: partial, cmp_to_key, lru_cache, and the getters. (_functoolsmodule.c, _operator.c)
//
// A bounded lru_cache keeps its results in links, objects that take no part in collection. A link owns its
// key and result; the cache's dict and the ring of links each own a reference to the link. As links have no
// traverse, the cache reports what they hold: keys, results and, since links have a heap type, their class.

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/type_flags.h"

namespace heapsift {

namespace {

constexpr const char* comparison_key_names[] = {"functools.KeyWrapper"};
constexpr const char* itemgetter_names[] = {"operator.itemgetter"};
constexpr const char* attrgetter_names[] = {"operator.attrgetter"};
constexpr const char* methodcaller_names[] = {"operator.methodcaller"};

constexpr ReferenceField<comparison_key_layout> comparison_key_fields[] = {
    {&comparison_key_layout::cmp, ".<comparison>"}, {&comparison_key_layout::object, ".obj"}};
constexpr ReferenceField<itemgetter_layout> itemgetter_fields[] = {{&itemgetter_layout::item, ".<items>"}};
constexpr ReferenceField<attrgetter_layout> attrgetter_fields[] = {
    {&attrgetter_layout::attr, ".<attributes>"}};
constexpr ReferenceField<methodcaller_layout> methodcaller_fields[] = {
    {&methodcaller_layout::args, ".<arguments>"}, {&methodcaller_layout::kwds, ".<keyword arguments>"}};

void lru_cache_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    const auto& l = object.layout().lru_cache;
    const auto& link_layout = object.layout().lru_cache_link;
    visit.named(object.pointer(l.cache), ".<cache>");
    visit.named(object.pointer(l.func), ".__wrapped__");
    visit.named(object.pointer(l.maxsize_object), ".<maximum>");
    visit.named(object.pointer(l.kwd_mark), ".<keyword mark>");
    visit.named(object.pointer(l.lru_list_elem_type), ".<link type>");
    visit.named(object.pointer(l.cache_info_type), ".<cache_info type>");
    visit.named(object.pointer(l.dict), ".__dict__");
    if (!l.root_next.present() || !link_layout.next.present()) return;
    const TypeId link_type = heap.type_of(object.pointer(l.root_next));
    const bool class_reported = link_type != no_type && heap.types()[link_type].heap_type;
    // Up to 3.6 links are tracked, and report what they hold.
    const bool links_tracked = link_type != no_type && heap.types()[link_type].flags & have_gc_flag;
    // Follow the ring only while its links agree, so that no link is visited twice.
    Address before = object.address();
    for (Address link = object.pointer(l.root_next); link != object.address();
         link = heap.pointer(link + *link_layout.next)) {
        if (link.is_null() || heap.pointer(link + *link_layout.prev) != before ||
            heap.type_of(link) != link_type)
            return;
        visit.named(link, ".<link>", links_tracked ? ReferenceKind::strong : ReferenceKind::hidden);
        before = link;
        if (links_tracked) continue;
        visit.named(heap.pointer(link + *link_layout.key), ".<link>.key", ReferenceKind::reported);
        visit.named(heap.pointer(link + *link_layout.result), ".<link>.result", ReferenceKind::reported);
        if (class_reported)
            visit.named(heap.type_address(link), ".<link>.__class__", ReferenceKind::reported);
    }
}

constexpr const char* partial_names[] = {"functools.partial"};
constexpr const char* lru_cache_names[] = {"functools._lru_cache_wrapper"};
constexpr const char* lru_cache_link_names[] = {"functools._lru_list_elem"};

constexpr ReferenceField<partial_layout> partial_fields[] = {{&partial_layout::fn, ".func"},
                                                             {&partial_layout::args, ".args"},
                                                             {&partial_layout::kw, ".keywords"},
                                                             {&partial_layout::dict, ".__dict__"}};

void lru_cache_link_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto kind = object.type().flags & have_gc_flag ? ReferenceKind::strong : ReferenceKind::hidden;
    visit.named(object.pointer(object.layout().lru_cache_link.key), ".key", kind);
    visit.named(object.pointer(object.layout().lru_cache_link.result), ".result", kind);
}

/// Up to 3.9 traverse leaves out the name. 3.13 keeps the arguments of the call ready: its first releases in
/// an array of borrowed pointers beside a tuple of names, which is set together with the array; later ones in
/// two tuples, which they report.
void methodcaller_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().methodcaller;
    const PythonHeap& heap = object.heap();
    visit.named(object.pointer(l.name), ".<name>",
                reports_since(object.layout(), 10) ? ReferenceKind::strong : ReferenceKind::hidden);
    visit_fields<&Layout::methodcaller, methodcaller_fields>(object, visit);
    const Address ready = object.pointer(l.vectorcall_args);
    if (ready.is_null() || object.pointer(l.vectorcall).is_null()) return;
    auto is_tuple = [&](Address at) {
        return !at.is_null() && heap.types().is(heap.type_of(at), KnownType::tuple);
    };
    const bool two_tuples = is_tuple(ready);
    if (two_tuples) visit.named(ready, ".<call arguments>");
    if (const Address names = object.pointer(l.vectorcall_kwnames); is_tuple(names))
        visit.named(names, ".<call keywords>", two_tuples ? ReferenceKind::strong : ReferenceKind::hidden);
}

const ObjectKind kinds_of_functools[] = {
    fields_kind<&Layout::partial, partial_fields>("partial", partial_names),
    {.name = "lru_cache link",
     .type_names = lru_cache_link_names,
     .visit_references = lru_cache_link_references,
     .struct_size = struct_size<&Layout::lru_cache_link>},
    {.name = "lru_cache",
     .type_names = lru_cache_names,
     .visit_references = lru_cache_references,
     .struct_size = struct_size<&Layout::lru_cache>},
    fields_kind<&Layout::comparison_key, comparison_key_fields>("comparison key", comparison_key_names),
    fields_kind<&Layout::itemgetter, itemgetter_fields>("itemgetter", itemgetter_names),
    fields_kind<&Layout::attrgetter, attrgetter_fields>("attrgetter", attrgetter_names),
    {.name = "methodcaller",
     .type_names = methodcaller_names,
     .visit_references = methodcaller_references,
     .struct_size = struct_size<&Layout::methodcaller>},
};

}  // namespace

std::span<const ObjectKind> functools_kinds() { return kinds_of_functools; }

}  // namespace heapsift
