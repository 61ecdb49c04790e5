// A folder may hold a hundred thousand files, and be on the other side of a network. So the names decide
// first, then whether it is a folder; only then is a file opened, and after some milliseconds none any more:
// Tab may offer too little, but must not make anybody wait.

#include "cli/complete/paths.h"

#include "parsers/base/text.h"
#include "parsers/elf/core_probe.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

bool is_export(const std::string& path) {
    constexpr std::string_view sqlite("SQLite format 3\0", 16);
    std::array<char, 16> head{};
    std::ifstream file(path, std::ios::binary);
    return file.read(head.data(), head.size()) && std::string_view(head.data(), head.size()) == sqlite;
}

bool is_wanted(const std::string& path, PathKind kind) {
    switch (kind) {
        case PathKind::folders:
            return false;
        case PathKind::cores:
            return looks_like_core(path);
        case PathKind::cores_and_exports:
            return looks_like_core(path) || is_export(path);
        case PathKind::all:
            return true;
    }
    return false;
}

std::string with_home(const std::string& path) {
    const char* home = std::getenv("HOME");
    return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

}  // namespace

std::vector<Candidate> path_candidates(const std::string& beginning, PathKind kind,
                                       std::chrono::milliseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    const std::size_t slash = beginning.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : beginning.substr(0, slash + 1);
    const std::string name = beginning.substr(folder.size());
    std::vector<Candidate> found;
    std::error_code error;
    fs::directory_iterator at(folder.empty() ? fs::path(".") : fs::path(with_home(folder)), error), none;
    for (; !error && at != none && std::chrono::steady_clock::now() < end; at.increment(error)) {
        const std::string entry = at->path().filename().string();
        if (!entry.starts_with(name) || (entry.starts_with('.') && !name.starts_with('.'))) continue;
        if (escape_for_terminal(entry) != entry) continue;
        std::error_code ignored;
        if (at->is_directory(ignored))
            found.push_back({folder + entry + "/", "", true});
        else if (at->is_regular_file(ignored) && is_wanted(at->path().string(), kind))
            found.push_back({folder + entry, kind == PathKind::all ? "" : "core", false});
    }
    std::sort(found.begin(), found.end(),
              [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
    return found;
}

}  // namespace heapsift
