// /proc/PID/status is the one text that has all of it. What newer kernels add there (Kthread, 6.8) is taken
// from /proc/PID/stat where it is missing.

#include "parsers/process/process_facts.h"

#include "parsers/process/proc_file.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

/// The numbers of a line, at most `most`.
std::vector<std::uint64_t> numbers_in(std::string_view line, std::size_t most = 64) {
    std::vector<std::uint64_t> numbers;
    while (numbers.size() < most) {
        const auto number = leading_number(line);
        if (!number) break;
        numbers.push_back(*number);
        line.remove_prefix(line.find_first_not_of(" \t"));
        line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
    }
    return numbers;
}

std::int32_t id_in(std::string_view text, std::string_view key) {
    const auto line = line_of(text, key);
    const auto number = line ? leading_number(*line) : std::nullopt;
    return number && *number <= INT32_MAX ? static_cast<std::int32_t>(*number) : 0;
}

std::optional<std::uint64_t> kibibytes_in(std::string_view text, std::string_view key) {
    const auto line = line_of(text, key);
    const auto number = line ? leading_number(*line) : std::nullopt;
    if (!number || *number > UINT64_MAX / 1024) return std::nullopt;
    return *number * 1024;
}

std::uint64_t capabilities_in(std::string_view text, std::string_view key) {
    const auto line = line_of(text, key);
    return line ? leading_number(*line, 16).value_or(0) : 0;
}

/// Real, effective and saved id.
void read_ids(std::string_view text, std::string_view key, std::uint32_t& real, std::uint32_t& effective,
              std::uint32_t& saved) {
    const auto ids = numbers_in(line_of(text, key).value_or(""), 3);
    if (ids.size() < 3) return;
    real = static_cast<std::uint32_t>(ids[0]);
    effective = static_cast<std::uint32_t>(ids[1]);
    saved = static_cast<std::uint32_t>(ids[2]);
}

/// The numbers behind the name in /proc/PID/stat, which may have blanks and brackets itself; the first is the
/// parent.
std::vector<std::uint64_t> numbers_of_stat(std::string_view stat) {
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos || stat.size() < name_end + 4) return {};
    std::vector<std::uint64_t> numbers;
    std::string_view rest = stat.substr(name_end + 4);  // behind ") S "
    while (!rest.empty() && numbers.size() < 64) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        numbers.push_back(
            leading_number(rest.substr(0, end)).value_or(0));  // tty and the like may be negative
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return numbers;
}

}  // namespace

std::optional<ProcessFacts> read_process_status(std::string_view text) {
    ProcessFacts facts;
    facts.pid = id_in(text, "Pid:");
    facts.process = id_in(text, "Tgid:");
    const auto state = line_of(text, "State:");
    if (facts.pid == 0 || facts.process == 0 || !state || state->empty()) return std::nullopt;
    facts.state = state->front();
    facts.parent = id_in(text, "PPid:");
    facts.name = std::string(line_of(text, "Name:").value_or(""));
    facts.kernel_thread = id_in(text, "Kthread:") != 0;
    read_ids(text, "Uid:", facts.user, facts.effective_user, facts.saved_user);
    read_ids(text, "Gid:", facts.group, facts.effective_group, facts.saved_group);
    facts.permitted = capabilities_in(text, "CapPrm:");
    facts.effective = capabilities_in(text, "CapEff:");
    for (const std::uint64_t id : numbers_in(line_of(text, "NSpid:").value_or("")))
        facts.namespace_pids.push_back(static_cast<std::int32_t>(id));
    facts.resident_bytes = kibibytes_in(text, "VmRSS:");
    facts.swapped_bytes = kibibytes_in(text, "VmSwap:");
    facts.anonymous_bytes = kibibytes_in(text, "RssAnon:");
    facts.shared_bytes = kibibytes_in(text, "RssShmem:");
    return facts;
}

std::optional<ProcessFacts> process_facts(std::int32_t pid, const std::string& proc) {
    const auto status = read_proc_file(fmt::format("{}/{}/status", proc, pid));
    auto facts = status ? read_process_status(*status) : std::nullopt;
    if (!facts || facts->kernel_thread || facts->resident_bytes) return facts;
    constexpr std::uint64_t flag_of_kernel_threads = 0x00200000;  // PF_KTHREAD of linux/sched.h
    constexpr std::size_t flags = 5;                              // field 9; the parent is field 4
    const auto stat = read_proc_file(fmt::format("{}/{}/stat", proc, pid));
    const auto numbers = stat ? numbers_of_stat(*stat) : std::vector<std::uint64_t>();
    facts->kernel_thread = numbers.size() > flags && (numbers[flags] & flag_of_kernel_threads) != 0;
    return facts;
}

std::optional<std::uint64_t> start_time_in(std::string_view stat) {
    constexpr std::size_t start = 18;  // field 22
    const auto numbers = numbers_of_stat(stat);
    return numbers.size() > start ? std::optional(numbers[start]) : std::nullopt;
}

std::optional<std::uint64_t> start_time(std::int32_t pid, const std::string& proc) {
    const auto stat = read_proc_file(fmt::format("{}/{}/stat", proc, pid));
    return stat ? start_time_in(*stat) : std::nullopt;
}

}  // namespace heapsift
