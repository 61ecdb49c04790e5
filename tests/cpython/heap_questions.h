#pragma once

// What the tests of object kinds ask of one object: its __sizeof__, its references by name, its buffers, its
// short value. Names are written as in Python, with str keys unquoted; parsers/snapshot words them for
// people, and its tests cover that.

#include "parsers/cpython/instance.h"
#include "parsers/cpython/running_frames.h"
#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"

#include <string>
#include <vector>

namespace heapsift::test {

struct Seen {
    Address target;
    std::string name;
    ReferenceKind kind = ReferenceKind::strong;
    bool operator==(const Seen&) const = default;
};

struct SeenBuffer {
    Address start;
    std::uint64_t bytes = 0;
    bool array_data = false;
    bool operator==(const SeenBuffer&) const = default;
};

inline std::string name_of(const PythonHeap& heap, const ReferenceName& name) {
    using Form = ReferenceName::Form;
    const std::string key = heap.unicode_text(name.key).value_or("?");
    switch (name.form) {
        case Form::text:
            return name.text.text;
        case Form::attribute:
            return "." + key;
        case Form::c_attribute:
            return "." + heap.memory().read_c_string(name.key).value_or("?");
        case Form::index:
            return name.text.text + ("[" + std::to_string(name.number) + "]");
        case Form::item:
            return "['" + key + "']";
        case Form::key:
            return "key " + key;
        case Form::local:
            return std::string(name.text.text) + "f_locals['" + key + "']";
        case Form::cell:
            return ".<cell " + key + ">";
        case Form::hidden_local:
            return ".<local " + key + ">";
        case Form::element: {
            const TypeInfo& type = heap.types()[heap.type_of(name.key)];
            return type.kind->element_name(ObjectReader(heap, name.key, type), name.number);
        }
        case Form::frame_place:
            return frame_place_name(heap, name.key, name.number);
        case Form::offset:
            return "<+" + std::to_string(name.number) + ">";
    }
    return "";
}

struct CollectReferences : ReferenceVisitor {
    explicit CollectReferences(const PythonHeap& h) : heap(h) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        ++count;
        if (seen.size() < 4096) seen.push_back({target, name_of(heap, name), kind});
    }
    const PythonHeap& heap;
    std::vector<Seen> seen;
    std::uint64_t count = 0;
};

struct CollectBuffers : BufferVisitor {
    void visit(Address start, std::uint64_t bytes, bool array_data) override {
        ++count;
        if (seen.size() < 4096) seen.push_back({start, bytes, array_data});
    }
    std::vector<SeenBuffer> seen;
    std::uint64_t count = 0;
};

inline CollectReferences all_references(PythonHeapBuilder& heap, Address object) {
    const ObjectReader reader = heap.reader(object);
    CollectReferences found(reader.heap());
    const ObjectKind* kind = reader.type().kind;
    if (kind && kind->visit_references) kind->visit_references(reader, found);
    visit_instance_references(reader, found);
    return found;
}

inline std::vector<Seen> references(PythonHeapBuilder& heap, Address object) {
    return all_references(heap, object).seen;
}

/// The targets that traverse reports, in order.
inline std::vector<Address> referents(PythonHeapBuilder& heap, Address object) {
    std::vector<Address> targets;
    for (const Seen& seen : references(heap, object))
        if (seen.kind == ReferenceKind::strong) targets.push_back(seen.target);
    return targets;
}

/// The first reference of that name; its target is null if there is none.
inline Seen reference(PythonHeapBuilder& heap, Address object, const std::string& name) {
    for (const Seen& seen : references(heap, object))
        if (seen.name == name) return seen;
    return {};
}

inline std::vector<SeenBuffer> buffers(PythonHeapBuilder& heap, Address object) {
    const ObjectReader reader = heap.reader(object);
    CollectBuffers found;
    const ObjectKind* kind = reader.type().kind;
    if (kind && kind->visit_buffers) kind->visit_buffers(reader, found);
    visit_instance_buffers(reader, found);
    return found.seen;
}

/// What __sizeof__ returns: sys.getsizeof without the headers before the object.
inline std::uint64_t size_of(PythonHeapBuilder& heap, Address object) {
    const ObjectReader reader = heap.reader(object);
    return reader.type().size_kind ? reader.type().size_kind->size(reader) : basic_size(reader);
}

inline ShortValue value_of(PythonHeapBuilder& heap, Address object, std::size_t limit = 60) {
    const ObjectReader reader = heap.reader(object);
    return reader.type().kind && reader.type().kind->describe ? reader.type().kind->describe(reader, limit)
                                                              : ShortValue{};
}

inline std::string text_of(PythonHeapBuilder& heap, Address object, std::size_t limit = 60) {
    return value_of(heap, object, limit).text;
}

inline bool plausible(PythonHeapBuilder& heap, Address object) {
    const ObjectReader reader = heap.reader(object);
    return reader.type().kind && reader.type().kind->plausible && reader.type().kind->plausible(reader);
}

/// Asks everything of a damaged object: the answers do not matter, only that they come.
inline void ask_everything(PythonHeapBuilder& heap, Address object) {
    const ObjectReader reader = heap.reader(object);
    (void)all_references(heap, object);
    (void)buffers(heap, object);
    (void)size_of(heap, object);
    (void)text_of(heap, object);
    (void)plausible(heap, object);
    if (reader.type().kind && reader.type().kind->body_size) (void)reader.type().kind->body_size(reader);
    (void)inline_values_size(reader);
}

inline std::ostream& operator<<(std::ostream& out, const Seen& seen) {
    static const char* const kinds[] = {"strong", "hidden", "weak", "guess"};
    return out << std::hex << seen.target.value << std::dec << " " << seen.name << " "
               << kinds[static_cast<int>(seen.kind)];
}

inline std::ostream& operator<<(std::ostream& out, const SeenBuffer& seen) {
    return out << std::hex << seen.start.value << std::dec << " " << seen.bytes
               << (seen.array_data ? " array" : "");
}

}  // namespace heapsift::test

namespace heapsift {
inline std::ostream& operator<<(std::ostream& out, const Address& address) {
    return out << std::hex << address.value << std::dec;
}
}  // namespace heapsift
