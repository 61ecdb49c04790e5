#pragma once

// Which objects are equal: a hash of the value of each object that is a value. (How: content_hashes.cpp.)

#include "parsers/base/ranked_set.h"
#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

/// What an object's value is made of. A type's kind is that of all its instances.
enum class ContentKind : std::uint8_t {
    none,  // mutable, or not a value
    text,
    bytes,
    integer,
    floating,
    complex,
    array,  // numpy.ndarray
    tuple,  // also a named tuple without further attributes
    frozen_set,
    constant  // None, True, False, Ellipsis: there is one of each; only a part of others' values
};

/// By TypeId, and one more for objects whose type was not found.
std::vector<ContentKind> content_kinds(const HeapReader& heap);

/// Equal hashes: equal values of one type, but for a chance of 2^-64 a pair. 8 bytes for each object that may
/// be a value, and two bits for each other one.
class ContentHashes {
public:
    /// No hash: not a value, not readable, or dropped.
    static constexpr std::uint64_t none = 0;
    /// Below these a column says in place of a hash why there is none.
    static constexpr std::uint64_t first_hash = 16, no_value = 1;

    /// `kinds`: content_kinds; `values`: the objects whose type is one of values; `hashes`: by place among
    /// them.
    ContentHashes(std::vector<ContentKind> kinds, RankedSet values, std::vector<std::uint64_t> hashes,
                  std::uint64_t unread)
        : kinds_(std::move(kinds)), values_(std::move(values)), hashes_(std::move(hashes)), unread_(unread) {}

    std::uint64_t of(ObjectId object) const {
        if (!values_.has(object)) return none;
        const std::uint64_t hash = hashes_[values_.rank(object)];
        return hash < first_hash ? none : hash;
    }
    /// From now on the object has none.
    void drop(ObjectId object) {
        if (values_.has(object)) hashes_[values_.rank(object)] = no_value;
    }
    ContentKind kind(TypeId type) const {
        return kinds_[type < kinds_.size() - 1 ? std::size_t{type} : kinds_.size() - 1];
    }
    /// Objects that may have a hash.
    std::size_t count() const { return hashes_.size(); }
    /// visit(object, hash) for each that has one, by id.
    template <class F>
    void visit(std::size_t objects, F&& visit) const {
        std::size_t at = 0;
        for (ObjectId object{0}; object < objects && at < hashes_.size(); ++object)
            if (values_.has(object)) {
                if (hashes_[at] >= first_hash) visit(object, hashes_[at]);
                ++at;
            }
    }

    /// Objects of these types whose bytes are not in the core, or whose lengths cannot be true.
    std::uint64_t unread() const { return unread_; }

private:
    std::vector<ContentKind> kinds_;
    RankedSet values_;
    std::vector<std::uint64_t> hashes_;
    std::uint64_t unread_;
};

/// For a heap with sizes and references. Reads the bytes of each value once; 20 to 60 ns an object and its
/// content at the speed of memory.
ContentHashes content_hashes(const HeapReader& heap, const ProgressCallback& progress = {});

/// Compares two objects of equal hashes byte by byte, and item by item. Each pair that is looked at is taken from
/// `pairs`; when none are left, the hashes are believed.
bool have_equal_content(const HeapReader& heap, const ContentHashes& hashes, ObjectId one, ObjectId other,
                        std::uint64_t& pairs);

}  // namespace heapsift
