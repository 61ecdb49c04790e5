// What the core contains and lacks. Segments and modules need no interpreter; the rest takes the references,
// and one pass over the objects.

#include "analysis/doctor.h"

#include "analysis/pass.h"
#include "parsers/snapshot/reference_graph.h"

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

void add_objects(DoctorResult& result, const HeapReader& heap, const ProgressCallback& progress) {
    const HeapSnapshot& columns = heap.snapshot();
    const ReferenceGraph& references = *columns.references;
    result.counts.native = references.natives().size();
    result.counts.guesses_proved = references.guesses().proved;
    result.counts.guesses_allowed = references.guesses().allowed;
    result.counts.guesses_refused = references.guesses().refused;
    std::array<std::uint64_t, found_by_names.size()> found{};
    std::vector<DoctorResult::GuessedType> guessed(columns.types.size() + 1);  // the last one: type not found
    for_each_object(columns, "examining objects", progress, [&](ObjectId object) {
        ++found[static_cast<std::size_t>(columns.found_by(object)) % found.size()];
        const ObjectFacts facts = heap.facts(object);
        if (!facts.immortal && columns.found_by(object) != FoundBy::static_data) {
            const auto of_count = std::int64_t{references.found(object)} - facts.refcount;
            ++result.counts.objects;
            result.counts.balanced += of_count == 0;
            result.counts.short_of += of_count < 0;
        }
        result.damaged_objects += facts.damaged ? 1 : 0;
        if (facts.references_exact) {
            ++result.references_written;
            return;
        }
        ++result.references_guessed;
        auto& row = guessed[std::min<std::size_t>(columns.type_of(object), columns.types.size())];
        ++row.objects;
        row.memory += facts.memory;
    });
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i] > 0) result.found_by.emplace_back(found_by_names[i], found[i]);
    for (std::size_t i = 0; i < guessed.size(); ++i) {
        if (guessed[i].objects == 0) continue;
        guessed[i].name =
            type_name(columns.types, i < columns.types.size() ? static_cast<TypeId>(i) : no_type);
        result.guessed.push_back(std::move(guessed[i]));
    }
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

DoctorResult doctor(const HeapReader& heap, const ProgressCallback& progress) {
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
    add_objects(result, heap, progress);
    return result;
}

}  // namespace heapsift
