#pragma once

// The rules by which a holder's cause is known.
//
// A rule is one function: it looks at a holder (Scene) and says what it is and what to do about it, or nothing.
// The first rule of the list that answers is believed, so the specific ones come before the general ones. To add
// one, write it in the file of its family, put it into that family's list, add a program to
// testdata/programs/suspects.py that leaks in that way and in no other, and test what comes near it and is something
// else (tests/program/suspects_*_test.cpp).
//
// A rule answers only on evidence that is in the core: a type, a field, a path. That a list grows, or that its
// entries are not needed, no core can know.

#include "analysis/suspects/scene.h"
#include "analysis/suspects/suspect.h"

#include <optional>
#include <span>

namespace heapsift {

struct Rule {
    const char* kind;  // Cause::kind
    /// `find_cause` fills in Cause::kind, and makes it general, or that of a container, if the rule is.
    std::optional<Cause> (*find)(const Scene& scene);
    bool general = false;       // Cause::general
    bool is_container = false;  // Cause::is_container
};

std::span<const Rule> library_rules();   // what libraries keep: figures, queries, sessions
std::span<const Rule> cache_rules();     // lru_cache, weak dictionaries
std::span<const Rule> error_rules();     // exceptions with their tracebacks
std::span<const Rule> callback_rules();  // closures, bound methods, partials
std::span<const Rule> queue_rules();     // queues, tasks, log records
std::span<const Rule> place_rules();     // default arguments, classes, thread-local data, locals, modules

/// The first that answers; without words if none does.
Cause find_cause(const Scene& scene);

}  // namespace heapsift
