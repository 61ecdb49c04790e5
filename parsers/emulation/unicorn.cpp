#include "parsers/emulation/unicorn.h"

// Loading Unicorn (https://www.unicorn-engine.org, GPL-2) when something is to be emulated.
//
// Linked as other libraries are, it would cost each start of heapsift 4 ms, twice what the rest takes, and a
// machine without it could not run heapsift at all. So it is opened by name; where it is missing, or is of
// another major version, references of unknown types are guessed, as in a build without it.
//
// A static program opens no library: there it is linked, if it may be (CMakeLists.txt, HEAPSIFT_STATIC_EMULATION).
// It has a dozen processors in it, each of them a megabyte or more, and uc_open names them all, so that a linker takes
// them all. heapsift asks for one: the functions by which Unicorn would reach the others are defined here, and they
// stay out. These are never called; if one were, it would end the process that emulates (in_child.h).

#ifdef HEAPSIFT_UNICORN

#ifdef HEAPSIFT_STATIC

#include <cstdlib>

// As version 2.0 names them, and as 2.1 does.
#define HEAPSIFT_NOT_IN_IT(machine)                      \
    void machine##_uc_init() { std::abort(); }           \
    void machine##_context_reg_read() { std::abort(); }  \
    void machine##_context_reg_write() { std::abort(); } \
    void uc_init_##machine() { std::abort(); }           \
    void reg_read_##machine() { std::abort(); }          \
    void reg_write_##machine() { std::abort(); }

extern "C" {
HEAPSIFT_NOT_IN_IT(aarch64)
HEAPSIFT_NOT_IN_IT(arm)
HEAPSIFT_NOT_IN_IT(arm64)
HEAPSIFT_NOT_IN_IT(m68k)
HEAPSIFT_NOT_IN_IT(mips)
HEAPSIFT_NOT_IN_IT(mipsel)
HEAPSIFT_NOT_IN_IT(mips64)
HEAPSIFT_NOT_IN_IT(mips64el)
HEAPSIFT_NOT_IN_IT(ppc)
HEAPSIFT_NOT_IN_IT(ppc64)
HEAPSIFT_NOT_IN_IT(riscv32)
HEAPSIFT_NOT_IN_IT(riscv64)
HEAPSIFT_NOT_IN_IT(s390)
HEAPSIFT_NOT_IN_IT(s390x)
HEAPSIFT_NOT_IN_IT(sparc)
HEAPSIFT_NOT_IN_IT(sparc64)
HEAPSIFT_NOT_IN_IT(tricore)
}

namespace heapsift {

const UnicornCalls* unicorn() {
    static const UnicornCalls calls = {::uc_version,     ::uc_open,     ::uc_close,
                                       ::uc_mem_map_ptr, ::uc_hook_add, ::uc_emu_start,
                                       ::uc_emu_stop,    ::uc_reg_read, ::uc_reg_write};
    return &calls;
}

}  // namespace heapsift

#else

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

#endif
