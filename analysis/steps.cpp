// The rule that folds __dict__, cells and frames, for all that print paths: why, holders, cycles, dominators,
// exports.

#include "analysis/steps.h"

#include "parsers/base/text.h"

#include <string_view>

namespace heapsift {
namespace {

/// True for a key that its literal finds: nan is not equal to itself.
bool is_found_again(const ShortValue& key) {
    return !key.cut && !key.nan && (key.kind == ShortValue::Kind::literal || key.constant);
}

}  // namespace

std::optional<ReferenceStep> as_attribute(const ReferenceStep& item) {
    if (item.kind != ReferenceStep::Kind::item || item.any || !is_identifier(item.name)) return std::nullopt;
    return attribute_step(item.name);
}

bool stands_between(const ReferenceStep& step, bool is_last) {
    return step.is(Field::cell_contents) || (step.is(Field::attributes) && !is_last);
}

std::optional<ReferenceStep> as_local(const ReferenceStep& step) {
    const bool local = step.kind == ReferenceStep::Kind::local && step.own_frame && is_identifier(step.name);
    return local ? std::optional(attribute_step(step.name)) : std::nullopt;
}

bool has_no_name(const ReferenceStep& step) { return step.nameless || step.kind == ReferenceStep::Kind::key; }

bool can_be_typed(const ReferenceStep& step) {
    if (has_no_name(step)) return false;
    return step.key ? is_found_again(*step.key) : !step.cut;
}

bool can_be_typed_if_single(const ReferenceStep& step) {
    if (step.kind == ReferenceStep::Kind::item) return !step.key->cut;
    return step.nameless && is_dotted(step);
}

bool is_dunder(const ReferenceStep& step) {
    return (step.kind == ReferenceStep::Kind::attribute && step.name.starts_with("__")) ||
           step.kind == ReferenceStep::Kind::odd_attribute;
}

}  // namespace heapsift
