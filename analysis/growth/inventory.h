#pragma once

// What a heap consists of, in words that mean the same in another core.
//
// The problem: two cores of one program have nothing in common that could be compared. Addresses differ, ids
// follow addresses, and of the same process later half of the objects are others. What lasts is what the
// program is written in: types, attributes, module globals, locals of functions, dtypes, C++ classes.
//
// The idea: an inventory is made of each core by itself, and everything in it is named. Its middle are the held
// rows: each object is in exactly one, by its type and by how its nearest owner holds it ("app.Node, children[*]",
// analysis/holder_labels.h), so rows add up, and nothing counts twice. (Retained sizes do not add up: of two
// registries with the same objects none retains them.) Each row also says in which rows the owners are: so a
// growth of many rows can be put together again (growth.h).
//
// Rows are told apart by the rows that they are within: the names in one pool are not those in another, nor is the
// cache of one server that of the next. Only below instances of the program's classes, and so often as a class is not
// met again, so that there are some thousands of rows and no more.
//
// Whatever thread runs a function, its locals are one row; a thread's own data is not told apart by the thread's
// name. An inventory refers to no heap: the next core can be opened when this one is closed.

#include "analysis/growth/core_identity.h"
#include "analysis/growth/object_marks.h"
#include "analysis/kept_answers.h"
#include "analysis/work.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// Sums over objects, bytes but for `count`.
struct Amounts {
    std::uint64_t count = 0, size = 0, memory = 0, array_data = 0;
    std::uint64_t native = 0;  // blocks of C code that they alone own, not in `memory`

    std::uint64_t bytes() const { return memory + native; }
    Amounts& operator+=(const Amounts& more) {
        count += more.count;
        size += more.size;
        memory += more.memory;
        array_data += more.array_data;
        native += more.native;
        return *this;
    }
};

/// What is kept about several objects of one name.
struct NamedAmounts {
    std::string name;
    Amounts now;
    std::optional<std::uint64_t> retained;  // by all of them; of the types that retain most
    std::uint32_t line = 0;                 // of the file `name`
};

/// Objects of one type that are held in one way.
struct HeldRow {
    static constexpr std::uint32_t none = 0xffffffff;

    enum class Kind : std::uint8_t {
        object,   // owned by an object of the type `holder`, or by a class
        root,     // a module, a call's locals, a thread's data: `holder` begins an expression
        garbage,  // nothing reaches them
        native,   // words of C code hold them
        unseen    // their counts tell of a reference that was not found: C code's, or a leaked one
    };

    std::string type, holder, attribute;  // as in HolderRow; of garbage both are empty. Not escaped
    std::string
        place;  // the first step of `attribute`: "children" of "children[*]"; names a place with `holder`
    std::uint32_t steps = 0;                // of `attribute`
    bool joined = false, nameless = false;  // no dot; Python has no name for it
    Kind kind = Kind::object;
    bool container = false;  // a dict, list, tuple, set, cell: rather than it, what is in it is told
    bool python_class = false;
    std::string expression;  // the path to one of them, with [*] for indices. Not escaped
    Address example;
    Amounts now;

    struct Above {
        std::uint32_t row = none;            // of the owners of so many of them
        std::uint64_t count = 0, bytes = 0;  // bytes: their memory
    };
    std::vector<Above> above;  // most first
    /// Where their owners are instances of classes written in Python: the row of these, which is an earlier one. (Of
    /// a list or tree of equals: of the first ones.) Rows of the same words differ by it. Else `none`.
    std::uint32_t within = none;

    std::uint64_t appeared = 0;        // objects that were not there in the core before
    std::uint64_t appeared_bytes = 0;  // their memory
    std::uint64_t stayed = 0;  // that appeared between the first two cores of three, and are still there
    std::uint64_t stayed_bytes = 0;
};

/// A row of the table that closes (analysis/memory.h).
struct UsedMemory {
    std::string name;
    std::uint64_t bytes = 0;
    bool is_free = false;    // inside allocators
    bool is_c_code = false;  // blocks that are not part of a Python object
};

/// A set of native blocks: of one C++ class, or of one size.
struct NativeAmounts {
    std::string of_class;    // empty: of one size
    std::uint64_t size = 0;  // of each; 0 for a class whose sizes differ
    std::uint64_t count = 0, bytes = 0, leaked = 0;
    std::string held_by;  // NativeHeld::by: of most of those that did not leak
    Address example;
};

struct Inventory : CoreIdentity {
    std::uint64_t objects = 0, in_use = 0;
    std::vector<HeldRow> held;
    std::vector<NamedAmounts> types;   // by name; classes of the same name are one
    std::vector<NamedAmounts> arrays;  // "float64 (*, 3)": dtype and shape but for the first axis
    std::vector<NativeAmounts> native;
    std::vector<UsedMemory> memory;   // what is in use
    bool traced = false;              // tracemalloc was on
    std::vector<NamedAmounts> lines;  // blocks that each allocated; `memory` is what was asked for

    // By comparison with the core before; nothing if that is another process's.
    bool compared = false;
    std::uint64_t appeared = 0, kept = 0, gone = 0;

    /// It is larger than other answers: some 200 bytes a row.
    static constexpr std::size_t most_kept_rows = 100'000;
    static constexpr std::uint64_t most_kept_bytes = 12 << 20;
    std::size_t rows() const {
        return held.size() + types.size() + arrays.size() + native.size() + lines.size();
    }

    /// To be kept; without what is filled in anew, and what compares it with other cores.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph&) {
        amounts_fields(self, part);
    }

    /// To be kept apart from its core, with all that says which process it is.
    template <class Self, class Part>
    static void whole_fields(Self& self, Part& part) {
        for (auto* text : {&self.file, &self.python, &self.command, &self.arguments, &self.script})
            part.text(*text);
        part.number(self.pid);
        part.number(self.cut);
        part.list(self.modules, [](auto& module, Part& p) {
            p.text(module.path);
            p.number(module.start);
        });
        amounts_fields(self, part);
    }

private:
    template <class Self, class Part>
    static void amounts_fields(Self& self, Part& part) {
        part.number(self.objects);
        part.number(self.in_use);
        part.list(self.held, [](auto& row, Part& p) {
            for (auto* text : {&row.type, &row.holder, &row.attribute, &row.place, &row.expression})
                p.text(*text);
            for (auto* flag : {&row.joined, &row.nameless, &row.container, &row.python_class})
                p.number(*flag);
            p.number(row.kind);
            p.number(row.steps);
            p.number(row.example);
            p.number(row.within);
            amounts(row.now, p);
            p.list(row.above, [](auto& above, Part& q) {
                q.number(above.row);
                q.number(above.count);
                q.number(above.bytes);
            });
        });
        for (std::size_t i = 0; i < self.held.size(); ++i) {
            const HeldRow& row = self.held[i];
            part.require(row.within == HeldRow::none || row.within < i, "a row is within a later one");
            part.require(row.kind <= HeldRow::Kind::unseen, "a row is of no kind");
            for (const HeldRow::Above& above : row.above)
                part.require(above.row < self.held.size(), "a number is no row's");
        }
        const auto named = [](auto& row, Part& p) {
            p.text(row.name);
            p.number(row.line);
            amounts(row.now, p);
            bool computed = row.retained.has_value();
            std::uint64_t retained = row.retained.value_or(0);
            p.number(computed);
            p.number(retained);
            if constexpr (Part::reading)
                if (computed) row.retained = retained;
        };
        part.list(self.types, named);
        part.list(self.arrays, named);
        part.number(self.traced);
        part.list(self.lines, named);
        part.list(self.native, [](auto& row, Part& p) {
            p.text(row.of_class);
            p.text(row.held_by);
            for (auto* number : {&row.size, &row.count, &row.bytes, &row.leaked}) p.number(*number);
            p.number(row.example);
        });
        part.list(self.memory, [](auto& row, Part& p) {
            p.text(row.name);
            p.number(row.bytes);
            for (auto* flag : {&row.is_free, &row.is_c_code}) p.number(*flag);
        });
    }

    template <class All, class Part>
    static void amounts(All& all, Part& part) {
        for (auto* number : {&all.count, &all.size, &all.memory, &all.array_data, &all.native})
            part.number(*number);
    }
};

/// Of a heap with all columns. Without `before`, the objects of earlier cores of the process, the answer is kept. Cost: one search for the
/// cheapest paths, and 12 bytes an object; with arrays some 500 ns for each.
Inventory take_inventory(Work& work, CoreIdentity identity = {}, const EarlierObjects* before = nullptr);

}  // namespace heapsift
