// One object in JSON and in text.

#include "cli/render/object.h"

#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

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

Json value_json(const ShortValue& value, const std::string& type, Redactor& redactor) {
    return value.kind == ShortValue::Kind::none ? Json(nullptr) : Json(redactor.value(value, type));
}

Json object_json(const ObjectRow& object, Redactor& redactor) {
    const ObjectFacts& facts = object.facts;
    Json json;
    json["address"] = address_json(object.address);
    json["type"] = object.type;
    json["size"] = facts.size;
    json["memory"] = facts.memory;
    json["array_data"] = facts.array_data;
    json["not_saved"] = facts.not_saved;
    json["retained"] = or_null(object.retained);
    json["refcount"] = facts.refcount;
    json["immortal"] = facts.immortal;
    json["gc_tracked"] = facts.gc_tracked;
    json["state"] = object.state ? Json(name_of(*object.state)) : Json(nullptr);
    json["references"] = facts.references_exact ? "exact" : "guessed";
    json["size_certain"] = facts.size_is_certain;
    json["damaged"] = facts.damaged;
    json["found_by"] = name_of(object.found_by);
    json["value"] = value_json(object.value, object.type, redactor);
    return json;
}

std::string name_of(ReferenceKind kind) {
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

std::string name_of(ObjectState state) {
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

std::string type_text(const std::string& type) { return escape_for_terminal(type); }

std::string value_text(const ObjectRow& object, Redactor& redactor) {
    return escape_for_terminal(redactor.value(object.value, object.type));
}

std::string reference_text(const ReferenceStep& step, Redactor& redactor) {
    return escape_for_terminal(redactor.reference_name(step));
}

std::string refcount_text(const ObjectFacts& facts) {
    return facts.immortal ? "immortal" : grouped_signed(facts.refcount);
}

std::string array_data_text(std::uint64_t bytes, const Page& page) {
    return bytes == 0 ? "–" : page.bytes(bytes);
}

std::string next_line(const Page& page, const std::string& words, const std::string& remark) {
    const std::string next = "next: " + page.command(words);
    if (remark.empty()) return faint(next, page.colour) + "\n";
    const bool fits = page.width == 0 || display_width(next) + 4 + display_width(remark) <= page.width;
    const std::string below = "\n" + std::string(6, ' ');
    return faint(next + (fits ? "    " + remark : below + wrapped(remark, page.width, 6, 6)), page.colour) +
           "\n";
}

std::string sorted_heading(const std::string& heading, bool sorted) {
    return sorted ? heading + " ▾" : heading;
}

}  // namespace heapsift
