#pragma once

// The source line that allocated each of many objects and blocks, where tracemalloc was on.

#include "analysis/source_line.h"
#include "parsers/base/address.h"
#include "parsers/cpython/tracemalloc.h"

#include <optional>
#include <vector>

namespace heapsift {

/// Leaves the blocks of Python's own domain, in the order of their addresses.
void keep_python_blocks(std::vector<TracedBlock>& blocks);

/// Takes what tracemalloc recorded once, and answers for single addresses. Each answer costs some 100 ns.
class TracedLines {
public:
    explicit TracedLines(TracedMemory traced);

    bool tracing() const { return traced_.tracing; }
    /// The latest call that allocated the block in which `address` lies; nothing if it was not traced.
    std::optional<SourceLine> line_at(Address address) const;
    /// The same of the first traced block that begins in `range`: malloc's may begin before what Python's debug hooks
    /// hand out.
    std::optional<SourceLine> line_in(const AddressRange& range) const;

private:
    std::optional<SourceLine> line_of(const TracedBlock& block) const;
    TracedMemory traced_;
};

}  // namespace heapsift
