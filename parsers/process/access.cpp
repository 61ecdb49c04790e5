// The kernel answers "permission denied" for a dozen reasons, and each has another cure. They are told apart
// by looking, in the order in which the kernel checks them (kernel/ptrace.c, __ptrace_may_access;
// security/commoncap.c; security/yama/yama_lsm.c):
//
//   the ids      the caller's must be the process's real, effective and saved ids, or it has CAP_SYS_PTRACE
//                in the user namespace of the process
//   dumpable     a process that is not (setuid, capabilities of its file, prctl) asks for the capability
//   capabilities the process may have none that the caller lacks, and be in the same user namespace; else as above
//   Yama         scope 1: only an ancestor, or who the process named; 2: only with the capability; 3: nobody
//   others       SELinux, AppArmor: they say nothing
//
// Whether it is refused at all, the kernel itself says: /proc/PID/mem is opened, which asks the same question
// as PTRACE_SEIZE (fs/proc/base.c, proc_mem_open).

#include "parsers/process/access.h"

#include "parsers/base/descriptor.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"
#include "parsers/process/memory_groups.h"
#include "parsers/process/proc_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace heapsift {
namespace {

std::optional<std::string> link_at(const std::string& path) {
    std::array<char, 256> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) return std::nullopt;
    return std::string(target.data(), static_cast<std::size_t>(length));
}

/// The ids of the machine's own user namespace are mapped to themselves, all of them.
bool is_inner_user_namespace(const std::string& proc) {
    const auto map = read_proc_file(proc + "/self/uid_map");
    if (!map) return false;
    const auto count =
        leading_number(std::string_view(*map).substr(std::min<std::size_t>(map->rfind(' '), map->size())));
    return count != std::uint64_t{UINT32_MAX};
}

/// One that goes on where the first has ended; else 0.
std::int32_t living_thread(std::int32_t process, const std::string& proc) {
    const auto ended = [](const std::optional<ProcessFacts>& thread) {
        return !thread || thread->state == 'Z' || thread->state == 'X';
    };
    if (!ended(process_facts(process, proc))) return 0;
    std::error_code failed;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("{}/{}/task", proc, process), failed)) {
        const auto number = leading_number(entry.path().filename().string());
        if (!number || *number > INT32_MAX) continue;
        const auto tid = static_cast<std::int32_t>(*number);
        if (!ended(process_facts(tid, proc))) return tid;
    }
    return 0;
}

bool has_capability(const ProcessFacts& process) {
    return (process.effective >> capability_sys_ptrace & 1) != 0;
}

bool same_ids(const ProcessFacts& self, const ProcessFacts& other) {
    const auto all = [](std::uint32_t id, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        return id == a && id == b && id == c;
    };
    return all(self.effective_user, other.user, other.effective_user, other.saved_user) &&
           all(self.effective_group, other.group, other.effective_group, other.saved_group);
}

Error not_permitted(const std::string& message, const std::string& hint) {
    return cannot_analyse("not-permitted", message, hint);
}

std::string as_root(const std::string& arguments) { return "sudo " + command_line(arguments); }

constexpr const char* container_cure =
    "start the container with --cap-add SYS_PTRACE (kubernetes: securityContext, capabilities, add: "
    "[SYS_PTRACE]), or ask from the host";

Error no_process_seen(const AccessFacts& facts, MayBeFile may_be_file) {
    const std::string number = std::to_string(facts.pid);
    if (facts.processes_hidden && facts.self.effective_user != 0)
        return cannot_analyse(
            "no-such-process",
            fmt::format("no process {} can be seen: /proc hides those of other users (hidepid)", number),
            "as root: " + as_root(number));
    return cannot_analyse(
        "no-such-process",
        fmt::format("there is no process {}{}", number,
                    may_be_file == MayBeFile::yes ? ", and no file of that name" : ""),
        "pgrep -af python lists the running ones; in a container, processes have other numbers");
}

/// Yama's line, where it is what forbids.
std::optional<Error> refused_by_yama(const AccessFacts& facts, const std::string& who,
                                     const std::string& arguments) {
    const int scope = facts.yama_scope.value_or(0);
    if (scope == 3)
        return not_permitted(
            fmt::format("{}: nobody may read the memory of another process until this machine is started "
                        "anew (kernel.yama.ptrace_scope is 3)",
                        who),
            "a core without ptrace: " + command_line("help capture"));
    if (scope < 1 || has_capability(facts.self)) return std::nullopt;
    const std::string what = scope == 1
                                 ? "only its parent may read its memory (kernel.yama.ptrace_scope is 1)"
                                 : "only root may read its memory (kernel.yama.ptrace_scope is 2)";
    if (facts.self.effective_user == 0)
        return not_permitted(fmt::format("{}: {}, and root here lacks the capability SYS_PTRACE", who, what),
                             container_cure);
    return not_permitted(
        fmt::format("{}: {}", who, what),
        scope == 1 ? as_root(arguments) + ", or until the next start: sudo sysctl kernel.yama.ptrace_scope=0"
                   : as_root(arguments));
}

/// With the capability, or as the same user, and refused all the same.
Error refused_by_something(const AccessFacts& facts, const ProcessFacts& process, const std::string& who,
                           const std::string& arguments) {
    const bool capable = has_capability(facts.self);
    const bool other_namespace =
        facts.same_user_namespace == false || (facts.in_user_namespace && !facts.same_user_namespace);
    if (auto error = refused_by_yama(facts, who, arguments);
        error && !(capable && facts.in_user_namespace && other_namespace))
        return *error;
    if (other_namespace && facts.in_user_namespace)
        return not_permitted(
            fmt::format(
                "{} is outside the user namespace that heapsift runs in (rootless container, unshare -U)",
                who),
            "ask from outside of it, on the host");
    if (facts.dumpable == false && !capable)
        return not_permitted(
            fmt::format("{} is protected: it runs a setuid program, or called prctl(PR_SET_DUMPABLE, 0)",
                        who),
            facts.self.effective_user == 0 ? container_cure : "only root may: " + as_root(arguments));
    if (facts.same_user_namespace == false && !capable)
        return not_permitted(fmt::format("{} is in another user namespace (a rootless container)", who),
                             "as root: " + as_root(arguments));
    if ((process.permitted & ~facts.self.permitted) != 0 && !capable)
        return not_permitted(
            fmt::format("{} has capabilities that heapsift lacks", who),
            facts.self.effective_user == 0 ? container_cure : "as root: " + as_root(arguments));
    return not_permitted(
        fmt::format("{}: the system's security policy does not let heapsift read it ({})", who,
                    system_reason(facts.refused)),
        "SELinux, AppArmor or a seccomp filter: journalctl -k shows which; a core without ptrace: " +
            command_line("help capture"));
}

}  // namespace

std::string process_words(const ProcessFacts& process) {
    return fmt::format("process {} ({})", process.pid, escape_for_terminal(process.name));
}

std::string user_words(std::uint32_t user) {
    std::ifstream users("/etc/passwd");
    for (std::string line; std::getline(users, line);) {  // name:password:uid:…
        const std::size_t name_end = line.find(':');
        const std::size_t id = name_end == std::string::npos ? name_end : line.find(':', name_end + 1);
        if (id != std::string::npos && leading_number(std::string_view(line).substr(id + 1)) == user)
            return fmt::format("{} (uid {})", escape_for_terminal(line.substr(0, name_end)), user);
    }
    return fmt::format("uid {}", user);
}

AccessFacts access_facts(std::int32_t pid, const std::string& proc) {
    AccessFacts facts;
    facts.pid = pid;
    facts.process = process_facts(pid, proc);
    if (facts.process) facts.living_thread = living_thread(facts.process->process, proc);
    if (const auto self = read_proc_file(proc + "/self/status"))
        facts.self = read_process_status(*self).value_or(ProcessFacts{});
    const std::string folder = fmt::format("{}/{}", proc, pid);
    const Descriptor memory(::open((folder + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.is_open()) facts.refused = errno;
    struct stat owner {};
    if (facts.process && ::stat((folder + "/status").c_str(), &owner) == 0)
        facts.dumpable = owner.st_uid == facts.process->effective_user;  // else its files belong to root
    const auto own = link_at(proc + "/self/ns/user"), other = link_at(folder + "/ns/user");
    if (own && other) facts.same_user_namespace = *own == *other;
    facts.in_user_namespace = is_inner_user_namespace(proc);
    if (const auto scope = read_proc_file(proc + "/sys/kernel/yama/ptrace_scope", 16))
        if (const auto number = leading_number(*scope)) facts.yama_scope = static_cast<int>(*number & 0xff);
    facts.frozen_group = frozen_group(pid, proc).value_or("");
    if (const auto mounts = read_proc_file(proc + "/self/mounts", 1 << 20))
        facts.processes_hidden = mounts->find("hidepid=") != std::string::npos &&
                                 mounts->find("hidepid=0") == std::string::npos &&
                                 mounts->find("hidepid=off") == std::string::npos;
    return facts;
}

std::optional<Error> why_no_access(const AccessFacts& facts, const std::string& arguments,
                                   MayBeFile may_be_file) {
    if (!facts.process) return no_process_seen(facts, may_be_file);
    const ProcessFacts& process = *facts.process;
    const std::string who = process_words(process);
    if (process.pid != process.process && facts.living_thread == 0)
        return wrong_usage("a-thread",
                           fmt::format("{} is a thread of process {}", process.pid, process.process),
                           command_line(std::to_string(process.process)));
    if (process.state == 'Z' && facts.living_thread != 0)
        return cannot_analyse(
            "first-thread-ended",
            fmt::format("{}: its first thread has ended, and the memory is seen by the others alone", who),
            "by the number of one that goes on: " + command_line(std::to_string(facts.living_thread)));
    if (process.state == 'Z' || process.state == 'X')
        return cannot_analyse(
            "zombie", fmt::format("{} has ended: it is a zombie, whose memory is gone", who),
            fmt::format("it stays in the list until its parent, process {}, asks how it ended",
                        process.parent));
    if (process.kernel_thread)
        return cannot_analyse("kernel-thread",
                              fmt::format("{} is a thread of the kernel and has no memory of its own", who),
                              "pgrep -af python lists the Pythons");
    if (facts.refused == 0 && !facts.frozen_group.empty())
        return cannot_analyse(
            "frozen", fmt::format("{} is frozen by its control group, and cannot be stopped for a core", who),
            fmt::format("once it is thawed (docker unpause): echo THAWED > {}/freezer.state",
                        escape_for_terminal(facts.frozen_group)));
    if (facts.refused == 0) return std::nullopt;
    if (facts.refused == ENOENT || facts.refused == ESRCH) return no_process_seen(facts, may_be_file);
    if (same_ids(facts.self, process) || has_capability(facts.self))
        return refused_by_something(facts, process, who, arguments);
    if (facts.self.effective_user == 0)
        return not_permitted(fmt::format("{} belongs to {}, and root here lacks the capability SYS_PTRACE",
                                         who, user_words(process.effective_user)),
                             container_cure);
    if (facts.self.effective_user == process.effective_user)
        return not_permitted(
            fmt::format("{} runs with ids that heapsift does not have (a setuid program, or another group)",
                        who),
            "as root: " + as_root(arguments));
    return not_permitted(
        fmt::format("{} belongs to {}, and heapsift runs as {}", who, user_words(process.effective_user),
                    user_words(facts.self.effective_user)),
        "as root, or as that user: " + as_root(arguments));
}

}  // namespace heapsift
