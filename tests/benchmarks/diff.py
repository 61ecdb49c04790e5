#!/usr/bin/env python3
"""What `diff` of two cores costs, beside `types` of both: CPU seconds, in one run.

    diff.py --heapsift build/release/heapsift [--objects 10000000] [--aged] [--runs 3] [--work DIR]

Aims: cold, index and all, at most twice both `types` (without an index); warm at most a fifth of them.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heapsift", required=True)
    parser.add_argument("--objects", type=int, default=10000000)
    parser.add_argument("--aged", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work")
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="heapsift-diff-", dir="/var/tmp")
    try:
        cores = [core_of(work, name, count, options.aged)
                 for name, count in (("one", options.objects), ("two", options.objects * 11 // 10))]
        measure(os.path.abspath(options.heapsift), cores, work, options.runs)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)


def core_of(work, name, objects, aged):
    folder = os.path.join(work, name)
    core = os.path.join(folder, "kept")
    if not os.path.exists(core):
        os.makedirs(folder, exist_ok=True)
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        subprocess.run([sys.executable, os.path.join(HERE, "mixed_heap.py"), str(objects), "aged" if aged else "in-order"], cwd=folder,
                       env=dict(os.environ, HEAPSIFT_CORE_BY="kernel"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        left = [one for one in os.listdir(folder) if one.startswith("core")]
        if not left:
            sys.exit("no core was left in " + folder)
        os.rename(os.path.join(folder, left[0]), core)
    return core


def measure(heapsift, cores, work, runs):
    best = {}
    for _ in range(runs):
        cache = os.path.join(work, "cache")
        shutil.rmtree(cache, ignore_errors=True)
        environment = dict(os.environ, HEAPSIFT_STATE="off", XDG_CACHE_HOME=cache, HEAPSIFT_INDEX_LIMIT="20G")
        for name, arguments in (("types of both", None), ("diff, cold", ["diff", *cores]), ("diff, warm", ["diff", *cores])):
            if arguments is None:
                spent = sum(cpu_of([heapsift, "types", core, "-j1", "--no-index"], environment) for core in cores)
            else:
                spent = cpu_of([heapsift, *arguments, "-j1"], environment)
            best[name] = min(spent, best.get(name, spent))
    for name, spent in best.items():
        print("%-14s %7.2f s of CPU, %.2f times both types" % (name, spent, spent / best["types of both"]))


def cpu_of(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
