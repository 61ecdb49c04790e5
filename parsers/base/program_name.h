#pragma once

// What to type to run this program again.
//
// Hints are meant to be copied. Somebody who called build/release/heapsift must not be told to type
// `heapsift`: the shell does not know that command, or knows another version. So the name is settled once, at
// the start, from how the program was called, and every command on the screen is made with it. In sentences
// the tool is always called heapsift.

#include <string>
#include <string_view>

namespace heapsift {

struct ProgramCall {
    std::string typed;                            // argv[0]; may be empty
    std::string path;                             // PATH; empty where there is none
    std::string program_file = "/proc/self/exe";  // the file that runs
};

/// The word that runs this file, quoted for the shell: "heapsift" if PATH leads from there to this file, else
/// what was typed. Where that leads to another file or none (argv[0] is up to the caller), it is the path of
/// the running file.
std::string program_name_of(const ProgramCall& call);

inline constexpr const char* default_program_name = "heapsift";

/// Call it before there are threads. Until then the name is "heapsift".
void settle_program_name(std::string name);
const std::string& program_name();

/// "heapsift why 0x7f31c2a4d5e0", with the settled name.
std::string command_line(std::string_view words);

}  // namespace heapsift
