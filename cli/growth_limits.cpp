#include "cli/growth_limits.h"

#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr const char* rule_forms = "retained(EXPRESSION)>10%, count(TYPE)>8, memory(TYPE)>50M";

[[noreturn]] void throw_bad_limit(const std::string& option, const std::string& text,
                                  const std::string& forms) {
    throw wrong_usage("bad-option", fmt::format("{} {}: not understood", option, shell_quoted(text)), forms);
}

std::string changed(std::uint64_t before, std::uint64_t after, bool bytes) {
    return bytes ? fmt::format("from {} to {}", binary_size(before), binary_size(after))
                 : fmt::format("from {} to {}", grouped(before), grouped(after));
}

}  // namespace

bool GrowthLimit::exceeded(std::uint64_t before, std::uint64_t after) const {
    if (after <= before) return false;
    const auto growth = static_cast<double>(after - before);
    return growth > (percent ? static_cast<double>(before) * number / 100 : number);
}

GrowthLimit parse_growth_limit(const std::string& option, const std::string& text) {
    const std::string forms = "a size like 50M, or a share like 10%";
    GrowthLimit limit;
    limit.percent = text.ends_with('%');
    const auto number =
        parse_quantity(limit.percent ? std::string_view(text).substr(0, text.size() - 1) : text);
    if (!number || *number < 0) throw_bad_limit(option, text, forms);
    limit.number = static_cast<double>(*number);
    return limit;
}

GrowthRule parse_growth_rule(const std::string& typed) {
    const char* option = "--fail-on";
    GrowthRule rule;
    rule.typed = typed;
    const std::size_t open = typed.find('('), over = typed.rfind('>');
    const std::size_t close = over == std::string::npos ? over : typed.rfind(')', over);
    if (open == std::string::npos || close == std::string::npos || close < open)
        throw_bad_limit(option, typed, rule_forms);
    const std::string function = typed.substr(0, open);
    if (function == "retained")
        rule.of = GrowthRule::Of::retained;
    else if (function == "count")
        rule.of = GrowthRule::Of::count;
    else if (function == "memory")
        rule.of = GrowthRule::Of::memory;
    else
        throw_bad_limit(option, typed, rule_forms);
    rule.argument = typed.substr(open + 1, close - open - 1);
    const std::size_t number = typed.find_first_not_of(' ', over + 1);
    if (rule.argument.empty() || number == std::string::npos ||
        typed.find_first_not_of(' ', close + 1) != over)
        throw_bad_limit(option, typed, rule_forms);
    if (rule.of != GrowthRule::Of::retained && rule.argument.find_first_of("*?") != std::string::npos)
        throw wrong_usage("bad-option",
                          fmt::format("{} {}: one type is meant, without *", option, shell_quoted(typed)),
                          rule_forms);
    rule.limit = parse_growth_limit(option, typed.substr(number));
    return rule;
}

std::optional<std::uint64_t> retained_for_rule(Question& question, const GrowthRule& rule) {
    const AddressArgument argument = parse_address(rule.argument);
    question.filled();
    try {
        const ObjectId object = find_object(question.heap(), argument).object;
        return RetainedLookup(question.graph(), question.retained()).memory(object);
    } catch (const Error& error) {
        if (error.exit() != ExitCode::wrong_usage) throw;
        return std::nullopt;
    }
}

std::vector<std::string> rules_without_type(const std::vector<Inventory>& cores,
                                            const std::vector<GrowthRule>& rules) {
    std::vector<std::string> without;
    for (const GrowthRule& rule : rules) {
        if (rule.of == GrowthRule::Of::retained) continue;
        const bool known = std::any_of(cores.begin(), cores.end(), [&](const Inventory& core) {
            return std::any_of(core.types.begin(), core.types.end(),
                               [&](const NamedAmounts& type) { return type.name == rule.argument; });
        });
        if (!known) without.push_back(rule.typed);
    }
    return without;
}

std::vector<std::string> exceeded_limits(
    const GrowthResult& growth, const std::optional<GrowthLimit>& growth_of_all,
    const std::vector<GrowthRule>& rules,
    const std::vector<std::vector<std::optional<std::uint64_t>>>& retained) {
    std::vector<std::string> exceeded;
    const std::uint64_t before = growth.cores.front().in_use, after = growth.cores.back().in_use;
    if (growth_of_all && growth_of_all->exceeded(before, after))
        exceeded.push_back("what is in use grew " + changed(before, after, true));
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const GrowthRule& rule = rules[i];
        std::uint64_t first = 0, last = 0;
        if (rule.of == GrowthRule::Of::retained) {
            if (!retained[i].front() && !retained[i].back())
                throw wrong_usage(
                    "no-such-object",
                    fmt::format("--fail-on {}: no core has such an object", shell_quoted(rule.typed)),
                    "show takes the same expressions");
            first = retained[i].front().value_or(0);
            last = retained[i].back().value_or(0);  // it may be gone
        } else {
            for (const GrownName& type : growth.types) {
                if (type.name != rule.argument) continue;
                const Amounts &a = type.amounts.at.front(), &b = type.amounts.at.back();
                first = rule.of == GrowthRule::Of::count ? a.count : a.memory;
                last = rule.of == GrowthRule::Of::count ? b.count : b.memory;
            }
        }
        if (rule.limit.exceeded(first, last))
            exceeded.push_back(rule.typed + ": " + changed(first, last, rule.of != GrowthRule::Of::count));
    }
    return exceeded;
}

}  // namespace heapsift
