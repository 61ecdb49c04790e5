#pragma once

// How the instances of one C type are laid out: one file for each kind in objects/, and an entry in
// objects/kinds.cpp.
//
// A class written in Python adds slots and a __dict__ to the kind of its nearest C base. That part is the
// same for all classes, and is read in instance.cpp. A C type without its own kind is read as its nearest
// base that has one, and the rest of its body by guess.

#include "parsers/cpython/python_heap.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace heapsift {

/// One object, with checked access to its fields. Made for one question, or a few that belong together: it
/// looks up once where the object's memory is, and keeps what it has read of a str or a dict. Not thread-safe.
class ObjectReader {
public:
    ObjectReader(const PythonHeap& heap, Address object, const TypeInfo& type)
        : heap_(&heap), address_(object), type_(&type), there_(heap.memory().from(object)) {}

    const PythonHeap& heap() const { return *heap_; }
    const Layout& layout() const { return heap_->layout(); }
    Address address() const { return address_; }
    const TypeInfo& type() const { return *type_; }

    /// A pointer field; null if the build lacks the field, or it cannot be read.
    Address pointer(LayoutOffset field) const { return field.present() ? pointer_at(*field) : Address(); }
    /// An integer field; 0 if absent or unreadable.
    template <class T>
    T integer(LayoutOffset field) const {
        return field.present() ? read<T>(*field) : T{};
    }
    /// The word `offset` bytes behind the object's start; null if it cannot be read.
    Address pointer_at(std::uint64_t offset) const { return Address(read<std::uint64_t>(offset)); }
    std::int64_t var_size() const { return read<std::int64_t>(*heap_->layout().var_object.ob_size); }
    /// The object as a str, as a dict (PythonHeap's facts).
    const std::optional<UnicodeFacts>& unicode() const {
        if (!unicode_read_ && !heap_->read_unicode(address_, there_, unicode_.emplace())) unicode_.reset();
        unicode_read_ = true;
        return unicode_;
    }
    const std::optional<DictFacts>& dict() const {
        if (!dict_read_) dict_ = heap_->dict(address_);
        dict_read_ = true;
        return dict_;
    }
    Address at(std::uint64_t offset) const { return address_ + offset; }
    /// All that can be read from the object on, to the end of the segment.
    std::span<const std::byte> bytes() const { return there_; }
    /// `count`, limited by the memory that is there: the number of 8-byte items readable from `items` on, at
    /// most `count`.
    std::uint64_t readable_items(Address items, std::int64_t count) const;
    /// No more than `most` from now on: what its block has room for.
    void limit_items(std::uint64_t most) { most_items_ = most; }

private:
    /// 0 if it cannot be read.
    template <class T>
    T read(std::uint64_t offset) const {
        if (offset > there_.size() || there_.size() - offset < sizeof(T))
            return heap_->integer<T>(address_ + offset);
        T value;
        std::memcpy(&value, there_.data() + offset, sizeof(T));
        return value;
    }

    const PythonHeap* heap_;
    Address address_;
    const TypeInfo* type_;
    std::uint64_t most_items_ = ~std::uint64_t{0};
    std::span<const std::byte> there_;
    mutable bool unicode_read_ = false, dict_read_ = false;
    mutable std::optional<UnicodeFacts> unicode_;
    mutable std::optional<DictFacts> dict_;
};

/// The name of a reference before it is put into words, so that visiting references allocates nothing.
struct ReferenceName {
    enum class Form : std::uint8_t {
        text,          // `text` as it stands: ".__code__"; `number` distinguishes an object's guesses
        attribute,     // "." and the str at `key`
        c_attribute,   // "." and the C string at `key` (__slots__ of a type)
        index,         // `text` and "[number]"
        item,          // "[key]"
        key,           // "key 'x'"
        local,         // `text` and "f_locals['name']" with the str at `key`
        cell,          // the cell of the local with the str at `key`
        hidden_local,  // a local that f_locals does not show, with the str at `key`
        element,       // what the kind of the holder, at `key`, calls its place `number`
                       // (ObjectKind::element_name)
        frame_place,   // a place in a frame of the code at `key`: frame_place_name (running_frames.h)
        offset         // of a guess: the member that a type from the one at `key` on has at this offset, else
                       // "<+number>"
    } form = Form::text;
    FieldName text;
    std::uint64_t number = 0;
    Address key;
};

class ReferenceVisitor {
public:
    virtual ~ReferenceVisitor() = default;
    /// `target` is never null; it need not be an object.
    virtual void visit(Address target, ReferenceKind kind, const ReferenceName& name) = 0;

    void named(Address target, FieldName text, ReferenceKind kind = ReferenceKind::strong) {
        if (!target.is_null()) visit(target, kind, {ReferenceName::Form::text, text, 0, {}});
    }
    void indexed(Address target, std::uint64_t index, ReferenceKind kind = ReferenceKind::strong,
                 FieldName text = "") {
        if (!target.is_null()) visit(target, kind, {ReferenceName::Form::index, text, index, {}});
    }
};

/// A buffer that dies with the object: `start` is what the allocator returned, `bytes` at least what was
/// asked for.
class BufferVisitor {
public:
    virtual ~BufferVisitor() = default;
    virtual void visit(Address start, std::uint64_t bytes, bool array_data) = 0;
};

struct ObjectKind {
    const char* name;  // for people and tests
    std::span<const char* const>
        type_names;  // the C types that it covers, by tp_name: "list", "collections.deque"

    /// What __sizeof__ of this C type returns, without the headers that sys.getsizeof adds. Null:
    /// object.__sizeof__.
    std::uint64_t (*size)(const ObjectReader&) = nullptr;
    /// At least how many bytes of the object's own block follow from the object on. Null: basicsize +
    /// itemsize * |ob_size|.
    std::uint64_t (*body_size)(const ObjectReader&) = nullptr;
    /// The buffers that it owns. Null: none.
    void (*visit_buffers)(const ObjectReader&, BufferVisitor&) = nullptr;
    /// Its references, except to its class and those that a Python class adds (instance.cpp). What traverse
    /// reports is strong here even if instances take no part in collection; ObjectAccess then makes it
    /// hidden. Null: none.
    void (*visit_references)(const ObjectReader&, ReferenceVisitor&) = nullptr;
    /// The name of a reference that `visit_references` numbered (ReferenceName::Form::element). Null: it
    /// numbers none.
    std::string (*element_name)(const ObjectReader&, std::uint64_t place) = nullptr;
    /// A short value. Null: none.
    ShortValue (*describe)(const ObjectReader&, std::size_t limit) = nullptr;
    /// Whether the contents read as an instance. Used if nothing else proves that these bytes are an object.
    /// Null: cannot tell.
    bool (*plausible)(const ObjectReader&) = nullptr;
    /// Whether its own counts and pointers agree, as they do in every instance. False: torn or overwritten.
    /// Null: cannot tell.
    bool (*reads)(const ObjectReader&) = nullptr;
    /// sizeof of the C struct that `visit_references` reads, by the layout. If the tp_basicsize of a type of
    /// that name differs, the layout does not fit its build or lacks the struct, and the type is read by
    /// guess. Null: not checked.
    LayoutOffset (*struct_size)(const Layout&) = nullptr;
    /// Whether traverse reports the class of an instance if that is a heap type made by C. (Since 3.9 it
    /// should: bpo-35810, bpo-40217; some types forget it.) Null: it does.
    bool (*reports_class)(const Layout&) = nullptr;
    /// True if it holds references that `visit_references` does not know; the words of its body are then read
    /// by guess as well.
    bool guesses = false;
    /// Whether all references of this instance are known. False if `visit_references` guesses some. Null:
    /// yes, unless `guesses`.
    bool (*exact)(const ObjectReader&) = nullptr;
    /// True if `size` counts objects other than its own buffers (such as a bytes that it uses), so that its
    /// blocks set no bound on it.
    bool size_counts_others = false;
    /// True if its buffers hold numbers or characters: what reads as an object where one begins is none.
    bool buffers_of_data = false;
    /// True if ob_size is not a field of the instances although the type has items (frames, generators).
    bool no_var_size = false;
};

/// basicsize + itemsize * |ob_size|, as object.__sizeof__ has it.
std::uint64_t basic_size(const ObjectReader& object);

}  // namespace heapsift
