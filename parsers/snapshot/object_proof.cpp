#include "parsers/snapshot/object_proof.h"

#include "parsers/cpython/build/collector.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/snapshot/ghosts.h"
#include "parsers/snapshot/thread_stacks.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t max_refcount = 0xffffffff;
constexpr std::uint64_t lowest_address = 4096;

/// A count above 2^32 would need 32 GiB of references; immortal objects (3.12+) have 2^32 - 1.
bool alive(std::uint64_t count) { return count != 0 && count <= max_refcount; }

/// The address of an object is not a count. Such pairs occur in an array of one pointer in a block that was an int,
/// and where a C module's variables lie side by side: an object, and a type.
bool is_address_of_object(const PythonHeap& heap, std::uint64_t count) {
    return count >= lowest_address && Address(count).aligned(8) && heap.type_of(Address(count)) != no_type;
}

/// Whether what stands beside the counts of a free-threaded build's object is what can be there (object.h): flags
/// (3.13: none), a mutex, the collector's bits, and the owner, the address of a thread's control block.
bool header_of_two_counts_reads(const PythonHeap& heap, Address object) {
    constexpr std::uint16_t flags = 15;
    constexpr std::uint8_t mutex = 3;
    const object_layout& l = heap.layout().object;
    const Address bits = object + *l.ob_gc_bits;
    return heap.integer<std::uint16_t>(bits - 3) <= flags && heap.integer<std::uint8_t>(bits - 1) <= mutex &&
           (heap.integer<std::uint8_t>(bits) & gc_bits_unused) == 0 &&
           heap.pointer(object + *l.ob_tid).aligned(8);
}

}  // namespace

ObjectProof::ObjectProof(const CoreFile& core, const ObjectAccess& access)
    : access_(access),
      heap_(access.heap()),
      memory_(core.memory()),
      stacks_(thread_stacks(core, access.allocations())) {}

/// True if the collector's header reads as untracked, or as linked in a list; of free-threaded builds, which have
/// none, if the object's own reads.
bool ObjectProof::header_reads(Address object, const TypeInfo& type) const {
    if (has_two_counts(heap_.layout())) return header_of_two_counts_reads(heap_, object);
    if (!access_.is_gc(object, type)) return true;
    const auto& l = heap_.layout().gc_head;
    const Address head = collector_header(heap_.layout(), object);
    const auto word = [&](std::uint32_t at) { return heap_.integer<std::uint64_t>(head + at); };
    if (l.refs.present() && !header_is_tracked(heap_.layout(), word))
        return true;  // its links may be anything
    const auto next_word = word(*l.next);
    const Address next(next_word & collector_link_bits);
    const Address prev(heap_.integer<std::uint64_t>(head + *l.prev) & collector_link_bits);
    if (next.is_null())  // flags appear only beside links
        return next_word == 0 && prev.is_null() && !l.refs.present();
    return Address(heap_.integer<std::uint64_t>(next + *l.prev) & collector_link_bits) == head;
}

Verdict ObjectProof::in_block(Address object, const TypeInfo& type, std::uint64_t block_size,
                              std::uint64_t slack) const {
    const ObjectReader reader(heap_, object, type);
    const std::uint64_t count = count_of(heap_, object, reader.bytes());
    if (!alive(count) || in_hash_table(reader, count) || !header_reads(object, type)) return Verdict::no;
    if (is_address_of_object(heap_, count)) return Verdict::no;
    const std::uint64_t requested = access_.requested(reader);
    if (type.kind && type.kind->plausible && !type.kind->plausible(reader)) return Verdict::no;
    // 2.7: a unicode of one character has a block of 16 bytes for that, of which it writes half. The other half may
    // still have the type of what was there before.
    if (texts_have_blocks(heap_.layout()) && requested <= granule) return Verdict::doubtful;
    // Some C types allocate a few words less than they declare: a datetime.time without tzinfo, for
    // example. A pointer and a type in a block that is far too small are a C module's state.
    if (requested > block_size && requested - block_size > ObjectAccess::declared_too_much)
        return Verdict::no;
    if (requested > block_size) return type.kind && type.kind->plausible ? Verdict::no : Verdict::doubtful;
    // A count that is also an address may be a pointer: the start of an array, for example. (Contents
    // that fit are proof enough.)
    const bool distinctive = type.kind && type.kind->plausible && heap_.var_size(object) != 0;
    if (!distinctive && count >= 4096 && memory_.state_of(Address(count)) != ByteState::unmapped)
        return Verdict::doubtful;
    // pymalloc keeps a block that shrank by up to a quarter; malloc gives the rest back. An int may be
    // shorter than its room.
    const bool fixed_size = type.itemsize <= 0 && !(type.kind && type.kind->body_size);
    const std::uint64_t spare = block_size - requested;
    if ((fixed_size || slack > granule) &&
        spare >= slack + static_cast<std::uint64_t>(std::max<std::int64_t>(type.itemsize, 0)))
        return Verdict::doubtful;
    return Verdict::yes;
}

/// 2.7 (intobject.c, floatobject.c): ints and floats lie one behind the other in blocks of a thousand bytes, behind a
/// pointer to the block made before. In a free one the type's place has the next free one, or null.
bool ObjectProof::in_block_of_numbers(Address object, const TypeInfo& type) const {
    constexpr std::uint64_t block_size = 1000, most_spare = 24, header = 8;
    if (!numbers_have_blocks(heap_.layout()) || type.python_class || type.itemsize > 0) return false;
    if (type.known != KnownType::integer && type.known != KnownType::floating) return false;
    const auto block = access_.allocations().malloc_heaps().block_containing(object);
    if (!block || block->usable < block_size || block->usable > block_size + most_spare) return false;
    const Address first = block->start + header;
    if (object < first || (object - first) % type.basicsize != 0) return false;
    const std::uint64_t count = (block_size - header) / type.basicsize;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Address word = heap_.type_address(first + i * type.basicsize);
        if (word != type.address && !word.is_null() &&
            (!word.aligned(8) || memory_.state_of(word) != ByteState::in_core))
            return false;
    }
    return (object - first) / type.basicsize < count;
}

ObjectProof::Elsewhere ObjectProof::elsewhere(Address object, TypeId id) const {
    const TypeInfo& type = heap_.types()[id];
    if (!alive(count_of(heap_, object))) return {};
    if (in_block_of_numbers(object, type)) return {Verdict::yes, FoundBy::malloc};
    const Address start = object - access_.presize(object, type);
    if (start == object && (access_.allocations().malloc_heaps().is_free_list_link(object) ||
                            access_.allocations().begins_with_link(object)))
        return {};
    const auto block = access_.allocations().block_starting_at(start);
    // No object lives on a stack. But what a C function once built there remains, with a type and
    // anything as its count (NumPy's array around one element: `dummy_arr` of scalarapi.c), and the words
    // around it may read as a chunk's.
    if ((!block || block->owner != Allocations::Owner::mapping) && on_a_stack(object)) return {};
    if (block) {
        // Others than malloc have size classes, each up to a quarter larger than the one before.
        const std::uint64_t slack =
            2 * granule + (block->owner == Allocations::Owner::mapping ? page
                           : block->owner == Allocations::Owner::other ? block->usable / 5
                                                                       : 0);
        Verdict verdict = in_block(object, type, block->usable, slack);
        if (verdict == Verdict::yes && block->owner == Allocations::Owner::other &&
            !access_.is_gc(object, type) && !references_lead_to_objects(access_, object, type))
            verdict = Verdict::no;
        return {verdict, verdict == Verdict::yes ? FoundBy::malloc : FoundBy::reference};
    }
    // Static data, or the middle of a block. Nothing lives in a free chunk.
    if (!access_.allocations().is_static(object) && !access_.allocations().in_allocated_block(object))
        return {};
    const ObjectReader reader(heap_, object, type);
    if (in_hash_table(reader, count_of(heap_, object)) || in_table_of_types(heap_, object, type)) return {};
    if (are_variables(object, type)) return {};
    if (!header_reads(object, type) || !fits_inside(object, type)) return {};
    if (type.kind && type.kind->plausible && !type.kind->plausible(reader)) return {};
    if (access_.sizes(object, type).damaged || !references_lead_into_memory(access_, object, type)) return {};
    return {Verdict::doubtful,
            access_.allocations().is_static(object) ? FoundBy::static_data : FoundBy::reference};
}

/// A module's variables: any number, or a pointer, and behind it the address of a type that nobody describes. What such
/// a type's instances look like is not known, but they are made on the heap: to the collector's header that one
/// has, an object in static data would have no bytes.
bool ObjectProof::are_variables(Address object, const TypeInfo& type) const {
    if (!type.guessed || !access_.allocations().is_static(object)) return false;
    const std::uint64_t count = count_of(heap_, object);
    const bool is_pointer =
        count >= lowest_address && memory_.state_of(Address(count)) != ByteState::unmapped;
    return is_pointer || access_.is_gc(object, type);
}

/// True if an object in the middle of a malloc block ends before the block does, and its count is not a
/// pointer. Remains of a freed block inside a larger new one rarely meet both conditions.
bool ObjectProof::fits_inside(Address object, const TypeInfo& type) const {
    const Allocations& allocations = access_.allocations();
    AddressRange block;
    if (const Allocator* const other = allocations.other_at(object)) {
        if (const auto of_other = other->block_at(object)) block = of_other->range();
    } else if (const auto chunk = allocations.malloc_heaps().block_containing(object)) {
        block = {chunk->start, chunk->start + chunk->usable};
    }
    if (block.size() == 0) return true;
    const std::uint64_t count = count_of(heap_, object);
    if (count >= 4096 && memory_.state_of(Address(count)) != ByteState::unmapped) return false;
    const Address start = object - access_.presize(object, type);
    return start >= block.start && access_.requested(object, type) <= block.end - start;
}

bool ObjectProof::on_a_stack(Address at) const {
    const auto above = std::upper_bound(stacks_.begin(), stacks_.end(), at,
                                        [](Address a, const AddressRange& stack) { return a < stack.start; });
    return above != stacks_.begin() && (above - 1)->contains(at);
}

}  // namespace heapsift
