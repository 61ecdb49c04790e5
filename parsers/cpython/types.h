#pragma once

// The types of the dumped interpreter: every PyTypeObject that is ready, its name as Python code would print
// it, and the kind that knows how its instances are laid out. (type_finder.cpp says how they are found.)

#include "parsers/base/address.h"
#include "parsers/base/address_index.h"
#include "parsers/base/ids.h"
#include "parsers/cpython/build/python_version.h"
#include "parsers/cpython/known_types.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct ObjectKind;

struct TypeOfObjects;
using TypeId = Id<TypeOfObjects>;
inline constexpr TypeId no_type;

/// How sys.getsizeof of an instance is computed.
enum class SizeSource : std::uint8_t {
    known,   // a C __sizeof__ whose formula heapsift has
    python,  // a __sizeof__ written in Python: the C base's formula is used instead
    unknown  // a C __sizeof__ whose formula heapsift does not have: object.__sizeof__ is used instead
};

struct TypeInfo {
    Address address;
    std::string name;  // module.qualname, bare for builtins; "<type 0x…>" if no name can be read
    bool named = true;
    KnownType known = KnownType::other;  // set by the table, for types made by C
    bool heap_type = false;              // Py_TPFLAGS_HEAPTYPE
    bool python_class = false;           // made by a class statement or type()
    bool has_gc = false;                 // Py_TPFLAGS_HAVE_GC
    std::uint64_t flags = 0;             // tp_flags
    std::uint64_t basicsize = 0;
    std::int64_t itemsize = 0;
    std::int64_t dictoffset = 0;
    std::int64_t weaklistoffset = 0;
    // bytes between the start of the block and the object: GC header, managed dict and weakrefs
    std::uint32_t presize = 0;
    TypeId base = no_type;      // tp_base
    TypeId metatype = no_type;  // ob_type
    // that of the nearest C base that has one; null: only object's header is known
    const ObjectKind* kind = nullptr;
    const ObjectKind* size_kind = nullptr;  // whose formula answers __sizeof__; null: object.__sizeof__
    std::uint64_t known_basicsize = 16;     // bytes of the body that `kind` knows
    std::uint64_t guess_end = 0;            // if `guessed`: end of the part of the body that is read by guess
    std::uint32_t field_count = 0;  // of a struct sequence, with the fields that len() does not count; else 0
    // a heap type made by C without its own tp_traverse: nobody reports its class
    bool traverse_of_static_base = false;
    bool guessed = false;  // a C type without a kind: words after known_basicsize are guesses
    SizeSource size_source = SizeSource::known;
};

/// All types, by address. Ids follow addresses.
class TypeTable {
public:
    std::size_t size() const { return types_.size(); }
    const TypeInfo& operator[](TypeId id) const { return types_[id]; }
    TypeInfo& operator[](TypeId id) { return types_[id]; }
    /// The id of a type of this table, `no_type` for any other.
    TypeId id_of(const TypeInfo& type) const {
        const auto offset =
            reinterpret_cast<std::uintptr_t>(&type) - reinterpret_cast<std::uintptr_t>(types_.data());
        return offset < types_.size() * sizeof(TypeInfo) ? static_cast<TypeId>(offset / sizeof(TypeInfo))
                                                         : no_type;
    }
    auto begin() const { return types_.begin(); }
    auto end() const { return types_.end(); }
    /// The type object at `address`, or `no_type`. Constant time.
    TypeId find(Address address) const { return TypeId(by_address_.find(address)); }
    /// Whether `type` is the known type. False for `no_type`.
    bool is(TypeId type, KnownType known) const { return type != no_type && types_[type].known == known; }
    /// Every type with that qualified name, by address: classes can be made again and again.
    std::vector<TypeId> named(std::string_view name) const;
    /// Whether `type` is `ancestor` or derives from it by tp_base.
    bool derives(TypeId type, TypeId ancestor) const;
    /// Whether `type` has one of these names, or derives from one that has, by tp_base; of a hundred steps.
    bool derives_from_named(TypeId type, std::initializer_list<std::string_view> names) const;

    /// Finds the known types among them, which have the names that this version gives them.
    explicit TypeTable(std::vector<TypeInfo> sorted_by_address, const LayoutVersion& version = {.major = 3});
    TypeTable() = default;

private:
    std::vector<TypeInfo> types_;
    AddressIndex by_address_;  // its `missing` is no_type
};

}  // namespace heapsift
