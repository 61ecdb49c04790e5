// heapsift why: what keeps one object alive, or all objects of a type.

#include "cli/commands/why.h"

#include "analysis/holders.h"
#include "analysis/why.h"
#include "cli/address_lookup.h"
#include "cli/block_lookup.h"
#include "cli/command_options.h"
#include "cli/picture_file.h"
#include "cli/question.h"
#include "cli/render/holders.h"
#include "cli/render/native_block.h"
#include "cli/render/why.h"
#include "cli/report/svg.h"
#include "cli/type_option.h"
#include "cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct WhyOptions {
    std::optional<std::size_t> paths;
    std::string type;
    bool subclasses = false;
    std::vector<std::string> exclude;
    PictureOptions picture;
};

WhyQuery query_of(const WhyOptions& options) {
    WhyQuery query;
    query.paths = options.paths.value_or(1);
    for (const std::string& word : options.exclude) {
        if (word == "frame")
            query.without_frames = true;
        else if (word == "traceback")
            query.without_tracebacks = true;
        else if (word != "weak")  // weak references are never followed
            throw wrong_usage("bad-exclude", fmt::format("--exclude {} is not known", word),
                              "choose weak, frame or traceback");
    }
    return query;
}

ExitCode run_why(Session& session, const WhyOptions& options) {
    WhyQuery query = query_of(options);
    query.lines = session.options().rows();
    if (!options.type.empty() && !options.picture.path.empty())
        throw wrong_usage("bad-option", "--svg: a picture is of the path to one object", "give an address");
    PictureFile picture(session, options.picture);
    if (options.type.empty()) {
        session.refuse_csv("why of one object", "use --json, or --type NAME");
        const AddressArgument argument = required_address(session, "why");
        Question question(session, {Need::retained, Need::states});
        ObjectId object = no_object;
        if (const auto block = asked_block(session, question, argument)) {
            if (!block->owner && !options.picture.path.empty())
                throw wrong_usage("bad-option", "--svg: a picture is of the path to a Python object",
                                  "no object owns this block");
            if (!block->owner) return session.write(render_native_block(*block, "why"));
            object = block->owner->id;
            session.note(
                "address-within",
                fmt::format("{} lies in a block of C code that only the {} at {} keeps (shown here)",
                            argument.typed, block->owner->type, hexadecimal(block->owner->address.value)));
        } else {
            object = question.object(argument);
        }
        const bool asks_one = query.paths <= 1 && question.graph().reach(object) != Reach::unreachable;
        const EveryRootPath* every = asks_one ? question.work().paths() : nullptr;
        const WhyResult result = why(question.graph(), question.retained(), object, query, session.progress(),
                                     &question.states(), every, question.answers());
        session.note_references(question.heap(), object);
        picture.write([&] { return svg_of_path(result, session.page_of_file()); });
        return session.write(render_why(result));
    }
    if (session.words().address)
        throw wrong_usage("two-questions", "give either an address or --type", "only one of them");
    Question question(session, {Need::sizes, Need::graph});
    const HeapReader& heap = question.heap();
    const std::vector<TypeId> types = types_named(heap.snapshot(), options.type, options.subclasses);
    const HeapGraph& graph = question.graph();
    const PathWishes wishes{.without_frames = query.without_frames,
                            .without_tracebacks = query.without_tracebacks,
                            .without = {}};
    HoldersResult result =
        holders(graph, types, wishes, session.options().rows(), session.progress(), question.answers());
    session.note_references(heap);
    const TypeTable& known = heap.snapshot().types;
    const bool one_name = std::all_of(types.begin(), types.end(), [&](TypeId type) {
        return known[type].name == known[types.front()].name;
    });
    return session.write(
        render_why_type(std::move(result), one_name ? known[types.front()].name : options.type));
}

}  // namespace

CommandRunner setup_why(CommandOptions& declare) {
    auto options = std::make_shared<WhyOptions>();
    declare.number("--paths", options->paths, "paths, each through a different referrer (default 1)", 1,
                   10'000);
    declare.text("--type", options->type, "NAME",
                 "what holds instances of a type (* is any text), by owner and attribute", ValueKind::type);
    declare.flag("--subclasses", options->subclasses, "with --type: its subclasses too");
    declare.texts("--exclude", options->exclude, "KIND,...", "no paths through these: frame, traceback",
                  {"frame", "traceback"});
    declare_picture(declare, options->picture, "a picture of the path too");
    return [options](Session& session) { return run_why(session, *options); };
}

}  // namespace heapsift
