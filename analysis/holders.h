#pragma once

// What holds the objects of a kind, in a person's words: the type of the owner, and the attribute. "19 of 20
// arrays are Node.hActs1".

#include "analysis/holding/retained.h"
#include "analysis/holding/root_paths.h"
#include "analysis/kept_answers.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// What else holds objects of a row: it must go as well for them to be freed.
struct OtherHolder {
    std::string holder, attribute;  // as in HolderRow
    bool joined = false, nameless = false;
    std::uint64_t count = 0;  // objects of the row
};

/// Objects of one type that are held in one way. The owner is the nearest object on the cheapest path that is
/// not a plain container: what is in a list in an attribute is held by the attribute's owner.
struct HolderRow {
    TypeId type = no_type;  // of the objects
    std::string type_name;
    std::string holder;  // the owner's type, "app.Node"; a module, "app"; a frame, "func()". Not escaped
    // "hActs1", "children[*]", "params['*']". Not escaped; never contains keys of dicts
    std::string attribute;
    bool joined = false;           // no dot between holder and attribute
    bool nameless = false;         // Python has no name for the attribute
    std::string expression;        // the path to one of them, with [*] for indices. Not escaped
    ObjectId example = no_object;  // that one
    Address example_address;
    std::uint64_t count = 0, size = 0, memory = 0, array_data = 0;
    std::optional<std::uint64_t> retained;  // by all objects of the row together
    std::optional<std::uint64_t> native;    // of it, blocks of C code
    std::uint64_t also_held = 0;            // objects that another holder keeps as well
    std::vector<OtherHolder> also_held_by;  // at most eight; by count
    bool and_others = false;                // and more than these
    bool is_shared = false;                 // `also_held` is so large a part that the row alone misleads
};

struct HoldersResult {
    // By retained; those of the dicts of modules and classes, which keep what stays anyway, come last. Cut to the
    // limit
    std::vector<HolderRow> rows;
    std::uint64_t total_rows = 0, total_count = 0, total_size = 0, total_memory = 0, total_array_data = 0;
    std::uint64_t without_path = 0;  // objects that no root reaches
};

/// For the objects of `types`, or all if it is empty. `limit` 0: all rows. If `sizes` is given, rows are chosen by
/// what their objects retain, and other holders are looked for; else by memory. What more than some hundred rows
/// retain is not computed.
HoldersResult holders(const HeapGraph& graph, const std::vector<TypeId>& types, const PathWishes& wishes,
                      std::size_t limit, const ProgressCallback& progress = {},
                      KeptAnswers* answers = nullptr, const RetainedSizes* sizes = nullptr);

/// The objects that an owner's attribute holds: "app.Node.children[*]", named as in a HolderRow (owner, dot,
/// attribute); or what an attribute of that name refers to directly, "app.Node.children". By id.
std::vector<ObjectId> held_by(const HeapGraph& graph, const std::string& holder,
                              const ProgressCallback& progress = {});

}  // namespace heapsift
