// heapsift show: one object.

#include "cli/commands/show.h"

#include "analysis/show.h"
#include "cli/address_lookup.h"
#include "cli/question.h"
#include "cli/render/show.h"

namespace heapsift {
namespace {

ExitCode run_show(Session& session) {
    const AddressArgument argument = required_address(session, "show");
    Question question(session, {Need::retained});
    const ObjectId object = question.object(argument);
    ShowResult result =
        show(question.graph(), question.retained(), object, session.options().rows(), session.progress());
    session.note_references(question.heap(), object);
    return session.write(render_show(std::move(result)));
}

}  // namespace

CommandRunner setup_show(CommandOptions&) { return run_show; }

}  // namespace heapsift
