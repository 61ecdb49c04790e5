// What keeps one object alive: a sentence, the path, the expression to type.

#include "cli/render/why.h"

#include "cli/render/object.h"
#include "cli/render/path.h"

namespace heapsift {
namespace {

constexpr std::uint64_t worth_going_down = 4;  // times what is its own

Text heading(const WhyResult& result) {
    Text text = Text(TypeName{result.target.type}).bold();
    if (const Value value = value_of(result.target); !value.empty()) text += "  " + Text(value).giving_way();
    return text + "  " + result.target.address;
}

/// "21.4 MiB (40.9 KiB is its own)"
Text retained_words(const WhyResult& result) {
    Text text = ByteCount{result.retained};
    const std::uint64_t own = result.target.facts.memory;
    if (result.retained > own) text += says(" ({} is its own)", ByteCount{own});
    return text;
}

const char* what_becomes_of(const std::optional<ObjectState>& state) {
    if (state == ObjectState::waiting) return "it waits for the collector";
    if (state == ObjectState::uncollectable) return "the collector found it and could not free it";
    return "the collector cannot see that: it is never freed";
}

Text no_reference_words(const WhyResult& result) {
    if (result.immortal) return "No reference to it was found; it is immortal and never freed.";
    return says(
        "No reference to it was found, but {} counted: native code holds it, or it was leaked.",
        result.references_counted == 1 ? Text("one is") : says("{} are", Count{result.references_counted}));
}

Text referrers_words(const WhyResult& result) {
    const bool one = result.referrers == 1;
    Text text = (one ? Text("One reference") : says("{} references", Count{result.referrers})) +
                (one ? " keeps it alive" : " keep it alive");
    if (!result.immortal && result.references_counted > result.references_found) {
        const std::uint64_t more = result.references_counted - result.references_found;
        text += more == 1 ? Text(", and 1 more is counted, whose holder was not found")
                          : says(", and {} more are counted, whose holders were not found", Count{more});
    }
    if (result.paths.empty()) return text + "; without what --exclude leaves out there is no path.";
    if (result.paths.size() > 1) return text + ", on these paths:";
    return text + (one ? ":" : "; the shortest path:");
}

Text why_sentence(const WhyResult& result) {
    if (result.reach == Reach::unreachable) {
        Text text = says("It is garbage, {}: nothing reaches it, and {}", retained_words(result),
                         what_becomes_of(result.target.state));
        if (result.references_counted > result.references_found)
            text += says(" ({} counted, {} found)", Count{result.references_counted},
                         Count{result.references_found});
        return text + ".";
    }
    return says("Deleting it would free {}. {}", retained_words(result),
                result.referrers == 0 ? no_reference_words(result) : referrers_words(result));
}

void say_garbage(const WhyResult& result, Document& document) {
    if (!result.cycle.empty()) {
        document.say(line("It keeps itself alive, by this cycle:"));
        document.say(steps_table(result.target, result.cycle, result.garbage_lines));
    } else if (!result.from_cycle.empty()) {
        document.say(line("Other garbage refers to it:"));
        document.say(
            steps_table(result.from_cycle.front().edge.source, result.from_cycle, result.garbage_lines));
    } else {
        document.say(line("Nothing refers to it either."));
    }
}

void say_paths(const WhyResult& result, Document& document) {
    for (const WhyPath& path : result.paths) {
        if (result.paths.size() > 1 && !path.disjoint) {
            document.say(gap());
            document.say(line("by objects that are on a path above as well:", 1));
        }
        say_path(path, document);
    }
    if (result.paths.empty()) return;
    const PathExpression& path = result.paths.front().expression;
    const Target target{expression_of(path), result.target.address};
    if (!path.from_address)
        document.say({Paragraph{
            .text = says("in Python: {}", target.expression), .tail = {}, .broken = false, .secret = true}});
    if (result.referrers > result.paths.size() && result.asked_paths == 1)
        document.say(hint(says("why {} --paths 3", target), "the paths through other referrers"));
    else if (result.retained / worth_going_down >= result.target.facts.memory)
        document.say(hint(says("dominators {}", target), "what of it has most"));
    else
        document.say(hint(says("show {}", target)));
}

}  // namespace

Document render_why(const WhyResult& result) {
    Document document{.command = "why"};
    Datum& data = document.data;
    data["target"] = object_data(result.target);
    data["reachable"] = result.reach != Reach::unreachable;
    data["group"] = result.group;
    data["referrers"] = result.referrers;
    data["paths"] = Datum::list_of(result.paths, path_data);
    if (result.reach == Reach::unreachable) {
        data["cycle"] = steps_data(result.cycle);
        data["from"] = steps_data(result.from_cycle);
    }
    document.say(line(heading(result)));
    document.say(sentence(why_sentence(result)));
    if (result.reach == Reach::unreachable)
        say_garbage(result, document);
    else
        say_paths(result, document);
    return document;
}

}  // namespace heapsift
