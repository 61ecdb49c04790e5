#include "cli/report/area_tree.h"

#include "cli/render/dominators.h"
#include "cli/render/object.h"
#include "cli/text_width.h"
#include "cli/write/spans.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t levels_of_objects = 12, children_of_one = 60;
constexpr std::size_t frames_of_types = 16, most_types_of_rest = 6, longest_types_of_rest = 160;
constexpr std::size_t longest_area_name = 120, longest_area_expression = 240;

std::string area_text(const Text& text, const Page& page, std::size_t longest = longest_area_name) {
    return shortened_at_the_end(plain(text, page), longest);
}

AreaNode::Kind kind_of_group(GroupKind kind) {
    switch (kind) {
        case GroupKind::thread:
            return AreaNode::Kind::thread;
        case GroupKind::module:
            return AreaNode::Kind::program;
        case GroupKind::package:
            return AreaNode::Kind::package;
        case GroupKind::native:
            return AreaNode::Kind::native;
        case GroupKind::held:
            return AreaNode::Kind::held;
        case GroupKind::unreachable:
            return AreaNode::Kind::garbage;
        case GroupKind::python:
        case GroupKind::callbacks:
        case GroupKind::immortal:
            break;
    }
    return AreaNode::Kind::python;
}

/// Areas of the nodes of one answer.
class ObjectAreas {
public:
    explicit ObjectAreas(const Page& page) : page_(page) {}

    /// What has no area below the top.
    void add_rest_of_top(const DominatorNode& node, AreaNode& area) const { add_folded(node, area); }

    AreaNode of(const DominatorNode& node, AreaNode::Kind kind, std::size_t depth) const {
        AreaNode area;
        area.kind = kind;
        area.bytes = node.retained;
        area.native = node.native;
        if (node.object) {
            Text words;
            if (node.name.known()) words = Text(Notation{node.name}) + "  ";
            area.name = area_text(words + typed_value(*node.object), page_);
            area.type = area_text(TypeName{node.object->type}, page_);
            area.expression = area_text(expression_of(node.expression), page_, longest_area_expression);
            area.address = plain(Text(node.object->address), page_);
        } else {
            area.name = area_text(Text(node.group), page_);
        }
        if (node.run > 0)
            area.name += " " + area_text(says("(and {} more, each below the last)", Count{node.run}), page_);
        if (depth >= deepest_area) return area;
        for (const DominatorNode& child : node.children) area.below.push_back(of(child, kind, depth + 1));
        add_rest(node, area);
        std::stable_sort(area.below.begin(), area.below.end(),
                         [](const AreaNode& a, const AreaNode& b) { return a.bytes > b.bytes; });
        return area;
    }

private:
    /// What has no line of its own in the answer.
    void add_rest(const DominatorNode& node, AreaNode& area) const {
        for (const JointHolders& joint : node.joint) {
            AreaNode made;
            made.kind = area.kind;
            made.bytes = joint.joint;
            if (!joint.native) made.type = area_text(TypeName{joint.type}, page_);
            made.name = area_text(
                says("{} held jointly by {}",
                     joint.native ? joint_content_words(joint) : how_many_of(joint.type, joint.count),
                     joint_holders_words(joint)),
                page_);
            if (joint.count == 1 && !joint.example.is_null())
                made.address = plain(Text(joint.example), page_);
            area.below.push_back(std::move(made));
        }
        add_folded(node, area);
    }

    /// Threads by themselves: a person looks for them, and a server has thousands, none of them large.
    void add_folded(const DominatorNode& node, AreaNode& area) const {
        AreaNode threads;
        threads.kind = AreaNode::Kind::thread;
        threads.bytes = node.folded_threads_retained;
        threads.rest = true;
        threads.type = "thread";
        threads.name = area_text(how_many(node.folded_threads, "more thread"), page_);
        if (threads.bytes > 0) area.below.push_back(std::move(threads));
        AreaNode rest;
        rest.kind = area.kind;
        rest.bytes = node.folded_retained - std::min(node.folded_retained, node.folded_threads_retained);
        rest.rest = true;
        const std::uint64_t count = node.folded - std::min(node.folded, node.folded_threads);
        if (count == 0 || rest.bytes == 0) return;
        if (node.folded_types.empty()) {
            rest.name = area_text(how_many(count, "more group"), page_);
        } else {
            const DominatorTreeNode::FoldedType& largest = node.folded_types.front();
            rest.type = area_text(TypeName{largest.name}, page_);
            rest.name = area_text(how_many_of(largest.name, largest.count), page_);
            if (count > largest.count)
                rest.name += area_text(says(" and {} more", Count{count - largest.count}), page_);
        }
        std::vector<Text> types;
        for (const DominatorTreeNode::FoldedType& one : node.folded_types)
            if (types.size() < most_types_of_rest) types.push_back(how_many_of(one.name, one.count));
        if (types.size() > 1)
            rest.types = area_text(joined(std::move(types), ", "), page_, longest_types_of_rest);
        area.below.push_back(std::move(rest));
    }

    const Page& page_;
};

/// A tree of stacks while they come, outermost frame first and each below the one before it.
struct TypeArea {
    std::string name;
    std::uint64_t own = 0, bytes = 0;
    std::vector<TypeArea> below;
};

std::uint64_t add_up(TypeArea& area) {
    area.bytes = area.own;
    for (TypeArea& child : area.below) area.bytes += add_up(child);
    return area.bytes;
}

/// Adds one tree to another, by names.
void merge(TypeArea& into, TypeArea&& other) {
    into.own += other.own;
    for (TypeArea& child : other.below) {
        const auto same = std::find_if(into.below.begin(), into.below.end(),
                                       [&](const TypeArea& one) { return one.name == child.name; });
        if (same == into.below.end())
            into.below.push_back(std::move(child));
        else
            merge(*same, std::move(child));
    }
}

/// Takes out the threads but the largest, and gives them as one area; how many they are.
std::pair<TypeArea, std::uint64_t> take_small_threads(
    TypeArea& top, const std::unordered_map<std::string, AreaNode::Kind>& kinds) {
    std::stable_sort(top.below.begin(), top.below.end(),
                     [](const TypeArea& a, const TypeArea& b) { return a.bytes > b.bytes; });
    std::pair<TypeArea, std::uint64_t> taken;
    std::vector<TypeArea> kept;
    std::size_t threads = 0;
    for (TypeArea& group : top.below) {
        const auto kind = kinds.find(group.name);
        if (kind == kinds.end() || kind->second != AreaNode::Kind::thread || ++threads <= children_of_one) {
            kept.push_back(std::move(group));
            continue;
        }
        merge(taken.first, std::move(group));
        ++taken.second;
    }
    top.below = std::move(kept);
    add_up(taken.first);
    return taken;
}

AreaNode area_of_type(const TypeArea& area, AreaNode::Kind kind, std::uint64_t least, const Page& page) {
    AreaNode made;
    made.kind = kind;
    made.name = area_text(Text(area.name), page);
    made.bytes = area.bytes;
    for (const TypeArea& child : area.below)
        if (child.bytes >= least) made.below.push_back(area_of_type(child, kind, least, page));
    std::stable_sort(made.below.begin(), made.below.end(),
                     [](const AreaNode& a, const AreaNode& b) { return a.bytes > b.bytes; });
    return made;
}

void collect_areas(const AreaNode& area, std::vector<std::uint64_t>& bytes) {
    bytes.push_back(area.bytes);
    for (const AreaNode& child : area.below) collect_areas(child, bytes);
}

/// `room`: how many of exactly `least` bytes may stay.
void drop_below(AreaNode& area, std::uint64_t least, std::size_t& room) {
    std::erase_if(area.below, [&](const AreaNode& child) {
        if (child.bytes != least) return child.bytes < least;
        if (room == 0) return true;
        --room;
        return false;
    });
    for (AreaNode& child : area.below) drop_below(child, least, room);
}

}  // namespace

const char* name_of(AreaNode::Kind kind) {
    constexpr const char* names[] = {"program", "package", "python", "thread",
                                     "native",  "garbage", "shared", "held"};
    return names[static_cast<std::size_t>(kind)];
}

DominatorsQuery query_for_areas(std::uint64_t total) {
    DominatorsQuery query;
    query.depth = levels_of_objects;
    query.limit = children_of_one;
    query.least = std::max<std::uint64_t>(total / parts_of_picture, 1);
    return query;
}

AreaNode areas_of_objects(const DominatorsResult& result, const Page& page) {
    const ObjectAreas areas(page);
    AreaNode top;
    top.name = "all objects";
    top.bytes = result.total;
    top.native = result.top.native;
    for (const DominatorNode& group : result.top.children)
        top.below.push_back(areas.of(
            group, group.node == result.top.node ? AreaNode::Kind::shared : kind_of_group(group.group_kind),
            1));
    areas.add_rest_of_top(result.top, top);
    std::stable_sort(top.below.begin(), top.below.end(),
                     [](const AreaNode& a, const AreaNode& b) { return a.bytes > b.bytes; });
    cut_areas(top, most_areas);
    return top;
}

AreaNode areas_of_types(const HeapGraph& graph, const RetainedSizes& sizes, const Page& page) {
    TypeArea top;
    visit_flame_stacks(graph, sizes, frames_of_types,
                       [&](std::span<const std::string> stack, std::uint64_t memory) {
                           TypeArea* at = &top;
                           for (const std::string& frame : stack) {
                               // Stacks come depth first, so a frame that is there already is the last one.
                               if (at->below.empty() || at->below.back().name != frame) {
                                   at->below.emplace_back();
                                   at->below.back().name = frame;
                               }
                               at = &at->below.back();
                           }
                           at->own += memory;
                       });
    add_up(top);
    std::unordered_map<std::string, AreaNode::Kind> kinds;
    for (const Group& group : graph.groups().all) kinds.emplace(group.name, kind_of_group(group.kind));
    const auto [rest, rest_count] = take_small_threads(top, kinds);
    AreaNode made;
    made.name = "all objects";
    made.bytes = top.bytes;
    const std::uint64_t least = std::max<std::uint64_t>(top.bytes / parts_of_picture, 1);
    for (const TypeArea& group : top.below) {
        const auto kind = kinds.find(group.name);
        if (group.bytes >= least)
            made.below.push_back(area_of_type(
                group, kind == kinds.end() ? AreaNode::Kind::shared : kind->second, least, page));
    }
    if (rest.bytes >= least && rest_count > 0) {
        made.below.push_back(area_of_type(rest, AreaNode::Kind::thread, least, page));
        made.below.back().name = area_text(how_many(rest_count, "more thread"), page);
    }
    std::stable_sort(made.below.begin(), made.below.end(),
                     [](const AreaNode& a, const AreaNode& b) { return a.bytes > b.bytes; });
    cut_areas(made, most_areas);
    return made;
}

void cut_areas(AreaNode& top, std::size_t most) {
    std::vector<std::uint64_t> bytes;
    collect_areas(top, bytes);
    if (bytes.size() <= most) return;
    std::nth_element(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(most) - 1, bytes.end(),
                     std::greater<>());
    const std::uint64_t least = bytes[most - 1];
    const auto larger = static_cast<std::size_t>(
        std::count_if(bytes.begin(), bytes.end(), [&](std::uint64_t one) { return one > least; }));
    std::size_t room = most - larger;
    drop_below(top, least, room);
}

std::size_t count_areas(const AreaNode& top) {
    std::size_t count = 1;
    for (const AreaNode& child : top.below) count += count_areas(child);
    return count;
}

}  // namespace heapsift
