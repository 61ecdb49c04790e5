#pragma once

// Limits of growth that a user sets: a soak test that takes two cores fails where they are exceeded.

#include "analysis/growth/growth.h"
#include "cli/question.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// "10 %" of what was there before, or so many bytes or objects.
struct GrowthLimit {
    bool percent = false;
    double number = 0;

    bool exceeded(std::uint64_t before, std::uint64_t after) const;
};

/// "50M", "10%". Throws `Error` (exit 2, "bad-option"); `option` names it.
GrowthLimit parse_growth_limit(const std::string& option, const std::string& text);

/// "retained(app.CACHE)>10%", "count(app.Session)>8", "memory(dict)>50M": what may not grow by more.
struct GrowthRule {
    enum class Of : std::uint8_t { retained, count, memory } of = Of::retained;
    std::string typed, argument;  // an expression for retained, a type's name for the others
    GrowthLimit limit;
};

/// Throws `Error` (exit 2, "bad-option").
GrowthRule parse_growth_rule(const std::string& text);

/// What the argument of a rule retains in one core; nothing if there is no such object.
std::optional<std::uint64_t> retained_for_rule(Question& question, const GrowthRule& rule);

/// The rules about types of which no core has an object: they say nothing.
std::vector<std::string> rules_without_type(const std::vector<Inventory>& cores,
                                            const std::vector<GrowthRule>& rules);

/// What was exceeded, one sentence each. `retained`: by rule and core; `growth_of_all` is a limit of what is in use.
std::vector<std::string> exceeded_limits(
    const GrowthResult& growth, const std::optional<GrowthLimit>& growth_of_all,
    const std::vector<GrowthRule>& rules,
    const std::vector<std::vector<std::optional<std::uint64_t>>>& retained);

}  // namespace heapsift
