#include "cli/report/report.h"

#include "analysis/doctor.h"
#include "analysis/dominators.h"
#include "analysis/gc.h"
#include "analysis/holders.h"
#include "analysis/kept_types.h"
#include "analysis/memory.h"
#include "analysis/overview.h"
#include "analysis/refcounts.h"
#include "analysis/retained_types.h"
#include "analysis/suspects/suspects.h"
#include "analysis/threads.h"
#include "analysis/traced_lines.h"
#include "analysis/why.h"
#include "cli/array_reader.h"
#include "cli/render/cycles.h"
#include "cli/render/diff.h"
#include "cli/render/doctor.h"
#include "cli/render/dominators.h"
#include "cli/render/gc.h"
#include "cli/render/holder_words.h"
#include "cli/render/holders.h"
#include "cli/render/memory.h"
#include "cli/render/native.h"
#include "cli/render/overview.h"
#include "cli/render/refcounts.h"
#include "cli/render/suspects.h"
#include "cli/render/threads.h"
#include "cli/render/types.h"
#include "cli/render/why.h"
#include "cli/task_reader.h"
#include "cli/usual_questions.h"
#include "cli/write/html.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t rows_of_page = 1000;  // of types; of wider rows fewer
constexpr std::size_t suspects_of_page = 20, paths_of_page = 12, locals_of_page = 50;

}  // namespace

Page page_of_report(const Session& session, const ReportWishes& wishes) {
    Page page = session.page_of_file();
    if (!wishes.newer.empty() && !session.words().process) page.core_words = " " + shell_quoted(wishes.newer);
    return page;
}

namespace {

class ReportWriter {
public:
    ReportWriter(Session& session, std::shared_ptr<Question> question, ReportWishes wishes)
        : session_(session),
          question_(std::move(question)),
          wishes_(std::move(wishes)),
          page_(page_of_report(session, wishes_)),
          heap_(question_->filled()),
          overview_(overview(question_->work(), overview_rows)),
          suspects_(suspects(question_->work(), overview_, suspects_of_page, true)) {}

    ReportPage write() {
        ReportPage made;
        // The trees first: the searches for their paths take most memory.
        const AreaNode objects = object_areas();
        made.areas.emplace_back("types", areas_of_types(question_->graph(), question_->retained(), page_));
        if (wishes_.growth) made.sections.push_back(growth_section());
        made.sections.push_back(suspects_section());
        made.sections.push_back(memory_section());
        made.sections.push_back(picture_section(objects));
        made.sections.push_back(types_section());
        made.sections.push_back(holders_section());
        made.sections.push_back(threads_section());
        made.sections.push_back(tasks_section());
        made.sections.push_back(garbage_section());
        made.sections.push_back(arrays_section());
        made.sections.push_back(native_section());
        made.sections.push_back(doctor_section());
        made.areas.insert(made.areas.begin(), {"objects", objects});
        add_head(made);
        return made;
    }

private:
    std::size_t rows(std::size_t usual) const { return wishes_.rows.value_or(usual); }
    ProgressCallback progress() const { return session_.progress(); }
    RetainedLookup retained() const { return {question_->graph(), question_->retained()}; }

    std::string part(const Document& document) const {
        return report_part(document.blocks, page_, document.command);
    }
    std::string part(const Document& document, std::string_view caption) const {
        return report_part(document.blocks, page_, caption);
    }

    void add_head(ReportPage& made) const {
        note_collector_settings(heap_.snapshot().python.layout, session_.diagnostics());
        OverviewCore core = overview_core(heap_.core(), heap_.snapshot().python);
        const Text holds = overview_sentence(overview_, suspects_);
        const Text headline = wishes_.growth ? growth_headline(*wishes_.growth) : holds;
        if (!wishes_.newer.empty()) core.file_name = wishes_.newer;
        made.title = escape_for_terminal(core.file_name) + ": " + plain(headline, page_);
        made.head.push_back(report_part({overview_masthead(overview_, core)}, page_, {}));
        made.head.push_back("<p class=\"headline\">" + html_of(headline, page_) + "</p>\n");
        if (wishes_.growth)
            made.head.push_back("<p>" + html_of(says("In the newer core: {}", holds), page_) + "</p>\n");
        if (std::string notes = report_notes(session_.diagnostics(), page_); !notes.empty())
            made.head.push_back(std::move(notes));
    }

    ReportSection suspects_section() {
        ReportSection made{"suspects", "Suspects", "suspects",
                           "What keeps the memory, the likely cause, and what to change; below each the path "
                           "that keeps it alive."};
        if (suspects_.suspects.empty()) {
            made.parts.push_back(part(render_suspects(suspects_, overview_)));
            add_paths_of_holders(made);
            return made;
        }
        std::size_t number = 0, paths = 0;
        for (const Suspect& suspect : suspects_.suspects) {
            const SuspectWords words = words_of(suspect, overview_);
            std::string html = "<article class=\"suspect\">\n";
            html += report_heading(says("{}. {}{}", std::to_string(++number), ByteCount{suspect.bytes},
                                        suspect.bytes > overview_.in_use_bytes
                                            ? Text()
                                            : says(" ({})", Share{suspect.bytes, overview_.in_use_bytes})) +
                                       "  " + words.keeper,
                                   page_);
            for (const Text& line : words.evidence) html += "<p>" + html_of(line, page_) + "</p>\n";
            if (!words.fix.empty()) html += "<p class=\"fix\">" + html_of(words.fix, page_) + "</p>\n";
            html += report_part({hint(words.next)}, page_, {});
            const ObjectId example = example_of(suspect);
            if (example != no_object && paths++ < paths_of_page)
                html += part(path_of(example), "The path that keeps it alive");
            made.parts.push_back(html + "</article>\n");
        }
        return made;
    }

    /// The object whose path is shown.
    ObjectId example_of(const Suspect& suspect) {
        if (suspect.kind == Suspect::Kind::pinned) return overview_.pinned->example;
        if (!suspect.holder) return no_object;
        if (suspect.holder->object) return suspect.holder->object->id;
        if (!suspect.holder->joint) return no_object;
        for (const NodeId member : suspect.holder->joint->sample)  // one of what several hold together
            if (question_->graph().kind(member) == NodeKind::object) return HeapGraph::object_of(member);
        return no_object;
    }

    /// Where nothing is suspect: what holds most, all the same.
    void add_paths_of_holders(ReportSection& made) {
        constexpr std::size_t most = 3;
        std::size_t paths = 0;
        for (const TopHolder& holder : overview_.holders) {
            if (!holder.object || paths++ >= most) continue;
            if (paths == 1) made.parts.push_back("<p>What holds most, all the same:</p>\n");
            const Text content = content_words(holder);
            made.parts.push_back(
                "<article class=\"suspect\">\n" +
                report_heading(says("{}{}  {}{}{}", ByteCount{holder.in_use()},
                                    holder.in_use() > overview_.in_use_bytes
                                        ? Text()
                                        : says(" ({})", Share{holder.in_use(), overview_.in_use_bytes}),
                                    holder_words(holder), content.empty() ? "" : ", ", content),
                               page_) +
                part(path_of(holder.object->id), "The path that keeps it alive") + "</article>\n");
        }
    }

    Document path_of(ObjectId object) {
        WhyQuery query;
        query.lines = rows_for_people;
        const HeapGraph& graph = question_->graph();
        const EveryRootPath* every =
            graph.reach(object) != Reach::unreachable ? question_->work().paths() : nullptr;
        Document document = render_why(why(graph, question_->retained(), object, query, progress(),
                                           &question_->states(), every, question_->answers()));
        std::erase_if(document.blocks,
                      [](const Block& block) { return std::holds_alternative<Hint>(block.content); });
        return document;
    }

    ReportSection growth_section() {
        ReportSection made{"growth", "What grew", "diff " + shell_quoted(wishes_.older),
                           "Between the older core and this one."};
        Page page = page_;
        page.core_words.clear();  // `diff` names its cores itself
        const auto add = [&](DiffTable table, std::size_t most, std::string_view caption) {
            const Document document = render_diff(
                *wishes_.growth,
                {.table = table,
                 .sort = GrowthSort::growth,
                 .rows = rows(most),
                 .newest = wishes_.newer,
                 .command = "diff " + shell_quoted(wishes_.older) + " " + shell_quoted(wishes_.newer)});
            made.parts.push_back(report_part(document.blocks, page, caption));
        };
        add(DiffTable::summary, rows_for_people, "What grew");
        made.parts.push_back(report_heading("By type", page_));
        add(DiffTable::types, rows_of_page / 4, "Growth by type");
        made.parts.push_back(report_heading("By holder", page_));
        add(DiffTable::holders, rows_of_page / 4, "Growth by holder");
        return made;
    }

    ReportSection memory_section() {
        ReportSection made{"memory", "Where the memory is", "memory",
                           "All that the process has in use, each byte once."};
        made.parts.push_back(memory_bar(overview_, page_));
        made.parts.push_back("<div class=\"parts\">" +
                             report_part({overview_memory(overview_)}, page_, "Where the memory is") +
                             "</div>\n");
        made.parts.push_back(report_heading("Mapped memory and allocators", page_));
        made.parts.push_back(
            part(render_memory(memory(heap_, false, rows(rows_for_people), question_->answers()), false),
                 "Mapped memory and allocators"));
        return made;
    }

    AreaNode object_areas() {
        const RetainedLookup lookup = retained();
        const std::uint64_t total = lookup.memory(question_->graph().root());
        return areas_of_objects(dominators(question_->graph(), question_->retained(), query_for_areas(total),
                                           progress(), question_->answers()),
                                page_);
    }

    ReportSection picture_section(const AreaNode& objects) {
        ReportSection made{"picture-of-all", "What retains what", "dominators",
                           "Each area is as large as what deleting it would free, and lies in, or below, "
                           "what keeps it alive."};
        made.parts.push_back(report_picture(objects, page_));
        made.parts.push_back(report_heading("The same as a table", page_));
        DominatorsQuery query;
        query.depth = dominators_depth;
        query.limit = dominators_rows_for_people;
        query.least = retained().memory(question_->graph().root()) / dominators_parts_for_people;
        made.parts.push_back(
            part(render_dominators(DominatorsAnswer(question_->graph(), question_->retained(), query,
                                                    progress(), question_->answers())),
                 "What retains what"));
        return made;
    }

    ReportSection types_section() {
        const std::size_t most = rows(rows_of_page);
        TypesResult result = kept_types(question_->answers(), heap_, SortKey::retained, most, [&] {
            TypesResult found = types(heap_, SortKey::retained, 0, progress());
            add_retained(found, question_->graph(), question_->retained(), SortKey::retained, most,
                         progress());
            return found;
        });
        note_impossible_total(result.total_size, result.total_memory, heap_.core().extent().mapped_bytes,
                              session_.diagnostics());
        note_uncertain_sizes(result, session_.diagnostics(), false);
        ReportSection made{"types", "Types", "types", "Objects by type."};
        made.parts.push_back(part(render_types(std::move(result), SortKey::retained), "Types"));
        return made;
    }

    ReportSection holders_section() {
        HoldersResult result = holders(question_->graph(), {}, {}, rows(rows_of_page / 2), progress(),
                                       question_->answers(), &question_->retained());
        ReportSection made{"holders", "Holders", "holders",
                           "Who holds the memory: the owner and its attribute, a function and its local."};
        made.parts.push_back(part(render_holders(std::move(result), "holders", {}), "Holders"));
        return made;
    }

    ReportSection threads_section() {
        const RetainedLookup lookup = retained();
        ReportSection made{"threads", "Threads", "threads", "The calls of each thread, with their locals."};
        made.parts.push_back(
            part(render_threads(threads(heap_, rows(locals_of_page), &lookup, false, question_->answers())),
                 "Threads"));
        return made;
    }

    ReportSection tasks_section() {
        const TaskReader reader(question_);
        TasksResult result = reader.find(progress());
        ReadTask read = reader.read(result, {}, progress());
        ReportSection made{"tasks", "Tasks", "tasks",
                           "Tasks of asyncio, greenlets and generators that are suspended, by place."};
        made.parts.push_back(
            part(render_tasks(std::move(result), std::move(read), false, rows(rows_of_page / 5)), "Tasks"));
        return made;
    }

    ReportSection garbage_section() {
        CyclesQuery query;
        query.unreachable = query.uncollectable = true;
        query.kinds = rows(rows_of_page / 10);
        query.garbage_list = 1;
        const auto result = std::make_shared<const CyclesResult>(cycles(question_->work(), query));
        ReportSection made{"garbage", "Garbage and the collector", "cycles",
                           "Cycles that nothing reaches, and why they are still there."};
        CycleCode code = cycle_code(question_->work(), *result);
        const std::vector<CollectorCall> calls = std::move(code.calls);
        code.calls.clear();  // these stand below
        made.parts.push_back(part(render_cycles(result, {}, code), "Garbage"));
        made.parts.push_back(report_heading("The collector", page_));
        made.parts.push_back(part(render_gc(gc(heap_, rows_for_people, false, progress(),
                                               question_->answers(), &question_->states().collection),
                                            calls),
                                  "The collector"));
        return made;
    }

    ReportSection arrays_section() {
        ArraysQuery query;
        query.rows = rows(rows_of_page / 5);
        const auto result = std::make_shared<const ArraysResult>(arrays(question_->work(), query));
        note_damaged_objects(result->table.sums.unread, session_.diagnostics());
        ReportSection made{"arrays", "Arrays", "arrays",
                           "NumPy arrays: what owns their data, and what keeps it."};
        made.parts.push_back(part(render_arrays(result, rows_of_arrays(question_, result)), "Arrays"));
        return made;
    }

    ReportSection native_section() {
        const NativeQuery query{.limit = rows(rows_of_page / 5), .leaked_only = false};
        NativeListReader reader(heap_);
        NativeDetails details{.list = [&] { return native_list(heap_, query); },
                              .row = [&](Address block, std::uint32_t row) { return reader.row(block, row); },
                              .contents = [&] { return native_contents(heap_, query); },
                              .line = {}};
        ReportSection made{"native", "Native blocks", "native",
                           "Blocks of C and C++ code, by class and by size, and what refers to them."};
        made.parts.push_back(
            part(render_native(native(heap_, query), std::move(details), {}), "Native blocks"));
        return made;
    }

    ReportSection doctor_section() {
        const DoctorResult result = doctor(heap_, progress(), question_->answers());
        note_damaged_objects(result.damaged_objects, session_.diagnostics());
        session_.note_references(heap_);
        ReportSection made{"doctor", "Self-check", "doctor",
                           "What the core holds and lacks, and how well its objects add up."};
        made.parts.push_back(part(render_doctor(result), "Self-check"));
        made.parts.push_back(report_heading("References that were not found", page_));
        made.parts.push_back(
            part(render_refcounts(refcounts(heap_, {.types = {}, .limit = rows(rows_for_people)}, progress(),
                                            question_->answers())),
                 "References that were not found"));
        return made;
    }

    Session& session_;
    std::shared_ptr<Question> question_;
    ReportWishes wishes_;
    Page page_;
    const HeapReader& heap_;
    OverviewResult overview_;
    SuspectsResult suspects_;
};

}  // namespace

std::vector<Need> needs_of_report() {
    return {Need::memory, Need::native, Need::holders, Need::retained, Need::states};
}

ReportPage report(Session& session, const std::shared_ptr<Question>& question, ReportWishes wishes) {
    return ReportWriter(session, question, std::move(wishes)).write();
}

}  // namespace heapsift
