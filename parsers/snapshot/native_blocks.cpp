// A block of C code is alive if something can still find it: a word of a variable, of a stack, of an object, of
// another block that is alive. Nothing marks the words that are pointers, so here every word counts that leads
// to a block, to its start or into its middle (C++ hands out the second of two bases, allocators a place behind a
// header of their own). That believes too much: a number may be an address by chance. So a block that is called
// leaked is one that no word leads to, and few blocks that leaked are missed; but of two places that may hold a
// block, the right one is not always told. Where a way is found from Python's objects, it is taken; then from
// the blocks of pymalloc that are no object's, from variables, from other memory, from stacks.
//
// But some words are less likely to be pointers, and believed only where more of them agree. Debian's python3 lies
// below 4 GiB, and so does the heap that brk makes for it: there a number of 32 bits is an address all too often,
// and counts at once only if it leads to a block's start, with flags in its lowest bits or without, or 8 or 16
// bytes behind it (an allocator's header, make_shared, a thread's dtv). And text of a few bytes that was written
// over a pointer leaves an address near by, which leads into a large block sooner or later. Such words count if
// they lead to a multiple of 8, and if four lead into the same large block, or 16 of all words of C code's blocks
// to the same place in blocks of the same size (a list's links inside its elements, a second base). Who owns a
// block has such a word, or the block's start to free it with.
//
// What is no pointer is not looked at, or half of a heap below 4 GiB would be held by numbers: values of str,
// bytes, int, float, the elements of arrays; and objects that refer to nothing but objects (lists, dicts,
// instances of classes written in Python). malloc's own state names the blocks before those that are free; it is
// left out. Libraries that are called through ctypes leave their handles in ints: of what would otherwise have
// leaked, it is told apart what an int is the address of.
//
// Not found: pointers that a program hides (xor'ed with something, or compressed to 32 bits).

#include "parsers/snapshot/native_blocks.h"

#include "parsers/elf/word_sweep.h"
#include "parsers/memory/block_numbers.h"
#include "parsers/memory/region_map.h"
#include "parsers/snapshot/block_groups.h"
#include "parsers/snapshot/thread_stacks.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint64_t malloc_state_bytes = 0x898;  // at most (malloc_state.cpp)
constexpr std::uint64_t surely_an_address = std::uint64_t{1} << 32, large_block = 1 << 16;
constexpr std::uint64_t most_header =
    128;  // what a library's allocator may put before the block that it returns
constexpr std::uint64_t enough_alike = 16, above_chance = 8, farthest_alike = 1 << 14;
constexpr std::size_t most_places = 1 << 20;  // that are told apart
constexpr std::uint8_t enough_into_one = 4;   // and no more are remembered for a block
constexpr std::uint32_t not_reached = std::numeric_limits<std::uint32_t>::max();

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

class NativeSearch {
public:
    NativeSearch(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                 const OwnedPlaces& places, const ProgressCallback& progress)
        : core_(core),
          access_(access),
          heaps_(access.allocations().malloc_heaps()),
          pymalloc_(access.allocations().pymalloc()),
          objects_(objects),
          places_(places),
          progress_(progress),
          numbers_(heaps_),
          reached_(numbers_.size(), not_reached),
          doubts_(numbers_.size()) {}

    NativeBlocks find() {
        report(0);
        leave_out_owned();
        count_alike();
        from_objects();
        report(0.4);
        from_python_tables();
        report(0.5);
        const std::vector<AddressRange> stacks = thread_stacks(core_, heaps_);
        from_modules();
        report(0.6);
        from_mappings(stacks);
        report(0.8);
        from_stacks(stacks);
        settle_doubts();
        from_numbers();
        return rows();
    }

private:
    /// Where a way begins. Blocks are labelled with an index into ways_.
    struct Way {
        ReachedFrom from = ReachedFrom::nothing;
        TypeId type = no_type;
        Address word;
    };
    static constexpr std::uint32_t owned = 0;  // the label of blocks that are an object's

    void report(double done) const {
        if (progress_) progress_("native blocks", done);
    }

    /// As RegionFiller does: a block is an object's if a range of an object begins with it.
    void leave_out_owned() {
        ways_.push_back({});
        for (const AddressRange& range : places_.ranges()) {
            // One range may be of several objects whose blocks touch.
            for (Address at = range.start; at < range.end;) {
                const auto block = numbers_.find(at);
                if (!block) {
                    at = at + 16;
                    if (!heaps_.heap_at(at)) break;
                    continue;
                }
                reached_[block->number] = owned;
                at = block->start + block->bytes + 8;
            }
        }
    }

    std::uint32_t label(const Way& way) {
        ways_.push_back(way);
        return static_cast<std::uint32_t>(ways_.size() - 1);
    }

    /// The words of [data, data + size), of which the first lies at `at`, an aligned address.
    template <class Label>
    void look_at(const std::byte* data, std::uint64_t size, Address at, Label&& label_of) {
        for (std::uint64_t i = 0; i + 8 <= size; i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, data + i, 8);
            reach(word, [&] { return label_of(at + i); });
        }
    }

    template <class Label>
    void reach(std::uint64_t word, Label&& label_of) {
        const auto block = numbers_.find(Address(word));
        if (!block || reached_[block->number] != not_reached) return;
        const std::uint64_t offset = Address(word) - block->start;
        if (believes(word, *block, offset)) {
            take(*block, label_of());
            follow();
        } else if (remembers(*block, offset)) {
            doubtful_.push_back({*block, offset, label_of()});
        }
    }

    bool believes(std::uint64_t word, const BlockNumbers::Block& block, std::uint64_t offset) const {
        if (offset <= 2 || offset == 8 || offset == 16) return true;
        if (offset < 8) return word >= surely_an_address;
        if (offset % 8 != 0) return false;
        if (word >= surely_an_address && (offset <= most_header || block.bytes < large_block)) return true;
        return offset <= farthest_alike && are_alike(block.bytes, offset);
    }

    /// Words that lead to one place in blocks of one size, among all words of C code's blocks.
    static std::uint64_t place(std::uint64_t size, std::uint64_t offset) {
        return size * 0x9e3779b97f4a7c15 + offset;
    }
    bool are_alike(std::uint64_t size, std::uint64_t offset) const {
        const auto count = alike_.find(place(size, offset));
        if (count == alike_.end() || count->second < enough_alike) return false;
        const auto of_size = of_size_.find(size);  // chance leads to each place as often as to any other
        return of_size != of_size_.end() && count->second * (size / 8) >= above_chance * of_size->second;
    }
    void count_alike() {
        heaps_.visit_blocks([&](std::span<const MemoryBlock> blocks) {
            for (const MemoryBlock& block : blocks) {
                if (!block.in_use) continue;
                const auto number = numbers_.find(block.start);
                if (!number || reached_[number->number] == owned) continue;
                const auto bytes = core_.memory().view(block.start, block.bytes);
                for (std::uint64_t i = 0; i + 8 <= bytes.size(); i += 8) {
                    std::uint64_t word = 0;
                    std::memcpy(&word, bytes.data() + i, 8);
                    const auto target = numbers_.find(Address(word));
                    if (!target || reached_[target->number] == owned) continue;
                    const std::uint64_t offset = Address(word) - target->start;
                    if (offset <= 16 || offset % 8 != 0) continue;
                    ++of_size_[target->bytes];
                    if (offset <= farthest_alike &&
                        (alike_.size() < most_places || alike_.contains(place(target->bytes, offset))))
                        ++alike_[place(target->bytes, offset)];
                }
            }
        });
    }

    /// Whether a word that is not believed is to be kept in mind.
    bool remembers(const BlockNumbers::Block& block, std::uint64_t offset) {
        if (block.bytes < large_block || offset % 8 != 0 || doubts_[block.number] == enough_into_one)
            return false;
        ++doubts_[block.number];
        return true;
    }

    void take(const BlockNumbers::Block& block, std::uint32_t label) {
        reached_[block.number] = label;
        waiting_.push_back({block.start, block.bytes, label});
    }

    /// The blocks that wait, and all that they lead to.
    void follow() {
        while (!waiting_.empty()) {
            const Waiting next = waiting_.back();
            waiting_.pop_back();
            const auto bytes = core_.memory().view(next.start, next.bytes);
            for (std::uint64_t i = 0; i + 8 <= bytes.size(); i += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes.data() + i, 8);
                const auto more = numbers_.find(Address(word));
                if (!more || reached_[more->number] != not_reached) continue;
                const std::uint64_t offset = Address(word) - more->start;
                if (believes(word, *more, offset))
                    take(*more, next.label);
                else if (remembers(*more, offset))
                    doubtful_.push_back({*more, offset, next.label});
            }
        }
    }

    /// Believes the doubtful words of large blocks to which enough lead, until there are no more.
    void settle_doubts() {
        for (bool more = true; more;) {
            more = false;
            std::vector<Doubtful> words = std::move(doubtful_);
            doubtful_.clear();
            for (const Doubtful& word : words) {
                if (reached_[word.block.number] != not_reached) continue;
                if (doubts_[word.block.number] < enough_into_one) {
                    doubtful_.push_back(word);
                    continue;
                }
                more = true;
                take(word.block, word.label);
                follow();
            }
        }
    }

    void from_objects() {
        const TypeTable& types = access_.heap().types();
        std::vector<std::uint32_t> labels(types.size(), not_reached);
        std::vector<std::uint8_t> looked_at(types.size());
        for (TypeId id{0}; id < types.size(); ++id) {
            TypeId base = id;
            for (int depth = 0; depth < 64 && types[base].python_class && types[base].base != no_type;
                 ++depth)
                base = types[base].base;
            looked_at[id] = !refers_only_to_objects(types[base]) && types[base].name != "object";
        }
        OwnWords words(*this);
        for (ObjectId object{0}; object < objects_.addresses.size(); ++object) {
            const TypeId id = objects_.types[object];
            if (!looked_at[id]) continue;
            const auto label_of = [&](Address) {
                if (labels[id] == not_reached) labels[id] = label({ReachedFrom::objects, id, Address()});
                return labels[id];
            };
            words.ranges.clear();
            access_.visit_places(objects_.addresses[object], types[id], words);
            // Behind the fields of a code object is its code.
            if (types[id].known == KnownType::code && !words.ranges.empty())
                words.ranges.front().end =
                    std::min(words.ranges.front().end, objects_.addresses[object] + types[id].basicsize);
            for (const AddressRange& range : words.ranges) {
                const auto bytes = core_.memory().view(range.start, range.size());
                look_at(bytes.data(), bytes.size(), range.start, label_of);
            }
        }
    }

    /// The memory of an object, but for the elements of arrays: whole blocks, since C types have more in them than
    /// they declare.
    class OwnWords final : public PlaceVisitor {
    public:
        explicit OwnWords(const NativeSearch& search) : search_(search) {}
        void visit(Address start, std::uint64_t bytes, const Allocations::Held& held, Role role) override {
            if (role == Role::array_data || !start.aligned(8)) return;
            if (const Pool* pool = search_.pymalloc_.pool_at(start))
                ranges.push_back(
                    {start, std::min(start + pool->block_size, pool->start + search_.pymalloc_.pool_size())});
            else if (const std::uint64_t there = held.whole ? std::max(bytes, held.bytes) : held.bytes;
                     there > 0)
                ranges.push_back({start, start + there});
            else if (search_.access_.allocations().is_static(start) && bytes > 0)
                ranges.push_back({start, start + bytes});
        }
        std::vector<AddressRange> ranges;

    private:
        const NativeSearch& search_;
    };

    /// Ints of two or three digits that are the start of a block (longobject.h: digits of 30 bits).
    void from_numbers() {
        const TypeTable& types = access_.heap().types();
        const std::uint32_t numbers = label({ReachedFrom::numbers, no_type, Address()});
        for (ObjectId object{0}; object < objects_.addresses.size(); ++object) {
            if (types[objects_.types[object]].known != KnownType::integer) continue;
            const auto value = small_int(objects_.addresses[object]);
            const auto block = value ? numbers_.find(Address(*value)) : std::nullopt;
            if (!block || block->start.value != *value || reached_[block->number] != not_reached) continue;
            take(*block, numbers);
            follow();
        }
    }

    /// The value of an int of up to three digits that is not negative; nothing if it has more than 64 bits.
    std::optional<std::uint64_t> small_int(Address object) const {
        constexpr unsigned digit_bits = 30, tag_bits = 3;  // longintrepr.h; pycore_long.h since 3.12
        constexpr std::uint64_t sign_mask = 3;
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
            const std::uint64_t digit =
                access_.heap().integer<std::uint32_t>(object + *fields.ob_digit + 4 * i);
            if (i == 2 && digit >> (64 - 2 * digit_bits) != 0) return std::nullopt;
            value |= digit << (digit_bits * i);
        }
        return value;
    }

    void from_python_tables() {
        const std::uint32_t tables = label({ReachedFrom::python_tables, no_type, Address()});
        std::vector<std::uint8_t> free;
        for (std::size_t n = 0; n < pymalloc_.pools().size(); ++n) {
            const Pool& pool = pymalloc_.pools()[n];
            bool all_owned = true;
            for (std::uint32_t i = 0; all_owned && i < pool.carved; ++i) all_owned = places_.owns_block(n, i);
            if (all_owned) continue;
            pymalloc_.free_blocks(pool, free);
            for (std::uint32_t i = 0; i < pool.carved; ++i) {
                if (free[i] || places_.owns_block(n, i)) continue;
                const std::uint64_t at = pymalloc_.header_size() + std::uint64_t{i} * pool.block_size;
                if (access_.holds_dead_object(pool.start + at, pool.block_size)) continue;
                look_at(pool.data + at, pool.block_size, pool.start + at, [&](Address) { return tables; });
            }
        }
    }

    /// All words of saved, writable memory that `is_wanted`, outside `skip` (sorted, no overlaps).
    template <class Wanted, class Label>
    void sweep(std::vector<AddressRange> skip, Wanted is_wanted, Label label_of) {
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
                    look_at(segment.data + (at - segment.start), stop - at, at, label_of);
                    at = stop.rounded_up(8);
                }
            });
        }
    }

    void from_modules() {
        std::vector<AddressRange> skip = places_.ranges();  // objects in static data
        for (const MallocArena& arena : heaps_.state().arenas)
            skip.push_back({arena.state, arena.state + malloc_state_bytes});
        sweep(
            std::move(skip),
            [&](const Segment& segment) { return access_.allocations().is_static(segment.start); },
            [&](Address word) {
                return label({ReachedFrom::modules, no_type, word});
            });
    }

    void from_mappings(const std::vector<AddressRange>& stacks) {
        std::vector<AddressRange> skip = places_.ranges();
        for (const std::vector<AddressRange>& more : {stacks, heaps_.ranges(), pymalloc_.ranges()})
            skip.insert(skip.end(), more.begin(), more.end());
        const std::uint32_t mappings = label({ReachedFrom::mappings, no_type, Address()});
        sweep(
            std::move(skip),
            [&](const Segment& segment) { return !access_.allocations().is_static(segment.start); },
            [&](Address) { return mappings; });
    }

    void from_stacks(const std::vector<AddressRange>& stacks) {
        const std::uint32_t all = label({ReachedFrom::stacks, no_type, Address()});
        const auto label_of = [&](Address) { return all; };
        for (const AddressRange& stack : stacks) {
            const AddressRange live = live_part(core_, stack);
            const Address at = live.start.rounded_up(8);
            const Segment* segment = core_.memory().find(at);
            if (!segment || !segment->data) continue;
            const Address end = std::min(live.end, segment->end());
            if (end > at) look_at(segment->data + (at - segment->start), end - at, at, label_of);
        }
        for (const CoreThread& thread : core_.threads())
            for (const std::uint64_t word : thread.registers) reach(word, [&] { return all; });
    }

    NativeBlocks rows() {
        NativeBlocks result;
        BlockGroups groups(core_);
        heaps_.visit_blocks([&](std::span<const MemoryBlock> blocks) {
            for (const MemoryBlock& block : blocks) {
                if (!block.in_use) continue;
                const auto number = numbers_.find(block.start);
                if (!number || reached_[number->number] == owned) continue;
                ++result.count;
                groups.add(block, reached_[number->number]);
            }
        });
        for (const BlockGroup& group : groups.take()) {
            NativeBlockRow row;
            row.size = group.size;
            row.table = group.table;
            row.count = group.count;
            row.example = group.example;
            if (group.label != not_reached) {
                const Way& way = ways_[group.label];
                row.from = way.from;
                row.type = way.type;
                row.word = way.word;
            }
            result.rows.push_back(row);
        }
        return result;
    }

    const CoreFile& core_;
    const ObjectAccess& access_;
    const MallocHeaps& heaps_;
    const Pymalloc& pymalloc_;
    const FoundObjects& objects_;
    const OwnedPlaces& places_;
    const ProgressCallback& progress_;
    BlockNumbers numbers_;
    std::vector<std::uint32_t> reached_;  // by block number: an index into ways_
    std::vector<Way> ways_;
    struct Waiting {
        Address start;
        std::uint64_t bytes;
        std::uint32_t label;
    };
    std::vector<Waiting> waiting_;
    struct Doubtful {
        BlockNumbers::Block block;
        std::uint64_t offset;
        std::uint32_t label;
    };
    std::vector<Doubtful> doubtful_;
    std::unordered_map<std::uint64_t, std::uint64_t> alike_, of_size_;
    std::vector<std::uint8_t> doubts_;  // by block number: how many of those lead to it
};

}  // namespace

NativeBlocks find_native_blocks(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                                const OwnedPlaces& places, const ProgressCallback& progress) {
    return NativeSearch(core, access, objects, places, progress).find();
}

}  // namespace heapsift
