#pragma once

// What the core holds and lacks, and what is therefore guessed.

#include "analysis/object_row.h"

#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct DoctorResult {
    struct SegmentSummary {
        std::uint64_t in_core = 0, from_file = 0, not_saved = 0, cut = 0;  // bytes of mapped memory
        std::uint64_t segments = 0;
    } segments;
    std::vector<Module> modules;
    std::vector<std::string> missing;  // of their files: `missing_files`
    std::string python_found_by;
    std::string layout_source;
    std::vector<LayoutCheck> checks;
    std::size_t checks_passed = 0;
    std::uint64_t types = 0;
    // static types whose names lie in files that were not found, and nothing else told
    std::uint64_t unnamed_types = 0;
    /// Objects by how their references are known: written (by a kind of heapsift's) or guessed.
    std::uint64_t references_written = 0;
    std::uint64_t damaged_objects = 0;  // see ObjectFacts::damaged
    std::uint64_t references_guessed = 0;
    /// Types whose references are guessed, by objects, largest first; name, objects, bytes.
    struct GuessedType {
        std::string name;
        std::uint64_t objects = 0;
        std::uint64_t memory = 0;
    };
    std::vector<GuessedType> guessed;
    /// How far the references found explain what Python counted. Immortal objects are not counted, those in a
    /// module's data are held by more than can be seen.
    struct ReferenceCounts {
        std::uint64_t objects = 0;   // mortal ones on the heap
        std::uint64_t balanced = 0;  // of these: as many references found as their count
        std::uint64_t short_of = 0;  // of these: fewer found than counted
        std::uint64_t native = 0;    // references from memory that is no object's
        std::uint64_t guesses_proved = 0, guesses_allowed = 0,
                      guesses_refused = 0;  // words of objects that are guessed
    } counts;
    /// Objects by how they were found.
    std::vector<std::pair<std::string, std::uint64_t>> found_by;
    std::vector<std::string> cannot_tell;  // what no core can tell, one sentence each
};

/// Paths, as the core has them, of the module files that were not found or are not the right ones; sorted,
/// each once.
std::vector<std::string> missing_files(const std::vector<Module>& modules);

DoctorResult doctor(const HeapReader& heap, const ProgressCallback& progress = {});

/// The part that needs no interpreter: for cores in which none was found.
DoctorResult doctor(const CoreFile& core);

}  // namespace heapsift
