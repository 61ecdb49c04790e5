// One object: its data, and cells of tables.

#include "cli/render/object.h"

namespace heapsift {
namespace {

const char* name_of(FoundBy found_by) {
    switch (found_by) {
        case FoundBy::collector:
            return "collector";
        case FoundBy::pymalloc:
            return "pymalloc";
        case FoundBy::malloc:
            return "malloc";
        case FoundBy::static_data:
            return "static_data";
        case FoundBy::reference:
            return "reference";
    }
    return "";
}

}  // namespace

Datum object_data(const ObjectRow& object) {
    const ObjectFacts& facts = object.facts;
    return entries({{"address", object.address},
                    {"type", object.type},
                    {"size", facts.size},
                    {"memory", facts.memory},
                    {"array_data", facts.array_data},
                    {"not_saved", facts.not_saved},
                    {"retained", object.retained},
                    {"refcount", facts.refcount},
                    {"immortal", facts.immortal},
                    {"gc_tracked", facts.gc_tracked},
                    {"state", object.state ? Datum(name_of(*object.state)) : Datum()},
                    {"references", facts.references_exact ? "exact" : "guessed"},
                    {"size_certain", facts.size_is_certain},
                    {"damaged", facts.damaged},
                    {"found_by", name_of(object.found_by)},
                    {"value", value_of(object)}});
}

Value value_of(const ObjectRow& object) { return {.value = object.value, .type = object.type}; }

Value typed_value(const ObjectRow& object) {
    return {.value = object.value, .type = object.type, .with_type = true};
}

Text references_counted(const ObjectFacts& facts) {
    return facts.immortal ? Text("immortal") : Text(SignedCount{facts.refcount});
}

Text array_data_bytes(std::uint64_t bytes) { return bytes == 0 ? Text(Nothing{}) : Text(ByteCount{bytes}); }

Text bytes_or_blank(const std::optional<std::uint64_t>& bytes) {
    return bytes ? Text(ByteCount{*bytes}) : Text();
}

Expression expression_of(const PathExpression& path) {
    Expression expression{path.root, {}};
    for (std::size_t i = path.first; i < path.steps.size(); ++i)
        expression.steps.push_back(path.steps[i].name);
    return expression;
}

TextColumn right(Text heading, bool sorted) {
    return {.align = TextColumn::Align::right, .heading = std::move(heading), .sorted = sorted};
}

TextColumn left(Text heading, TextColumn::Fit fit) { return {.heading = std::move(heading), .fit = fit}; }

const char* name_of(ReferenceKind kind) {
    switch (kind) {
        case ReferenceKind::strong:
            return "strong";
        case ReferenceKind::hidden:
            return "hidden";
        case ReferenceKind::reported:
            return "reported";
        case ReferenceKind::native:
            return "native";
        case ReferenceKind::weak:
            return "weak";
        case ReferenceKind::guess:
            return "guess";
    }
    return "";
}

const char* name_of(ObjectState state) {
    switch (state) {
        case ObjectState::reachable:
            return "reachable";
        case ObjectState::held:
            return "held";
        case ObjectState::waiting:
            return "waiting";
        case ObjectState::uncollectable:
            return "uncollectable";
        case ObjectState::invisible:
            return "invisible";
    }
    return "";
}

}  // namespace heapsift
