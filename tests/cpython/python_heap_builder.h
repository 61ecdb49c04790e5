#pragma once

// Handmade Python objects, for the layout of any supported version.
//
// Memory is a few regions at fixed addresses: a heap of glibc malloc, chunk by chunk with a top chunk at its
// end, so that its allocations can be proved; the writable data of a module; code. Types are made on first
// use with CPython's sizes and flags, and the real type finder finds them: a test sees what a core would
// show.
//
//     PythonHeapBuilder heap(*layout);
//     const Address list = heap.list({heap.integer(7)}, /*allocated=*/4);
//     CHECK(size_of(heap, list) == 40 + 4 * 8);

#include "parsers/cpython/object_kind.h"
#include "parsers/cpython/python_heap.h"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift::test {

inline constexpr std::uint64_t inline_values_flag = 1ULL << 2;
inline constexpr std::uint64_t managed_weakref_flag = 1ULL << 3;
inline constexpr std::uint64_t managed_dict_flag = 1ULL << 4;
inline constexpr std::uint64_t heap_type_flag = 1ULL << 9;
inline constexpr std::uint64_t ready_flag = 1ULL << 12;
inline constexpr std::uint64_t have_gc_flag = 1ULL << 14;
inline constexpr std::uint64_t long_subclass_flag = 1ULL << 24;
inline constexpr std::uint64_t list_subclass_flag = 1ULL << 25;
inline constexpr std::uint64_t tuple_subclass_flag = 1ULL << 26;
inline constexpr std::uint64_t bytes_subclass_flag = 1ULL << 27;
inline constexpr std::uint64_t unicode_subclass_flag = 1ULL << 28;
inline constexpr std::uint64_t dict_subclass_flag = 1ULL << 29;
inline constexpr std::uint64_t exception_subclass_flag = 1ULL << 30;
inline constexpr std::uint64_t type_subclass_flag = 1ULL << 31;

/// A mapping of the synthetic process.
struct Region {
    Address start;
    std::vector<std::byte> bytes;
    bool writable = true;
    bool executable = false;
    std::int32_t module = -1;
};

struct TypeOptions {
    Address base = {};      // null: object
    Address metatype = {};  // null: type
    std::uint64_t basicsize = 16;
    std::int64_t itemsize = 0;
    std::uint64_t flags = 0;  // besides "ready"
    bool own_sizeof = false;  // its __dict__ has a __sizeof__ written in C
    std::int64_t dictoffset = 0;
    bool no_var_size = false;  // has items, and no ob_size (frames and generators since 3.11)
};

struct ClassOptions {
    Address base = {};  // null: object
    std::string module = "app";
    std::vector<std::string> slots = {};                        // __slots__; then there is no __dict__
    std::vector<std::string> attributes = {};                   // names in the keys that its instances share
    std::vector<std::pair<std::string, Address>> members = {};  // more entries of the class's own __dict__
};

struct KeysOptions {
    unsigned log2_size = 3;
    bool general = false;  // 3.11+: a table with hashes, for keys that are not all str
    std::int64_t refcount = 1;
};

using Entries = std::vector<std::pair<Address, Address>>;

class PythonHeapBuilder {
public:
    explicit PythonHeapBuilder(const Layout& layout);

    const Layout& layout() const { return runtime_.layout; }
    int minor() const { return layout().version.minor; }
    PythonRuntime& runtime() { return runtime_; }
    /// The kinds that the type finder knows: those of parsers/cpython, and any that a test adds.
    std::vector<const ObjectKind*> kinds;

    // --- raw memory, zeroed

    /// A block of the malloc heap.
    Address allocate(std::uint64_t bytes);
    /// Writable data of a module.
    Address allocate_static(std::uint64_t bytes);
    Address code_address() const { return regions_[2].start + 64; }
    /// A separate mapping that ends exactly after `bytes`.
    Address map(Address start, std::uint64_t bytes) {
        heap_.reset();
        regions_.push_back({start, std::vector<std::byte>(bytes)});
        return start;
    }
    template <class T>
    void put(Address at, const T& value) {
        std::memcpy(bytes_at(at, sizeof(T)), &value, sizeof(T));
    }
    void put(Address at, const Address& value) { put(at, value.value); }
    /// Writes a field of a struct, unless this version lacks it.
    template <class T>
    void set(Address object, LayoutOffset field, const T& value) {
        if (field.present()) put(object + *field, value);
    }
    void set_bits(Address object, const LayoutBits& field, std::uint32_t value);
    Address c_string(std::string_view text);
    const std::vector<Region>& regions();

    // --- types

    /// "list", "collections.deque", …, as CPython declares them; made on first use.
    Address builtin(const std::string& name);
    Address c_type(const std::string& tp_name, const TypeOptions& options);
    Address python_class(const std::string& name, const ClassOptions& options = {});

    // --- objects, with a reference count of 1

    /// basicsize bytes plus `items` times the type's itemsize. Sets ob_size if the type has items.
    Address object(Address type, std::int64_t items = 0);
    Address object(const std::string& type, std::int64_t items = 0) { return object(builtin(type), items); }
    Address none();
    Address boolean(bool value);
    Address integer(std::int64_t value);
    /// Digits of 30 bits, lowest first.
    Address integer_of_digits(const std::vector<std::uint32_t>& digits, bool negative = false);
    Address real(double value);
    /// A compact str: ASCII, or as narrow as its characters allow.
    Address str(std::string_view ascii);
    Address str32(const std::u32string& text);
    Address bytes(const std::string& text);
    Address tuple(const std::vector<Address>& items);
    Address list(const std::vector<Address>& items, std::uint64_t allocated);
    Address list(const std::vector<Address>& items) { return list(items, items.size()); }
    Address set(const std::vector<Address>& items, std::uint64_t slots = 8);
    /// A combined table. An entry of two nulls is a deleted one.
    Address dict(const Entries& entries, const KeysOptions& options = {}) {
        return dict_of_type(builtin("dict"), entries, options);
    }
    Address dict_of_type(Address type, const Entries& entries, const KeysOptions& options = {});
    Address keys(const Entries& entries, const KeysOptions& options = {});
    /// Values of a split table as this version lays them out. Returns the address of the block; `first`
    /// becomes that of the first value.
    Address values(const std::vector<Address>& values, std::uint64_t capacity, Address& first);
    /// A split table over `shared` keys.
    Address split_dict(Address shared, const std::vector<Address>& values, std::uint64_t capacity);

    // --- what a test asks

    /// Built again after every allocation; sees `put` at once.
    const PythonHeap& heap();
    const AddressSpace& memory() { return heap().memory(); }
    TypeId type_id(Address type) { return heap().types().find(type); }
    const TypeInfo& type(Address address) { return heap().types()[type_id(address)]; }
    ObjectReader reader(Address object);

    /// Bytes before an object of `type`: the collector's header, and the words of a managed dict.
    std::uint64_t presize(Address type) const;
    Address shared_keys_of(Address python_class) {
        return heap().pointer(python_class + *layout().heap_type.ht_cached_keys);
    }

private:
    struct TypeRecord {
        TypeOptions options;
        std::vector<Address> mro;
    };

    std::byte* bytes_at(Address at, std::size_t size);
    TypeOptions builtin_options(const std::string& name);
    void put_header(Address object, Address type);
    void fill_type(Address type, const std::string& tp_name, const TypeOptions& options,
                   const Entries& members);

    PythonRuntime runtime_;
    std::vector<Region> regions_;
    std::map<std::string, Address> builtins_;
    std::map<std::uint64_t, TypeRecord> records_;
    Address none_;
    std::uint64_t top_ = 0;  // where the next chunk begins in the malloc heap

    std::unique_ptr<AddressSpace> memory_;
    std::unique_ptr<TypeTable> types_;
    std::unique_ptr<PythonHeap> heap_;
};

}  // namespace heapsift::test
