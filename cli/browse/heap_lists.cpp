// Lists of objects: what a node holds, what leads to an object, what it refers to.

#include "cli/browse/heap_lists.h"

#include "analysis/edges.h"
#include "analysis/object_paths.h"
#include "analysis/why.h"
#include "cli/render/holder_words.h"
#include "cli/render/native_end.h"
#include "cli/render/object.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t suspects_listed = 20, most_expressions_kept = 10'000;

ListColumn bytes_column(std::string heading, std::size_t number) {
    return {.heading = std::move(heading), .right = true, .number = number, .bar = number == 0};
}

ListColumn own_column() { return {.heading = "own", .right = true, .number = 1, .narrow_page = 100}; }

std::size_t row_limit(const Place& place) { return place.rows > 0 ? place.rows : most_browsed_rows; }

/// "retained  own  what": what the lists of objects have.
std::vector<ListColumn> columns_of_objects(std::string what) {
    return {bytes_column("retained", 0), own_column(), {.heading = std::move(what)}};
}

}  // namespace

HeapLists::HeapLists(Work& work, AnswerLines answer)
    : work_(work),
      answer_(std::move(answer)),
      graph_(work.graph()),
      sizes_(work.retained()),
      states_(work.states()),
      paths_(work.every_path()),
      retained_(graph_, sizes_),
      modules_(graph_),
      structural_(structural_targets(work.heap().snapshot())),
      overview_(heapsift::overview(work, overview_rows)),
      suspects_(heapsift::suspects(work, overview_, suspects_listed, true)) {
    retained_.visit_children(graph_.root(), [](NodeId) {});  // makes its lists: no key waits for them
}

std::shared_ptr<List> HeapLists::make(const Place& place) {
    using Kind = Place::Kind;
    std::shared_ptr<List> list;
    switch (place.kind) {
        case Kind::suspects:
            list = suspects();
            break;
        case Kind::dominators:
            list = dominators(row_limit(place));
            break;
        case Kind::holders:
            list = holders(place);
            break;
        case Kind::types:
            list = types();
            break;
        case Kind::threads:
            list = threads();
            break;
        case Kind::inside:
            list = inside(place, false);
            break;
        case Kind::shared:
            list = inside(place, true);
            break;
        case Kind::locals:
            list = locals(place);
            break;
        case Kind::objects:
            list = objects(place);
            break;
        case Kind::path:
            list = path(place);
            break;
        case Kind::referrers:
            list = edges(place, true);
            break;
        case Kind::referents:
            list = edges(place, false);
            break;
        case Kind::answer:
            list = answer(place);
            break;
        case Kind::marks:
            list = marked();
            break;
        case Kind::places:  // the browser's own
            list = std::make_shared<List>();
            break;
    }
    list->place = place;
    return list;
}

// --- subjects

Subject HeapLists::subject_of(ObjectId object) const {
    const NodeId node = HeapGraph::node_of(object);
    return {.object = object, .node = node, .opens = Place{.kind = Place::Kind::inside, .node = node}};
}

Subject HeapLists::subject_of(NodeId node) const {
    if (graph_.kind(node) == NodeKind::object) return subject_of(HeapGraph::object_of(node));
    return {.node = node, .opens = Place{.kind = Place::Kind::inside, .node = node}, .command = "dominators"};
}

Text HeapLists::words_of(ObjectId object) const {
    Text words = typed_value(brief_object_row(heap(), object));
    if (const std::string remark = suspended_words(heap(), object); !remark.empty())
        words += "  " + Text(remark);
    return words;
}

Text HeapLists::words_of(NodeId node) const {
    switch (graph_.kind(node)) {
        case NodeKind::object:
            return words_of(HeapGraph::object_of(node));
        case NodeKind::block:
            return "a block of C code";
        case NodeKind::root:
            return "shared by several groups";
        case NodeKind::frame:
            return frame_words(graph_.frame(graph_.frame_of(node)));
        case NodeKind::group:
            break;
    }
    const Group& group = graph_.groups()[graph_.group_of(node)];
    if (group.kind == GroupKind::unreachable) return "garbage: objects that nothing reaches";
    return group.kind == GroupKind::module    ? says("module {}", group.name)
           : group.kind == GroupKind::package ? says("package {}", group.name)
                                              : Text(group.name);
}

/// In a title: what Python calls it, else what it is.
Text HeapLists::name_of(NodeId node) {
    if (graph_.kind(node) == NodeKind::object)
        if (Expression name = expression(HeapGraph::object_of(node)); !name.empty()) return name;
    return words_of(node);
}

Expression HeapLists::expression(ObjectId object) {
    if (const auto known = expressions_.find(object); known != expressions_.end()) return known->second;
    Expression made;
    const auto path = paths_.path(graph_, object);
    if (path && !path->empty() && path->size() <= 64) {
        std::vector<Reference> steps;
        for (std::size_t i = 1; i < path->size(); ++i)
            steps.push_back(step_between(heap(), (*path)[i - 1], (*path)[i]));
        made =
            expression_of(path_expression(graph_, cheapest_root(graph_, path->front()).root, *path, steps));
    }
    if (expressions_.size() >= most_expressions_kept) expressions_.clear();
    return expressions_[object] = made;
}

Text HeapLists::command(const Subject& subject) {
    if (!subject.command.empty() || subject.object == no_object) return subject.command;
    return says("show {}", Target{expression(subject.object), heap().snapshot().address_of(subject.object)});
}

std::vector<Text> HeapLists::details(const Subject& subject) {
    std::vector<Text> lines = subject.about;
    if (subject.object != no_object) {
        const ObjectRow object = object_row(heap(), subject.object);
        lines.push_back(typed_value(object) + says("  {}", object.address));
        if (Expression name = expression(subject.object); !name.empty())
            lines.push_back(says("in Python: {}", name));
        Text sizes = says("deleting it would free {}{}; {} is its own", about(),
                          ByteCount{retained_.memory(subject.object)}, ByteCount{object.facts.memory});
        sizes += says("; reference count {}", references_counted(object.facts));
        if (const ObjectState state = states_.of(subject.object); state != ObjectState::reachable)
            sizes += says("; {}", heapsift::name_of(state));
        lines.push_back(std::move(sizes));
    } else if (subject.node != no_node && subject.node != graph_.root()) {
        lines.push_back(words_of(subject.node));
        lines.push_back(says("it alone keeps {}{}", about(), ByteCount{retained_.memory(subject.node)}));
    }
    return lines;
}

ObjectId HeapLists::object_of(const Place& place) const {
    if (place.object != no_object || place.kind != Place::Kind::inside) return place.object;
    return graph_.kind(place.node) == NodeKind::object ? HeapGraph::object_of(place.node) : no_object;
}

void HeapLists::mark(ObjectId object) {
    const auto place = std::find(marks_.begin(), marks_.end(), object);
    if (place == marks_.end())
        marks_.push_back(object);
    else
        marks_.erase(place);
}

bool HeapLists::is_marked(ObjectId object) const {
    return object != no_object && std::find(marks_.begin(), marks_.end(), object) != marks_.end();
}

// --- lists

ListRow HeapLists::row_of(ObjectId object) const {
    ObjectSizes own[1] = {};
    heap().sizes(object, own);
    const std::uint64_t bytes = retained_.memory(object);
    return {.bytes = bytes, .numbers = {bytes, own[0].memory}, .subject = subject_of(object)};
}

/// What several objects below `node` hold together, as the overview has found it, before the rows of single ones.
void HeapLists::add_joint(NodeId node, List& list) const {
    std::vector<ListRow> rows;
    for (const auto* holders : {&overview_.holders, &overview_.more_holders})
        for (const TopHolder& holder : *holders) {
            if (!holder.joint || holder.node != node || holder.joint->sample.empty()) continue;
            const ObjectId example = HeapGraph::object_of(holder.joint->sample.front());
            rows.push_back(
                {.bytes = holder.retained,
                 .numbers = {holder.retained, 0},
                 .cells = {ByteCount{holder.retained}, Text(),
                           content_words(holder) + says("  held by {}", holder_words(holder))},
                 .subject = {
                     .object = example,
                     .node = HeapGraph::node_of(example),
                     .opens = Place{.kind = Place::Kind::path, .object = example},
                     .command = says("why {}", heap().snapshot().address_of(example)),
                     .about = {"None of these holders keeps them alone. What they hold together has rows "
                               "of its own below; Enter shows the path to one of it."}}});
        }
    list.rows.insert(list.rows.begin(), std::make_move_iterator(rows.begin()),
                     std::make_move_iterator(rows.end()));
}

std::shared_ptr<List> HeapLists::dominators(std::size_t most) {
    auto list = std::make_shared<List>();
    list->title = "dominator tree: what each part of the program alone keeps in memory";
    list->columns = columns_of_objects("what keeps it");
    list->whole = retained_.memory(graph_.root());
    const auto add = [&](std::uint64_t bytes, Subject subject, Text words) {
        list->rows.push_back({.bytes = bytes,
                              .numbers = {bytes, 0},
                              .cells = {ByteCount{bytes}, Text(), std::move(words)},
                              .subject = std::move(subject)});
    };
    for (const NodeId node : largest_children(retained_, modules_, graph_.root(), most).nodes)
        add(retained_.memory(node), subject_of(node), words_of(node));
    if (const LargestChildren shared = largest_children(retained_, modules_, graph_.root(), 0, true);
        shared.total > 0)
        add(shared.total_retained,
            {.node = graph_.root(),
             .opens = Place{.kind = Place::Kind::shared, .node = graph_.root()},
             .command = "dominators",
             .about = {"Objects that several of these hold: none of them keeps them alone."}},
            "shared by several groups");
    std::stable_sort(list->rows.begin(), list->rows.end(),
                     [](const ListRow& a, const ListRow& b) { return a.bytes > b.bytes; });
    return list;
}

std::shared_ptr<List> HeapLists::inside(const Place& place, bool shared) {
    auto list = std::make_shared<List>();
    LargestChildren found = largest_children(retained_, modules_, place.node, row_limit(place), shared);
    // An object that keeps nothing but its __dict__ keeps what is in that: its attributes.
    const bool is_only_dict =
        found.total == 1 && found.nodes.size() == 1 && graph_.kind(place.node) == NodeKind::object &&
        retained_.dominator(found.nodes.front()) == place.node &&
        stands_between(names_of_children(retained_, modules_, found.nodes).front(), false);
    if (is_only_dict)
        found = largest_children(retained_, modules_, NodeId(found.nodes.front()), row_limit(place));
    list->title = says("inside {}", shared ? Text("what several groups share") : name_of(place.node));
    list->remark = found.total == 0
                       ? Text("It keeps nothing else alive. r: what refers to it; e: what it refers to")
                       : says("it alone keeps {} alive, {}", how_many(found.total, "object"),
                              ByteCount{found.total_retained});
    list->columns = columns_of_objects("what it keeps");
    list->whole = shared ? found.total_retained : retained_.memory(place.node);
    list->left_out = found.total - found.nodes.size();
    list->left_out_bytes = found.total_retained;
    for (const NodeId node : found.nodes) {
        if (graph_.kind(node) == NodeKind::object) {
            list->rows.push_back(row_of(HeapGraph::object_of(node)));
        } else {
            const std::uint64_t bytes = retained_.memory(node);
            list->rows.push_back({.bytes = bytes, .numbers = {bytes, 0}, .subject = subject_of(node)});
        }
        list->left_out_bytes -= std::min(list->left_out_bytes, list->rows.back().bytes);
    }
    add_joint(place.node, *list);
    list->words = [this, is_only_dict](std::vector<ListRow*>& rows) {
        std::vector<NodeId> nodes;
        for (const ListRow* row : rows) nodes.push_back(row->subject.node);
        std::vector<ReferenceStep> names = names_of_children(retained_, modules_, nodes);
        if (is_only_dict)
            for (ReferenceStep& name : names)
                if (auto attribute = as_attribute(name)) name = std::move(*attribute);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            Text words = names[i].known() ? Text(Notation{names[i]}).bold() + "  " : Text();
            rows[i]->cells = {ByteCount{rows[i]->bytes}, ByteCount{rows[i]->numbers[1]},
                              std::move(words) + words_of(nodes[i])};
        }
    };
    return list;
}

std::shared_ptr<List> HeapLists::objects(const Place& place) {
    const TypeId type(static_cast<std::uint32_t>(place.index));
    auto list = std::make_shared<List>();
    const LargestOfType found = largest_of_type(retained_, type, row_limit(place), work_.answers());
    list->title = says("the {}", how_many_of(type_name(heap().snapshot().types, type), found.count));
    list->columns = columns_of_objects("value");
    for (const ObjectId object : found.objects) list->rows.push_back(row_of(object));
    list->whole = list->rows.empty() ? 0 : list->rows.front().bytes;
    list->left_out = found.count - found.objects.size();
    list->words = [this](std::vector<ListRow*>& rows) {
        for (ListRow* row : rows)
            row->cells = {ByteCount{row->bytes}, ByteCount{row->numbers[1]},
                          words_of(row->subject.object) +
                              says("  {}", heap().snapshot().address_of(row->subject.object))};
    };
    return list;
}

std::shared_ptr<List> HeapLists::path(const Place& place) {
    const WhyResult found =
        why(graph_, sizes_, place.object, {}, work_.progress(), &states_, &paths_, work_.answers());
    auto list = std::make_shared<List>();
    list->title = says("what keeps {} alive", name_of(HeapGraph::node_of(place.object)));
    list->columns = {bytes_column("retained", 0), {.heading = "from the root down to it"}};
    list->in_order = true;
    const auto add = [&](std::uint64_t bytes, Text words, Subject subject) {
        list->rows.push_back({.bytes = bytes,
                              .numbers = {bytes},
                              .cells = {ByteCount{bytes}, std::move(words)},
                              .subject = std::move(subject),
                              .depth = list->rows.size()});
    };
    const auto add_object = [&](std::uint64_t bytes, const EdgeRow* edge, const ObjectRow& object) {
        Text words = edge && edge->reference.step.known() ? Text(Notation{edge->reference.step}).bold() + "  "
                                                          : Text();
        words += typed_value(object);
        if (object.id == place.object) words += "  <- this object";
        add(bytes, std::move(words), object.id == no_object ? Subject() : subject_of(object.id));
    };
    const auto add_steps = [&](const std::vector<WhyStep>& steps) {
        for (const WhyStep& step : steps) add_object(step.retained, &step.edge, step.edge.target);
    };
    if (found.paths.empty()) {
        list->remark = "No root reaches it: it is garbage.";
        const auto& steps = found.cycle.empty() ? found.from_cycle : found.cycle;
        if (!steps.empty()) {
            const ObjectId first = steps.front().edge.source.id;
            add_object(retained_.memory(first), nullptr, steps.front().edge.source);
            add_steps(steps);
        }
        return list;
    }
    const WhyPath& way = found.paths.front();
    list->remark = says("{}; the shortest path. r: all that refers to it",
                        how_many(found.referrers, "reference keeps it alive", "references keep it alive"));
    list->rows.push_back({.numbers = {0}, .cells = {Text(), Text(way.root_words)}});
    list->begins_at = 1;  // the first object: Enter leads on
    auto block = way.blocks.begin();
    const auto add_blocks = [&](std::size_t place_of_object) {
        for (; block != way.blocks.end() && block->place <= place_of_object; ++block)
            add(block->retained, says("a block of C code, {}", ByteCount{block->block.bytes}), {});
    };
    add_blocks(0);
    add_object(way.root_retained, way.first ? &*way.first : nullptr, way.at_root);
    for (std::size_t i = 0; i < way.steps.size(); ++i) {
        add_blocks(i + 1);
        add_object(way.steps[i].retained, &way.steps[i].edge, way.steps[i].edge.target);
    }
    for (const ListRow& row : list->rows) list->whole = std::max(list->whole, row.bytes);
    return list;
}

std::shared_ptr<List> HeapLists::edges(const Place& place, bool to_it) {
    if (to_it && work_.progress()) work_.progress()("looking for referrers", 0);
    const EdgeList found =
        to_it ? heapsift::referrers(heap(), structural_, place.object, row_limit(place), work_.answers())
              : heapsift::referents(heap(), structural_, place.object, row_limit(place), work_.answers());
    auto list = std::make_shared<List>();
    const Text name = name_of(HeapGraph::node_of(place.object));
    list->title = to_it ? says("what refers to {}", name) : says("what {} refers to", name);
    list->remark = to_it ? how_many(found.total, "reference leads to it", "references lead to it")
                         : says("it has {}", how_many(found.total, "reference"));
    list->columns = columns_of_objects(to_it ? "from" : "to");
    list->left_out = found.total - found.edges.size();
    list->sorted_by = list->columns.size();  // by none: in their own order
    for (const EdgeRow& edge : found.edges) {
        const ObjectRow& other = to_it ? edge.source : edge.target;
        ListRow row{.numbers = {0, 0}};
        if (other.id != no_object) row = row_of(other.id);
        Text words = Text(Notation{edge.reference.step}).bold() + "  ";
        if (other.id != no_object)
            words += typed_value(other);
        else if (edge.holder && !edge.holder->way.empty() && edge.holder->way.front().is_block)
            words += says("a block of C code, {}", ByteCount{edge.holder->way.front().bytes});
        else if (edge.holder && !edge.holder->way.empty() && !edge.holder->way.front().words.empty())
            words += Text(edge.holder->way.front().words);
        else
            words += says("{}", other.address);
        if (!edge.followed) words += "  (does not keep it alive)";
        row.cells = {ByteCount{row.bytes}, ByteCount{row.numbers[1]}, std::move(words)};
        list->whole = std::max(list->whole, row.bytes);
        list->rows.push_back(std::move(row));
    }
    return list;
}

std::shared_ptr<List> HeapLists::marked() {
    auto list = std::make_shared<List>();
    list->title = says("{} marked", how_many(marks_.size(), "object"));
    list->columns = columns_of_objects("what");
    if (marks_.empty()) list->remark = "m marks the object under the cursor";
    Text command = "retained";
    for (const ObjectId object : marks_) command += says(" {}", heap().snapshot().address_of(object));
    for (const ObjectId object : marks_) {
        ListRow row = row_of(object);
        row.subject.command = command;
        row.subject.about = {says("What deleting all of them would free: y copies the command")};
        list->whole = std::max(list->whole, row.bytes);
        list->rows.push_back(std::move(row));
    }
    std::stable_sort(list->rows.begin(), list->rows.end(),
                     [](const ListRow& a, const ListRow& b) { return a.bytes > b.bytes; });
    list->words = [this](std::vector<ListRow*>& rows) {
        for (ListRow* row : rows) {
            const Expression name = expression(row->subject.object);
            row->cells = {ByteCount{row->bytes}, ByteCount{row->numbers[1]},
                          (name.empty() ? Text() : Text(name).bold() + "  ") + words_of(row->subject.object)};
        }
    };
    return list;
}

std::shared_ptr<List> HeapLists::answer(const Place& place) {
    auto list = std::make_shared<List>();
    using Command = Place::Command;
    const char* name = place.command == Command::cycles   ? "cycles"
                       : place.command == Command::native ? "native"
                       : place.command == Command::arrays ? "arrays --pinned"
                                                          : "memory";
    list->title = says("heapsift {}", name);
    list->columns = {{.heading = ""}};
    list->in_order = true;
    for (const std::string& line : answer_(place.command))
        list->rows.push_back({.cells = {Text(line)}, .subject = {.command = name}});
    return list;
}

}  // namespace heapsift
