#include "analysis/growth/growth.h"

#include "analysis/growth/places.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heapsift {
namespace {

constexpr std::int64_t times_more_free = 8;
constexpr std::int64_t least_free = 1 << 20;
constexpr std::int64_t bytes_of_a_trace = 128;
constexpr std::size_t most_native_causes = 3;
constexpr std::int64_t parts_of_first_class = 8, parts_of_first_size = 4;

template <class Row>
void by_growth(std::vector<Row>& rows, const auto& growth_of) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Row& a, const Row& b) { return growth_of(a) > growth_of(b); });
}

std::vector<GrownName> named_growth(const std::vector<Inventory>& cores,
                                    std::vector<NamedAmounts> Inventory::*rows_of_core) {
    std::map<std::pair<std::string, std::uint32_t>, GrownName> by_name;
    for (std::size_t core = 0; core < cores.size(); ++core)
        for (const NamedAmounts& row : cores[core].*rows_of_core) {
            GrownName& grown = by_name[{row.name, row.line}];
            grown.name = row.name;
            grown.amounts.at.resize(cores.size());
            grown.retained.resize(cores.size());
            grown.line = row.line;
            grown.amounts.at[core] += row.now;
            grown.retained[core] = row.retained;
        }
    std::vector<GrownName> rows;
    for (auto& [name, row] : by_name)
        if (row.amounts.count_growth() != 0 || row.amounts.bytes_growth() != 0)
            rows.push_back(std::move(row));
    by_growth(rows, [](const GrownName& row) {
        return std::pair(row.amounts.bytes_growth(), row.amounts.count_growth());
    });
    return rows;
}

std::vector<GrownMemory> memory_growth(const std::vector<Inventory>& cores) {
    std::map<std::string, GrownMemory> by_name;
    for (std::size_t core = 0; core < cores.size(); ++core)
        for (const UsedMemory& row : cores[core].memory) {
            GrownMemory& grown = by_name[row.name];
            grown.name = row.name;
            grown.is_free = row.is_free;
            grown.is_c_code = row.is_c_code;
            grown.bytes.resize(cores.size());
            grown.bytes[core] += row.bytes;
        }
    std::vector<GrownMemory> rows;
    for (auto& [name, row] : by_name) rows.push_back(std::move(row));
    by_growth(rows, [](const GrownMemory& row) { return row.growth(); });
    return rows;
}

std::vector<GrownNative> native_growth(const std::vector<Inventory>& cores) {
    std::map<std::pair<std::string, std::uint64_t>, GrownNative> by_words;
    for (std::size_t core = 0; core < cores.size(); ++core)
        for (const NativeAmounts& row : cores[core].native) {
            const std::uint64_t size = row.of_class.empty() ? row.size : 0;
            GrownNative& grown = by_words[{row.of_class, size}];
            grown.now = row;
            grown.count.resize(cores.size());
            grown.bytes.resize(cores.size());
            grown.count[core] += row.count;
            grown.bytes[core] += row.bytes;
        }
    std::vector<GrownNative> rows;
    for (auto& [words, row] : by_words)
        if (row.growth() != 0 || row.count_growth() != 0) rows.push_back(std::move(row));
    // A class says more than the size of its blocks.
    by_growth(rows,
              [](const GrownNative& row) { return std::pair(row.growth(), !row.now.of_class.empty()); });
    return rows;
}

GrowthResult::Core head_of(const Inventory& core) {
    GrowthResult::Core head;
    head.file = core.file;
    head.python = core.python;
    head.command = core.arguments.empty() ? core.command : core.arguments;
    head.script = core.script;
    head.pid = core.pid;
    head.objects = core.objects;
    head.in_use = core.in_use;
    head.appeared = core.appeared;
    head.kept = core.kept;
    head.gone = core.gone;
    head.compared = core.compared;
    return head;
}

/// What C code's memory grew by that no object owns.
std::int64_t native_without_owner(const GrowthResult& result) {
    std::int64_t grown = 0, owned = 0;
    for (const GrownMemory& row : result.memories)
        if (row.is_c_code) grown += row.growth();
    for (const GrownRow& row : result.held)
        owned += AmountsByCore::difference(row.amounts.at.front().native, row.amounts.at.back().native);
    // What tracemalloc itself takes: a record, a row of its table, their headers.
    std::int64_t traced = 0;
    for (const GrownName& line : result.lines) traced += line.amounts.count_growth();
    grown -= std::max<std::int64_t>(0, traced) * bytes_of_a_trace;
    return std::max<std::int64_t>(0, grown - std::max<std::int64_t>(0, owned));
}

/// The rows of classes, or those of sizes, that grew by a fair part of the first of them, largest first.
std::vector<GrownNative> of_like_native_growth(const GrowthResult& result, bool classes,
                                               std::int64_t parts_of_first) {
    std::vector<GrownNative> alike;
    for (const GrownNative& row : result.natives)
        if (row.now.of_class.empty() != classes && row.growth() > 0 && alike.size() < most_native_causes &&
            (alike.empty() || row.growth() * parts_of_first > alike.front().growth()))
            alike.push_back(row);
    return alike;
}

/// The block size or class that grew most; where several do, these, largest first.
std::vector<GrownNative> native_causes(const GrowthResult& result) {
    std::vector<GrownNative> classes = of_like_native_growth(result, true, parts_of_first_class);
    std::int64_t together = 0;
    for (const GrownNative& row : classes) together += row.growth();
    // A class says more than a size; several say more than one of them.
    const GrownNative& first = result.natives.front();
    if (!first.now.of_class.empty()) return classes;
    if (classes.size() > 1 && together > first.growth()) return classes;
    return of_like_native_growth(result, false, parts_of_first_size);
}

void choose_cause(GrowthResult& result) {
    const std::int64_t least = result.least_growth();
    const std::int64_t place = result.places.empty() ? 0 : result.places.front().believed;
    // Where bytes are missing, what owns a block may be among them.
    std::int64_t native = 0;
    if (!result.natives.empty() && !result.cut) {
        result.native_causes = native_causes(result);
        for (const GrownNative& row : result.native_causes) native += row.growth();
        native = std::min(native, native_without_owner(result));
    }
    std::int64_t memory = 0;
    if (!result.memories.empty()) {
        const GrownMemory& row = result.memories.front();
        // What objects and blocks take is told by what holds them.
        // What is free may be used again: it is the answer only where little else grew.
        if (row.is_free && row.growth() >= std::max(least_free, times_more_free * std::max(place, native)))
            memory = row.growth();
        if (row.is_c_code && !result.cut) memory = native_without_owner(result);
    }
    if (std::max({place, native, memory}) < least) return;
    using Cause = GrowthResult::Cause;
    if (place >= native && place >= memory)
        result.cause = Cause::place;
    else
        result.cause = native * 2 >= memory ? Cause::native : Cause::memory;
}

}  // namespace

GrowthResult growth(const std::vector<Inventory>& cores) {
    GrowthResult result;
    for (const Inventory& core : cores) {
        result.cores.push_back(head_of(core));
        result.cut = result.cut || core.cut;
    }
    result.same_process = true;
    for (std::size_t i = 1; i < cores.size(); ++i) {
        result.same_process = result.same_process && may_be_same_process(cores[i - 1], cores[i]);
        result.same_program = result.same_program && may_be_same_program(cores[i - 1], cores[i]);
    }
    result.types = named_growth(cores, &Inventory::types);
    result.arrays = named_growth(cores, &Inventory::arrays);
    for (const Inventory& core : cores) result.traced = result.traced && core.traced;
    if (result.traced) result.lines = named_growth(cores, &Inventory::lines);
    result.natives = native_growth(cores);
    result.memories = memory_growth(cores);
    for (const GrownMemory& row : result.memories) result.whole += std::max<std::int64_t>(0, row.growth());
    PlacesFound found = grown_places(cores, result.types);
    result.moved = found.moved;
    result.moved_to = std::move(found.moved_to);
    result.held = std::move(found.held);
    result.places = std::move(found.places);
    // What takes the place of what was freed is more than what is in use grew by.
    std::int64_t placed = native_without_owner(result);
    for (const GrownPlace& place : result.places) placed += place.believed;
    result.whole = std::max(result.whole, placed);
    choose_cause(result);
    return result;
}

}  // namespace heapsift
