#include "analysis/growth/object_marks.h"

#include "parsers/base/passes.h"
#include "parsers/cpython/python_heap.h"

namespace heapsift {
namespace {

std::uint32_t folded(std::uint64_t value) {
    const std::uint64_t mixed = (value ^ value >> 32) * 0x9e3779b97f4a7c15;
    return static_cast<std::uint32_t>(mixed >> 32);
}

/// Whether the word behind its type is its length or its value, for good.
bool never_changes(KnownType type) {
    return type == KnownType::str || type == KnownType::bytes || type == KnownType::integer ||
           type == KnownType::floating || type == KnownType::tuple;
}

}  // namespace

std::uint32_t type_mark(const TypeInfo& type) {
    return folded(std::hash<std::string>()(type.name) ^ type.address.value);
}

ObjectMark object_mark(const HeapReader& heap, ObjectId object, std::uint32_t type) {
    const HeapSnapshot& columns = heap.snapshot();
    const Address at = columns.address_of(object);
    ObjectMark mark{at.value, type, 0};
    const TypeId id = columns.type_of(object);
    if (id == no_type || !never_changes(columns.types[id].known)) return mark;
    const PythonHeap& python = heap.python_heap();
    const Address body = at + *python.layout().object.ob_type + 8;
    mark.content = folded(python.pointer(body).value) | 1;
    // The digits of an int follow; the blocks of all ints have these bytes.
    if (columns.types[id].known == KnownType::integer)
        mark.content = folded(mark.content ^ (python.pointer(body + 8).value & 0xffffffff) << 32) | 1;
    return mark;
}

std::vector<ObjectMark> object_marks(const HeapReader& heap, const ProgressCallback& progress) {
    if (progress) progress("noting what is there", 0);
    const HeapSnapshot& columns = heap.snapshot();
    std::vector<std::uint32_t> types;
    for (const TypeInfo& type : columns.types) types.push_back(type_mark(type));
    std::vector<ObjectMark> marks;
    marks.reserve(columns.object_count());
    for (ObjectId object{0}; object < columns.object_count(); ++object) {
        const TypeId type = columns.type_of(object);
        marks.push_back(object_mark(heap, object, type == no_type ? 0 : types[type]));
    }
    return marks;
}

}  // namespace heapsift
