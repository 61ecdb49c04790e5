#pragma once

// A heap whose objects a test writes down one by one. It stands in for the real HeapReader when the test
// program is linked, so that what analyses and renderers do can be said without a core of an interpreter.

#include "parsers/reading/heap_reader.h"

#include <memory>
#include <string>
#include <vector>

namespace heapsift::test {

struct HandmadeObject {
    Address address;
    std::string type;
    ObjectFacts facts;
    ShortValue value;
    std::vector<Reference> references;
    FoundBy found_by = FoundBy::collector;
    bool finalized = false;
};

/// Types are made as they are named: one for each name, at 0x1000, 0x1100, …, in the order of first use;
/// `types` adds to them, and comes first. Objects may come in any order. What keeps them alive: `natives`
/// (they are reachable then), a count above the references there are (held), `immortal`; a type of `types`
/// that is none of a Python class is a root where it is an object.
struct HandmadeHeap {
    std::vector<TypeInfo> types;
    std::vector<HandmadeObject> objects;
    std::vector<HeapReader::MemoryRow> memory;
    AddressFinding finding{AddressFinding::Kind::unmapped, no_object,
                           no_object};                       // of addresses that are no object
    std::string core_bytes;                                  // an ELF core; empty: a small whole one
    Layout layout = *builtin_layout({3, 11, false, false});  // where a test lays objects out in memory
    std::vector<PythonInterpreter> interpreters;
    std::vector<Reference> natives;  // by word; from blocks of C code

    HeapReader build() const;
};

ShortValue literal(std::string text, std::uint64_t length);
Reference reference(std::uint64_t target, std::string name, ReferenceKind kind = ReferenceKind::strong);
/// The value at a key of a dict, and the key itself.
Reference item(std::uint64_t target, ShortValue key, ReferenceKind kind = ReferenceKind::strong);
Reference key(std::uint64_t target, ShortValue key, ReferenceKind kind = ReferenceKind::strong);
ObjectFacts facts(std::uint64_t size, std::uint64_t memory, std::uint64_t array_data = 0,
                  std::int64_t refcount = 1);

}  // namespace heapsift::test
