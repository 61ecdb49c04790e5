// A core of some large database server, taken only to find that it is not Python, has stopped that server in
// vain. Each CPython (2.7 to 3.15) asks for the environment variable PYTHONHOME, so its program or its
// library contains that word; symbols may be stripped, this word cannot be.
//
// Files are opened as the process has them: /proc/PID/map_files leads to the very file, also to one that was
// deleted or lies in another mount namespace, but needs a capability; else by its path below /proc/PID/root.
// Code in memory that no file backs (a packed program, a compiler at run time) could be anything: then
// nothing is claimed.

#include "parsers/process/python_traces.h"

#include "parsers/base/descriptor.h"
#include "parsers/process/proc_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <set>
#include <string_view>
#include <vector>

namespace heapsift {
namespace {

constexpr std::string_view trace = "PYTHONHOME";
constexpr std::uint64_t most_bytes = std::uint64_t{512} << 20;
constexpr std::size_t most_maps = 16 << 20;

struct CodeFile {
    std::string range, path;
};

/// The files behind mappings of code, each once, in the order of the addresses; false if there is code
/// without a file.
bool code_files(std::string_view maps, std::vector<CodeFile>& files) {
    std::set<std::string, std::less<>> known;
    bool all = true;
    while (!maps.empty()) {
        const std::size_t end = std::min(maps.find('\n'), maps.size());
        const std::string_view line = maps.substr(0, end);  // 7f00-7f01 r-xp 00000000 08:01 1234   /usr/bin/x
        maps.remove_prefix(std::min(end + 1, maps.size()));
        const std::size_t blank = line.find(' ');
        if (blank == std::string_view::npos || line.size() < blank + 5 || line[blank + 3] != 'x') continue;
        const std::size_t path = line.find('/', blank + 5);
        if (path == std::string_view::npos) {
            all = all && line.find('[') != std::string_view::npos;  // [vdso], [vsyscall]
            continue;
        }
        if (known.insert(std::string(line.substr(path))).second)
            files.push_back({std::string(line.substr(0, blank)), std::string(line.substr(path))});
    }
    return all;
}

Descriptor open_regular(const std::string& path, std::uint64_t& size) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat facts {};
    if (!file.is_open() || ::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return Descriptor();
    size = static_cast<std::uint64_t>(facts.st_size);
    return file;
}

bool has_trace(const Descriptor& file, std::uint64_t size) {
    if (size == 0) return false;
    void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (bytes == MAP_FAILED) return true;  // it may have one
    const bool found = ::memmem(bytes, size, trace.data(), trace.size()) != nullptr;
    ::munmap(bytes, size);
    return found;
}

}  // namespace

PythonTraces python_traces(std::int32_t pid, const std::string& proc) {
    const std::string process = fmt::format("{}/{}", proc, pid);
    const auto maps = read_proc_file(process + "/maps", most_maps);
    if (!maps) return PythonTraces::unknown;
    std::vector<CodeFile> files;
    bool all = code_files(*maps, files) && maps->size() < most_maps && !files.empty();
    std::uint64_t read = 0;
    for (const CodeFile& code : files) {
        std::uint64_t size = 0;
        Descriptor file = open_regular(process + "/map_files/" + code.range, size);
        if (!file.is_open()) file = open_regular(process + "/root" + code.path, size);
        if (!file.is_open() || size > most_bytes - read) {
            all = false;
            continue;
        }
        read += size;
        if (has_trace(file, size)) return PythonTraces::found;
    }
    return all ? PythonTraces::none : PythonTraces::unknown;
}

}  // namespace heapsift
