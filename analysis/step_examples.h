#pragma once

// The words of steps that have only a number (StepNumbers): those of the reference that is its example.

#include "analysis/holding/step_numbers.h"
#include "parsers/reading/heap_reader.h"

#include <unordered_map>
#include <vector>

namespace heapsift {

/// Refers to the heap and to `names`, which may grow between questions.
class StepExamples {
public:
    StepExamples(const HeapReader& heap, const StepNumbers& names) : heap_(heap), names_(names) {}

    /// The first followed reference from the example's source to its target; unknown (ReferenceStep::known) if
    /// there is none. Cost: one look at all that the source refers to, for all numbers that it is the source of.
    const ReferenceStep& step(std::uint32_t number);

private:
    void sort_in_new_names();
    void name_all_of(ObjectId source);

    static constexpr std::uint32_t none = 0xffffffff;

    const HeapReader& heap_;
    const StepNumbers& names_;
    std::unordered_map<std::uint32_t, ReferenceStep> steps_;  // by number
    // Lists of numbers with the same source, those without words: the first of each, and the next by number.
    std::unordered_map<std::uint32_t, std::uint32_t> first_of_source_;
    std::vector<std::uint32_t> next_;
};

}  // namespace heapsift
