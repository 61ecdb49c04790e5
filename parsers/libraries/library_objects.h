#pragma once

// What a field of an object tells exactly of memory that Python does not count: of files in memory, mappings, images,
// databases, XML documents. (Which types, and how their fields are proved: library_objects.cpp.)

#include "parsers/cpython/object_kind.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

struct LibraryFacts {
    enum class Kind : std::uint8_t { bytes_io, mapping, image, database, document, element } kind;
    std::uint64_t bytes = 0;      // what it holds; 0 where nothing tells: databases, documents, elements
    std::uint64_t allocated = 0;  // bytes_io: of its buffer
    Address data;                 // mapping, image: where the bytes are; an image has them in pieces
    std::string mode = {};        // image: "RGB"
    std::int64_t width = 0, height = 0;  // image
    // database, document, element: its file or URL; from the process, not escaped. Empty: none, or not known
    std::string file = {};
    std::string tag = {};    // of the root or the element; not escaped
    bool in_memory = false;  // database: without a file
};

/// Nothing for other objects, and for one whose fields do not prove themselves (another version of the library, a closed
/// object). Some ten reads.
std::optional<LibraryFacts> library_facts(const ObjectReader& object);

/// Whether a mapped file is what the kernel calls memory that is shared without a file.
bool is_shared_memory(const std::string& path);

}  // namespace heapsift
