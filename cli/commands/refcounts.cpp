// heapsift refcounts: objects whose reference count is higher than the references that were found.

#include "cli/commands/refcounts.h"

#include "analysis/refcounts.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/refcounts.h"
#include "cli/type_option.h"

#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct RefcountsOptions {
    std::string type;
    bool subclasses = false;
};

ExitCode run_refcounts(Session& session, const RefcountsOptions& options) {
    Question question(session, {Need::holders});
    RefcountsQuery query;
    query.limit = session.options().rows();
    if (!options.type.empty())
        query.types = types_named(question.heap().snapshot(), options.type, options.subclasses);
    const HeapReader& heap = question.filled();
    RefcountsResult result = refcounts(heap, query, session.progress(), question.answers());
    session.note_references(heap);
    return session.write(render_refcounts(std::move(result), !options.type.empty()));
}

}  // namespace

CommandRunner setup_refcounts(CommandOptions& declare) {
    auto options = std::make_shared<RefcountsOptions>();
    declare.text("--type", options->type, "NAME", "only instances of this type (* is any text)",
                 ValueKind::type);
    declare.flag("--subclasses", options->subclasses, "with --type: its subclasses too");
    return [options](Session& session) { return run_refcounts(session, *options); };
}

}  // namespace heapsift
