#include "cli/render/export_pictures.h"

#include "cli/render/object.h"
#include "cli/units.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heapsift {
namespace {

/// A frame of a folded stack. A semicolon would begin the next frame, so it is replaced.
std::string folded_frame(const std::string& name) {
    std::string text = escape_for_terminal(name);
    std::replace(text.begin(), text.end(), ';', ',');
    return text;
}

/// Text between DOT's quotes, where a backslash begins an escape.
std::string quoted_label(const std::string& text) {
    std::string result = "\"";
    for (const char c : escape_for_terminal(text)) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

/// One or two lines; the line break is an escape of DOT.
std::string label(const std::string& first, const std::string& second) {
    std::string text = quoted_label(first);
    if (second.empty()) return text;
    text.pop_back();
    return text + "\\n" + quoted_label(second).substr(1);
}

/// Light, so that text is read on it, and in print.
const char* fill_colour(const Picture& picture, std::size_t place) {
    const PictureNode& node = picture.nodes[place];
    if (picture.of_object && place == 0) return "#fff2cc";
    if (node.module) return "#d9ead3";
    return node.kind == NodeKind::object ? "#f3f6fa" : "#d6e4f7";
}

/// `largest`: bytes that the largest node retains. A node's area is its share of that, but for what its label needs.
std::string node_line(const Picture& picture, std::size_t place, std::uint64_t largest, Redactor& redactor) {
    const PictureNode& node = picture.nodes[place];
    constexpr double widest = 4, highest = 2.4;  // inches
    const double side =
        largest == 0
            ? 0
            : std::sqrt(std::min(1.0, static_cast<double>(node.retained) / static_cast<double>(largest)));
    std::string first = node.name, second = "retains " + binary_size(node.retained);
    if (node.kind == NodeKind::object) {
        first = plain(typed_value(node.object), redactor);
        second = fmt::format("{:#x}, {}", node.object.address.value, second);
    }
    if (node.left_out > 0) second += fmt::format(", {} more", grouped(node.left_out));
    const std::string attributes =
        fmt::format("label={}, fillcolor=\"{}\", width=\"{:.2f}\", height=\"{:.2f}\"", label(first, second),
                    fill_colour(picture, place), widest * side, highest * side);
    return fmt::format("  n{} [{}];\n", place, attributes);
}

std::string edge_line(const PictureEdge& edge, Redactor& redactor) {
    std::string name = redactor.reference_name(edge.name);
    if (edge.more > 0) name += fmt::format(" and {} more", grouped(edge.more));
    const std::string attributes = name.empty() ? std::string() : " [label=" + quoted_label(name) + "]";
    return fmt::format("  n{} -> n{}{};\n", edge.source, edge.target, attributes);
}

}  // namespace

std::uint64_t write_folded(const HeapGraph& graph, const RetainedSizes& retained, std::size_t depth,
                           const std::function<void(std::string_view)>& write) {
    std::uint64_t lines = 0;
    visit_flame_stacks(graph, retained, depth, [&](std::span<const std::string> stack, std::uint64_t memory) {
        std::string line;
        for (const std::string& frame : stack) line += (line.empty() ? "" : ";") + folded_frame(frame);
        write(line + fmt::format(" {}\n", memory));
        ++lines;
    });
    return lines;
}

std::string dot_text(const Picture& picture, Redactor& redactor) {
    std::string text =
        "digraph heap {\n"
        "  graph [rankdir=LR, bgcolor=white, nodesep=0.12, ranksep=0.6];\n"
        "  node [shape=box, style=\"filled,rounded\", color=\"#8a97a8\", fontcolor=\"#1b1f24\", "
        "fontname=\"sans-serif\", fontsize=10];\n"
        "  edge [color=\"#8a97a8\", fontcolor=\"#4b5563\", arrowsize=0.6, fontname=\"sans-serif\", "
        "fontsize=9];\n";
    std::uint64_t largest = 0;
    for (const PictureNode& node : picture.nodes)
        if (node.kind != NodeKind::root) largest = std::max(largest, node.retained);
    for (std::size_t place = 0; place < picture.nodes.size(); ++place)
        text += node_line(picture, place, largest, redactor);
    for (const PictureEdge& edge : picture.edges) text += edge_line(edge, redactor);
    return text + "}\n";
}

}  // namespace heapsift
