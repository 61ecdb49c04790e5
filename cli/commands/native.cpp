// heapsift native: the blocks of C code, by C++ class and by size, and who refers to them.

#include "cli/commands/native.h"

#include "analysis/native.h"
#include "analysis/traced_lines.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/native.h"

#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct NativeOptions {
    bool leaked = false, blocks = false;
};

ExitCode run_native(Session& session, const NativeOptions& options) {
    Question question(session, {Need::native});
    const NativeQuery query{.limit = session.options().rows(), .leaked_only = options.leaked};
    const HeapReader& heap = question.filled();
    NativeListReader reader(heap);
    NativeDetails details{.list = [&] { return native_list(heap, query); },
                          .row = [&](Address block, std::uint32_t row) { return reader.row(block, row); },
                          .contents = [&] { return native_contents(heap, query); },
                          .line = {}};
    const TracedLines lines(traced_memory(heap.core(), heap.python_heap()));
    if (lines.tracing()) details.line = [&](const AddressRange& block) { return lines.line_in(block); };
    return session.write(render_native(native(heap, query), details,
                                       {.leaked_only = options.leaked, .blocks = options.blocks}));
}

}  // namespace

CommandRunner setup_native(CommandOptions& declare) {
    auto options = std::make_shared<NativeOptions>();
    declare.flag("--leaked", options->leaked, "only blocks to which nothing refers any more");
    declare.flag("--blocks", options->blocks, "list the blocks one by one, the largest first");
    return [options](Session& session) { return run_native(session, *options); };
}

}  // namespace heapsift
