#pragma once

#include <archive.h>

#include <memory>

namespace heapsift {

struct CloseArchive {
    void operator()(archive* a) const { archive_read_free(a); }
};

/// A reader of libarchive, freed with its owner.
using ArchiveReader = std::unique_ptr<archive, CloseArchive>;

}  // namespace heapsift
