// A constant in the source of two modules is two objects, and no program can change that; the same words in a
// million records could be one. So it matters who refers to a value. One pass over the references sets a bit
// by the type of each source. Tuples come last: the constants of code lie in tuples, co_consts and those that
// the compiler folded, and a tuple passes on what it is held by: what only code's tuples hold, only code
// holds.
//
// A function counts as code: its name, its docstring and its defaults are constants of the code around it.

#include "analysis/held_in.h"

#include "analysis/pass.h"
#include "parsers/numpy/kinds.h"

namespace heapsift {
namespace {

std::uint8_t bit_of(const TypeInfo& type) {
    switch (type.known) {
        case KnownType::code:
        case KnownType::function:
            return in_code;
        case KnownType::dict:
        case KnownType::default_dict:
        case KnownType::ordered_dict:
            return in_dict;
        case KnownType::list:
        case KnownType::deque:
            return in_list;
        case KnownType::set:
            return in_set;
        case KnownType::tuple:
        case KnownType::frozen_set:
            return in_tuple;
        default:
            break;
    }
    if (type.kind == &ndarray_kind) return in_array;
    return type.python_class ? in_instance : in_other;
}

/// C code may refer to what code holds as well: the modules that are part of the interpreter's binary are
/// constants there, each with all its code. What only the variables of a C module hold are its constants.
bool is_named(RootKind kind) {
    return kind != RootKind::native && kind != RootKind::native_unseen && kind != RootKind::immortal;
}

/// Held by something else than code, as far as it is known by now.
bool is_free(std::uint8_t held) { return held == 0 || (held & ~in_code) != 0; }

}  // namespace

std::vector<std::uint8_t> held_in(const HeapGraph& graph, const ProgressCallback& progress) {
    const HeapSnapshot& columns = graph.columns();
    std::vector<std::uint8_t> bits;
    for (const TypeInfo& type : columns.types) bits.push_back(bit_of(type));
    bits.push_back(in_other);
    const auto bit = [&](ObjectId object) {
        return bits[std::min<std::size_t>(columns.type_of(object), bits.size() - 1)];
    };
    std::vector<std::uint8_t> held(columns.object_count());
    for (const HeapGraph::PlacedRoot& root : graph.roots())
        if (is_named(root.root.kind)) held[root.root.object] |= in_other;
    for (const NativeReference& native : columns.references->natives())
        if (native.place == NativePlace::module_data) held[native.target] |= in_code;
    std::vector<ObjectId> tuples;
    for_each_object(columns, "looking at what holds values", progress, [&](ObjectId object) {
        const std::uint8_t by = bit(object);
        if (by == in_tuple)
            tuples.push_back(object);
        else
            for (const ObjectId target : graph.targets(object)) held[target] |= by;
    });
    // First what is held by tuples that others than code hold; what nothing holds was not found to be code's.
    std::vector<bool> done(columns.object_count());
    std::vector<ObjectId> next;
    const auto pass_on = [&](std::uint8_t by) {
        while (!next.empty()) {
            const ObjectId tuple = next.back();
            next.pop_back();
            for (const ObjectId target : graph.targets(tuple)) {
                held[target] |= by;
                if (bit(target) != in_tuple || done[target]) continue;
                done[target] = true;
                next.push_back(target);
            }
        }
    };
    const auto begin_with = [&](ObjectId tuple) {
        done[tuple] = true;
        next.push_back(tuple);
    };
    std::vector<ObjectId> unknown;  // by tuples alone, or by nothing
    for (const ObjectId tuple : tuples) {
        if (held[tuple] == 0)
            unknown.push_back(tuple);
        else if (is_free(held[tuple]))
            begin_with(tuple);
    }
    pass_on(in_tuple);
    for (const ObjectId tuple : tuples)
        if (!done[tuple] && held[tuple] == in_code) begin_with(tuple);
    pass_on(in_code);
    for (const ObjectId tuple : unknown)
        if (!done[tuple]) begin_with(tuple);
    pass_on(in_tuple);
    for (std::uint8_t& one : held)
        if (one == 0) one = in_other;
    return held;
}

}  // namespace heapsift
