// The texts of help that are prose: the first words, how to get a core, what the words mean.

#include "cli/help.h"
#include "cli/text_width.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <array>

namespace heapsift {
namespace {

constexpr std::string_view capture = R"(How to get a core of a Python process

While it runs
  gcore -o core PID                   writes core.PID and lets the process go on (package gdb; needs ptrace)
  sudo gcore -o core PID              where ptrace is not allowed (kernel.yama.ptrace_scope)

Without ptrace: the process ends, and the kernel writes the core
  prlimit --core=unlimited: --pid PID
  kill -ABRT PID                      cat /proc/sys/kernel/core_pattern says where the core goes

It has crashed, and systemd keeps cores
  coredumpctl list python3
  coredumpctl dump PID -o core.PID

In a container (docker, kubernetes)
  from the host, with the process id as seen there:
{container}  or inside it, if it has the capability SYS_PTRACE:
    docker run --cap-add=SYS_PTRACE ...             kubernetes: securityContext.capabilities.add

To get one from the next crash
  ulimit -c unlimited                 in the shell or unit that starts it (systemd: LimitCORE=infinity)

What a core contains
  /proc/PID/coredump_filter decides what the kernel saves; echo 0x3f > /proc/PID/coredump_filter saves
  everything that heapsift reads. A core contains all that the process knew, secrets too: use --redact
  for answers that you pass on.

When there is no core
  An out-of-memory kill is a SIGKILL: the kernel frees the memory and writes nothing. Take a core with
  gcore before the limit is reached.

On another machine
  A core can be read on any machine. The program files of its own machine make the answers better: give
  them with --sysroot, --executable or --debug-dir. To list those that are missing:
    {doctor}
)";

constexpr std::string_view words = R"(The terms

  core         a file with the memory of a process at one moment
  object       anything that Python made: a number, a list, a function, a class
  type         what kind of object it is: dict, numpy.ndarray, shop.Order
  address      where an object lies in memory, 0x7f31c2a4d5e0: id(x), in hexadecimal
{expression}
  size         what sys.getsizeof(x) would return
  memory       what deleting the object alone would free: the object and the buffers it owns
  array data   the elements of arrays, the larger part of most scientific programs
  reference    one object holding another: an attribute, an item, a key, a local variable
  count        how many references Python counted to an object; at 0 it is freed
  referrer     an object that holds this one; a referent is an object that this one holds
  hidden       a reference that Python's garbage collector is not told about
  weak         a reference that keeps nothing alive
  guessed      a reference read from the bytes of a type that heapsift does not know; it may be chance
  immortal     an object that Python never frees, such as None
  view         an array that shows a part of another array's data, and keeps all of that data alive
  native       memory that C or C++ code allocated, without Python
  collector    the part of Python that frees objects which only keep each other alive
  garbage      objects that nothing reaches any more and that were not yet freed
  state        reachable from a root; held (by something that was not found); or garbage: waiting for the
               collector, uncollectable (found, but it could not be freed), invisible (never found)
  root         where a path begins: a module, a running function, a thread, native code
{path}
  retained     what deleting an object would free: its own memory, and that of everything that only it
               keeps alive. For a row of many objects: what deleting all of them would free
  dominator    the nearest object on every path to another one: without it, the other is freed
  holder       where an attribute leads: shop.Order.items[*] is everything in the lists 'items'
  group        where the dominators begin: a thread, a module of the program, a package, Python and its
               library, native code; what two groups hold is shared
)";

constexpr std::string_view address = R"(Ways to name an object (ADDRESS)

  0x7f31c2a4d5e0                      as in the tables; 0x may be left out of 8 digits or more
  140581112638464                     as id(x) prints it
  <Node object at 0x7f31c2a4d5e0>     as repr(x) prints it
  an address inside an object, or inside a buffer that it owns, means that object

or an expression. It begins with
  app.CACHE                           a module and a name in it
  rows                                a name in __main__, or a builtin
  load().rows                         a local of a running function, by its name or qualified name
  thread('MainThread').load().rows    the same in one thread, by name, number or ident
  threadlocal(0x7f31c2a4d5e0).x       what a threading.local holds for a thread
  generator(0x7f31c2a4d5e0).x         a local of a suspended generator or coroutine
  0x7f31c2a4d5e0.attr                 an object

and continues with
  .attr                               an attribute stored in the object, its class or a base class
  [3]  ['k']  [(1, 'a')]  [-1]        an item; [k] also means ['k'], since shells remove quotes
  .gi_frame.f_locals['x']  key 'k'  .<cell x>  <+24>
                                      any name that heapsift prints for a reference

No code runs: properties are not evaluated, only what is stored is found. Quote it for the shell.
)";

std::string capture_text() {
    const std::string container = examples_text({{"gcore -o core PID", ""},
                                                 {command_line("core.PID --sysroot /proc/PID/root"),
                                                  "the program files of the container, while it runs"}},
                                                4);
    return fmt::format(capture, fmt::arg("container", container),
                       fmt::arg("doctor", command_line("doctor --missing")));
}

std::string address_text() { return std::string(address); }

std::string words_text() {
    constexpr std::size_t meaning = 15;  // the column where a word's meaning begins
    const auto entry = [](std::string_view text, std::string_view command) {
        return wrapped_with_tail(text, command_line(command), help_width, meaning);
    };
    return fmt::format(
        words,
        fmt::arg("expression",
                 entry("  expression   an object as Python would name it, app.CACHE['k']:", "help address")),
        fmt::arg("path", entry("  path         the references from a root to an object:", "why")));
}

struct Topic {
    std::string_view name;
    std::string (*text)();
};

constexpr std::array<Topic, 3> topics = {
    {{"capture", capture_text}, {"address", address_text}, {"words", words_text}}};

}  // namespace

std::string first_words(const std::string& core_in_use) {
    const std::string in_use = core_in_use.empty() ? "No core is in use yet."
                                                   : "The core in use is " + escape_for_terminal(core_in_use);
    const std::string examples = examples_text({
        {command_line("core.1234"), "what fills the memory"},
        {command_line("objects"), "the largest objects of the same core"},
        {command_line("show 0x7f31c2a4d5e0"), "one of them: what it is, and what holds it"},
    });
    return fmt::format(
        "heapsift shows what fills the memory of a Python process, from a core dump of it.\n\n"
        "{}\n"
        "To get a core of a running process: gcore -o core PID\n"
        "Other ways, also in containers: {}\n"
        "All commands: {}\n"
        "The terms: {}\n\n"
        "{}\n",
        examples, command_line("help capture"), command_line("--help"), command_line("help words"), in_use);
}

std::string help_topic(std::string_view topic) {
    for (const auto& [name, text] : topics)
        if (name == topic) return text();
    return {};
}

std::vector<std::string> help_topics() {
    std::vector<std::string> names;
    for (const auto& [name, text] : topics) names.emplace_back(name);
    return names;
}

}  // namespace heapsift
