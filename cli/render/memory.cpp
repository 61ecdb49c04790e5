// The memory of a process: one table that adds up, what the allocators have, and the mappings.

#include "cli/render/memory.h"

#include "cli/render/object.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_arenas = 3;
constexpr std::uint64_t sparse_parts_worth_a_sentence = 20;  // of what is in use
constexpr std::uint64_t zeros_parts_worth_a_sentence = 33;

Block rows_table(const std::shared_ptr<const MemoryResult>& result) {
    TableBlock table;
    table.columns = {left("In use"), right(at_least() + Text(ByteCount{result->in_use})), right(""),
                     left("", TextColumn::Fit::end)};
    table.columns.front().tree = true;
    table.level = 0;
    std::vector<TableRow> rows;
    for (const MemoryRow& row : result->rows) {
        if (row.bytes == 0 || row.use != MemoryUse::in_use) continue;
        rows.push_back({.cells = {row.name, ByteCount{row.bytes}, Share{row.bytes, result->in_use, true},
                                  Bar{row.bytes, result->in_use, colour_of(row.kind)}},
                        .depth = 1});
        for (const MemoryPart& part : row.parts)
            rows.push_back(
                {.cells = {part.name, ByteCount{part.bytes}, Share{part.bytes, result->in_use, true}, ""},
                 .depth = 2});
    }
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

/// What is mapped, but not counted as in use.
Block others_table(const std::shared_ptr<const MemoryResult>& result) {
    TableBlock table;
    table.columns = {left("Mapped, and not counted"),
                     right(at_least() + Text(ByteCount{result->mapped - result->in_use})),
                     left("", TextColumn::Fit::wrap)};
    table.columns.front().tree = true;
    table.level = 0;
    std::vector<TableRow> rows;
    for (const MemoryRow& row : result->rows) {
        if (row.bytes == 0 || row.use == MemoryUse::in_use) continue;
        rows.push_back({.cells = {row.name, ByteCount{row.bytes},
                                  row.use == MemoryUse::reserved
                                      ? "addresses that it was given and never used"
                                      : "unchanged pages: a core does not tell which were in memory"},
                        .depth = 1});
        for (const MemoryPart& part : row.parts)
            rows.push_back({.cells = {part.name, ByteCount{part.bytes}, ""}, .depth = 2});
    }
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

Block allocators_table(const std::shared_ptr<const MemoryResult>& result) {
    TableBlock table;
    table.columns = {left("allocator"), right("blocks"),   right("in use"),
                     right("free"),     right("reserved"), left("", TextColumn::Fit::wrap)};
    table.columns.front().tree = true;
    std::vector<TableRow> rows;
    for (const AllocatorRow& row : result->allocators) {
        Text words;
        if (row.trim > 0) words = says("malloc_trim(0) would give back {}", ByteCount{row.trim});
        if (row.mapped_blocks > 0) {
            if (!words.empty()) words += "; ";
            words += says("{} with mappings of their own, {}", how_many(row.mapped_blocks, "block"),
                          ByteCount{row.mapped_bytes});
        }
        rows.push_back({.cells = {row.name, Count{row.blocks}, ByteCount{row.in_use}, ByteCount{row.free},
                                  bytes_or_blank(row.reserved), std::move(words)}});
        // One arena says no more than the row above.
        for (std::size_t i = 0; row.arenas.size() > 1 && i < row.arenas.size(); ++i) {
            const ArenaRow& arena = row.arenas[i];
            if (i == most_arenas && row.arenas.size() > most_arenas + 1) {
                rows.push_back(
                    {.cells = {says("… {} more arenas: --json has all", Count{row.arenas.size() - i}), "", "",
                               "", "", ""},
                     .depth = 1});
                break;
            }
            rows.push_back(
                {.cells = {i == 0 ? Text("main arena, with headers") : says("arena at {}", arena.state), "",
                           ByteCount{arena.in_use}, ByteCount{arena.free + arena.kept}, "",
                           arena.kept == 0 ? Text()
                                           : says("{} of the free in caches of threads, and in fast bins",
                                                  ByteCount{arena.kept})},
                 .depth = 1});
        }
    }
    table.rows = rows_of(std::move(rows));
    return {std::move(table)};
}

struct OwnerName {
    MemoryOwner owner;
    const char* name;  // in JSON
    const char* words;
};
constexpr OwnerName owner_names[] = {{MemoryOwner::array_data, "array_data", "array data"},
                                     {MemoryOwner::objects, "objects", "objects"},
                                     {MemoryOwner::c_code, "c_code", "C code's blocks"},
                                     {MemoryOwner::free, "free", "free"},
                                     {MemoryOwner::headers, "headers", "headers"},
                                     {MemoryOwner::zeros, "zeros", "zeros"},
                                     {MemoryOwner::zero_blocks, "zero_blocks", "zeros in large blocks"},
                                     {MemoryOwner::files, "files", "program files"},
                                     {MemoryOwner::module_data, "module_data", "a program's data"},
                                     {MemoryOwner::stacks, "stacks", "stack"},
                                     {MemoryOwner::data_files, "data_files", "shared, or of a file"},
                                     {MemoryOwner::not_saved, "not_saved", "not saved"},
                                     {MemoryOwner::other, "other", "no known owner"},
                                     {MemoryOwner::reserved, "reserved", "never touched"}};

std::string flags_of(const MappingRow& row) {
    return {row.readable ? 'r' : '-', row.writable ? 'w' : '-', row.executable ? 'x' : '-'};
}

TableRow mapping_cells(const MappingWithFile& row) {
    std::vector<OwnerName> owners(std::begin(owner_names), std::end(owner_names));
    std::stable_sort(owners.begin(), owners.end(), [&](const OwnerName& a, const OwnerName& b) {
        return row.mapping.shares[a.owner] > row.mapping.shares[b.owner];
    });
    std::vector<Text> words;
    if (!row.file.empty()) words.emplace_back(FilePath{row.file});
    for (const OwnerName& owner : owners)
        if (const std::uint64_t bytes = row.mapping.shares[owner.owner];
            bytes == row.mapping.range.size() && bytes > 0)
            words.emplace_back(owner.words);
        else if (bytes > 0)
            words.push_back(says("{} {}", owner.words, ByteCount{bytes}));
    return {.cells = {row.mapping.range.start, ByteCount{row.mapping.range.size()}, flags_of(row.mapping),
                      joined(std::move(words), ", ")},
            .bytes = row.mapping.range.size()};
}

Block mappings_table(const std::shared_ptr<const MemoryResult>& result) {
    TableBlock table;
    table.columns = {left("mapping at"), right("bytes"), left(""),
                     left("whose they are", TextColumn::Fit::wrap)};
    table.rows = rows_of<TableRow>(result, &MemoryResult::mappings, mapping_cells);
    table.rest = TableRest{.rows = result->mapping_count,
                           .singular = "more mapping",
                           .bytes = result->mapped,
                           .all = CommandLine{std::string("memory --regions") + all_rows}};
    return {std::move(table)};
}

Datum part_data(const MemoryPart& part) { return entries({{"name", part.name}, {"bytes", part.bytes}}); }

Datum row_data(const MemoryRow& row) {
    return entries(
        {{"name", row.name}, {"bytes", row.bytes}, {"parts", Datum::list_of(row.parts, part_data)}});
}

Datum arena_data(const ArenaRow& arena) {
    return entries({{"address", arena.state},
                    {"mapped", arena.mapped},
                    {"in_use", arena.in_use},
                    {"kept", arena.kept},
                    {"free", arena.free}});
}

Datum allocator_data(const AllocatorRow& row) {
    return entries({{"name", row.name},
                    {"mapped", row.mapped},
                    {"in_use", row.in_use},
                    {"free", row.free},
                    {"trim", row.trim},
                    {"reserved", row.reserved},
                    {"blocks", row.blocks},
                    {"mapped_blocks", row.mapped_blocks},
                    {"mapped_bytes", row.mapped_bytes},
                    {"arenas", Datum::list_of(row.arenas, arena_data)}});
}

Datum mapping_data(const MappingWithFile& row) {
    Datum shares = Datum::object();
    const char* most = "";
    std::uint64_t of_most = 0;
    for (const OwnerName& owner : owner_names) {
        const std::uint64_t bytes = row.mapping.shares[owner.owner];
        if (bytes > 0) shares[owner.name] = bytes;
        if (bytes > of_most) most = owner.name;
        of_most = std::max(of_most, bytes);
    }
    return entries({{"start", row.mapping.range.start},
                    {"end", row.mapping.range.end},
                    {"size", row.mapping.range.size()},
                    {"flags", flags_of(row.mapping)},
                    {"saved", row.mapping.saved},
                    {"file", row.file.empty() ? Datum() : Datum(FilePath{row.file})},
                    {"owner", most},
                    {"bytes", std::move(shares)}});
}

std::uint64_t bytes_of(const MemoryResult& result, std::string_view name) {
    for (const MemoryRow& row : result.rows)
        if (row.name == name) return row.bytes;
    return 0;
}

Datum sparse_data(const MemoryResult::Sparse& sparse) {
    const auto type_data = [](const MemoryResult::Sparse::Type& type) {
        return entries({{"name", type.name}, {"objects", type.objects}});
    };
    return entries({{"arenas", sparse.arenas},
                    {"free", sparse.free_bytes},
                    {"blocks", sparse.blocks},
                    {"types", Datum::list_of(sparse.types, type_data)}});
}

/// What keeps pymalloc from giving memory back, if that is much.
void say_sparse(const MemoryResult& result, Document& document) {
    const MemoryResult::Sparse& sparse = result.sparse;
    if (sparse.free_bytes < result.in_use / sparse_parts_worth_a_sentence) return;
    std::vector<Text> types;
    for (const MemoryResult::Sparse::Type& type : sparse.types)
        types.push_back(says("{} {}", Count{type.objects}, type_words(type.name, type.objects)));
    Text text = says(
        "{} of Python's free memory lies in {} less than a quarter full. An arena goes back to the kernel "
        "when it is empty; {} in the way",
        ByteCount{sparse.free_bytes}, how_many(sparse.arenas, "arena that is", "arenas that are"),
        how_many(sparse.blocks, "block is", "blocks are"));
    if (!types.empty()) text += ", with " + joined(std::move(types), ", ");
    document.say(sentence(std::move(text += ".")));
}

/// By how much the kernel may have counted more, or less.
void say_zeros(const MemoryResult& result, Document& document) {
    if (result.zero_blocks > result.in_use / zeros_parts_worth_a_sentence)
        document.say(sentence(says(
            "{} of large blocks is pages of zeros, and not counted as in use. This core has such pages "
            "whether "
            "the process touched them or not; if it filled them with zeros, its RSS was larger by as much.",
            ByteCount{result.zero_blocks})));
    if (result.zeros == 0 || result.zeros < result.in_use / zeros_parts_worth_a_sentence) return;
    document.say(
        sentence(says("{} of what is in use is pages of zeros. This core has such pages whether the process "
                      "touched them or not; "
                      "if it did not, its RSS was smaller by as much.",
                      ByteCount{result.zeros})));
}

/// What has most, and what that means.
Text first_sentence(const MemoryResult& result) {
    const auto most =
        std::max_element(result.rows.begin(), result.rows.end(), [](const MemoryRow& a, const MemoryRow& b) {
            return (a.use == MemoryUse::in_use ? a.bytes : 0) < (b.use == MemoryUse::in_use ? b.bytes : 0);
        });
    if (most == result.rows.end() || most->use != MemoryUse::in_use || most->bytes == 0)
        return "Nothing is known of its memory.";
    Text text = says("{}{} of {} in use is {}", at_least(), ByteCount{most->bytes}, ByteCount{result.in_use},
                     most->name);
    if (most->name == c_code_row && result.culprit) {
        const std::uint64_t python = bytes_of(result, objects_row) + bytes_of(result, "array data");
        text += says(": {} in {}. Python's side is {}", culprit_part(*result.culprit, most->bytes),
                     culprit_words(*result.culprit), ByteCount{python});
    }
    return std::move(text += ".").bold();
}

}  // namespace

std::uint8_t colour_of(MemoryKind kind) { return static_cast<std::uint8_t>(static_cast<unsigned>(kind) + 1); }

Text culprit_part(const NativeCulprit& culprit, std::uint64_t in_use) {
    return culprit.bytes > in_use ? Text("nearly all of it") : says("{} of it", ByteCount{culprit.bytes});
}

Text culprit_words(const NativeCulprit& culprit) {
    const auto of_kind = [&](std::uint64_t count) {
        return culprit.of_class.empty()
                   ? says("{} of {} bytes", how_many(count, "block"), Count{culprit.size})
                   : says("{} {}", Count{count}, TypeName{culprit.of_class});
    };
    if (culprit.mixed && culprit.held.leaked == 0)
        return says("{} found from {}, the largest part {}", how_many(culprit.count, "block"),
                    culprit.held.by_type ? Text(TypeName{culprit.held.by}) : Text(culprit.held.by),
                    of_kind(culprit.largest_count));
    if (culprit.mixed)
        return says("{} that leaked, the largest part {}", how_many(culprit.count, "block"),
                    of_kind(culprit.largest_count));
    Text words = of_kind(culprit.count);
    const NativeHeld& held = culprit.held;
    const std::uint64_t certain =
        held.leaked - held.by_number;  // to the others an int leads: a handle, or chance
    if (certain * 2 > culprit.count)
        words += certain == culprit.count ? Text(", leaked") : says(", {} of them leaked", Count{certain});
    else if (held.leaked * 2 > culprit.count)
        words += says(", {} of them leaked, unless ints are handles ({})", Count{held.leaked},
                      Count{held.by_number});
    else if (held.by_count * 2 > culprit.count)
        words += says(", found from {}", held.by_type ? Text(TypeName{held.by}) : Text(held.by));
    return words;
}

Document render_memory(MemoryResult memory, bool mappings) {
    const auto result = kept(std::move(memory));
    Document document{.command = "memory"};
    if (mappings) {
        document.rows_key = "regions";
        document.rows = rows_of<Datum>(result, &MemoryResult::mappings, mapping_data);
        document.csv_columns = {"start", "end", "size", "flags", "saved", "file", "owner"};
    }
    document.data["mapped"] = result->mapped;
    document.data["in_use"] = result->in_use;
    document.data["reserved"] = result->reserved;
    document.data["in_core"] = result->in_core;
    document.data["categories"] = Datum::list_of(result->rows, row_data);
    document.data["zeros_in_use"] = result->zeros;
    document.data["zeros_in_large_blocks"] = result->zero_blocks;
    document.data["mapped_by_objects"] =
        entries({{"objects", result->mapped_by_objects.objects}, {"bytes", result->mapped_by_objects.bytes}});
    document.data["sparse_arenas"] = sparse_data(result->sparse);
    document.data["allocators"] = Datum::list_of(result->allocators, allocator_data);
    if (mappings) {
        document.say(mappings_table(result));
        document.say(hint("memory", "the sums"));
        return document;
    }
    document.say(sentence(first_sentence(*result)));
    document.say(gap());
    document.say(rows_table(result));
    document.say(gap());
    document.say(others_table(result));
    document.say(gap());
    document.say(allocators_table(result));
    say_sparse(*result, document);
    say_zeros(*result, document);
    if (const auto& mapped = result->mapped_by_objects;
        mapped.bytes >= result->in_use / 100 && mapped.bytes > 0)
        document.say(
            hint("holders --type mmap.mmap",
                 says("{} map {}, which no size of an object counts",
                      how_many(mapped.objects, "mmap object", "mmap objects"), ByteCount{mapped.bytes})));
    document.say(bytes_of(*result, c_code_row) >= result->in_use / 10
                     ? hint("native", "what C code's memory is")
                     : hint("types", "what Python's objects are"));
    return document;
}

}  // namespace heapsift
