// heapsift shows what fills the memory of a CPython process, from a core dump of it. The program starts here:
// signals and the program's name are set up; run_program does the rest.

#include "cli/browse/terminal_state.h"
#include "cli/large_blocks.h"
#include "cli/output_file.h"
#include "cli/program.h"
#include "parsers/base/program_name.h"
#include "parsers/elf/cached_mapping.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace heapsift;

// Only calls that are allowed in a signal handler.
[[noreturn]] void say_and_leave(std::string_view line, int code) {
    restore_terminal();
    remove_unfinished_files();
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    ::_exit(code);
}

void on_interrupt(int) { say_and_leave("\n", 130); }

// The core is mapped, and so are its files in the cache: if one is cut while it is read, or the disk fails,
// SIGBUS arrives. What is in the cache is removed: the next command makes it anew.
void on_bus_error(int, siginfo_t* info, void*) {
    switch (remove_cached_file_at(info->si_addr)) {
        case CachedKind::index:
            say_and_leave(
                "heapsift: the core's index could not be read to its end, and was removed: ask again "
                "(or with --no-index)\n",
                1);
        case CachedKind::unpacked_core:
            say_and_leave(
                "heapsift: the core as it was unpacked could not be read to its end, and was removed: ask "
                "again\n",
                1);
        case CachedKind::none:
            break;
    }
    if (is_in_large_block(info->si_addr))
        say_and_leave("heapsift: the disk failed on which its columns lay, for want of memory (--memory)\n",
                      1);
    say_and_leave("heapsift: the core could not be read to its end: was it changed while it was read?\n", 1);
}

// Removes unfinished output files, then lets the signal take its default effect.
void on_end(int signal) {
    restore_terminal();
    remove_unfinished_files();
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

void handle_signals() {
    using Handler = std::pair<int, void (*)(int)>;
    for (const auto& [signal, handler] :
         {Handler(SIGINT, on_interrupt), Handler(SIGTERM, on_end), Handler(SIGHUP, on_end)}) {
        struct sigaction inherited {};
        sigaction(signal, nullptr, &inherited);
        if (inherited.sa_handler != SIG_IGN) handle(signal, handler);  // as nohup and background jobs ask
    }
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN);  // a limit on file size is then an error like a full disk
    struct sigaction on_bus {};
    on_bus.sa_sigaction = on_bus_error;
    on_bus.sa_flags = SA_SIGINFO;
    sigemptyset(&on_bus.sa_mask);
    sigaction(SIGBUS, &on_bus, nullptr);
}

// The sanitizers look for leaks after everything has been destroyed.
#ifdef HEAPSIFT_SANITIZE
constexpr EndProcess end_process = nullptr;
#else
constexpr EndProcess end_process = std::exit;
#endif

// Columns and what a pass works with are large, and each goes back to the system when it is given up. Left alone, malloc
// would learn from the first ones to keep what follows, of up to 32 MiB, in its own heap, where one small block above them
// holds them all.
void give_back_what_is_freed() {
    constexpr int large = 1 << 20;
    mallopt(M_MMAP_THRESHOLD, large);
    mallopt(M_TRIM_THRESHOLD, 2 * large);
}

// Who starts a program may have closed these (>&-). The next file that is opened would get such a number, and what is meant
// for the terminal would be written into a core. What takes the place neither gives input nor takes output: EBADF, as before.
void hold_standard_descriptors() {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(number, F_GETFD) < 0 && errno == EBADF)
            ::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

// argv[0] is the caller's choice, and may be absent.
void name_the_program(int argc, char** argv) {
    const char* path = std::getenv("PATH");
    settle_program_name(program_name_of({argc > 0 ? argv[0] : "", path ? path : ""}));
}

}  // namespace

int main(int argc, char** argv) {
    hold_standard_descriptors();
    give_back_what_is_freed();
    handle_signals();
    name_the_program(argc, argv);
    return run_program(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), end_process);
}
