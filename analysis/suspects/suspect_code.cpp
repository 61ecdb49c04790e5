// What a person changes is a line. For a container that is where it is filled, by the names that lead to it, and where
// the program makes what it has most of; for what a library makes, where it is called; for garbage, where the cycle is
// tied, or where the collector was told not to look; for blocks of C code, where the function is called that made them,
// as far as that goes through ctypes.

#include "analysis/suspects/suspect_code.h"

#include "analysis/suspects/collector_calls.h"
#include "analysis/suspects/content_attributes.h"
#include "analysis/suspects/foreign_functions.h"
#include "analysis/suspects/names_in_source.h"
#include "analysis/suspects/tied_in.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_places_of_suspect = 64, most_steps_of_cycle = 16;

/// "tails" of "tails[*].x".
std::string identifier_of(const std::string& attribute) {
    return attribute.substr(0, attribute.find_first_of(".["));
}

/// Those of `first`, and then the others.
CodePlaces both(CodePlaces first, CodePlaces second) {
    const std::uint64_t all = std::max(first.places.size() + first.more, second.places.size() + second.more);
    for (SourcePlace& place : second.places)
        if (std::find(first.places.begin(), first.places.end(), place) == first.places.end())
            first.places.push_back(std::move(place));
    if (first.places.size() > most_places_of_suspect) first.places.resize(most_places_of_suspect);
    first.filling = std::min(first.filling, first.places.size());
    first.more = all - std::min<std::uint64_t>(all, first.places.size());
    return first;
}

class SuspectCode {
public:
    SuspectCode(Work& work, const OverviewResult& overview, const CodeThatNames& code)
        : overview_(overview),
          code_(code),
          retained_(work.graph(), work.retained()),
          answers_(work.answers()) {}

    void add(Suspect& suspect) const {
        switch (suspect.kind) {
            case Suspect::Kind::garbage:
                return add_to_garbage(suspect, overview_.garbage_reason);
            case Suspect::Kind::garbage_list:
                return add_to_garbage(suspect, overview_.garbage_list_reason);
            case Suspect::Kind::native:
                return add_to_native(suspect);
            case Suspect::Kind::pinned:
                return take(suspect, code_.of(names_of_pinned(), most_places_of_suspect));
            case Suspect::Kind::holder:
                return add_to_holder(suspect);
            case Suspect::Kind::free_memory:
                return;
        }
    }

private:
    static void take(Suspect& suspect, CodePlaces found) {
        suspect.used_in = std::move(found.places);
        suspect.more_used_in = found.more;
        suspect.filled_in = found.filling;
        suspect.set_in_first = found.sets;
    }

    void add_to_garbage(Suspect& suspect, const std::optional<CycleReason>& reason) const {
        if (reason)
            if (const std::string call = call_behind(reason->kind); !call.empty()) {
                take(suspect, code_.that_call({call}, "gc", most_places_of_suspect));
                if (!suspect.used_in.empty()) suspect.calls = "gc." + call + "()";
            }
        if (suspect.kind != Suspect::Kind::garbage || overview_.garbage_example == no_object) return;
        suspect.tied_in =
            tied_in(retained_.graph().heap(), code_,
                    cycle_through(retained_.graph(), overview_.garbage_example, most_steps_of_cycle));
    }

    void add_to_native(Suspect& suspect) const {
        const ForeignCalls calls =
            foreign_calls(retained_.graph().heap(), code_, overview_.culprit->module, most_places_of_suspect);
        take(suspect, calls.in);
        if (!suspect.used_in.empty()) suspect.calls = calls.words;
    }

    std::vector<NameInSource> names_of_pinned() const {
        const ArrayHolderRow& row = *overview_.pinned;
        if (row.local.empty()) return {{.text = identifier_of(row.attribute)}};
        if (row.begins_at == no_object) return {};
        const Root& root = cheapest_root(retained_.graph(), row.begins_at).root;
        if (root.frame < 0) return {};
        return {{.kind = NameInSource::Kind::local,
                 .text = row.local,
                 .filled_within = row.attribute != row.local,
                 .code = retained_.graph().frame({root.thread, root.frame}).code}};
    }

    void add_to_holder(Suspect& suspect) const {
        const Scene scene(retained_, *suspect.holder, answers_);
        const std::vector<NameInSource> names = names_in_source(scene);
        const Cause& cause = suspect.cause;
        suspect.made_here = names.empty() && !cause.made_by.empty();
        take(suspect, suspect.made_here
                          ? code_.that_make(cause.made_by, cause.made_of, most_places_of_suspect)
                          : code_.of(names, most_places_of_suspect));
        const Cause::AttributeOfEach& part = cause.grows_in;
        if (!part.name.empty()) {  // what each of few keeps, before what keeps these
            CodePlaces places = code_.of({{.text = part.name,
                                           .of_class = part.of_classes.front().name,
                                           .of_file = part.of_classes.front().file,
                                           .of_classes = part.of_classes}},
                                         most_places_of_suspect);
            take(suspect, both(std::move(places), {suspect.used_in, suspect.more_used_in}));
        }
        if (suspect.used_in.empty() && !suspect.made_here && !cause.made_by.empty()) {
            suspect.made_here = true;  // its name is of the library's own code
            take(suspect, code_.that_make(cause.made_by, cause.made_of, most_places_of_suspect));
        }
        suspect.content_calls = content_calls(scene, suspect);
        if (!part.name.empty()) return;
        suspect.set_later = attributes_set_later(retained_, scene, code_);
        if (suspect.set_later && !cause.fix.empty())
            suspect.cause.fix =
                "take these attributes off again when they are done with; or " + suspect.cause.fix;
    }

    /// Of the class of which it has most.
    std::optional<ContentCalls> content_calls(const Scene& scene, const Suspect& suspect) const {
        constexpr std::size_t most_callers = 8;  // by more, nothing is told
        const TypeId type = scene.holder().content;
        const TypeTable& types = scene.heap().snapshot().types;
        if (suspect.made_here || type == no_type || !types[type].python_class) return std::nullopt;
        const std::string name = last_name_of(types[type].name);
        if (!is_identifier(name)) return std::nullopt;
        std::vector<SourcePlace> places = code_.callers_of(NamesOfClass(scene.heap(), type));
        if (places.empty() || places.size() > most_callers) return std::nullopt;
        const bool said = std::all_of(places.begin(), places.end(), [&](const SourcePlace& place) {
            return std::find(suspect.used_in.begin(), suspect.used_in.end(), place) != suspect.used_in.end();
        });
        if (said) return std::nullopt;
        return ContentCalls{name + "()", std::move(places)};
    }

    const OverviewResult& overview_;
    const CodeThatNames& code_;
    const RetainedLookup retained_;
    KeptAnswers* const answers_;
};

}  // namespace

void add_code(Work& work, const OverviewResult& overview, const CodeThatNames& code,
              std::vector<Suspect>& suspects) {
    const SuspectCode search(work, overview, code);
    for (Suspect& suspect : suspects) search.add(suspect);
}

}  // namespace heapsift
