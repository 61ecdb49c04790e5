// What the core contains and lacks. Segments and modules need no interpreter; the rest takes the references,
// and one pass over the objects.

#include "analysis/doctor.h"

#include "analysis/pass.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/emulation/machine.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/size_column.h"
#include "parsers/snapshot/traversed.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace heapsift {
namespace {

void add_segments(DoctorResult& result, const CoreFile& core) {
    result.segments.segments = core.extent().segment_count;
    for (const Segment& segment : core.memory().segments()) {
        if (segment.cut)
            result.segments.cut += segment.size;
        else if (segment.state == ByteState::in_core)
            result.segments.in_core += segment.size;
        else if (segment.state == ByteState::from_file)
            result.segments.from_file += segment.size;
        else if (segment.state == ByteState::not_saved)
            result.segments.not_saved += segment.size;
    }
}

// In the order of FoundBy.
constexpr std::array found_by_names = {
    "in a list of the garbage collector", "an allocated block of Python's own allocator",
    "a block that malloc handed out", "in the data of a module", "only another object refers to it"};

/// What a pass over all objects finds; kept.
struct ExaminedObjects {
    std::array<std::uint64_t, found_by_names.size()> found{};
    std::uint64_t mortal = 0, balanced = 0, short_of = 0;  // DoctorResult::ReferenceCounts
    std::uint64_t damaged = 0, written = 0, guessed = 0;
    struct GuessedType {
        TypeId type = no_type;
        std::uint64_t objects = 0, memory = 0;
    };
    std::vector<GuessedType> guessed_types;

    std::size_t rows() const { return guessed_types.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        for (auto& count : self.found) part.number(count);
        for (auto* number :
             {&self.mortal, &self.balanced, &self.short_of, &self.damaged, &self.written, &self.guessed})
            part.number(*number);
        part.list(self.guessed_types, [&](auto& row, Part& p) {
            kept_type(row.type, p, heap);
            p.number(row.objects);
            p.number(row.memory);
        });
    }
};

/// Of `facts` what is examined; without measuring, where sizes are a column.
ObjectFacts examined_facts(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    if (!columns.sizes.there()) return heap.facts(object);
    ObjectFacts facts{(*columns.sizes)[object]};
    const CollectorFacts counted = heap.collector_facts(object);
    facts.refcount = counted.refcount;
    facts.immortal = counted.immortal;
    facts.damaged = facts.damaged || count_of(heap.python_heap(), columns.address_of(object)) == 0;
    if (facts.immortal) facts.refcount &= 0xffffffff;
    facts.references_exact = heap.references_exact(object);
    return facts;
}

ExaminedObjects examine(const HeapReader& heap, const ProgressCallback& progress) {
    const HeapSnapshot& columns = heap.snapshot();
    const ReferenceGraph& references = *columns.references;
    ExaminedObjects all;
    std::vector<ExaminedObjects::GuessedType> guessed(columns.types.size() + 1);  // the last: type not found
    for_each_object(columns, "examining objects", progress, [&](ObjectId object) {
        ++all.found[static_cast<std::size_t>(columns.found_by(object)) % all.found.size()];
        const ObjectFacts facts = examined_facts(heap, object);
        if (!facts.immortal && columns.found_by(object) != FoundBy::static_data) {
            const auto of_count = static_cast<std::int64_t>(references.found(object)) - facts.refcount;
            ++all.mortal;
            all.balanced += of_count == 0;
            all.short_of += of_count < 0;
        }
        all.damaged += facts.damaged ? 1 : 0;
        if (facts.references_exact) {
            ++all.written;
            return;
        }
        ++all.guessed;
        auto& row = guessed[std::min<std::size_t>(columns.type_of(object), columns.types.size())];
        ++row.objects;
        row.memory += facts.memory;
    });
    for (std::size_t i = 0; i < guessed.size(); ++i) {
        if (guessed[i].objects == 0) continue;
        guessed[i].type = i < columns.types.size() ? static_cast<TypeId>(i) : no_type;
        all.guessed_types.push_back(guessed[i]);
    }
    return all;
}

void add_objects(DoctorResult& result, const HeapReader& heap, const ProgressCallback& progress,
                 KeptAnswers* answers) {
    const HeapSnapshot& columns = heap.snapshot();
    const ReferenceGraph& references = *columns.references;
    result.counts.native = references.natives().size();
    result.counts.guesses_proved = references.guesses().proved;
    result.counts.guesses_allowed = references.guesses().allowed;
    result.counts.guesses_refused = references.guesses().refused;
    const ExaminedObjects all =
        kept_answer(answers, KeptQuestion("doctor"), heap, [&] { return examine(heap, progress); });
    result.counts.objects = all.mortal;
    result.counts.balanced = all.balanced;
    result.counts.short_of = all.short_of;
    result.damaged_objects = all.damaged;
    result.references_written = all.written;
    result.can_emulate = can_emulate();
    if (columns.traversed.there()) {
        const TraversedReferences::Counts& read = columns.traversed->counts();
        result.references_learned = read.learned;
        result.references_emulated = read.emulated;
        result.learned_types = read.learned_types;
        result.emulated_types = read.emulated_types;
        result.references_written -= std::min(all.written, read.learned + read.emulated);
    }
    result.references_guessed = all.guessed;
    for (std::size_t i = 0; i < all.found.size(); ++i)
        if (all.found[i] > 0) result.found_by.emplace_back(found_by_names[i], all.found[i]);
    for (const auto& row : all.guessed_types)
        result.guessed.push_back({type_name(columns.types, row.type), row.objects, row.memory});
    std::stable_sort(result.guessed.begin(), result.guessed.end(), [](const auto& a, const auto& b) {
        return std::tie(b.objects, a.name) < std::tie(a.objects, b.name);
    });
}

std::vector<std::string> what_no_core_tells() {
    return {"when it was taken: no time is written in it",
            "where in the program an object was made, unless tracemalloc was on",
            "whether a number grows: that takes two cores",
            "pages that were left out when it was written (coredump_filter)"};
}

}  // namespace

std::vector<std::string> missing_files(const std::vector<Module>& modules) {
    std::set<std::string> paths;
    for (const Module& module : modules)
        if (module.file_state == ModuleFileState::missing || module.file_state == ModuleFileState::mismatch)
            paths.insert(module.path);
    return {paths.begin(), paths.end()};
}

DoctorResult doctor(const CoreFile& core) {
    DoctorResult result;
    add_segments(result, core);
    result.modules = core.modules();
    result.missing = missing_files(result.modules);
    result.cannot_tell = what_no_core_tells();
    return result;
}

DoctorResult doctor(const HeapReader& heap, const ProgressCallback& progress, KeptAnswers* answers) {
    const HeapSnapshot& columns = heap.snapshot();
    DoctorResult result = doctor(heap.core());
    result.python_found_by = columns.python.found_by;
    result.layout_source = columns.python.layout_source;
    result.checks = columns.python.checks;
    result.checks_passed = static_cast<std::size_t>(std::count_if(
        result.checks.begin(), result.checks.end(), [](const LayoutCheck& check) { return check.passed; }));
    for (const TypeInfo& type : columns.types) {
        ++result.types;
        result.unnamed_types += !type.named;
    }
    add_objects(result, heap, progress, answers);
    return result;
}

}  // namespace heapsift
