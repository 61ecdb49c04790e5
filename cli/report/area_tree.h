#pragma once

// What retains what, as areas: the tree that treemaps and icicles are drawn of.
//
// There are two such trees. That of objects is the answer of `dominators`: groups, then single objects, each with the
// expression that leads to it; children that are too small for a line of their own are one area, with how many they
// are. That of types is what `.folded` has: below each group the types, so that a million small objects in one list are
// as large as they are together. Both are cut to what a screen can show, by bytes: what is less than one part in
// `parts_of_picture` has no area, and a tree has at most `most_areas`.
//
// Texts are as people read them: redacted, escaped for a terminal (cli/write/spans.h), at most some hundred columns.
// Whoever writes a tree escapes them for its format.

#include "analysis/dominators.h"
#include "analysis/flame.h"
#include "cli/page.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

inline constexpr std::uint64_t parts_of_picture = 4000;
inline constexpr std::size_t most_areas = 4000;
inline constexpr std::size_t deepest_area = 40;

struct AreaNode {
    /// Whose it is: by the group at the top; it decides the colour.
    enum class Kind : std::uint8_t {
        program,
        package,
        python,
        thread,
        native,
        garbage,
        shared,
        held
    } kind = Kind::shared;
    std::string name = {};        // ".CACHE  dict of 4,000", "app.Node ×100"
    std::string type = {};        // of an object; else empty
    std::string types = {};       // of what is together here: "3,000 int, 200 str"; empty of anything else
    std::string expression = {};  // in Python; empty if there is none
    std::string address = {};     // "0x7f…"; empty if it is no single object
    std::uint64_t bytes = 0;      // that it retains, its children's included
    bool rest = false;            // what is too small for an area of its own, together
    std::uint64_t native = 0;     // of these, blocks of C code
    std::vector<AreaNode> below = {};  // by bytes, the largest first; together at most `bytes`
};

/// Its name in files: "program".
const char* name_of(AreaNode::Kind kind);

/// What to ask `dominators` for, for a picture of all: `total` is the bytes of all objects.
DominatorsQuery query_for_areas(std::uint64_t total);

/// Of an answer to that question.
AreaNode areas_of_objects(const DominatorsResult& result, const Page& page);

/// Of the stacks of a flame graph, `depth` frames deep; of more threads than a few dozen the others are one area. Cost:
/// visit_flame_stacks.
AreaNode areas_of_types(const HeapGraph& graph, const RetainedSizes& sizes, const Page& page);

/// Leaves out the smallest areas, until there are at most `most`. One with children that stays may be larger than
/// these are together.
void cut_areas(AreaNode& top, std::size_t most);

/// Areas of the tree, its top included.
std::size_t count_areas(const AreaNode& top);

}  // namespace heapsift
