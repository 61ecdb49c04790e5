// Finding the file that a module was mapped from.
//
// Much that a core lacks can be read from a file: code, constants, the names of types. But a file that only
// has the same name gives answers that look right and are wrong. So a file counts only if its build-id is
// that of the image in the core, and its load segments are too (patchelf rewrites the segments and keeps the
// build-id).
//
// It looks, in this order, at the file given as the executable; the path under the sysroot; the path itself;
// what a living process still maps, if the file was replaced or deleted (an upgrade of a package does that);
// anything below the debug directory with that build-id. Paths come from the core: nothing there is executed
// or written, only regular files are opened, and a relative path is not followed at all.

#include "parsers/elf/module_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_indexed_files = 20'000;
constexpr std::size_t deepest_index = 16;

/// Sorted, so that the same directory always gives the same answer.
std::vector<fs::directory_entry> entries_of(const fs::path& directory, std::size_t most) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    for (fs::directory_iterator it(directory, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error)) {
        entries.push_back(*it);
        if (entries.size() > most) break;
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.path() < b.path(); });
    return entries;
}

/// Calls `visit` for each regular file (or link to one) below `directory`; false if it met a limit. Links to
/// directories are not followed, since they may form a circle.
template <class Visit>
bool walk_files(const fs::path& directory, std::size_t depth, std::size_t& left, const Visit& visit) {
    std::vector<fs::path> below;
    bool complete = true;
    for (const fs::directory_entry& entry : entries_of(directory, left)) {
        std::error_code error;
        const bool link = entry.is_symlink(error);
        if (!link && entry.is_directory(error)) {
            below.push_back(entry.path());
        } else if (entry.is_regular_file(error)) {
            if (left == 0) return false;
            --left;
            visit(entry.path().string());
        }
    }
    for (const fs::path& path : below)
        complete = depth > 0 && walk_files(path, depth - 1, left, visit) && complete;
    return complete;
}

std::string build_id_path(const std::string& directory, const std::string& build_id) {
    return directory + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

}  // namespace

ModuleFiles::ModuleFiles(FileSearch search) : search_(std::move(search)) {
    if (search_.executable.empty()) return;
    bool exists = false;
    if (const auto file = ElfFile::open(search_.executable, exists)) executable_build_id_ = file->build_id;
}

std::vector<std::string> ModuleFiles::paths_for(const Module& module) const {
    std::vector<std::string> paths;
    const bool same_id =
        executable_build_id_ && !module.build_id.empty() && *executable_build_id_ == module.build_id;
    if (!search_.executable.empty() && (module.is_executable || same_id)) paths.push_back(search_.executable);
    if (!module.path.starts_with('/')) return paths;
    if (!search_.sysroot.empty()) paths.push_back(search_.sysroot + module.path);
    paths.push_back(module.path);
    if (search_.map_files.empty()) return paths;
    if (const std::string mapped = mapped_file(module); !mapped.empty()) paths.push_back(mapped);
    if (module.is_executable)
        paths.push_back(fs::path(search_.map_files).parent_path() / "exe");  // asks for less
    return paths;
}

// /proc/PID/map_files has a link for each mapping, named by its range: 7f31c2a4d000-7f31c2a4e000.
std::string ModuleFiles::mapped_file(const Module& module) const {
    const std::string begins = fmt::format("{:x}-", module.start.value);
    std::error_code error;
    for (fs::directory_iterator at(search_.map_files, error), end; !error && at != end; at.increment(error))
        if (const std::string name = at->path().filename().string(); name.starts_with(begins))
            return search_.map_files + "/" + name;
    return {};
}

std::shared_ptr<const ElfFile> ModuleFiles::locate(Module& module, const ElfImage* image) {
    if (module.file_state == ModuleFileState::not_needed) return nullptr;
    module.file_state = ModuleFileState::missing;
    const auto consider = [&](const std::string& path) -> std::shared_ptr<const ElfFile> {
        bool exists = false;
        auto file = ElfFile::open(path, exists);
        if (file && file->only_debug_info) return nullptr;
        const bool comparable = file && image && !file->build_id.empty() && !module.build_id.empty();
        if (comparable && file->build_id == module.build_id &&
            same_load_segments(file->program_headers, image->program_headers)) {
            module.file_state = ModuleFileState::found;
            module.file = path;
            return std::make_shared<const ElfFile>(std::move(*file));
        }
        if (exists && module.file_state == ModuleFileState::missing) {
            const bool other = comparable || (!file && !module.build_id.empty());
            module.file_state = other ? ModuleFileState::mismatch : ModuleFileState::unverified;
            module.file = path;
        }
        return nullptr;
    };
    for (const std::string& path : paths_for(module))
        if (auto file = consider(path)) return file;
    for (const std::string& path : indexed(module.build_id))
        if (auto file = consider(path)) return file;
    return nullptr;
}

std::string ModuleFiles::debug_file_for(const Module& module, const ElfFile* accepted) {
    if (accepted && accepted->has_debug_info) return accepted->path;
    if (module.build_id.size() < 4) return {};
    std::vector<std::string> paths;
    if (!search_.debug_dir.empty()) paths.push_back(build_id_path(search_.debug_dir, module.build_id));
    if (!search_.sysroot.empty())
        paths.push_back(build_id_path(search_.sysroot + "/usr/lib/debug", module.build_id));
    paths.push_back(build_id_path("/usr/lib/debug", module.build_id));
    const auto& found = indexed(module.build_id);
    paths.insert(paths.end(), found.begin(), found.end());
    for (const std::string& path : paths) {
        bool exists = false;
        const auto file = ElfFile::open(path, exists);
        if (file && file->has_debug_info && file->build_id == module.build_id) return path;
    }
    return {};
}

const std::vector<std::string>& ModuleFiles::indexed(const std::string& build_id) {
    static const std::vector<std::string> none;
    if (build_id.empty() || search_.debug_dir.empty()) return none;
    std::call_once(index_built_, [this] { build_index(); });
    const auto found = index_.find(build_id);
    return found == index_.end() ? none : found->second;
}

void ModuleFiles::build_index() {
    std::size_t left = most_indexed_files;
    index_incomplete_ = !walk_files(search_.debug_dir, deepest_index, left, [this](const std::string& path) {
        bool exists = false;
        if (const auto file = ElfFile::open(path, exists); file && !file->build_id.empty())
            index_[file->build_id].push_back(path);
    });
}

}  // namespace heapsift
