#!/usr/bin/env python3
"""A fleet of cores on one machine and under three engines: Dask, GNU parallel over ssh, SLURM. The same lines must come from all, none lacking, none twice.

    fleet.py --heapsift build/release/heapsift --build build/release                  the short form: some 60 cores
    fleet.py … --versions ~/.pyenv/versions --count 1000 --kills 20                   the long one
    fleet.py … --cores FOLDER [--engines dask slurm] [--parts engines kills]          of cores that are there (fleet_cores.py's names)

Cores are taken of programs with forty known causes, on all interpreters at hand. Then: one machine, with one worker and with two; Dask with
four worker processes, one of which is killed midway, and one has next to no memory; GNU parallel over two ssh logins to this machine; a SLURM array.
Causes and signatures are one to one, whatever the interpreter (`_SPLIT` names those that are not, with the reason). A batch, and a fleet, that are
killed at random moments and gone on with are complete in the end, and nothing is there twice. A core that needs far more than --max-memory gets a
line that says so, and the others theirs. What an engine costs a core is printed.
"""

import collections
import glob
import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time

import cores
import fleet_cores
import fleet_engines
import fleet_recipes
import harness
import interpreters

_PATIENCE = 7200
# How the line of one core may differ between two runs.
_OWN = ("seconds", "warnings", "limits")
_NO_CAUSE = ("bounded_cache",)  # with a bound it is a suspect or not by how full it is
_LARGE = """
import standstill
rows = [[number] for number in range(2_600_000)]
standstill.write_and_rest("truth.json", {"rows": len(rows)})
"""
_RESUMED = """
import sys
import heapsift
if __name__ == "__main__":
    folder, lines = sys.argv[1:]
    heapsift.fleet(folder, output=lines, resume=lines, retries=1).wait()
"""


class Test:
    def __init__(self, options, work):
        self.options, self.work, self.failures = options, work, []
        self.heapsift = options.heapsift
        self.site = fleet_engines.make_site(options.heapsift, options.build, work)
        self.environment = {**os.environ, "PATH": os.path.join(self.site, "bin") + ":/usr/bin:/bin:/usr/sbin", "PYTHONPATH": self.site,
                            "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": os.path.join(work, "cache"), "LC_ALL": "C.UTF-8"}
        self.environment.pop("HEAPSIFT_PROGRAM", None)
        self.folder = options.cores or os.path.join(work, "cores")

    def fail(self, what):
        self.failures.append(what)

    def batch(self, lines, *words, cache=None):
        """Seconds that it took; the processor's time goes to self.processor."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([self.heapsift, "batch", *words, "--brief", "-q", "-o", lines], env={**self.environment, **({"XDG_CACHE_HOME": cache} if cache else {})}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=_PATIENCE)
        if done.returncode not in (0, 3):
            self.fail("batch %s: exit %d: %s" % (" ".join(words), done.returncode, done.stderr.strip()[-300:]))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return time.monotonic() - began


def main():
    options = parse()
    work, found, kinds, failures = harness.begin(options, "fleet")
    if not kinds or not found:
        return harness.end(failures)
    test = Test(options, work)
    test.found = [one for one in found if not one.debug and not one.tree]
    if not options.cores:
        failures += make(options, test.found, test.folder)
    count = len(glob.glob(test.folder + "/*.core.zst"))
    paths = sorted(glob.glob(test.folder + "/*.core.zst"))
    lines, seconds = on_one_machine(test, paths)
    engines = {"dask": (fleet_engines.why_no_dask, on_dask), "parallel": (fleet_engines.why_no_parallel, on_parallel), "slurm": (fleet_engines.why_no_slurm, on_slurm)}
    for name in options.engines if "engines" in options.parts else ():
        why_not, run = engines[name]
        if why_not():
            print("not covered: %s: %s" % (name, why_not()))
            continue
        theirs, took = run(test, paths)
        compare(test, name, lines, theirs)
        print("%-9s %d cores, %.1f s: %.0f a minute; %+.0f ms a core beside batch -j 2" % (name, len(theirs), took, 60 * count / took, 1e3 * (took - seconds) / count),
              flush=True)
    if "overhead" in options.parts:
        overhead(test)
    for name, run in (("signatures", signatures), ("copies", copies), ("odd", odd), ("limits", limits), ("programs", programs), ("kills", killed), ("large", large)):
        if name in options.parts:
            run(test, lines)
    return harness.end(failures + test.failures)


def parse():
    parser = harness.parser("asks about a fleet of cores on several engines", kinds=("kernel",))
    parser.add_argument("--build", required=True, metavar="FOLDER", help="of heapsift, with commands.json")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--kills", type=int, default=4, help="of a batch, and of a fleet")
    parser.add_argument("--cores", metavar="FOLDER")
    parser.add_argument("--engines", nargs="*", default=["dask", "parallel", "slurm"])
    parser.add_argument("--parts", nargs="*", default=["engines", "overhead", "signatures", "copies", "odd", "limits", "programs", "kills", "large"])
    parser.add_argument("--seed", type=int, default=23)
    options = parser.parse_args()
    options.heapsift, options.build = os.path.abspath(options.heapsift), os.path.abspath(options.build)
    return options


def make(options, found, folder):
    """Takes the cores. The failures."""
    os.makedirs(folder)
    began, causes = time.monotonic(), fleet_cores.all_causes()
    if options.count < len(causes) * len(found):  # each cause with two of the interpreters, in turn
        wanted = [(found[(at + turn) % len(found)], causes[at], turn) for turn in range(99) for at in range(len(causes))][:options.count]
    else:
        wanted = [(one, cause, turn) for turn in range(99) for cause in causes for one in found][:options.count]
    taken, failed = fleet_cores.take_all(wanted, folder)
    size = sum(os.path.getsize(one.path) for one in taken)
    print("%d cores of %d causes on %d interpreters, %.0f MB, taken in %.0f s" % (len(taken), len(causes), len(found), size / 1e6, time.monotonic() - began), flush=True)
    return failed


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def on_one_machine(test, paths):
    """The lines, and the seconds with two at a time."""
    output = os.path.join(test.work, "one.jsonl")
    two = test.batch(output, test.folder, "-j", "2")
    processor = test.processor
    some = paths[:: max(1, len(paths) // 60)]
    one = test.batch(os.path.join(test.work, "one-by-one.jsonl"), "-j", "1", "--", *some)
    print("batch     -j 2: %d cores, %.1f s, %.0f a minute; -j 1: %.0f a minute; %.2f s of a processor a core" %
          (len(paths), two, 60 * len(paths) / two, 60 * len(some) / one, processor / len(paths)), flush=True)
    lines = read(output)
    if sorted(line["path"] for line in lines) != paths:
        test.fail("batch: %d lines of %d cores" % (len(lines), len(paths)))
    for line in lines:
        if line["exit"] != 0:
            test.fail("%s: exit %d: %s" % (line["path"], line["exit"], line.get("error") or line["warnings"]))
    if len({line["identity"] for line in lines}) != len(lines):
        test.fail("batch: two cores have one identity")
    return lines, two


def comparable(line):
    return {name: value for name, value in line.items() if name not in _OWN}


def compare(test, name, ours, theirs):
    expected = {line["identity"]: comparable(line) for line in ours}
    got = collections.Counter(line["identity"] for line in theirs)
    for what, keys in (("lacking", set(expected) - set(got)), ("nobody's", set(got) - set(expected)), ("twice", {key for key, times in got.items() if times > 1})):
        if keys:
            examples = [line for line in theirs if line["identity"] in keys] or [expected[key] for key in keys if key in expected]
            test.fail("%s: %d %s: %s" % (name, len(keys), what, json.dumps(examples[0])[:400]))
    for line in theirs:
        mine, its = expected.get(line["identity"]), comparable(line)
        if mine is not None and mine != its:
            differ = sorted(key for key in mine.keys() | its.keys() if mine.get(key) != its.get(key))
            test.fail("%s: %s: %s" % (name, line["path"], "; ".join("%s: %r, not %r" % (key, its.get(key), mine.get(key)) for key in differ)[:600]))


# Engines

def on_dask(test, paths):
    sys.path.insert(0, test.site)
    import heapsift
    from distributed import Client
    group = None
    with fleet_engines.services(test.work, "dask", test.environment) as made:
        dask = fleet_engines.Dask(made)
        workers = [dask.add_worker() for _ in range(4)]
        try:
            with Client(dask.address) as client:
                client.wait_for_workers(4, timeout=fleet_engines.PATIENCE)
                if fleet_engines.MemoryGroup.why_not():
                    print("not covered: a worker without memory: " + fleet_engines.MemoryGroup.why_not())
                else:
                    group = fleet_engines.MemoryGroup("heapsift-test-%d" % os.getpid())
                    group.take(workers[3].pid, 16 << 20)  # beyond what it has by now
                    time.sleep(0.2)
                output = os.path.join(test.work, "dask.jsonl")
                fleet = heapsift.fleet(test.folder, client, output=output, program=test.heapsift)
                began = time.monotonic()
                accidents, original = [], fleet._line_of

                def counted(future):
                    if future.status == "error":
                        accidents.append(str(future.exception()))
                    return original(future)
                fleet._line_of = counted
                for number, _ in enumerate(fleet):
                    if number == len(paths) // 4:
                        fleet_engines.kill(workers[0])
                lines = fleet.lines()
                took = time.monotonic() - began
                ended = [name for name, one in zip(("0", "1", "2", "3"), workers) if one.poll() is not None]
                print("          Dask: workers that ended: %s; tasks done again elsewhere: %d%s" %
                      (", ".join(ended), len(accidents), ", " + accidents[0][:150] if accidents else ""))
                if [line["path"] for line in lines] != paths:
                    test.fail("dask: lines() are not in the order of the paths")
                if len(fleet.dataframe().compute()) != len(lines):
                    test.fail("dask: the DataFrame has not a row a line")
        finally:
            if workers[3].poll() is None:
                fleet_engines.kill(workers[3])
            if group:
                group.remove()
        left = [one for one in fleet_engines.left_over(made.folder) if "worker0" not in one and "worker3" not in one]
        if left:
            test.fail("dask: left over: %s" % left[:3])
    return read(output), took


def on_parallel(test, paths):
    with fleet_engines.services(test.work, "ssh", test.environment) as made:
        ssh = fleet_engines.start_sshd(made)
        command = fleet_recipes.of_topic(test.heapsift)["With GNU parallel, on machines that ssh reaches"][0]
        command = command.replace("/var/crash", test.folder).replace("'core.*'", "'*.core.zst'").replace("2/db1,2/db2", "1/alpha,1/beta").replace("parallel -0", "parallel -0 --ssh '%s'" % ssh)
        began = time.monotonic()
        done = subprocess.run(["bash", "-c", command], cwd=made.folder, env=test.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE)
        took = time.monotonic() - began
        if done.returncode:
            test.fail("parallel: exit %d: %s" % (done.returncode, done.stderr[-300:]))
        lines = read(os.path.join(made.folder, "lines.jsonl"))
        again = subprocess.run(["bash", "-c", command], cwd=made.folder, env=test.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE)
        if again.returncode or len(read(os.path.join(made.folder, "lines.jsonl"))) != len(lines):
            test.fail("parallel: --resume does what was done: %s" % again.stderr[-300:])
        with open(os.path.join(made.folder, "jobs.log")) as log:
            print("          parallel: jobs a login: %s" % dict(collections.Counter(row.split("\t")[1] for row in log.readlines()[1:])))
    return lines, took


def on_slurm(test, paths):
    with fleet_engines.services(test.work, "slurm", test.environment) as made:
        environment = fleet_engines.start_slurm(made)
        command = fleet_recipes.of_topic(test.heapsift)["With SLURM, as an array of eight tasks on a shared file system"][0]
        command = command.replace("/var/crash", test.folder).replace("'core.*'", "'*.core.zst'").replace("--requeue", "--requeue --wait")
        began = time.time()
        for _ in range(2):  # the second time nothing is left to do
            done = subprocess.run(["bash", "-c", command], cwd=made.folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE)
            if done.returncode:
                said = "".join(open(one, errors="replace").read()[-300:] for one in glob.glob(made.folder + "/slurm-*.out"))
                test.fail("slurm: exit %d: %s %s" % (done.returncode, done.stderr[-300:], said))
        files = sorted(glob.glob(os.path.join(made.folder, "lines.*.jsonl")))
        lines = [read(path) for path in files]
        took = max(map(os.path.getmtime, files)) - began  # sbatch --wait looks every ten seconds
        print("          SLURM: cores a task: %s" % [len(one) for one in lines])
    return sum(lines, []), took


def overhead(test):
    """What an engine takes for a core besides its analysis: of files that are seen at once to be none."""
    count, folder = 100, os.path.join(test.work, "nothing")
    os.makedirs(folder)
    paths = [os.path.join(folder, "core.%d" % number) for number in range(count)]
    for path in paths:
        with open(path, "w") as file:
            file.write("nothing\n")

    def timed(command, environment):
        began = time.monotonic()
        subprocess.run(["bash", "-c", command], cwd=test.work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        return time.monotonic() - began

    found = [("batch", timed("printf '%%s\\n' %s/* | heapsift batch - --brief -j 2" % folder, test.environment) / count, "core")]
    if not fleet_engines.why_no_dask():
        from distributed import Client
        sys.path.insert(0, test.site)
        import heapsift
        with fleet_engines.services(test.work, "dask-overhead", test.environment) as made:
            dask = fleet_engines.Dask(made)
            for _ in range(2):
                dask.add_worker()
            with Client(dask.address) as client:
                client.wait_for_workers(2, timeout=fleet_engines.PATIENCE)
                began = time.monotonic()
                if len(heapsift.fleet(paths, client, program=test.heapsift).lines()) != count:
                    test.fail("overhead: a fleet has not a line a file that was named")
                found.append(("dask", (time.monotonic() - began) / count, "core"))
    if not fleet_engines.why_no_parallel():
        with fleet_engines.services(test.work, "ssh-overhead", test.environment) as made:
            ssh = fleet_engines.start_sshd(made)
            found.append(("parallel", timed("find %s -name 'core.*' -print0 | parallel -0 --ssh '%s' --sshlogin 1/alpha,1/beta heapsift batch {} --brief -q -j 1" % (folder, ssh),
                                            test.environment) / count, "core"))
    if not fleet_engines.why_no_slurm():
        with fleet_engines.services(test.work, "slurm-overhead", test.environment) as made:
            environment = fleet_engines.start_slurm(made)
            mark = os.path.join(made.folder, "mark")
            began = time.time()
            timed("sbatch --wait -o /dev/null --array=1-16 --wrap 'touch %s.$SLURM_ARRAY_TASK_ID'" % mark, environment)
            found.append(("slurm", (max(map(os.path.getmtime, glob.glob(mark + ".*"))) - began) / 16, "array task"))
    print("overhead  " + "; ".join("%s: %.0f ms a %s" % (name, 1e3 * seconds, what) for name, seconds, what in found), flush=True)


# What lines must be

def signatures(test, lines):
    """One signature a cause, and one cause a signature."""
    of_cause, of_signature = collections.defaultdict(collections.Counter), collections.defaultdict(set)
    for line in lines:
        cause = os.path.basename(line["path"]).split(".")[0]
        if cause not in _NO_CAUSE:
            of_cause[cause][line["signature"]] += 1
            of_signature[line["signature"]].add(cause)
    split = {cause: found for cause, found in of_cause.items() if len(found) > 1}
    mixed = {signature: found for signature, found in of_signature.items() if len(found) > 1}
    print("signatures: %d causes, %d groups; %d split, %d mixed" % (len(of_cause), len(of_signature), len(split), len(mixed)), flush=True)
    for cause, found in sorted(split.items()):
        test.fail("signatures: %s has %d: %s" % (cause, len(found), "; ".join("%d of '%s'" % (times, one) for one, times in found.most_common())))
    for signature, found in sorted(mixed.items()):
        test.fail("signatures: '%s' is of %s" % (signature, ", ".join(sorted(found))))


def copies(test, lines):
    """A core that was answered is known by its identity, also under another name and unpacked."""
    folder = os.path.join(test.work, "copies")
    os.makedirs(folder)
    chosen = lines[:2]
    shutil.copy(chosen[0]["path"], os.path.join(folder, "another.zst"))
    subprocess.run(["zstd", "-q", "-d", chosen[1]["path"], "-o", os.path.join(folder, "unpacked")], check=True)
    output = os.path.join(test.work, "copies.jsonl")
    test.batch(output, folder, "--resume", os.path.join(test.work, "one.jsonl"))
    if read(output):
        test.fail("copies: batch --resume asks again: %s" % [line["path"] for line in read(output)])
    in_one_run(test, chosen, folder)
    if fleet_engines.why_no_dask():
        return
    sys.path.insert(0, test.site)
    import heapsift
    again = heapsift.fleet(folder, resume=os.path.join(test.work, "one.jsonl"), program=test.heapsift).lines()
    twice = heapsift.fleet([folder, chosen[0]["path"], "file://" + chosen[1]["path"], "/nowhere/core"], program=test.heapsift).lines()
    if again:
        test.fail("copies: a fleet asks again: %s" % [line["path"] for line in again])
    if sorted(line["identity"] or "" for line in twice) != sorted([""] + [line["identity"] for line in chosen]):
        test.fail("copies: a fleet has %s" % [(line["path"], line["identity"]) for line in twice])
    remote(test, heapsift, chosen)


def in_one_run(test, chosen, folder):
    """Of copies in one run the first has a line; a cut one has its own, whatever comes first, and is known again."""
    cut = os.path.join(folder, "a-cut.zst")  # before the others
    with open(chosen[0]["path"], "rb") as source, open(cut, "wb") as file:
        file.write(source.read()[: os.path.getsize(chosen[0]["path"]) * 7 // 10])
    shorter = os.path.join(folder, "b-cut")
    subprocess.run("zstd -dcq '%s' | head -c 9000000 > '%s'" % (chosen[1]["path"], shorter), shell=True, check=True)
    for at_once in ("1", "2"):
        output = os.path.join(test.work, "one-run.%s.jsonl" % at_once)
        paths = [folder, chosen[0]["path"], chosen[1]["path"]]
        test.batch(output, *paths, "-j", at_once)
        made = read(output)
        got = [(os.path.basename(line["path"]), line["identity"], line["exit"] == 0) for line in made]
        wanted = [("a-cut.zst", "%s-cut-%d" % (chosen[0]["identity"], os.path.getsize(cut)), False), ("another.zst", chosen[0]["identity"], True),
                  ("b-cut", "%s-cut-9000000" % chosen[1]["identity"], False), ("unpacked", chosen[1]["identity"], True)]
        if got != wanted:
            test.fail("copies: in one run, -j %s: %s, not %s" % (at_once, got, wanted))
        test.batch(output, *paths, "--resume", output)
        if len(read(output)) != len(made):
            test.fail("copies: a cut core is asked again: %s" % [line["path"] for line in read(output)[len(made):]])
    os.remove(cut)
    os.remove(shorter)


def remote(test, heapsift, chosen):
    """Over sftp, through fsspec: copied to the worker's disk, and removed."""
    try:
        import paramiko  # noqa: F401
        why_not = fleet_engines.why_no_parallel()
    except ImportError:
        why_not = "paramiko: not installed (python3-paramiko)"
    if why_not:
        print("not covered: sftp: " + why_not)
        return
    with fleet_engines.services(test.work, "sftp", test.environment) as made:
        fleet_engines.start_sshd(made)
        with open(os.path.join(made.folder, "ssh_config")) as file:
            port = int(file.read().split("Port")[1].split()[0])
        with open(os.path.join(made.folder, "sshd_config"), "a") as file:
            file.write("Subsystem sftp internal-sftp\n")
        made.end()
        made.start("sshd2", ["/usr/sbin/sshd", "-D", "-e", "-f", os.path.join(made.folder, "sshd_config")])
        time.sleep(0.5)
        key = {"username": "root", "port": port, "key_filename": os.path.join(made.folder, "login")}
        before = set(glob.glob("/tmp/heapsift-*"))
        asked = heapsift.fleet(["sftp://127.0.0.1" + chosen[0]["path"], "sftp://127.0.0.1/nowhere/core"], storage_options=key, program=test.heapsift)
        lines = asked.lines()
        if [line["path"] for line in lines] != ["sftp://127.0.0.1" + chosen[0]["path"], "sftp://127.0.0.1/nowhere/core"] or \
                comparable({**lines[0], "path": chosen[0]["path"]}) != comparable(chosen[0]) or lines[1]["error"]["code"] != "no-such-file":
            test.fail("sftp: %s" % json.dumps(lines)[:600])
        if set(glob.glob("/tmp/heapsift-*")) - before:
            test.fail("sftp: left over: %s" % (set(glob.glob("/tmp/heapsift-*")) - before))
        print("          sftp: a core copied, analysed and removed", flush=True)


def odd(test, lines):
    """Files that are no cores, and what cannot be read: batch and a fleet say the same, of a folder and of each that is named."""
    folder = os.path.join(test.work, "odd")
    os.makedirs(folder + "/folder")
    os.symlink("/nonexistent", folder + "/core.dangling")
    os.symlink(b"/nonexistent", os.fsencode(folder) + b"/core.dangling\xff")
    os.mkfifo(folder + "/core.fifo")
    shutil.copy("/bin/true", folder + "/core.program")
    shutil.copy(lines[0]["path"], folder + "/core.whole.zst")
    with open(lines[0]["path"], "rb") as source:
        start = source.read(3000)
    head = subprocess.run(["zstd", "-dcq", lines[0]["path"]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout[:3000]
    for name, content in (("empty", b""), ("text", b"a text that is longer than a header\n"), ("text.gz", gzip.compress(b"a text")), ("cut.zst", start[:10]), ("packed.zst", start),
                          ("header", head[:30]), ("headers", head[:70]), ("head", head), ("zeros", bytes(5000))):
        with open("%s/core.%s" % (folder, name), "wb") as file:
            file.write(content)
    environment = test.environment
    named = sorted(path for path in glob.glob(folder + "/core.*"))
    for title, words in (("of a folder", [folder]), ("named", named)):
        done = subprocess.run([test.heapsift, "batch", "--brief", *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE)
        ours = [json.loads(line) for line in done.stdout.splitlines()]
        codes = {os.path.basename(line["path"])[5:]: (line.get("error") or {}).get("code") for line in ours}
        if done.returncode != 3 or codes.get("dangling") != "no-such-file" or codes.get("whole.zst", "") is not None or (len(ours) == len(named)) != (title == "named"):
            test.fail("odd: %s: exit %d, %s" % (title, done.returncode, codes))
        if fleet_engines.why_no_dask():
            continue
        sys.path.insert(0, test.site)
        import heapsift
        theirs = heapsift.fleet(words, program=test.heapsift).lines()
        before = os.path.join(test.work, "odd.jsonl")
        again = [len(heapsift.fleet(words, program=test.heapsift, output=before, resume=before).lines()) for _ in range(2)]
        if again[1] or [comparable(line) for line in ours] != [comparable(line) for line in theirs]:
            test.fail("odd: %s: a fleet has %s, not %s" % (title, [(os.path.basename(line["path"]), (line.get("error") or {}).get("code")) for line in theirs], codes))
    only = subprocess.run([test.heapsift, "batch", "--brief", folder + "/core.dangling"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if only.returncode != 1:
        test.fail("odd: exit %d of a link to nowhere alone" % only.returncode)
    # On standard input: a core, what should have been one, and a list.
    for content, code, shown in ((b"", "empty-file", "-"), (head, "runtime-not-found", "-"), (bytes(5000), "not-a-core", "-"), (b"\x01\xff\n\x02" * 9, "not-a-core", "-"), (gzip.compress(b"a text"), "not-a-core", "-"),
                                 (b"/nowhere/core\n", "no-such-file", "/nowhere/core")):
        done = subprocess.run([test.heapsift, "batch", "--brief", "-"], env=environment, input=content, capture_output=True, timeout=_PATIENCE)
        got = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode != 1 or [(line["path"], line["error"]["code"]) for line in got] != [(shown, code)] or "/proc/" in got[0]["error"]["message"] or (shown == "-") != bool(got[0]["stored"]):
            test.fail("odd: of %r on standard input: %s" % (content[:10], got))


def limits(test, lines):
    """What a limit ended is asked again where that is larger now, by a batch and by a fleet."""
    before = os.path.join(test.work, "limits.before.jsonl")
    slow, large = ({**line, "exit": 1, "error": {"code": code, "message": code, "hint": None}, "limits": {"timeout": 60, "max_memory": 1 << 30}}
                   for line, code in zip(lines, ("timed-out", "out-of-memory")))
    with open(before, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in (slow, large))
    paths = [slow["path"], large["path"]]
    heapsift = None
    if not fleet_engines.why_no_dask():
        sys.path.insert(0, test.site)
        import heapsift
    for timeout, memory, expected in ((60, 1 << 30, []), (61, 1 << 30, paths[:1]), (10, 2 << 30, paths[1:]), (0, None, paths)):
        words = ["--timeout", str(timeout), *(["--max-memory", str(memory)] if memory else [])]
        output = os.path.join(test.work, "limits.%d.jsonl" % timeout)
        test.batch(output, *paths, "--resume", before, *words)
        made = read(output)
        if [line["path"] for line in made] != expected or any(line["exit"] or line["limits"] != {"timeout": timeout or None, "max_memory": memory} for line in made):
            test.fail("limits: %s: %s" % (words, [(line["path"], line["exit"], line["limits"]) for line in made]))
        if heapsift:
            again = heapsift.fleet(paths, resume=before, program=test.heapsift, timeout=timeout, **({"max_memory": memory} if memory else {})).lines()
            if [line["path"] for line in again] != expected:
                test.fail("limits: a fleet: %s: %s" % (words, [line["path"] for line in again]))


def programs(test, _):
    """Signatures of programs with long paths, with blanks in them, of modules; with --redact they are apart too, and do not name the program."""
    deep = os.path.join(test.work, "a folder with blanks", *["applications-of-production"] * 3)
    os.makedirs(deep)
    shutil.copy(os.path.join(cores.PROGRAMS, "standstill.py"), deep)
    for name in ("billing", "orders"):
        with open(os.path.join(deep, name + ".py"), "w") as file:
            file.write("import standstill\nstandstill.write_and_rest('truth.json', {})\n")
    seen = {}
    for interpreter in test.found:
        for name, words in (("billing.py", [deep + "/billing.py"]), ("orders.py", [deep + "/orders.py"]), ("orders", ["-m", "orders"])):
            try:
                core, _ = cores.take_at_rest(interpreter, words, "kernel", deep, os.path.join(deep, "truth.json"), PYTHONPATH=deep)
            except cores.NoCore as reason:
                test.fail("programs: %s" % reason)
                continue
            for redact in (False, True):
                done = subprocess.run([test.heapsift, "batch", "--brief", "-q", core, *(["--redact"] if redact else [])], env=test.environment, capture_output=True, text=True, check=False)
                program = json.loads(done.stdout)["signature"].split(";")[0]
                seen.setdefault((name, redact), set()).add(program)
            os.remove(core)
    for (name, redact), found in sorted(seen.items()):
        named = any(part in program for program in found for part in ("billing", "orders"))
        if (not redact and found != {name}) or (redact and (named or not all("#" in program for program in found))):
            test.fail("programs: %s%s: %s" % (name, " --redact" if redact else "", sorted(found)))
    numbers = [{program.split("#")[-1] for program in seen.get((name, True), ())} for name in ("billing.py", "orders.py", "orders")]
    if any(len(one) != 1 for one in numbers) or len(set.union(*numbers)) != 3:
        test.fail("programs: --redact: %s" % numbers)
    print("programs  %s" % {name: sorted(found) for (name, redact), found in sorted(seen.items()) if redact}, flush=True)


# Kills

def killed(test, lines):
    """A batch, and a fleet, killed at random moments and gone on with."""
    folder = os.path.join(test.work, "killed")
    os.makedirs(folder)
    few = lines[:: max(1, len(lines) // (15 * test.options.kills))]
    for line in few:
        os.symlink(line["path"], os.path.join(folder, os.path.basename(line["path"])))
    chance = random.Random(test.options.seed)
    commands = {"batch": ([test.heapsift, "batch", folder, "--brief", "-q", "-j", "2"], 0.05, 2.0)}
    if fleet_engines.why_no_dask():
        print("not covered: a fleet that is killed: " + fleet_engines.why_no_dask())
    else:
        program = os.path.join(test.work, "resumed.py")
        with open(program, "w") as file:
            file.write(_RESUMED)
        commands["fleet"] = ([sys.executable, program, folder], 1.0, 4.0)
    for name, (command, least, most) in commands.items():
        output, counts = os.path.join(test.work, "killed-%s.jsonl" % name), []
        words = command + (["-o", output, "--resume", output] if name == "batch" else [output])
        for _ in range(test.options.kills):
            process = subprocess.Popen(words, env=test.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(chance.uniform(least, most))
            fleet_engines.kill(process)
            counts.append(whole_lines(test, name, output))
            time.sleep(0.1)
        done = subprocess.run(words, env=test.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE)
        if done.returncode:
            test.fail("%s: at the end: exit %d: %s" % (name, done.returncode, done.stderr[-300:]))
        moved = {line["identity"]: line["path"] for line in few}
        compare(test, "killed " + name, few, [{**line, "path": moved.get(line["identity"], line["path"])} for line in read(output)])
        print("killed    %s: %d times, with %s lines there; then %d of %d" % (name, test.options.kills, counts, len(read(output)), len(few)), flush=True)


def whole_lines(test, name, output):
    """How many are there; all but what follows the last end of a line must be whole."""
    if not os.path.exists(output):
        return 0
    with open(output, "rb") as file:
        texts = file.read().split(b"\n")
    for text in texts[:-1]:
        try:
            json.loads(text)
        except ValueError:
            test.fail("%s: a line is not whole: %s" % (name, text[-100:]))
    return len(texts) - 1


def large(test, lines):
    """A core that needs far more memory than it may have, where no index can be written either, among others."""
    interpreter = interpreters.find({}, None, ["/usr/bin/python3", "/usr/bin/python3.11"])[0]
    folder, tiny = os.path.join(test.work, "large"), os.path.join(test.work, "tiny")
    os.makedirs(folder)
    os.makedirs(tiny)
    mounted = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tiny], stderr=subprocess.DEVNULL).returncode == 0
    if not mounted:
        print("not covered: a full index folder: no tmpfs can be mounted here")
    try:
        shutil.copy(os.path.join(cores.PROGRAMS, "standstill.py"), folder)
        with open(os.path.join(folder, "large.py"), "w") as file:
            file.write(_LARGE)
        core, _ = cores.take_at_rest(interpreter, ["large.py"], "kernel", folder, os.path.join(folder, "truth.json"))
        output = os.path.join(test.work, "large.jsonl")
        few = [os.path.join(folder, "small.%d" % number) for number in range(3)]
        for line, path in zip(lines, few):  # compressed they would be unpacked into the index's folder, and that is full
            subprocess.run(["zstd", "-q", "-d", line["path"], "-o", path], check=True)
        began = time.monotonic()
        test.batch(output, few[0], core, *few[1:], "--max-memory", "128M", "-j", "1", cache=tiny)
        made = read(output)
        its = [line for line in made if line["path"] == core]
        print("large     %d MB, --max-memory 128M: %s, after %.1f s; the others: %s" %
              (os.path.getsize(core) / 1e6, its and (its[0].get("error") or {}).get("message"), time.monotonic() - began,
               [line["exit"] for line in made if line["path"] != core]), flush=True)
        if len(made) != 4:
            test.fail("large: %d lines of 4 cores" % len(made))
        if mounted and (not its or (its[0].get("error") or {}).get("code") not in ("too-little-memory", "out-of-memory")):
            test.fail("large: its line is %s" % json.dumps(its)[:500])
    except cores.NoCore as reason:
        test.fail("large: %s" % reason)
    finally:
        if mounted:
            subprocess.run(["umount", "-l", tiny], check=True)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
