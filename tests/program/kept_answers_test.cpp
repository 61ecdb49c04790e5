// What questions found is kept and read again: what is made of it reads the same; what is damaged is found
// anew, and whatever values a file has, nothing crashes.

#include "analysis/kept_answers.h"

#include "analysis/arrays.h"
#include "analysis/cycles.h"
#include "analysis/doctor.h"
#include "analysis/dominators.h"
#include "analysis/gc.h"
#include "analysis/kept_types.h"
#include "analysis/objects.h"
#include "analysis/overview.h"
#include "analysis/refcounts.h"
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

constexpr IndexKey key{3, 4};
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
        const Address shared = program.list({program.heap.real(4.5), program.heap.real(5.5)});
        program.module("app", "/srv/app/app.py",
                       {{"ROWS", program.list({program.instance(node), program.heap.real(2.5)})},
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
    std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {}\n", words(node.object), node.group,
                                   notation(node.name), node.remark, words(node.expression), node.retained,
                                   node.run, notation(node.run_name), node.folded, node.folded_retained);
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
        for (const SortKey sort : {SortKey::memory, SortKey::name}) {
            const TypesResult table = kept_types(&kept, heap, sort, 5, [&] { return types(heap, sort, 5); });
            for (const TypeRow& row : table.types)
                say("{} {} {} {}", row.name, row.count, row.memory, words(row.largest));
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
        found = kept.take_found();
    }
    template <class... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) {
        text += fmt::format(format, std::forward<Values>(values)...) + "\n";
    }

    KeptAnswers kept;
    std::vector<PartWriter> found;
    std::string text;
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
    IndexFile absent(asked.answers_path(), key);
    const Answers cold(asked, &absent);
    CHECK(cold.text == without.text);
    CHECK(cold.found.size() > 12);
    REQUIRE(absent.keep(cold.found, no_limit).kept == IndexFile::Kept::kept);
    IndexFile file(asked.answers_path(), key);
    const Answers warm(asked, &file);
    CHECK(warm.text == without.text);
    CHECK(warm.found.empty());
    CHECK(file.state() == IndexFile::State::usable);
}

TEST_CASE("kept answers: no value of the program is in the file", "[program][index]") {
    const AskedProgram asked;
    IndexFile file(asked.answers_path(), key);
    REQUIRE(file.keep(Answers(asked, &file).found, no_limit).kept == IndexFile::Kept::kept);
    const std::string bytes = bytes_of(asked.answers_path());
    for (const char* text : {"ROWS", "app.py", "/srv", "Node"}) CHECK_FALSE(bytes.find(text) != bytes.npos);
}

TEST_CASE("kept answers: damaged, they are found anew", "[program][index]") {
    const AskedProgram asked;
    const Answers without(asked, nullptr);
    IndexFile absent(asked.answers_path(), key);
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
        IndexFile file(asked.answers_path(), key);
        CHECK(Answers(asked, &file).text == without.text);
    }
}

TEST_CASE("kept answers: any values with a right checksum do no harm", "[program][index]") {
    const AskedProgram asked;
    IndexFile absent(asked.answers_path(), key);
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
        IndexFile writer(asked.answers_path(), key);
        REQUIRE(writer.keep(lies, no_limit).kept == IndexFile::Kept::kept);
        IndexFile file(asked.answers_path(), key);
        CHECK_FALSE(Answers(asked, &file).text.empty());
    }
}

TEST_CASE("kept answers: another question's, and too many", "[program][index]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/core.answers";
    CHECK(KeptQuestion("types").with(1).with(20).part_name() !=
          KeptQuestion("types").with(1).with(2).with(0).part_name());
    CHECK(KeptQuestion("dominators").with(~std::uint64_t{0}).part_name().size() == 23);
    IndexFile file(path, key);
    CHECK_FALSE(KeptAnswers::is_full(file, 64));
    CHECK(KeptAnswers::is_full(file, 65));
    std::vector<PartWriter> parts;
    for (int i = 0; i < 60; ++i) parts.emplace_back(fmt::format("part {}", i)).number(i);
    REQUIRE(file.keep(parts, no_limit).kept == IndexFile::Kept::kept);
    CHECK_FALSE(KeptAnswers::is_full(IndexFile(path, key), 4));
    CHECK(KeptAnswers::is_full(IndexFile(path, key), 5));
}
