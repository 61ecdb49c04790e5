#pragma once

// Which core a command is about.

#include "cli/core_in_use.h"

#include <optional>
#include <string>

namespace heapsift {

enum class ChosenBy { argument, option, environment, session, user };

struct CoreChoice {
    std::string path;  // as given; absolute for the core in use
    ChosenBy chosen_by = ChosenBy::argument;
    FileSearch search;
};

/// What the command line and the environment say; an empty string if they say nothing.
struct CoreWishes {
    std::string argument;     // a word of the command line
    std::string option;       // --core
    std::string environment;  // HEAPSIFT_CORE
    FileSearch search;        // --executable, --sysroot, --debug-dir
};

/// Chooses the first of: argument, option, environment, the session's core in use, the user's core in use. If
/// a core in use is chosen, it also supplies what `wishes.search` leaves out. Throws `Error` (exit 2):
/// "no-core", "core-in-use-gone", "core-in-use-changed".
CoreChoice choose_core(const CoreWishes& wishes, const CoreInUseStore& store);

/// "argument", "option", "environment", "session", "user".
std::string name_of(ChosenBy chosen_by);

/// The line that says which core is used and why; empty if the command line named it.
std::string why_this_core(const CoreChoice& choice);

/// Call it once the core could be read: a core that the command line named becomes the core in use, and
/// options given for the core in use are kept with it. Returns true if a later command that names no core
/// will be about this one.
bool remember_core(const CoreChoice& choice, const CoreWishes& wishes, const CoreInUseStore& store);

}  // namespace heapsift
