#include "parsers/cpython/pymalloc.h"

// Finding pools without symbols.
//
// pymalloc's table of arenas is in a static variable up to 3.11 (nameless in stripped builds), and part of
// the interpreter since 3.12. A pool, on the other hand, proves itself: it starts on a multiple of the pool
// size, its size class fixes maxnextoffset, nextoffset lies on the grid of blocks, and its free list stays
// inside, is aligned, has no cycle and leaves exactly `ref.count` blocks. So pools are found by their shape
// and then confirmed: each names an index into one table of arenas. That table is searched for (or read from
// the interpreter), and must lead each pool back to its own arena. Pools that it does not confirm are stale
// memory, and are dropped. Where the process has a second runtime, most pools may be its: then a table that
// confirms some of them is enough if it reads as one, and each size of pools is tried until one has such a
// table. Source: CPython's obmalloc.c, pycore_obmalloc.h; enumerating live blocks as the allocator itself does
// for its debug statistics.

#include "parsers/index/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heapsift {

namespace {

std::uint64_t word_at(const std::byte* at) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

constexpr std::size_t fewest_of_shared = 4;  // pools that name their place in a table rightly

bool table_confirms(const PythonHeap& heap, Address table, const PoolSearch::Found& c,
                    std::uint64_t arena_size) {
    const auto& l = heap.layout().arena_object;
    const Address arena = heap.pointer(table + std::uint64_t{c.arenaindex} * *l.size + *l.address);
    return !arena.is_null() && c.pool.start >= arena && c.pool.start - arena < arena_size;
}

/// Up to 3.11: a word in a module's data that points at a table which confirms a sample of pools: most of them, or, if
/// others of the process may have them (`shared`), more than any other word's, and not by accident.
std::optional<Address> search_arena_table(const PythonHeap& heap, const std::vector<PoolSearch::Found>& pools,
                                          std::uint64_t arena_size, std::int32_t module, bool shared) {
    std::vector<const PoolSearch::Found*> sample;
    const std::size_t step = std::max<std::size_t>(1, pools.size() / (shared ? 1024 : 24));
    for (std::size_t i = 0; i < pools.size(); i += step) sample.push_back(&pools[i]);
    // Of words that lead to a table, or to what was one, the one that confirms most.
    std::optional<Address> best;
    std::size_t most = fewest_of_shared - 1;
    auto confirmed = [&](Address table) {
        std::size_t hits = 0;
        if (shared && (best == table || !heap.memory().read<std::uint64_t>(table))) return false;
        for (std::size_t i = 0; i < sample.size(); ++i) {
            hits += table_confirms(heap, table, *sample[i], arena_size) ? 1 : 0;
            if (i == 1 && hits == 0 && !shared) return false;
        }
        if (!shared) return hits * 4 >= sample.size() * 3;
        if (hits > most) {
            most = hits;
            best = table;
        }
        return false;
    };
    const auto segments = heap.memory().segments();
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const Segment& segment = segments[s];
        // A module's data, and the anonymous memory right after it, its .bss.
        const bool of_module = segment.module >= 0 || (s > 0 && segments[s - 1].module >= 0 &&
                                                       segments[s - 1].end() == segment.start);
        if (segment.state != ByteState::in_core || !segment.writable || !of_module) continue;
        if (module >= 0 && segment.module >= 0 && segment.module != module) continue;
        if (shared && segment.module < 0 && segments[s - 1].module != module) continue;
        const std::uint64_t lead = (8 - segment.start.value % 8) % 8;
        for (std::uint64_t at = lead; at + 8 <= segment.size; at += 8) {
            const Address table(word_at(segment.data + at));
            if (!table.is_null() && table.aligned(8) && confirmed(table)) return table;
        }
    }
    return best;
}

/// Whether most entries in use read as an arena's: it has as many pools as an arena can have, no more free
/// pools than that, and the next pool to be cut lies inside.
bool reads_as_arenas(const PythonHeap& heap, Address table, std::uint32_t count, std::uint32_t pool_size,
                     std::uint64_t arena_size) {
    const auto& l = heap.layout().arena_object;
    if (!heap.memory().read<std::uint64_t>(table)) return false;
    std::uint32_t used = 0, good = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Address entry = table + std::uint64_t{i} * *l.size;
        const Address arena = heap.pointer(entry + *l.address);
        if (arena.is_null()) continue;
        ++used;
        const auto total = heap.integer<std::uint32_t>(entry + *l.ntotalpools);
        const auto free = heap.integer<std::uint32_t>(entry + *l.nfreepools);
        const Address uncut = heap.pointer(entry + *l.pool_address);
        const bool has_all = total == arena_size / pool_size || total + 1 == arena_size / pool_size;
        good += has_all && free <= total && uncut >= arena && uncut - arena <= arena_size ? 1 : 0;
    }
    return good > 0 && good >= used - used / 4;
}

/// 3.12 and later: the table of each interpreter (those without their own allocator share the main one's).
std::vector<Address> interpreter_arena_tables(const PythonHeap& heap, std::uint32_t pool_size,
                                              std::uint64_t arena_size) {
    const Layout& l = heap.layout();
    std::vector<Address> tables;
    if (!l.interpreter_state.obmalloc.present() || !l.obmalloc_state.arenas.present()) return tables;
    for (const PythonInterpreter& interpreter : heap.runtime().interpreters) {
        const Address field = interpreter.address + *l.interpreter_state.obmalloc;
        // 3.12 holds the state itself, 3.13 a pointer to it; try which one leads to a table. (In the state
        // itself that pointer would be one to a pool, whose blocks may contain anything.)
        for (const Address state : {heap.pointer(field), field}) {
            const Address table = heap.pointer(state + *l.obmalloc_state.arenas);
            const auto count = heap.memory().read<std::uint32_t>(state + *l.obmalloc_state.maxarenas);
            if (table.is_null() || !count || *count == 0 || *count >= (1U << 24)) continue;
            if (!reads_as_arenas(heap, table, *count, pool_size, arena_size)) continue;
            if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
        }
    }
    return tables;
}

/// Whether a register of some thread leads into the pool: it was taking a block there, or giving one back, when the
/// process stopped. (Each of the two functions has the pool or the block in a register from its first store to its
/// last.)
bool is_being_changed(const Pool& pool, std::uint32_t pool_size, std::span<const CoreThread> threads) {
    return std::any_of(threads.begin(), threads.end(), [&](const CoreThread& thread) {
        return std::any_of(thread.registers.begin(), thread.registers.end(),
                           [&](std::uint64_t word) { return word - pool.start.value < pool_size; });
    });
}

/// Pools of one shape, and the tables that lead to them.
struct PoolsAndTables {
    PoolSearch found;
    std::uint32_t pool_size = 0, header_size = 48;
    std::uint64_t arena_size = 0;  // 16 KiB since 3.10, with arenas of 1 MiB; before, 4 KiB and 256 KiB
    std::vector<Address> tables;
    std::size_t confirmed = 0;

    Address confirmed_by(const PythonHeap& heap, const PoolSearch::Found& c) const {
        const auto it = std::find_if(tables.begin(), tables.end(), [&](Address table) {
            return table_confirms(heap, table, c, arena_size);
        });
        return it == tables.end() ? Address() : *it;
    }
    void count(const PythonHeap& heap) {
        confirmed = static_cast<std::size_t>(
            std::count_if(found.pools.begin(), found.pools.end(),
                          [&](const auto& c) { return !confirmed_by(heap, c).is_null(); }));
    }
};

PoolsAndTables pools_of(const PythonHeap& heap, std::uint32_t pool_size, std::uint32_t alignment) {
    const std::uint32_t header = pool_header_size(heap.layout(), alignment);
    return {search_pools(heap.memory(), heap.layout(), pool_size, header, alignment), pool_size, header,
            pool_size == 16384 ? (std::uint64_t{1} << 20) : (std::uint64_t{1} << 18), {},        0};
}

/// The shape of most pools.
PoolsAndTables most_pools(const PythonHeap& heap) {
    PoolsAndTables best;
    for (const std::uint32_t alignment : {16U, 8U}) {
        for (const std::uint32_t pool_size : {16384U, 4096U}) {
            PoolsAndTables one = pools_of(heap, pool_size, alignment);
            if (one.found.pools.size() > best.found.pools.size() * 2) best = std::move(one);
        }
        if (!best.found.pools.empty()) break;
    }
    return best;
}

/// Of a process with several runtimes: the shape of most pools that a table of this one confirms. No pools if there
/// is none.
PoolsAndTables own_pools(const PythonHeap& heap) {
    PoolsAndTables best;
    for (const std::uint32_t alignment : {16U, 8U})
        for (const std::uint32_t pool_size : {16384U, 4096U}) {
            PoolsAndTables one = pools_of(heap, pool_size, alignment);
            one.tables = interpreter_arena_tables(heap, pool_size, one.arena_size);
            one.count(heap);
            if (one.confirmed == 0) {
                one.tables.clear();
                if (const auto table = search_arena_table(heap, one.found.pools, one.arena_size,
                                                          heap.runtime().module, true))
                    one.tables.push_back(*table);
                one.count(heap);
            }
            if (one.confirmed > best.confirmed) best = std::move(one);
        }
    return best;
}

/// Fills `tables`, and returns how they were found, in words.
const char* find_tables(const PythonHeap& heap, PoolsAndTables& best) {
    best.tables = interpreter_arena_tables(heap, best.pool_size, best.arena_size);
    best.count(heap);
    if (best.confirmed * 2 >= best.found.pools.size()) return "the interpreter's table of arenas";
    best.tables.clear();
    auto table = search_arena_table(heap, best.found.pools, best.arena_size, heap.runtime().module, false);
    if (!table) table = search_arena_table(heap, best.found.pools, best.arena_size, -1, false);
    if (table) best.tables.push_back(*table);
    return "a table of arenas that the pools confirm";
}

}  // namespace

void Pymalloc::attach(const AddressSpace& memory, const Layout& layout) {
    const auto require = [](bool holds) {
        if (!holds) throw IndexDamage("a pool cannot be where it is said to be");
    };
    require(pools_.empty() || pool_header_reads(layout));
    require(pools_.empty() || pool_size_ == 4096 || pool_size_ == 16384);
    freeblock_ = layout.pool_header.freeblock;
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        Pool& pool = pools_[i];
        require(header_size_ >= 16 && header_size_ <= pool_size_ && pool.start.aligned(pool_size_));
        require(pool.block_size >= 8 && pool.block_size % 8 == 0 && pool.allocated <= pool.carved);
        require(pool.carved <= (pool_size_ - header_size_) / pool.block_size);
        require(i == 0 || pools_[i - 1].start < pool.start);
        const auto bytes = memory.view(pool.start, pool_size_);
        require(bytes.size() == pool_size_);
        pool.data = bytes.data();
    }
    for (std::size_t i = 0; i < arenas_.size(); ++i)  // in a damaged table they may overlap
        require(arenas_[i].start <= arenas_[i].end && (i == 0 || arenas_[i - 1].start < arenas_[i].start));
    index_pools();
}

Pymalloc Pymalloc::find(const PythonHeap& heap, Diagnostics& diagnostics,
                        std::span<const CoreThread> threads) {
    Pymalloc result;
    if (!pool_header_reads(heap.layout())) {
        result.found_by_ = "no pymalloc pools";
        return result;
    }
    result.freeblock_ = heap.layout().pool_header.freeblock;
    const bool shared = heap.runtime().of > 1;
    PoolsAndTables best = shared ? own_pools(heap) : PoolsAndTables();
    const bool own = best.confirmed > 0;
    if (!own) best = most_pools(heap);
    result.pool_size_ = best.pool_size;
    result.header_size_ = best.header_size;
    for (const PoolSearch::Found& c : best.found.off_by_one) {
        if (is_being_changed(c.pool, result.pool_size_, threads))
            best.found.pools.push_back(c);
        else
            best.found.damaged.push_back(c.pool);
    }
    result.damaged_pools_ = best.found.damaged.size();
    if (best.found.pools.empty()) {
        result.found_by_ = "no pymalloc pools";
        return result;
    }
    result.found_by_ = own ? "a table of arenas of this runtime" : find_tables(heap, best);
    const std::vector<Address>& tables = best.tables;
    result.arenas_proved_ = !tables.empty();
    if (tables.empty()) {
        result.found_by_ = "the shape of pools alone";
        diagnostics.add("arenas-not-found",
                        "pymalloc's table of arenas was not found: pools are known by their shape alone");
    }
    const auto& l = heap.layout().arena_object;
    for (PoolSearch::Found& c : best.found.pools) {
        const Address table = best.confirmed_by(heap, c);
        if (!tables.empty() && table.is_null()) {
            best.found.damaged.push_back(c.pool);
            continue;
        }
        result.pools_.push_back(c.pool);
        if (table.is_null()) continue;
        const Address start = heap.pointer(table + std::uint64_t{c.arenaindex} * *l.size + *l.address);
        result.arenas_.push_back({start, start + best.arena_size});
    }
    auto by_start = [](const auto& one, const auto& other) { return one.start < other.start; };
    std::sort(result.pools_.begin(), result.pools_.end(), by_start);
    std::sort(result.arenas_.begin(), result.arenas_.end(), by_start);
    result.arenas_.erase(std::unique(result.arenas_.begin(), result.arenas_.end(),
                                     [](const AddressRange& one, const AddressRange& other) {
                                         return one.start == other.start;
                                     }),
                         result.arenas_.end());
    if (result.arenas_proved_) result.add_damaged(best.found.damaged, heap.memory());
    result.index_pools();
    return result;
}

void Pymalloc::index_pools() {
    if (pools_.empty()) return;
    pool_bits_ = static_cast<unsigned>(std::countr_zero(pool_size_));
    const std::size_t slots_a_chunk = chunk_size / pool_size_;
    std::vector<Address> keys;
    for (const Pool& pool : pools_)
        if (keys.empty() || keys.back() != chunk_key(pool.start)) keys.push_back(chunk_key(pool.start));
    chunks_ = AddressIndex(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        chunks_.add(keys[i], static_cast<std::uint32_t>(i * slots_a_chunk));
    pool_of_slot_.assign(keys.size() * slots_a_chunk, no_pool);
    for (std::uint32_t i = 0; i < pools_.size(); ++i)
        pool_of_slot_[chunks_.find(chunk_key(pools_[i].start)) +
                      (pools_[i].start.value % chunk_size) / pool_size_] = i;
}

// What reads as a pool with blocks in use, and lies in a proved arena, is one, whatever its free list or its
// index says: an arena contains no other memory. Its blocks then tell which of them are free (a free one
// begins with a link). Outside arenas it is stale memory. A header that says that blocks are in use, but is
// otherwise unreadable, is only counted.
void Pymalloc::add_damaged(const std::vector<Pool>& damaged, const AddressSpace& memory) {
    damaged_pools_ = 0;
    const std::size_t whole = pools_.size();
    for (const Pool& pool : damaged) {
        if (in_arena(pool.start)) pools_.push_back(pool);
    }
    damaged_pools_ = pools_.size() - whole;
    std::sort(pools_.begin(), pools_.end(), [](const Pool& a, const Pool& b) { return a.start < b.start; });
    auto next = pools_.begin();
    for (const AddressRange& arena : arenas_)
        for (Address at = (arena.start + (pool_size_ - 1)).rounded_down(pool_size_);
             at + pool_size_ <= arena.end; at = at + pool_size_) {
            while (next != pools_.end() && next->start < at) ++next;
            const bool is_known = next != pools_.end() && next->start == at;
            if (!is_known && memory.read<std::uint32_t>(at).value_or(0) != 0) ++damaged_pools_;
        }
}

bool Pymalloc::in_arena(Address address) const {
    const auto above = std::upper_bound(arenas_.begin(), arenas_.end(), address,
                                        [](Address a, const AddressRange& arena) { return a < arena.start; });
    return above != arenas_.begin() && (above - 1)->contains(address);
}

std::optional<MemoryBlock> Pymalloc::block_at(Address address) const {
    const Pool* pool = pool_at(address);
    if (!pool) return std::nullopt;
    const std::uint64_t offset = address - pool->start;
    if (offset < header_size_) return std::nullopt;
    const std::uint64_t index = (offset - header_size_) / pool->block_size;
    if (index >= pool->carved) return std::nullopt;
    MemoryBlock block{pool->start + header_size_ + index * pool->block_size, pool->block_size, true};
    std::uint64_t next = word_at(pool->data + *freeblock_);
    for (std::uint32_t steps = 0; next != 0 && steps <= pool->carved; ++steps) {
        if (next == block.start.value) {
            block.in_use = false;
            break;
        }
        const std::uint64_t at = next - pool->start.value;
        if (at + 8 > pool_size_) break;
        next = word_at(pool->data + at);
    }
    return block;
}

std::vector<AddressRange> Pymalloc::ranges() const {
    std::vector<AddressRange> ranges;
    const auto add = [&](const AddressRange& range) {  // in a false table, arenas may overlap
        if (!ranges.empty() && range.start <= ranges.back().end)
            ranges.back().end = std::max(ranges.back().end, range.end);
        else
            ranges.push_back(range);
    };
    if (arenas_proved_)
        for (const AddressRange& arena : arenas_) add(arena);
    else
        for (const Pool& pool : pools_) add({pool.start, pool.start + pool_size_});
    return ranges;
}

void Pymalloc::visit_blocks(const BlockVisitor& visit) const {
    std::vector<MemoryBlock> blocks;
    std::vector<std::uint8_t> free;
    auto pool = pools_.begin();
    for (const AddressRange& range : ranges()) {
        Address at = range.start;
        const auto add_free = [&](Address end) {
            if (at < end) blocks.push_back({at, end - at, false});
        };
        for (; pool != pools_.end() && pool->start < range.end; ++pool) {
            if (pool->start + pool_size_ > range.end) continue;  // the last of an arena that is cut short
            blocks.clear();
            add_free(pool->start);
            free_blocks(*pool, free);
            at = pool->start + header_size_;
            for (std::uint32_t i = 0; i < pool->carved; ++i, at = at + pool->block_size)
                blocks.push_back({at, pool->block_size, free[i] == 0});
            const Address end = pool->start + pool_size_;
            if (end - at >= pool->block_size) add_free(end);
            at = end;
            visit(blocks);
        }
        blocks.clear();
        add_free(range.end);
        if (!blocks.empty()) visit(blocks);
    }
}

std::uint64_t Pymalloc::bytes_allocated() const {
    std::uint64_t sum = 0;
    for (const Pool& pool : pools_) sum += std::uint64_t{pool.allocated} * pool.block_size;
    return sum;
}

void Pymalloc::free_blocks(const Pool& pool, std::vector<std::uint8_t>& free) const {
    free.assign(pool.carved, 0);
    std::uint64_t next = word_at(pool.data + *freeblock_);
    for (std::uint32_t steps = 0; next != 0 && steps <= pool.carved; ++steps) {
        const std::uint64_t at = next - pool.start.value;
        if (at < header_size_ || at + 8 > pool_size_) break;
        const std::uint32_t index = static_cast<std::uint32_t>(at - header_size_) / pool.block_size;
        if (index < pool.carved) free[index] = 1;
        next = word_at(pool.data + at);
    }
}

}  // namespace heapsift
