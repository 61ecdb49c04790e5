#pragma once

// heapsift doctor: its options.

#include "cli/command.h"

namespace heapsift {

CommandRunner setup_doctor(CommandOptions& declare);

}  // namespace heapsift
