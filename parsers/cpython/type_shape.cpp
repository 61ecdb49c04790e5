// Recognising a static type without its name.
//
// The problem: tp_name of a static type points into read-only data of a file, and the file may be missing.
// The idea: almost every static type differs from all others of its interpreter in the combination of its
// instance size, flags, filled slots, and dictionary keys; all of these are in writable memory, hence in
// every core. They are hashed to one number (FNV-1a, 64 bits), and a table made from real builds
// (type_name_tables.h) maps it to a name. Shapes that two types share are not in the table. Few types change
// between releases of one minor version, so the table also serves unknown builds.
//
// The hash leaves out what depends on the process: addresses, versions and caches, subclasses, and the flags
// that say whether a type has been used or registered in some way. Source: struct _typeobject and
// Py_TPFLAGS_* of 3.9 to 3.13 (cpython/object.h, object.h).

#include "parsers/cpython/type_shape.h"

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/type_flags.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

namespace {

// Py_TPFLAGS_SEQUENCE, _MAPPING (set by abc.register), READYING, VALID_VERSION_TAG (20 bits up from 19),
// IS_ABSTRACT.
constexpr std::uint64_t changing_flags = 1ULL << 5 | 1ULL << 6 | 1ULL << 13 | 1ULL << 19 | 1ULL << 20;
constexpr std::size_t most_keys = 4096;

class Hash {
public:
    void add(std::uint64_t number) {
        for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<std::uint8_t>(number >> shift));
    }
    void add(std::string_view text) {
        for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
        add_byte(0);
    }
    std::uint64_t value() const { return value_; }

private:
    void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
    std::uint64_t value_ = 0xcbf29ce484222325;
};

/// Small numbers as they are. Anything else is an address; only its presence counts.
std::uint64_t without_address(std::uint64_t word) {
    constexpr std::int64_t largest_number = 65536;
    const auto number = static_cast<std::int64_t>(word);
    return number > -largest_number && number < largest_number ? word : largest_number;
}

}  // namespace

std::uint64_t type_shape(const PythonHeap& heap, Address type) {
    const auto& fields = heap.layout().type;
    const auto flags = heap.memory().read<std::uint64_t>(type + *fields.tp_flags);
    if (!flags) return 0;
    Hash hash;
    hash.add(*flags & ~changing_flags);
    // Sizes and slots lie from tp_basicsize to tp_is_gc; after tp_weaklist come tp_del, the version,
    // tp_finalize, tp_vectorcall.
    for (std::uint32_t offset = *fields.tp_basicsize; offset <= *fields.tp_is_gc; offset += 8) {
        if (offset == *fields.tp_flags || offset == *fields.tp_base || offset == *fields.tp_dict) continue;
        hash.add(without_address(heap.integer<std::uint64_t>(type + offset)));
    }
    for (const std::uint32_t behind : {8U, 24U, 32U})
        if (!ends_with_version(heap.layout()) || *fields.tp_weaklist + behind < *fields.size)
            hash.add(without_address(heap.integer<std::uint64_t>(type + *fields.tp_weaklist + behind)));
    const Address base = heap.pointer(type + *fields.tp_base);
    if (!base.is_null()) {
        hash.add(heap.integer<std::uint64_t>(base + *fields.tp_basicsize));
        hash.add(heap.integer<std::uint64_t>(base + *fields.tp_flags) & ~changing_flags);
    }
    std::vector<std::string> keys;
    heap.visit_dict(heap.type_dict(type), [&](Address key, Address) {
        if (keys.size() >= most_keys) return;
        if (auto text = heap.unicode_text(key, 200)) keys.push_back(std::move(*text));
    });
    std::sort(keys.begin(), keys.end());
    for (const std::string& key : keys) hash.add(key);
    return hash.value();
}

}  // namespace heapsift
