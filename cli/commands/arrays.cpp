// heapsift arrays: NumPy's arrays by who owns their bytes.

#include "cli/commands/arrays.h"

#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "analysis/array_waste.h"
#include "analysis/object_paths.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/arrays.h"
#include "cli/render/types.h"
#include "parsers/base/error.h"

#include <memory>
#include <optional>

namespace heapsift {
namespace {

struct ArraysOptions {
    bool owners = false, views = false, pinned = false, by_holder = false, waste = false;
};

constexpr std::size_t most_column_names = 8;

ExitCode run_arrays(Session& session, const ArraysOptions& options) {
    if (options.owners + options.views + options.pinned + options.waste > 1 ||
        (options.by_holder && (options.owners || options.views || options.waste)))
        throw wrong_usage("bad-option",
                          "arrays shows one table: --owners, --views, --pinned, --by-holder or --waste",
                          "--pinned and --by-holder may be combined");
    Question question(session, {Need::retained});
    const HeapReader& heap = question.filled();
    const HeapGraph& graph = question.graph();
    const std::vector<PandasFrame> frames = pandas_frames(heap, most_column_names);
    const std::vector<DroppedFrame> dropped = dropped_frames(heap, frames, most_column_names);
    const Arrays arrays(graph, kept_parents(frames, dropped), session.progress());
    session.note_references(heap);
    note_damaged_objects(arrays.sums().unread, session.diagnostics());
    const std::size_t rows = session.options().rows();
    if (options.views)
        return session.write(render_views(arrays, list_arrays(arrays, true, rows), session.redactor()));
    if (options.waste) {
        std::vector<ObjectId> owners;
        for (const SeenArray& seen : arrays.arrays())
            if (seen.owns_bytes) owners.push_back(seen.object);
        const ArrayWasteResult waste = array_waste(heap, owners, rows, session.progress());
        std::vector<ObjectId> shown;
        for (const ArrayWaste& row : waste.rows) shown.push_back(row.array);
        const ObjectExpressions expressions(graph, shown, session.progress());
        return session.write(render_array_waste(heap, waste, expressions, session.redactor()));
    }
    std::vector<PandasFrame> holding = frames;
    add_dropped(holding, dropped);
    if (options.owners || (options.pinned && !options.by_holder)) {
        OwnersResult result{
            arrays, list_owners(arrays, options.pinned ? OwnerChoice::pinned : OwnerChoice::all, rows),
            {},     {},
            frames, dropped};
        result.places = places_of(arrays, frames, result.owners, session.progress());
        if (options.pinned)
            result.holders =
                array_holders(arrays, holding, true, most_holders_of_pinned, nullptr, session.progress());
        return session.write(render_owners(result, options.pinned, session.redactor()));
    }
    const RetainedSizes& retained = question.retained();
    if (options.by_holder) {
        const ArrayHolders holders =
            array_holders(arrays, holding, options.pinned, rows, &retained, session.progress());
        return session.write(
            render_array_holders(arrays, holders, options.pinned, retained, session.redactor()));
    }
    ArraysResult result{arrays,
                        retained,
                        list_arrays(arrays, false, rows),
                        list_owners(arrays, OwnerChoice::all, rows),
                        array_holders(arrays, holding, false, rows, &retained, session.progress()),
                        frames,
                        dropped};
    return session.write(render_arrays(result, session.redactor()));
}

}  // namespace

CommandRunner setup_arrays(CommandOptions& declare) {
    auto options = std::make_shared<ArraysOptions>();
    declare.flag("--owners", options->owners,
                 "what owns the memory of arrays: arrays, bytes, mmaps, native memory");
    declare.flag("--views", options->views, "views: arrays whose data belongs to another object");
    declare.flag("--pinned", options->pinned, "owners kept alive only by views that show a part of them");
    declare.flag("--by-holder", options->by_holder,
                 "group by what holds them: type and attribute, or function and local");
    declare.flag("--waste", options->waste,
                 "wasteful arrays: all zero, all one value, or a wider dtype than the values need");
    return [options](Session& session) { return run_arrays(session, *options); };
}

}  // namespace heapsift
