// Conditions on single objects: each compares one number, and all must hold.

#include "cli/where.h"

#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <array>

namespace heapsift {
namespace {

using Field = ObjectCondition::Field;
using Operator = ObjectCondition::Operator;

const std::array<std::pair<std::string, Field>, 6> fields = {{{"size", Field::size},
                                                              {"memory", Field::memory},
                                                              {"array_data", Field::array_data},
                                                              {"retained", Field::retained},
                                                              {"refcount", Field::refcount},
                                                              {"block_size", Field::block_size}}};

// Longer operators first: "<" begins "<=".
const std::array<std::pair<std::string_view, Operator>, 7> operators = {{{"<=", Operator::less_equal},
                                                                         {">=", Operator::greater_equal},
                                                                         {"!=", Operator::not_equal},
                                                                         {"==", Operator::equal},
                                                                         {"<", Operator::less},
                                                                         {">", Operator::greater},
                                                                         {"=", Operator::equal}}};

std::string without_blanks(std::string_view text) {
    std::string kept;
    for (char c : text)
        if (c != ' ') kept += c;
    return kept;
}

Error bad_where(std::string_view condition, std::string hint) {
    return wrong_usage("bad-where", fmt::format("--where '{}' is not a comparison", condition),
                       std::move(hint));
}

Field parse_field(std::string_view condition, std::string_view name) {
    std::vector<std::string> names;
    for (const auto& [known, field] : fields) {
        if (known == name) return field;
        names.push_back(known);
    }
    const auto nearest = nearest_words(name, names);
    throw bad_where(condition, nearest.empty() ? fmt::format("fields are {}", fmt::join(names, ", "))
                                               : fmt::format("did you mean {}", nearest.front()));
}

ObjectCondition parse_condition(std::string_view typed) {
    const std::string condition = without_blanks(typed);
    const std::size_t at = condition.find_first_of("<>=!");
    if (at == std::string::npos) throw bad_where(typed, "write it as size>1M");
    const std::string_view rest = std::string_view(condition).substr(at);
    for (const auto& [sign, op] : operators) {
        if (!rest.starts_with(sign)) continue;
        const auto number = parse_quantity(rest.substr(sign.size()));
        if (!number) throw bad_where(typed, "the right side is a number, such as 100, 64K or 1.5M");
        return {parse_field(typed, condition.substr(0, at)), op, *number};
    }
    throw bad_where(typed, "write it as size>1M");
}

}  // namespace

std::vector<ObjectCondition> parse_conditions(std::string_view text) {
    std::vector<ObjectCondition> conditions;
    while (true) {
        const std::size_t comma = text.find(',');
        conditions.push_back(parse_condition(text.substr(0, comma)));
        if (comma == std::string_view::npos) return conditions;
        text.remove_prefix(comma + 1);
    }
}

std::vector<std::string> condition_beginnings() {
    std::vector<std::string> beginnings;
    for (const auto& [name, field] : fields) beginnings.push_back(name + ">");
    return beginnings;
}

}  // namespace heapsift
