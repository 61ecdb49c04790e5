#include "cli/render/holder_words.h"

#include "cli/render/dominators.h"
#include "cli/render/object.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint16_t widest_content = 60;

}  // namespace

Text holder_words(const TopHolder& holder) {
    if (holder.joint) return joint_holders_words(*holder.joint) + " together";
    if (holder.by_c_code)
        return holder.variable.empty() ? says("C code of {}", holder.group) : Text(holder.variable);
    if (!holder.object)
        return says("{}{}, in {}", holder.group_kind == GroupKind::module ? "module " : "", holder.group,
                    how_many(holder.many, "object"));
    if (!holder.local.empty() && holder.alike > 1)
        return says("the local '{}' of {}, in {} threads", holder.local, holder.call, Count{holder.alike});
    if (!holder.local.empty()) return says("the local '{}' of {}", holder.local, holder.frame);
    const Expression expression = expression_of(holder.expression);
    const bool is_address = holder.expression.from_address && expression.steps.empty();
    if (is_address && holder.in_work) return says("a temporary of {}", holder.frame);
    if (expression.empty() || is_address)
        return says("the {} at {}", TypeName{holder.object->type}, holder.object->address);
    if (holder.in_work)
        return says("{} of a temporary of {}", Expression{{}, expression.steps}, holder.frame);
    if (!holder.root.empty()) return says("{} ({})", expression, holder.root);
    return holder.frame.empty() ? Text(expression) : says("{}, by {}", expression, holder.frame);
}

Text content_words(const TopHolder& holder) {
    if (holder.joint && holder.joint->native) return joint_content_words(*holder.joint);
    if (holder.joint && holder.joint->types > 1)
        return says("{} of {} types", how_many(holder.joint->count, "object"), Count{holder.joint->types});
    Text text;
    bool counted = false;  // its value says how many it has, and may go on with the first of them
    std::string of_how_many;
    if (holder.object && !holder.content_type.empty()) {
        const ShortValue& value = holder.object->value;
        of_how_many = value.without_values;
        counted = (of_how_many.empty() ? value.text : of_how_many) ==
                  fmt::format("{} of {}", short_type_name(holder.object->type), holder.content_count);
    }
    if (counted) {
        const char* article =
            std::string_view("aeioAEIO").find(holder.object->type.front()) == std::string_view::npos ? "a"
                                                                                                     : "an";
        text = says("{} {} of {}", article, TypeName{holder.object->type},
                    how_many_of(holder.content_type, holder.content_count));
    } else {
        if (!of_how_many.empty())  // the first of them say less than what most of them are
            text = Text(of_how_many);
        else if (holder.object)
            text = Text(typed_value(*holder.object)).at_most(widest_content);
        if (!holder.content_type.empty())
            text += says("{}{}",
                         !text.empty()      ? ", in it "
                         : holder.by_c_code ? "in it "
                                            : "",
                         how_many_of(holder.content_type, holder.content_count));
    }
    if (!holder.remark.empty()) text += ", " + Text(holder.remark);
    return text;
}

}  // namespace heapsift
