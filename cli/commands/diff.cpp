// heapsift diff: what grew between cores of one program. One core after another is opened, and closed again
// before the next: an inventory (analysis/growth/inventory.h) is what stays of it. So two cores take the memory of
// one. What each question finds is kept in that core's index, as ever.

#include "cli/commands/diff.h"

#include "analysis/growth/growth.h"
#include "cli/command_options.h"
#include "cli/core_times.h"
#include "cli/exported_inventory.h"
#include "cli/growth_limits.h"
#include "cli/question.h"
#include "cli/render/diff.h"
#include "cli/words.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/process/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace heapsift {
namespace {

struct DiffOptions {
    DiffTable table = DiffTable::summary;
    bool objects = false;
    GrowthSort sort = GrowthSort::growth;
    std::string max_growth;
    std::vector<std::string> fail_on;
};

void check(const Session& session, const DiffOptions& options) {
    if (!session.options().core.empty())
        throw wrong_usage("bad-option", "--core: diff takes its cores as arguments",
                          command_line("diff core.1 core.2"));
    if (options.sort == GrowthSort::retained && options.table != DiffTable::summary &&
        options.table != DiffTable::types)
        throw wrong_usage("bad-option", "--sort retained: only types have retained sizes",
                          command_line("diff core.1 core.2 --by type --sort retained"));
    const std::size_t count = session.words().paths.size();
    constexpr std::size_t most_cores = 64;
    if (count < 2)
        throw wrong_usage("two-cores-needed", "diff needs two cores, the older one first",
                          command_line("diff core.1 core.2"));
    if (count > most_cores)
        throw wrong_usage("too-many-cores", fmt::format("diff takes at most {} cores", most_cores));
}

/// A living one, whose core is taken when its turn comes.
bool is_process(const std::string& word) {
    std::error_code error;
    return looks_like_process_id(word) && !std::filesystem::exists(word, error);
}

/// What is asked of each core in turn.
class CoreByCore {
public:
    CoreByCore(Session& session, bool objects, std::vector<GrowthRule> rules)
        : session_(session), objects_(objects), rules_(std::move(rules)), retained_(rules_.size()) {}

    void ask(const std::string& path) {
        if (is_export(path)) {
            for (std::size_t i = 0; i < rules_.size(); ++i) {
                if (rules_[i].of == GrowthRule::Of::retained)
                    throw wrong_usage(
                        "not-a-core",
                        "--fail-on " + shell_quoted(rules_[i].typed) + ": an export does not tell it",
                        "retained() needs cores; count() and memory() do not");
                retained_[i].emplace_back();
            }
            inventories_.push_back(read_inventory(path));
            before_.cores.clear();  // its objects cannot be told from others
            times_.emplace_back();
            return;
        }
        CommonOptions options = session_.options();
        Words words;
        words.command = "diff";
        words.typed = session_.words().typed;
        if (is_process(path))
            words.process = static_cast<std::int32_t>(std::stol(path));
        else
            options.core = path;
        Session one(options, words, session_.console(), session_.redactor(), session_.program_run(), nullptr);
        one.leave_core_in_use();
        {
            Question question(one, {Need::retained, Need::memory, Need::native});
            question.filled();
            inventories_.push_back(inventory_of(question));
            for (std::size_t i = 0; i < rules_.size(); ++i)
                retained_[i].push_back(rules_[i].of == GrowthRule::Of::retained
                                           ? retained_for_rule(question, rules_[i])
                                           : std::nullopt);
            one.note_references(question.heap());
            times_.emplace_back(core_times(question.heap(), words.process ? std::string() : path));
            one.finish();
            one.tell_passes();
        }
        if (!again_) session_.include(one, path);
    }

    /// Forgets the answers, to ask all once more: now also which objects are new.
    void begin_again() {
        again_ = objects_ = true;
        inventories_.clear();
        times_.clear();
        before_ = {};
        retained_.assign(rules_.size(), {});
    }

    std::vector<Inventory>& inventories() { return inventories_; }
    /// Of each core; nothing of an export.
    const std::vector<std::optional<CoreTimes>>& times() const { return times_; }
    const std::vector<GrowthRule>& rules() const { return rules_; }
    const std::vector<std::vector<std::optional<std::uint64_t>>>& retained() const { return retained_; }

private:
    /// With --objects it is compared with the cores before, if they are the same process's.
    Inventory inventory_of(Question& question) {
        CoreIdentity identity = whole_identity(question.heap());
        if (!objects_) return take_inventory(question.work(), std::move(identity));
        const bool compared = !before_.cores.empty() && may_be_same_process(inventories_.back(), identity);
        Inventory inventory =
            take_inventory(question.work(), std::move(identity), compared ? &before_ : nullptr);
        inventory.compared = compared;
        if (compared) {
            const std::uint64_t earlier = before_.cores.back().size();
            inventory.gone = earlier - std::min(earlier, inventory.kept);
        } else {
            before_.cores.clear();
        }
        // Of more than three cores, the last two before this one count.
        if (before_.cores.size() == 2) before_.cores.erase(before_.cores.begin());
        before_.cores.push_back(object_marks(question.heap(), session_.progress()));
        return inventory;
    }

    Session& session_;
    bool objects_, again_ = false;
    std::vector<GrowthRule> rules_;
    std::vector<std::vector<std::optional<std::uint64_t>>> retained_;  // by rule and core
    std::vector<Inventory> inventories_;
    std::vector<std::optional<CoreTimes>> times_;
    EarlierObjects before_;
};

/// Cores in several folders often have one name.
void tell_files_apart(std::vector<Inventory>& cores, const std::vector<std::string>& paths) {
    std::set<std::string> names;
    for (const Inventory& core : cores) names.insert(core.file);
    if (names.size() == cores.size()) return;
    for (std::size_t i = 0; i < cores.size(); ++i) cores[i].file = paths[i];
}

void note_odd_questions(Session& session, CoreByCore& cores, const GrowthResult& result, bool objects) {
    const std::vector<std::string>& paths = session.words().paths;
    for (std::size_t i = 1; i < paths.size(); ++i)
        if (std::error_code error; std::filesystem::equivalent(paths[i - 1], paths[i], error))
            session.diagnostics().add("the-same-core", "the same core was given twice");
    const auto& times = cores.times();
    for (std::size_t i = 1; i < times.size(); ++i)
        if (const auto doubt =
                times[i - 1] && times[i] ? doubt_of_order(*times[i - 1], *times[i]) : std::nullopt) {
            session.diagnostics().add("cores-swapped", *doubt);
            break;
        }
    for (const std::string& rule : rules_without_type(cores.inventories(), cores.rules()))
        session.diagnostics().add("limit-of-nothing", "--fail-on " + escape_for_terminal(rule) +
                                                          ": no core has an object of that type");
    if (objects && !result.cores.back().compared)
        session.diagnostics().add("objects-not-compared",
                                  "--objects: the cores are not known to be of one process, so no object is "
                                  "told to be new");
    if (!result.same_program)
        session.diagnostics().add(
            "not-the-same-program",
            "the cores are not of the same program: names that are equal may mean others");
}

std::string words_of(Session& session) {
    std::string words = "diff";
    for (const std::string& path : session.words().paths)
        words += " " + shell_quoted(session.redactor().path(path));
    return words;
}

ExitCode run_diff(Session& session, const DiffOptions& options) {
    check(session, options);
    const std::vector<std::string>& paths = session.words().paths;
    for (const std::string& path : paths)
        if (!is_process(path)) session.redactor().know_path(path);
    for (const std::string& path : paths)  // before minutes go by with the others
        if (is_process(path)) {
            if (const auto why = why_no_access(access_facts(static_cast<std::int32_t>(std::stol(path))),
                                               session.words().typed))
                throw *why;
        } else if (std::error_code error; !std::filesystem::exists(path, error))
            throw cannot_analyse("no-such-file",
                                 escape_for_terminal(session.redactor().path(path)) + ": no such file");
    std::optional<GrowthLimit> limit;
    if (!options.max_growth.empty()) limit = parse_growth_limit("--max-growth", options.max_growth);
    std::vector<GrowthRule> rules;
    for (const std::string& rule : options.fail_on) rules.push_back(parse_growth_rule(rule));
    // A process that runs cannot be asked once more about the same moment.
    const bool at_once = options.objects || std::any_of(paths.begin(), paths.end(), is_process);
    CoreByCore cores(session, at_once, std::move(rules));
    const auto ask_all = [&] {
        for (const std::string& path : paths) cores.ask(path);
        tell_files_apart(cores.inventories(), paths);
        return growth(cores.inventories());
    };
    GrowthResult result = ask_all();
    if (!at_once && result.same_process && result.may_have_moved()) {
        cores.begin_again();
        result = ask_all();
    }
    const std::vector<std::string> exceeded = exceeded_limits(result, limit, cores.rules(), cores.retained());
    note_odd_questions(session, cores, result, options.objects);
    Document document = render_diff(std::move(result), {.table = options.table,
                                                        .sort = options.sort,
                                                        .rows = session.options().rows(),
                                                        .newest = paths.back(),
                                                        .command = words_of(session)});
    document.data["exceeded"] = Datum::list_of(exceeded, [](const std::string& text) { return Datum(text); });
    if (exceeded.empty()) return session.write(document);
    return session.write(document,
                         Error(ExitCode::limit_exceeded, "limit-exceeded", exceeded.front(),
                               exceeded.size() > 1 ? fmt::format("and {} more", exceeded.size() - 1) : ""));
}

}  // namespace

CommandRunner setup_diff(CommandOptions& declare) {
    auto options = std::make_shared<DiffOptions>();
    declare.choice(
        "--by", {"type", "holder", "array", "native", "memory", "line"},
        [options](std::size_t choice) {
            constexpr DiffTable tables[] = {DiffTable::types,  DiffTable::holders, DiffTable::arrays,
                                            DiffTable::native, DiffTable::memory,  DiffTable::lines};
            options->table = tables[choice];
        },
        "one table, whole");
    declare.choice(
        "--sort", {"growth", "count", "retained", "name"},
        [options](std::size_t choice) {
            constexpr GrowthSort sorts[] = {GrowthSort::growth, GrowthSort::count, GrowthSort::retained,
                                            GrowthSort::name};
            options->sort = sorts[choice];
        },
        "sort key of the tables (default growth; retained: of types)");
    declare.flag("--objects", options->objects,
                 "of one process: which objects are new, gone or kept, by address, type and content");
    declare.text("--max-growth", options->max_growth, "SIZE|N%", "exit 4 if what is in use grew by more");
    declare.texts("--fail-on", options->fail_on, "RULE",
                  "exit 4 if this grew by more: retained(app.CACHE)>10%");
    return [options](Session& session) { return run_diff(session, *options); };
}

std::string diff_details() {
    return "The cores are given from the oldest to the newest. Growth is told by names that\n"
           "mean the same in each of them: types, attributes, globals, locals of functions.\n"
           "With three or more cores, what grew from each to the next comes first. Of one\n"
           "process, objects that went from one place to another are told from new ones.\n"
           "The id of a process that runs stands for a core of it, taken when its turn\n"
           "comes: diff core.1 PID.\n\n"
           "A soak test that takes two cores fails with exit code 4 if one of its limits is\n"
           "exceeded: RULE is retained(EXPRESSION), count(TYPE) or memory(TYPE), then > and\n"
           "a size, a number, or a share of what was there before:\n  " +
           command_line("diff core.1 core.2 --fail-on 'retained(app.CACHE)>1M'") + "\n";
}

}  // namespace heapsift
