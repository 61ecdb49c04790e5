// One object and both directions of its references.

#include "analysis/show.h"

namespace heapsift {
namespace {

/// To add up the sizes of so much memory takes some 10 ms.
constexpr std::uint64_t worth_keeping = 64 << 20;

/// RetainedLookup::size, as it is kept.
struct KeptSize {
    std::uint64_t size = 0;

    std::size_t rows() const { return 1; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader&) {
        part.number(self.size);
    }
};

std::string found_by_words(FoundBy found_by) {
    switch (found_by) {
        case FoundBy::collector:
            return "in a list of the garbage collector";
        case FoundBy::pymalloc:
            return "an allocated block of Python's own allocator";
        case FoundBy::malloc:
            return "a block that malloc handed out";
        case FoundBy::static_data:
            return "in the data of a module, not allocated";
        case FoundBy::reference:
            return "another object refers to it";
    }
    return "";
}

/// With the file of a mapping.
std::optional<LibraryFacts> library_facts_of(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    if (columns.type_of(object) == no_type) return std::nullopt;
    auto facts = library_facts(
        ObjectReader(heap.python_heap(), columns.address_of(object), columns.type_info(object)));
    if (facts && facts->kind == LibraryFacts::Kind::mapping)
        for (const MappedFile& file : heap.core().mapped_files())
            if (file.range.contains(facts->data) && !is_shared_memory(file.path)) facts->file = file.path;
    return facts;
}

}  // namespace

ShowResult show(const HeapReader& heap, ObjectId object, std::size_t limit, const ProgressCallback& progress,
                KeptAnswers* answers) {
    ShowResult result;
    result.object = object_row(heap, object);
    result.found_by = found_by_words(heap.snapshot().found_by(object));
    result.library = library_facts_of(heap, object);
    result.allocated_at = allocated_at(heap, object);
    const StructuralTargets structural = structural_targets(heap.snapshot());
    result.referents = referents(heap, structural, object, limit, answers);
    if (progress) progress("looking for referrers", 0);
    result.referrers = referrers(heap, structural, object, limit, answers);
    return result;
}

void add_holder(ShowResult& result, const RetainedLookup& retained, const ObjectStates& states,
                KeptAnswers* answers) {
    const HeapGraph& graph = retained.graph();
    const ObjectId object = result.object.id;
    result.holder_computed = true;
    result.object.retained = retained.memory(object);
    result.object.native = retained.native(object);
    result.object.state = states.of(object);
    const bool keeps = *result.object.retained >= worth_keeping;
    result.retained_size =
        kept_answer(keeps ? answers : nullptr, KeptQuestion("size").with(std::uint32_t{object}), graph.heap(),
                    [&] { return KeptSize{retained.size(graph.node_of(object))}; })
            .size;
    const NodeId dominator = retained.dominator(object);
    if (graph.kind(dominator) == NodeKind::object) {
        result.dominator = object_row(graph.heap(), graph.object_of(dominator));
        result.dominator->retained = retained.memory(dominator);
        result.dominator->native = retained.native(dominator);
    }
    const GroupId group = retained.group(object);
    result.group = group == no_group ? "shared by several groups" : graph.groups()[group].name;
}

}  // namespace heapsift
