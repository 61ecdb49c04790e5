// heapsift show: one object.

#include "cli/commands/show.h"

#include "analysis/show.h"
#include "cli/address_lookup.h"
#include "cli/render/show.h"

#include <CLI/CLI.hpp>

namespace heapsift {
namespace {

ExitCode run_show(Session& session) {
    if (!session.words().address)
        throw wrong_usage("no-address", "show needs an address",
                          "heapsift show 0x…, as heapsift objects and heapsift types print it");
    const AddressArgument argument = parse_address(*session.words().address);
    const HeapSnapshot heap = session.open_heap();
    const FoundAddress found = find_object(heap, argument);
    if (!found.note.empty()) session.note("address-within", found.note);
    const ShowResult result = show_object(heap, found.object, session.options().rows(), session.progress());
    return session.write(render_show(result, session.redactor()));
}

}  // namespace

CommandRunner setup_show(CLI::App&) { return run_show; }

}  // namespace heapsift
