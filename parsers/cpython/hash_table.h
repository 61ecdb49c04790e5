#pragma once

// The interpreter's own hash tables (_Py_hashtable_t, Python/hashtable.c): an array of buckets, each a list of entries.
//
// A table in a core may be torn or false. So a header is believed only if its numbers fit each other and its functions
// are code; a list that closes on itself is left out; and no walk takes more steps than the table says it has entries.

#include "parsers/cpython/build/tracemalloc_forms.h"
#include "parsers/elf/address_space.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace heapsift {

struct HashTable {
    Address address = {};
    std::uint64_t entry_count = 0;
    std::uint64_t bucket_count = 0;  // a power of two
    Address buckets = {};
    std::uint64_t key_size = 8, data_size = 8;  // bytes in an entry

    bool is_bucket_of(std::uint64_t hash, std::uint64_t bucket) const {
        return (hash & (bucket_count - 1)) == bucket;
    }
};

/// Whether a function may lie there: in code, or in what a module's file has and no program writes.
bool is_code(const AddressSpace& memory, Address address);

/// The table at `address`; nothing if its header does not read as one. Its buckets are mapped, but may lack bytes.
std::optional<HashTable> read_hash_table(const AddressSpace& memory, const HashTableForm& form,
                                         Address address);

/// Puts the entries of one list into `chain`, at most `most`. Returns the steps taken; `chain` is empty if the list
/// closes on itself.
std::uint64_t read_chain(const AddressSpace& memory, const HashTableForm& form, Address head,
                         std::uint64_t most, std::vector<Address>& chain);

/// Calls `visit(entry, bucket)` for each entry of the first `most_buckets` buckets, until it returns false. Cost: a
/// cache miss for each entry.
template <class Visit>
void visit_entries(const AddressSpace& memory, const HashTableForm& form, const HashTable& table,
                   std::uint64_t most_buckets, Visit&& visit) {
    const std::uint64_t end = std::min(most_buckets, table.bucket_count);
    const AddressSpace::Window heads(memory, table.buckets, end * 8);
    std::vector<Address> chain;
    std::uint64_t left = table.entry_count;
    for (std::uint64_t bucket = 0; bucket < end && left > 0; ++bucket) {
        const Address head = heads.pointer(bucket * 8);
        if (head.is_null()) continue;
        left -= read_chain(memory, form, head, left, chain);
        for (const Address entry : chain)
            if (!visit(entry, bucket)) return;
    }
}

}  // namespace heapsift
