#!/usr/bin/env python3
"""What `heapsift help fleet` says is run as it stands there: the commands, both lists of questions, the units and the DaemonSet; and the handler for
core_pattern (testdata/fleet/store_core.sh), by piping cores into it.

    fleet_recipes.py --heapsift build/release/heapsift --build build/release [--duckdb FOLDER]

Replaced are names of folders and machines. DuckDB is its npm package (@duckdb/node-api), looked for below --duckdb or $HEAPSIFT_DUCKDB. GNU parallel's and
SLURM's first recipes are run by fleet.py.
"""

import datetime
import glob
import html
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import cores
import fleet_cores
import fleet_engines
import harness

STORE = os.path.join(fleet_engines.SOURCE, "testdata/fleet/store_core.sh")
_MIXED = "Questions, in DuckDB: the files are read as they are"
_PANDAS = "The same in pandas"
_ASK_DUCKDB = """
import { DuckDBInstance } from '@duckdb/node-api';
import { readFileSync } from 'fs';
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const answers = [];
for (const sql of JSON.parse(readFileSync(0, 'utf8'))) {
  const reader = await connection.runAndReadAll(sql);
  answers.push({columns: reader.columnNames(), rows: reader.getRowsJson()});
}
console.log(JSON.stringify(answers));
"""


def topic_text(heapsift):
    done = subprocess.run([heapsift, "help", "fleet"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, "HEAPSIFT_STATE": "off"})
    if done.returncode == 0:
        return done.stdout
    with open(os.path.join(fleet_engines.SOURCE, "cli/help_texts.cpp"), encoding="utf-8") as file:
        print("help fleet is taken from the sources: this heapsift was built without it")
        return re.search(r'R"fleet\((.*?)\)fleet"', file.read(), re.S).group(1)


def of_topic(heapsift):
    """The blocks of commands under each heading, without their indentation."""
    found, heading = {}, None
    for line in topic_text(heapsift).splitlines():
        if line and not line.startswith(" "):
            heading, in_block = line, False
            found[heading] = []
        elif line.startswith("    "):
            if not in_block:
                found[heading].append([])
            found[heading][-1].append(line[4:])
            in_block = True
        elif line.strip() or heading not in (_MIXED, _PANDAS):
            in_block = False
        elif in_block:
            found[heading][-1].append("")
    return {heading: ["\n".join(block).strip("\n") + "\n" for block in blocks] for heading, blocks in found.items()}


class Recipes:
    def __init__(self, options, work, interpreter):
        self.options, self.work, self.failures = options, work, []
        site = fleet_engines.make_site(options.heapsift, options.build, work)
        self.environment = {**os.environ, "PATH": os.path.join(site, "bin") + ":/usr/bin:/bin:/usr/sbin", "PYTHONPATH": site, "HEAPSIFT_STATE": "off",
                            "XDG_CACHE_HOME": os.path.join(work, "cache"), "LC_ALL": "C.UTF-8"}
        self.blocks = of_topic(options.heapsift)
        self.cores = os.path.join(work, "cores")
        self.interpreter = interpreter
        os.makedirs(self.cores)

    def check(self, right, what):
        if not right:
            self.failures.append(what)

    def run(self, command, folder, *, ok=(0,), **more):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env={**self.environment, **more}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        self.check(done.returncode in ok, "%s: exit %d: %s" % (command.strip()[:80], done.returncode, done.stderr.strip()[-400:]))
        return done.stdout

    def folder(self, name):
        path = os.path.join(self.work, name)
        os.makedirs(path, exist_ok=True)
        return path


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main():
    parser = harness.parser("runs the recipes of `help fleet`", kinds=("kernel",))
    parser.add_argument("--build", required=True, metavar="FOLDER")
    parser.add_argument("--duckdb", metavar="FOLDER", default=os.environ.get("HEAPSIFT_DUCKDB"))
    parser.add_argument("--parts", nargs="*", default=list(PARTS))
    options = parser.parse_args()
    options.heapsift, options.build = os.path.abspath(options.heapsift), os.path.abspath(options.build)
    work, found, kinds, failures = harness.begin(options, "recipes")
    found = [one for one in found if not one.tree and not one.debug]
    if not kinds or not found:
        return harness.end(failures)
    recipes = Recipes(options, work, found[0])
    wanted = [(found[number % len(found)], cause, number) for number, cause in enumerate(["closures", "queue", "closures", "module_container", "weak_keys", "closures"])]
    taken, failed = fleet_cores.take_all(wanted, recipes.cores)
    for one in taken:  # as `find -name 'core.*'` looks for them
        os.rename(one.path, os.path.join(recipes.cores, "core.%s.%d.zst" % (one.cause, one.number)))
    for part in options.parts:
        before = len(recipes.failures)
        PARTS[part](recipes)
        print("%-10s %s" % (part, "failed" if len(recipes.failures) > before else "right or not covered"), flush=True)
    return harness.end(failures + failed + recipes.failures)


def one_machine(recipes):
    folder = recipes.folder("machine")
    command, = recipes.blocks["On one machine"] or [re.search(r"^  (heapsift batch .*)$", topic_text(recipes.options.heapsift), re.M).group(1)]
    for _ in range(2):
        recipes.run(command.replace("/var/crash", recipes.cores), folder)
    made = lines_of(folder + "/lines.jsonl")
    recipes.check(len(made) == 6 and len({line["identity"] for line in made}) == 6, "one machine: %d lines" % len(made))


def page(recipes):
    folder = recipes.folder("machine")
    command, = recipes.blocks["One page of all lines: causes over time, by version and by host, examples"]
    recipes.run(command, folder)
    with open(os.path.join(folder, "fleet.html"), encoding="utf-8") as file:
        text = file.read()
    recipes.check("<title>6 cores, " in text and all(html.escape(line["signature"], quote=True) in text for line in lines_of(folder + "/lines.jsonl")), "page: %s" % text[:300])


def parallel(recipes):
    if fleet_engines.why_no_parallel() or not shutil.which("rsync"):
        print("not covered: parallel: %s" % (fleet_engines.why_no_parallel() or "rsync: not installed"))
        return
    blocks = recipes.blocks["With GNU parallel, on machines that ssh reaches"]
    with fleet_engines.services(recipes.work, "ssh", recipes.environment) as made:
        ssh = fleet_engines.start_sshd(made)
        there = recipes.folder("there")  # the other machine is this one: cores have names from here, and lie elsewhere there
        shutil.copytree(recipes.cores, made.folder + "/crash")
        command = blocks[1].replace("/var/crash", "crash").replace("2/db1,2/db2", "1/alpha,1/beta")
        command = command.replace("parallel -0", "parallel -0 --workdir %s --ssh '%s'" % (there, ssh)).replace("batch {}", "batch %s/{}" % there)
        recipes.run(command, made.folder, RSYNC_RSH=ssh)
        made_lines = lines_of(made.folder + "/lines.jsonl")
        recipes.check(len(made_lines) == 6 and all(line["exit"] == 0 for line in made_lines), "parallel --transferfile: %s" % made_lines[:1])
        recipes.check(not glob.glob(there + "/crash/*"), "parallel --cleanup leaves %s" % glob.glob(there + "/crash/*"))
        with open(made.folder + "/lines.jsonl", "a") as file:
            file.writelines(json.dumps(line) + "\n" for line in ({**made_lines[0], "seconds": 99}, failed(made_lines[1], "timed-out"), failed(made_lines[2], "not-copied", None),
                                                                 failed({"path": "/nowhere/core"}, "no-such-file", None)))
        recipes.run(blocks[2], made.folder)
        once = lines_of(made.folder + "/once.jsonl")
        recipes.check(sorted(line["identity"] or "" for line in once) == sorted([""] + [line["identity"] for line in made_lines]) and sum(line["exit"] for line in once) == 1,
                      "each once: %s" % [(line["path"], line["identity"], line["exit"]) for line in once])
        recipes.check([line["seconds"] for line in once if line["identity"] == made_lines[0]["identity"]] == [99], "each once: not the last one")


def dask(recipes):
    if fleet_engines.why_no_dask():
        print("not covered: dask: " + fleet_engines.why_no_dask())
        return
    program, worker = recipes.blocks["With Dask, from Python: the wheel on the workers, and python3-distributed"]
    with fleet_engines.services(recipes.work, "dask", recipes.environment) as made:
        dask = fleet_engines.Dask(made)
        words = shlex.split(worker.replace("scheduler:8786", dask.address).replace("--nthreads 4", "--nthreads 2"))
        if not shutil.which(words[0]):  # as `dask worker` in newer ones
            words = [sys.executable, "-m", "distributed.cli.dask_worker", *words[1:]]
        made.start("worker", [*words, "--no-dashboard", "--local-directory", made.folder])
        script = os.path.join(made.folder, "recipe.py")
        with open(script, "w") as file:
            file.write(program.replace("scheduler:8786", dask.address).replace("/var/crash", recipes.cores) + "print(len(frame), len(fleet.frame()))\n")
        said = recipes.run("%s %s" % (shlex.quote(sys.executable), script), made.folder)
        recipes.check(said.strip().endswith("6 6") and "closures" in said, "dask: %s" % said[-300:])
        recipes.check(len(lines_of(made.folder + "/lines.jsonl")) == 6, "dask: lines.jsonl")


# Questions

def failed(line, code, identity=""):
    """What was said of that core before it was answered, or elsewhere."""
    nothing = dict.fromkeys(("host", "started", "stored", "interpreter", "packages", "signal", "in_use", "objects", "garbage", "headline", "suspects", "seconds"))
    return {**line, **nothing, "identity": line["identity"] if identity == "" else identity, "exit": 1, "error": {"code": code, "message": code, "hint": None},
            "signature": "not analysed: " + code}


def made_up_lines(recipes, folder):
    """The lines of the cores, and hundreds as other weeks and hosts would have left them. What the questions must find in them is known."""
    source = os.path.join(folder, "source.jsonl")
    recipes.run("heapsift batch %s --brief -q > %s; heapsift batch /etc/hostname --brief -q >> %s; true" % (recipes.cores, source, source), folder)
    real = lines_of(source)
    closures, queue = ([line for line in real if "; %s; " % kind in line["signature"]][0] for kind in ("closures", "queue"))
    now = datetime.datetime.now(datetime.timezone.utc)
    made = list(real)

    def add(line, number, days, host, version):
        stored = now - datetime.timedelta(days=days, minutes=number % 50)
        made.append({**line, "identity": "%032x" % len(made), "host": host, "stored": stored.strftime("%Y-%m-%dT%H:%M:%SZ"), "in_use": line["in_use"] + number * 1000,
                     "started": (stored - datetime.timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ"), "packages": {"shop": version, "certifi": "2022.9.24"}})
    for number in range(40):  # grows by the day, on ten hosts, for a month
        add(closures, number, number * 0.7, "web%d" % (number % 10), "2.3.0" if number > 10 else "2.4.0")
    for number in range(20):  # of the new release alone, on one host, within an hour
        add(queue, number, 1, "db7", "2.4.0")
    made = [line for line in made if line["signature"] != queue["signature"] or line["host"] == "db7"]
    made.append(made[-1])  # the same line twice
    made += [failed(made[-2], "timed-out"), failed(made[-3], "not-copied", None)]
    made[:0] = [failed(made[-3], "killed"), failed(made[0], "worker-lost", None)]
    with open(os.path.join(folder, "lines.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in made)
    os.remove(source)
    return closures["signature"], queue["signature"]


def duckdb(recipes):
    folder = recipes.folder("questions")
    modules = os.path.join(recipes.options.duckdb or "", "node_modules")
    if not recipes.options.duckdb or not os.path.isdir(modules + "/@duckdb/node-api") or not shutil.which("node"):
        print("not covered: duckdb: npm's @duckdb/node-api is not installed below --duckdb")
        return
    closures, queue = made_up_lines(recipes, folder)
    sql, = recipes.blocks[_MIXED]
    statements = [one.strip() for one in sql.split(";\n") if one.strip()]
    # A ';' in a text does not end a statement.
    titles = [re.match(r"-- (.*)", one).group(1) if one.startswith("--") else "" for one in statements]
    script = os.path.join(recipes.options.duckdb, "ask-%d.mjs" % os.getpid())
    with open(script, "w") as file:
        file.write(_ASK_DUCKDB)
    try:
        done = subprocess.run(["node", script], cwd=folder, input=json.dumps(statements), capture_output=True, text=True, timeout=300)
    finally:
        os.remove(script)
    if done.returncode:
        recipes.failures.append("duckdb: %s" % done.stderr[-600:])
        return
    answers = {title.split(":")[0].split(",")[0]: [dict(zip(one["columns"], row)) for row in one["rows"]] for title, one in zip(titles, json.loads(done.stdout))}
    recipes.check(len(answers) == 14, "duckdb: %d statements" % len(answers))

    def holds(title, check):
        rows = answers.get(title)
        try:
            right = rows is not None and check(rows)
        except (LookupError, TypeError) as reason:
            right, rows = False, "%r: %s" % (reason, rows)
        recipes.check(right, "duckdb: %s: %s" % (title, str(rows)[:300]))
    holds("the causes of this week", lambda rows: {row["signature"]: int(row["cores"]) for row in rows}[queue] == 20)
    holds("new since a release", lambda rows: [row["signature"] for row in rows] == [queue])
    holds("first seen in the last seven days", lambda rows: queue in [row["signature"] for row in rows] and closures not in [row["signature"] for row in rows])
    holds("hosts that differ", lambda rows: [(row["host"], row["signature"], int(row["here"])) for row in rows] == [("db7", queue, 20)])
    holds("growth of one cause", lambda rows: len(rows) >= 25 and sum(int(row["cores"]) for row in rows) == 43)
    holds("which versions of Python have a cause", lambda rows: all(row["versions"] for row in rows if row["signature"] == queue))
    holds("an example of each cause", lambda rows: closures in [row["signature"] for row in rows] and all(row["path"] for row in rows))
    holds("what a cure would free", lambda rows: {row["kind"] for row in rows} >= {"closures", "queue"} and int(rows[0]["bytes"]) > 0)
    holds("the version of a package that goes with a cause", lambda rows: (queue, "shop", "2.4.0", 20) in
          [(row["signature"], row["package"], row["version"], int(row["cores"])) for row in rows])
    holds("crash loops", lambda rows: [(row["host"], int(row["cores"])) for row in rows] == [("db7", 20)])
    holds("how long the processes lived", lambda rows: any(row["signature"] == queue for row in rows))
    holds("what was not analysed", lambda rows: [(row["code"], int(row["cores"])) for row in rows] == [("not-a-core", 1)])
    holds("how they ended", lambda rows: rows[0]["signal"] == "SIGABRT")


def pandas(recipes):
    if importlib.util.find_spec("pandas") is None:
        print("not covered: pandas: not installed")
        return
    folder = recipes.folder("questions-pandas")
    closures, queue = made_up_lines(recipes, folder)
    program, = recipes.blocks[_PANDAS]
    titles = re.findall(r"^# (.*)$", program, re.M)
    script = os.path.join(folder, "questions.py")
    with open(script, "w") as file:
        file.write(re.sub(r"^# (.*)$", lambda match: "print('== ' + %r)" % match.group(1), "import pandas\npandas.set_option('display.max_colwidth', None, 'display.width', 250)\n" +
                          program, flags=re.M))
    said = recipes.run("%s %s" % (shlex.quote(sys.executable), script), folder)
    parts = dict(zip(titles, said.split("== ")[1:]))
    recipes.check(len(parts) == len(titles) >= 7, "pandas: %d of %d questions" % (len(parts), len(titles)))
    for title, has, lacks in (("the causes of this week, and on how many hosts", queue, "web"), ("new since a release: never without this version of this package", queue, closures),
                              ("first seen in the last seven days", queue, closures), ("hosts that differ", "db7", "web1"),
                              ("growth of one cause: a day, its cores, and the memory of a process", "mean", queue), ("an example of each cause, the largest", closures, "not-a-core"),
                              ("what a cure would free: bytes by kind of suspect", "closures", "NaN")):
        text = parts.get(title, "")
        recipes.check(has in text and lacks not in text.split("\n", 1)[-1], "pandas: %s: %s" % (title, text[:400]))


# Collecting

def store(recipes):
    """The handler: what it keeps of cores that are piped into it, and what it drops."""
    folder = recipes.folder("store") + "/kept"
    sources = sorted(glob.glob(recipes.cores + "/core.*"))
    settings = {"STORE": folder, "HEAPSIFT_CORES_SETTINGS": "/nonexistent", "LEAST_FREE_MIB": "1"}

    def crash(number, source, **more):
        recipes.run("zstd -dc %s | %s %d 1000 %d host%d 'worker %d'" % (source, STORE, 100 + number, time.time(), number, number), recipes.work, **{**settings, **more})

    def kept():
        return sorted(glob.glob(folder + "/core.*"))

    for number, source in enumerate(sources[:4]):
        crash(number, source, PER_MINUTE="3")
    recipes.check(len(kept()) == 3, "store: rate: %s" % kept())
    end = time.monotonic() + 120
    while time.monotonic() < end and (not os.path.exists(folder + "/lines.jsonl") or len(lines_of(folder + "/lines.jsonl")) < 3 or
                                      len(glob.glob(folder + "/index/*.index")) < 3):
        time.sleep(0.2)
    made = lines_of(folder + "/lines.jsonl") if os.path.exists(folder + "/lines.jsonl") else []
    with open("/proc/sys/kernel/random/boot_id") as file:
        boot = file.read().strip().replace("-", "")
    recipes.check(sorted(line["path"] for line in made) == kept() and all(line["exit"] == 0 and line["boot"] == boot for line in made), "store: lines: %s" % made)
    recipes.check(len(glob.glob(folder + "/index/*.index")) == 3, "store: indexes: %s" % os.listdir(folder + "/index"))
    asked = json.loads(recipes.run("heapsift types --json --core %s --index-dir %s/index" % (kept()[0], folder), recipes.work))
    recipes.check(asked["data"]["total"]["count"] > 10_000, "store: an answer from what is kept")
    crash(5, sources[0], PER_MINUTE="99", LEAST_FREE_MIB="99999999")
    recipes.check(len(kept()) == 3, "store: a full disk: %s" % kept())
    oldest = min(kept(), key=os.path.getmtime)
    crash(6, sources[5], PER_MINUTE="99", MOST_MIB="6", INDEX_MIB="0")
    recipes.check(oldest not in kept() and any("worker_6" in one for one in kept()), "store: the oldest goes: %s" % kept())
    # What is cut off makes it another than the whole one.
    crash(7, sources[4], PER_MINUTE="99", MOST_CORE_MIB="8", INDEX_MIB="0")
    end, cut = time.monotonic() + 60, []
    while not cut and time.monotonic() < end:
        time.sleep(0.2)
        cut = [line for line in lines_of(folder + "/lines.jsonl") if "worker_7" in line["path"]]
    recipes.check(cut and cut[0]["exit"] in (1, 3) and "-cut-" in cut[0]["identity"], "store: a cut core: %s" % cut)
    with open(folder + "/log") as file:
        said = file.read()
    for words in ("dropped: 3 cores in the last minute", "dropped: less than", "removed for its room"):
        recipes.check(words in said, "store: its log does not say %r: %s" % (words, said))
    modes = {oct(os.stat(one).st_mode & 0o777) for one in kept() + [folder + "/lines.jsonl"]}
    recipes.check(modes == {"0o600"}, "store: modes %s" % modes)
    if shutil.which("shellcheck"):
        recipes.run("shellcheck " + STORE, recipes.work)


def systemd(recipes):
    """What the service runs, on cores of the names that systemd-coredump gives."""
    blocks = "\n".join(recipes.blocks["Collecting"])
    command = re.search(r"^ExecStart=(.*?[^\\])$", blocks, re.M | re.S).group(1).replace("\\\n", " ")
    folder = recipes.folder("coredump")
    boot, hosts = "3044b347639f4120a10f494c790e93e8", {}
    for number, source in enumerate(sorted(glob.glob(recipes.cores + "/core.*"))[:2]):
        path = os.path.join(folder, "core.python3.0.%s.%d.1795840714000000.zst" % (boot, 500 + number))
        shutil.copy(source, path)
        try:  # as systemd-coredump writes them
            for name, value in (("hostname", "db%d.example" % number), ("timestamp", "1795840714000000"), ("container_cmdline", "/sbin/init splash")):
                os.setxattr(path, "user.coredump." + name, value.encode())
        except OSError as reason:
            print("not covered: systemd: attributes of files: %s" % reason)
            continue
        hosts[path] = "db%d.example" % number
    state = recipes.folder("state")
    command = command.replace("/var/lib/systemd/coredump", folder).replace("/var/lib/heapsift", state)
    for _ in range(2):
        recipes.run(command, recipes.work)
    made = lines_of(state + "/lines.jsonl")
    recipes.check(len(made) == 2 and all(line["boot"] == boot and line["stored"].startswith("2026-11-28T04:38:34") for line in made), "systemd: %s" % made)
    recipes.check(all(line["host"] == hosts.get(line["path"], line["host"]) for line in made), "systemd: hosts: %s" % [line["host"] for line in made])
    if hosts:
        recipes.check({line["container"] for line in made} == {"container"}, "systemd: containers: %s" % [line["container"] for line in made])
    if shutil.which("systemd-analyze"):
        units = recipes.folder("units")
        for name, text in re.findall(r"(?m)/etc/systemd/system/(\S+):\n((?:    .*\n)+)", topic_text(recipes.options.heapsift)):
            with open(os.path.join(units, name), "w") as file:
                file.write(re.sub(r"(?m)^    ", "", text).replace("ExecStart=heapsift", "ExecStart=" + recipes.options.heapsift))
            recipes.run("systemd-analyze verify %s/%s" % (units, name), recipes.work)
    else:
        print("not covered: systemd-analyze verify: not installed")


def daemon_set(recipes):
    """The DaemonSet is YAML of the right form, and what its container runs takes a core of a process that grows."""
    if importlib.util.find_spec("yaml") is None:
        print("not covered: the DaemonSet: python3-yaml is not installed")
        return
    import yaml
    text = re.search(r"(?ms)^    (apiVersion: apps/v1\n.*?)^On one machine", topic_text(recipes.options.heapsift)).group(1)
    document = yaml.safe_load(re.sub(r"(?m)^    ", "", text))
    container, = document["spec"]["template"]["spec"]["containers"]
    recipes.check(document["kind"] == "DaemonSet" and document["spec"]["selector"]["matchLabels"] == document["spec"]["template"]["metadata"]["labels"] and
                  container["volumeMounts"][0]["name"] == document["spec"]["template"]["spec"]["volumes"][0]["name"], "DaemonSet: %s" % document)
    folder = recipes.folder("node")
    program = os.path.join(folder, "grows.py")
    with open(program, "w") as file:
        file.write("import time\nrows = []\nwhile len(rows) < 60:\n    rows.append(b'%07d\\n' % len(rows) * (1 << 17))\n    time.sleep(0.05)\ntime.sleep(600)\n")
    process = subprocess.Popen([recipes.interpreter.path, program])
    # A limit of the group is nothing to be had here: the process's own memory, and no other process.
    command = container["command"][2].replace("sleep 10", "sleep 1").replace("/cores/", folder + "/").replace("cgroup>85%", "rss>40MiB")
    command = command.replace("$(pgrep python)", str(process.pid)).replace("/tmp/watched", folder + "/watched")
    watcher = subprocess.Popen([*container["command"][:2], command], env=recipes.environment, start_new_session=True)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and not glob.glob(folder + "/core.*.zst"):
            time.sleep(0.2)
        time.sleep(3)
        taken = glob.glob(folder + "/core.*.zst")
        recipes.check(len(taken) == 1 and process.poll() is None, "DaemonSet: %s" % os.listdir(folder))
        if taken:
            made = json.loads(recipes.run("heapsift batch %s --brief -q" % shlex.quote(taken[0]), folder, ok=(0, 3)))
            recipes.check(made["pid"] == process.pid and made["in_use"] > 30 << 20, "DaemonSet: %s" % made)
    finally:
        os.killpg(watcher.pid, signal.SIGKILL)
        watcher.wait()
        process.kill()
        process.wait()


def full(recipes):
    """A core on standard input that finds no room has a line, and the others have theirs."""
    folder = recipes.folder("full")
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], stderr=subprocess.DEVNULL).returncode != 0:
        print("not covered: full: no tmpfs can be mounted here")
        return
    try:
        source, other = sorted(glob.glob(recipes.cores + "/core.*"))[:2]
        said = recipes.run("zstd -dcq %s > %s/unpacked; cat %s | heapsift batch - %s/unpacked --brief -q" % (other, recipes.work, source, recipes.work), recipes.work, ok=(3,),
                           XDG_CACHE_HOME=folder)
        made = [json.loads(line) for line in said.splitlines()]
        recipes.check([(line["path"], line["exit"], (line.get("error") or {}).get("code")) for line in made] ==
                      [("-", 1, "cannot-write"), (recipes.work + "/unpacked", 0, None)], "full: %s" % said[:600])
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


PARTS = {"machine": one_machine, "page": page, "parallel": parallel, "dask": dask, "duckdb": duckdb, "pandas": pandas, "store": store, "full": full, "systemd": systemd, "daemon_set": daemon_set}


if __name__ == "__main__":
    sys.exit(main())
