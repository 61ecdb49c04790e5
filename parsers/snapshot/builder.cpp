#include "parsers/snapshot/builder.h"

// Finds every live object, each with a proof.
//
// An object is eight bytes of count and eight bytes that are the address of a type, and by chance many other
// things are that too. So nothing counts as an object because it looks like one; each has a second fact. In
// this order:
//   1. the collector's lists: what is linked there in both directions is an object (collector_links.cpp: by
//      asking each object);
//   2. pymalloc's blocks: allocated, in no free list, with the object where its type's header puts it, of the
//      size that its type asks for, with a count above 0; and if the collector knows its type, with a header
//      that is either linked or untracked;
//   3. one sweep over the rest of writable memory for words that are addresses of types. Such a word means
//      an object at the start of a block that malloc has handed out, or in static data of a module if the
//      contents prove it (a type, a str that ends where it says, …);
//   4. what remains doubtful (a count that might be a pointer, static objects of no distinctive shape) is an
//      object if a word inside the memory of Python objects points at it, which one more sweep finds.
// Objects in free lists have a count of 0, or their type word holds the list's link. In freed blocks malloc
// has overwritten the type word, or the count with a link of its own: an address, which in a low heap could
// be a count.
//
// Speed: memory is read in address order, once for 1 and 2 together. If judging an object needs memory far
// away (the items of a tuple), all such words of a pool are prefetched before the first is looked at. Pools,
// and stretches of other memory, are pieces that any thread may judge (in_pieces.h): whether something is an
// object depends on nothing that was found before.

#include "parsers/base/error.h"
#include "parsers/base/in_pieces.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/elf/word_sweep.h"
#include "parsers/snapshot/collector_links.h"
#include "parsers/snapshot/data_blocks.h"
#include "parsers/snapshot/ghosts.h"
#include "parsers/snapshot/object_columns.h"
#include "parsers/snapshot/object_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heapsift {

namespace {

constexpr std::uint32_t granule = ObjectProof::granule;
constexpr std::size_t pools_a_piece = 256;
constexpr std::size_t page_ahead = 2048;       // bytes
constexpr std::uint64_t longest_presize = 32;  // bytes between a block's start and its object

struct Entry {
    Address address;
    TypeId type;
    FoundBy found_by;
};

class Builder {
public:
    Builder(const CoreFile& core, const ObjectAccess& access, Diagnostics& diagnostics,
            const ProgressCallback& progress)
        : core_(core),
          access_(access),
          heap_(access.heap()),
          memory_(core.memory()),
          pymalloc_(access.allocations().pymalloc()),
          type_offset_(*heap_.layout().object.ob_type),
          step_(*heap_.layout().gc_head.size % granule == 0 ? granule : 8),
          diagnostics_(diagnostics),
          progress_(progress),
          links_(core, access),
          proof_(core, access) {}

    FoundObjects build() {
        find();
        while (!links_.closed()) {
            forget();
            report("collector's lists", 0);
            if (!links_.ask_neighbours()) walk_collector_lists();
            find();
        }
        if (pymalloc_.damaged_pools() > 0)
            diagnostics_.add("pools-damaged",
                             fmt::format("{} pymalloc pools do not add up (was the process stopped inside "
                                         "malloc?): which of their blocks are "
                                         "free is judged by the blocks, and those of a pool whose header "
                                         "does not read are left out",
                                         pymalloc_.damaged_pools()),
                             Severity::damage);
        report("proofs", 0);
        drop_data();
        prove_doubtful();
        merge();
        return {pooled_.addresses.finish(), TypeColumn(std::move(pooled_.types)),
                std::move(pooled_.found_by)};
    }

private:
    void report(const char* pass, double done) {
        if (progress_) progress_(pass, done);
    }

    void find() {
        report("pymalloc blocks", 0);
        scan_pools();
        report("other memory", 0);
        add_types();
        sweep_other_memory();
    }

    void forget() {
        pooled_.addresses.clear();
        pooled_.types.clear();
        pooled_.found_by.clear();
        others_.clear();
        doubtful_.clear();
    }

    // --- 1. the collector's lists, if the objects found do not make them up

    void walk_collector_lists() {
        const CollectorLinks::Walked walked = links_.walk([&](Address object, TypeId type) {
            if (!pymalloc_.pool_at(object)) others_.push_back({object, type, FoundBy::collector});
        });
        if (links_.collecting() && walked.broken_lists == 0)
            diagnostics_.add("collector-at-work",
                             "the collector was at work: where it keeps counts in its links back, its lists "
                             "were followed by those "
                             "onward");
        if (walked.broken_lists > 0)
            diagnostics_.add("collector-lists-broken",
                             fmt::format("{} of the collector's lists break off; they were followed from "
                                         "both ends, and objects in "
                                         "between are found by their blocks instead",
                                         walked.broken_lists),
                             Severity::damage);
        if (walked.unknown > 0)
            diagnostics_.add(
                "types-unreadable",
                fmt::format("{} objects of the collector's lists were left out: their types do not read",
                            walked.unknown),
                Severity::damage);
    }

    /// True if `object` is only the second word of an object that is linked.
    bool in_header_of_linked(Address object) const {
        if (object.aligned(granule)) return false;
        const Address before = object.rounded_down(granule);
        const TypeId type = heap_.type_of(before);
        return type != no_type && access_.is_gc(before, heap_.types()[type]) && links_.is_linked(before);
    }

    bool linked(Address object, const TypeInfo& type, std::uint64_t& links) const {
        return access_.is_gc(object, type) && links_.linked(object, false, links);
    }

    // --- 2. pymalloc

    /// A possible object in a block of the current pool; offsets within the pool, in bytes.
    struct Candidate {
        std::uint32_t block;  // behind the debug hooks' mark
        std::uint32_t size;   // of the block, behind that mark
        std::uint32_t offset;
        TypeId type;
        bool is_gc;
    };

    /// What a piece of memory has; and room for its pools, one after the other.
    struct Found {
        std::vector<Address> addresses;  // in pools
        std::vector<TypeId> types;
        std::vector<FoundBy> found_by;
        std::vector<Entry> others, doubtful;
        std::uint64_t links = 0;  // CollectorLinks::linked
        std::vector<std::uint8_t> free;
        std::vector<Candidate> candidates;
    };

    void scan_pools() {
        const std::vector<Pool>& pools = pymalloc_.pools();
        std::uint64_t blocks = 0;
        for (const Pool& pool : pools) blocks += pool.allocated;
        // Room for the others as well: unused room is never touched, and costs no memory.
        const std::uint64_t room = blocks + blocks / 16 + (1 << 16);
        pooled_.addresses.reserve(room);
        pooled_.types.reserve(room);
        pooled_.found_by.reserve(room);
        const std::size_t pieces = piece_count(pools.size(), pools_a_piece);
        in_pieces<Found>(
            pieces,
            [&](std::size_t piece, Found& found) {
                const auto [begin, end] = piece_of(piece, pools.size(), pools_a_piece);
                for (std::size_t i = begin; i < end; ++i) scan_pool(pools[i], found);
            },
            [&](std::size_t piece, Found& found) {
                report("pymalloc blocks", static_cast<double>(piece) / static_cast<double>(pieces));
                pooled_.addresses.append(found.addresses);
                for (const TypeId type : found.types) pooled_.types.push_back(type);
                found.addresses.clear();
                found.types.clear();
                move_to_end(found.found_by, pooled_.found_by);
                take(found);
            });
    }

    /// What every piece may have, pools or not.
    void take(Found& found) {
        move_to_end(found.others, others_);
        move_to_end(found.doubtful, doubtful_);
        links_.add_linked(std::exchange(found.links, 0));
    }

    void scan_pool(const Pool& pool, Found& found) const {
        pymalloc_.free_blocks(pool, found.free);
        found.candidates.clear();
        std::uint32_t block = pymalloc_.header_size();
        for (std::uint32_t i = 0; i < pool.carved; ++i, block += pool.block_size) {
            __builtin_prefetch(pool.data + block + page_ahead);  // what lies on the next page is not foreseen
            if (!found.free[i]) add_candidate(pool, block, found.candidates);
        }
        for (const Candidate& candidate : found.candidates)
            for (std::optional<Candidate> at = candidate; at && !judge_candidate(pool, *at, found);)
                at = next_candidate(pool, at->block, at->size, at->offset + step_);
    }

    void add_candidate(const Pool& pool, std::uint32_t block, std::vector<Candidate>& candidates) const {
        std::uint32_t size = pool.block_size;
        if (access_.allocations().debug_hooks()) {
            const auto inner = access_.allocations().behind_debug_mark(
                {pool.start + block, size, Allocations::Owner::pymalloc});
            if (!inner) return;
            block = static_cast<std::uint32_t>(inner->start - pool.start);
            size = static_cast<std::uint32_t>(inner->usable);
        }
        if (const auto candidate = next_candidate(pool, block, size, block)) candidates.push_back(*candidate);
    }

    /// The first candidate in a block at `from` or later. It lies in the block at least up to its type word.
    std::optional<Candidate> next_candidate(const Pool& pool, std::uint32_t block, std::uint32_t size,
                                            std::uint32_t from) const {
        if (size < type_offset_ + 8) return std::nullopt;
        const std::uint32_t last = block + std::min(32U, size - type_offset_ - 8);
        for (std::uint32_t offset = from; offset <= last; offset += step_) {
            std::uint64_t word = 0;
            std::memcpy(&word, pool.data + offset + type_offset_, 8);
            const TypeId id = heap_.types().find(Address(word));
            if (id == no_type) continue;
            const TypeInfo& type = heap_.types()[id];
            const Address object = pool.start + offset;
            const bool is_gc = access_.is_gc(object, type);
            if ((is_gc ? type.presize : 0) != offset - block) continue;
            if (type.flags & tuple_subclass_flag) fetch_items(pool.data + offset, block + size - offset);
            return Candidate{block, size, offset, id, is_gc};
        }
        return std::nullopt;
    }

    /// Prefetches the first items of a tuple that is in no list: tuple_plausible looks at them.
    void fetch_items(const std::byte* tuple, std::uint32_t size) const {
        std::uint64_t next = 0;
        std::memcpy(&next, tuple - *heap_.layout().gc_head.size + *heap_.layout().gc_head.next, 8);
        if (next != 0) return;
        const std::uint32_t first = *heap_.layout().tuple.ob_item;
        for (std::uint32_t at = first; at + 8 <= size && at < first + 4 * 8; at += 8) {
            std::uint64_t item = 0;
            std::memcpy(&item, tuple + at, 8);
            if (const auto bytes = memory_.view(Address(item), 16); !bytes.empty())
                __builtin_prefetch(bytes.data());
        }
    }

    /// True if the object's count is unlikely to be anything else.
    bool small_count(const std::byte* object) const {
        const std::uint64_t count = count_of(heap_.layout(), object);
        return count != 0 && count < 4096;
    }

    /// Returns true if the candidate is an object, and was added.
    bool judge_candidate(const Pool& pool, const Candidate& candidate, Found& found) const {
        const Address object = pool.start + candidate.offset;
        FoundBy by = FoundBy::collector;
        if (!candidate.is_gc ||
            !links_.linked(object, small_count(pool.data + candidate.offset), found.links)) {
            by = FoundBy::pymalloc;
            const Verdict verdict =
                proof_.in_block(object, heap_.types()[candidate.type], candidate.size, granule);
            if (verdict == Verdict::doubtful) found.doubtful.push_back({object, candidate.type, by});
            if (verdict != Verdict::yes) return false;
            if (!candidate.is_gc && reads_as_remains(access_, object, heap_.types()[candidate.type]))
                return false;
        }
        found.addresses.push_back(object);
        found.types.push_back(candidate.type);
        found.found_by.push_back(by);
        return true;
    }

    // --- 3. everything else

    void add_types() {
        std::uint64_t links = 0;
        for (TypeId id{0}; id < heap_.types().size(); ++id) {
            const TypeInfo& type = heap_.types()[id];
            if (type.metatype == no_type || pymalloc_.pool_at(type.address)) continue;
            if (linked(type.address, heap_.types()[type.metatype], links)) {
                others_.push_back({type.address, type.metatype, FoundBy::collector});
                continue;
            }
            const bool is_static = access_.allocations().is_static(type.address);
            if (!(type.flags & ready_flag)) {  // an object only if its instances refer to it
                doubtful_.push_back({type.address, type.metatype, FoundBy::static_data});
                continue;
            }
            others_.push_back(
                {type.address, type.metatype, is_static ? FoundBy::static_data : FoundBy::malloc});
        }
        links_.add_linked(links);
    }

    void sweep_other_memory() {
        std::vector<std::uint64_t> types;
        for (const TypeInfo& type : heap_.types()) types.push_back(type.address.value);
        const AddressSet set(std::move(types));
        const std::vector<AddressRange> skip = pymalloc_.ranges();
        const std::vector<SweepPiece> pieces = pieces_to_sweep(memory_);
        in_pieces<Found>(
            pieces.size(),
            [&](std::size_t piece, Found& found) {
                sweep_words(pieces[piece], set, skip, [&](Address at, std::uint64_t word) {
                    judge_word(at - *heap_.layout().object.ob_type, Address(word), found);
                });
            },
            [&](std::size_t, Found& found) { take(found); });
    }

    void judge_word(Address object, Address type, Found& found) const {
        const TypeId id = heap_.types().find(type);
        if (id == no_type || heap_.types().find(object) != no_type || in_header_of_linked(object)) return;
        if (linked(object, heap_.types()[id], found.links)) {
            found.others.push_back({object, id, FoundBy::collector});
            return;
        }
        const ObjectProof::Elsewhere elsewhere = proof_.elsewhere(object, id);
        if (elsewhere.verdict == Verdict::no) return;
        (elsewhere.verdict == Verdict::yes ? found.others : found.doubtful)
            .push_back({object, id, elsewhere.found_by});
    }

    /// What reads as an object where the data of another begins. (An object in the collector's lists stays one.)
    void drop_data() {
        const auto start_of = [&](Address object, TypeId type) {
            return object - access_.presize(object, heap_.types()[type]);
        };
        const auto by_block = [](FoundBy by) {
            return by != FoundBy::collector && by != FoundBy::static_data;
        };
        std::vector<Address> starts;
        for (const auto* entries : {&others_, &doubtful_})
            for (const Entry& entry : *entries)
                if (by_block(entry.found_by)) starts.push_back(start_of(entry.address, entry.type));
        std::sort(starts.begin(), starts.end());
        const auto may_begin = [&](Address at) {
            return pymalloc_.pool_at(at) || std::binary_search(starts.begin(), starts.end(), at);
        };
        DataBlocks data(access_);
        for (std::size_t i = 0; i < pooled_.addresses.size(); ++i)
            if (const TypeId type(pooled_.types[i]); data.may_have(type))
                data.add(pooled_.addresses[i], type, may_begin);
        for (const Entry& entry : others_)
            if (data.may_have(entry.type)) data.add(entry.address, entry.type, may_begin);
        if (data.empty()) return;
        data.sort();
        for (auto* entries : {&others_, &doubtful_})
            std::erase_if(*entries, [&](const Entry& entry) {
                return by_block(entry.found_by) && data.contains(start_of(entry.address, entry.type));
            });
        const AddressView all = pooled_.addresses.view();
        std::vector<std::size_t> pooled;
        for (const Address start : data.starts())
            for (auto at = std::lower_bound(all.begin(), all.end(), start) - all.begin();
                 at < static_cast<std::ptrdiff_t>(all.size()) && all[at] - start <= longest_presize; ++at)
                if (by_block(pooled_.found_by[at]) && start_of(all[at], TypeId(pooled_.types[at])) == start)
                    pooled.push_back(static_cast<std::size_t>(at));
        pooled_.drop(pooled);
    }

    // --- 4. doubtful ones

    /// What the words of a piece of memory prove.
    struct Proofs {
        std::optional<AddressSet> left;  // addresses of doubtful_ that this piece has not proved
        std::vector<bool> seen;          // those that it has
        std::vector<std::uint32_t> proved;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> chains;  // (source, target)
    };

    /// Whether the word leads to the characters of a unicode of 2.7.
    bool is_place_of_characters(Address at) const {
        if (!texts_have_blocks(heap_.layout())) return false;
        return heap_.types().is(heap_.type_of(at - *heap_.layout().unicode.str), KnownType::str);
    }

    void look_for_proof(Address at, std::uint64_t word, Proofs& found) const {
        const std::uint32_t target = doubtful_index(Address(word));
        if (found.seen[target]) return;
        const std::uint32_t source = access_.allocations().is_static(at) ? holder(doubtful_, at) : no_object;
        // A word of the object's own body proves nothing.
        if (source == target || at - doubtful_[target].address < 32) return;
        if (is_place_of_characters(at)) return;
        if (source != no_object) {
            found.chains.emplace_back(source, target);
        } else if (belongs_to_python(at)) {
            found.seen[target] = true;
            found.proved.push_back(target);
            found.left->remove(word);
        }
    }

    // Static objects prove each other only if the chain begins in memory that Python allocated. What no live
    // object refers to (the code of a frozen module that was never imported) does not count as live.
    void prove_doubtful() {
        if (doubtful_.empty()) return;
        auto by_address = [](const Entry& a, const Entry& b) { return a.address < b.address; };
        std::sort(doubtful_.begin(), doubtful_.end(), by_address);
        doubtful_.erase(std::unique(doubtful_.begin(), doubtful_.end(),
                                    [](const Entry& a, const Entry& b) { return a.address == b.address; }),
                        doubtful_.end());
        std::sort(others_.begin(), others_.end(), by_address);
        std::erase_if(doubtful_, [&](const Entry& e) {
            return e.found_by == FoundBy::reference && inside_another(e.address);
        });
        std::vector<std::uint64_t> addresses;
        for (const Entry& entry : doubtful_) addresses.push_back(entry.address.value);
        const AddressSet set(std::move(addresses));
        std::vector<std::uint32_t> proved;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> chains;  // (source, target)
        std::vector<bool> seen(doubtful_.size());
        const std::vector<SweepPiece> pieces = pieces_to_sweep(memory_);
        const std::vector<std::size_t> batches = batches_of(pieces);
        in_pieces<Proofs>(
            batches.size() - 1,
            [&](std::size_t batch, Proofs& found) {
                found.left = set;
                found.seen.assign(doubtful_.size(), false);
                for (std::size_t i = batches[batch]; i < batches[batch + 1]; ++i)
                    sweep_words(pieces[i], *found.left, {},
                                [&](Address at, std::uint64_t word) { look_for_proof(at, word, found); });
            },
            [&](std::size_t, Proofs& found) {
                move_to_end(found.chains, chains);
                for (const std::uint32_t target : found.proved) {
                    if (seen[target]) continue;
                    seen[target] = true;
                    proved.push_back(target);
                }
                found.proved.clear();
            });
        std::sort(chains.begin(), chains.end());
        while (!proved.empty()) {
            const std::uint32_t at = proved.back();
            proved.pop_back();
            others_.push_back(doubtful_[at]);
            for (auto it = std::lower_bound(chains.begin(), chains.end(), std::pair(at, std::uint32_t{0}));
                 it != chains.end() && it->first == at; ++it) {
                if (seen[it->second]) continue;
                seen[it->second] = true;
                proved.push_back(it->second);
            }
        }
    }

    /// True if `address` is in the body of one of others_ whose references are all known. No object starts
    /// there: an item that is a type reads as the second word of one, and the length before it as the count.
    bool inside_another(Address address) const {
        const std::uint32_t around = holder(others_, address);
        if (around == no_object) return false;
        const Address object = others_[around].address;
        const TypeInfo& type = heap_.types()[others_[around].type];
        return object != address && access_.references_exact(object, type) &&
               address - object < access_.requested(object, type) - access_.presize(object, type);
    }

    std::uint32_t doubtful_index(Address address) const {
        const auto it = std::lower_bound(doubtful_.begin(), doubtful_.end(), address,
                                         [](const Entry& e, Address a) { return e.address < a; });
        return static_cast<std::uint32_t>(it - doubtful_.begin());
    }

    /// The entry in whose body `at` lies, or `no_object`.
    std::uint32_t holder(const std::vector<Entry>& entries, Address at) const {
        auto it = std::upper_bound(entries.begin(), entries.end(), at,
                                   [](Address a, const Entry& e) { return a < e.address; });
        if (it == entries.begin()) return no_object;
        --it;
        return at - it->address < access_.requested(it->address, heap_.types()[it->type])
                   ? static_cast<std::uint32_t>(it - entries.begin())
                   : no_object;
    }

    /// True if the word at `at` is part of a Python object or of memory that Python may have allocated: a
    /// live block of pymalloc or malloc, other memory that is not a stack, or the body of a static object
    /// that is already proved.
    bool belongs_to_python(Address at) const {
        if (access_.allocations().is_static(at)) return holder(others_, at) != no_object;
        return access_.allocations().in_allocated_block(at) && !proof_.on_a_stack(at);
    }

    // One column after the other: two tables of a large heap at once would be the peak of all memory used.
    void merge() {
        auto by_address = [](const Entry& a, const Entry& b) { return a.address < b.address; };
        std::stable_sort(others_.begin(), others_.end(), by_address);
        others_.erase(std::unique(others_.begin(), others_.end(),
                                  [](const Entry& a, const Entry& b) { return a.address == b.address; }),
                      others_.end());
        const AddressView all = pooled_.addresses.view();
        std::erase_if(others_,
                      [&](const Entry& e) { return std::binary_search(all.begin(), all.end(), e.address); });
        if (all.size() + others_.size() > most_objects)
            throw cannot_analyse(
                "too-large",
                fmt::format("there are more than {} objects: heapsift cannot number them", most_objects));
        std::vector<std::size_t> places(
            others_.size());  // of each of the others: how many pooled ones are below it
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i] = static_cast<std::size_t>(
                std::lower_bound(all.begin(), all.end(), others_[i].address) - all.begin());
        merge_column(pooled_.addresses, places, [&](std::size_t i) { return others_[i].address; });
        merge_column(pooled_.types, places, [&](std::size_t i) { return others_[i].type; });
        merge_column(pooled_.found_by, places, [&](std::size_t i) { return others_[i].found_by; });
    }

    const CoreFile& core_;
    const ObjectAccess& access_;
    const PythonHeap& heap_;
    const AddressSpace& memory_;
    const Pymalloc& pymalloc_;
    const std::uint32_t type_offset_;  // of an object
    /// What an object's place in its block is a multiple of: with headers of 24 bytes (3.6) it is 8.
    const std::uint32_t step_;
    Diagnostics& diagnostics_;
    const ProgressCallback& progress_;
    CollectorLinks links_;
    ObjectProof proof_;
    ObjectColumns pooled_;
    std::vector<Entry> others_;
    std::vector<Entry> doubtful_;
};

}  // namespace

FoundObjects find_objects(const CoreFile& core, const ObjectAccess& access, Diagnostics& diagnostics,
                          const ProgressCallback& progress) {
    return Builder(core, access, diagnostics, progress).build();
}

}  // namespace heapsift
