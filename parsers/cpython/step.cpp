// The one place where the name of a reference is written.

#include "parsers/cpython/step.h"

#include <utility>

namespace heapsift {

ReferenceStep attribute_step(std::string name) {
    ReferenceStep step;
    step.kind = ReferenceStep::Kind::attribute;
    step.name = std::move(name);
    return step;
}

ReferenceStep item_step(ShortValue key) {
    ReferenceStep step;
    step.kind = ReferenceStep::Kind::item;
    const std::string_view text = key.text;
    if (key.kind == ShortValue::Kind::literal && text.size() > 2 && text.front() == '\'' &&
        text.back() == '\'')
        step.name = text.substr(1, text.size() - 2);
    step.key = std::move(key);
    return step;
}

ReferenceStep key_step(ShortValue key) {
    ReferenceStep step;
    step.kind = ReferenceStep::Kind::key;
    step.key = std::move(key);
    return step;
}

ReferenceStep named_step(std::string name) {
    ReferenceStep step;
    if (!name.empty()) step.kind = ReferenceStep::Kind::name;
    step.name = std::move(name);
    return step;
}

ReferenceStep field_step(const FieldName& field) {
    ReferenceStep step;
    const std::string_view text = field.text;
    const bool dotted = !text.empty() && text.front() == '.';
    step.kind = text.empty() ? ReferenceStep::Kind::none
                : dotted     ? ReferenceStep::Kind::attribute
                             : ReferenceStep::Kind::name;
    step.field = field.field;
    step.nameless = field.nameless;
    step.name = dotted ? text.substr(1) : text;
    return step;
}

std::string notation(const ReferenceStep& step, std::string_view shown_key) {
    const std::string_view key = step.any ? std::string_view("'*'") : shown_key;
    std::string text;
    switch (step.kind) {
        case ReferenceStep::Kind::none:
            break;
        case ReferenceStep::Kind::attribute:
            text.reserve(step.name.size() + 1);
            text += '.';
            text += step.name;
            break;
        case ReferenceStep::Kind::odd_attribute:
            text = ".__dict__[" +
                   (step.any            ? "'*'"
                    : shown_key.empty() ? step.name
                                        : std::string(shown_key)) +
                   "]";
            break;
        case ReferenceStep::Kind::index:
            text = step.within + "[" + (step.any ? "*" : std::to_string(step.number)) + "]";
            break;
        case ReferenceStep::Kind::place:
            text = step.any ? step.name + "[*]" : step.name;
            break;
        case ReferenceStep::Kind::item:
            text.reserve(key.size() + 2);
            text += '[';
            text += key;
            text += ']';
            break;
        case ReferenceStep::Kind::key:
            text = step.any ? " key " : "key ";
            text += key;
            break;
        case ReferenceStep::Kind::local:
            text = step.within + "f_locals['" + step.name + "']";
            break;
        case ReferenceStep::Kind::frame_local:
            text = (step.within.empty() ? "" : step.within + " ") + "local '" + step.name + "'";
            break;
        case ReferenceStep::Kind::cell:
            text = ".<cell " + step.name + ">";
            break;
        case ReferenceStep::Kind::hidden_local:
            text = ".<local " + step.name + ">";
            break;
        case ReferenceStep::Kind::offset:
            text = "<+" + std::to_string(step.number) + ">";
            break;
        case ReferenceStep::Kind::name:
            text = step.name;
            break;
    }
    return text;
}

std::string notation(const ReferenceStep& step) {
    return notation(step, step.key ? std::string_view(step.key->text) : std::string_view());
}

bool is_dotted(const ReferenceStep& step) {
    switch (step.kind) {
        case ReferenceStep::Kind::attribute:
        case ReferenceStep::Kind::odd_attribute:
        case ReferenceStep::Kind::local:
        case ReferenceStep::Kind::cell:
        case ReferenceStep::Kind::hidden_local:
            return true;
        case ReferenceStep::Kind::index:
            return !step.within.empty();
        default:
            return false;
    }
}

}  // namespace heapsift
