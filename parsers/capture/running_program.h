#pragma once

// Whether a process still runs the program that it ran at first.

#include "parsers/base/descriptor.h"
#include "parsers/capture/process_files.h"

#include <string>

namespace heapsift {

/// The program and the address space that a process has when this is made: exec replaces both.
class RunningProgram {
public:
    explicit RunningProgram(const ProcessFiles& process);
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;

    /// Throws `Error` (exit 1, "program-replaced") if the process lives and has called exec since.
    void require_same() const;
    /// The same of a copy of the process, which may have been made after an exec.
    void require_same_in(const ProcessFiles& copy) const;

private:
    bool address_space_is_gone() const;
    [[noreturn]] void throw_replaced(const ProcessFiles& now) const;

    const ProcessFiles& process_;
    Descriptor memory_;
    std::string auxiliary_, executable_;
};

}  // namespace heapsift
