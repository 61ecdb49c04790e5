#pragma once

// The man pages: heapsift(1), and one a command, heapsift-why(1).

#include "cli/declared_command.h"

#include <memory>
#include <string>
#include <vector>

namespace heapsift {

using DeclaredCommands = std::vector<std::unique_ptr<DeclaredCommand>>;

/// heapsift.1, whole.
std::string manual_page(const DeclaredCommands& commands);

/// heapsift-COMMAND.1, whole.
std::string manual_page(const DeclaredCommand& command);

}  // namespace heapsift
