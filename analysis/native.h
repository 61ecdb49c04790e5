#pragma once

// Blocks that C code has, and no Python object owns: by size, and by C++ class.

#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Who refers to the blocks of a row, as far as words tell (parsers/snapshot/native_blocks.cpp).
struct NativeHeld {
    std::uint64_t leaked = 0;     // blocks to which no word leads that may be a pointer
    std::uint64_t by_number = 0;  // of these, blocks whose address a Python int has, or what these lead to
    std::uint64_t by_python = 0;  // blocks to which a way leads from Python's memory
    std::string by = {};  // of most of those that did not leak: "libfoo.so kept", "lxml.etree._Element"
    std::uint64_t by_count = 0;  // how many these are
    bool by_type = false;        // `by` is a Python type
    friend bool operator==(const NativeHeld&, const NativeHeld&) = default;
};

struct NativeSizeRow {
    std::uint64_t size = 0;  // bytes that the program may use of each block
    std::uint64_t count = 0, bytes = 0;
    Address example;
    std::string of_class =
        {};  // of most of them: NativeClass::name; empty if most begin with no table of functions
    std::string content = {};  // of the example, if that is all it is: "text", "zeros", "addresses"
    NativeHeld held = {};
};

struct NativeClassRow {
    std::string name, module;  // NativeClass
    bool named = false;
    std::uint64_t count = 0, bytes = 0;
    std::uint64_t smallest = 0, largest = 0;  // of its blocks, bytes
    Address example;
    NativeHeld held;
};

struct NativeResult {
    std::vector<NativeSizeRow> sizes;     // most bytes first, cut to the limit
    std::vector<NativeClassRow> classes;  // the same
    std::uint64_t size_count = 0, class_count = 0;
    std::uint64_t count = 0, bytes = 0;                // of all blocks
    std::uint64_t leaked_count = 0, leaked_bytes = 0;  // NativeHeld::leaked, of all
    std::uint64_t number_bytes = 0;                    // of the leaked ones, NativeHeld::by_number
    std::uint64_t python_bytes = 0;                    // of those to which a way leads from Python's memory
    std::uint64_t of_classes = 0;                      // bytes of those that have a class
    bool tells_leaks = true;  // false if memory is missing that could hold blocks: then no leak is claimed
};

struct NativeQuery {
    std::size_t limit = 0;     // rows of each table; 0: all
    bool leaked_only = false;  // rows count only the blocks that leaked; the sums are of all
};

/// Single blocks, the largest first, those of one size by allocator and address. 12 bytes for each. Rows are read one
/// by one (NativeListReader).
struct NativeList {
    std::vector<Address> blocks;      // cut to the limit
    std::vector<std::uint32_t> rows;  // of each, its place in the snapshot's `native`
    std::uint64_t total_count = 0, total_bytes = 0;
};
NativeList native_list(const HeapReader& heap, const NativeQuery& query);

struct NativeListRow {
    Address address;
    std::uint64_t bytes = 0;  // that the program may use
    std::string of_class;     // NativeClass::name; empty if it begins with no table of functions
    bool class_named = false;
    std::string content;         // "text", "zeros", "addresses"; empty if it is nothing of these alone
    std::string held_by;         // NativeHeld::by; empty if it leaked
    bool held_by_type = false;   // `held_by` is a Python type
    bool by_number = false;      // it leaked, unless a Python int is a handle to it
    std::optional<bool> leaked;  // nothing if that cannot be told
};

/// Reads rows of a list. Refers to the heap: use it while that is there.
class NativeListReader {
public:
    explicit NativeListReader(const HeapReader& heap);
    /// Cost: a look at the first 256 bytes of the block; names are found once.
    NativeListRow row(Address block, std::uint32_t row);

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// What blocks have in them.
struct NativeContent {
    std::string content;  // NativeListRow::content
    std::uint64_t count = 0, bytes = 0, leaked = 0;
};
/// Most bytes first. Cost: a look at the first 256 bytes of each block.
std::vector<NativeContent> native_contents(const HeapReader& heap, const NativeQuery& query);

/// Reads what the native blocks have.
NativeResult native(const HeapReader& heap, const NativeQuery& query);

/// The size or the class that has at least half of the bytes of such blocks; the class if both have. Else all that
/// leaked, if that has half of them; or what one variable or type leads to, if that has. That also where it is more of
/// what one size or class begins with. Else all that leaked, if that has a quarter.
struct NativeCulprit {
    std::uint64_t size = 0;  // of each block; 0 if they differ
    std::uint64_t count = 0, bytes = 0;
    std::string of_class;  // empty: none
    Address example;
    NativeHeld held;
    // Of several classes and sizes, that leaked or are found from `held.by`: these are of the largest part, which has so
    // many
    bool mixed = false;
    std::uint64_t largest_count = 0;
    std::string module = {};  // NativeClass::module of `of_class`
};
std::optional<NativeCulprit> native_culprit(const HeapReader& heap);

}  // namespace heapsift
