#include "analysis/holding/step_numbers.h"

#include "parsers/cpython/object_kind.h"

namespace heapsift {

std::uint32_t StepNumbers::number(ObjectId source, ObjectId target, const ReferenceName& name,
                                  bool attribute_dict) {
    using Form = ReferenceName::Form;
    const auto exact = static_cast<std::uint8_t>(name.form);
    Key key{ReferenceForm::attribute, exact, name.text.text, name.key.value};
    switch (name.form) {
        case Form::index:
            key = {ReferenceForm::index, exact, name.text.text, 0};
            break;
        case Form::element:
            key = {ReferenceForm::index, exact, nullptr, 0};
            break;
        case Form::item:
            if (!attribute_dict) key = {ReferenceForm::item, exact, nullptr, 0};
            break;
        case Form::key:
            key = {ReferenceForm::key, exact, nullptr, 0};
            break;
        case Form::frame_place:
        case Form::offset:
            key.key += name.number;
            break;
        default:
            break;
    }
    const auto [at, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(names_.size()));
    if (added && name.form == Form::text && name.text.field == Field::attributes) dict_step_ = at->second;
    if (added) names_.push_back({key.form, source, target});
    return at->second;
}

}  // namespace heapsift
