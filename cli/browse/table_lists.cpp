// Lists that are tables of commands: suspects, types, holders, threads and their calls.

#include "analysis/holders.h"
#include "analysis/kept_types.h"
#include "analysis/retained_types.h"
#include "cli/browse/heap_lists.h"
#include "cli/render/object.h"
#include "cli/render/suspects.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <utility>

namespace heapsift {
namespace {

Text name_of_thread(const ThreadRow& row) {
    if (!row.known) return "thread that Python does not know";
    if (row.thread.name.empty()) return "thread without a name in Python";
    return row.name_is_given ? Text(GivenName{row.thread.name}) : Text(row.thread.name);
}

Text name_of_holder(const HolderRow& row) {
    Text text = row.holder;
    if (row.attribute.empty()) return text;
    if (!row.joined && !row.nameless) text += ".";
    return text + row.attribute;
}

}  // namespace

/// Where Enter leads: to what the culprit holds; of what slices keep, to the path of one of them.
Place HeapLists::opened(const Suspect& suspect) const {
    using Kind = Place::Kind;
    using Command = Place::Command;
    switch (suspect.kind) {
        case Suspect::Kind::pinned:
            if (overview_.pinned->example != no_object)
                return {.kind = Kind::path, .object = overview_.pinned->example};
            return {.kind = Kind::answer, .command = Command::arrays};
        case Suspect::Kind::garbage:
            if (overview_.garbage_type != no_type && overview_.garbage_type_count > 0)
                return {.kind = Kind::objects, .index = std::uint32_t{overview_.garbage_type}};
            return {.kind = Kind::inside, .node = graph_.node_of(graph_.unreachable_group())};
        case Suspect::Kind::garbage_list:
            return {.kind = Kind::answer, .command = Command::cycles};
        case Suspect::Kind::native:
            return {.kind = Kind::answer, .command = Command::native};
        case Suspect::Kind::free_memory:
            return {.kind = Kind::answer, .command = Command::memory};
        case Suspect::Kind::holder:
            break;
    }
    const TopHolder& holder = *suspect.holder;
    if (holder.joint && !holder.joint->example.is_null())
        if (const ObjectId example = heap().snapshot().find(holder.joint->example); example != no_object)
            return {.kind = Kind::path, .object = example};
    if (holder.object) return {.kind = Kind::inside, .node = HeapGraph::node_of(holder.object->id)};
    return {.kind = Kind::inside, .node = holder.node};
}

std::shared_ptr<List> HeapLists::suspects() {
    auto list = std::make_shared<List>();
    list->columns = {{.heading = "in use", .right = true, .number = 0, .bar = true},
                     {.heading = "what keeps it"}};
    list->whole = overview_.in_use_bytes;
    const std::vector<Suspect>& all = suspects_.suspects;  // those of the command `suspects`
    list->title = all.empty() ? Text("no suspect: nothing here keeps an unusual part of the memory")
                              : Text("suspects: what probably fills the memory");
    for (const Suspect& suspect : all) {
        Subject subject;
        if (suspect.holder && suspect.holder->object) subject = subject_of(suspect.holder->object->id);
        subject.opens = opened(suspect);
        if (subject.opens->kind == Place::Kind::path) subject.object = subject.opens->object;
        SuspectWords words = heapsift::words_of(suspect, overview_);
        subject.command = std::move(words.next);
        subject.about = std::move(words.evidence);
        if (!words.fix.empty()) subject.about.push_back(std::move(words.fix));
        list->rows.push_back({.bytes = suspect.bytes,
                              .numbers = {suspect.bytes},
                              .cells = {ByteCount{suspect.bytes}, std::move(words.keeper)},
                              .subject = std::move(subject)});
    }
    return list;
}

std::shared_ptr<List> HeapLists::types() {
    const auto find = [&] {
        TypesResult found = heapsift::types(heap(), SortKey::retained, 0, work_.progress());
        add_retained(found, graph_, sizes_, SortKey::retained, 0, work_.progress());
        return found;
    };
    const TypesResult found = kept_types(work_.answers(), heap(), SortKey::retained, 0, find);
    auto list = std::make_shared<List>();
    list->title =
        says("{} of {}", how_many(found.total_count, "object"), how_many(found.total_types, "type"));
    list->columns = {{.heading = "retained", .right = true, .number = 0, .bar = true},
                     {.heading = "objects", .right = true, .number = 1},
                     {.heading = "memory", .right = true, .number = 2, .narrow_page = 100},
                     {.heading = "array data", .right = true, .number = 3, .narrow_page = 100},
                     {.heading = "type"}};
    list->whole = retained_.memory(graph_.root());
    for (const TypeRow& row : found.types) {
        const std::uint64_t retained = row.retained.value_or(0);
        Subject subject{.command = says("types --type {}", Text(Wording{row.name}).quoted())};
        if (row.largest.id != no_object) {
            const TypeId type = heap().snapshot().type_of(row.largest.id);
            subject.opens = Place{.kind = Place::Kind::objects, .index = std::uint32_t{type}};
        }
        Text own = says("deleting {} would free {}; {} is their own", how_many(row.count, "object"),
                        ByteCount{retained}, ByteCount{row.memory});
        if (row.array_data > 0) own += says(", of it array data {}", ByteCount{row.array_data});
        subject.about = {TypeName{row.name}, std::move(own)};
        list->rows.push_back({.bytes = retained,
                              .numbers = {retained, row.count, row.memory, row.array_data},
                              .cells = {ByteCount{retained}, Count{row.count}, ByteCount{row.memory},
                                        array_data_bytes(row.array_data), TypeName{row.name}},
                              .subject = std::move(subject)});
    }
    return list;
}

std::shared_ptr<List> HeapLists::holders(const Place& place) {
    const HoldersResult found =
        heapsift::holders(graph_, {}, {}, place.rows > 0 ? place.rows : browsed_holders, work_.progress(),
                          work_.answers(), &sizes_);
    auto list = std::make_shared<List>();
    list->title = says("{}: by owner and attribute", how_many(found.total_rows, "holder"));
    list->columns = {{.heading = "retained", .right = true, .number = 0, .bar = true},
                     {.heading = "objects", .right = true, .number = 1},
                     {.heading = "memory", .right = true, .number = 2, .narrow_page = 100},
                     {.heading = "held as"},
                     {.heading = "type", .narrow_page = 100, .if_it_fits = true}};
    list->whole = retained_.memory(graph_.root());
    list->left_out = found.total_rows - found.rows.size();
    for (const HolderRow& row : found.rows) {
        const std::uint64_t retained = row.retained.value_or(0);
        Subject subject{.command = says("why {}", row.example_address)};
        if (row.example != no_object) {
            subject.object = row.example;
            subject.node = HeapGraph::node_of(row.example);
            subject.opens = Place{.kind = Place::Kind::path, .object = row.example};
        }
        subject.about = {says("{} held as {}; this is one of them", how_many_of(row.type_name, row.count),
                              name_of_holder(row))};
        if (row.is_shared)
            for (const OtherHolder& other : row.also_held_by)
                subject.about.push_back(
                    says("also held as {}{}{}, {} of them", other.holder,
                         other.joined || other.nameless || other.attribute.empty() ? "" : ".",
                         other.attribute, Count{other.count}));
        Text what = says("{}", name_of_holder(row));
        list->rows.push_back({.bytes = retained,
                              .numbers = {retained, row.count, row.memory},
                              .cells = {ByteCount{retained}, Count{row.count}, ByteCount{row.memory},
                                        std::move(what), TypeName{row.type_name}},
                              .subject = std::move(subject)});
    }
    return list;
}

const ThreadsResult& HeapLists::found_threads() {
    if (!threads_)
        threads_ = std::make_shared<const ThreadsResult>(
            heapsift::threads(heap(), 0, &retained_, false, work_.answers()));
    return *threads_;
}

std::shared_ptr<List> HeapLists::threads() {
    const ThreadsResult& found = found_threads();
    auto list = std::make_shared<List>();
    list->title = says("{}, the innermost call first", how_many(found.threads.size(), "thread"));
    list->columns = {{.heading = "retained", .right = true, .number = 0, .bar = true}, {.heading = "call"}};
    list->in_order = true;
    const auto& known = graph_.root_set().threads();
    for (std::size_t i = 0; i < found.threads.size(); ++i) {
        const ThreadRow& thread = found.threads[i];
        Subject subject{.command = "threads"};
        for (std::size_t at = 0; at < graph_.groups().all.size(); ++at) {
            const GroupId id(static_cast<std::uint32_t>(at));
            const Group& group = graph_.groups()[id];
            if (group.kind != GroupKind::thread || group.thread < 0 ||
                static_cast<std::size_t>(group.thread) >= known.size() ||
                known[static_cast<std::size_t>(group.thread)].state != thread.thread.state)
                continue;
            subject.node = graph_.node_of(id);
            subject.opens = Place{.kind = Place::Kind::inside, .node = subject.node};
        }
        const std::uint64_t bytes = thread.retained.value_or(0);
        Text words = name_of_thread(thread).bold();
        if (thread.thread.gil) words += ", has the GIL";
        if (thread.got_signal) words += ", got the signal";
        list->whole = std::max(list->whole, bytes);
        list->rows.push_back({.bytes = bytes,
                              .numbers = {bytes},
                              .cells = {ByteCount{bytes}, std::move(words)},
                              .subject = std::move(subject)});
        for (std::size_t call = 0; call < thread.frames.size(); ++call) {
            const FrameRow& frame = thread.frames[call];
            if (frame.in_run || frame.native) continue;
            const std::uint64_t kept = frame.retained.value_or(0);
            Text line = says("{}, {}", Text(frame.called).bold(), std::string(base_name(frame.frame.file)));
            if (frame.frame.line > 0) line += says(", line {}", std::to_string(frame.frame.line));
            if (frame.run_before > 0)
                line += says("  ({} at the same line)", how_many(frame.run_before, "more call"));
            list->rows.push_back(
                {.bytes = kept,
                 .numbers = {kept},
                 .cells = {ByteCount{kept}, std::move(line)},
                 .subject = {.opens = Place{.kind = Place::Kind::locals, .thread = i, .index = call},
                             .command = "threads",
                             .about = {how_many(frame.local_count, "local variable")}},
                 .depth = 1});
        }
    }
    return list;
}

std::shared_ptr<List> HeapLists::locals(const Place& place) {
    const FrameRow& frame = found_threads().threads.at(place.thread).frames.at(place.index);
    auto list = std::make_shared<List>();
    list->title = says("locals of {}, {}", frame.called, std::string(base_name(frame.frame.file)));
    if (frame.frame.line > 0) list->title += says(", line {}", std::to_string(frame.frame.line));
    list->columns = {{.heading = "retained", .right = true, .number = 0, .bar = true},
                     {.heading = "own", .right = true, .number = 1, .narrow_page = 100},
                     {.heading = "variable"}};
    list->sorted_by = list->columns.size();
    if (frame.locals.empty())
        list->remark = frame.variables_of_module
                           ? "Its variables are those of the module: 2, the dominator tree"
                           : "It has no local variable.";
    for (const LocalRow& local : frame.locals) {
        ListRow row{.numbers = {0, 0}};
        if (local.object.id != no_object) row = row_of(local.object.id);
        row.cells = {ByteCount{row.bytes}, ByteCount{row.numbers[1]},
                     Text(local.name).bold() + "  " +
                         (local.object.type.empty() ? Text("no object was found there")
                                                    : Text(typed_value(local.object)))};
        list->whole = std::max(list->whole, row.bytes);
        list->rows.push_back(std::move(row));
    }
    return list;
}

}  // namespace heapsift
