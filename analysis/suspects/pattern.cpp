// The way from a root to what leaks differs between versions of Python and of libraries, and with what else the
// program does; what a person would change does not: an attribute of a class of the program, a global, a local. These
// are the names by which the program's own code reaches the holder (names_in_source).

#include "analysis/suspects/pattern.h"

#include "analysis/holder_labels.h"
#include "analysis/suspects/general_numbers.h"
#include "analysis/suspects/names_in_source.h"
#include "analysis/suspects/renamed_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace heapsift {
namespace {

constexpr std::size_t most_steps = 12;

/// All indices and keys are [*].
std::string general_step(const ReferenceStep& step) {
    using Kind = ReferenceStep::Kind;
    const bool is_item = step.kind == Kind::item || step.kind == Kind::index || step.kind == Kind::place;
    return is_item ? "[*]" : notation(step, "*");
}

/// "thread Thread-N (rec)" of "thread Thread-4 (rec)": how many threads a process had before differs from run to run.
std::string general_thread(const std::string& group) {
    const auto is_figure = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    std::string text;
    for (std::size_t i = 0; i < group.size(); ++i) {
        if (!is_figure(group[i]))
            text += group[i];
        else if (i == 0 || !is_figure(group[i - 1]))
            text += 'N';
    }
    return text;
}

std::string group_of_holder(const TopHolder& holder) {
    const bool is_thread = holder.group_kind == GroupKind::thread && holder.below != no_group;
    const std::string group =
        is_thread ? general_thread(holder.group) : general_numbers(holder.group, digits_of_files);
    return holder.says_held ? group : "in " + group;
}

/// "work()" of "thread('worker-17').work()": which thread is only said where several run that function.
std::string general_root(const PathExpression& expression) {
    const std::string& root = expression.root;
    if (expression.from_address) return "…";
    const bool has_thread = root.starts_with("thread(") && !root.starts_with("thread()");
    const std::size_t call = has_thread ? root.rfind(").") : std::string::npos;
    return call == std::string::npos ? root : root.substr(call + 2);
}

/// From the root.
std::string written_steps(const Scene& scene) {
    std::string steps;
    for (std::size_t back = 0; back < most_steps; ++back) {
        const ReferenceStep* step = scene.step(back);
        if (!step) break;
        steps = general_step(*step) + steps;
    }
    return steps;
}

/// "logging.Manager.loggerDict": from the nearest object of a class on. Which module of a library names an object first
/// differs from run to run.
std::string place_in_library(const Scene& scene) {
    const HeapSnapshot& columns = scene.heap().snapshot();
    std::string steps;
    for (std::size_t back = 0; back < most_steps; ++back) {
        const ReferenceStep* step = scene.step(back);
        const ObjectId owner = scene.owner(back);
        if (!step || owner == no_object) return {};
        steps = general_step(*step) + steps;
        const TypeId type = columns.type_of(owner);
        if (type != no_type && !is_plain_container(columns.types[type].known) &&
            columns.types[type].known != KnownType::module)
            return general_type_name(scene.type_of(owner)) + steps;
    }
    return {};
}

std::string place_of_holder(const Scene& scene) {
    const TopHolder& holder = scene.holder();
    if (!holder.local.empty()) return fmt::format("{}, local {}", general_call(holder.call), holder.local);
    std::vector<std::string> places;
    for (const NameInSource& name : names_in_source(scene)) {
        if (name.only_else || name.kind == NameInSource::Kind::key || name.kind == NameInSource::Kind::local)
            continue;
        if (name.kind == NameInSource::Kind::variable)
            places.push_back("variable " + name.text);
        else
            places.push_back(name.of_class.empty() ? name.text
                                                   : general_type_name(name.of_class) + "." + name.text);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (!places.empty()) return fmt::format("{}", fmt::join(places, ", "));
    if (!holder.thread_local_name.empty()) return holder.thread_local_name + written_steps(scene);
    if (!holder.call.empty()) return general_call(holder.call);
    if (!holder.variable.empty()) return holder.variable;
    if (holder.expression.root.empty()) return group_of_holder(holder);
    if (!scene.is_module_of_program(scene.root()))
        if (const std::string place = place_in_library(scene); !place.empty()) return place;
    return general_root(holder.expression) + written_steps(scene);
}

std::string with_content(const std::string& place, const std::string& content) {
    return content.empty() ? place : place + " of " + content;
}

}  // namespace

std::string general_call(const std::string& call) {
    constexpr std::string_view before_file = "(), ";
    const std::size_t end = call.rfind(before_file);
    if (end == std::string::npos) return call;
    const std::size_t dot = call.rfind('.', end), from = dot == std::string::npos ? 0 : dot + 1,
                      file = end + before_file.size();
    return call.substr(from, file - from) + general_numbers(call.substr(file), digits_of_files);
}

std::string pattern_of(const RetainedLookup& retained, const OverviewResult& overview,
                       const Suspect& suspect) {
    switch (suspect.kind) {
        case Suspect::Kind::holder: {
            std::string content = general_type_name(suspect.holder->joint ? suspect.holder->joint->type
                                                                          : suspect.holder->content_type);
            if (!suspect.cause.function.empty()) content += " " + suspect.cause.function + "()";
            // By which of its names (Out, _, _7) a result of a cell is still there differs with what else was run.
            const bool is_result = suspect.cause.kind == std::string_view("notebook-results");
            return with_content(is_result ? "Out[*]" : place_of_holder(Scene(retained, *suspect.holder)),
                                content);
        }
        case Suspect::Kind::pinned: {
            const ArrayHolderRow& row = *overview.pinned;
            return general_type_name(row.holder) + (row.joined ? "" : ".") + row.attribute;
        }
        case Suspect::Kind::garbage:
            return with_content("garbage", general_type_name(overview.garbage_type_name));
        case Suspect::Kind::garbage_list:
            return "gc.garbage";
        case Suspect::Kind::native: {
            const NativeCulprit& culprit = *overview.culprit;
            if (culprit.mixed && culprit.held.leaked == 0) return "blocks found from " + culprit.held.by;
            if (culprit.mixed) return "leaked blocks of several sizes";
            if (!culprit.of_class.empty()) return culprit.of_class;
            return culprit.size == 0 ? "blocks of several sizes"
                                     : fmt::format("blocks of {} bytes", culprit.size);
        }
        case Suspect::Kind::free_memory:
            return "free memory";
    }
    return {};
}

}  // namespace heapsift
