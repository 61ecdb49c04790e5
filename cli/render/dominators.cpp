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
                    {"type", joint.native ? Datum() : Datum(joint.type)},
                    {"example", joint.example.is_null() ? Datum() : Datum(joint.example)},
                    {"count", joint.count},
                    {"held", joint.joint},
                    {"retained", joint.retained}});
}

using Answer = std::shared_ptr<const DominatorsAnswer>;

/// Of a node of this tree. The data of its children is made as it is written.
Datum node_data(const Answer& answer, const DominatorTreeNode& node, const DominatorNode& words) {
    Datum data;
    if (words.object) {
        data = object_data(*words.object);
        data["name"] = Notation{words.name};
        data["expression"] = words.expression.root.empty() ? Datum() : Datum(expression_of(words.expression));
        if (!words.remark.empty()) data["remark"] = words.remark;
    } else {
        data[words.is_frame ? "frame" : "group"] = words.group;
        data["retained"] = words.retained;
        data["native"] = words.native;
    }
    if (words.run > 0) data["run"] = entries({{"count", words.run}, {"name", Notation{words.run_name}}});
    data["share"] = share_of(words.retained, answer->total());
    if (node.children.empty())
        data["children"] = Datum::list();
    else
        data["children"] = Datum::Stream([answer, &node](const std::function<void(const Datum&)>& visit) {
            answer->visit_children(node, [&](const DominatorTreeNode& child, const DominatorNode& of_child) {
                visit(node_data(answer, child, of_child));
            });
        });
    data["folded"] =
        entries({{"count", words.folded},
                 {"retained", words.folded_retained},
                 {"type", words.folded_type == no_type ? Datum() : Datum(words.folded_type_name)},
                 {"of_type", words.folded_of_type},
                 {"of_type_retained", words.folded_of_type_retained}});
    data["joint"] = Datum::list_of(words.joint, joint_data);
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
    TreeLines(const DominatorsAnswer& answer, const Visit& visit) : answer_(answer), visit_(visit) {}

    void all() {
        const DominatorNode top = answer_.describe(answer_.top());
        if (top.object) add(top.retained, node_words(top, false), 0, top.native);
        add_children(answer_.top(), top.object ? 1 : 0);
        add_rest(top, top.object ? 1 : 0);
    }

private:
    void add_children(const DominatorTreeNode& node, std::size_t depth) {
        answer_.visit_children(node, [&](const DominatorTreeNode& child, DominatorNode words) {
            add_with_children(child, std::move(words), depth);
        });
    }

    /// A child that has nearly all of its parent stands on the parent's line: `.bus.subs['paid']`. That child in words,
    /// where it does.
    std::optional<DominatorNode> goes_on(const DominatorTreeNode& node, const DominatorNode& words) const {
        if (!words.object || node.children.size() != 1 || !words.joint.empty() || words.run > 0 ||
            !words.remark.empty() || !words.name.known())
            return std::nullopt;
        if (node.children.front().retained + node.retained / 50 < node.retained) return std::nullopt;
        std::optional<DominatorNode> child;
        answer_.visit_children(
            node, [&](const DominatorTreeNode&, DominatorNode only) { child = std::move(only); });
        return child->object && child->name.known() ? std::move(child) : std::nullopt;
    }

    void add_with_children(const DominatorTreeNode& first, DominatorNode words, std::size_t depth) {
        const DominatorTreeNode* node = &first;
        Text names;
        while (std::optional<DominatorNode> child = goes_on(*node, words)) {
            names += Text(Notation{words.name});
            node = &node->children.front();
            words = std::move(*child);
        }
        add(first.retained, names + node_words(words, true), depth, first.native);
        if (words.run > 0)
            visit_({.cells = {"", "", "", says("× {} more {}", Count{words.run}, Notation{words.run_name})},
                    .depth = depth + 1});
        add_children(*node, depth + 1);
        add_rest(words, depth + 1);
    }

    void add_rest(const DominatorNode& node, std::size_t depth) {
        for (const JointHolders& joint : node.joint)
            add(joint.joint,
                joint_content_words(joint) +
                    (joint.count == 1 && !joint.example.is_null() ? says("  {}  ", joint.example)
                                                                  : Text(" ")) +
                    "held jointly by " + joint_holders_words(joint),
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
        visit_({.cells = {ByteCount{bytes}, Share{bytes, answer_.total(), true},
                          native > 0 && native >= bytes / 100 ? Text(ByteCount{native}) : Text(),
                          std::move(words)},
                .depth = depth});
    }

    const DominatorsAnswer& answer_;
    const Visit& visit_;
};

}  // namespace

Text joint_content_words(const JointHolders& joint) {
    return joint.native ? how_many(joint.count, "block of C code", "blocks of C code")
                        : says("{} {}", Count{joint.count}, type_words(joint.type, joint.count));
}

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

Document render_dominators(DominatorsAnswer found) {
    const Answer answer = kept(std::move(found));
    const DominatorNode top = answer->describe(answer->top());
    Document document{.command = "dominators"};
    document.data["tree"] = node_data(answer, answer->top(), top);
    if (top.object) document.data["tree"]["group"] = answer->group();
    document.data["total"] = answer->total();
    document.data["shared_by_several_groups"] = answer->loose();
    if (top.object) document.say(line("held by: " + Text(answer->group())));
    TableBlock table;
    table.columns = {right("retained"), right("share"), right("of it native"),
                     left("what holds it", TextColumn::Fit::end)};
    table.columns[2].optional = true;
    table.columns.back().tree = true;
    table.rows = [answer](const std::function<void(const TableRow&)>& visit) {
        TreeLines(*answer, visit).all();
    };
    document.say({std::move(table)});
    if (const Address next = answer->next(); !next.is_null())
        document.say(hint(says("dominators {}", next), "further down"));
    return document;
}

}  // namespace heapsift
