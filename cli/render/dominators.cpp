// The dominator tree: one line for each node, its children indented.

#include "cli/render/dominators.h"

#include "cli/render/object.h"

namespace heapsift {
namespace {

constexpr std::size_t most_joint_names = 2;

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool has_expression(const JointHolders& joint, std::size_t holder) {
    return holder < joint.expressions.size() && !joint.expressions[holder].root.empty();
}

Datum joint_data(const JointHolders& joint) {
    Datum holders = Datum::list();
    for (std::size_t i = 0; i < joint.holders.size(); ++i)
        holders.push_back(
            entries({{"address", joint.holders[i].address},
                     {"type", joint.holders[i].type},
                     {"expression",
                      has_expression(joint, i) ? Datum(expression_of(joint.expressions[i])) : Datum()}}));
    for (const std::string& group : joint.groups) holders.push_back(entries({{"group", group}}));
    return entries({{"holders", std::move(holders)},
                    {"type", joint.type},
                    {"example", joint.example.is_null() ? Datum() : Datum(joint.example)},
                    {"count", joint.count},
                    {"held", joint.joint},
                    {"retained", joint.retained}});
}

using SharedResult = std::shared_ptr<const DominatorsResult>;

/// Of a node of this result. The data of its children is made as it is written.
Datum node_data(const SharedResult& result, const DominatorNode& node) {
    Datum data;
    if (node.object) {
        data = object_data(*node.object);
        data["name"] = Notation{node.name};
        data["expression"] = node.expression.root.empty() ? Datum() : Datum(expression_of(node.expression));
        if (!node.remark.empty()) data["remark"] = node.remark;
    } else {
        data[node.is_frame ? "frame" : "group"] = node.group;
        data["retained"] = node.retained;
        data["native"] = node.native;
    }
    if (node.run > 0) data["run"] = entries({{"count", node.run}, {"name", Notation{node.run_name}}});
    data["share"] = share_of(node.retained, result->total);
    if (node.children.empty())
        data["children"] = Datum::list();
    else
        data["children"] = Datum::Stream([result, &node](const std::function<void(const Datum&)>& visit) {
            for (const DominatorNode& child : node.children) visit(node_data(result, child));
        });
    data["folded"] = entries({{"count", node.folded},
                              {"retained", node.folded_retained},
                              {"type", node.folded_type == no_type ? Datum() : Datum(node.folded_type_name)},
                              {"of_type", node.folded_of_type},
                              {"of_type_retained", node.folded_of_type_retained}});
    data["joint"] = Datum::list_of(node.joint, joint_data);
    return data;
}

Text group_words(const DominatorNode& node) {
    if (node.group_kind == GroupKind::module && !node.is_frame) return says("module {}", node.group);
    if (node.group_kind == GroupKind::package && !node.group.empty()) return says("package {}", node.group);
    return node.group;
}

Text node_words(const DominatorNode& node, bool named) {
    if (!node.object) return group_words(node);
    Text words;
    if (named && node.name.known()) words = Text(Notation{node.name}) + "  ";
    words += says("{}  {}", typed_value(*node.object), node.object->address);
    if (!node.remark.empty()) words += "  " + Text(node.remark);
    return words;
}

/// The lines of the tree in reading order. It recurses as deep as the tree that is shown, a few levels.
class TreeLines {
public:
    using Visit = std::function<void(const TableRow&)>;
    TreeLines(const DominatorsResult& result, const Visit& visit) : result_(result), visit_(visit) {}

    void all() {
        const DominatorNode& top = result_.top;
        if (top.object) add(top.retained, node_words(top, false), 0, top.native);
        for (const DominatorNode& child : top.children) add_with_children(child, top.object ? 1 : 0);
        add_rest(top, top.object ? 1 : 0);
    }

private:
    /// A child that has nearly all of its parent stands on the parent's line: `.bus.subs['paid']`.
    static bool goes_on(const DominatorNode& node) {
        if (!node.object || node.children.size() != 1 || !node.joint.empty() || node.run > 0 ||
            !node.remark.empty() || !node.name.known())
            return false;
        const DominatorNode& child = node.children.front();
        return child.object && child.name.known() && child.retained + node.retained / 50 >= node.retained;
    }

    void add_with_children(const DominatorNode& first, std::size_t depth) {
        const DominatorNode* last = &first;
        Text names;
        for (; goes_on(*last); last = &last->children.front()) names += Text(Notation{last->name});
        const DominatorNode& node = *last;
        add(first.retained, names + node_words(node, true), depth, first.native);
        if (node.run > 0)
            visit_({.cells = {"", "", "", says("× {} more {}", Count{node.run}, Notation{node.run_name})},
                    .depth = depth + 1});
        for (const DominatorNode& child : node.children) add_with_children(child, depth + 1);
        add_rest(node, depth + 1);
    }

    void add_rest(const DominatorNode& node, std::size_t depth) {
        for (const JointHolders& joint : node.joint)
            add(joint.joint,
                says("{} {}", Count{joint.count}, type_words(joint.type, joint.count)) +
                    (joint.count == 1 ? says("  {}  ", joint.example) : Text(" ")) + "held jointly by " +
                    joint_holders_words(joint),
                depth);
        if (node.folded > 0 && node.folded_retained > 0) add(node.folded_retained, folded_words(node), depth);
    }

    /// "400 tuples, 49.0 KiB each"; "1,900 str, 8.1 KiB each, and 1,900 more"; "12 more".
    static Text folded_words(const DominatorNode& node) {
        if (node.folded_type == no_type || node.folded == 1) return says("… {} more", Count{node.folded});
        Text words = says("… {}, {}", how_many_of(node.folded_type_name, node.folded_of_type),
                          ByteCount{node.folded_of_type_retained / node.folded_of_type});
        if (node.folded_of_type > 1) words += " each";
        const std::uint64_t others = node.folded - node.folded_of_type;
        return others == 0 ? words : words + says(", and {} more", Count{others});
    }

    void add(std::uint64_t bytes, Text words, std::size_t depth, std::uint64_t native = 0) {
        visit_({.cells = {ByteCount{bytes}, Share{bytes, result_.total, true},
                          native > 0 && native >= bytes / 100 ? Text(ByteCount{native}) : Text(),
                          std::move(words)},
                .depth = depth});
    }

    const DominatorsResult& result_;
    const Visit& visit_;
};

}  // namespace

Text joint_holders_words(const JointHolders& joint) {
    std::vector<Text> words;
    for (std::size_t i = 0; i < joint.holders.size(); ++i)
        words.push_back(has_expression(joint, i) ? Text(expression_of(joint.expressions[i]))
                                                 : Text(joint.holders[i].address));
    for (const std::string& group : joint.groups) words.emplace_back(group);
    if (words.size() <= most_joint_names) return joined(std::move(words), " and ");
    const std::size_t more = words.size() - most_joint_names;
    words.resize(most_joint_names);
    return joined(std::move(words), ", ") + says(" and {} more", Count{more});
}

Document render_dominators(DominatorsResult dominators) {
    const SharedResult result = kept(std::move(dominators));
    Document document{.command = "dominators"};
    document.data["tree"] = node_data(result, result->top);
    if (result->top.object) document.data["tree"]["group"] = result->group;
    document.data["total"] = result->total;
    document.data["shared_by_several_groups"] = result->loose;
    if (result->top.object) document.say(line("held by: " + Text(result->group)));
    TableBlock table;
    table.columns = {right("retained"), right("share"), right("of it native"),
                     left("what holds it", TextColumn::Fit::end)};
    table.columns[2].optional = true;
    table.columns.back().tree = true;
    table.rows = [result](const std::function<void(const TableRow&)>& visit) {
        TreeLines(*result, visit).all();
    };
    document.say({std::move(table)});
    if (!result->next.is_null()) document.say(hint(says("dominators {}", result->next), "further down"));
    return document;
}

}  // namespace heapsift
