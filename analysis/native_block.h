#pragma once

// One block of C code: what it is, who owns it, what leads to it and where it leads.

#include "analysis/holding/retained.h"
#include "analysis/native_end.h"
#include "analysis/path_expression.h"
#include "analysis/source_line.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct NativeBlock {
    Address address;                // its start
    std::uint64_t inside = 0;       // so many bytes behind it lies what was asked for
    std::uint64_t bytes = 0;        // that the program may use
    std::string of_class, content;  // "shapes::Circle"; "text"; empty if not known
    Credit credit = Credit::nothing;
    std::vector<SourceLine>
        allocated_at;  // its calls, the most recent one last; empty if tracemalloc has none

    std::uint64_t retained = 0;  // bytes that would come free with it
    std::optional<ObjectRow>
        owner;                  // the object without which it would not be reached; its `retained` is known
    PathExpression expression;  // of the owner
    std::string group;          // where there is no owner: "libfoo.so", "leaked native memory"; not escaped
    bool shared = false;        // by several groups

    // Without an owner: the objects, variables, … from which ways through blocks alone lead here.
    std::vector<NativeEnd> beginnings;
    std::uint64_t total_beginnings = 0;
    std::vector<NativeEnd> referrers, referents;  // cut to the limit, as is `beginnings`
    std::uint64_t total_referrers = 0, total_referents = 0;
};

/// The block that holds `address`; `no_block` where there is none, or native memory is no part of the graph.
BlockId native_block_at(const HeapGraph& graph, Address address);

/// `limit` 0: all. Cost: one look at all edges of blocks, and without an
/// owner 4 bytes for each while it works.
NativeBlock native_block(const HeapGraph& graph, const RetainedSizes& sizes, BlockId block, Address asked,
                         std::size_t limit);

}  // namespace heapsift
