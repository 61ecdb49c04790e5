#include "parsers/snapshot/builder.h"

// Every live object, each with a proof.
//
// An object is eight bytes of count and eight bytes that are the address of a type, and by chance many other things are that too.
// So nothing is an object because it looks like one; each has a second fact. In this order:
//   1. the collector's lists: what is linked there in both directions is an object;
//   2. pymalloc's blocks: allocated, in no free list, the object where its type's header puts it, of the size its type asks for,
//   with a
//      count above 0, and if the collector knows its type, a header that is linked or untracked, nothing else;
//   3. one sweep over the rest of writable memory for words that are addresses of types: the start of a block that malloc has
//   handed
//      out; or static data of a module whose contents prove it (a type, a str that ends where it says, …);
//   4. what remains doubtful (a count that might be a pointer, static objects of no distinctive shape) is an object if a word
//   inside
//      the memory of Python objects points at it, which one more sweep finds.
// Objects in free lists have a count of 0 or have lost their type word to the list; freed blocks have lost theirs to malloc.

#include "parsers/cpython/type_flags.h"
#include "parsers/elf/word_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>

namespace heapsift {

namespace {

constexpr std::uint64_t granule = 16;
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t max_refcount = 0xffffffff;

/// A bit per 16 bytes of saved writable memory. Pages of bits that are never set cost no memory.
class AddressBits {
public:
    explicit AddressBits(const AddressSpace& memory) : memory_(memory), bits_(memory.segments().size()) {}
    void set(Address address) {
        if (std::uint64_t* word = word_of(address, true)) *word |= mask(address);
    }
    bool test(Address address) const {
        const std::uint64_t* word = const_cast<AddressBits*>(this)->word_of(address, false);
        return word && (*word & mask(address));
    }

private:
    struct Free {
        void operator()(std::uint64_t* p) const { std::free(p); }
    };
    static std::uint64_t mask(Address a) { return std::uint64_t{1} << (a.value / granule % 64); }
    std::uint64_t* word_of(Address address, bool create) {
        const Segment* segment = memory_.find(address);
        if (!segment || segment->state != ByteState::in_core) return nullptr;
        auto& bits = bits_[static_cast<std::size_t>(segment - memory_.segments().data())];
        const std::uint64_t first = segment->start.value / granule / 64;
        if (!bits) {
            if (!create) return nullptr;
            const std::uint64_t words = segment->end().value / granule / 64 - first + 1;
            bits.reset(static_cast<std::uint64_t*>(std::calloc(words, 8)));
            if (!bits) throw std::bad_alloc();
        }
        return bits.get() + (address.value / granule / 64 - first);
    }
    const AddressSpace& memory_;
    std::vector<std::unique_ptr<std::uint64_t[], Free>> bits_;
};

struct Entry {
    Address address;
    TypeId type;
    FoundBy found_by;
};

class Builder {
public:
    Builder(const CoreFile& core, const ObjectAccess& access, Diagnostics& diagnostics, const ProgressCallback& progress)
        : core_(core),
          access_(access),
          heap_(access.heap()),
          memory_(core.memory()),
          pymalloc_(access.allocations().pymalloc()),
          diagnostics_(diagnostics),
          progress_(progress),
          collected_(memory_) {}

    FoundObjects build() {
        report("collector's lists", 0);
        walk_collector_lists();
        report("pymalloc blocks", 0);
        scan_pools();
        report("other memory", 0);
        add_types();
        sweep_other_memory();
        report("proofs", 0);
        prove_doubtful();
        return merge();
    }

private:
    enum class Verdict { no, doubtful, yes };

    void report(const char* pass, double done) {
        if (progress_) progress_(pass, done);
    }

    // --- 1. the collector's lists

    void walk_collector_lists() {
        const Layout& l = heap_.layout();
        for (const PythonInterpreter& interpreter : heap_.runtime().interpreters) {
            for (std::uint32_t generation = 0; generation < 3; ++generation)
                walk_list(interpreter.gc + *l.gc_state.generations + generation * *l.gc_generation.size);
            if (l.gc_state.permanent_generation.present()) walk_list(interpreter.gc + *l.gc_state.permanent_generation);
        }
        if (broken_lists_ > 0)
            diagnostics_.add(
                "collector-lists-broken",
                fmt::format("{} of the collector's lists break off; they were followed from both ends, and objects in "
                            "between are found by their blocks instead",
                            broken_lists_),
                Severity::damage);
        if (unknown_in_lists_ > 0)
            diagnostics_.add(
                "types-unreadable",
                fmt::format("{} objects of the collector's lists were left out: their types do not read", unknown_in_lists_),
                Severity::damage);
    }

    /// Forward to where it closes or breaks; then also backward, so that one torn link costs one object and not a generation.
    void walk_list(Address head) {
        const auto& l = heap_.layout().gc_head;
        if (follow_list(head, *l.next, *l.prev)) return;
        ++broken_lists_;
        follow_list(head, *l.prev, *l.next);
    }

    bool follow_list(Address head, std::uint64_t onward, std::uint64_t back) {
        const auto& l = heap_.layout().gc_head;
        const std::uint64_t most = core_.extent().in_core_bytes / 32;
        Address previous = head;
        Address node(heap_.pointer(head + onward).value & ~std::uint64_t{3});
        for (std::uint64_t n = 0; node != head; ++n) {
            if (node.is_null() || n > most) return false;
            if (Address(heap_.pointer(node + back).value & ~std::uint64_t{3}) != previous) return false;
            add_collected(node + *l.size);
            previous = node;
            node = Address(heap_.pointer(node + onward).value & ~std::uint64_t{3});
        }
        return true;
    }

    void add_collected(Address object) {
        const TypeId type = heap_.type_of(object);
        if (type == no_type) {
            ++unknown_in_lists_;
            return;
        }
        if (collected_.test(object)) return;
        if (!pymalloc_.pool_at(object)) others_.push_back({object, type, FoundBy::collector});
        collected_.set(object);
    }

    // --- what any candidate must satisfy

    bool count_is_alive(Address object) const {
        // A count above 2^32 would need 32 GiB of references; immortal objects (3.12+) have 2^32 - 1.
        const auto count = heap_.integer<std::uint64_t>(object);
        return count != 0 && count <= max_refcount;
    }

    /// The collector's header reads as untracked, or as linked in a list.
    bool header_reads(Address object, const TypeInfo& type) const {
        if (!access_.is_gc(object, type)) return true;
        const auto& l = heap_.layout().gc_head;
        const Address head = object - *l.size;
        const auto next_word = heap_.integer<std::uint64_t>(head + *l.next);
        const Address next(next_word & ~std::uint64_t{3});
        const Address prev(heap_.integer<std::uint64_t>(head + *l.prev) & ~std::uint64_t{3});
        if (next.is_null()) return next_word == 0 && prev.is_null();  // flags stand beside links alone
        return Address(heap_.integer<std::uint64_t>(next + *l.prev) & ~std::uint64_t{3}) == head;
    }

    /// A candidate in an allocated block of `block_size` bytes whose first byte is `presize` before it.
    Verdict judge_in_block(Address object, const TypeInfo& type, std::uint64_t block_size, std::uint64_t slack) const {
        if (!count_is_alive(object) || !header_reads(object, type)) return Verdict::no;
        const std::uint64_t requested = access_.requested(object, type);
        if (type.kind && type.kind->plausible && !type.kind->plausible(ObjectReader(heap_, object, type))) return Verdict::no;
        // Some C types allocate less than they declare, by a few words: a datetime.time without tzinfo, say. A pointer and a type
        // in a block that is far too small are a C module's state.
        if (requested > block_size && requested - block_size > ObjectAccess::declared_too_much) return Verdict::no;
        if (requested > block_size) return type.kind && type.kind->plausible ? Verdict::no : Verdict::doubtful;
        // A count that is also an address may be a pointer: the start of an array, say. (Contents that fit are proof enough.)
        const auto count = heap_.integer<std::uint64_t>(object);
        const bool distinctive = type.kind && type.kind->plausible && heap_.var_size(object) != 0;
        if (!distinctive && count >= 4096 && memory_.state_of(Address(count)) != ByteState::unmapped) return Verdict::doubtful;
        // pymalloc keeps a block that shrank by up to a quarter, malloc gives the rest back; an int may be shorter than its room.
        const bool fixed_size = type.itemsize <= 0 && !(type.kind && type.kind->body_size);
        const std::uint64_t spare = block_size - requested;
        if ((fixed_size || slack > granule) &&
            spare >= slack + static_cast<std::uint64_t>(std::max<std::int64_t>(type.itemsize, 0)))
            return Verdict::doubtful;
        return Verdict::yes;
    }

    // --- 2. pymalloc

    void scan_pools() {
        std::uint64_t blocks = 0;
        for (const Pool& pool : pymalloc_.pools()) blocks += pool.allocated;
        pooled_.addresses.reserve(blocks);
        pooled_.types.reserve(blocks);
        pooled_.found_by.reserve(blocks);
        std::vector<bool> free;
        std::size_t n = 0;
        for (const Pool& pool : pymalloc_.pools()) {
            if (++n % 4096 == 0)
                report("pymalloc blocks", static_cast<double>(n) / static_cast<double>(pymalloc_.pools().size()));
            pymalloc_.free_blocks(pool, free);
            for (std::uint32_t i = 0; i < pool.carved; ++i) {
                if (free[i]) continue;
                scan_block(pool.start + pymalloc_.header_size() + std::uint64_t{i} * pool.block_size, pool.block_size);
            }
        }
        if (pymalloc_.damaged_pools() > 0)
            diagnostics_.add(
                "pools-damaged",
                fmt::format("{} pymalloc pools do not add up (was the process stopped inside malloc?): which of their blocks are "
                            "free is judged by the blocks, and those of a pool whose header does not read are left out",
                            pymalloc_.damaged_pools()),
                Severity::damage);
    }

    void scan_block(Address block, std::uint32_t size) {
        if (access_.allocations().debug_hooks()) {
            const auto inner = access_.allocations().behind_debug_mark({block, size, Allocations::Owner::pymalloc});
            if (!inner) return;
            block = inner->start;
            size = static_cast<std::uint32_t>(inner->usable);
        }
        for (std::uint32_t offset = 0; offset <= 32 && offset + 16 <= size; offset += 16) {
            const Address object = block + offset;
            const TypeId id = heap_.type_of(object);
            if (id == no_type) continue;
            const TypeInfo& type = heap_.types()[id];
            if (access_.presize(object, type) != offset) continue;
            if (collected_.test(object)) {
                add_pooled(object, id, FoundBy::collector);
                return;
            }
            const Verdict verdict = judge_in_block(object, type, size, granule);
            if (verdict == Verdict::yes) {
                add_pooled(object, id, FoundBy::pymalloc);
                return;
            }
            if (verdict == Verdict::doubtful) doubtful_.push_back({object, id, FoundBy::pymalloc});
        }
    }

    void add_pooled(Address object, TypeId type, FoundBy by) {
        pooled_.addresses.push_back(object);
        pooled_.types.push_back(type);
        pooled_.found_by.push_back(by);
    }

    // --- 3. everything else

    void add_types() {
        for (TypeId id = 0; id < heap_.types().size(); ++id) {
            const TypeInfo& type = heap_.types()[id];
            if (type.metatype == no_type || pymalloc_.pool_at(type.address) || collected_.test(type.address)) continue;
            const bool is_static = access_.allocations().is_static(type.address);
            if (!(type.flags & ready_flag)) {  // counts only if it has instances: they refer to it
                doubtful_.push_back({type.address, type.metatype, FoundBy::static_data});
                continue;
            }
            others_.push_back({type.address, type.metatype, is_static ? FoundBy::static_data : FoundBy::malloc});
        }
    }

    std::vector<AddressRange> pymalloc_ranges() const {
        if (pymalloc_.arenas_proved()) return pymalloc_.arenas();
        std::vector<AddressRange> ranges;
        for (const Pool& pool : pymalloc_.pools()) {
            if (!ranges.empty() && ranges.back().end == pool.start)
                ranges.back().end = pool.start + pymalloc_.pool_size();
            else
                ranges.push_back({pool.start, pool.start + pymalloc_.pool_size()});
        }
        return ranges;
    }

    void sweep_other_memory() {
        std::vector<std::uint64_t> types;
        for (const TypeInfo& type : heap_.types()) types.push_back(type.address.value);
        const AddressSet set(std::move(types));
        const std::uint64_t type_offset = *heap_.layout().object.ob_type;
        const std::vector<AddressRange> skip = pymalloc_ranges();
        sweep_words(memory_, set, skip, [&](Address at, std::uint64_t word) {
            const Address object = at - type_offset;
            const TypeId id = heap_.types().find(Address(word));
            if (id == no_type || collected_.test(object) || heap_.types().find(object) != no_type) return;
            judge_elsewhere(object, id);
        });
    }

    void judge_elsewhere(Address object, TypeId id) {
        const TypeInfo& type = heap_.types()[id];
        if (!count_is_alive(object)) return;
        const Address start = object - access_.presize(object, type);
        if (start == object && access_.allocations().malloc_heaps().is_fast_bin_link(object)) return;
        if (const auto block = access_.allocations().block_starting_at(start)) {
            const std::uint64_t slack = 2 * granule + (block->owner == Allocations::Owner::mapping ? page : 0);
            const Verdict verdict = judge_in_block(object, type, block->usable, slack);
            if (verdict == Verdict::yes) others_.push_back({object, id, FoundBy::malloc});
            if (verdict == Verdict::doubtful) doubtful_.push_back({object, id, FoundBy::reference});
            return;
        }
        // Static data, or the middle of a block; in a chunk that is free, nothing lives.
        if (!access_.allocations().is_static(object) && !access_.allocations().in_allocated_block(object)) return;
        if (!header_reads(object, type)) return;
        if (type.kind && type.kind->plausible && !type.kind->plausible(ObjectReader(heap_, object, type))) return;
        doubtful_.push_back({object, id, access_.allocations().is_static(object) ? FoundBy::static_data : FoundBy::reference});
    }

    // --- 4. doubtful ones

    // Static objects prove each other only as far as the chain begins in memory that Python allocated: what nothing alive refers
    // to (the code of a frozen module that was never imported) is not counted as living.
    void prove_doubtful() {
        if (doubtful_.empty()) return;
        auto by_address = [](const Entry& a, const Entry& b) { return a.address < b.address; };
        std::sort(doubtful_.begin(), doubtful_.end(), by_address);
        doubtful_.erase(std::unique(doubtful_.begin(), doubtful_.end(),
                                    [](const Entry& a, const Entry& b) { return a.address == b.address; }),
                        doubtful_.end());
        std::sort(others_.begin(), others_.end(), by_address);
        std::vector<std::uint64_t> addresses;
        for (const Entry& entry : doubtful_) addresses.push_back(entry.address.value);
        const AddressSet set(std::move(addresses));
        std::vector<std::uint32_t> proved;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> chains;  // one doubtful object refers to another
        std::vector<bool> seen(doubtful_.size());
        sweep_words(memory_, set, {}, [&](Address at, std::uint64_t word) {
            const std::uint32_t target = doubtful_index(Address(word));
            const std::uint32_t source = access_.allocations().is_static(at) ? holder(doubtful_, at) : no_object;
            // A word of its own body proves nothing.
            if (source == target || seen[target] || at - doubtful_[target].address < 32) return;
            if (source != no_object) {
                chains.emplace_back(source, target);
            } else if (belongs_to_python(at)) {
                seen[target] = true;
                proved.push_back(target);
            }
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

    std::uint32_t doubtful_index(Address address) const {
        const auto it = std::lower_bound(doubtful_.begin(), doubtful_.end(), address,
                                         [](const Entry& e, Address a) { return e.address < a; });
        return static_cast<std::uint32_t>(it - doubtful_.begin());
    }

    /// The entry in whose body `at` lies, or `no_object`.
    std::uint32_t holder(const std::vector<Entry>& entries, Address at) const {
        auto it = std::upper_bound(entries.begin(), entries.end(), at, [](Address a, const Entry& e) { return a < e.address; });
        if (it == entries.begin()) return no_object;
        --it;
        return at - it->address < access_.requested(it->address, heap_.types()[it->type])
                   ? static_cast<std::uint32_t>(it - entries.begin())
                   : no_object;
    }

    /// Is the word at `at` part of a Python object or of what Python allocated: a live pymalloc block, a heap of malloc, or the
    /// body of a static object that is proved already?
    bool belongs_to_python(Address at) const {
        if (access_.allocations().is_static(at)) return holder(others_, at) != no_object;
        return access_.allocations().in_allocated_block(at) && !on_a_stack(at);
    }

    bool on_a_stack(Address at) const {
        const Segment* segment = memory_.find(at);
        for (const CoreThread& thread : core_.threads())
            if (memory_.find(Address(thread.stack_pointer())) == segment) return true;
        return false;
    }

    FoundObjects merge() {
        std::stable_sort(others_.begin(), others_.end(), [](const Entry& a, const Entry& b) { return a.address < b.address; });
        others_.erase(
            std::unique(others_.begin(), others_.end(), [](const Entry& a, const Entry& b) { return a.address == b.address; }),
            others_.end());
        FoundObjects result;
        const std::size_t total = pooled_.addresses.size() + others_.size();
        if (total >= no_object) throw std::length_error("more than 2^32 objects");
        result.addresses.reserve(total);
        result.types.reserve(total);
        result.found_by.reserve(total);
        std::size_t p = 0;
        auto take_pooled = [&] {
            result.addresses.push_back(pooled_.addresses[p]);
            result.types.push_back(pooled_.types[p]);
            result.found_by.push_back(pooled_.found_by[p]);
            ++p;
        };
        for (const Entry& entry : others_) {
            while (p < pooled_.addresses.size() && pooled_.addresses[p] < entry.address) take_pooled();
            if (p < pooled_.addresses.size() && pooled_.addresses[p] == entry.address) continue;
            result.addresses.push_back(entry.address);
            result.types.push_back(entry.type);
            result.found_by.push_back(entry.found_by);
        }
        while (p < pooled_.addresses.size()) take_pooled();
        return result;
    }

    const CoreFile& core_;
    const ObjectAccess& access_;
    const PythonHeap& heap_;
    const AddressSpace& memory_;
    const Pymalloc& pymalloc_;
    Diagnostics& diagnostics_;
    const ProgressCallback& progress_;
    AddressBits collected_;
    FoundObjects pooled_;
    std::vector<Entry> others_;
    std::vector<Entry> doubtful_;
    std::uint64_t broken_lists_ = 0;
    std::uint64_t unknown_in_lists_ = 0;
};

}  // namespace

FoundObjects find_objects(const CoreFile& core, const ObjectAccess& access, Diagnostics& diagnostics,
                          const ProgressCallback& progress) {
    return Builder(core, access, diagnostics, progress).build();
}

}  // namespace heapsift
