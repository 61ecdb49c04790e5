#pragma once

// Where the index of a core lies, for what it is valid, and how much room indexes may take.

#include "cli/core_choice.h"
#include "parsers/elf/unpacked_copy.h"
#include "parsers/index/index_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// --index-dir if given, else $XDG_CACHE_HOME/heapsift, else ~/.cache/heapsift; "" if there is no home.
std::string index_directory(const std::string& given);

/// The file for a core: its name, and a number made of its absolute path and of the options that shape what
/// is read from it (`native`: not --no-native). So another core at the same path replaces it, and two sets of options do not.
std::string index_path(const std::string& directory, const CoreChoice& choice, bool native);

/// Beside an index: the file for what questions found (analysis/kept_answers.h).
std::string answers_path(const std::string& index);

/// Beside an index: the names of its types (cli/complete/kept_type_names.h).
std::string names_path(const std::string& index);

/// The file for a compressed core, once it is unpacked (parsers/elf/unpacked_copy.h), beside its index;
/// options do not shape it.
std::string unpacked_path(const std::string& directory, const CoreChoice& choice);
/// The same with what it may take: as much as all indexes together, and it leaves 1 GiB of the disk free.
UnpackedCopy unpacked_copy(const std::string& directory, const CoreChoice& choice);
/// A line for people, if the core was unpacked and could not be kept; else "".
std::string why_not_kept(const UnpackedCopy& copy);

/// Of the core: its size, times, inode, its first 64 KiB, and 64 samples of the rest (a time can be set back,
/// but not that of the last change, st_ctime); of the modules: their
/// build-ids and which files were accepted for them; and of this program: its version and build-id. All
/// zeros if the core cannot be read.
IndexKey index_key(const CoreChoice& choice, const CoreFile& core);

/// How many bytes the index at `path` may have: what all indexes together may take ($HEAPSIFT_INDEX_LIMIT,
/// "20G" without it) but for what its unpacked core takes, and no more than leaves 1 GiB of the disk free.
std::uint64_t index_limit(const std::string& path, const std::string& unpacked = "");

/// Adds parts to the index, in its directory, which is made if need be, and drops old indexes if all of them
/// are too large. `unpacked`: of the same core, if it is compressed. Returns a line for people if it could
/// not be written; else "".
std::string keep_in_index(IndexFile& index, const std::vector<PartWriter>& parts,
                          const std::string& unpacked = "");

/// Removes the indexes and unpacked cores that were not used for longest, until all of them fit into the
/// limit; `path` and `unpacked` stay. Also removes what killed writers left. Returns how many were removed.
std::size_t drop_old_indexes(const std::string& path, const std::string& unpacked = "");

/// The index of a core as it is now, and what it shares the room with. All numbers but `bytes` and `parts`
/// include the files of answers.
struct IndexThere {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t answers = 0, answer_bytes = 0;  // what is kept of answers
    std::vector<IndexFile::PartSize> parts;
    struct {
        std::uint64_t bytes = 0, count = 0, unpacked = 0;
    } all;                    // of the directory; `unpacked` counts cores
    std::uint64_t limit = 0;  // bytes, of all
    struct Unpacked {
        std::string path;
        std::uint64_t bytes = 0;  // of the disk
    };
    std::optional<Unpacked> unpacked = {};  // this core, if it is compressed and kept
};
/// Nothing if it is not usable. `unpacked`: where the core lies unpacked; "" if it does not.
std::optional<IndexThere> index_there(const std::string& path, const IndexKey& key,
                                      const std::string& unpacked = "");

}  // namespace heapsift
