#pragma once

// One object as every command shows it (OBJECT of the contract).

#include "parsers/reading/heap_reader.h"

namespace heapsift {

enum class ObjectState : std::uint8_t { reachable, held, waiting, uncollectable, invisible };

struct ObjectRow {
    ObjectId id = no_object;
    Address address;
    std::string type;
    ObjectFacts facts;
    std::optional<std::uint64_t> retained;  // bytes; nothing if not computed
    std::optional<std::uint64_t> native;    // of it, blocks of C code; nothing if not computed
    std::optional<ObjectState> state;       // nothing if not computed
    ShortValue value;
    FoundBy found_by = FoundBy::collector;
};

/// Reads everything that the core says about `object`.
ObjectRow object_row(const HeapReader& heap, ObjectId object);

/// Only address, type and value: for the other end of a reference.
ObjectRow brief_object_row(const HeapReader& heap, ObjectId object);

/// The qualified name of a type, or "<type not found>" for `no_type`.
std::string type_name(const TypeTable& types, TypeId type);

/// The last part of a qualified name: "Node" of "app.Node"; "<type not found>" as a whole.
std::string short_type_name(const std::string& name);

/// Whether a number before that name, or before its last word, is read as a size or a time: "4,000 bytes" of the type bytes.
bool reads_as_unit(const std::string& type);

}  // namespace heapsift
