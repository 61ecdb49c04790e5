// Objects around raw bytes: memoryview and its managed buffer, array.array. (memoryobject.h, arraymodule.c)

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

void memoryview_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.memoryview.mbuf), ".<managed buffer>");
    visit.named(object.pointer(l.memoryview.base),
                ".<base>");  // 2.7, where it owns the object of its view too
    const auto kind = l.memoryview.base.present() ? ReferenceKind::strong : ReferenceKind::weak;
    if (l.memoryview.view.present() && l.buffer.obj.present())
        visit.named(object.heap().pointer(object.at(*l.memoryview.view + *l.buffer.obj)), ".obj", kind);
}

void managed_buffer_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    if (l.managed_buffer.master.present() && l.buffer.obj.present())
        visit.named(object.heap().pointer(object.at(*l.managed_buffer.master + *l.buffer.obj)), ".<object>");
}

ArrayItems array_items(const ObjectReader& object) {
    return object.heap().array_items(object.pointer(object.layout().array.ob_descr));
}

std::uint64_t array_module_bytes(const ObjectReader& object) {
    return object.integer<std::uint64_t>(object.layout().array.allocated) * array_items(object).size;
}

std::uint64_t array_size(const ObjectReader& object) {
    return object.type().basicsize + array_module_bytes(object);
}

void array_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Address items = object.pointer(object.layout().array.ob_item);
    if (!items.is_null()) visit.visit(items, array_module_bytes(object), true);
}

ShortValue array_describe(const ObjectReader& object, std::size_t) {
    const char code = array_items(object).typecode;
    return {ShortValue::Kind::summary,
            fmt::format("array '{}' of {}", code >= ' ' && code < 127 ? code : '?',
                        std::max<std::int64_t>(object.var_size(), 0)),
            0};
}

constexpr const char* memoryview_names[] = {"memoryview"};
constexpr const char* managed_buffer_names[] = {"managedbuffer"};
constexpr const char* array_module_names[] = {"array.array"};

}  // namespace

const ObjectKind memoryview_kind = {
    .name = "memoryview", .type_names = memoryview_names, .visit_references = memoryview_references};
const ObjectKind managed_buffer_kind = {.name = "managedbuffer",
                                        .type_names = managed_buffer_names,
                                        .visit_references = managed_buffer_references};
const ObjectKind array_kind = {.name = "array",
                               .type_names = array_module_names,
                               .size = array_size,
                               .visit_buffers = array_buffers,
                               .describe = array_describe,
                               .buffers_of_data = true};

}  // namespace heapsift
