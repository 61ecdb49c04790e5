#pragma once

// The words that may lead to blocks of C code, by where they stand. (Which are left out: native_words.cpp.)

#include "parsers/base/address.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/owned_memory.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// visit(index, word) of each whole word of `bytes`.
template <class Visit>
void visit_words(std::span<const std::byte> bytes, Visit&& visit) {
    for (std::size_t i = 0; 8 * i + 8 <= bytes.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + 8 * i, 8);
        visit(i, word);
    }
}

/// Refers to what it reads: use it within one call.
class NativeWords {
public:
    NativeWords(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                const OwnedPlaces& places);

    /// Saved memory, of which the first byte lies at `at`, an aligned address.
    using Visitor = std::function<void(std::span<const std::byte> bytes, Address at)>;

    /// The memory of the objects that may have such words, with the buffers that they own; by object. Of the objects from
    /// `begin` on, without `end`: any number of threads may do so, each with others.
    void visit_objects(
        ObjectId begin, ObjectId end,
        const std::function<void(ObjectId, std::span<const std::byte> bytes, Address at)>& visit) const;
    struct Number {
        ObjectId object;
        Address value;
    };
    /// Ints that are not negative, have at most 64 bits, and are `wanted`; by object. Reads every int: 10 to 20 ns.
    std::vector<Number> numbers(const std::function<bool(Address)>& wanted) const;
    /// Blocks of pymalloc in use that hold neither an object nor anything that one owns; by address.
    std::vector<AddressRange> python_tables() const;
    /// Variables of programs and libraries.
    void visit_modules(const Visitor& visit) const;
    /// Memory that is no allocator's, no stack, and no module's.
    void visit_mappings(const Visitor& visit) const;
    /// What is live of the stacks.
    void visit_stacks(const Visitor& visit) const;

private:
    class OwnWords;
    /// All saved, writable memory that `is_wanted`, outside `skip`.
    void sweep(std::vector<AddressRange> skip, const std::function<bool(const Segment&)>& is_wanted,
               const Visitor& visit) const;
    std::vector<AddressRange> objects_and_allocators() const;
    /// What is no address of objects in modules' data, found as objects or not.
    std::vector<AddressRange> static_constants() const;
    std::optional<std::uint64_t> small_int(Address object) const;

    const CoreFile& core_;
    const ObjectAccess& access_;
    const MallocHeaps& heaps_;
    const Pymalloc& pymalloc_;
    const FoundObjects& objects_;
    const OwnedPlaces& places_;
    std::vector<AddressRange> stacks_;
    std::vector<std::uint8_t> looked_at_,
        declared_;  // by type: whether instances may have such words; no more than it declares
};

}  // namespace heapsift
