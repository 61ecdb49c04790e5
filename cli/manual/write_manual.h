#pragma once

// The files that are made from the commands when heapsift is built.

#include <string>

namespace heapsift {

/// Writes `folder`/manual/heapsift.1, heapsift-COMMAND.1, …, and `folder`/commands.json, which describes
/// commands and options for programs (cli/python). Overwrites what is there. Throws `Error` (exit 1).
void write_manual(const std::string& folder);

}  // namespace heapsift
