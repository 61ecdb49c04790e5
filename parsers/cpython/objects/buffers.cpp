// Objects around raw bytes: memoryview and the managed buffer behind it, array.array, BytesIO, buffered files.
// (memoryobject.h, arraymodule.c, _io/bytesio.c, _io/bufferedio.c)

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

void memoryview_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.memoryview.mbuf), ".<managed buffer>");
    if (l.memoryview.view.present() && l.buffer.obj.present())
        visit.named(object.heap().pointer(object.at(*l.memoryview.view + *l.buffer.obj)), ".obj", ReferenceKind::weak);
}

void managed_buffer_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    if (l.managed_buffer.master.present() && l.buffer.obj.present())
        visit.named(object.heap().pointer(object.at(*l.managed_buffer.master + *l.buffer.obj)), ".obj");
}

ArrayItems array_items(const ObjectReader& object) {
    return object.heap().array_items(object.pointer(object.layout().array.ob_descr));
}

std::uint64_t array_bytes(const ObjectReader& object) {
    return object.integer<std::uint64_t>(object.layout().array.allocated) * array_items(object).size;
}

std::uint64_t array_size(const ObjectReader& object) { return object.type().basicsize + array_bytes(object); }

void array_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Address items = object.pointer(object.layout().array.ob_item);
    if (!items.is_null()) visit.visit(items, array_bytes(object), true);
}

ShortValue array_describe(const ObjectReader& object, std::size_t) {
    const char code = array_items(object).typecode;
    return {ShortValue::Kind::summary,
            fmt::format("array '{}' of {}", code >= ' ' && code < 127 ? code : '?', std::max<std::int64_t>(object.var_size(), 0)),
            0};
}

std::uint64_t bytes_io_size(const ObjectReader& object) {
    std::uint64_t size = object.type().basicsize;
    const Address buffer = object.pointer(object.layout().bytes_io.buf);
    // Counted only where nobody else shares the bytes object (_io/bytesio.c, bytesio_sizeof).
    if (!buffer.is_null() && object.heap().integer<std::int64_t>(buffer) == 1)
        size += *object.layout().bytes.ob_sval + 1 +
                static_cast<std::uint64_t>(std::max<std::int64_t>(object.heap().var_size(buffer), 0));
    return size;
}

void bytes_io_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().bytes_io.dict), ".__dict__");
    visit.named(object.pointer(object.layout().bytes_io.buf), ".<buffer>", ReferenceKind::hidden);
}

std::uint64_t buffered_size(const ObjectReader& object) {
    const auto& l = object.layout().buffered;
    std::uint64_t size = object.type().basicsize;
    if (!object.pointer(l.buffer).is_null()) size += object.integer<std::uint64_t>(l.buffer_size);
    return size;
}

void buffered_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().buffered;
    if (const Address buffer = object.pointer(l.buffer); !buffer.is_null())
        visit.visit(buffer, object.integer<std::uint64_t>(l.buffer_size), false);
}

void buffered_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().buffered.raw), ".raw");
    visit.named(object.pointer(object.layout().buffered.dict), ".__dict__");
}

constexpr const char* memoryview_names[] = {"memoryview"};
constexpr const char* managed_buffer_names[] = {"managedbuffer"};
constexpr const char* array_names[] = {"array.array"};
constexpr const char* bytes_io_names[] = {"_io.BytesIO"};
constexpr const char* buffered_names[] = {"_io.BufferedReader", "_io.BufferedWriter", "_io.BufferedRandom"};

}  // namespace

const ObjectKind memoryview_kind = {
    .name = "memoryview", .type_names = memoryview_names, .visit_references = memoryview_references};
const ObjectKind managed_buffer_kind = {
    .name = "managedbuffer", .type_names = managed_buffer_names, .visit_references = managed_buffer_references};
const ObjectKind array_kind = {
    .name = "array", .type_names = array_names, .size = array_size, .visit_buffers = array_buffers, .describe = array_describe};
const ObjectKind bytes_io_kind = {
    .name = "BytesIO", .type_names = bytes_io_names, .size = bytes_io_size, .visit_references = bytes_io_references};
const ObjectKind buffered_kind = {.name = "buffered file",
                                  .type_names = buffered_names,
                                  .size = buffered_size,
                                  .visit_buffers = buffered_buffers,
                                  .visit_references = buffered_references};

}  // namespace heapsift
