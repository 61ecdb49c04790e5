// The dominator tree: a line for each node, its children further in.

#include "cli/render/dominators.h"

#include "cli/render/object.h"
#include "cli/render/path.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json joint_json(const JointHolders& joint, Redactor& redactor) {
    Json json;
    json["holders"] = Json::array();
    for (std::size_t i = 0; i < joint.holders.size(); ++i) {
        const ObjectRow& holder = joint.holders[i];
        Json one = {{"address", address_json(holder.address)}, {"type", holder.type}};
        one["expression"] = i < joint.expressions.size() && !joint.expressions[i].root.empty()
                                ? Json(expression_of(joint.expressions[i], redactor))
                                : Json(nullptr);
        json["holders"].push_back(std::move(one));
    }
    for (const std::string& group : joint.groups) json["holders"].push_back({{"group", group}});
    json["type"] = joint.type;
    json["count"] = joint.count;
    json["held"] = joint.joint;
    json["retained"] = joint.retained;
    return json;
}

Json node_json(const DominatorNode& node, std::uint64_t total, Redactor& redactor) {
    Json json;
    if (node.object) {
        json = object_json(*node.object, redactor);
        json["name"] = redactor.reference_name(node.name);
        json["expression"] =
            node.expression.root.empty() ? Json(nullptr) : Json(expression_of(node.expression, redactor));
        if (!node.remark.empty()) json["remark"] = node.remark;
    } else {
        json[node.is_frame ? "frame" : "group"] = node.group;
        json["retained"] = node.retained;
    }
    if (node.run > 0) json["run"] = {{"count", node.run}, {"name", redactor.reference_name(node.run_name)}};
    json["share"] = share(node.retained, total);
    json["children"] = Json::array();
    for (const DominatorNode& child : node.children)
        json["children"].push_back(node_json(child, total, redactor));
    json["folded"] = {{"count", node.folded}, {"retained", node.folded_retained}};
    json["joint"] = Json::array();
    for (const JointHolders& joint : node.joint) json["joint"].push_back(joint_json(joint, redactor));
    return json;
}

class TreeText {
public:
    TreeText(const DominatorsResult& result, const Page& page) : result_(result), page_(page) {}

    std::string text() {
        const DominatorNode& top = result_.top;
        if (top.object) add(top, 0, false);
        for (const DominatorNode& child : top.children) add_with_children(child, top.object ? 1 : 0);
        add_rest(top, top.object ? 1 : 0);
        return table_.text(page_.width, page_.colour);
    }

private:
    void add_with_children(const DominatorNode& node, std::size_t depth) {
        add(node, depth, true);
        if (node.run > 0) {
            const std::string name = reference_text(node.run_name, page_.redact());
            add_line(
                "", "",
                std::string(2 * (depth + 1), ' ') + fmt::format("× {} more {}", grouped(node.run), name));
        }
        for (const DominatorNode& child : node.children) add_with_children(child, depth + 1);
        add_rest(node, depth + 1);
    }

    void add(const DominatorNode& node, std::size_t depth, bool named) {
        std::string what;
        if (!node.object) {
            what = node.group_kind == GroupKind::module && !node.is_frame         ? "module " + node.group
                   : node.group_kind == GroupKind::package && !node.group.empty() ? "package " + node.group
                                                                                  : node.group;
            what = escape_for_terminal(what);
        } else {
            const std::string name = named ? reference_text(node.name, page_.redact()) : std::string();
            const std::string value = value_text(*node.object, page_.redact());
            const std::string type = type_text(node.object->type);
            const bool says_type = value.starts_with("<" + type) || value.starts_with(type);
            what = name + (name.empty() ? "" : "  ") +
                   (value.empty() ? type
                    : says_type   ? value
                                  : type + " " + value) +
                   "  " + hexadecimal(node.object->address.value);
            if (!node.remark.empty()) what += "  " + escape_for_terminal(node.remark);
        }
        add_line(page_.bytes(node.retained), percent_in_table(node.retained, result_.total),
                 std::string(2 * depth, ' ') + what);
    }

    void add_rest(const DominatorNode& node, std::size_t depth) {
        const std::string indent(2 * depth, ' ');
        for (const JointHolders& joint : node.joint) {
            std::vector<std::string> holders;
            for (std::size_t i = 0; i < joint.holders.size(); ++i)
                holders.push_back(
                    i < joint.expressions.size() && !joint.expressions[i].root.empty()
                        ? escape_for_terminal(expression_of(joint.expressions[i], page_.redact()))
                        : hexadecimal(joint.holders[i].address.value));
            for (const std::string& group : joint.groups) holders.push_back(escape_for_terminal(group));
            add_line(page_.bytes(joint.joint), percent_in_table(joint.joint, result_.total),
                     indent + fmt::format("{} {} held jointly by {}", grouped(joint.count),
                                          type_text(joint.type), fmt::join(holders, " and ")));
        }
        if (node.folded > 0 && node.folded_retained > 0)
            add_line(page_.bytes(node.folded_retained), percent_in_table(node.folded_retained, result_.total),
                     indent + fmt::format("… {} more", grouped(node.folded)));
    }

    void add_line(std::string bytes, std::string part, std::string what) {
        table_.add({std::move(bytes), std::move(part), std::move(what)});
    }

    const DominatorsResult& result_;
    const Page& page_;
    Table table_{{{TableColumn::Align::right, "retained"},
                  {TableColumn::Align::right, "share"},
                  {TableColumn::Align::left, "what holds it", TableColumn::Fit::end}}};
};

const DominatorNode* largest_object(const DominatorNode& node) {
    for (const DominatorNode& child : node.children) {
        if (child.object) return &child;
        if (const DominatorNode* below = largest_object(child)) return below;
    }
    return nullptr;
}

std::string dominators_text(const DominatorsResult& result, const Page& page) {
    std::string text;
    if (result.top.object) text = "held by: " + escape_for_terminal(result.group) + "\n";
    text += TreeText(result, page).text();
    if (const DominatorNode* next = largest_object(result.top))
        text += next_line(page, "dominators " + hexadecimal(next->object->address.value), "further down");
    return text;
}

}  // namespace

Answer render_dominators(const DominatorsResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "dominators";
    answer.data["tree"] = node_json(result.top, result.total, redactor);
    if (result.top.object) answer.data["tree"]["group"] = result.group;
    answer.data["total"] = result.total;
    answer.data["shared_by_several_groups"] = result.loose;
    answer.text = [&result](const Page& page) { return dominators_text(result, page); };
    return answer;
}

}  // namespace heapsift
