// heapsift show: one object. What refers to it takes one pass over the heap; what it retains, and what holds
// it, would take twice as long again.

#include "cli/commands/show.h"

#include "analysis/native_holders.h"
#include "analysis/show.h"
#include "cli/address_lookup.h"
#include "cli/all_edges.h"
#include "cli/block_lookup.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/native_block.h"
#include "cli/render/show.h"

#include <memory>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

struct ShowOptions {
    bool retained = false;
};

ExitCode run_show(Session& session, const ShowOptions& options) {
    const AddressArgument argument = required_address(session, "show");
    std::vector<Need> needs = {Need::references, Need::roots};
    if (options.retained) needs.insert(needs.end(), {Need::retained, Need::states});
    Question question(session, needs);
    question.take_what_is_at_hand();
    if (const auto block = asked_block(session, question, argument))
        return session.write(render_native_block(*block, "show"));
    const ObjectId object = question.object(argument);
    if (may_be_held_by_c_code(question.filled(), object)) question.also(Need::holders);
    const HeapReader& heap = question.filled();
    ShowResult result = show(heap, object, kept_edges(session), session.progress(), question.answers());
    if (question.graph_at_hand())
        add_holder(result, RetainedLookup(question.graph(), question.retained()), question.states(),
                   question.answers());
    session.note_references(heap, object);
    return session.write(render_show(std::move(result), all_edges(session, heap, object, visit_referents),
                                     all_edges(session, heap, object, visit_referrers)));
}

}  // namespace

CommandRunner setup_show(CommandOptions& declare) {
    auto options = std::make_shared<ShowOptions>();
    declare.flag("--retained", options->retained, "also what it retains, what holds it, its state");
    return [options](Session& session) { return run_show(session, *options); };
}

}  // namespace heapsift
