// Whoever gets a hundred cores wants to know how many causes they have. Crash reporters group by the frames
// of the stack; no frame says why a heap is full, but its content does. Two runs with the same fault share
// the program, how it ended and which types dominate; they never share addresses, ids and exact sizes. Shares
// come in coarse steps (a quarter of all objects' memory), and names in alphabetical order, so that small
// differences change nothing.

#include "analysis/signature.h"

#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <sstream>
#include <vector>

namespace heapsift {
namespace {

bool is_figure(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string without_numbers(const std::string& text) {
    constexpr std::size_t long_number = 3;
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        while (end < text.size() && is_figure(text[end])) ++end;
        if (end - i >= long_number)
            result += "#";
        else
            result += text.substr(i, std::max<std::size_t>(end - i, 1));
        i = std::max(end, i + 1);
    }
    return result;
}

// What Python was told to run: the first word after its own options.
std::string script_of(const std::vector<std::string>& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "-c") return "-c";
        if (word == "-m") return i + 1 < words.size() ? words[i + 1] : "-m";
        if (word == "-X" || word == "-W")
            ++i;
        else if (word[0] != '-')
            return std::string(base_name(word));
    }
    return std::string(base_name(words.front()));
}

// gcore stops a process with a signal of its own, and the core records that signal.
std::string end_of(const ProcessInfo& process) {
    const int signal = process.signal.value_or(0);
    const bool of_gdb = signal == SIGSTOP || signal == SIGTRAP || signal == SIGINT || signal == SIGCONT;
    if (signal == 0 || (process.from_gcore && of_gdb)) return "alive";
    const char* name = sigabbrev_np(signal);
    return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace

std::string program_name(const ProcessInfo& process, bool with_arguments) {
    std::istringstream arguments(with_arguments ? process.arguments : std::string());
    std::vector<std::string> words;
    for (std::string word; arguments >> word;) words.push_back(word);
    if (words.empty()) return without_numbers(process.name);
    std::string name = base_name(words.front()).starts_with("python") ? script_of(words)
                                                                      : std::string(base_name(words.front()));
    while (name.ends_with(':')) name.pop_back();  // "gunicorn: worker [shop]"
    return without_numbers(name);
}

std::string signature(const OverviewResult& result, const ProcessInfo& process, const PythonVersion& version,
                      bool with_arguments) {
    const std::string region = result.memory.empty() ? "no memory" : result.memory.front().name;
    return fmt::format("CPython {}.{}; {}; {}; {}; {}", version.major, version.minor,
                       program_name(process, with_arguments), end_of(process), region,
                       fmt::join(result.dominant_types, ", "));
}

}  // namespace heapsift
