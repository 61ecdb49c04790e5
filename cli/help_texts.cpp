// The prose of help: the first words, how to get a core, many of them (its recipes and questions are run by
// tests/real/fleet_recipes.py, as they stand here), how to name an object, the terms, the environment.

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

constexpr std::string_view fleet_topic = R"fleet(Many cores: a fleet of hosts, and what fills its processes

`heapsift batch` writes a line of JSON a core, and goes on where it was killed.
The columns are in `heapsift batch --help`. Past one machine it runs under
engines that exist; what follows works as it stands here.

Collecting
  From the kernel, as root: a handler that keeps a compressed core, its line and
  its index, within limits of disk and rate, is testdata/fleet/store_core.sh of
  the sources of heapsift; it says how it is put in place.

  Where systemd keeps cores, by a timer. /etc/systemd/system/heapsift.service:
    [Service]
    Type=oneshot
    Nice=10
    StateDirectory=heapsift
    ExecStart=heapsift batch /var/lib/systemd/coredump --brief -q \
      -o /var/lib/heapsift/lines.jsonl --resume /var/lib/heapsift/lines.jsonl
    SuccessExitStatus=1 3
  /etc/systemd/system/heapsift.timer:
    [Timer]
    OnCalendar=hourly
    RandomizedDelaySec=10m
    [Install]
    WantedBy=timers.target

  In kubernetes, on every node, before the OOM killer comes (a DaemonSet):
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: heapsift}
    spec:
      selector: {matchLabels: {app: heapsift}}
      template:
        metadata: {labels: {app: heapsift}}
        spec:
          hostPID: true
          containers:
          - name: heapsift
            image: ...    # any with heapsift and pgrep in it
            command:
            - sh
            - -c
            - |
              while sleep 10; do
                for pid in $(pgrep python); do
                  mkdir "/tmp/watched.$pid" 2>/dev/null || continue
                  (heapsift capture "$pid" -q --when 'cgroup>85%' \
                     -o /cores/core.%h.%p.%t.zst
                   while [ -d "/proc/$pid" ]; do sleep 10; done
                   rmdir "/tmp/watched.$pid") &
                done
              done
            securityContext: {privileged: true}
            volumeMounts: [{name: cores, mountPath: /cores}]
          volumes:
          - name: cores
            hostPath: {path: /var/crash, type: DirectoryOrCreate}

On one machine
  heapsift batch /var/crash --brief -o lines.jsonl --resume lines.jsonl

With GNU parallel, on machines that ssh reaches
  Where all see the same files:
    find /var/crash -name 'core.*' -print0 |
      parallel -0 --sshlogin 2/db1,2/db2 --joblog jobs.log --resume \
        heapsift batch {} --brief -q -j 1 >> lines.jsonl
  Else each core is sent there and removed again:
    find /var/crash -name 'core.*' -print0 |
      parallel -0 --sshlogin 2/db1,2/db2 --joblog jobs.log --resume \
        --transferfile {} --cleanup \
        heapsift batch {} --brief -q -j 1 >> lines.jsonl
  2/db1 means two at a time on db1. After a kill the same command goes on; a
  core whose end was not logged is done again. To have each only once, the last
  line that was answered, else the last:
    jq -c -s 'INDEX(.[] | select(.identity); .path) as $known
      | group_by(.identity // $known[.path // ""].identity // .path)[]
      | max_by([.exit != 1, .identity != null])' lines.jsonl > once.jsonl

With SLURM, as an array of eight tasks on a shared file system
    find /var/crash -name 'core.*' > cores.txt
    sbatch --array=1-8 --mem=4G --requeue --wrap '
      part=$SLURM_ARRAY_TASK_ID
      heapsift batch - --shard $part/8 -j 1 --max-memory 3G --brief -q \
        -o lines.$part.jsonl --resume lines.$part.jsonl < cores.txt'
  The same command again does what is left.

With Dask, from Python: the wheel on the workers, and python3-distributed
    import heapsift
    from distributed import Client
    client = Client("scheduler:8786")
    fleet = heapsift.fleet("/var/crash", client, max_memory=3 << 30,
                           output="lines.jsonl", resume="lines.jsonl")
    for line in fleet:  # as they come; client.dashboard_link shows them
        print(line["host"], line["signature"])
    frame = fleet.dataframe()  # of Dask; fleet.frame() is of pandas
  Without a client it runs on this machine. Paths may be s3://, sftp:// and
  whatever else fsspec reads. Workers that say what memory they have are given
  no more than fits (256 MiB and nine tenths of a core's size):
    dask-worker scheduler:8786 --nthreads 4 --resources MEMORY=16e9

One page of all lines: causes over time, by version and by host, examples
    heapsift report lines*.jsonl -o fleet.html
  The report of an example is linked where it lies beside its core, by the
  core's name and .html. Lines may be compressed; a million of them, of 21
  causes, take 8 s of a processor, 15 s where each core has three, and 57 MB;
  of 2,100 causes on 10,000 hosts, with 20 packages each, 15 s and 123 MB.

What a million cores a day need, on paper (11.6 a second)
  A core of 26 MB, 90,000 objects, 3.3 MB packed with zstd, takes 0.2 s of a
  processor; of 324 MB, 5.2 million objects, 23 MB packed, 1.5 s. So a million
  of the small ones need 2.6 processors, 38 MB/s of network and of disk, 3.3 TB
  a day to be kept, and 1.2 GB for their lines (--brief); of the large ones 18
  processors, 270 MB/s, 23 TB and 1 GB. Twice that for the hours in which fleets
  crash. Memory: 256 MiB and nine tenths of a core for each that is asked at a
  time.

Questions, in DuckDB: the files are read as they are
    -- of a core's lines the last that was answered counts, else the last
    CREATE VIEW core AS SELECT DISTINCT ON (coalesce(identity, other, path)) *
    FROM (SELECT *, row_number() OVER () AS nr,
      max(identity) OVER (PARTITION BY path) AS other
    FROM read_json('lines*.jsonl', format = 'newline_delimited', columns = {
      path: 'VARCHAR', identity: 'VARCHAR', exit: 'INTEGER',
      error: 'STRUCT(code VARCHAR, message VARCHAR)', signature: 'VARCHAR',
      host: 'VARCHAR', boot: 'VARCHAR', container: 'VARCHAR', pid: 'BIGINT',
      started: 'TIMESTAMP', stored: 'TIMESTAMP', command: 'VARCHAR',
      interpreter: 'VARCHAR', packages: 'MAP(VARCHAR, VARCHAR)',
      signal: 'VARCHAR', in_use: 'BIGINT', objects: 'BIGINT',
      garbage: 'BIGINT', headline: 'VARCHAR', suspects:
      'STRUCT(kind VARCHAR, pattern VARCHAR, bytes BIGINT, fix VARCHAR)[]',
      seconds: 'DOUBLE'}))
    ORDER BY exit IS NOT DISTINCT FROM 1, identity IS NULL, nr DESC;

    -- the causes of this week, and on how many hosts
    SELECT signature, count(*) AS cores, count(DISTINCT host) AS hosts
    FROM core WHERE stored > now()::TIMESTAMP - INTERVAL 7 DAYS
    GROUP BY signature ORDER BY cores DESC, signature LIMIT 20;

    -- new since a release: never without this version of this package
    SELECT signature, count(*) AS cores, min(stored) AS first
    FROM core GROUP BY signature
    HAVING bool_and(coalesce(packages['shop'] = '2.4.0', false))
    ORDER BY cores DESC, signature;

    -- first seen in the last seven days
    SELECT signature, min(stored) AS first, count(*) AS cores FROM core
    GROUP BY signature
    HAVING first > now()::TIMESTAMP - INTERVAL 7 DAYS ORDER BY first DESC;

    -- hosts that differ: a cause that one host has far more often than others
    SELECT host, signature, count(*) AS here,
      sum(count(*)) OVER (PARTITION BY signature) AS everywhere
    FROM core WHERE host IS NOT NULL GROUP BY host, signature
    QUALIFY everywhere >= 5 AND here > 0.5 * everywhere
    ORDER BY here DESC, host;

    -- growth of one cause: a day, its cores, and the memory of a process
    SELECT date_trunc('day', stored) AS day, count(*) AS cores,
      round(avg(in_use) / 1e6) AS mb, round(max(in_use) / 1e6) AS most_mb
    FROM core WHERE signature LIKE '%; closures; %' GROUP BY day ORDER BY day;

    -- which versions of Python have a cause, and which do not
    SELECT signature, list_sort(list(DISTINCT interpreter)) AS versions
    FROM core GROUP BY signature ORDER BY len(versions), signature;

    -- an example of each cause, the largest, to be asked further
    SELECT signature, arg_max(path, in_use) AS path,
      arg_max(headline, in_use) AS headline
    FROM core WHERE exit <> 1 GROUP BY signature ORDER BY signature;

    -- what a cure would free: bytes by kind of suspect, over all cores
    SELECT s.kind, count(*) AS suspects, sum(s.bytes) AS bytes
    FROM (SELECT unnest(suspects) AS s FROM core)
    GROUP BY s.kind ORDER BY bytes DESC;

    -- the version of a package that goes with a cause
    SELECT signature, p.key AS package, p.value AS version, count(*) AS cores
    FROM (SELECT signature, unnest(map_entries(packages)) AS p FROM core)
    GROUP BY ALL ORDER BY cores DESC, signature, package LIMIT 20;

    -- crash loops: a host that left more than ten cores within an hour
    SELECT host, max(nr) AS cores, arg_max(stored, nr) AS until
    FROM (SELECT host, stored, count(*) OVER (PARTITION BY host ORDER BY stored
        RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW) AS nr
      FROM core WHERE host IS NOT NULL AND stored IS NOT NULL)
    GROUP BY host HAVING cores > 10 ORDER BY cores DESC;

    -- how long the processes lived, by cause
    SELECT signature, count(*) AS cores, median(stored - started) AS lived
    FROM core WHERE stored > started GROUP BY signature ORDER BY lived;

    -- what was not analysed, and why
    SELECT error.code AS code, count(*) AS cores, any_value(error.message)
    FROM core WHERE exit = 1 GROUP BY code ORDER BY cores DESC;

    -- how they ended, and the seconds that the analysis takes
    SELECT signal, count(*) AS cores, quantile_cont(seconds, 0.5) AS half,
      quantile_cont(seconds, 0.99) AS most
    FROM core GROUP BY signal ORDER BY cores DESC;

The same in pandas
    import pandas
    core = pandas.read_json("lines.jsonl", lines=True, convert_dates=False)
    for name in ["started", "stored"]:
        core[name] = pandas.to_datetime(core[name], utc=True, errors="coerce")
    # of a core's lines the last that was answered counts, else the last
    other = core.groupby("path")["identity"].transform("last")
    core["key"] = core["identity"].fillna(other).fillna(core["path"])
    core["rank"] = 2 * (core["exit"] != 1) + core["identity"].notna()
    core = core.sort_values("rank", kind="stable")
    core = core.drop_duplicates("key", keep="last")
    week = pandas.Timestamp.now("UTC") - pandas.Timedelta(days=7)

    # the causes of this week, and on how many hosts
    recent = core[core["stored"] > week].groupby("signature")
    print(recent["host"].agg(["size", "nunique"]).nlargest(20, "size"))

    # new since a release: never without this version of this package
    has = core["packages"].map(lambda p: (p or {}).get("shop") == "2.4.0")
    print(has.groupby(core["signature"]).agg(["all", "size"]).query("all"))

    # first seen in the last seven days
    first = core.groupby("signature")["stored"].min()
    print(first[first > week])

    # hosts that differ
    share = pandas.crosstab(core["host"], core["signature"],
                            normalize="columns")
    print(share.stack().loc[lambda part: part > 0.5])

    # growth of one cause: a day, its cores, and the memory of a process
    one = core[core["signature"].str.contains("; closures; ", regex=False)]
    print(one.resample("D", on="stored")["in_use"].agg(["size", "mean", "max"]))

    # an example of each cause, the largest
    largest = core.dropna(subset=["in_use"]).groupby("signature")["in_use"]
    print(core.loc[largest.idxmax(), ["signature", "path", "headline"]])

    # what a cure would free: bytes by kind of suspect
    found = core["suspects"].dropna().explode().dropna()
    print(pandas.json_normalize(list(found)).groupby("kind")["bytes"].sum())
)fleet";

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

std::string fleet_text() { return std::string(fleet_topic); }

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

constexpr std::array<Topic, 5> topics = {{{"capture", capture_text},
                                          {"fleet", fleet_text},
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
