// What questions found is kept and read again: what is made of it reads the same; what is damaged is found
// anew, and whatever values a file has, nothing crashes.

#include "analysis/kept_answers.h"

#include "analysis/arrays.h"
#include "analysis/cycles.h"
#include "analysis/doctor.h"
#include "analysis/dominators.h"
#include "analysis/gc.h"
#include "analysis/holders.h"
#include "analysis/kept_types.h"
#include "analysis/memory.h"
#include "analysis/objects.h"
#include "analysis/overview.h"
#include "analysis/refcounts.h"
#include "analysis/retained_types.h"
#include "analysis/tasks.h"
#include "analysis/threads.h"
#include "analysis/why.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr IndexKey core_key{3, 4};
constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// A program of which every question finds something.
struct AskedProgram {
    AskedProgram() {
        const Address node = program.python_class("Node", {"next", "other"});
        for (int i = 0; i < 3; ++i) {
            const Address first = program.instance(node), second = program.instance(node);
            program.set_slot(first, 0, second);
            program.set_slot(second, 0, first);
        }
        program.leak(program.list({program.heap.real(1.5)}), 1);
        shared = program.list({program.heap.real(4.5), program.heap.real(5.5)});
        const Address document = program.heap.object(program.heap.c_type("fast.Document", {.basicsize = 32}));
        block = program.heap.allocate(1000);
        program.heap.put(document + 16, block);  // behind its header
        const auto& l = program.heap.layout().task;
        const Address task_type =
            program.heap.c_type("_asyncio.Task", {.basicsize = *l.size, .flags = test::have_gc_flag});
        for (Address& task : tasks) {
            task = program.object(task_type);
            program.heap.set(task, l.coro, program.generator("poll", {}, "coroutine"));
        }
        program.heap.set(tasks[0], l.waiter, tasks[1]);
        program.module(
            "jobs", "/srv/app/jobs.py",
            {{"TASKS", program.list({tasks[0], tasks[1]})}, {"ITEMS", program.generator("items", {})}});
        program.module("app", "/srv/app/app.py",
                       {{"ROWS", program.list({program.instance(node), program.heap.real(2.5)})},
                        {"DOCUMENT", document},
                        {"ONE", program.list({shared})},
                        {"TWO", program.list({shared})}});
        program.call("main", {{"rows", program.list({})}});
        program.hold_natively(program.list({program.heap.real(3.5)}));
        program.collector_garbage({program.list({})});
        path = directory.write("core", program.bytes());
    }
    std::string answers_path() const { return directory.path() + "/core.answers"; }

    ProgramHeap program;
    TemporaryDirectory directory;
    std::string path;
    Address block;     // of C code
    Address shared;    // two lists hold it
    Address tasks[2];  // the first waits for the second
};

std::string words(const std::optional<ObjectRow>& row) {
    return row ? fmt::format("{:#x} {} {} {}", row->address.value, row->type, row->value.text,
                             row->retained.value_or(0))
               : "-";
}
std::string words(const PathExpression& expression) {
    std::string text = expression.root;
    for (const PrintedStep& step : expression.steps) text += " " + notation(step.name);
    return fmt::format("{} from {}", text, expression.first);
}
std::string words(const JointHolders& joint) {
    std::string text = fmt::format("{} {} {} {} {}", joint.type, joint.count, joint.retained, joint.joint,
                                   joint.begins_with_held);
    for (const ObjectRow& row : joint.holders) text += " " + words(row);
    for (const std::string& group : joint.groups) text += " " + group;
    for (const PathExpression& expression : joint.expressions) text += " " + words(expression);
    return text;
}
std::string words(const DominatorNode& node) {
    std::string text =
        fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", words(node.object), node.group, notation(node.name),
                    node.remark, words(node.expression), node.retained, node.native, node.run,
                    notation(node.run_name), node.folded, node.folded_retained);
    for (const JointHolders& joint : node.joint) text += "joint " + words(joint) + "\n";
    for (const DominatorNode& child : node.children) text += words(child);
    return text;
}

/// Everything asked of a core, in words.
struct Answers {
    Answers(const AskedProgram& asked, IndexFile* file) : kept(file) {
        Diagnostics diagnostics;
        CoreHeap heap = CoreHeap::open(CoreFile::open(asked.path, {}, diagnostics), diagnostics);
        heap.add({all_columns});
        Work work(heap, {}, nullptr, &kept);
        const RetainedLookup retained(work.graph(), work.retained());
        for (const SortKey sort : {SortKey::memory, SortKey::name, SortKey::retained}) {
            const bool by_retained = sort == SortKey::retained;
            const TypesResult table = kept_types(&kept, heap, sort, 5, [&] {
                TypesResult result = types(heap, sort, by_retained ? 0 : 5);
                if (by_retained) add_retained(result, work.graph(), work.retained(), sort, 5);
                return result;
            });
            for (const TypeRow& row : table.types) {
                say("{} {} {} {} {} {}", row.name, row.count, row.memory, row.retained.value_or(0),
                    row.native, words(row.largest));
                native += row.native;
            }
            say("{} {} {}", table.total_memory, table.shown_memory, table.uncertain_sizes);
        }
        for (const SortKey sort : {SortKey::memory, SortKey::retained}) {
            ObjectsQuery query;
            query.sort = sort;
            const ObjectsResult list = objects(heap, query, &retained, {}, &kept);
            for (const ObjectId object : list.objects) say("{}", words(object_row(heap, object)));
            say("{} {} {}", list.total_count, list.total_memory, list.shown_memory);
        }
        const DoctorResult state = doctor(heap, {}, &kept);
        say("{} {} {} {}", state.counts.objects, state.counts.balanced, state.references_guessed,
            state.references_written);
        for (const auto& [how, count] : state.found_by) say("{} {}", how, count);
        for (const auto& row : state.guessed) say("{} {} {}", row.name, row.objects, row.memory);
        for (const bool list : {false, true}) {
            const GcResult collector = gc(heap, 20, list, {}, &kept);
            for (const GcInterpreter& row : collector.interpreters)
                say("{} {} {} {} {}", row.id, row.collectable.count, row.collectable.size, row.freed_bytes,
                    row.garbage_count);
            for (const ObjectId object : collector.found) say("{}", std::uint32_t{object});
            for (const GcFinalizer& row : collector.finalizers) say("{} {}", row.type, row.count);
        }
        const RefcountsResult counts = refcounts(heap, {.types = {}, .limit = 20}, {}, &kept);
        for (const auto* rows : {&counts.rows, &counts.deficits})
            for (const RefcountRow& row : *rows) {
                say("{} {} {} {}", words(row.object), row.accounted, row.excess, row.leaked);
                for (const RefcountHolder& holder : row.holders)
                    say("{} {}", holder.word.value, holder.place);
            }
        for (const RefcountType& row : counts.types) say("{} {} {}", row.name, row.objects, row.explained);
        say("{} {} {}", counts.excess, counts.balanced, counts.deficit);
        const DominatorsResult tree = dominators(work.graph(), work.retained(), {}, {}, &kept);
        say("{} {} {}\n{}", tree.total, tree.loose, tree.next.value, words(tree.top));
        const CyclesResult cycle = cycles(work, {});
        for (const CycleKind& kind : cycle.kinds) {
            say("{} {} {} {}", kind.example, kind.cycles, kind.objects, kind.retained);
            for (const CycleStep& step : kind.path.steps) say("{} {}", step.type, notation(step.name));
        }
        for (const Cycle& one : cycle.cycles) {
            say("{} {} {} {}", one.id, one.equal_to, one.count, cycle.reason(one));
            for (const ObjectRow& row : cycle_row(work, cycle, one, {}).details.members)
                say("{}", words(row));
        }
        say("{} {} {}", cycle.waiting.bytes, cycle.never.bytes, cycle.held.bytes);
        const OverviewResult screen = overview(work, 5);
        for (const TopHolder& holder : screen.holders)
            say("{} {} {} {} {} {} {} {}", words(holder.object), words(holder.expression), holder.group,
                holder.retained, holder.content_type, holder.content_count, holder.remark,
                holder.joint ? words(*holder.joint) : "-");
        say("{} {} {} {}", screen.garbage_memory, screen.garbage_remark, screen.headline.bytes,
            screen.pinned_bytes);
        const ArraysResult shown = arrays(work, {});
        say("{} {}", shown.table.sums.arrays, shown.holders.total_rows);
        say("{}", memory(heap, false, 0, &kept).zeros);
        for (const ThreadRow& thread : threads(heap, 5, &retained, true, &kept).threads)
            for (const FrameRow& frame : thread.frames)
                say("{} {}", frame.called, frame.native ? frame.native->function : "-");
        const WhyResult paths = why(work.graph(), work.retained(), heap.snapshot().find(asked.shared),
                                    {.paths = 3}, {}, nullptr, nullptr, &kept);
        say("{}", paths.paths.size());
        for (const WhyPath& path : paths.paths)
            say("{} {} {}", path.root_words, words(path.expression), path.disjoint);
        say_tasks(retained);
        found = kept.take_found();
    }
    void say_tasks(const RetainedLookup& retained) {
        const AwaitReader awaits(retained.graph().heap());
        const TasksResult waiting = tasks(awaits, retained, {}, &kept);
        for (const TaskRow& row : waiting.rows) {
            const TaskDetails details = task_details(awaits, retained, waiting, row);
            const TaskPlace& place = waiting.places[row.place];
            say("{} {} {} {} {} {}", words(details.object), place.coroutine, place.line, details.calls.size(),
                details.awaited_by_count, row.finishes ? *row.finishes : 2);
            say("{} {} {}", static_cast<int>(row.awaits), row.until.value_or(0), words(details.waits_for));
        }
        for (const TaskGroup& group : waiting.groups)
            say("{} {} {}", group.count, group.retained, group.example.value);
        say("{} {} {}", waiting.never, waiting.ended, waiting.counts[0]);
    }
    template <class... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) {
        text += fmt::format(format, std::forward<Values>(values)...) + "\n";
    }

    KeptAnswers kept;
    std::vector<PartWriter> found;
    std::string text;
    std::uint64_t native = 0;  // bytes of blocks of C code, of all types
};

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
void write_private(const std::string& path, const std::string& bytes) {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
    std::filesystem::permissions(path,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace

TEST_CASE("kept answers: read again, they say the same", "[program][index]") {
    const AskedProgram asked;
    const Answers without(asked, nullptr);
    CHECK(without.found.empty());
    CHECK(without.native > 0);
    IndexFile absent(asked.answers_path(), core_key);
    const Answers cold(asked, &absent);
    CHECK(cold.text == without.text);
    CHECK(cold.found.size() > 12);
    REQUIRE(absent.keep(cold.found, no_limit).kept == IndexFile::Kept::kept);
    IndexFile file(asked.answers_path(), core_key);
    const Answers warm(asked, &file);
    CHECK(warm.text == without.text);
    CHECK(warm.found.empty());
    CHECK(file.state() == IndexFile::State::usable);
}

TEST_CASE("addresses: whose they are is the same without blocks of C code, with them, and with an index",
          "[program][index]") {
    const AskedProgram asked;
    const auto owners = [&](CoreHeap& heap) {
        std::string text;
        for (Address at = asked.block - 8192; at < asked.block + 8192; at = at + 8) {
            const AddressFinding found = heap.locate(at);
            text += fmt::format("{:#x} {} {} {}\n", at.value, static_cast<int>(found.kind),
                                std::uint32_t{found.object}, std::uint32_t{found.nearest});
        }
        return text;
    };
    Diagnostics diagnostics;
    const auto open = [&](IndexFile* index) {
        return CoreHeap::open(CoreFile::open(asked.path, {}, diagnostics), diagnostics, {}, index);
    };
    CoreHeap heap = open(nullptr);
    const std::string before = owners(heap);
    for (const auto kind : {AddressFinding::Kind::object, AddressFinding::Kind::buffer_of_object,
                            AddressFinding::Kind::other_memory})
        CHECK(before.find(fmt::format(" {} ", static_cast<int>(kind))) != before.npos);
    CHECK(heap.locate(asked.block + 8).kind == AddressFinding::Kind::other_memory);
    heap.add({all_columns});
    REQUIRE(heap.snapshot().native_graph->find(asked.block + 8) != no_block);
    CHECK(owners(heap) == before);
    IndexFile absent(asked.answers_path(), core_key);
    REQUIRE(absent.keep(heap.parts(), no_limit).kept == IndexFile::Kept::kept);
    IndexFile file(asked.answers_path(), core_key);
    CoreHeap warm = open(&file);
    CHECK_FALSE(warm.snapshot().native_graph.there());
    CHECK(owners(warm) == before);
    CHECK(file.state() == IndexFile::State::usable);
}

TEST_CASE("kept answers: no value of the program is in the file", "[program][index]") {
    const AskedProgram asked;
    IndexFile file(asked.answers_path(), core_key);
    REQUIRE(file.keep(Answers(asked, &file).found, no_limit).kept == IndexFile::Kept::kept);
    const std::string bytes = bytes_of(asked.answers_path());
    for (const char* text : {"ROWS", "app.py", "/srv", "Node"}) CHECK_FALSE(bytes.find(text) != bytes.npos);
}

TEST_CASE("kept answers: damaged, they are found anew", "[program][index]") {
    const AskedProgram asked;
    const Answers without(asked, nullptr);
    IndexFile absent(asked.answers_path(), core_key);
    REQUIRE(absent.keep(Answers(asked, &absent).found, no_limit).kept == IndexFile::Kept::kept);
    const std::string whole = bytes_of(asked.answers_path());
    std::mt19937 random(7);
    for (int i = 0; i < 60; ++i) {
        std::string damaged = whole;
        if (i % 4 == 0)
            damaged.resize(random() % whole.size());
        else
            damaged[random() % whole.size()] ^= static_cast<char>(1 << random() % 8);
        write_private(asked.answers_path(), damaged);
        IndexFile file(asked.answers_path(), core_key);
        CHECK(Answers(asked, &file).text == without.text);
    }
}

TEST_CASE("kept answers: any values with a right checksum do no harm", "[program][index]") {
    const AskedProgram asked;
    IndexFile absent(asked.answers_path(), core_key);
    const Answers cold(asked, &absent);
    std::mt19937 random(11);
    for (int i = 0; i < 150; ++i) {
        std::vector<PartWriter> lies;
        for (const PartWriter& part : cold.found) {
            const auto blob = part.blobs().front();
            std::vector<std::byte> bytes(blob.begin(), blob.end());
            const std::size_t text = 8 + std::to_integer<std::size_t>(bytes[0]);  // the question stays
            for (auto flips = random() % 3; flips > 0 && bytes.size() > text; --flips)
                bytes[text + random() % (bytes.size() - text)] ^=
                    static_cast<std::byte>(random() % 2 ? 1 << random() % 8 : random() % 256);
            PartWriter& lie = lies.emplace_back(part.name());
            for (const std::byte byte : bytes) lie.number(byte);
        }
        std::filesystem::remove(asked.answers_path());
        IndexFile writer(asked.answers_path(), core_key);
        REQUIRE(writer.keep(lies, no_limit).kept == IndexFile::Kept::kept);
        IndexFile file(asked.answers_path(), core_key);
        CHECK_FALSE(Answers(asked, &file).text.empty());
    }
}

TEST_CASE("kept answers: another question's, and too many", "[program][index]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/core.answers";
    CHECK(KeptQuestion("types").with(1).with(20).part_name() !=
          KeptQuestion("types").with(1).with(2).with(0).part_name());
    CHECK(KeptQuestion("dominators").with(~std::uint64_t{0}).part_name().size() == 23);
    IndexFile file(path, core_key);
    CHECK_FALSE(KeptAnswers::is_full(file, 64));
    CHECK(KeptAnswers::is_full(file, 65));
    std::vector<PartWriter> parts;
    for (int i = 0; i < 60; ++i) parts.emplace_back(fmt::format("part {}", i)).number(i);
    REQUIRE(file.keep(parts, no_limit).kept == IndexFile::Kept::kept);
    CHECK_FALSE(KeptAnswers::is_full(IndexFile(path, core_key), 4));
    CHECK(KeptAnswers::is_full(IndexFile(path, core_key), 5));
}

namespace {

std::string words(const HoldersResult& held) {
    std::string text =
        fmt::format("{} {} {} {}\n", held.total_rows, held.total_count, held.total_memory, held.without_path);
    for (const HolderRow& row : held.rows) {
        text += fmt::format("{} {} {} {} {} {} {} {} {}\n", row.type_name, row.holder, row.attribute,
                            row.joined, row.expression, row.example_address.value, row.count, row.memory,
                            row.retained.value_or(0));
        text += fmt::format("{} {} {} {}\n", row.native.value_or(1), row.also_held, row.and_others,
                            row.is_shared);
        for (const OtherHolder& other : row.also_held_by)
            text += fmt::format("  {} {} {} {} {}\n", other.holder, other.attribute, other.joined,
                                other.nameless, other.count);
    }
    return text;
}

std::string words(const EdgeList& list) {
    std::string text = fmt::format("{} {} {} {}\n", list.total, list.followed, list.owned, list.guesses);
    for (const EdgeRow& row : list.edges)
        text += fmt::format("{:#x} {:#x} {} {}\n", row.source.address.value, row.target.address.value,
                            notation(row.reference.step), row.followed);
    return text;
}

/// What `ask(heap, work, answers)` says: without answers, with those that it leaves, and with these again.
template <class Ask>
void check_equal(const std::string& core, const std::string& path, Ask&& ask) {
    const auto said = [&](IndexFile* file, std::vector<PartWriter>& found) {
        Diagnostics diagnostics;
        CoreHeap heap = CoreHeap::open(CoreFile::open(core, {}, diagnostics), diagnostics);
        heap.add({all_columns});
        KeptAnswers kept(file);
        Work work(heap, {}, nullptr, &kept);
        const std::string text = ask(heap, work, file ? &kept : nullptr);
        found = kept.take_found();
        return text;
    };
    std::vector<PartWriter> found;
    const std::string without = said(nullptr, found);
    IndexFile absent(path, key);
    CHECK(said(&absent, found) == without);
    CHECK_FALSE(found.empty());
    REQUIRE(absent.keep(found, no_limit).kept == IndexFile::Kept::kept);
    IndexFile file(path, key);
    CHECK(said(&file, found) == without);
    CHECK(found.empty());
}

}  // namespace

TEST_CASE("kept answers: what holds the objects of a type", "[program][index]") {
    const AskedProgram asked;
    for (const std::size_t limit : {std::size_t{2}, std::size_t{0}})
        check_equal(
            asked.path, asked.answers_path() + std::to_string(limit),
            [&](const CoreHeap& heap, Work& work, KeptAnswers* answers) {
                TypeId real = no_type;
                for (TypeId type{0}; type < heap.snapshot().types.size(); ++type)
                    if (heap.snapshot().types[type].name == "float") real = type;
                return words(holders(work.graph(), {real}, {}, limit, {}, answers)) +
                       words(holders(work.graph(), {real},
                                     {.without_frames = true, .without_tracebacks = false, .without = {}},
                                     limit, {}, answers)) +
                       words(holders(work.graph(), {}, {}, limit, {}, answers, &work.retained()));
            });
}

TEST_CASE("kept answers: of many references only the number is kept, and those shown are read",
          "[program][index]") {
    ProgramHeap program;
    const Address one = program.heap.real(1.5), other = program.heap.real(2.5);
    std::vector<Address> items(25'000, one);
    items[1] = other;
    const Address many = program.list(items);
    program.module("app", "/srv/app.py", {{"MANY", many}});
    const TemporaryDirectory directory;
    const std::string core = directory.write("core", program.bytes());
    for (const std::size_t limit : {std::size_t{3}, std::size_t{0}, no_edges})
        check_equal(core, fmt::format("{}/answers-{}", directory.path(), limit),
                    [&](const CoreHeap& heap, Work&, KeptAnswers* answers) {
                        const StructuralTargets structural = structural_targets(heap.snapshot());
                        const EdgeList down =
                            referents(heap, structural, heap.snapshot().find(many), limit, answers);
                        CHECK(down.total == 25'000);
                        CHECK(down.edges.size() == (limit == 0 ? 25'000 : limit == no_edges ? 0 : limit));
                        return words(down) +
                               words(referrers(heap, structural, heap.snapshot().find(one), limit, answers)) +
                               words(referents(heap, structural, heap.snapshot().find(one), limit, answers));
                    });
}
