#include "cli/query/query_functions.h"

#include "analysis/object_paths.h"
#include "analysis/why.h"
#include "cli/document/document.h"
#include "cli/render/object.h"
#include "cli/units.h"
#include "cli/write/spans.h"
#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::int64_t usual_value = 1000, longest_value_asked = 1'000'000;

std::string in_capital_digits(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4];
        text += digits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

void hex_of(const SqlArguments& arguments, SqlResult& result) {
    if (arguments.is_null(0)) return result.null();
    if (arguments.is_integer(0))
        return result.text(hexadecimal(static_cast<std::uint64_t>(arguments.integer(0))));
    result.text(in_capital_digits(arguments.bytes(0)));
}

void size_text_of(const SqlArguments& arguments, SqlResult& result) {
    if (arguments.is_null(0)) return result.null();
    const double bytes = arguments.real(0);
    const auto whole = static_cast<std::uint64_t>(std::min(std::abs(bytes), 9e18));
    result.text((bytes < 0 ? "-" : "") + binary_size(whole));
}

/// The object whose address the first argument is.
ObjectId object_of(QueryHeap& heap, const SqlArguments& arguments) {
    return arguments.is_integer(0) ? heap.find(arguments.integer(0)) : no_object;
}

void value_of_object(QueryHeap& heap, const SqlArguments& arguments, SqlResult& result) {
    const ObjectId object = object_of(heap, arguments);
    if (object == no_object) return result.null();
    const std::int64_t limit = arguments.count() > 1 ? arguments.integer(1) : usual_value;
    const ShortValue value = heap.heap().value(
        object, static_cast<std::size_t>(std::clamp<std::int64_t>(limit, 1, longest_value_asked)));
    if (value.kind == ShortValue::Kind::none) return result.null();
    const HeapSnapshot& columns = heap.columns();
    result.text(
        escape_for_terminal(heap.redactor().value(value, type_name(columns.types, columns.type_of(object)))));
}

/// A path from a root, with the names of its steps.
struct NamedPath {
    std::string root;                  // for people
    std::string local;                 // of a frame: the variable in which it begins
    std::vector<ObjectId> objects;     // from the root's own down
    std::vector<ReferenceStep> steps;  // one less
    PathExpression expression;
};

/// As `why` finds it, blocks of C code included.
NamedPath path_through_blocks(QueryHeap& heap, ObjectId object) {
    NamedPath path;
    const WhyResult found =
        why(heap.graph(), heap.question()->retained(), object, {}, {}, nullptr, &heap.paths(), nullptr);
    if (found.paths.empty()) return path;
    const WhyPath& first = found.paths.front();
    path.root = first.root_words;
    path.expression = first.expression;
    path.objects = {first.at_root.id};
    for (const WhyStep& step : first.steps) {
        path.objects.push_back(step.edge.target.id);
        path.steps.push_back(step.edge.reference.step);
    }
    return path;
}

NamedPath named_path(QueryHeap& heap, ObjectId object) {
    NamedPath path;
    const HeapGraph& graph = heap.graph();
    const auto objects = heap.paths().path(graph, object);
    if (!objects || objects->empty()) return path;
    const HeapGraph::PlacedRoot& placed = cheapest_root(graph, objects->front());
    if (placed.block != no_node) return path_through_blocks(heap, object);
    path.objects = *objects;
    path.root = root_words(graph, placed.root);
    if (placed.root.kind == RootKind::frame && !placed.root.name.is_null())
        path.local = heap.heap().python_heap().unicode_text(placed.root.name, 200).value_or("?");
    std::vector<Reference> references;
    for (std::size_t i = 1; i < objects->size(); ++i) {
        references.push_back(step_between(heap.heap(), (*objects)[i - 1], (*objects)[i]));
        path.steps.push_back(references.back().step);
    }
    path.expression = path_expression(graph, placed.root, *objects, references);
    return path;
}

void expression_of_object(QueryHeap& heap, const SqlArguments& arguments, SqlResult& result) {
    const ObjectId object = object_of(heap, arguments);
    if (object == no_object) return result.null();
    const Expression expression = expression_of(named_path(heap, object).expression);
    if (expression.empty()) return result.null();
    result.text(plain(Text(expression), heap.redactor()));
}

void why_object(QueryHeap& heap, const SqlArguments& arguments, SqlResult& result) {
    const ObjectId object = object_of(heap, arguments);
    if (object == no_object) return result.null();
    const NamedPath path = named_path(heap, object);
    if (path.objects.empty()) return result.null();
    const auto type = [&](ObjectId of) {
        return type_name(heap.columns().types, heap.columns().type_of(of));
    };
    std::string text = path.root;
    if (!path.local.empty()) text += " > " + path.local;
    text += " (" + type(path.objects.front()) + ")";
    for (std::size_t i = 0; i < path.steps.size(); ++i)
        text +=
            " > " + heap.redactor().reference_name(path.steps[i]) + " (" + type(path.objects[i + 1]) + ")";
    result.text(escape_for_terminal(text));
}

}  // namespace

void add_query_functions(SqlQuery& query, QueryHeap& heap) {
    const auto with_heap = [&heap](auto function) {
        return [&heap, function](const SqlArguments& arguments, SqlResult& result) {
            function(heap, arguments, result);
        };
    };
    query.add({"hex", 1, hex_of});
    query.add({"size_text", 1, size_text_of});
    query.add({"value", 1, with_heap(value_of_object)});
    query.add({"value", 2, with_heap(value_of_object)});
    query.add({"expr", 1, with_heap(expression_of_object)});
    query.add({"why", 1, with_heap(why_object)});
}

}  // namespace heapsift
