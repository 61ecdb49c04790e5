#include "parsers/cpython/hash_table.h"

#include <algorithm>
#include <bit>

namespace heapsift {

namespace {

constexpr std::uint64_t fewest_buckets = 16;       // HASHTABLE_MIN_SIZE
constexpr std::uint64_t smallest_entry = 24;       // next, hash, key
constexpr std::uint64_t largest_key_or_data = 64;  // no table of the interpreter has more

}  // namespace

bool is_code(const AddressSpace& memory, Address address) {
    const Segment* segment = memory.find(address);
    return segment && (segment->executable || (segment->module >= 0 && !segment->writable));
}

std::optional<HashTable> read_hash_table(const AddressSpace& memory, const HashTableForm& form,
                                         Address address) {
    const Segment* segment = memory.find(address);
    if (!segment || !segment->data || !segment->writable) return std::nullopt;
    const AddressSpace::Window fields(memory, address, *form.size);
    HashTable table{.address = address};
    table.entry_count = fields.read<std::uint64_t>(*form.entry_count).value_or(0);
    table.bucket_count = fields.read<std::uint64_t>(*form.bucket_count).value_or(0);
    if (table.bucket_count < fewest_buckets || !std::has_single_bit(table.bucket_count)) return std::nullopt;
    if (table.entry_count > memory.total_bytes() / smallest_entry ||
        table.bucket_count > memory.total_bytes() / 8)
        return std::nullopt;
    for (const LayoutOffset& function :
         {form.get_entry_func, form.hash_func, form.compare_func, form.malloc_func, form.free_func})
        if (function.present() && !is_code(memory, fields.pointer(*function))) return std::nullopt;
    if (form.key_size.present()) {
        table.key_size = fields.read<std::uint64_t>(*form.key_size).value_or(0);
        table.data_size = fields.read<std::uint64_t>(*form.data_size).value_or(0);
        if (table.key_size == 0 || table.key_size > largest_key_or_data ||
            table.data_size > largest_key_or_data)
            return std::nullopt;
    }
    table.buckets = fields.pointer(*form.buckets);
    const std::uint64_t bytes = table.bucket_count * 8;
    if (!table.buckets.aligned(8) || memory.mapped_bytes(table.buckets, bytes) < bytes) return std::nullopt;
    return table;
}

std::uint64_t read_chain(const AddressSpace& memory, const HashTableForm& form, Address head,
                         std::uint64_t most, std::vector<Address>& chain) {
    chain.clear();
    // Brent's search for a cycle: one entry is remembered, and a later one each time the distance has doubled.
    Address remembered;
    std::uint64_t distance = 0, farthest = 1, steps = 0;
    for (Address at = head; !at.is_null() && steps < most; ++steps) {
        if (at == remembered) {
            chain.clear();
            break;
        }
        if (++distance == farthest) {
            remembered = at;
            farthest *= 2;
            distance = 0;
        }
        chain.push_back(at);
        at = memory.read_address(at + form.next).value_or(Address());
    }
    return steps;
}

}  // namespace heapsift
