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
inline bool property_keeps_arguments(const Layout& layout) { return until(7).contain(layout.version); }

/// The attribute `mapping` of dict views was added in 3.10.
inline bool dict_view_has_mapping(const Layout& layout) { return since(10).contain(layout.version); }

/// 3.11 (longobject.c): at least one digit of an int is counted; before, none for zero.
inline std::uint64_t least_digits_counted(const Layout& layout) {
    return since(11).contain(layout.version) ? 1 : 0;
}

/// Item types of the array module, in the order of its table; 'w' was added in 3.13.
inline std::string_view array_typecodes(const Layout& layout) {
    return since(13).contain(layout.version) ? "bBuwhHiIlLqQfd" : "bBuhHiIlLqQfd";
}

/// sqlite3.Connection.isolation_level is an object up to 3.10, and a C string since then.
inline bool isolation_level_is_object(const Layout& layout) { return until(10).contain(layout.version); }

/// Whether a pickler reports what is in its memo (bpo-41422): since 3.11.7 and 3.12.1.
bool pickler_reports_memo(const PythonVersion& version);

}  // namespace heapsift
