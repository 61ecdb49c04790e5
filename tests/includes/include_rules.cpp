#include "tests/includes/include_rules.h"

#include "analysis/graph/components.h"
#include "analysis/graph/csr.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace heapsift::test {
namespace {

/// A folder, and the folders that it includes directly; it may also include whatever they may.
struct Folder {
    std::string_view path;
    std::vector<std::string_view> below;
};

const std::vector<Folder>& folders() {
    static const std::vector<Folder> all = {
        {"parsers/base", {}},
        {"parsers/process", {"parsers/base"}},
        {"parsers/elf", {"parsers/base"}},
        {"parsers/capture", {"parsers/elf"}},
        {"parsers/dwarf", {"parsers/elf"}},
        {"parsers/memory", {"parsers/elf"}},
        {"parsers/emulation", {"parsers/elf"}},
        {"parsers/index", {"parsers/elf"}},
        {"parsers/cpython", {"parsers/dwarf", "parsers/memory", "parsers/emulation", "parsers/index"}},
        {"parsers/numpy", {"parsers/cpython"}},
        {"parsers/libraries", {"parsers/cpython"}},
        {"parsers/values", {"parsers/numpy"}},
        {"parsers/snapshot", {"parsers/numpy", "parsers/libraries", "parsers/values"}},
        {"parsers/reading", {"parsers/snapshot"}},
        {"analysis/graph", {"parsers/base"}},
        {"analysis/holding", {"parsers/reading", "analysis/graph"}},
        {"analysis", {"analysis/holding"}},
        {"analysis/suspects", {"analysis"}},
        {"cli/database", {"parsers/base"}},
        {"cli", {"analysis/suspects", "cli/database", "parsers/capture", "parsers/process"}},
    };
    return all;
}

/// Headers of other projects, by the beginning of their names, and the files or folders that may include
/// them.
struct Library {
    std::string_view prefix;
    std::vector<std::string_view> users;
};

const std::vector<Library>& libraries() {
    static const std::vector<Library> all = {
        {"fmt/", {"parsers", "analysis", "cli"}},
        {"elf.h", {"parsers/elf", "parsers/capture"}},
        {"libelf.h", {"parsers/elf"}},
        {"gelf.h", {"parsers/elf"}},
        {"zlib.h", {"parsers/elf/unpacking.cpp", "parsers/capture/frame_packer.cpp"}},
        {"zstd.h",
         {"parsers/elf/unpacking.cpp", "parsers/capture/frame_packer.cpp", "cli/report/assets.cpp",
          "cli/report/tool"}},
        {"lzma.h", {"parsers/elf/unpacking.cpp", "parsers/capture/frame_packer.cpp"}},
        {"lz4frame.h", {"parsers/elf/unpacking.cpp", "parsers/capture/frame_packer.cpp"}},
        {"dwarf.h", {"parsers/elf", "parsers/dwarf"}},
        {"elfutils/", {"parsers/elf", "parsers/dwarf"}},
        {"llvm/",
         {"parsers/dwarf/debug_file.cpp", "parsers/dwarf/debug_file.h", "parsers/dwarf/source_lines.cpp",
          "parsers/dwarf/struct_layouts.cpp"}},
        {"unicorn/", {"parsers/emulation/unicorn.h"}},
        {"boost/", {"analysis/graph"}},
        {"CLI/", {"cli/command_options.cpp"}},
        {"nlohmann/", {"cli/json.h"}},
        {"sqlite3.h", {"cli/database"}},
        {"xxhash.h",
         {"parsers/index", "parsers/capture/page_hash.cpp", "parsers/capture/page_hash_avx2.cpp",
          "parsers/elf/core_key.cpp", "analysis/content_hashes.cpp",
          "analysis/suspects/signature_program.cpp", "cli/index_place.cpp", "cli/batch_lines.cpp",
          "cli/report/fleet.cpp", "cli/report/fleet_line.cpp"}},
        {"curses.h", {"cli/browse/terminal.cpp"}},
        // The system's.
        {"sys/",
         {"parsers/base", "parsers/elf", "parsers/capture", "parsers/emulation", "parsers/index",
          "parsers/process", "cli"}},
        {"dlfcn.h", {"parsers/emulation/unicorn.cpp"}},
        {"pwd.h", {"parsers/base/static_program.cpp"}},
        {"search.h", {"parsers/base/static_program.cpp"}},
        {"pthread.h", {"parsers/emulation/watch.cpp"}},
        {"linux/", {"cli"}},
        {"fcntl.h",
         {"parsers/base", "parsers/elf", "parsers/capture", "parsers/emulation", "parsers/dwarf",
          "parsers/index", "parsers/process", "cli"}},
        {"unistd.h",
         {"parsers/base", "parsers/elf", "parsers/capture", "parsers/emulation", "parsers/dwarf",
          "parsers/index", "parsers/process", "cli"}},
        {"link.h", {"cli/index_place.cpp"}},
        {"malloc.h", {"parsers/dwarf/struct_layouts.cpp", "cli/main.cpp"}},
        {"langinfo.h", {"cli/browse/terminal.cpp"}},
        {"termios.h", {"cli/browse/terminal_state.cpp"}},
        {"poll.h",
         {"parsers/process", "parsers/capture/drop_behind.cpp", "parsers/emulation/in_child.cpp", "cli"}},
        {"sched.h", {"cli", "parsers/capture"}},
        {"dirent.h", {"parsers/capture"}},
        {"cxxabi.h", {"analysis/native_classes.cpp"}},
    };
    return all;
}

bool lies_in(std::string_view file, std::string_view folder) {
    return file.starts_with(folder) && (file.size() == folder.size() || file[folder.size()] == '/');
}

/// The innermost folder of the table that `file` lies in, or null.
const Folder* folder_of(std::string_view file) {
    const Folder* found = nullptr;
    for (const Folder& folder : folders())
        if (lies_in(file, folder.path) && (!found || folder.path.size() > found->path.size()))
            found = &folder;
    return found;
}

bool may_include(const Folder& from, std::string_view to) {
    if (from.path == to) return true;
    return std::any_of(from.below.begin(), from.below.end(), [&](std::string_view below) {
        const Folder* folder = folder_of(below);
        return folder && may_include(*folder, to);
    });
}

struct Include {
    std::string file, header;
    bool quoted;
};

/// The header that a line includes.
std::optional<Include> include_in(const std::string& file, std::string_view line) {
    const auto skip = [&](std::string_view blanks) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    };
    skip(" \t");
    if (!line.starts_with('#')) return std::nullopt;
    line.remove_prefix(1);
    skip(" \t");
    if (!line.starts_with("include")) return std::nullopt;
    line.remove_prefix(7);
    skip(" \t");
    if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
    const std::size_t end = line.find(line[0] == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos) return std::nullopt;
    return Include{file, std::string(line.substr(1, end - 1)), line[0] == '"'};
}

std::vector<Include> includes_of(const std::string& root, std::set<std::string>& files) {
    std::vector<Include> includes;
    for (const char* part : {"parsers", "analysis", "cli"}) {
        const std::filesystem::path below = std::filesystem::path(root) / part;
        if (!std::filesystem::exists(below)) continue;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(below))
            if (const auto& path = entry.path(); path.extension() == ".h" || path.extension() == ".cpp" ||
                                                 path.extension() == ".def" || path.extension() == ".inc")
                files.insert(std::filesystem::relative(path, root).generic_string());
    }
    if (files.empty()) throw std::runtime_error("no source below " + root);
    for (const std::string& file : files) {
        std::ifstream text(std::filesystem::path(root) / file);
        if (!text) throw std::runtime_error("cannot read " + file);
        for (std::string line; std::getline(text, line);)
            if (auto include = include_in(file, line)) includes.push_back(std::move(*include));
    }
    return includes;
}

std::string complaint_about_own(const Include& include, const std::set<std::string>& files) {
    const Folder* from = folder_of(include.file);
    const Folder* to = folder_of(include.header);
    if (!from) return fmt::format("{}: its folder has no place in the order", include.file);
    if (!files.contains(include.header))
        return fmt::format("{} includes {}, which is not there", include.file, include.header);
    if (!to || !may_include(*from, to->path))
        return fmt::format("{} includes {}: {} does not stand on {}", include.file, include.header,
                           from->path, to ? to->path : "that");
    return {};
}

std::string complaint_about_other(const Include& include) {
    if (include.header.find_first_of("./") == std::string::npos) return {};  // the standard library's
    for (const Library& library : libraries()) {
        if (!include.header.starts_with(library.prefix)) continue;
        for (const std::string_view user : library.users)
            if (lies_in(include.file, user)) return {};
        return fmt::format("{} includes <{}>, which belongs to {}", include.file, include.header,
                           fmt::join(library.users, ", "));
    }
    return fmt::format("{} includes <{}>, of no library that is known", include.file, include.header);
}

/// A header and the .cpp of the same name count as one.
std::string unit_of(const std::string& file) {
    for (const std::string_view ending : {".h", ".cpp"})
        if (file.ends_with(ending)) return file.substr(0, file.size() - ending.size());
    return file;
}

std::vector<std::string> circles(const std::vector<Include>& includes) {
    std::map<std::string, std::uint32_t> number;
    std::vector<std::string> names;
    const auto number_of = [&](const std::string& file) {
        const auto [at, added] = number.emplace(unit_of(file), static_cast<std::uint32_t>(names.size()));
        if (added) names.push_back(at->first);
        return at->second;
    };
    std::vector<std::pair<NodeId, NodeId>> edges;
    for (const Include& include : includes)
        if (include.quoted)
            edges.emplace_back(NodeId(number_of(include.file)), NodeId(number_of(include.header)));
    const Components components =
        strong_components(Adjacency::of_edges(names.size(), edges), [](std::uint32_t) { return true; });
    std::map<std::uint32_t, std::set<std::string>> members;
    for (const NodeId unit : components.of_node.ids()) members[components.of_node[unit]].insert(names[unit]);
    std::vector<std::string> result;
    for (const auto& [component, units] : members)
        if (units.size() > 1) result.push_back(fmt::format("a circle: {}", fmt::join(units, ", ")));
    return result;
}

}  // namespace

std::vector<std::string> include_complaints(const std::string& root) {
    std::set<std::string> files;
    const std::vector<Include> includes = includes_of(root, files);
    std::vector<std::string> complaints;
    for (const Include& include : includes) {
        std::string complaint =
            include.quoted ? complaint_about_own(include, files) : complaint_about_other(include);
        if (!complaint.empty()) complaints.push_back(std::move(complaint));
    }
    for (std::string& circle : circles(includes)) complaints.push_back(std::move(circle));
    return complaints;
}

}  // namespace heapsift::test
