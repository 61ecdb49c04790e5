// heapsift referrers: references one step up.

#include "cli/commands/referrers.h"

#include "analysis/edges.h"
#include "cli/address_lookup.h"
#include "cli/render/edges.h"

namespace heapsift {
namespace {

ExitCode run_referrers(Session& session) {
    const AddressArgument argument = required_address(session, "referrers");
    const HeapReader heap = session.open_heap();
    const ObjectId object = find_object(session, heap, argument);
    EdgesResult result = referrers(heap, object, session.options().rows(), session.progress());
    session.note_references(heap, object);
    return session.write(render_referrers(std::move(result)));
}

}  // namespace

CommandRunner setup_referrers(CommandOptions&) { return run_referrers; }

}  // namespace heapsift
