// heapsift native: the blocks of C code, by C++ class and by size, and who refers to them.

#include "cli/commands/native.h"

#include "analysis/native.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/native.h"

#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct NativeOptions {
    bool leaked = false;
};

ExitCode run_native(Session& session, const NativeOptions& options) {
    Question question(session, {Need::native});
    NativeResult result =
        native(question.filled(), {.limit = session.options().rows(), .leaked_only = options.leaked});
    return session.write(render_native(std::move(result), options.leaked));
}

}  // namespace

CommandRunner setup_native(CommandOptions& declare) {
    auto options = std::make_shared<NativeOptions>();
    declare.flag("--leaked", options->leaked, "only blocks to which nothing refers any more");
    return [options](Session& session) { return run_native(session, *options); };
}

}  // namespace heapsift
