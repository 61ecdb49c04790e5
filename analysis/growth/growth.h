#pragma once

// What grew between cores of one program.
//
// The problem: two type tables side by side say "+9,000 Tensor, +36,000 dict, +80,000 str", and a person has to
// guess which of these belong together, what holds them, and which are the cause. Retained sizes of the newer core
// do not say what of them is new.
//
// The idea: held rows (inventory.h) add up, and each says in which rows its owners are. A row that grew hangs
// below the row of its owners, if that grew as well: the tensors below the graphs, the graphs below the sessions.
// What is left at the top is held by something that did not grow: there, at one attribute, global or local, the
// program adds something and never takes it away. This is a place, and all that hangs below it is its growth: so
// growths of places add up too. The objects that the place itself holds are the units ("8 more Session"), and
// where the number of others is a multiple of theirs, each unit has so many ("each with 1 Graph, 9,000 Tensor").
//
// What is no growth: an object is said to be held by its cheapest path, and that may lead elsewhere in the other
// core. Then one row grows by what another one loses. So of a row's growth no more counts than its type grew in
// all. Of three cores, a place that did not grow from each to the next comes behind those that did.
//
// Behind the places: blocks of C code by class or size, as far as no Python object owns them, and the rows of the
// table that closes. Whichever explains most comes first.

#include "analysis/growth/inventory.h"

#include <cstdint>
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
    std::string holder, place;            // "app", "_REGISTRY"; "app.Server", "cache"; "func()", "seen"
    std::string expression;               // the path to one of the units, in the newest core
    Address example;                      // that unit; null where the place lost all it had
    std::uint64_t before = 0, after = 0;  // bytes of all its rows, in the first and the last core
    std::int64_t growth = 0;              // bytes of the rows that grew
    std::int64_t believed = 0;            // of these, GrownRow::believed
    bool steady = true;                   // it grew from each core to the next
    bool usual = false;                   // a cache that many processes fill for a while
    /// Objects of one type: the units first, then what most bytes are.
    struct Part {
        std::string type;
        std::int64_t count = 0, bytes = 0;  // growth
        std::uint64_t each = 0;             // for each unit; 0: no multiple
        bool container = false, python_class = false;
    };
    std::vector<Part> parts;
    std::uint64_t units = 0;                 // growth of the first part; 0: no more objects, but larger ones
    std::uint64_t appeared = 0, stayed = 0;  // objects (HeldRow)
};

struct GrowthResult {
    enum class Cause : std::uint8_t {
        nothing,  // what grew is too little
        place,    // places.front()
        native,   // natives.front()
        memory    // memories.front(): in no place
    };

    /// What a core is, and what it has.
    struct Core {
        std::string file, python, command;
        std::int32_t pid = 0;
        std::uint64_t objects = 0, in_use = 0;
        std::uint64_t appeared = 0, kept = 0, gone = 0;  // against the core before, if `compared`
        bool compared = false;
    };
    std::vector<Core> cores;
    bool same_process = false;  // likely: the pid, and where the interpreter lies
    bool same_program = true;   // the command, and the interpreter's version

    Cause cause = Cause::nothing;
    std::int64_t whole = 0;  // bytes by which everything grew: of the rows of `memories` that did

    // Each by growth of bytes, most first; what did not change at all is left out.
    std::vector<GrownPlace> places;
    std::vector<GrownRow> held;
    std::vector<GrownName> types, arrays;
    std::vector<GrownNative> natives;
    std::vector<GrownMemory> memories;
};

/// Of two cores or more, the oldest first. Cost: by the number of rows.
GrowthResult growth(const std::vector<Inventory>& cores);

/// Whether both are cores of one process, as far as cores tell.
bool may_be_same_process(const Inventory& before, const Inventory& after);

}  // namespace heapsift
