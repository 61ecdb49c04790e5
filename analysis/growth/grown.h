#pragma once

// The result of a comparison of cores (growth.h): rows with their amounts in each core, and the places that grew.

#include "analysis/growth/inventory.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Of one row in each core, the oldest first.
struct AmountsByCore {
    std::vector<Amounts> at;

    std::int64_t count_growth() const { return difference(at.front().count, at.back().count); }
    std::int64_t bytes_growth() const { return difference(at.front().bytes(), at.back().bytes()); }
    static std::int64_t difference(std::uint64_t before, std::uint64_t after) {
        return static_cast<std::int64_t>(after - before);
    }
};

struct GrownName {
    std::string name;
    AmountsByCore amounts;
    std::vector<std::optional<std::uint64_t>> retained;  // by core; of types
    std::uint32_t line = 0;                              // of the file `name`
};

struct GrownRow {
    HeldRow row;  // its words and its path, in the newest core that has it; `now` and `above` are not used
    AmountsByCore amounts;
    std::int64_t believed = 0;  // bytes of its growth that are no move from another row
};

struct GrownMemory {
    std::string name;
    std::vector<std::uint64_t> bytes;  // by core
    bool is_free = false, is_c_code = false;
    std::int64_t growth() const { return AmountsByCore::difference(bytes.front(), bytes.back()); }
};

struct GrownNative {
    NativeAmounts now;                        // in the newest core that has it
    std::vector<std::uint64_t> count, bytes;  // by core
    std::int64_t count_growth() const { return AmountsByCore::difference(count.front(), count.back()); }
    std::int64_t growth() const { return AmountsByCore::difference(bytes.front(), bytes.back()); }
};

/// Where a program adds something and does not take it away.
struct GrownPlace {
    HeldRow::Kind kind = HeldRow::Kind::root;
    std::string holder, place;         // "app", "_REGISTRY"; "app.Server", "cache"; "func()", "seen"
    std::string expression;            // the path to one of the units, in the newest core
    Address example;                   // that unit; null where the place lost all it had
    std::vector<std::uint64_t> bytes;  // of all its rows, by core
    std::vector<std::string>
        names;                // where several attributes or globals grew as one: all of them; `place` is "*"
    std::int64_t growth = 0;  // bytes of the rows that grew
    std::int64_t believed = 0;  // of these, GrownRow::believed
    bool steady = true;         // it grew from each core to the next
    bool usual = false;         // a cache that many processes fill for a while
    /// Objects of one type: the units first, then what most bytes are.
    struct Part {
        std::string type;
        std::int64_t count = 0, bytes = 0;  // growth
        std::uint64_t each = 0;             // for each unit; 0: no multiple
        bool container = false;
        bool akin = false;            // a class of the package that the units are of
        bool beside = false;          // held as the units are, and not by them
        std::int64_t told_bytes = 0;  // of `bytes`, of those that are no object's __dict__
    };
    std::vector<Part> parts;
    std::uint64_t units = 0;                 // growth of the first part; 0: no more objects, but larger ones
    std::uint64_t appeared = 0, stayed = 0;  // objects (HeldRow)
    std::uint64_t before() const { return bytes.front(); }
    std::uint64_t after() const { return bytes.back(); }
};

struct GrowthResult {
    enum class Cause : std::uint8_t {
        nothing,  // what grew is too little
        place,    // places.front()
        native,   // native_causes
        memory    // memories.front(): in no place
    };

    /// What a core is, and what it has.
    struct Core {
        std::string file, python, command;
        std::string script = {};  // as in CoreIdentity
        std::int32_t pid = 0;
        std::uint64_t objects = 0, in_use = 0;
        std::uint64_t appeared = 0, kept = 0, gone = 0;  // against the core before, if `compared`
        bool compared = false;
    };
    std::vector<Core> cores;
    bool same_process = false;  // likely: the pid, and where its modules lie
    bool same_program = true;   // the script, else the command
    bool cut = false;           // bytes of a core are missing: then no process is told to be the same

    bool traced = true;  // tracemalloc was on in all cores

    /// Bytes that places gained while others of the type lost as much, and that are taken to have moved. Where objects are
    /// compared (Inventory::compared), of those that lie where one of the type lay before.
    std::int64_t moved = 0;
    std::optional<GrownRow> moved_to;  // the row that gained most of them
    /// Whether that is so much that another place may be the cause.
    bool may_have_moved() const { return moved >= least_growth(); }
    /// Bytes: what a process that does the same as before gains and loses.
    std::int64_t least_growth() const {
        return std::max<std::int64_t>(64 << 10, static_cast<std::int64_t>(cores.back().in_use / 200));
    }

    Cause cause = Cause::nothing;
    std::vector<GrownNative>
        native_causes;       // of `native`: the size or class, or the few classes, that explain most
    std::int64_t whole = 0;  // bytes by which everything grew: of the rows of `memories` that did

    // Each by growth of bytes, most first; what did not change at all is left out.
    std::vector<GrownPlace> places;
    std::vector<GrownRow> held;
    std::vector<GrownName> types, arrays, lines;  // lines: if tracemalloc was on in all of them
    std::vector<GrownNative> natives;
    std::vector<GrownMemory> memories;
};

}  // namespace heapsift
