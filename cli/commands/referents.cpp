// heapsift referents: references one step down.

#include "cli/commands/referents.h"

#include "analysis/edges.h"
#include "cli/all_edges.h"
#include "cli/question.h"
#include "cli/render/edges.h"

namespace heapsift {
namespace {

ExitCode run_referents(Session& session) {
    const AddressArgument argument = required_address(session, "referents");
    Question question(session, {Need::references, Need::roots});
    const ObjectId object = question.object(argument);
    const HeapReader& heap = question.filled();
    EdgesResult result = referents(heap, object, kept_edges(session), question.answers());
    session.note_references(heap, object);
    return session.write(
        render_referents(std::move(result), all_edges(session, heap, object, visit_referents)));
}

}  // namespace

CommandRunner setup_referents(CommandOptions&) { return run_referents; }

}  // namespace heapsift
