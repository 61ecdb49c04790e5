#include "cli/report/page.h"

#include "cli/json.h"
#include "cli/render/memory.h"
#include "cli/report/assets.h"
#include "cli/report/layout.h"
#include "cli/report/svg.h"
#include "cli/version.h"
#include "cli/write/html.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <array>

namespace heapsift {
namespace {

constexpr double still_width = 1200, still_row = 22, narrowest_still = 2;
constexpr std::size_t still_levels = 10, most_still_areas = 350;

void add_area_json(const AreaNode& area, int kind_above, std::string& json) {
    json += "{\"n\":";
    add_json_string(json, area.name);
    json += fmt::format(",\"v\":{}", area.bytes);
    const int kind = static_cast<int>(area.kind);
    if (kind != kind_above) json += fmt::format(",\"k\":{}", kind);
    const auto add = [&](const char* key, const std::string& text) {
        if (text.empty()) return;
        json += key;
        add_json_string(json, text);
    };
    add(",\"t\":", area.type);
    add(",\"x\":", area.expression);
    add(",\"a\":", area.address);
    add(",\"o\":", area.types);
    if (area.rest) json += ",\"r\":1";
    if (area.native > 0) json += fmt::format(",\"m\":{}", area.native);
    if (!area.below.empty()) {
        json += ",\"c\":[";
        for (const AreaNode& child : area.below) {
            if (&child != area.below.data()) json += ',';
            add_area_json(child, kind, json);
        }
        json += ']';
    }
    json += '}';
}

std::string section_html(const ReportSection& section, const Page& page) {
    std::string html =
        fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n", section.id,
                    escape_for_html(section.title));
    std::string lead = html_of(section.lead, page);
    if (!section.command.empty())
        lead += fmt::format("{}<code>{}</code>", lead.empty() ? "" : "  In a terminal: ",
                            escape_for_html(page.command(section.command)));
    if (!lead.empty()) html += "<p class=\"lead\">" + lead + "</p>\n";
    return html;
}

}  // namespace

std::string report_notes(const Diagnostics& notes, const Page& page) {
    if (notes.all().empty()) return {};
    std::string list = "<div class=\"warnings\"><p>What to know of these numbers:</p><ul>\n";
    for (const Diagnostic& note : notes.all())
        list +=
            "<li>" + escape_for_html(escape_for_terminal(page.redact().message(note.message))) + "</li>\n";
    return list + "</ul></div>\n";
}

std::string report_part(const std::vector<Block>& blocks, const Page& page, std::string_view caption) {
    std::string html;
    write_html(blocks, page, caption, [&](std::string_view part) { html += part; });
    return html;
}

std::string report_heading(const Text& text, const Page& page) {
    return "<h3>" + html_of(text, page) + "</h3>\n";
}

std::string memory_bar(const OverviewResult& result, const Page& page) {
    std::string html =
        "<svg class=\"whole\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\">"
        "<title>Where the memory is; the table below has the numbers</title>";
    double x = 0;
    for (const MemoryRow& row : result.memory) {
        if (row.bytes == 0 || row.use != MemoryUse::in_use || result.in_use_bytes == 0) continue;
        const double width =
            1000.0 * static_cast<double>(row.bytes) / static_cast<double>(result.in_use_bytes);
        html += fmt::format(
            R"(<rect class="c{}" x="{:.2f}" width="{:.2f}" height="10"><title>{}: {}</title></rect>)",
            colour_of(row.kind) - 1, x, width, escape_for_html(row.name), page.bytes(row.bytes));
        x += width;
    }
    return html + "</svg>\n";
}

std::string report_picture(const AreaNode& top, const Page& page) {
    constexpr std::array<std::pair<AreaNode::Kind, const char*>, 8> legend = {
        {{AreaNode::Kind::program, "the program's modules"},
         {AreaNode::Kind::package, "packages"},
         {AreaNode::Kind::python, "Python and its library"},
         {AreaNode::Kind::thread, "threads"},
         {AreaNode::Kind::native, "C and C++ code"},
         {AreaNode::Kind::garbage, "garbage"},
         {AreaNode::Kind::held, "held by what was not found"},
         {AreaNode::Kind::shared, "shared by several"}}};
    std::string html = "<ul class=\"legend\" aria-label=\"Colours\">";
    for (const auto& [kind, words] : legend)
        html += fmt::format(
            R"(<li><svg class="k-{}" viewBox="0 0 9 9" aria-hidden="true"><rect width="9" height="9"/></svg>{}</li>)",
            name_of(kind), words);
    AreaNode drawn = top;
    cut_areas(drawn, most_still_areas);
    const std::vector<PlacedArea> placed =
        icicle(drawn, still_width, still_row, still_levels, narrowest_still);
    std::size_t deepest = 0;
    for (const PlacedArea& at : placed) deepest = std::max(deepest, at.depth);
    return html + "</ul>\n<figure><div id=\"picture\">" +
           svg_of_areas(
               placed,
               {.width = still_width,
                .height = still_row * static_cast<double>(deepest + 1),
                .own_file = false,
                .title = "What retains what: each area is as wide as what it retains, and stands below what "
                         "keeps it alive"},
               page) +
           "</div></figure>\n";
}

std::string areas_json(const std::vector<std::pair<std::string, AreaNode>>& areas) {
    std::string json = "{";
    for (const auto& [name, top] : areas) {
        if (json.size() > 1) json += ',';
        add_json_string(json, name);
        json += ':';
        add_area_json(top, -1, json);
    }
    return json + "}";
}

void write_report(const ReportPage& report, const Page& page,
                  const std::function<void(std::string_view)>& write) {
    const PageAssets assets = page_assets();
    const auto write_part = [&](std::string_view mark) {
        if (mark == "STYLE") return write(assets.style);
        if (mark == "SCRIPT") return write(assets.script);
        if (mark == "STYLE_HASH") return write(base64_of_hexadecimal(assets.style_hash));
        if (mark == "SCRIPT_HASH") return write(base64_of_hexadecimal(assets.script_hash));
        if (mark == "VERSION") return write(escape_for_html(version()));
        if (mark == "TITLE") return write(escape_for_html(report.title));
        if (mark == "CONTENTS") {
            for (const ReportSection& section : report.sections)
                write(fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id,
                                  escape_for_html(section.title)));
            return;
        }
        if (mark == "DATA") {
            if (report.areas.empty()) return;
            write("<script type=\"application/json\" id=\"areas\">");
            write(escape_json_for_script(areas_json(report.areas)));
            return write("</script>\n");
        }
        for (const std::string& part : report.head) write(part);
        for (const ReportSection& section : report.sections) {
            write(section_html(section, page));
            for (const std::string& part : section.parts) write(part);
            write("</section>\n");
        }
    };
    std::string_view rest = assets.page;
    while (true) {
        const std::size_t begin = rest.find('@');
        write(rest.substr(0, begin));
        if (begin == std::string_view::npos) return;
        const std::size_t end = rest.find('@', begin + 1);
        write_part(rest.substr(begin + 1, end - begin - 1));
        rest.remove_prefix(end + 1);
    }
}

}  // namespace heapsift
