#pragma once

// What explains the memory in use, and what a person would change.

#include "analysis/source_places.h"
#include "analysis/suspects/class_in_source.h"
#include "analysis/suspects/tied_in.h"
#include "analysis/top_holder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {

/// A sentence whose numbers are not yet in a page's units. Not escaped.
struct CauseWords {
    struct Part {
        enum class Kind : std::uint8_t { text, count, bytes } kind = Kind::text;
        std::string text = {};
        std::uint64_t number = 0;
    };
    std::vector<Part> parts;

    static Part count(std::uint64_t number) { return {Part::Kind::count, {}, number}; }
    static Part size(std::uint64_t bytes) { return {Part::Kind::bytes, {}, bytes}; }
    bool empty() const { return parts.empty(); }
    CauseWords& operator<<(std::string text) {
        if (!text.empty()) parts.push_back({Part::Kind::text, std::move(text), 0});
        return *this;
    }
    CauseWords& operator<<(Part part) {
        parts.push_back(std::move(part));
        return *this;
    }
};
/// words("a cache of ", name, ": ", CauseWords::count(5000), " entries").
template <class... Parts>
CauseWords words(Parts&&... parts) {
    CauseWords made;
    (void)(made << ... << std::forward<Parts>(parts));
    return made;
}

/// Why a holder has so much, as far as its own evidence goes. Words name types, functions, attributes and
/// variables, and no values; they are not escaped.
struct Cause {
    std::string kind;      // of the rule: "lru-cache"; stable, for programs
    CauseWords words;      // "closures of on_paid(), shop.py:18; each keeps its `payload` (4.1 KiB)"
    bool general = false;  // says where the holder stands and no more, as it could of a healthy process
    bool usual = false;    // as many healthy programs have it: a suspect only with half of what is in use
    bool is_container = false;  // of the program's own: the code that uses it may bound it
    std::string fix;  // "unsubscribe what is done with, or hold callbacks weakly (weakref.WeakMethod)"
    std::string keeper = {};  // the name by which a person knows what holds it: "Out"
    // Names of a library's functions that make such things: functions of the program that use one make these
    std::vector<std::string> made_by = {};
    std::vector<std::string> made_of = {};  // if not empty: only those that use one of these names as well
    // Where few hold all of it, each in this attribute of its class: what is added to there grows. Its name empty: not so
    struct AttributeOfEach {
        std::string name = {};
        std::vector<ClassInSource> of_classes = {};  // the class, and those that it inherits from
    } grows_in = {};
    // Of closures: the function that most of them are, by its qualified name; "" if no function is most. Not escaped
    std::string function = {};
};

/// Attributes of a class of the program that are set after its instances were made, where most of a holder's memory hangs
/// on them.
struct AttributesSetLater {
    std::string of_class = {};                 // its whole name; not escaped
    std::vector<std::string> attributes = {};  // most bytes first; not escaped
    std::uint64_t bytes = 0,
                  sampled = 0;  // that hang on these, of so many in a sample of what the holder keeps
    std::vector<SourcePlace> set_in = {};  // functions of the program, each with its first such line
    std::uint64_t more_set_in = 0;         // and so many more
};

/// Who makes what a holder has most of.
struct ContentCalls {
    std::string call = {};  // of its class: "Session()"; not escaped
    std::vector<SourcePlace> called_in =
        {};  // functions of the program, each with its first such line; never empty
};

struct Suspect {
    enum class Kind : std::uint8_t {
        holder,        // `holder`
        pinned,        // OverviewResult::pinned: array data that slices keep and do not show
        garbage,       // what waits for the collector
        garbage_list,  // what gc.garbage holds
        native,        // OverviewResult::culprit: blocks of C code of one size or class
        free_memory    // given back by the program, and not to the system
    } kind = Kind::holder;
    std::uint64_t bytes = 0;      // in use
    std::uint64_t untouched = 0;  // and so many more that the holder keeps, and the process never used
    std::optional<TopHolder> holder;
    std::uint64_t alike = 1;     // holders in this row: the same local of so many threads
    bool in_one_thread = false;  // two of them at least: data of several threading.local without a name
    std::string pattern = {};    // analysis/suspects/pattern.h; of SuspectsResult::suspects alone
    Cause cause;                 // without words if no more is known than who holds it
    // Functions of the program that use the name of the attribute or global that holds it, or where `made_here` one of
    // cause.made_by; if they were asked for. The line is one that uses it, where instructions can be read (3.6 to 3.15).
    std::vector<SourcePlace> used_in;
    std::uint64_t more_used_in = 0;  // and so many more
    std::size_t filled_in = 0;       // of `used_in` the first so many add to it
    bool set_in_first = false;       // the first one sets it
    bool made_here = false;
    std::optional<AttributesSetLater> set_later = {};
    /// Of instances of a class in Python that few functions call, if that is not where the holder is used.
    std::optional<ContentCalls> content_calls = {};
    std::vector<TiedIn> tied_in = {};  // of garbage: of one of its cycles
    std::string calls = {};  // or, where that is not empty, functions that make this call: "gc.disable()"
};

}  // namespace heapsift
