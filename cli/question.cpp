// A command declares its needs on its first line, so its cost can be read there. Asking for more than was
// declared is an assertion: otherwise a command would be slow for no visible reason.

#include "cli/question.h"

#include "cli/type_option.h"

#include <cassert>
#include <vector>

namespace heapsift {
namespace {

Columns columns_for(Need need) {
    switch (need) {
        case Need::sizes:
            return {.sizes = true};
        case Need::memory:
            return {.memory = true};
        case Need::native:
            return {.native = true};
        case Need::references:
            return {.references = true};
        case Need::holders:
            return {.references = true, .roots = true, .native_graph = true};
        case Need::roots:
            return {.roots = true};
        case Need::graph:
        case Need::states:
            return {.references = true, .roots = true, .native_graph = true};
        case Need::retained:
            return {.sizes = true, .references = true, .roots = true, .native_graph = true};
    }
    return {};
}

constexpr Need all_needs[] = {Need::sizes, Need::memory, Need::native,   Need::references, Need::holders,
                              Need::roots, Need::graph,  Need::retained, Need::states};

}  // namespace

Question::Question(Session& session, const std::vector<Need>& needs)
    : session_(session),
      heap_(session.open_heap()),
      work_(heap_, session.progress(), session.index(), &session.answers()) {
    for (const Need need : needs) declare(need);
    const auto parts = [this] {
        std::vector<PartWriter> found = heap_.parts();
        work_.add_parts(found);
        return found;
    };
    session_.keep_afterwards(parts, [this] { return type_names_by_count(heap_.snapshot()); });
}

void Question::take_what_is_at_hand() {
    if (session_.options().format == Format::text && take_kept_retained()) declare(Need::states);
}

bool Question::take_kept_retained() {
    const IndexFile* index = session_.index();
    if (!index || !has_kept_work(*index) ||
        !has_columns(*index, columns_for(Need::retained) | columns_for(Need::states)))
        return false;
    declare(Need::retained);
    return true;
}

/// What the index has takes no memory. (What a question lacks of it is most of it, as a rule.)
void Question::make_room(const Columns& columns) {
    const IndexFile* index = session_.index();
    const bool walks = declared(Need::graph) || declared(Need::states) || declared(Need::retained);
    if (index && has_columns(*index, columns) && (!walks || has_kept_work(*index))) return;
    const MemoryNeed need = declared(Need::retained) ? MemoryNeed::retained
                            : declared(Need::states) ? MemoryNeed::states
                            : declared(Need::graph)  ? MemoryNeed::graph
                            : columns.native         ? MemoryNeed::native
                            : declared(Need::references) || declared(Need::holders) || declared(Need::roots)
                                ? MemoryNeed::references
                                : MemoryNeed::objects;
    const std::uint64_t blocks = columns.native || columns.native_graph ? heap_.most_native_blocks() : 0;
    session_.make_room(heap_.snapshot().object_count(), blocks, need);
}

const HeapReader& Question::filled() {
    if (filled_) return heap_;
    filled_ = true;
    ColumnWishes wishes{.columns = {}, .hide_thread_names = session_.redactor().active()};
    for (const Need need : all_needs)
        if (declared(need)) wishes.columns = wishes.columns | columns_for(need);
    if (session_.options().no_native) wishes.columns.native_graph = false;
    make_room(wishes.columns);
    heap_.add(wishes, session_.progress());
    return heap_;
}

ObjectId Question::object(const AddressArgument& argument) {
    return find_object(session_, argument.expression ? filled() : heap_, argument);
}

const HeapGraph& Question::graph() {
    assert(declared(Need::graph) || declared(Need::retained) || declared(Need::states));
    return work().graph();
}

const RetainedSizes& Question::retained() {
    assert(declared(Need::retained));
    return work().retained();
}

const ObjectStates& Question::states() {
    assert(declared(Need::states));
    return work().states();
}

Work& Question::work() {
    filled();
    return work_;
}

}  // namespace heapsift
