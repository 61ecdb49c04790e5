// Two processes see the same files if they have the same mount namespace and the same root in it. A namespace
// that cannot be read is taken for another one.

#include "parsers/process/process_root.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace heapsift {
namespace {

bool is_same(const std::string& a, const std::string& b) {
    struct stat first {
    }, second{};
    return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

std::string process_root(std::int32_t pid, const std::string& proc) {
    const std::string process = fmt::format("{}/{}", proc, pid);
    const bool same = is_same(proc + "/self/ns/mnt", process + "/ns/mnt") &&
                      is_same(proc + "/self/root/", process + "/root/");
    return same ? "" : process + "/root";
}

}  // namespace heapsift
