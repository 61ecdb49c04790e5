// heapsift referrers: references one step up.

#include "cli/commands/referrers.h"

#include "analysis/edges.h"
#include "analysis/native_holders.h"
#include "cli/all_edges.h"
#include "cli/question.h"
#include "cli/render/edges.h"

namespace heapsift {
namespace {

ExitCode run_referrers(Session& session) {
    const AddressArgument argument = required_address(session, "referrers");
    Question question(session, {Need::references, Need::roots});
    const ObjectId object = question.object(argument);
    if (may_be_held_by_c_code(question.filled(), object)) question.also(Need::holders);
    const HeapReader& heap = question.filled();
    EdgesResult result = referrers(heap, object, kept_edges(session), session.progress(), question.answers());
    session.note_references(heap, object);
    return session.write(
        render_referrers(std::move(result), all_edges(session, heap, object, visit_referrers)));
}

}  // namespace

CommandRunner setup_referrers(CommandOptions&) { return run_referrers; }

}  // namespace heapsift
