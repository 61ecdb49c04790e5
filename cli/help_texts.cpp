// The prose of help: the first words, how to get a core, how to name an object, the terms, the environment.

#include "cli/help.h"
#include "cli/table.h"
#include "cli/text_width.h"
#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <array>

namespace heapsift {
namespace {

constexpr std::string_view capture_topic = R"text(How to get a core of a Python process

While it runs
{running}  The process stands for a moment and goes on. As root, or as its user where
  the system lets one process read another (ptrace); what forbids it is said.

Before the OOM killer comes, which leaves no core
{watching}  Conditions: rss (the process's memory), growth (since the watching began),
  cgroup (what all in its container have, without cached files). 100 % is the
  smallest limit of its control groups, else the machine's memory.

  As a service beside app.service, in /etc/systemd/system/app-core.service:
    [Unit]
    BindsTo=app.service
    After=app.service
    [Service]
    ExecStart=/bin/sh -c 'exec heapsift capture \
      "$$(systemctl show -P MainPID app.service)" \
      -o /var/crash/core.%%e.%%t --when "rss>80%%"'
    [Install]
    WantedBy=app.service

  In kubernetes, a container beside the app's in the same pod:
    spec:
      shareProcessNamespace: true
      containers:
      - name: heapsift
        image: ...    # any with heapsift and pgrep in it
        command: [sh, -c, 'exec heapsift capture "$(pgrep -o python)"
          -o /cores/core.%p.%t --when "rss>80%"']
        securityContext: {{runAsUser: 0, capabilities: {{add: [SYS_PTRACE]}}}}
        volumeMounts: [{{name: cores, mountPath: /cores}}]

In a container (docker, kubernetes)
  from the host, with the process id as the host has it (docker top NAME):
{container}    A question about a living process finds the container's files by itself.
  or inside, where processes have other numbers:
    docker cp heapsift NAME:/tmp/
    docker exec --privileged NAME /tmp/heapsift 1
    docker exec --privileged NAME /tmp/heapsift capture 1 -o - > core.zst
    kubectl debug POD -it --target=APP --profile=general --image=...
  A container may read its processes if it has the capability SYS_PTRACE, as a
  rule also without, as the same user:
    docker run --cap-add=SYS_PTRACE ...
    kubernetes: securityContext.capabilities.add: [SYS_PTRACE]

By other means
  gcore -o core PID        package gdb; the process stands for seconds
  prlimit --core=unlimited: --pid PID
  kill -ABRT PID           without ptrace: the process ends, the kernel writes
  cat /proc/sys/kernel/core_pattern         shows where the kernel's core goes

After a crash, where systemd keeps cores
  coredumpctl list python3
  coredumpctl dump PID -o core.PID

From the next crash
  ulimit -c unlimited      in the shell that starts the process
  LimitCORE=infinity       in its systemd unit

What a core contains
  All that the process knew, secrets too: use --redact for answers that you
  pass on. The kernel saves what /proc/PID/coredump_filter selects; to save
  everything that heapsift reads: echo 0x3f > /proc/PID/coredump_filter.

When there is no core
  An out-of-memory kill is a SIGKILL: the kernel frees the memory and writes
  nothing. Take a core before the limit is reached, as above.

On another machine
  A core can be read on any machine. Answers are better with the program files
  of its own machine: give them with --sysroot, --executable or --debug-dir.
  To list those that are missing:
    {doctor}
)text";

constexpr std::string_view words = R"(The terms

  core         a file with the memory of a process at one moment
  object       anything that Python made: a number, a list, a function, a class
  type         what kind of object it is: dict, numpy.ndarray, shop.Order
  address      where an object lies in memory, 0x7f31c2a4d5e0: id(x) in hex
{expression}
  size         what sys.getsizeof(x) would return
  memory       what deleting the object alone would free: the object and the
               buffers it owns
  array data   the elements of arrays, most of the memory of most scientific
               programs
  reference    one object holding another: an attribute, an item, a key, a
               local variable
  count        the number of references to an object, as Python counted them;
               at 0 it is freed
  referrer     an object that holds this one
  referent     an object that this one holds
  hidden       a reference that Python's garbage collector is not told about
  weak         a reference that keeps nothing alive
  guessed      a reference read from the bytes of a type that heapsift does
               not know; it may be a coincidence
  immortal     an object that Python never frees, such as None
  view         an array that shows part of another array's data, and keeps all
               of that data alive
  native       memory that C or C++ code allocated, without Python. What a
               Python object keeps of it is retained by the object
  block        a piece of memory that an allocator hands out: pymalloc to
               Python's small objects, malloc to everybody else
  arena        memory that an allocator has from the kernel, and cuts into
               blocks
  cache        of malloc: blocks that a thread gave back, kept for its next
               request. They are free, although malloc counts them as in use
  in use       memory of the process's own that it has touched; shares on the
               first screen are of it. (Its core also names program files, of
               which it does not say what was in memory)
  reserved     addresses that the process was given and never used: the rest
               of malloc's arenas and of thread stacks. They take no memory
  collector    the part of Python that frees objects which only keep each
               other alive
  garbage      objects that nothing reaches any more, but that were not yet
               freed
  state        reachable from a root; held (by something that was not found);
               or garbage: waiting for the collector, uncollectable (found, but
               it could not be freed), invisible (never found)
  root         where a path begins: a module, a running function, a thread,
               what atexit or signal was told to call, native code
{path}
  retained     what deleting an object would free: its own memory, and that of
               everything that only it keeps alive, in Python and in C code. For
               a row of many objects: what deleting all of them would free
  dominator    the nearest object on every path to another one: without it,
               the other is freed
  holder       where an attribute leads: shop.Order.items[*] is everything in
               the lists 'items'
  group        where the dominators begin: a thread, a module of the program,
               a package, Python and its library, atexit callbacks, signal
               handlers, native code; what two groups hold is shared
)";

constexpr std::string_view address = R"(Ways to name an object (ADDRESS)

  0x7f31c2a4d5e0                     as in the tables; 8 digits need no 0x
  140581112638464                    as id(x) prints it
  <Node object at 0x7f31c2a4d5e0>    as repr(x) prints it
  An address inside an object, or inside a buffer it owns, means the object;
  show and why also take one inside a block of C code.

or an expression. It begins with
  app.CACHE                          a module and a name in it
  rows                               a name in __main__, or a builtin
  load().rows                        a local of a running function, given by its
                                     name or qualified name
  thread('MainThread').load().rows   the same in one thread, given by name,
                                     number or ident
  threadlocal(0x7f31c2a4d5e0).x      what a threading.local holds for a thread
  generator(0x7f31c2a4d5e0).x        a local of a suspended generator or
                                     coroutine
  0x7f31c2a4d5e0.attr                an object, by its address

and continues with
  .attr                              an attribute stored in the object, its
                                     class or a base class
  [3]  ['k']  [(1, 'a')]  [-1]       an item; [k] also means ['k'], since shells
                                     remove quotes
  .gi_frame.f_locals['x']  key 'k'  .<cell x>  <+24>
                                     any name that heapsift prints for a
                                     reference

Only what is stored is found: no code runs, and properties are not evaluated.
Quote the expression for the shell.
)";

std::string capture_text() {
    const std::string running =
        examples_text({{command_line("PID"), "the first screen, no core is kept"},
                       {command_line("types PID"), "any other question, the same way"},
                       {command_line("capture PID -o core.PID"), "a core, to be asked later"},
                       {command_line("capture PID -o core.zst"), "the same, compressed"},
                       {command_line("capture PID --fork -o core.PID"), "it stands for milliseconds"}},
                      2);
    const std::string watching =
        examples_text({{command_line("capture PID -o core.%p.%t --when 'rss>80%'"), ""},
                       {command_line("capture PID -o core.%p.%t --every 10m --keep 3"), ""}},
                      2);
    const std::string container =
        examples_text({{command_line("PID"), ""},
                       {command_line("capture PID -o core.PID"), ""},
                       {command_line("core.PID --sysroot /proc/PID/root"), "while the container runs"}},
                      4);
    return fmt::format(capture_topic, fmt::arg("running", running), fmt::arg("watching", watching),
                       fmt::arg("container", container),
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
                 entry("  expression   an object, as in Python, app.CACHE['k']:", "help address")),
        fmt::arg("path", entry("  path         the references from a root to an object:", "why")));
}

std::string environment_text() {
    constexpr std::size_t narrowest = 80;  // columns that every terminal has
    const auto listed = [](const std::vector<Term>& terms) {
        Table table({{TableColumn::Align::left, ""}, {TableColumn::Align::left, "", TableColumn::Fit::wrap}});
        for (const Term& term : terms) table.add({term.name, term.meaning});
        return table.text(narrowest, false);
    };
    return "Variables of the environment\n\n" + listed(environment_variables()) + "\nFiles\n\n" +
           listed(files_of_heapsift()) + "\nExit codes\n\n" + listed(exit_codes());
}

struct Topic {
    std::string_view name;
    std::string (*text)();
};

constexpr std::array<Topic, 4> topics = {{{"capture", capture_text},
                                          {"address", address_text},
                                          {"words", words_text},
                                          {"environment", environment_text}}};

}  // namespace

std::string first_words(const std::string& core_in_use) {
    const std::string in_use = core_in_use.empty() ? "No core is in use yet."
                                                   : "The core in use is " + escape_for_terminal(core_in_use);
    const std::string examples = examples_text({
        {command_line("core.1234"), "what fills the memory"},
        {command_line("objects"), "the largest objects of the same core"},
        {command_line("show 0x7f31c2a4d5e0"), "one of them: what it is, and what holds it"},
        {command_line("1234"), "what fills a running process, by its id"},
    });
    return fmt::format(
        "heapsift shows what fills the memory of a Python process, from its core dump.\n\n"
        "{}\n"
        "To take the core of a running process, which goes on:\n  {}\n"
        "Other ways, also in containers: {}\n"
        "All commands: {}\n"
        "The terms: {}\n\n"
        "{}\n",
        examples, command_line("capture PID -o core.PID"), command_line("help capture"),
        command_line("--help"), command_line("help words"), in_use);
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
