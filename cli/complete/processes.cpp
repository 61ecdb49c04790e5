// Between two keys there is no time to read what each process runs (python_traces.h does, before a question is answered):
// names of files have to do. A program without "python" in any of them is not offered, and can be typed all the same.

#include "cli/complete/processes.h"

#include "cli/complete/patience.h"
#include "parsers/base/text.h"
#include "parsers/process/proc_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <filesystem>

namespace heapsift {
namespace {

constexpr std::size_t most_processes = 50;
constexpr std::size_t longest_remark = 60;

std::vector<int> numbered_folders(const std::string& proc, const std::string& beginning) {
    namespace fs = std::filesystem;
    std::vector<int> numbers;
    std::error_code error;
    fs::directory_iterator at(proc, error), none;
    for (; !error && at != none; at.increment(error)) {
        const std::string name = at->path().filename().string();
        int number = 0;
        const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (wrong == std::errc() && end == name.data() + name.size() && name.starts_with(beginning))
            numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

bool runs_python_by_name(const std::string& process) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink((process + "/exe").c_str(), target.data(), target.size());
    if (size <= 0) return false;  // of the kernel, or not ours to read
    const std::string_view program(target.data(), static_cast<std::size_t>(size));
    if (program.substr(program.rfind('/') + 1).find("python") != std::string_view::npos) return true;
    return read_proc_file(process + "/maps").value_or("").find("/libpython") != std::string::npos;
}

std::string command_line_of(const std::string& process) {
    std::string line = read_proc_file(process + "/cmdline", 4096).value_or("");
    while (line.ends_with('\0')) line.pop_back();
    std::replace(line.begin(), line.end(), '\0', ' ');
    return escape_for_terminal(line.substr(0, longest_remark));
}

}  // namespace

std::vector<Candidate> process_candidates(const std::string& beginning, std::chrono::milliseconds most,
                                          const std::string& proc) {
    const Patience patience(most);
    std::vector<Candidate> found;
    for (const int number : numbered_folders(proc, beginning)) {
        if (found.size() == most_processes || patience.is_over()) break;
        const std::string process = proc + "/" + std::to_string(number);
        if (number != ::getpid() && runs_python_by_name(process))
            found.push_back({std::to_string(number), command_line_of(process), false});
    }
    return found;
}

}  // namespace heapsift
