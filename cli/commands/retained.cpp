// heapsift retained: what deleting a set of objects would free.

#include "cli/commands/retained.h"

#include "analysis/holders.h"
#include "analysis/retained.h"
#include "cli/address_lookup.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/retained.h"
#include "cli/type_option.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>
#include <algorithm>
#include <memory>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_kept = 1'000;  // objects of a question

struct RetainedOptions {
    std::string type, holder;
    bool subclasses = false;
};

/// The objects of a type, or those that its instances hold through an attribute.
std::vector<ObjectId> objects_asked(Session& session, const HeapSnapshot& heap, const HeapGraph& graph,
                                    const RetainedOptions& options) {
    std::vector<ObjectId> set;
    if (!options.type.empty()) {
        const std::vector<TypeId> types = types_named(heap, options.type, options.subclasses);
        for (ObjectId object{0}; object < heap.object_count(); ++object)
            if (std::find(types.begin(), types.end(), heap.type_of(object)) != types.end())
                set.push_back(object);
    } else {
        set = held_by(graph, options.holder, session.progress());
        if (set.empty())
            throw wrong_usage(
                "no-such-holder", fmt::format("{} is not a holder", options.holder),
                command_line("holders") + " lists them: a type or module, a dot, the attribute");
    }
    return set;
}

ExitCode run_retained(Session& session, const RetainedOptions& options) {
    const int questions =
        !options.type.empty() + !options.holder.empty() + session.words().address.has_value();
    if (questions > 1)
        throw wrong_usage("two-questions", "give either addresses, --type or --holder", "only one of them");
    std::vector<AddressArgument> arguments;
    if (options.type.empty() && options.holder.empty()) {
        arguments.push_back(required_address(session, "retained"));
        for (const std::string& more : session.words().more_addresses)
            arguments.push_back(parse_address(more));
    }
    Question question(session, {Need::graph});
    const bool has_sizes = question.take_kept_retained();
    const HeapReader& heap = question.heap();
    std::vector<ObjectId> set;
    for (const AddressArgument& argument : arguments) set.push_back(question.object(argument));
    const auto sort = [&] {
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
    };
    sort();
    const HeapGraph& graph = question.graph();
    const std::size_t rows = session.options().rows();
    KeptQuestion asked("retained");
    asked.with(rows).with(options.type.empty());
    if (!options.type.empty())
        asked.with_all(types_named(heap.snapshot(), options.type, options.subclasses));
    else
        asked.with_all(set);
    // What a holder is called is not kept.
    KeptAnswers* answers = options.holder.empty() && set.size() <= most_kept ? question.answers() : nullptr;
    RetainedResult result = kept_retained(answers, asked, graph, [&] {
        if (arguments.empty()) set = objects_asked(session, heap.snapshot(), graph, options);
        sort();
        return retained(graph, set, rows, has_sizes ? &question.retained() : nullptr);
    });
    session.note_references(heap);
    return session.write(render_retained(std::move(result)));
}

}  // namespace

CommandRunner setup_retained(CommandOptions& declare) {
    auto options = std::make_shared<RetainedOptions>();
    declare.text("--type", options->type, "NAME", "all instances of this type, together (* is any text)",
                 ValueKind::type);
    declare.flag("--subclasses", options->subclasses, "with --type: its subclasses too");
    declare.text("--holder", options->holder, "C.ATTR",
                 "all that this attribute holds: app.Node.children[*]");
    return [options](Session& session) { return run_retained(session, *options); };
}

}  // namespace heapsift
