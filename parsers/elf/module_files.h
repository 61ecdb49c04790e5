#pragma once

// Finds the files of modules on this machine.

#include "parsers/base/diagnostics.h"
#include "parsers/elf/core_types.h"
#include "parsers/elf/elf_file.h"
#include "parsers/elf/elf_image.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

class ModuleFiles {
public:
    explicit ModuleFiles(FileSearch search);

    /// Looks for the file of `module`, whose image in the core is `image` (null if its headers were not
    /// saved), and sets its file_state and file. Returns the file if its build-id and load segments equal the
    /// image's, else null.
    std::shared_ptr<const ElfFile> locate(Module& module, const ElfImage* image);

    /// The path of a file with an equal build-id that has debug information: a separate file, or the accepted
    /// one. Empty if there is none. Thread-safe.
    std::string debug_file_for(const Module& module, const ElfFile* accepted);

    /// Whether the search below debug_dir stopped at its limit.
    bool index_incomplete() const { return index_incomplete_; }

private:
    std::vector<std::string> paths_for(const Module& module) const;
    std::string mapped_file(const Module& module) const;
    const std::vector<std::string>& indexed(const std::string& build_id);
    void build_index();

    FileSearch search_;
    std::optional<std::string> executable_build_id_;  // of --executable, once it was read
    std::once_flag index_built_;
    std::map<std::string, std::vector<std::string>> index_;  // build-id to paths below debug_dir
    bool index_incomplete_ = false;
};

}  // namespace heapsift
