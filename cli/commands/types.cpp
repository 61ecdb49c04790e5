// heapsift types: objects grouped by type, or by type, holder and attribute.

#include "cli/commands/types.h"

#include "analysis/kept_types.h"
#include "analysis/retained_types.h"
#include "analysis/type_lines.h"
#include "cli/command_options.h"
#include "cli/holders_question.h"
#include "cli/question.h"
#include "cli/render/lines.h"
#include "cli/render/type_lines.h"
#include "cli/render/types.h"
#include "cli/sort_option.h"
#include "cli/type_option.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

struct TypesOptions {
    std::optional<SortKey> sort;
    bool by_holder = false, by_line = false, subclasses = false;
    std::string type;
};

/// Of the types that were asked for.
std::vector<Address> addresses_of(const HeapSnapshot& heap, const TypesOptions& options) {
    std::vector<Address> addresses;
    for (const TypeId type : types_named(heap, options.type, options.subclasses))
        addresses.push_back(heap.types[type].address);
    return addresses;
}

ExitCode run_types_by_line(Session& session, const TypesOptions& options) {
    const SortKey sort = options.sort.value_or(SortKey::memory);
    if (options.by_holder)
        throw wrong_usage("bad-option", "types groups by holder or by line", "leave one of them out");
    if (sort == SortKey::retained || sort == SortKey::array_data)
        throw wrong_usage("bad-sort", "types --by-line is sorted by memory, size, count or name",
                          "leave --sort out");
    Question question(session, {Need::sizes});
    std::vector<TypeId> wanted;
    std::string words;
    if (!options.type.empty()) {
        wanted = types_named(question.heap().snapshot(), options.type, options.subclasses);
        words = " --type " + shell_quoted(options.type) + (options.subclasses ? " --subclasses" : "");
    }
    const HeapReader& heap = question.filled();
    TracedMemory traced = traced_memory(heap.core(), heap.python_heap());
    note_unread_traces(traced, session.diagnostics());
    return session.write(render_type_lines(
        type_lines(heap, std::move(traced), wanted, sort, session.options().rows()), sort, words));
}

ExitCode run_types(Session& session, const TypesOptions& options) {
    if (options.by_line) return run_types_by_line(session, options);
    if (options.by_holder) {
        if (options.sort.value_or(SortKey::retained) != SortKey::retained)
            throw wrong_usage("bad-sort", "types --by-holder is sorted by retained", "leave --sort out");
        return answer_holders(session, "types", options.type, options.subclasses);
    }
    const SortKey sort = options.sort.value_or(SortKey::retained);
    Question question(session, {sort == SortKey::retained ? Need::retained : Need::sizes});
    const HeapReader& heap = question.filled();
    const std::size_t rows = session.options().rows();
    const auto find = [&](const std::vector<Address>* wanted) {
        if (!question.graph_at_hand() && !wanted) return types(heap, sort, rows, session.progress());
        TypesResult found = types(heap, sort, 0, session.progress());
        if (wanted) keep_types(found, *wanted);
        if (question.graph_at_hand())
            add_retained(found, question.graph(), question.retained(), sort, rows, session.progress());
        else
            cut_types(found, rows);
        return found;
    };
    TypesResult result;
    if (options.type.empty()) {
        result = kept_types(question.answers(), heap, sort, rows, [&] { return find(nullptr); });
    } else {
        const std::vector<Address> wanted = addresses_of(heap.snapshot(), options);
        result = find(&wanted);
    }
    if (question.graph_at_hand()) session.note_references(heap);
    note_impossible_total(result.total_size, result.total_memory, heap.core().extent().mapped_bytes,
                          session.diagnostics());
    note_uncertain_sizes(result, session.diagnostics());
    return session.write(render_types(std::move(result), sort, options.type, options.subclasses));
}

}  // namespace

CommandRunner setup_types(CommandOptions& declare) {
    auto options = std::make_shared<TypesOptions>();
    add_sort_option(declare, options->sort, "default retained; any other is quicker");
    declare.flag("--by-holder", options->by_holder, "group by what holds them, as holders does");
    declare.flag("--by-line", options->by_line, "group by the source line that allocated them (tracemalloc)");
    declare.text("--type", options->type, "NAME", "only this type, or those that fit (* is any text)",
                 ValueKind::type);
    declare.flag("--subclasses", options->subclasses, "with --type: subclasses too");
    return [options](Session& session) { return run_types(session, *options); };
}

}  // namespace heapsift
