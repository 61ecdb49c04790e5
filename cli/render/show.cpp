// One object: a heading, a few lines of facts, and the two lists of references.

#include "cli/render/show.h"

#include "cli/render/edges.h"
#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

std::string sizes_text(const ObjectFacts& facts, const Page& page) {
    std::string text = page.at_least("memory " + page.bytes(facts.memory));
    if (facts.array_data > 0) text += fmt::format(", of it array data {}", page.bytes(facts.array_data));
    text += fmt::format("; size {}{}", page.bytes(facts.size),
                        facts.size_is_certain ? "" : " (how it measures itself is not known)");
    if (facts.block_size > 0) text += fmt::format("; its block has {}", page.bytes(facts.block_size));
    if (facts.memory == 0 && facts.block_size == 0) text += "; not allocated: part of a module's data";
    return text;
}

// "3: all of them are listed below", and what it means where the sums differ.
std::string references_text(const ShowResult& result) {
    const ObjectFacts& facts = result.object.facts;
    const std::string found = fmt::format("{} found", grouped_signed(result.referrers.owned));
    if (facts.immortal) return "immortal: not counted; " + found;
    if (facts.refcount == result.referrers.owned)
        return counted(static_cast<std::uint64_t>(facts.refcount), "reference") + ", all found";
    const std::string count = fmt::format("{} counted, {}", grouped_signed(facts.refcount), found);
    if (facts.refcount < result.referrers.owned)
        return count + ": more than Python counted, so one of those found is not held";
    const std::string rest = grouped_signed(facts.refcount - result.referrers.owned);
    return fmt::format("{}; {} held by running code, by native code{}", count, rest,
                       result.referrers.guesses ? ", or by the guesses below" : ", or leaked");
}

// What goes with it, and who has it.
std::string retained_text(const ShowResult& result, const Page& page) {
    std::string text = page.bytes(result.object.retained.value_or(0));
    if (result.object.state == ObjectState::held)
        return text + "; held by what was not found: native code, or a leak";
    if (result.object.state == ObjectState::waiting) return text + "; garbage: it waits for the collector";
    if (result.object.state == ObjectState::uncollectable)
        return text + "; garbage that the collector found and did not free";
    if (result.object.state == ObjectState::invisible)
        return text + "; garbage that is never freed: the collector cannot see what holds it";
    if (!result.dominator) return text + "; held by: " + escape_for_terminal(result.group);
    const std::string value = value_text(*result.dominator, page.redact());
    text += fmt::format("; held by the {} at {}", type_text(result.dominator->type),
                        hexadecimal(result.dominator->address.value));
    return text + (value.empty() ? "" : " (" + value + ")") + ", in: " + escape_for_terminal(result.group);
}

std::string facts_text(const ShowResult& result, const Page& page) {
    using Align = TableColumn::Align;
    const ObjectFacts& facts = result.object.facts;
    Table table({{Align::left, ""}, {Align::left, "", TableColumn::Fit::wrap}});
    table.add({"address", hexadecimal(result.object.address.value)});
    table.add({"bytes", sizes_text(facts, page)});
    table.add({"retains", retained_text(result, page)});
    table.add({"references", references_text(result)});
    table.add({"collector", facts.gc_tracked ? "tracked" : "not tracked"});
    table.add({"found", result.found_by});
    if (facts.not_saved > 0)
        table.add({"note", page.bytes(facts.not_saved) +
                               " of its data were not saved in the core; they are counted by their size"});
    if (facts.damaged)
        table.add(
            {"note",
             "it does not read: its lengths or its count cannot be true; only what can be there is counted"});
    if (!facts.references_exact)
        table.add({"note", "what it refers to is guessed: no way is known to read this type"});
    return table.text(page.width, page.colour);
}

std::string show_text(const ShowResult& result, const Page& page) {
    const std::string value = value_text(result.object, page.redact());
    const std::string type = type_text(result.object.type);
    const std::size_t used = display_width(type) + 2;
    const std::size_t left = page.width == 0     ? display_width(value)
                             : page.width > used ? page.width - used
                                                 : 0;
    std::string text =
        bold(type, page.colour) + (value.empty() ? "" : "  " + shortened_at_the_end(value, left)) + "\n";
    text += facts_text(result, page);
    text += referents_text(result.referents, page) + referrers_text(result.referrers, page);
    return text +
           next_line(page, "why " + hexadecimal(result.object.address.value), "the path that keeps it alive");
}

}  // namespace

Answer render_show(const ShowResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "show";
    Json& data = answer.data;
    data = object_json(result.object, redactor);
    data["block_size"] = result.object.facts.block_size;
    data["retained_size"] = result.retained_size;
    data["group"] = result.group;
    data["accounted"] = result.referrers.owned;
    data["found"] = result.found_by;
    data["referents"] = edges_json(result.referents.edges, redactor);
    data["referrers"] = edges_json(result.referrers.edges, redactor);
    data["dominator"] = result.dominator ? object_json(*result.dominator, redactor) : Json(nullptr);
    data["total"] = {{"referents", result.referents.total}, {"referrers", result.referrers.total}};
    answer.text = [&result](const Page& page) { return show_text(result, page); };
    return answer;
}

}  // namespace heapsift
