// Exceptions. One that was caught and stored keeps its traceback, the traceback the frames of all calls from where
// it was caught to where it was raised, and these their locals.

#include "analysis/suspects/rules.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr const char* drop_frames = "keep str(error), or error.with_traceback(None)";

/// " raised in load(), app.py:12".
std::string raised_words(const RaisedIn& raised) {
    return raised.place.known() ? " raised in " + words_of(raised.place) : std::string();
}

/// What of the memory of exceptions hangs on their tracebacks, and on the errors that they were raised from.
struct Shares {
    std::uint64_t all = 0, traceback = 0, context = 0;
};

Shares shares_of(const Scene& scene) {
    const auto& l = scene.python().layout().exception;
    const HeapSnapshot& columns = scene.heap().snapshot();
    Shares shares;
    for (const ObjectId exception : scene.sample()) {
        const ObjectReader reader = scene.read(exception);
        const auto below = [&](LayoutOffset field) {
            const ObjectId part = field.present() ? columns.find(reader.pointer(field)) : no_object;
            return part != no_object && scene.dominates(exception, part) ? scene.retained(part) : 0;
        };
        shares.all += scene.retained(exception);
        shares.traceback += below(l.traceback);
        // One that is both context and cause is in one field's sum already.
        shares.context += std::max(below(l.context), below(l.cause));
    }
    return shares;
}

/// " of ingest()", if that frame is not the one that raised.
std::string of_another_call(const Scene& scene, ObjectId frame, ObjectId raised) {
    if (frame == no_object || frame == raised) return {};
    const SourcePlace place = place_of_frame(scene.heap(), frame);
    return place.known() ? " of " + place.function + "()" : std::string();
}

std::optional<Cause> stored_exceptions(const Scene& scene) {
    if (!scene.holds({"BaseException"})) return std::nullopt;
    MostFrequent<SourcePlace> places;
    std::size_t with_traceback = 0;
    RaisedIn example;
    ObjectId exception = no_object;
    for (const ObjectId one : scene.sample()) {
        const RaisedIn raised = where_raised(scene.heap(), one);
        if (raised.frame == no_object) continue;
        ++with_traceback;
        places.add(raised.place);
        if (exception == no_object || raised.place == example.place) {
            example = raised;
            exception = one;
        }
    }
    const std::string type = short_type_name(scene.type_of(scene.sample().front()));
    const Shares shares = shares_of(scene);
    if (2 * shares.context > shares.all)
        return Cause{.kind = {},
                     .words = words(type,
                                    " objects; each keeps the error that it was raised from, and the "
                                    "locals of that error's calls"),
                     .fix = "keep str(error), or set its __context__ and __cause__ to None"};
    if (2 * with_traceback <= scene.sample().size())
        return Cause{.kind = {},
                     .words = words(type, " objects that are kept, without tracebacks"),
                     .fix = "keep only the last few: collections.deque(maxlen=…)"};
    const SourcePlace* place = places.get();
    CauseWords cause = words(type, place && place->known() ? " raised in " + words_of(*place) : "");
    const auto part = scene.largest_part(exception);
    if (part && !part->is_local) {  // `args`, a `response`: no traceback has these
        cause << "; each keeps its `" + part->name + "` (" << CauseWords::size(part->bytes) << ")";
        return Cause{.kind = {}, .words = std::move(cause), .fix = "keep str(error), not the error"};
    }
    if (!part && 2 * shares.traceback < shares.all)
        return Cause{.kind = {}, .words = std::move(cause), .fix = "keep str(error), not the error"};
    if (part)
        cause << "; each traceback keeps `" + part->name + "`" +
                     of_another_call(scene, part->frame, example.frame) + " ("
              << CauseWords::size(part->bytes) << ")";
    else
        cause << "; each keeps its traceback, with the locals of those calls";
    return Cause{.kind = {}, .words = std::move(cause), .fix = drop_frames};
}

/// sys.last_value and its like, which the interactive interpreter sets for post-mortem debuggers.
std::optional<Cause> last_error(const Scene& scene) {
    if (scene.root() != "sys") return std::nullopt;
    const auto& steps = scene.holder().expression.steps;
    if (steps.empty()) return std::nullopt;
    const std::string& name = steps.front().name.name;
    if (name != "last_value" && name != "last_traceback" && name != "last_exc") return std::nullopt;
    return Cause{.kind = {},
                 .words = words("the last error that nothing caught: its frames are kept for debuggers"),
                 .fix = "del sys.last_value, sys.last_traceback, sys.last_exc"};
}

std::optional<Cause> local_of_traceback(const Scene& scene) {
    const HeapSnapshot& columns = scene.heap().snapshot();
    ObjectId exception = no_object;
    bool traceback = false;
    for (const ObjectId object : scene.path()) {
        if (scene.is_a(object, {"BaseException"})) exception = object;
        traceback = traceback || columns.types.is(columns.type_of(object), KnownType::traceback);
    }
    if (!traceback || exception == no_object) return std::nullopt;
    return Cause{
        .kind = {},
        .words = words(short_type_name(scene.type_of(exception)),
                       raised_words(where_raised(scene.heap(), exception)), " keeps the locals of its calls"),
        .fix = drop_frames};
}

constexpr Rule rules_of_errors[] = {
    {"last-error", last_error}, {"exceptions", stored_exceptions}, {"traceback", local_of_traceback}};

}  // namespace

std::span<const Rule> error_rules() { return rules_of_errors; }

}  // namespace heapsift
