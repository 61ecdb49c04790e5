#pragma once

// What some kinds of objects do differently in some versions, where no field tells.

#include "parsers/cpython/layout.h"

#include <string_view>

namespace heapsift {

/// Whether traverse reports what it has reported since 3.`minor`. Types of extension modules came to take
/// part in collection one after the other (3.9 to 3.13).
inline bool reports_since(const Layout& layout, int minor) { return since(minor).contain(layout.version); }

/// The collector tracks each dict since 3.14, even if it has nothing but strings: it reports those that the table
/// of interned strings has and does not count.
inline bool reports_interned_strings(const Layout& layout) { return since(14).contain(layout.version); }

/// Whether a dict that refers to nothing which the collector tracks may be untracked by it.
inline bool collector_untracks_dicts(const Layout& layout) { return until(13).contain(layout.version); }

/// Code objects take part in collection in free-threaded builds, and report their constants (codeobject.c).
inline bool code_reports_constants(const Layout& layout) { return layout.object.ob_gc_bits.present(); }

/// What is left of a generator whose function has ended reports the function's code since 3.14.
inline bool reports_code_of_ended(const Layout& layout) { return since(14).contain(layout.version); }

/// sys.getsizeof of a SimpleQueue counts the room of its ring since 3.15.
inline bool queue_counts_its_ring(const Layout& layout) { return since(15).contain(layout.version); }

/// atexit keeps its callbacks in a list since 3.14.
inline bool keeps_callbacks_in_list(const Layout& layout) { return since(14).contain(layout.version); }

/// Whether the traverse of a C type reports the type, if that is on the heap. Up to 3.8 only instances of classes
/// written in Python report theirs.
inline bool c_types_report_class(const Layout& layout) { return since(9).contain(layout.version); }

/// Whether the JSON scanner's and encoder's flags (strict, sort_keys, skipkeys) are objects; else they are bytes.
inline bool json_flags_are_objects(const Layout& layout) { return until(6).contain(layout.version); }

/// Whether `property` keeps the tuple in which it passes its argument, with what was last in it: a reference that
/// is not counted, and may lead to what is gone (descrobject.c, property_descr_get).
inline bool property_keeps_arguments(const Layout& layout) { return within(0, 7).contain(layout.version); }

/// What precedes the quotes of a literal: in 2.7 a plain one is of bytes.
inline std::string_view bytes_prefix(const Layout& layout) { return is_python_2(layout.version) ? "" : "b"; }
inline std::string_view text_prefix(const Layout& layout) { return is_python_2(layout.version) ? "u" : ""; }

/// Where the key is in a slot of a set's table, of 16 bytes; the hash is the other word (setobject.h).
inline std::uint64_t key_in_set_slot(const Layout& layout) { return is_python_2(layout.version) ? 8 : 0; }

/// In 2.7 a class statement need not make a type: classes without a base are objects of a type of their own,
/// `classobj`, and all their instances are of the type `instance` (classobject.h).
inline bool has_old_classes(const Layout& layout) { return layout.old_instance.in_class.present(); }

/// int and float come from blocks of a thousand bytes, of which each is a list of its own in 2.7 (intobject.c,
/// PyIntBlock; floatobject.c).
inline bool numbers_have_blocks(const Layout& layout) { return is_python_2(layout.version); }

/// The characters of a text are in a block of their own (unicodeobject.h).
inline bool texts_have_blocks(const Layout& layout) { return layout.unicode.str.present(); }

/// The module of what is there without an import.
inline const char* builtins_name(const Layout& layout) {
    return is_python_2(layout.version) ? "__builtin__" : "builtins";
}

/// Whether the version of a type is the last of its fields: tp_finalize was added in 3.4.
inline bool ends_with_version(const Layout& layout) { return is_python_2(layout.version); }

/// `type` says what size a type object has since 3.3; before, object.__sizeof__ does.
inline bool type_has_own_size(const Layout& layout) { return !is_python_2(layout.version); }

/// The attribute `mapping` of dict views was added in 3.10.
inline bool dict_view_has_mapping(const Layout& layout) { return since(10).contain(layout.version); }

/// 3.11 (longobject.c): at least one digit of an int is counted; before, none for zero.
inline std::uint64_t least_digits_counted(const Layout& layout) {
    return since(11).contain(layout.version) ? 1 : 0;
}

/// 2.7: sys.getsizeof of a long counts what a subclass adds.
inline bool long_counts_its_class(const Layout& layout) { return is_python_2(layout.version); }

/// Item types of the array module, in the order of its table; 'w' was added in 3.13.
inline std::string_view array_typecodes(const Layout& layout) {
    return since(13).contain(layout.version) ? "bBuwhHiIlLqQfd" : "bBuhHiIlLqQfd";
}

/// sqlite3.Connection.isolation_level is an object up to 3.10, and a C string since then.
inline bool isolation_level_is_object(const Layout& layout) { return until(10).contain(layout.version); }

/// Whether a pickler reports what is in its memo (bpo-41422): since 3.11.7 and 3.12.1.
bool pickler_reports_memo(const PythonVersion& version);

}  // namespace heapsift
