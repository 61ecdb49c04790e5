// A core of a process that calls exec while it is copied would be put together from two programs: the command line of one,
// the memory of another. exec makes a new address space; what is open as /proc/PID/mem stays with the old one, and reads
// nothing (0 bytes, no error) once nobody runs in that. A child by vfork may do so for a moment longer: so the auxiliary
// vector is compared too, which has places that exec chooses at random (AT_RANDOM, AT_SYSINFO_EHDR), and the program.
//
// Source: Linux's fs/proc/base.c (mem_rw: mmget_not_zero), fs/exec.c (exec_mmap).

#include "parsers/capture/running_program.h"

#include "parsers/base/error.h"
#include "parsers/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace heapsift {

RunningProgram::RunningProgram(const ProcessFiles& process)
    : process_(process),
      memory_(process.open("mem", O_RDONLY)),
      auxiliary_(process.read("auxv").value_or("")),
      executable_(process.link("exe")) {}

bool RunningProgram::address_space_is_gone() const {
    char byte = 0;
    return memory_.is_open() && ::pread(memory_.number(), &byte, 1, 0) == 0;
}

void RunningProgram::throw_replaced(const ProcessFiles& now) const {
    const auto stat = read_stat(now.read("stat").value_or(""));
    throw cannot_analyse(
        "program-replaced",
        fmt::format("{}: it called exec while it was copied, and now runs {}: there is no core",
                    process_.pid(), escape_for_terminal(stat ? stat->name : "another program")),
        "capture it again");
}

void RunningProgram::require_same() const {
    const auto stat = read_stat(process_.read("stat").value_or(""));
    if (!stat || stat->state == 'Z' || stat->state == 'X') return;  // it has ended, which is seen elsewhere
    if (address_space_is_gone()) throw_replaced(process_);
    require_same_in(process_);
}

void RunningProgram::require_same_in(const ProcessFiles& copy) const {
    const auto auxiliary = copy.read("auxv");
    const std::string executable = copy.link("exe");
    const bool other_vector = auxiliary && !auxiliary->empty() && *auxiliary != auxiliary_;
    if (other_vector || (!executable.empty() && executable != executable_)) throw_replaced(process_);
}

}  // namespace heapsift
