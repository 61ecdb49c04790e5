#include "cli/render/export_pictures.h"

#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string node_line(const Picture& picture, std::size_t place, Redactor& redactor) {
    const PictureNode& node = picture.nodes[place];
    // objgraph's gradient: white for the nearest nodes, dark grey for the farthest; hue and saturation tell
    // what a node is.
    const double far = picture.deepest == 0 ? 0 : static_cast<double>(node.distance) / picture.deepest;
    double hue = 0, saturation = 0;
    const double value = 1 - 0.7 * far;
    if (node.module) {
        hue = 0.3;
        saturation = 1;
    } else if (node.kind != NodeKind::object) {
        hue = 0.6;
        saturation = 0.6;
    }
    std::string first = node.name, second = "retains " + binary_size(node.retained);
    if (node.kind == NodeKind::object) {
        const std::string shown = node.object.value.kind == ShortValue::Kind::none
                                      ? std::string()
                                      : " " + redactor.value(node.object.value, node.object.type);
        first = node.object.type + shown;
        second = fmt::format("{:#x}, {}", node.object.address.value, second);
    }
    if (node.left_out > 0) second += fmt::format(", {} more", grouped(node.left_out));
    std::string attributes = fmt::format("label={}, fillcolor=\"{:.3f} {:.3f} {:.3f}\"", label(first, second),
                                         hue, saturation, node.module ? std::max(value, 0.6) : value);
    if (picture.of_object && place == 0)
        attributes += ", fontcolor=red";
    else if (value < 0.5 && !node.module)
        attributes += ", fontcolor=white";
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
        "  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\", fontsize=10];\n"
        "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    for (std::size_t place = 0; place < picture.nodes.size(); ++place)
        text += node_line(picture, place, redactor);
    for (const PictureEdge& edge : picture.edges) text += edge_line(edge, redactor);
    return text + "}\n";
}

}  // namespace heapsift
