#pragma once

// What the core contains and lacks, and what is guessed because of that.

#include "analysis/kept_answers.h"
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
    std::vector<std::string> missing;  // of the modules' files: `missing_files`
    std::string python_found_by;
    std::string layout_source;
    std::vector<LayoutCheck> checks;
    std::size_t checks_passed = 0;
    std::uint64_t types = 0;
    // static types whose names are in files that were not found, and are not known from elsewhere
    std::uint64_t unnamed_types = 0;
    /// Objects by how their references are known: from a kind that heapsift has (written); from their type's
    /// own code, by what was learned of it, or emulated for each; or guessed.
    std::uint64_t references_written = 0, references_learned = 0, references_emulated = 0;
    std::uint64_t learned_types = 0, emulated_types = 0;
    bool can_emulate = true;            // on this machine
    std::uint64_t damaged_objects = 0;  // see ObjectFacts::damaged
    std::uint64_t references_guessed = 0;
    /// Types whose references are guessed, those with most objects first.
    struct GuessedType {
        std::string name;
        std::uint64_t objects = 0;
        std::uint64_t memory = 0;
    };
    std::vector<GuessedType> guessed;
    /// How far the references that were found explain Python's reference counts. Leaves out immortal objects,
    /// which are not counted, and objects in a module's data, which are held by more than can be seen.
    struct ReferenceCounts {
        std::uint64_t objects = 0;   // mortal ones on the heap
        std::uint64_t balanced = 0;  // of these: as many references found as counted
        std::uint64_t short_of = 0;  // of these: fewer found than counted
        std::uint64_t native = 0;    // references from memory that belongs to no object
        std::uint64_t guesses_proved = 0, guesses_allowed = 0,
                      // words of objects whose references are guessed
            guesses_refused = 0;
    } counts;
    /// Objects by how they were found.
    std::vector<std::pair<std::string, std::uint64_t>> found_by;
    std::vector<std::string> cannot_tell;  // what no core can tell; one sentence each
};

/// Paths, as in the core, of the module files that were not found or are not the right ones; sorted, each
/// once.
std::vector<std::string> missing_files(const std::vector<Module>& modules);

/// `answers` may be null.
DoctorResult doctor(const HeapReader& heap, const ProgressCallback& progress = {},
                    KeptAnswers* answers = nullptr);

/// The part that needs no interpreter, for cores in which none was found.
DoctorResult doctor(const CoreFile& core);

}  // namespace heapsift
