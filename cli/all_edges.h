#pragma once

// Which rows a list of references keeps: as many as are shown; but none if all are, of which there may be
// millions. These are read one by one, as they are written.

#include "cli/render/edges.h"
#include "cli/session.h"

namespace heapsift {

/// The limit for the list.
inline std::size_t kept_edges(const Session& session) {
    return session.options().rows() == 0 ? no_edges : session.options().rows();
}

/// What reads the rows for the renderer; empty if they are in the list. It refers to `heap`.
inline AllEdges all_edges(const Session& session, const HeapReader& heap, ObjectId object,
                          void (*read)(const HeapReader&, ObjectId, const EdgeList&, const EdgeVisitor&)) {
    if (session.options().rows() != 0) return {};
    return [&heap, object, read](const EdgeList& list, const EdgeVisitor& visit) {
        read(heap, object, list, visit);
    };
}

}  // namespace heapsift
