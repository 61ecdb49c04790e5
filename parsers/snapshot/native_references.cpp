// C code holds objects as well: in static variables, in the interpreter's state and its caches, in its own
// structs, in the frames of running functions. Nothing marks the words there that are references; but each
// object counts what refers to it, and what the references of all objects do not explain is held by somebody
// else. So only objects with unexplained references are looked for, in all memory that belongs to no object.
// Of the words found, no more are believed than references are unexplained. Those that are least likely to be
// leftovers go first: a variable before a heap block, a stack last.
//
// Words that are certainly dead are skipped: free blocks; blocks that malloc keeps for the next request; what
// is below a thread's stack pointer; frames of functions that have returned; what the collector was done with
// (kept_stacks.cpp); and the interpreter's arrays of free objects. Below its count such an array holds dead
// objects; behind it are objects that were taken out, which may be alive but are not held by the array.

#include "parsers/snapshot/native_references.h"

#include "parsers/base/in_pieces.h"
#include "parsers/elf/word_sweep.h"
#include "parsers/memory/region_map.h"
#include "parsers/snapshot/callback_tables.h"
#include "parsers/snapshot/kept_stacks.h"
#include "parsers/snapshot/thread_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace heapsift {
namespace {

// PyList_MAXFREELIST, PyDict_MAXFREELIST, _PyAsyncGen_MAXFREELIST of 3.10 to 3.13
constexpr std::int32_t free_list_slots = 80;

bool by_word(const NativeReference& a, const NativeReference& b) { return a.word < b.word; }

/// By word. They were found in a few runs that are in order.
void sort_runs(std::vector<NativeReference>& references) {
    constexpr int few = 8;
    const auto first = references.begin(), last = references.end();
    auto sorted = std::is_sorted_until(first, last, by_word);
    for (int runs = 1; sorted != last && runs < few; ++runs) {
        const auto next = std::is_sorted_until(sorted, last, by_word);
        std::inplace_merge(first, sorted, next, by_word);
        sorted = next;
    }
    if (sorted != last) std::sort(first, last, by_word);
}

class NativeReferenceSearch {
public:
    NativeReferenceSearch(const CoreFile& core, const ObjectAccess& access, AddressView addresses,
                          const ObjectIndex& index, OwnedPlaces places, const RunningFrames& frames)
        : core_(core),
          access_(access),
          pymalloc_(access.allocations().pymalloc()),
          addresses_(addresses),
          index_(index),
          owned_(std::move(places)),
          frames_(frames),
          stacks_(thread_stacks(core, access.allocations())),
          free_lists_(kept_object_stacks(access.heap(), access.allocations())),
          callbacks_(find_callback_tables(access)) {
        for (const PythonInterpreter& interpreter : access.heap().runtime().interpreters) {
            add_state(interpreter.address, access.heap().layout().interpreter_state.size);
            add_free_lists(interpreter.address);
            for (const Address thread : interpreter.threads)
                add_state(thread, access.heap().layout().thread_state.size);
        }
        add_state(access.heap().runtime().runtime, access.heap().layout().runtime_state.size);
        join_ranges(states_);
        join_ranges(free_lists_);
        for (const AddressRange& stack : stacks_) live_from_.push_back(live_part(core, stack).start);
    }

    NativeReferences find(const std::function<std::uint64_t(ObjectId)>& left) {
        struct Wanted {
            std::vector<std::uint64_t> addresses;
            std::vector<ObjectId> objects;
        };
        Wanted wanted;
        in_pieces<Wanted>(
            piece_count(addresses_.size(), objects_a_piece),
            [&](std::size_t piece, Wanted& found) {
                const auto [begin, end] = piece_of(piece, addresses_.size(), objects_a_piece);
                for (ObjectId id(begin); id < end; ++id) {
                    if (left(id) == 0) continue;
                    found.addresses.push_back(addresses_[id].value);
                    found.objects.push_back(id);
                }
            },
            [&](std::size_t, Wanted& found) {
                move_to_end(found.addresses, wanted.addresses);
                move_to_end(found.objects, wanted.objects);
            });
        const AddressSet set(std::move(wanted.addresses));
        const std::vector<AddressRange> skip = all_skipped();
        const std::vector<SweepPiece> stretches = pieces_to_sweep(core_.memory());
        const auto take = [&](std::size_t, Found& found) { move_to_end(found, found_); };
        in_pieces<Found>(
            stretches.size(),
            [&](std::size_t piece, Found& found) {
                sweep_words(stretches[piece], set, skip,
                            [&](Address at, std::uint64_t word) { consider(set, at, word, found); });
            },
            take);
        const std::size_t pools = set.empty() ? 0 : pymalloc_.pools().size();
        in_pieces<Found>(
            piece_count(pools, pools_a_piece),
            [&](std::size_t piece, Found& found) {
                const auto [begin, end] = piece_of(piece, pools, pools_a_piece);
                std::vector<std::uint8_t> free;
                for (std::size_t n = begin; n < end; ++n) sweep_pool(set, n, free, found);
            },
            take);
        return {believed(left), std::move(wanted.objects)};
    }

private:
    static constexpr std::size_t objects_a_piece = 1 << 17, pools_a_piece = 256;
    using Found = std::vector<NativeReference>;

    void add_state(Address start, LayoutOffset size) {
        if (!start.is_null() && size.present()) states_.push_back({start, start + *size});
    }

    /// Up to 3.9 the free lists are static variables, which look like any other. (Chained free lists hold
    /// only their first object, or nothing.)
    void add_free_lists(Address interpreter) {
        const auto& l = access_.heap().layout().interpreter_state;
        add_free_list(interpreter, l.free_lists, l.free_lists_count);
        add_free_list(interpreter, l.free_dicts, l.free_dicts_count);
        add_free_list(interpreter, l.free_async_values, l.free_async_values_count);
        add_free_list(interpreter, l.free_async_sends, l.free_async_sends_count);
    }

    /// Adds nothing if the first slots hold no dead objects: another build of this version has something else
    /// there.
    void add_free_list(Address interpreter, LayoutOffset slots, LayoutOffset count) {
        if (interpreter.is_null() || !slots.present() || !count.present()) return;
        const auto free = access_.heap().integer<std::int32_t>(interpreter + *count);
        if (free < 0 || free > free_list_slots) return;
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(free); ++i) {
            const Address object = access_.heap().pointer(interpreter + *slots + 8 * i);
            if (object.is_null() || !object.aligned(8) || access_.refcount(object) != 0) return;
        }
        free_lists_.push_back({interpreter + *slots, interpreter + *slots + 8 * free_list_slots});
    }

    /// Python's memory: that of pymalloc, which is searched block by block instead, and what belongs to
    /// objects elsewhere.
    std::vector<AddressRange> all_skipped() {
        std::vector<AddressRange> skipped = owned_.take_ranges();
        const std::vector<AddressRange> pools = pymalloc_.ranges();
        skipped.insert(skipped.end(), pools.begin(), pools.end());
        join_ranges(skipped);
        return skipped;
    }

    /// Of ranges sorted by start, the last one that begins at or before `at`, if it contains `at`.
    static const AddressRange* range_of(const std::vector<AddressRange>& ranges, Address at) {
        auto it = std::upper_bound(ranges.begin(), ranges.end(), at,
                                   [](Address a, const AddressRange& r) { return a < r.start; });
        return it != ranges.begin() && (--it)->contains(at) ? &*it : nullptr;
    }

    /// `free`: room for the pool's blocks.
    void sweep_pool(const AddressSet& set, std::size_t n, std::vector<std::uint8_t>& free,
                    Found& found) const {
        const Pool& pool = pymalloc_.pools()[n];
        bool all_owned = true;
        for (std::uint32_t i = 0; all_owned && i < pool.carved; ++i) all_owned = owned_.owns_block(n, i);
        if (all_owned) return;
        pymalloc_.free_blocks(pool, free);
        for (std::uint32_t i = 0; i < pool.carved; ++i) {
            if (free[i] || owned_.owns_block(n, i)) continue;
            const std::uint64_t start = pymalloc_.header_size() + std::uint64_t{i} * pool.block_size;
            if (access_.in_free_list(pool.start + start, pool.block_size)) continue;
            const std::uint64_t end = start + pool.block_size;
            for (std::uint64_t at = start; (at = set.next_in(pool.data, at, end)) + 8 <= end; at += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, pool.data + at, 8);
                if (set.contains(word))
                    add(Address(word), pool.start + at, place_in_block(pool.start + at), found);
            }
        }
    }

    void consider(const AddressSet& set, Address at, std::uint64_t word, Found& found) const {
        if (!set.contains(word)) return;
        if (frames_.is_stack(at)) {
            if (frames_.is_slot(at)) add(Address(word), at, NativePlace::frame, found);
            return;
        }
        if (range_of(free_lists_, at)) return;
        const bool in_state = range_of(states_, at) != nullptr;
        if (in_state || access_.allocations().is_static(at))
            return add(Address(word), at,
                       callbacks_.is_signal_handler(access_, at) ? NativePlace::signal_handler
                       : range_of(callbacks_.at_exit, at)        ? NativePlace::at_exit
                       : in_state                                ? NativePlace::interpreter
                                                                 : NativePlace::module_data,
                       found);
        if (const AddressRange* stack = range_of(stacks_, at)) {
            if (at >= live_from_[static_cast<std::size_t>(stack - stacks_.data())])
                add(Address(word), at, NativePlace::stack, found);
            return;
        }
        if (in_live_block(at)) add(Address(word), at, place_in_block(at), found);
    }

    NativePlace place_in_block(Address at) const {
        return range_of(callbacks_.at_exit, at) ? NativePlace::at_exit : NativePlace::block;
    }

    bool in_live_block(Address at) const {
        if (const Allocator* other = access_.allocations().other_at(at)) {
            const auto block = other->block_at(at);
            return block && block->in_use && !access_.in_free_list(block->start, block->bytes);
        }
        const auto& heaps = access_.allocations().malloc_heaps();
        if (!heaps.heap_at(at)) return true;  // a mapping other than a heap
        const auto block = heaps.block_containing(at);
        return block && !heaps.is_cached(*block) && !access_.in_free_list(block->start, block->usable);
    }

    void add(Address target, Address word, NativePlace place, Found& found) const {
        if (const ObjectId id = index_.find(target); id != no_object) found.push_back({word, id, place});
    }

    /// By word. Most targets have room for all words that were found; only those of the others are put in order.
    std::vector<NativeReference> believed(const std::function<std::uint64_t(ObjectId)>& left) {
        constexpr std::uint8_t many = 0xff;
        std::vector<std::uint8_t> words(addresses_.size());  // that lead to an object; or many
        for (const NativeReference& one : found_)
            if (std::uint8_t& count = words[one.target]; count < many) ++count;
        const auto has_room = [&](const NativeReference& one) {
            return words[one.target] < many && words[one.target] <= left(one.target);
        };
        const auto split = std::stable_partition(found_.begin(), found_.end(), has_room);
        std::vector<NativeReference> contested(split, found_.end());
        found_.erase(split, found_.end());
        std::sort(contested.begin(), contested.end(), [](const NativeReference& a, const NativeReference& b) {
            return std::tie(a.target, a.place, a.word) < std::tie(b.target, b.place, b.word);
        });
        ObjectId target;
        std::uint64_t room = 0;
        std::erase_if(contested, [&](const NativeReference& one) {
            if (one.target != target) room = left(one.target);
            target = one.target;
            return room == 0 || room-- == 0;
        });
        std::sort(contested.begin(), contested.end(), by_word);
        move_to_end(contested, found_);
        sort_runs(found_);
        return std::move(found_);
    }

    const CoreFile& core_;
    const ObjectAccess& access_;
    const Pymalloc& pymalloc_;
    AddressView addresses_;
    const ObjectIndex& index_;
    OwnedPlaces owned_;
    const RunningFrames& frames_;
    std::vector<AddressRange> stacks_;
    std::vector<Address> live_from_;  // by index in stacks_
    std::vector<AddressRange> states_;
    std::vector<AddressRange> free_lists_;
    CallbackTables callbacks_;
    std::vector<NativeReference> found_;
};

}  // namespace

std::string native_place(const CoreFile& core, const PythonHeap& heap, const RunningFrames& frames,
                         const NativeReference& reference) {
    if (const auto name = frames.slot_name(heap, reference.word)) return *name;
    if (reference.place == NativePlace::at_exit) return "<callback of atexit>";
    if (reference.place == NativePlace::signal_handler) return "<signal handler>";
    for (const Module& module : core.modules())
        if (reference.word >= module.start && reference.word < module.image_end) {
            const std::string file = module.path.substr(module.path.rfind('/') + 1);
            if (const auto symbol = core.symbol_at(module, reference.word))
                return fmt::format("<{} {}+{:#x}>", file, symbol->name, symbol->offset);
            return fmt::format("<{}+{:#x}>", file, reference.word - module.start);
        }
    switch (reference.place) {
        case NativePlace::frame:
            return "<frame>";
        case NativePlace::interpreter:
            return "<interpreter state>";
        case NativePlace::at_exit:
        case NativePlace::signal_handler:
            break;
        case NativePlace::module_data:
            return "<module data>";
        case NativePlace::block:
            return "<block of C code>";
        case NativePlace::stack:
            return "<native stack>";
    }
    return "";
}

NativeReferences find_native_references(const CoreFile& core, const ObjectAccess& access,
                                        AddressView addresses, const ObjectIndex& index, OwnedPlaces places,
                                        const RunningFrames& frames,
                                        const std::function<std::uint64_t(ObjectId)>& left) {
    return NativeReferenceSearch(core, access, addresses, index, std::move(places), frames).find(left);
}

}  // namespace heapsift
