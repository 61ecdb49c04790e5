// What keeps one object alive: a sentence, the path, the expression to type.

#include "cli/render/why.h"

#include "cli/render/object.h"
#include "cli/render/path.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string heading(const WhyResult& result, const Page& page) {
    const std::string type = type_text(result.target.type),
                      address = hexadecimal(result.target.address.value);
    std::string value = value_text(result.target, page.redact());
    const std::size_t used = display_width(type) + display_width(address) + 4;
    if (page.width > 0) value = shortened_at_the_end(value, page.width > used ? page.width - used : 0);
    return bold(type, page.colour) + (value.empty() ? "" : "  " + value) + "  " + address + "\n";
}

std::string retains_text(const WhyResult& result, const Page& page) {
    std::string text = "It retains " + page.bytes(result.retained);
    const std::uint64_t own = result.target.facts.memory;
    if (result.retained > own) text += ", " + page.bytes(own) + " of that its own";
    return text;
}

const char* what_becomes_of(const std::optional<ObjectState>& state) {
    if (state == ObjectState::waiting) return "it waits for the collector";
    if (state == ObjectState::uncollectable) return "the collector found it and could not free it";
    return "the collector cannot see that: it is never freed";
}

std::string sentence(const WhyResult& result, const Page& page) {
    std::string text = retains_text(result, page) + ". ";
    if (result.reach == Reach::unreachable) {
        text +=
            "Nothing keeps it: no root reaches it, and " + std::string(what_becomes_of(result.target.state));
        if (result.references_counted > result.references_found)
            text += fmt::format(" ({} counted, {} found)", grouped(result.references_counted),
                                grouped(result.references_found));
        return text + ".";
    }
    const std::uint64_t others =
        result.referrers > result.paths.size() ? result.referrers - result.paths.size() : 0;
    if (result.referrers == 0 && result.immortal)
        return text + "No reference to it was found; it is immortal, and never freed.";
    if (result.referrers == 0)
        return text +
               fmt::format(
                   "No reference to it was found, and {} counted: native code has it, or it was leaked.",
                   result.references_counted == 1 ? "one is" : grouped(result.references_counted) + " are");
    text += counted(result.referrers, "reference holds it", "references hold it");
    if (result.paths.empty()) return text + "; no path is left without what --exclude leaves out.";
    text += result.paths.size() == 1 ? others == 0 ? ", found below" : ", the nearest of them below"
                                     : ", on these paths";
    if (!result.immortal && result.references_counted > result.references_found)
        text += fmt::format("; {} more {} counted, by what was not found",
                            grouped(result.references_counted - result.references_found),
                            result.references_counted - result.references_found == 1 ? "is" : "are");
    return text + ".";
}

std::string garbage_text(const WhyResult& result, std::size_t limit, const Page& page) {
    if (!result.cycle.empty())
        return "It keeps itself alive, by this cycle:\n" +
               steps_text(result.target, result.cycle, limit, page);
    if (result.from_cycle.empty()) return "Nothing refers to it either.\n";
    return "Other garbage refers to it:\n" +
           steps_text(result.from_cycle.front().edge.source, result.from_cycle, limit, page);
}

std::string why_text(const WhyResult& result, std::size_t limit, const Page& page) {
    std::string text = heading(result, page) + wrapped(sentence(result, page), page.width, 2) + "\n";
    if (result.reach == Reach::unreachable) return text + garbage_text(result, limit, page);
    for (const WhyPath& path : result.paths) {
        if (result.paths.size() > 1 && !path.disjoint)
            text += "\n  by objects that are on a path above as well:\n";
        text += path_text(path, limit, page);
    }
    if (result.paths.empty()) return text;
    const std::string expression = expression_of(result.paths.front().expression, page.redact());
    const std::string quoted =
        page.redact().active() ? hexadecimal(result.target.address.value) : shell_quoted(expression);
    if (!expression.starts_with("0x") && !page.redact().active())
        text += "in Python: " + escape_for_terminal(expression) + "\n";
    if (result.referrers > result.paths.size())
        return text + next_line(page, "why " + quoted + " --paths 3", "by other referrers");
    return text + next_line(page, "show " + quoted);
}

}  // namespace

Answer render_why(const WhyResult& result, std::size_t limit, Redactor& redactor) {
    Answer answer;
    answer.command = "why";
    answer.data["target"] = object_json(result.target, redactor);
    answer.data["reachable"] = result.reach != Reach::unreachable;
    answer.data["group"] = result.group;
    answer.data["referrers"] = result.referrers;
    answer.data["paths"] = Json::array();
    for (const WhyPath& path : result.paths) answer.data["paths"].push_back(path_json(path, redactor));
    if (result.reach == Reach::unreachable) {
        answer.data["cycle"] = steps_json(result.cycle, redactor);
        answer.data["from"] = steps_json(result.from_cycle, redactor);
    }
    answer.text = [&result, limit](const Page& page) { return why_text(result, limit, page); };
    return answer;
}

}  // namespace heapsift
