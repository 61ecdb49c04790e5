#pragma once

// Unicorn's functions, found when they are first needed. Only files of this folder include this header. (Why
// the library is not simply linked: unicorn.cpp.)

#ifdef HEAPSIFT_UNICORN

#include <unicorn/unicorn.h>

namespace heapsift {

struct UnicornCalls {
    decltype(&::uc_version) version = nullptr;
    decltype(&::uc_open) open = nullptr;
    decltype(&::uc_close) close = nullptr;
    decltype(&::uc_mem_map_ptr) mem_map_ptr = nullptr;
    decltype(&::uc_hook_add) hook_add = nullptr;
    decltype(&::uc_emu_start) emu_start = nullptr;
    decltype(&::uc_emu_stop) emu_stop = nullptr;
    decltype(&::uc_reg_read) reg_read = nullptr;
    decltype(&::uc_reg_write) reg_write = nullptr;
};

/// Null if this machine has no Unicorn of the major version that heapsift was built with (never in a static
/// program, which has its own). Thread-safe. Cost: the first call loads a library of 19 MB, 4 ms.
const UnicornCalls* unicorn();

}  // namespace heapsift

#endif
