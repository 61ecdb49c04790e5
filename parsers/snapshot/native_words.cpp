// What is no pointer is not looked at, or half of a heap below 4 GiB would be held by numbers: values of str,
// bytes, int, float, the elements of arrays; and objects that refer to nothing but objects (lists, dicts,
// instances of classes written in Python). So is what containers no longer use: a deque leaves the address of an
// item that it gave away in its slot. malloc's own state names the blocks before those that are free; it is left
// out. Libraries that are called through ctypes leave their handles in ints (native_handles.cpp).

#include "parsers/snapshot/native_words.h"

#include "parsers/base/in_pieces.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/objects/kinds.h"
#include "parsers/elf/word_sweep.h"
#include "parsers/memory/region_map.h"
#include "parsers/snapshot/thread_stacks.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint64_t malloc_state_bytes = 0x898;  // at most (malloc_state.cpp)

/// Whether instances have no words that are pointers to C code's memory.
bool refers_only_to_objects(const TypeInfo& type) {
    switch (type.known) {
        using enum KnownType;
        case async_generator:
        case boolean:
        case bytes:
        case cell:
        case complex:
        case coroutine:
        case default_dict:
        case deque:
        case dict:
        case ellipsis:
        case floating:
        case frame:
        case frozen_set:
        case function:
        case generator:
        case integer:
        case list:
        case method:
        case none:
        case ordered_dict:
        case set:
        case str:
        case traceback:
        case tuple:
            return true;
        default:
            return false;
    }
}

}  // namespace

NativeWords::NativeWords(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                         const OwnedPlaces& places)
    : core_(core),
      access_(access),
      heaps_(access.allocations().malloc_heaps()),
      pymalloc_(access.allocations().pymalloc()),
      objects_(objects),
      places_(places),
      stacks_(thread_stacks(core, access.allocations())) {
    const TypeTable& types = access_.heap().types();
    for (TypeId id{0}; id < types.size(); ++id) {
        TypeId base = id;
        for (int depth = 0; depth < 64 && types[base].python_class && types[base].base != no_type; ++depth)
            base = types[base].base;
        declared_.push_back(types[base].known != KnownType::other);
        looked_at_.push_back(!refers_only_to_objects(types[base]) && types[base].name != "object");
    }
}

/// The memory of an object, but for the elements of arrays: whole blocks, since C types of libraries have more in
/// them than they declare. Behind what Python's own types declare, and behind what was asked for of a buffer, is what
/// was there before.
class NativeWords::OwnWords final : public PlaceVisitor {
public:
    explicit OwnWords(const NativeWords& words) : words_(words) {}
    void visit(Address start, std::uint64_t bytes, const Allocations::Held& held, Role role) override {
        if (role == Role::array_data || !start.aligned(8)) return;
        const std::uint64_t behind = held.bytes - std::min(held.before, held.bytes);
        if (const Pool* pool = held.pool)
            ranges.push_back(
                {start, std::min(start + (declared ? std::min<std::uint64_t>(bytes, pool->block_size)
                                                   : pool->block_size),
                                 end_of_block(*pool, start))});
        else if (const std::uint64_t there = declared || role == Role::buffer ? std::min(bytes, behind)
                                             : held.whole                     ? std::max(bytes, behind)
                                                                              : behind;
                 there > 0)
            ranges.push_back({start, start + there});
        else if (words_.access_.allocations().is_static(start) && bytes > 0)
            ranges.push_back({start, start + bytes});
    }
    /// But for this word.
    void leave_out(Address word) {
        const auto range = std::find_if(ranges.begin(), ranges.end(),
                                        [&](const AddressRange& r) { return r.contains(word); });
        if (range == ranges.end()) return;
        const Address end = std::exchange(range->end, word);
        if (word + 8 < end) ranges.push_back({word + 8, end});
    }
    std::vector<AddressRange> ranges;
    bool declared = false;  // no more than the type declares

private:
    /// With the debug hooks on, `start` lies behind their marks.
    Address end_of_block(const Pool& pool, Address start) const {
        const std::uint64_t header = words_.pymalloc_.header_size();
        const std::uint64_t into = start - pool.start - std::min<std::uint64_t>(header, start - pool.start);
        return std::min(pool.start + header + (into / pool.block_size + 1) * pool.block_size,
                        pool.start + words_.pymalloc_.pool_size());
    }

    const NativeWords& words_;
};

void NativeWords::visit_objects(
    ObjectId begin, ObjectId end,
    const std::function<void(ObjectId, std::span<const std::byte> bytes, Address at)>& visit) const {
    const TypeTable& types = access_.heap().types();
    const Layout& layout = access_.heap().layout();
    OwnWords words(*this);
    for (ObjectId object = begin; object < end; ++object) {
        const TypeId id = objects_.types[object];
        if (!looked_at_[id]) continue;
        words.ranges.clear();
        const bool is_type = types.find(objects_.addresses[object]) != no_type;
        words.declared = declared_[id] || is_type;
        access_.visit_places(objects_.addresses[object], types[id], words);
        // Behind the fields of a code object or a regular expression is its code: items that are smaller than addresses.
        // But a type of C code whose items are single bytes, and that is no kind of bytes, has room there for whatever
        // it likes: Boost.Python puts the C++ holder of each instance into it (boost/python/object/instance.hpp).
        const std::int64_t item = types[id].itemsize;
        const bool is_room = item == 1 && !declared_[id] && types[id].kind == nullptr;
        if (item > 0 && item < 8 && !is_room && !words.ranges.empty())
            words.ranges.front().end =
                std::min(words.ranges.front().end, objects_.addresses[object] + types[id].basicsize);
        // A count of references, and a type's flags, are numbers of 32 bits: addresses in a low heap. (Code that is
        // part of 3.11's interpreter counts from a billion, which is 954 MiB.)
        words.leave_out((objects_.addresses[object] + *layout.object.ob_refcnt).rounded_down(8));
        if (has_two_counts(
                layout))  // beside them, the thread that owns the object: the address of its control block
            for (const LayoutOffset field : {layout.object.ob_tid, layout.object.ob_ref_shared})
                words.leave_out(objects_.addresses[object] + *field);
        if (is_type) words.leave_out(objects_.addresses[object] + *layout.type.tp_flags);
        // Behind its callback a weak reference keeps the hash of what it refers to: the address divided by 16, as a
        // rule (weakrefobject.h; object.c, Py_HashPointer).
        if (types[id].kind == &weakref_kind || types[id].kind == &weakproxy_kind)
            words.leave_out(objects_.addresses[object] + *layout.weakref.wr_callback + 8);
        for (const AddressRange& range : words.ranges)
            visit(object, core_.memory().view(range.start, range.size()), range.start);
    }
}

std::vector<NativeWords::Number> NativeWords::numbers(const std::function<bool(Address)>& wanted) const {
    constexpr std::size_t objects_a_piece = 1 << 16, ahead = 16;
    const TypeTable& types = access_.heap().types();
    std::vector<std::uint8_t> is_int;
    for (const TypeInfo& type : types) is_int.push_back(type.known == KnownType::integer);
    struct Found {
        std::vector<Number> ints;  // with their addresses, then with their values
    };
    std::vector<Number> all;
    in_pieces<Found>(
        piece_count(objects_.addresses.size(), objects_a_piece),
        [&](std::size_t piece, Found& found) {
            const auto [begin, end] = piece_of(piece, objects_.addresses.size(), objects_a_piece);
            for (ObjectId object(begin); object < end; ++object)
                if (is_int[objects_.types[object]])
                    found.ints.push_back({object, objects_.addresses[object]});
            std::size_t kept = 0;
            for (std::size_t i = 0; i < found.ints.size(); ++i) {
                if (i + ahead < found.ints.size()) core_.memory().fetch(found.ints[i + ahead].value);
                if (const auto value = small_int(found.ints[i].value))
                    found.ints[kept++] = {found.ints[i].object, Address(*value)};
            }
            found.ints.resize(kept);
        },
        [&](std::size_t, Found& found) {
            for (const Number& one : found.ints)
                if (wanted(one.value)) all.push_back(one);
            found.ints.clear();
        });
    return all;
}

// longobject.h: digits of 30 bits, of which up to three are looked at.
std::optional<std::uint64_t> NativeWords::small_int(Address object) const {
    constexpr unsigned digit_bits = 30, tag_bits = 3;  // longintrepr.h; pycore_long.h since 3.12
    constexpr std::uint64_t sign_mask = 3;
    if (const auto number = access_.heap().c_long(object))
        return *number > 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
    const auto& fields = access_.heap().layout().long_;
    std::uint64_t count = 0;
    if (fields.lv_tag.present()) {
        const auto tag = access_.heap().integer<std::uint64_t>(object + *fields.lv_tag);
        if ((tag & sign_mask) != 0) return std::nullopt;
        count = tag >> tag_bits;
    } else {
        const std::int64_t size = access_.heap().var_size(object);
        if (size < 0) return std::nullopt;
        count = static_cast<std::uint64_t>(size);
    }
    if (count == 0 || count > 3) return std::nullopt;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t digit = access_.heap().integer<std::uint32_t>(object + *fields.ob_digit + 4 * i);
        if (i == 2 && digit >> (64 - 2 * digit_bits) != 0) return std::nullopt;
        value |= digit << (digit_bits * i);
    }
    return value;
}

std::vector<AddressRange> NativeWords::python_tables() const {
    std::vector<AddressRange> tables;
    std::vector<std::uint8_t> free;
    for (std::size_t n = 0; n < pymalloc_.pools().size(); ++n) {
        const Pool& pool = pymalloc_.pools()[n];
        bool all_owned = true;
        for (std::uint32_t i = 0; all_owned && i < pool.carved; ++i) all_owned = places_.owns_block(n, i);
        if (all_owned) continue;
        pymalloc_.free_blocks(pool, free);
        for (std::uint32_t i = 0; i < pool.carved; ++i) {
            if (free[i] || places_.owns_block(n, i)) continue;
            const Address at = pool.start + pymalloc_.header_size() + std::uint64_t{i} * pool.block_size;
            if (!access_.holds_dead_object(at, pool.block_size)) tables.push_back({at, at + pool.block_size});
        }
    }
    return tables;
}

void NativeWords::sweep(std::vector<AddressRange> skip, const std::function<bool(const Segment&)>& is_wanted,
                        const Visitor& visit) const {
    join_ranges(skip);
    auto next = skip.begin();
    for (const Segment& segment : core_.memory().segments()) {
        if (segment.state != ByteState::in_core || !segment.writable || !is_wanted(segment)) continue;
        core_.memory().visit_written(segment, [&](std::uint64_t from, std::uint64_t to) {
            Address at = (segment.start + from).rounded_up(8);
            const Address end = segment.start + to;
            while (at < end) {
                while (next != skip.end() && next->end <= at) ++next;
                if (next != skip.end() && next->start <= at) {
                    at = next->end.rounded_up(8);
                    continue;
                }
                const Address stop = next == skip.end() ? end : std::min(end, next->start);
                visit({segment.data + (at - segment.start), stop - at}, at);
                at = stop.rounded_up(8);
            }
        });
    }
}

/// What a sweep over other memory leaves out.
std::vector<AddressRange> NativeWords::objects_and_allocators() const {
    std::vector<AddressRange> skip = places_.ranges();
    for (const Allocator* allocator : access_.allocations().all()) {
        const std::vector<AddressRange> more = allocator->ranges();
        skip.insert(skip.end(), more.begin(), more.end());
    }
    return skip;
}

// 3.11 and 3.12 have the code of their own modules as static data, and objects there that nothing refers to any more
// are not found as objects. Their bytes are numbers: an instruction with its empty caches is 0x05a00000. (3.11 begins
// to count references to them at 999999999; the words around a type's address tell: Tools/scripts/deepfreeze.py.)
std::vector<AddressRange> NativeWords::static_constants() const {
    constexpr std::uint64_t first_count = 999'999'999, most_references = 1 << 24;
    const PythonHeap& heap = access_.heap();
    const TypeTable& types = heap.types();
    const Layout& layout = heap.layout();
    std::vector<AddressRange> constants;
    const auto add = [&](Address start, std::uint64_t size) { constants.push_back({start, start + size}); };
    sweep(
        {}, [&](const Segment& segment) { return access_.allocations().is_static(segment.start); },
        [&](std::span<const std::byte> bytes, Address at) {
            for (std::uint64_t i = 8; i + 8 <= bytes.size(); i += 8) {
                std::uint64_t count = 0, type_address = 0;
                std::memcpy(&type_address, bytes.data() + i, 8);
                const TypeId type = type_address == 0 ? no_type : types.find(Address(type_address));
                if (type == no_type) continue;
                std::memcpy(&count, bytes.data() + i - 8, 8);
                const Address object = at + (i - 8);
                if (count - first_count < most_references) add(object, 8);
                const TypeInfo& info = types[type];
                if (info.known == KnownType::integer) add(object + *layout.long_.ob_digit, 8);
                if (info.known == KnownType::floating) add(object + *layout.float_.ob_fval, 8);
                if ((info.known != KnownType::code && info.known != KnownType::bytes) || info.itemsize <= 0)
                    continue;
                const auto item = static_cast<std::uint64_t>(info.itemsize);
                const std::int64_t items = heap.var_size(object);
                const Address data = (object + info.basicsize).rounded_down(8);
                const std::uint64_t there = at + bytes.size() > data ? at + bytes.size() - data : 0;
                if (items > 0 && static_cast<std::uint64_t>(items) < there / item)
                    add(data, static_cast<std::uint64_t>(items) * item + 1);
            }
        });
    return constants;
}

void NativeWords::visit_modules(const Visitor& visit) const {
    // Objects in static data; and memory of an allocator that the kernel has joined to a library's.
    std::vector<AddressRange> skip = objects_and_allocators();
    const std::vector<AddressRange> constants = static_constants();
    skip.insert(skip.end(), constants.begin(), constants.end());
    for (const MallocArena& arena : heaps_.state().arenas)
        skip.push_back({arena.state, arena.state + malloc_state_bytes});
    sweep(
        std::move(skip),
        [&](const Segment& segment) { return access_.allocations().is_static(segment.start); }, visit);
}

void NativeWords::visit_mappings(const Visitor& visit) const {
    std::vector<AddressRange> skip = objects_and_allocators();
    skip.insert(skip.end(), stacks_.begin(), stacks_.end());
    sweep(
        std::move(skip),
        [&](const Segment& segment) { return !access_.allocations().is_static(segment.start); }, visit);
}

void NativeWords::visit_stacks(const Visitor& visit) const {
    for (const AddressRange& stack : stacks_) {
        const AddressRange live = live_part(core_, stack);
        const Address at = live.start.rounded_up(8);
        const Segment* segment = core_.memory().find(at);
        if (!segment || !segment->data) continue;
        const Address end = std::min(live.end, segment->end());
        if (end > at) visit({segment->data + (at - segment->start), end - at}, at);
    }
}

}  // namespace heapsift
