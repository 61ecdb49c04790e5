#include "cli/report/svg.h"

#include "cli/render/native_end.h"
#include "cli/render/object.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "cli/write/html.h"
#include "cli/write/spans.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr double picture_width = 1200, picture_height = 700, picture_row = 22;
constexpr double narrowest_area = 3, smallest_square = 5;
constexpr std::size_t icicle_levels = 16, treemap_levels = 8;
constexpr std::size_t most_drawn_areas = 500;
constexpr double letter_width = 6.3;  // of 11 pixels, on average
constexpr double text_margin = 4, text_baseline = 15;

/// The colours of a file of its own; in a page, page.css has the same names.
constexpr std::string_view svg_style = R"(<style>
svg{font:11px system-ui,sans-serif;background:#fff;color:#1a1a1a}
text{fill:#1a1a1a}rect{stroke:#fff;stroke-width:1}
.k-program rect{fill:#f6b26b}.k-package rect{fill:#a8d08d}.k-python rect{fill:#b4c7e7}.k-thread rect{fill:#ffd966}
.k-native rect{fill:#d5b8ea}.k-garbage rect{fill:#e99999}.k-shared rect{fill:#c9c9c9}.k-held rect{fill:#dfc4b0}
.odd rect{fill-opacity:.72}.box rect{fill:#eef3fb;stroke:#5b7db1}.asked rect{fill:#fff2cc;stroke:#bf9000}
.edge{fill:none;stroke:#666}.ref{font-family:ui-monospace,monospace;fill:#444}.dim{fill:#555}
@media(prefers-color-scheme:dark){svg{background:#161a20}text{fill:#e8e8e8}rect{stroke:#161a20}
.k-program rect{fill:#9a5b1c}.k-package rect{fill:#3f6b2a}.k-python rect{fill:#33568f}.k-thread rect{fill:#7d6208}
.k-native rect{fill:#6b4488}.k-garbage rect{fill:#8c3232}.k-shared rect{fill:#555}.k-held rect{fill:#6e513c}
.box rect{fill:#1f2a3a}.asked rect{fill:#4a3c10}.ref,.dim{fill:#bbb}}
</style>
)";

std::string svg_head(double width, double height, bool own_file, std::string_view title) {
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}"{} role="img"><title>{}</title>)"
        "\n{}",
        width, height, own_file ? fmt::format(R"( width="{:.0f}" height="{:.0f}")", width, height) : "",
        escape_for_html(title), own_file ? svg_style : "");
}

/// What stands on an area: its name, and its bytes if there is room; nothing where fewer than three letters fit.
std::string area_label(const PlacedArea& at, const Page& page) {
    const double room = (at.width - 2 * text_margin) / letter_width;
    if (room < 3 || at.height < text_baseline || at.covered) return {};
    const auto letters = static_cast<std::size_t>(room);
    const std::string whole = at.area->name + "  " + page.bytes(at.area->bytes);
    return display_width(whole) <= letters ? whole : shortened_at_the_end(at.area->name, letters);
}

std::string area_title(const AreaNode& area, const Page& page) {
    std::string words = area.name + "\n" + page.about(page.bytes(area.bytes));
    if (area.native > 0 && area.native < area.bytes)
        words += ", " + page.bytes(area.native) + " of it native";
    if (!area.expression.empty()) words += "\n" + area.expression;
    return words;
}

/// A tree of fewer areas, which are those that are drawn; its places refer to it.
AreaNode cut_to_draw(AreaNode top) {
    cut_areas(top, most_drawn_areas);
    return top;
}

/// A box of a chain: the reference that leads to it, and what it is.
struct ChainLink {
    std::string reference, words, detail;
    bool asked = false;
};

constexpr double chain_width = 900, box_left = 40, box_height = 40, box_step = 74;
constexpr std::size_t most_links = 60;

std::string chain_text(const Text& text, const Page& page, std::size_t longest) {
    return escape_for_html(shortened_at_the_end(plain(text, page), longest));
}

std::string svg_of_chain(std::vector<ChainLink> links, bool closed, std::string_view title) {
    if (links.size() > most_links) {
        const std::size_t more = links.size() - most_links;
        links.erase(links.begin() + most_links / 2, links.end() - most_links / 2);
        links[most_links / 2].reference = fmt::format("… {} more", more);
    }
    const double height = 20 + box_step * static_cast<double>(links.size()) + (closed ? 20 : 0);
    std::string svg = svg_head(chain_width, height, true, title);
    double y = 20;
    const double width = chain_width - 2 * box_left - 40;
    for (std::size_t i = 0; i < links.size(); ++i, y += box_step) {
        const ChainLink& link = links[i];
        const bool first = i == 0;
        if (!first)
            svg += fmt::format(R"(<path class="edge" d="M{0} {1}V{2}l-4 -7h8l-4 7"/>)", box_left + 20,
                               y - box_step + box_height, y - 1);
        if (!first || !closed)
            svg += fmt::format(R"(<text class="ref" x="{}" y="{}">{}</text>)", box_left + (first ? 0 : 32),
                               y - 13, first ? "" : link.reference);
        svg += fmt::format(
            R"(<g class="{}"><title>{}</title><rect x="{}" y="{}" width="{}" height="{}" rx="4"/>)"
            R"(<text x="{}" y="{}">{}</text><text class="dim" x="{}" y="{}">{}</text></g>)"
            "\n",
            link.asked ? "asked" : "box", link.words, box_left, y, width, box_height, box_left + 10, y + 17,
            link.words, box_left + 10, y + 33, link.detail);
    }
    if (closed && !links.empty()) {
        const double right = box_left + width, bottom = y - box_step + box_height / 2,
                     top = 20 + box_height / 2;
        svg += fmt::format(
            R"(<path class="edge" d="M{0} {1}h20V{2}h-19l7 -4v8l-7 -4"/><text class="ref" x="{3}" y="{4}">{5}</text>)",
            right, bottom, top, box_left, y - box_step + box_height + 18, "↑ " + links.front().reference);
    }
    return svg + "</svg>\n";
}

ChainLink object_link(const ObjectRow& object, Text reference, std::uint64_t retained,
                      const std::string& remark, const Page& page) {
    Text detail = says("{}  ", object.address);
    if (retained > 0) detail += says("retains {}", ByteCount{retained});
    if (!remark.empty()) detail += "  " + Text(remark);
    return {chain_text(reference, page, 110), chain_text(typed_value(object), page, 120),
            chain_text(detail, page, 120), false};
}

/// The objects of a path with the lines that a person reads of it.
template <class At>
std::vector<ChainLink> links_of_lines(const std::vector<PathLine>& lines, const std::vector<WhyBlock>& blocks,
                                      const Page& page, const At& at) {
    std::vector<ChainLink> links;
    Text before;  // what was folded on the way
    for (const PathLine& line : lines) {
        std::vector<Text> names;
        for (const ReferenceStep& name : line.names) names.emplace_back(Notation{name, line.without_dot});
        Text words = joined(std::move(names), "");
        if (line.kind == PathLine::Kind::more || line.kind == PathLine::Kind::left_out) {
            before = line.kind == PathLine::Kind::more ? says("× {} more {}  ", Count{line.count}, words)
                                                       : says("… {} more steps  ", Count{line.count});
            continue;
        }
        words = std::exchange(before, {}) + words;
        if (line.kind == PathLine::Kind::block) {
            const WhyBlock& block = blocks[line.place];
            links.push_back(
                {chain_text(words, page, 110), chain_text(end_words(block.block), page, 120),
                 chain_text(says("{}  retains {}", block.block.address, ByteCount{block.retained}), page,
                            120),
                 false});
            continue;
        }
        links.push_back(at(line.place, std::move(words)));
    }
    return links;
}

}  // namespace

std::string svg_of_areas(const std::vector<PlacedArea>& placed, const SvgRules& rules, const Page& page) {
    std::string svg = svg_head(rules.width, rules.height, rules.own_file, rules.title);
    for (const PlacedArea& at : placed) {
        svg += fmt::format(
            R"(<g class="k-{}{}"><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
            name_of(at.area->kind), at.depth % 2 == 1 ? " odd" : "",
            escape_for_html(area_title(*at.area, page)), at.x, at.y, at.width, at.height);
        if (const std::string label = area_label(at, page); !label.empty())
            svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", at.x + text_margin,
                               at.y + text_baseline, escape_for_html(label));
        svg += "</g>\n";
    }
    return svg + "</svg>\n";
}

std::string svg_icicle(const AreaNode& top, std::string_view title, const Page& page) {
    const AreaNode drawn = cut_to_draw(top);
    const std::vector<PlacedArea> placed =
        icicle(drawn, picture_width, picture_row, icicle_levels, narrowest_area);
    std::size_t deepest = 0;
    for (const PlacedArea& at : placed) deepest = std::max(deepest, at.depth);
    const double height = picture_row * static_cast<double>(deepest + 1);
    return svg_of_areas(placed, {.width = picture_width, .height = height, .title = title}, page);
}

std::string svg_treemap(const AreaNode& top, std::string_view title, const Page& page) {
    const AreaNode drawn = cut_to_draw(top);
    return svg_of_areas(
        treemap(drawn, picture_width, picture_height, text_baseline + 3, treemap_levels, smallest_square),
        {.width = picture_width, .height = picture_height, .title = title}, page);
}

std::string svg_of_path(const WhyResult& result, const Page& page) {
    const std::string title = "what keeps " + plain(typed_value(result.target), page) + " alive";
    if (result.paths.empty()) {
        const bool in_cycle = !result.cycle.empty();
        const std::vector<WhyStep>& steps = in_cycle ? result.cycle : result.from_cycle;
        const ObjectRow& start = steps.empty() || in_cycle ? result.target : steps.front().edge.source;
        std::vector<ChainLink> links{
            object_link(start, {}, 0, in_cycle ? "garbage" : "garbage that nothing else holds", page)};
        for (const WhyStep& step : steps)
            links.push_back(object_link(step.edge.target, Notation{step.edge.reference.step}, step.retained,
                                        step.remark, page));
        if (in_cycle && links.size() > 1) {  // its last object is the first
            links.front().reference = links.back().reference;
            links.pop_back();
        }
        (in_cycle ? links.front() : links.back()).asked = true;
        return svg_of_chain(std::move(links), in_cycle, title);
    }
    const WhyPath& path = result.paths.front();
    std::vector<ChainLink> links =
        links_of_lines(path.lines, path.blocks, page, [&](std::size_t place, Text words) {
            if (place == 0) return object_link(path.at_root, std::move(words), path.root_retained, {}, page);
            const WhyStep& step = path.steps[place - 1];
            return object_link(step.edge.target, std::move(words), step.retained, step.remark, page);
        });
    if (!links.empty()) links.back().asked = true;
    links.insert(links.begin(),
                 {"", chain_text(path.root_words, page, 120), chain_text(path.group, page, 120), false});
    return svg_of_chain(std::move(links), false, title);
}

std::string svg_of_cycle(const CycleRow& cycle, const Page& page) {
    std::vector<ChainLink> links;
    const std::vector<CycleStep>& steps = cycle.path.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        // A step has the name by which its object refers to the next; the last one's leads back.
        const CycleStep& before = steps[(i + steps.size() - 1) % steps.size()];
        links.push_back({chain_text(Notation{before.name}, page, 110),
                         chain_text(TypeName{steps[i].type}, page, 120), "", false});
    }
    if (cycle.path.cut && !links.empty()) links.front().reference = "…";
    return svg_of_chain(std::move(links), true,
                        fmt::format("cycle {}: {}", cycle.cycle.id, counted(cycle.cycle.count, "object")));
}

}  // namespace heapsift
