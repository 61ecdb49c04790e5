#pragma once

// Which core a command is about.

#include "cli/core_in_use.h"

#include <optional>
#include <string>

namespace heapsift {

enum class ChosenBy { argument, option, environment, session, user };

struct CoreChoice {
    std::string path;  // as it was given; absolute where it is the core in use
    ChosenBy chosen_by = ChosenBy::argument;
    FileSearch search;
};

/// What the command line and the environment say; empty strings where they say nothing.
struct CoreWishes {
    std::string argument;     // a word
    std::string option;       // --core
    std::string environment;  // HEAPSIFT_CORE
    FileSearch search;        // --executable, --sysroot, --debug-dir
};

/// The first of: argument, option, environment, the core in use of the session, of the user. What
/// `wishes.search` leaves out is filled from the core in use where that is chosen. Throws `Error` (exit 2):
/// "no-core", "core-in-use-gone", "core-in-use-changed".
CoreChoice choose_core(const CoreWishes& wishes, const CoreInUseStore& store);

/// "argument", "option", "environment", "session", "user".
std::string name_of(ChosenBy chosen_by);

/// The line that says which core is used and why; empty where the command line named it.
std::string why_this_core(const CoreChoice& choice);

/// To be called once the core could be read: what the command line named is the core in use from now on, and
/// options given for the core in use stay with it. True where a command that names no core will be about this
/// one.
bool remember_core(const CoreChoice& choice, const CoreWishes& wishes, const CoreInUseStore& store);

}  // namespace heapsift
