#pragma once

// Who holds the arrays, one row for each holder and attribute: what they show, what they keep alive, and
// their common dominator.

#include "analysis/array_table.h"
#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"
#include "analysis/object_row.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Arrays that are held in one way (see HolderRow). Arrays that only a base holds count with the array whose
/// base they are; arrays of a DataFrame or a Series count as held by what holds that.
struct ArrayHolderRow {
    std::string holder, attribute;  // "app.Node", "hActs1"; "func()", "selected[*]". Not escaped
    bool joined = false;            // no dot between them
    bool of_frame = false;          // the holder is a running function, and the attribute has a name
    // "pandas.core.frame.DataFrame" if it is a DataFrame or Series that is held. Not escaped
    std::string frame_type;
    std::string expression;  // the path to one of them, with [*] for indices. Not escaped
    std::string root;        // where that path begins: "thread MainThread, func(), worker.py, now at line 41"
    std::string frame;       // "func(), worker.py, now at line 41" if the path begins in a frame. Not escaped
    std::string local;       // and the name of the local
    ObjectId example = no_object;
    ObjectId begins_at = no_object;  // where the path to it begins
    Address example_address;
    std::uint64_t arrays = 0;       // without those that only a base holds
    std::uint64_t shown_bytes = 0;  // shown by them; each byte once
    std::uint64_t nbytes = 0;       // shown by them, summed
    std::uint64_t kept_bytes = 0;   // of the owners they keep alive; each owner is in one row
    std::uint64_t pinned_arrays = 0, pinned_owners = 0;  // arrays of pinned owners, and those owners
    std::uint64_t pinned_bytes = 0;                      // of those owners
    std::uint64_t pinned_visible = 0;                    // the part of pinned_bytes that arrays show
    std::uint64_t unseen_bytes() const { return pinned_bytes - pinned_visible; }
    // the nearest node without which none of them would be reachable; only of rows in the result
    std::optional<NodeId> dominator;
    Address dominator_address;    // if the dominator is an object
    std::string dominator_words;  // otherwise: "func(), worker.py, now at line 41", "numpy"; not escaped
};

/// Fills in where the path begins, and what the dominator is, in words.
void describe(ArrayHolderRow& row, const HeapGraph& graph);

struct ArrayHolders {
    std::vector<ArrayHolderRow> rows;  // by kept_bytes, then nbytes, cut to the limit
    std::uint64_t total_rows = 0, total_arrays = 0;
    std::uint64_t without_path = 0;  // arrays that no root reaches
};

/// With `only_pinned`: only arrays of pinned owners, sorted by unseen bytes. Dominators are found if
/// `retained` is given.
ArrayHolders array_holders(const HeapGraph& graph, const ArrayTable& table,
                           const std::vector<PandasFrame>& frames, bool only_pinned, std::size_t limit,
                           const RetainedLookup* retained, const ProgressCallback& progress = {});

/// What dominates several rows: without it all of their arrays would be freed.
struct CommonHolder {
    NodeId node{0};
    std::uint64_t rows = 0;
    std::string words;                // of a frame: ArrayHolderRow::dominator_words
    std::optional<ObjectRow> object;  // nothing for a frame
    PathExpression expression;        // of an object; its root is empty if no path was found
    std::uint64_t retained = 0;       // bytes
};

/// The same once it is known which node it is, and of how many rows.
CommonHolder common_holder(const RetainedLookup& retained, NodeId node, std::uint64_t rows,
                           KeptAnswers* answers = nullptr);

/// The common holder of the most rows, among the first `shown` (0: all), which must have dominators. Nothing
/// if no object and no frame dominates two. Cost: one search for paths.
std::optional<CommonHolder> common_holder(const RetainedLookup& retained, const ArrayHolders& holders,
                                          std::size_t shown, KeptAnswers* answers = nullptr);

/// Whether rows may be kept (analysis/kept_answers.h): they have their names with them, and some roots are
/// named after threads, whose names the program gave.
bool may_be_kept(const HeapGraph& graph, const ArrayHolders& holders);

/// To be kept; what is named after roots, frames and nodes is named anew.
template <class Holders, class Part>
void array_holders_fields(Holders& holders, Part& part, const HeapGraph& graph) {
    part.list(holders.rows, [&](auto& row, Part& p) {
        for (auto* text : {&row.holder, &row.attribute, &row.frame_type, &row.expression, &row.local})
            p.text(*text);
        p.number(row.joined);
        p.number(row.of_frame);
        kept_object(row.example, p, graph.heap());
        kept_object(row.begins_at, p, graph.heap());
        p.require(!graph.roots_of(row.begins_at).empty(), "a path does not begin at a root");
        for (auto* number : {&row.arrays, &row.shown_bytes, &row.nbytes, &row.kept_bytes, &row.pinned_arrays,
                             &row.pinned_owners, &row.pinned_bytes, &row.pinned_visible})
            p.number(*number);
        NodeId dominator = row.dominator.value_or(no_node);
        p.number(dominator);
        p.require(dominator == no_node || dominator < graph.node_count(), "a number is no node's");
        if constexpr (Part::reading) {
            if (dominator != no_node) row.dominator = dominator;
            describe(row, graph);
        }
    });
    part.number(holders.total_rows);
    part.number(holders.total_arrays);
    part.number(holders.without_path);
}

}  // namespace heapsift
