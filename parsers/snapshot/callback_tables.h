#pragma once

// The interpreter's own tables in C of what Python code asked it to call: at exit, and for a signal.

#include "parsers/elf/core_file.h"
#include "parsers/snapshot/object_access.h"

#include <vector>

namespace heapsift {

struct CallbackTables {
    // Sorted, and apart: the struct of each callback that atexit has; since 3.14 the word that leads to its list.
    std::vector<AddressRange> at_exit;
    /// Whether that word of a variable, or of the interpreter's state, is a handler that signal.signal was given.
    bool is_signal_handler(const ObjectAccess& access, Address word) const;
};

/// Those of all interpreters (how they are told: callback_tables.cpp). Cost: a look at each word of an interpreter's
/// state, and three for each callback.
CallbackTables find_callback_tables(const ObjectAccess& access);

}  // namespace heapsift
