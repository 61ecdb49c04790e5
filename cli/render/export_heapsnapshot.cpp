// What the readers require (tried with DevTools' own worker and memlab): keys in this order, strings last;
// exact counts; unsigned 32-bit numbers, so an id is an ordinal, the address is in the name, and an object
// larger than 4 GiB is cut into pieces; node 0 a synthetic root; and one node named "(GC roots)", where
// memlab's paths begin. No reader follows edges of type "weak".
//
// DevTools groups objects by name, but by the part before the first blank if the name begins with "<". So an
// object is named as Python's repr would: <app.Node 0x7f31c2a4d5e0 'value'>.

#include "cli/render/export_heapsnapshot.h"

#include "analysis/object_row.h"
#include "analysis/pass.h"
#include "analysis/steps.h"
#include "cli/json.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

enum NodeType { hidden, array, string, object, code, closure, regexp, number_node, native, synthetic };
enum EdgeType { context, element, property, internal, hidden_edge, shortcut, weak };

constexpr const char* meta =
    R"({"node_fields":["type","name","id","self_size","edge_count"],)"
    R"("node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic",)"
    R"("concatenated string","sliced string","symbol","bigint","object shape"],"string","number","number","number"],)"
    R"("edge_fields":["type","name_or_index","to_node"],)"
    R"("edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],)"
    R"("trace_function_info_fields":[],"trace_node_fields":[],"sample_fields":[],"location_fields":[]})";
constexpr std::uint64_t node_fields = 5;
constexpr std::uint64_t largest_size = 0xffffffff;
constexpr std::size_t value_limit = 100;

NodeType node_type(KnownType type) {
    switch (type) {
        case KnownType::str:
        case KnownType::bytes:
        case KnownType::bytearray:
            return string;
        case KnownType::integer:
        case KnownType::floating:
        case KnownType::boolean:
        case KnownType::complex:
            return number_node;
        case KnownType::code:
            return code;
        case KnownType::function:
        case KnownType::builtin_function:
        case KnownType::method:
            return closure;
        default:
            return object;
    }
}

/// The number in "[3]".
std::optional<std::uint32_t> index_of(const ReferenceStep& step) {
    if (step.kind != ReferenceStep::Kind::index || !step.within.empty() || step.number > 0x7fffffff)
        return {};
    return static_cast<std::uint32_t>(step.number);
}

/// Attributes that the interpreter sets itself: `.__dict__`, `.__class__`, a closure's cells.
bool is_internal(const ReferenceStep& step) { return is_dunder(step) || step.is(Field::cell_contents); }

class SnapshotWriter {
public:
    SnapshotWriter(const HeapGraph& graph, Redactor& redactor,
                   const std::function<void(std::string_view)>& write, const ProgressCallback& progress)
        : graph_(graph),
          heap_(graph.heap()),
          redactor_(redactor),
          write_(write),
          progress_(progress),
          edges_(graph) {}

    HeapSnapshotCounts write() {
        find_pieces();
        count_edges();
        const std::uint64_t nodes = 1 + node_count() + pieces_of_all_;
        put(
            fmt::format("{{\"snapshot\":{{\"meta\":{},\"node_count\":{},\"edge_count\":{},\"trace_function_"
                        "count\":0}},\n",
                        meta, nodes, edge_count_));
        write_nodes();
        write_edges();
        put(",\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n");
        write_strings();
        put("}\n");
        flush();
        return {nodes, edge_count_, first_edge_name() + edge_names_.size()};
    }

private:
    // Nodes in order: 0, the virtual root of the graph; the nodes below it that are not objects; the objects;
    // the additional pieces of large objects. The first strings are the names of the nodes, in the same
    // order; all pieces share one name.
    // Blocks of C code are left out, and what they hold hangs below their group.
    std::uint64_t extra_count() const { return graph_.node_count() - graph_.root(); }
    std::uint64_t node_count() const { return graph_.object_count() + extra_count(); }
    std::uint64_t ordinal(NodeId node) const {
        return 1 + (graph_.kind(node) == NodeKind::object ? extra_count() + node : node - graph_.root());
    }
    KnownType known_type_of(ObjectId id) const {
        const TypeId type = columns().type_of(id);
        return type == no_type ? KnownType::other : columns().types[type].known;
    }
    std::uint64_t piece_name() const { return 1 + node_count(); }
    std::uint64_t first_edge_name() const { return 2 + node_count(); }

    void find_pieces() {
        for_each_object(heap_.snapshot(), "sizes", progress_, [&](ObjectId id) {
            const std::uint64_t memory = columns().sizes->memory(id);
            if (memory <= largest_size) return;
            large_.push_back({id, memory});
            pieces_of_all_ += pieces(memory);
        });
    }
    /// Pieces beyond the object itself.
    static std::uint64_t pieces(std::uint64_t memory) {
        return memory == 0 ? 0 : (memory - 1) / largest_size;
    }

    void count_edges() {
        edge_counts_.assign(graph_.node_count(), 0);
        for (std::uint64_t node = graph_.root(); node < graph_.node_count(); ++node)
            edges_.visit(static_cast<NodeId>(node),
                         [&](const NodeEdge&, const ReferenceStep&) { ++edge_counts_[node]; });
        for_each_object(heap_.snapshot(), "counting references", progress_, [&](ObjectId id) {
            edges_.visit(graph_.node_of(id),
                         [&](const NodeEdge&, const ReferenceStep&) { ++edge_counts_[id]; });
        });
        for (const Large& large : large_)
            edge_counts_[large.object] += static_cast<std::uint32_t>(pieces(large.memory));
        edge_count_ = 1;
        for (const std::uint32_t count : edge_counts_) edge_count_ += count;
    }

    void write_nodes() {
        put("\"nodes\":[");
        node(synthetic, 0, 0, 0, 1);
        for (std::uint64_t id = graph_.root(); id < graph_.node_count(); ++id)
            node(synthetic, ordinal(static_cast<NodeId>(id)), ordinal(static_cast<NodeId>(id)), 0,
                 edge_counts_[id]);
        for_each_object(heap_.snapshot(), "exporting objects", progress_, [&](ObjectId id) {
            const std::uint64_t memory = columns().sizes->memory(id);
            node(node_type(known_type_of(id)), ordinal(graph_.node_of(id)), ordinal(graph_.node_of(id)),
                 std::min(memory, largest_size), edge_counts_[id]);
        });
        std::uint64_t at = 1 + node_count();
        for (const Large& large : large_)
            for (std::uint64_t left = large.memory - largest_size; left > 0;
                 left -= std::min(left, largest_size))
                node(native, piece_name(), at++, std::min(left, largest_size), 0);
        put("],\n");
    }

    void node(NodeType type, std::uint64_t name, std::uint64_t ordinal, std::uint64_t size,
              std::uint64_t edges) {
        if (ordinal != 0) buffer_ += ",\n";
        put_numbers({static_cast<std::uint64_t>(type), name, 2 * ordinal + 1, size, edges});
    }

    void write_edges() {
        put("\"edges\":[");
        edge(element, 1, 1);
        for (std::uint64_t id = graph_.root(); id < graph_.node_count(); ++id)
            edges_.visit(static_cast<NodeId>(id),
                         [&](const NodeEdge& e, const ReferenceStep& name) { write_edge(e, name); });
        std::size_t next_large = 0;
        std::uint64_t piece = 1 + node_count();
        for_each_object(heap_.snapshot(), "exporting references", progress_, [&](ObjectId id) {
            edges_.visit(graph_.node_of(id),
                         [&](const NodeEdge& e, const ReferenceStep& name) { write_edge(e, name); });
            if (next_large == large_.size() || large_[next_large].object != id) return;
            for (std::uint64_t i = pieces(large_[next_large++].memory); i > 0; --i)
                edge(internal, piece_name(), piece++);
        });
        put("]");
    }

    void write_edge(const NodeEdge& e, const ReferenceStep& step) {
        const std::uint64_t target = ordinal(e.target);
        const std::optional<std::uint32_t> index = index_of(step);
        if (e.followed && index) return edge(element, *index, target);
        std::string name = escape_for_terminal(redactor_.reference_name(step));
        if (is_dotted(step)) name.erase(0, 1);
        edge(!e.followed ? weak : is_internal(step) ? internal : property, name_number(name), target);
    }

    void edge(EdgeType type, std::uint64_t name_or_index, std::uint64_t target) {
        if (!std::exchange(first_edge_, false)) buffer_ += ",\n";
        put_numbers({static_cast<std::uint64_t>(type), name_or_index, node_fields * target});
    }

    std::uint64_t name_number(const std::string& name) {
        const auto [known, is_new] = edge_names_.try_emplace(name, first_edge_name() + edge_names_.size());
        if (is_new) edge_names_in_order_.push_back(&known->first);
        return known->second;
    }

    void write_strings() {
        put("\"strings\":[\"\"");
        const auto string_of = [&](const std::string& text) {
            buffer_ += ",\n";
            add_json_string(buffer_, text);
            put({});
        };
        for (std::uint64_t id = graph_.root(); id < graph_.node_count(); ++id)
            string_of(escape_for_terminal(edges_.name(static_cast<NodeId>(id))));
        for_each_object(heap_.snapshot(), "exporting names", progress_,
                        [&](ObjectId id) { string_of(object_name(id)); });
        string_of("a part of what is larger than 4 GiB");
        for (const std::string* name : edge_names_in_order_) string_of(*name);
        put("]");
    }

    std::string object_name(ObjectId id) {
        const NamesOfType& type = names_of(columns().type_of(id));
        const ShortValue value = heap_.value(id, value_limit);
        std::string name = type.beginning + hexadecimal(columns().address_of(id).value);
        if (value.kind != ShortValue::Kind::none)
            name.append(1, ' ').append(redactor_.value(value, type.name));
        return escape_for_terminal(name.append(1, '>'));
    }

    struct NamesOfType {
        std::string name, beginning;  // "a b", "<a_b "
    };
    const NamesOfType& names_of(TypeId type) {
        if (type_names_.empty()) type_names_.resize(columns().types.size() + 1);
        NamesOfType& names = type_names_[std::min<std::size_t>(type, columns().types.size())];
        if (names.beginning.empty()) {
            names.name = type_name(columns().types, type);
            names.beginning = "<" + names.name + " ";
            std::replace(names.beginning.begin(), names.beginning.end() - 1, ' ', '_');
        }
        return names;
    }

    void put_numbers(std::initializer_list<std::uint64_t> numbers) {
        std::array<char, 24> digits;
        for (const std::uint64_t& number : numbers) {
            if (&number != numbers.begin()) buffer_ += ',';
            const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
            buffer_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
        }
        put({});
    }
    void put(std::string_view text) {
        buffer_ += text;
        if (buffer_.size() > 1 << 16) flush();
    }
    void flush() {
        write_(buffer_);
        buffer_.clear();
    }

    struct Large {
        ObjectId object;
        std::uint64_t memory;
    };
    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    Redactor& redactor_;
    const std::function<void(std::string_view)>& write_;
    const ProgressCallback& progress_;
    NodeEdgeFinder edges_;
    std::vector<Large> large_;  // objects of more than 4 GiB
    std::uint64_t pieces_of_all_ = 0, edge_count_ = 0;
    std::vector<std::uint32_t> edge_counts_;  // by node of the graph
    bool first_edge_ = true;
    std::unordered_map<std::string, std::uint64_t> edge_names_;
    std::vector<const std::string*> edge_names_in_order_;
    std::vector<NamesOfType> type_names_;  // the last one for no_type
    std::string buffer_;
};

}  // namespace

HeapSnapshotCounts write_heap_snapshot(const HeapGraph& graph, Redactor& redactor,
                                       const std::function<void(std::string_view)>& write,
                                       const ProgressCallback& progress) {
    return SnapshotWriter(graph, redactor, write, progress).write();
}

}  // namespace heapsift
