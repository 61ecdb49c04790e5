// tracemalloc's tables, found by what is in them.
//
// Every aligned word of the interpreter's writable data is tried as a pointer to a _Py_hashtable_t. Its functions must
// be code, its numbers must fit. The table of traces is the one whose entries prove themselves: the hash of an entry
// is its key, an address, rotated by four bits (_Py_HashPointer); the entry is in the bucket of that hash; its value
// is a size and a traceback; the traceback's frames lead to names of files. No other table of the interpreter has such
// entries. The table of domains (since 3.9) maps small numbers to tables of the same kind; until 3.8 the domain is
// part of the key. Last, the sum of all sizes must be what the interpreter counted, where that counter is known.
//
// tracemalloc traces none of its own memory, so none of it is here.

#include "parsers/cpython/tracemalloc.h"

#include "parsers/cpython/hash_table.h"
#include "parsers/elf/core_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {

namespace {

constexpr std::size_t most_candidates = 4096;
constexpr std::uint64_t buckets_to_probe = 1 << 16, entries_to_probe = 16;
constexpr std::uint64_t pointer_with_domain = 12;  // bytes of pointer_t
constexpr std::size_t longest_file_name = 4096;
constexpr const char* unknown_file = "<unknown>";  // anon_unknown
constexpr std::uint64_t counter_is_near = 4096;    // static variables of one source file lie together

struct TableAt {
    Address place;  // the variable
    HashTable table;
};

std::vector<TableAt> tables_in(const AddressSpace& memory, const HashTableForm& form,
                               std::span<const AddressRange> variables) {
    std::vector<TableAt> tables;
    std::unordered_set<std::uint64_t> seen;
    std::array<std::uint64_t, 1024>
        others{};  // words that lead to none, of which the same ones come again and again
    for (const AddressRange& range : variables)
        for (Address at = range.start; at < range.end && tables.size() < most_candidates;) {
            const std::span<const std::byte> bytes = memory.from(at);
            const std::uint64_t size = std::min<std::uint64_t>(bytes.size(), range.end - at);
            for (std::uint64_t i = 0; i + 8 <= size; i += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, bytes.data() + i, 8);
                if (word == 0 || word % 8 != 0) continue;
                std::uint64_t& other = others[word / 16 % others.size()];
                if (other == word) continue;
                const auto table = read_hash_table(memory, form, Address(word));
                if (!table) other = word;
                if (table && tables.size() < most_candidates && seen.insert(word).second)
                    tables.push_back({at + i, *table});
            }
            at = at + std::max<std::uint64_t>(size / 8 * 8, 8);
        }
    return tables;
}

/// Reads entries of tables of traces into a TracedMemory.
class TraceReader {
public:
    TraceReader(const PythonHeap& heap, TracedMemory& into)
        : heap_(heap),
          memory_(heap.memory()),
          hash_form_(hash_table_form(heap.layout().version)),
          form_(tracemalloc_form(heap.layout().version)),
          into_(into) {}

    const HashTableForm& hash_form() const { return hash_form_; }
    const TracemallocForm& form() const { return form_; }

    /// Nothing if the entry is not one of a block and its traceback.
    std::optional<TracedBlock> block_of(const HashTable& table, Address entry, std::uint64_t bucket,
                                        std::uint32_t domain);

    /// Whether the first entries of a table are blocks.
    bool is_table_of_traces(const HashTable& table) {
        if (table.entry_count == 0) return false;
        std::uint64_t seen = 0, proved = 0;
        visit_entries(memory_, hash_form_, table, buckets_to_probe, [&](Address entry, std::uint64_t bucket) {
            proved += block_of(table, entry, bucket, 0).has_value();
            return ++seen < entries_to_probe;
        });
        return proved > 0 && 2 * proved > seen;
    }

    /// Reads the block that begins at `start` alone, if the table has it.
    void read_one(const HashTable& table, std::uint32_t domain, Address start) {
        const std::uint64_t bucket =
            (std::rotr(start.value, 4) ^ salt(table, domain)) & (table.bucket_count - 1);
        std::vector<Address> chain;
        const Address head = heap_.pointer(table.buckets + 8 * bucket);
        read_chain(memory_, hash_form_, head, table.entry_count, chain);
        for (const Address entry : chain)
            if (const auto block = block_of(table, entry, bucket, domain); block && block->start == start) {
                into_.blocks.push_back(*block);
                into_.bytes += block->size;
                return;
            }
    }

    void read(const HashTable& table, std::uint32_t domain) {
        std::uint64_t found = 0;
        into_.blocks.reserve(into_.blocks.size() + std::min(table.entry_count, table.bucket_count));
        visit_entries(memory_, hash_form_, table, table.bucket_count,
                      [&](Address entry, std::uint64_t bucket) {
                          if (const auto block = block_of(table, entry, bucket, domain)) {
                              into_.blocks.push_back(*block);
                              into_.bytes += block->size;
                              ++found;
                          }
                          return true;
                      });
        into_.unread += table.entry_count - found;
    }

    /// The tables that the entries of a table of domains lead to; empty if it is none.
    std::vector<std::pair<std::uint32_t, HashTable>> tables_of_domains(const HashTable& domains);

private:
    static constexpr std::uint32_t not_a_traceback = 0xffffffff;

    /// Until 3.8, what a domain changes in a hash.
    static std::uint64_t salt(const HashTable& table, std::uint32_t domain) {
        return table.key_size == pointer_with_domain ? domain : 0;
    }

    std::uint32_t traceback_at(Address address);
    std::uint32_t read_traceback(Address address);
    std::optional<std::string> name_at(Address name) const;
    std::optional<std::uint32_t> file_of(Address name);

    const PythonHeap& heap_;
    const AddressSpace& memory_;
    HashTableForm hash_form_;
    TracemallocForm form_;
    TracedMemory& into_;
    std::unordered_map<std::uint64_t, std::uint32_t> tracebacks_;  // by address
    std::unordered_map<std::uint64_t, std::optional<std::uint32_t>>
        names_;  // files by the address of their name
    std::unordered_map<std::string, std::uint32_t> files_;
};

std::optional<TracedBlock> TraceReader::block_of(const HashTable& table, Address entry, std::uint64_t bucket,
                                                 std::uint32_t domain) {
    const bool in_entry = !hash_form_.value.present();
    const std::uint64_t data = hash_form_.key + table.key_size;
    const AddressSpace::Window fields(memory_, entry,
                                      in_entry ? data + form_.trace_bytes : *hash_form_.entry_size);
    const auto hash = fields.read<std::uint64_t>(hash_form_.key_hash);
    const auto key = fields.read<std::uint64_t>(hash_form_.key);
    if (!hash || !key) return std::nullopt;
    if (in_entry) {
        if (table.data_size != form_.trace_bytes) return std::nullopt;
        if (table.key_size == pointer_with_domain)
            domain = fields.read<std::uint32_t>(hash_form_.key + form_.domain_in_key).value_or(0);
        else if (table.key_size != 8)
            return std::nullopt;
    }
    if (*hash != (std::rotr(*key, 4) ^ salt(table, domain)) || !table.is_bucket_of(*hash, bucket))
        return std::nullopt;
    TracedBlock block{.start = Address(*key), .domain = domain};
    Address traceback;
    if (in_entry) {
        block.size = fields.read<std::uint64_t>(data + form_.trace_size).value_or(0);
        traceback = fields.pointer(data + form_.trace_traceback);
    } else {
        const AddressSpace::Window trace(memory_, fields.pointer(*hash_form_.value), form_.trace_bytes);
        const auto size = trace.read<std::uint64_t>(form_.trace_size);
        if (!size) return std::nullopt;
        block.size = *size;
        traceback = trace.pointer(form_.trace_traceback);
    }
    // No block is larger than half of all addresses; so no sum of those that are there runs over.
    if (block.size > memory_.total_bytes()) return std::nullopt;
    block.traceback = traceback_at(traceback);
    if (block.traceback == not_a_traceback) return std::nullopt;
    return block;
}

std::uint32_t TraceReader::traceback_at(Address address) {
    if (address.is_null()) return not_a_traceback;
    const auto [known, is_new] = tracebacks_.try_emplace(address.value, not_a_traceback);
    if (is_new) known->second = read_traceback(address);
    return known->second;
}

/// All tracebacks that are there lie side by side: together they have no more frames than memory has room for.
std::uint32_t TraceReader::read_traceback(Address address) {
    const auto count = memory_.read<std::uint16_t>(address + form_.nframe);
    const auto rest = memory_.read<std::uint16_t>(address + form_.nframe + 2);
    if (!count || !rest || *count == 0) return not_a_traceback;
    const bool knows_depth = form_.total_nframe.present();
    if (knows_depth ? *rest < *count : *rest != 0) return not_a_traceback;
    const std::size_t before = into_.frames.size();
    if ((before + *count) * form_.frame_bytes > memory_.total_bytes()) return not_a_traceback;
    const AddressSpace::Window frames(memory_, address + form_.frames,
                                      std::size_t{*count} * form_.frame_bytes);
    for (std::uint32_t i = 0; i < *count; ++i) {
        const std::uint64_t at = std::uint64_t{i} * form_.frame_bytes;
        const auto file = file_of(frames.pointer(at + form_.frame_filename));
        const auto line = frames.read<std::uint32_t>(at + form_.frame_lineno);
        if (!file || !line) {
            into_.frames.resize(before);
            return not_a_traceback;
        }
        into_.frames.push_back({*file, *line});
    }
    into_.first_frames.push_back(into_.frames.size());
    into_.depths.push_back(knows_depth ? *rest : std::uint16_t{0});
    return static_cast<std::uint32_t>(into_.depths.size() - 1);
}

/// Since 3.15 a file's name is a C string. The only one that is no copy of a name is a constant of the program, whose
/// bytes are not in every core.
std::optional<std::string> TraceReader::name_at(Address name) const {
    if (!form_.filename_is_c_string)
        return heap_.is_unicode(name) ? heap_.unicode_text(name, longest_file_name) : std::nullopt;
    const Segment* segment = memory_.find(name);
    if (!segment) return std::nullopt;
    if (!segment->data && segment->module >= 0 && !segment->writable) return unknown_file;
    return memory_.read_c_string(name, longest_file_name);
}

std::optional<std::uint32_t> TraceReader::file_of(Address name) {
    if (name.is_null()) return std::nullopt;
    const auto [known, is_new] = names_.try_emplace(name.value, std::nullopt);
    if (!is_new) return known->second;
    auto text = name_at(name);
    if (!text) return std::nullopt;
    const auto [file, is_other] = files_.try_emplace(*text, static_cast<std::uint32_t>(into_.files.size()));
    if (is_other) into_.files.push_back(std::move(*text));
    known->second = file->second;
    return known->second;
}

std::vector<std::pair<std::uint32_t, HashTable>> TraceReader::tables_of_domains(const HashTable& domains) {
    std::vector<std::pair<std::uint32_t, HashTable>> tables;
    if (!hash_form_.value.present()) return tables;
    visit_entries(memory_, hash_form_, domains, buckets_to_probe, [&](Address entry, std::uint64_t bucket) {
        const AddressSpace::Window fields(memory_, entry, *hash_form_.entry_size);
        const auto hash = fields.read<std::uint64_t>(hash_form_.key_hash);
        const auto key = fields.read<std::uint64_t>(hash_form_.key);
        if (!hash || hash != key || *key == 0 || *key > 0xffffffff || !domains.is_bucket_of(*hash, bucket))
            return false;
        const auto table = read_hash_table(memory_, hash_form_, fields.pointer(*hash_form_.value));
        if (!table) return false;
        tables.emplace_back(static_cast<std::uint32_t>(*key), *table);
        return tables.size() < most_candidates;
    });
    std::erase_if(tables, [&](const auto& table) { return !is_table_of_traces(table.second); });
    std::sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return tables;
}

/// `at`: a _PyTraceMalloc_Config.
void read_config(const AddressSpace& memory, const TracemallocForm& form, Address at, TracedMemory& traced) {
    constexpr std::int32_t most_frames = 0xffff;
    const auto initialized = memory.read<std::int32_t>(at + form.config_initialized);
    const auto tracing = memory.read<std::int32_t>(at + form.config_tracing);
    const auto frames = memory.read<std::int32_t>(at + form.config_max_nframe);
    if (!initialized || !tracing || !frames || *initialized < 0 || *initialized > 2 || *tracing < 0 ||
        *tracing > 1 || *frames < 1 || *frames > most_frames)
        return;
    traced.tracing = traced.tracing || *tracing == 1;
    if (traced.tracing) traced.most_frames = static_cast<std::uint32_t>(*frames);
}

/// Since 3.12, where no table of traces reads: the struct alone. It begins with an initialized config that traces, and
/// goes on with three allocators, each a pointer and four functions.
bool is_tracing_state(const AddressSpace& memory, const TracemallocForm& form, Address at) {
    constexpr std::uint64_t allocator_bytes = 40, functions = 4;
    if (memory.read<std::int32_t>(at + form.config_initialized) != 1 ||
        memory.read<std::int32_t>(at + form.config_tracing) != 1)
        return false;
    for (std::uint64_t i = 0; i < 3; ++i)
        for (std::uint64_t function = 1; function <= functions; ++function) {
            const Address place = at + *form.state_allocators + i * allocator_bytes + 8 * function;
            if (!is_code(memory, memory.read_address(place).value_or(Address()))) return false;
        }
    return true;
}

void find_tracing_state(const AddressSpace& memory, const TracemallocForm& form,
                        std::span<const AddressRange> variables, TracedMemory& traced) {
    if (!form.state_allocators.present()) return;
    for (const AddressRange& range : variables)
        for (Address at = range.start; at < range.end; at = at + 8)
            if (is_tracing_state(memory, form, at)) return read_config(memory, form, at, traced);
}

/// Until 3.11, without symbols: a word beside the variables that equals the sum is the counter.
std::optional<std::uint64_t> counter_near(const AddressSpace& memory, Address place, std::uint64_t sum) {
    for (std::uint64_t distance = 8; distance <= counter_is_near; distance += 8)
        for (const Address at : {place - distance, place + distance})
            if (memory.read<std::uint64_t>(at) == sum) return sum;
    return std::nullopt;
}

struct TablesOfTraces {
    Address place;                                            // the variable that leads to the first
    std::vector<std::pair<std::uint32_t, HashTable>> tables;  // with their domains
};

/// Domain 0 first; empty if there are none.
TablesOfTraces tables_of_traces(TraceReader& reader, const AddressSpace& memory,
                                std::span<const AddressRange> variables) {
    const std::vector<TableAt> tables = tables_in(memory, reader.hash_form(), variables);
    const TableAt* traces = nullptr;
    for (const TableAt& at : tables)
        if ((!traces || at.table.entry_count > traces->table.entry_count) &&
            reader.is_table_of_traces(at.table))
            traces = &at;
    if (!traces) return {};
    TablesOfTraces found{traces->place, {{0, traces->table}}};
    for (const TableAt& at : tables)
        for (auto& table : reader.tables_of_domains(at.table)) found.tables.push_back(std::move(table));
    return found;
}

/// Where the interpreter's module keeps its variables; of all memory if the module is unknown.
std::vector<AddressRange> variables_of_interpreter(const CoreFile& core, const Module* module) {
    std::vector<AddressRange> variables;
    for (const Segment& segment : core.memory().segments()) {
        if (!segment.writable || segment.state != ByteState::in_core) continue;
        if (module && (segment.start < module->start || segment.start >= module->image_end)) continue;
        variables.push_back({segment.start, segment.end()});
    }
    return variables;
}

const Module* interpreter_module(const CoreFile& core, const PythonHeap& heap) {
    const std::int32_t number = heap.runtime().module;
    return number < 0 ? nullptr : &core.modules()[static_cast<std::size_t>(number)];
}

}  // namespace

TracedMemory traced_memory(const PythonHeap& heap, std::span<const AddressRange> variables,
                           const TracemallocVariables& known) {
    TracedMemory traced{.available = has_tracemalloc(heap.layout().version)};
    if (!traced.available) return traced;
    const AddressSpace& memory = heap.memory();
    TraceReader reader(heap, traced);
    const TracemallocForm& form = reader.form();
    if (known.config) read_config(memory, form, *known.config, traced);
    const TablesOfTraces found = tables_of_traces(reader, memory, variables);
    if (found.tables.empty()) {
        find_tracing_state(memory, form, variables, traced);
        return traced;
    }
    traced.tracing = true;
    if (form.state_traces.present()) {
        const Address state = found.place - *form.state_traces;
        read_config(memory, form, state, traced);
        traced.counted_bytes = memory.read<std::uint64_t>(state + *form.state_traced_memory);
    }
    for (const auto& [domain, table] : found.tables) reader.read(table, domain);
    if (known.traced_memory) traced.counted_bytes = memory.read<std::uint64_t>(*known.traced_memory);
    if (!traced.counted_bytes) traced.counted_bytes = counter_near(memory, found.place, traced.bytes);
    return traced;
}

TracedMemory traced_block(const PythonHeap& heap, std::span<const AddressRange> variables, Address start) {
    TracedMemory traced{.available = has_tracemalloc(heap.layout().version)};
    if (!traced.available) return traced;
    TraceReader reader(heap, traced);
    for (const auto& [domain, table] : tables_of_traces(reader, heap.memory(), variables).tables) {
        traced.tracing = true;
        reader.read_one(table, domain, start);
    }
    return traced;
}

TracedMemory traced_memory(const CoreFile& core, const PythonHeap& heap) {
    const Module* module = interpreter_module(core, heap);
    TracemallocVariables known;
    if (module && !tracemalloc_form(heap.layout().version).state_traces.present()) {
        known.config = core.symbol(*module, "_Py_tracemalloc_config");  // 3.8 to 3.11
        if (!known.config) known.config = core.symbol(*module, "tracemalloc_config");
        known.traced_memory = core.symbol(*module, "tracemalloc_traced_memory");
    }
    return traced_memory(heap, variables_of_interpreter(core, module), known);
}

TracedMemory traced_block(const CoreFile& core, const PythonHeap& heap, Address start) {
    return traced_block(heap, variables_of_interpreter(core, interpreter_module(core, heap)), start);
}

}  // namespace heapsift
