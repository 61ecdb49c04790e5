// heapsift arrays: NumPy's arrays by who owns their bytes.

#include "cli/commands/arrays.h"

#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "analysis/array_waste.h"
#include "analysis/object_paths.h"
#include "cli/command_options.h"
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
        throw wrong_usage("bad-option", "arrays shows one table: --owners, --views, --pinned, --by-holder or --waste",
                          "--pinned --by-holder is one as well");
    const HeapSnapshot heap = session.open_heap();
    const HeapGraph graph(heap, session.progress());
    const std::vector<PandasFrame> frames = pandas_frames(heap, most_column_names);
    const std::vector<DroppedFrame> dropped = dropped_frames(heap, frames, most_column_names);
    const Arrays arrays(graph, kept_parents(frames, dropped), session.progress());
    session.note_references(heap);
    note_damaged_objects(arrays.sums().unread, session.diagnostics());
    const std::size_t rows = session.options().rows();
    if (options.views) return session.write(render_views(arrays, list_arrays(arrays, true, rows), session.redactor()));
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
            arrays, list_owners(arrays, options.pinned ? OwnerChoice::pinned : OwnerChoice::all, rows), {}, {}, frames, dropped};
        result.places = places_of(arrays, frames, result.owners, session.progress());
        if (options.pinned)
            result.holders = array_holders(arrays, holding, true, most_holders_of_pinned, nullptr, session.progress());
        return session.write(render_owners(result, options.pinned, session.redactor()));
    }
    const RetainedSizes retained(graph, session.progress());
    if (options.by_holder) {
        const ArrayHolders holders = array_holders(arrays, holding, options.pinned, rows, &retained, session.progress());
        return session.write(render_array_holders(arrays, holders, options.pinned, retained, session.redactor()));
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
    declare.flag("--owners", options->owners, "who owns bytes that arrays show: arrays, bytes, mmaps, native memory");
    declare.flag("--views", options->views, "arrays that show what another object owns");
    declare.flag("--pinned", options->pinned, "owners that views alone keep alive, and do not show all of");
    declare.flag("--by-holder", options->by_holder, "by owner type and attribute, or by function and local");
    declare.flag("--waste", options->waste,
                 "arrays that say little: all zero, all one value, or of a wider dtype than they need");
    return [options](Session& session) { return run_arrays(session, *options); };
}

}  // namespace heapsift
