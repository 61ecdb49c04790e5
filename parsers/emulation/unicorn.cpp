#include "parsers/emulation/unicorn.h"

// Loading Unicorn (https://www.unicorn-engine.org, GPL-2) when something is to be emulated.
//
// Linked as other libraries are, it would cost each start of heapsift 4 ms, twice what the rest takes, and a
// machine without it could not run heapsift at all. So it is opened by name; where it is missing, or is of
// another major version, references of unknown types are guessed, as in a build without it.

#ifdef HEAPSIFT_UNICORN

#include <dlfcn.h>

#include <optional>
#include <string>

namespace heapsift {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

std::optional<UnicornCalls> load() {
    const std::string name = "libunicorn.so." + std::to_string(UC_API_MAJOR);
    void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open
    if (!library) return std::nullopt;
    UnicornCalls calls;
    const bool all =
        find(library, "uc_version", calls.version) && find(library, "uc_open", calls.open) &&
        find(library, "uc_close", calls.close) && find(library, "uc_mem_map_ptr", calls.mem_map_ptr) &&
        find(library, "uc_hook_add", calls.hook_add) && find(library, "uc_emu_start", calls.emu_start) &&
        find(library, "uc_emu_stop", calls.emu_stop) && find(library, "uc_reg_read", calls.reg_read) &&
        find(library, "uc_reg_write", calls.reg_write);
    unsigned first = 0, second = 0;  // of the version
    if (!all) return std::nullopt;
    calls.version(&first, &second);
    if (first != UC_API_MAJOR) return std::nullopt;
    return calls;
}

}  // namespace

const UnicornCalls* unicorn() {
    static const std::optional<UnicornCalls> calls = load();
    return calls ? &*calls : nullptr;
}

}  // namespace heapsift

#endif
