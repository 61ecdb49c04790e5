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
  kill -ABRT PID                      where it is written: cat /proc/sys/kernel/core_pattern

It has crashed, and systemd keeps cores
  coredumpctl list python3
  coredumpctl dump PID -o core.PID

In a container (docker, kubernetes)
  from the host, PID being the process id there:
{container}  or inside it, with the capability SYS_PTRACE:
    docker run --cap-add=SYS_PTRACE ...             kubernetes: securityContext.capabilities.add

So that the next crash leaves one
  ulimit -c unlimited                 in the shell or unit that starts it (systemd: LimitCORE=infinity)

What is in it
  The kernel leaves out what /proc/PID/coredump_filter says; echo 0x3f > /proc/PID/coredump_filter
  keeps all that heapsift reads. A core holds everything the process knew, secrets too: --redact is for
  answers that leave your hands.

What leaves no core
  An out-of-memory kill is a SIGKILL: the kernel frees the memory and writes nothing. Take a core with
  gcore before the limit is reached.

Elsewhere
  A core may be read on another machine. The program files of its own machine make the answer better:
  --sysroot, --executable or --debug-dir say where they are, and which are missing is listed by
    {doctor}
)";

constexpr std::string_view words = R"(What the words mean

  core         a file with the memory of a process, as it was at one moment
  object       anything that Python made: a number, a list, a function, a class
  type         what kind of object: dict, numpy.ndarray, shop.Order
  address      where an object lies in that memory, 0x7f31c2a4d5e0; what id(x) gives, in hexadecimal
{expression}
  size         what sys.getsizeof(x) would have said
  memory       the bytes that would come free with the object alone: it, and the buffers it owns
  array data   the elements of arrays, the larger part of most scientific programs
  reference    one object holding another: an attribute, an item, a key, a local variable
  count        how many references Python counted to an object; at 0 it is freed
  referrer     who holds; referent: who is held
  hidden       a reference that Python's collector is not told of
  weak         a reference that keeps nothing alive
  guessed      read from the bytes of an object of a type that heapsift cannot read: it may be chance
  immortal     an object that Python never frees, such as None
  view         an array that shows a part of another array's data, and keeps all of that alive
  native       memory that C or C++ code took, without Python
  collector    the part of Python that frees objects which only hold each other
  garbage      objects that no root reaches any more, and that were not yet freed
  state        reachable from a root; held, by something that was not found; or garbage: waiting for the
               collector, uncollectable (it found it and could not free it), invisible to it (never freed)
  root         where keeping alive begins: a module, a running function, a thread, native code
{path}
  retained     all the memory that would come free if an object went away: its own, and that of all
               that it alone keeps alive. Of a row of many objects: if all of them went away
  dominator    the nearest object that every path to another one passes: without it the other is freed
  holder       whose attribute leads to an object: shop.Order.items[*] is what is in the lists 'items'
  group        whose an object is, where dominators begin: a thread, a module of the program, a package,
               Python and its library, native code; what two of them hold is shared
)";

constexpr std::string_view address = R"(What an ADDRESS may be

  0x7f31c2a4d5e0                      as the tables print it; without 0x from 8 digits on
  140581112638464                     as id(x) prints it
  <Node object at 0x7f31c2a4d5e0>     as repr(x) prints it
  an address inside an object, or inside a buffer that it owns, is that object

or an expression, which begins with
  app.CACHE                           a module, and what is in it
  rows                                a name in __main__, else one of the builtins
  load().rows                         a local of a function that runs, by its name or qualified name
  thread('MainThread').load().rows    the same in one thread: its name, its number, its ident
  threadlocal(0x7f31c2a4d5e0).x       what a thread keeps in a threading.local
  generator(0x7f31c2a4d5e0).x         a local of a suspended generator or coroutine
  0x7f31c2a4d5e0.attr                 an object

and goes on with
  .attr                               an attribute: stored in the object, its class or their bases
  [3]  ['k']  [(1, 'a')]  [-1]        an item; [k] without quotes, which shells eat, is the key 'k'
  .gi_frame.f_locals['x']  key 'k'  .<cell x>  <+24>
                                      whatever heapsift calls a reference

Nothing is run: a property is not asked, what is stored is what is found. Quote it for the shell.
)";

std::string capture_text() {
    const std::string container =
        examples_text({{"gcore -o core PID", ""},
                       {command_line("core.PID --sysroot /proc/PID/root"), "the program files of the container, while it runs"}},
                      4);
    return fmt::format(capture, fmt::arg("container", container), fmt::arg("doctor", command_line("doctor --missing")));
}

std::string address_text() { return std::string(address); }

std::string words_text() {
    constexpr std::size_t meaning = 15;  // the column where a word's meaning begins
    const auto entry = [](std::string_view text, std::string_view command) {
        return wrapped_with_tail(text, command_line(command), help_width, meaning);
    };
    return fmt::format(
        words, fmt::arg("expression", entry("  expression   what Python would call an object, app.CACHE['k']:", "help address")),
        fmt::arg("path", entry("  path         how a root leads to an object:", "why")));
}

struct Topic {
    std::string_view name;
    std::string (*text)();
};

constexpr std::array<Topic, 3> topics = {{{"capture", capture_text}, {"address", address_text}, {"words", words_text}}};

}  // namespace

std::string first_words(const std::string& core_in_use) {
    const std::string in_use =
        core_in_use.empty() ? "No core is in use yet." : "The core in use is " + escape_for_terminal(core_in_use);
    const std::string examples = examples_text({
        {command_line("core.1234 --top types"), "what the memory is made of"},
        {command_line("objects"), "the largest objects of the same core"},
        {command_line("show 0x7f31c2a4d5e0"), "one of them: what it is, and who holds it"},
    });
    return fmt::format(
        "heapsift tells what is on the heap of a CPython process, from its core: no agent, no restart.\n\n"
        "{}\n"
        "A core of a running process: gcore -o core PID\n"
        "In full, containers too: {}\n"
        "All commands: {}\n"
        "The words: {}\n\n"
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
