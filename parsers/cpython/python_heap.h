#pragma once

// What every reader of Python objects needs: the memory, the layout, the types, and checked reads of strings,
// dictionaries and tuples. Every length from the core is checked against the memory that is really there.

#include "parsers/cpython/object_facts.h"
#include "parsers/cpython/runtime.h"
#include "parsers/cpython/types.h"
#include "parsers/elf/address_space.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// A decoded str from the core.
struct UnicodeFacts {
    std::uint64_t length = 0;  // code points
    std::uint8_t kind = 1;     // bytes a code point: 1, 2, 4
    bool ascii = false;
    bool compact = false;
    Address data;                   // the first code point; null if there is no data
    std::uint64_t utf8_length = 0;  // bytes of a separate UTF-8 copy, 0 if there is none
    Address utf8;                   // null if there is none, or if it shares the data
    Address wstr;                   // the separate wchar_t copy of 3.11 and older; null if there is none
    std::uint64_t wstr_length = 0;  // wchar_t units
    bool bytes = false;             // 2.7's str: each is a byte of a text, mostly of UTF-8
};

/// A dict's tables.
struct DictFacts {
    Address keys;                   // the keys object; in 2.7 the table of entries
    Address values;                 // the array of values of a split table; null for a combined one
    std::uint64_t entry_count = 0;  // dk_nentries, live or not; at most the capacity
    std::uint64_t capacity = 0;     // entries that the table has room for
    std::uint64_t used = 0;         // ma_used
    std::uint64_t keys_size = 0;    // bytes of the keys object; 0 of a table of 2.7 inside the dict
    std::int64_t keys_refcount = 0;
    Address entries;               // the first entry
    std::uint8_t entry_size = 24;  // 24: hash, key, value; 16: key, value
    // all keys are str, and traverse reports none (split tables; up to 3.10 by dk_lookup)
    bool unicode_keys = false;
    bool values_embedded = false;   // the values lie inside the instance
    std::uint64_t values_size = 0;  // bytes of the values that sys.getsizeof counts; 0 for a combined table
};

/// One row of the array module's table of item types.
struct ArrayItems {
    Address descriptor;
    char typecode = '?';    // '?' if only the size is known
    std::uint8_t size = 0;  // bytes an item; 0 unknown
};

class PythonHeap {
public:
    /// Reads the shared keys of each type, about 100 ns a type.
    PythonHeap(const AddressSpace& memory, const PythonRuntime& runtime, const TypeTable& types);

    const AddressSpace& memory() const { return memory_; }
    const Layout& layout() const { return runtime_.layout; }
    const PythonRuntime& runtime() const { return runtime_; }
    const TypeTable& types() const { return types_; }

    /// A pointer, null if it cannot be read.
    Address pointer(Address at) const { return memory_.read_address(at).value_or(Address()); }
    template <class T>
    T integer(Address at) const {
        return memory_.read<T>(at).value_or(T{});
    }
    /// ob_type of the object at `object`; null if it cannot be read.
    Address type_address(Address object) const { return pointer(object + *layout().object.ob_type); }
    /// The known type of the object at `object`, or `no_type`.
    TypeId type_of(Address object) const { return types_.find(type_address(object)); }
    /// ob_size; 0 if it cannot be read.
    std::int64_t var_size(Address object) const {
        return integer<std::int64_t>(object + *layout().var_object.ob_size);
    }

    /// Whether the object's type says that it is a str (or of a subclass); in 2.7, a unicode or a str.
    bool is_unicode(Address object) const {
        return has_flag_of(object, 28) || (is_python_2(layout().version) && has_flag_of(object, 27));
    }
    bool is_dict(Address object) const { return has_flag_of(object, 29); }
    /// Nothing if the header does not read as a str, or the characters are not there.
    std::optional<UnicodeFacts> unicode(Address str) const {
        std::optional<UnicodeFacts> facts(std::in_place);
        if (!read_unicode(str, *facts)) facts.reset();
        return facts;
    }
    /// The same in place, where millions are read; false if there is nothing. `facts` must be as it was made.
    bool read_unicode(Address str, UnicodeFacts& facts) const {
        return read_unicode(str, memory_.from(str), facts);
    }
    /// The same where the bytes from `str` on are at hand.
    bool read_unicode(Address str, std::span<const std::byte> there, UnicodeFacts& facts) const;
    /// The str as UTF-8, at most `limit` code points; lone surrogates are encoded as if they were characters.
    /// Nothing if it is not a str.
    std::optional<std::string> unicode_text(Address str, std::size_t limit = 4096) const;
    bool unicode_equals(Address str, std::string_view ascii) const;

    /// The value of an int of 2.7, a C long; nothing for other objects, and in CPython 3.
    std::optional<std::int64_t> c_long(Address object) const {
        if (!layout().int_.ob_ival.present() || !has_flag_of(object, 23)) return std::nullopt;
        return memory_.read<std::int64_t>(object + *layout().int_.ob_ival);
    }
    /// Up to 3.10: whether a frame object is one of those that a thread runs. (Known in 2.7 only, where the frame
    /// does not tell.)
    bool is_running_frame(Address frame) const {
        return std::binary_search(running_frames_.begin(), running_frames_.end(), frame);
    }

    /// Nothing if the tables do not read as a dict's.
    std::optional<DictFacts> dict(Address dict) const;
    /// The same for a keys object alone (a type's cached keys). Sets `capacity`, `entries` and `keys_size`.
    std::optional<DictFacts> dict_keys(Address keys) const;
    /// The keys that instances of a class share (ht_cached_keys); all null if it has none, or they cannot be
    /// read.
    DictFacts cached_keys(const TypeInfo& type) const {
        const TypeId id = types_.id_of(type);
        return id < cached_keys_.size() ? cached_keys_[id] : read_cached_keys(type);
    }
    /// Whether it is the table of interned strings, whose references to keys and values are not counted (they
    /// are subtracted again, so that a string can die): unicodeobject.c, PyUnicode_InternInPlace.
    bool is_interned_table(Address dict) const {
        return std::find(interned_tables_.begin(), interned_tables_.end(), dict) != interned_tables_.end();
    }
    void set_interned_tables(std::vector<Address> tables) { interned_tables_ = std::move(tables); }
    /// Up to 3.7: the tuple whose item is not counted (build/quirks.h, property_keeps_arguments).
    bool is_kept_arguments(Address tuple) const { return tuple == kept_arguments_; }
    void set_kept_arguments(Address tuple) { kept_arguments_ = tuple; }
    /// Up to 3.10: dk_lookup of tables whose keys need not be str. Until it is set, a table's first keys
    /// tell.
    void set_general_lookup(Address lookup) { general_lookup_ = lookup; }

    /// Calls the function with key and value of each live entry, in order.
    template <class F>
    void visit_dict(Address dict_object, F&& visit) const {
        auto facts = dict(dict_object);
        if (facts) visit_dict(*facts, visit);
    }
    template <class F>
    void visit_dict(const DictFacts& facts, F&& visit) const {
        const std::uint64_t size = facts.entry_size, before_key = size == 24 ? 8 : 0;
        const bool apart = !facts.values.is_null();
        const AddressSpace::Window entries(memory_, facts.entries, facts.entry_count * size),
            values(memory_, facts.values, apart ? facts.entry_count * 8 : 0);
        for (std::uint64_t i = 0; i < facts.entry_count; ++i) {
            const Address key = entries.pointer(i * size + before_key);
            const Address value = apart ? values.pointer(8 * i) : entries.pointer(i * size + before_key + 8);
            if (!key.is_null() && !value.is_null()) visit(key, value);
        }
    }
    /// The value of a str key, null if there is none.
    Address dict_value(Address dict_object, std::string_view key) const;

    /// tp_dict, also if an interpreter keeps it apart from a static type (3.12+); null if there is none.
    Address type_dict(Address type) const;
    /// The per-interpreter state of a static builtin type (managed_static_type_state); null for other types.
    Address static_type_state(Address type) const;

    /// The row at `descriptor`: from memory, else as learned.
    ArrayItems array_items(Address descriptor) const;
    void set_learned_array_items(std::vector<ArrayItems> learned) {
        learned_array_items_ = std::move(learned);
    }

private:
    bool has_flag_of(Address object, unsigned bit) const {
        return !object.is_null() &&
               (integer<std::uint64_t>(type_address(object) + *layout().type.tp_flags) >> bit & 1);
    }

    /// A bit field of a str's state, in the word of 32 bits that its fields share; `absent` is its value where the build
    /// lacks it.
    struct StateBits {
        StateBits(const LayoutBits& field, std::uint32_t word, std::uint32_t absent);
        std::uint32_t of(std::uint32_t word) const { return mask == 0 ? absent : word >> shift & mask; }
        std::uint32_t shift = 0, mask = 0, absent = 0;
    };

    bool read_old_text(Address object, UnicodeFacts& facts) const;
    std::optional<DictFacts> open_table(Address dict) const;
    std::vector<Address> frames_of_threads() const;
    bool keys_are_unicode(const DictFacts& facts) const;
    DictFacts read_cached_keys(const TypeInfo& type) const;

    const AddressSpace& memory_;
    const PythonRuntime& runtime_;
    const TypeTable& types_;
    std::vector<ArrayItems> learned_array_items_;  // at most a handful
    std::vector<Address> interned_tables_;         // one an interpreter
    Address general_lookup_, kept_arguments_;
    std::uint32_t state_at_;  // of that word, from the str on
    StateBits state_kind_, state_compact_, state_ascii_, state_ready_;
    std::uint8_t wide_ = 4;                // 2.7: bytes of a character of a unicode
    std::vector<Address> running_frames_;  // 2.7; by address
    std::vector<DictFacts> cached_keys_;   // by TypeId; every instance of a class asks for them
};

}  // namespace heapsift
