// One object: its data, and cells of tables.

#include "cli/render/object.h"

#include <algorithm>
#include <array>

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
    DatumFields fields;
    add_object(fields, object);
    return fields.take();
}

void add_object(Fields& fields, const ObjectRow& object) {
    const ObjectFacts& facts = object.facts;
    fields.add("address", object.address);
    fields.add("type", object.type);
    fields.add("size", facts.size);
    fields.add("memory", facts.memory);
    fields.add("array_data", facts.array_data);
    fields.add("not_saved", facts.not_saved);
    fields.add("retained", object.retained);
    fields.add("native", object.native);
    fields.add("refcount", facts.refcount);
    fields.add("immortal", facts.immortal);
    fields.add("gc_tracked", facts.gc_tracked);
    if (object.state)
        fields.add("state", name_of(*object.state));
    else
        fields.null("state");
    fields.add("references", facts.references_exact ? "exact" : "guessed");
    fields.add("size_certain", facts.size_is_certain);
    fields.add("damaged", facts.damaged);
    fields.add("found_by", name_of(object.found_by));
    fields.value("value", object.value, object.type);
}

Value value_of(const ObjectRow& object) { return {.value = object.value, .type = object.type}; }

Value typed_value(const ObjectRow& object) {
    return {.value = object.value, .type = object.type, .with_type = true};
}

Text how_many_of(const std::string& type, std::uint64_t count) {
    constexpr std::array<std::string_view, 15> nouns = {
        "cell", "coroutine", "dict",   "float",  "frame", "frozenset", "function", "generator",
        "int",  "list",      "method", "module", "set",   "traceback", "tuple"};
    const bool noun = std::find(nouns.begin(), nouns.end(), type) != nouns.end();
    return noun && count != 1 ? says("{} {}", Count{count}, TypeName{type + "s"})
                              : says("{} {}", Count{count}, type_words(type, count));
}

Text type_words(const std::string& type, std::uint64_t count) {
    Text words(TypeName{type});
    if (reads_as_unit(type)) words += count == 1 ? " object" : " objects";
    return words;
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
