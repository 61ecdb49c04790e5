#pragma once

// What to type to run this program again.
//
// A hint is there to be copied. Whoever called build/release/heapsift must not be told to type `heapsift`:
// the shell knows no such command, or another version of it. So the name is settled once, at the start, from
// how the program was called, and every command that is offered on the screen is made with it. In sentences
// the tool is called heapsift, wherever its file is.

#include <string>
#include <string_view>

namespace heapsift {

struct ProgramCall {
    std::string typed;                            // argv[0]; may be empty
    std::string path;                             // PATH; empty where there is none
    std::string program_file = "/proc/self/exe";  // the file that runs
};

/// The word that runs this file, quoted for the shell: "heapsift" where PATH leads from there to this file,
/// else what was typed. What was typed is no help where that is another file, or none (argv[0] is up to the
/// caller): then it is the path of the file that runs.
std::string program_name_of(const ProgramCall& call);

inline constexpr const char* default_program_name = "heapsift";

/// To be called before there are threads. The name is "heapsift" until then.
void settle_program_name(std::string name);
const std::string& program_name();

/// "heapsift why 0x7f31c2a4d5e0", with the name that is settled.
std::string command_line(std::string_view words);

}  // namespace heapsift
