#!/usr/bin/env python3
"""The page about many cores: `report LINES`, from the lines of real cores and of made-up days and hosts, opened in a browser.

    fleet_report.py --heapsift build/release/heapsift [--interpreter PATH …] [--keep]

Some cores of programs with known causes are taken, and `batch` asked for their lines. These are told again as other hosts and other days would have
left them, so that it is known what the page must say: how many cores each cause has, when, where, with which version. The page is opened in three
widths, light and dark, printed, without its script; its tables are sorted and filtered; the report of an example that lies beside it is opened through
its link. Hostile lines (cut, no JSON, other schemas, names of 10,000 letters, tags) are counted and stay text; with --redact nothing of what was
stored is in the file. A hundred thousand lines, and lines that were made to take most, are read in a bounded time and memory.
"""

import datetime
import json
import os
import random
import re
import subprocess
import sys
import time

import browser
import fleet_cores
import harness
import report

CAUSES = ("closures", "queue", "lru_cache")
_MANY = 100_000
_HOSTILE = "</script><img src=x onerror=\"window.broken=1\">&'\x1b[2J\u202e"


class Test:
    def __init__(self, heapsift, work):
        self.heapsift, self.work, self.failures = heapsift, work, []
        self.environment = dict(os.environ, HEAPSIFT_STATE="off", XDG_CACHE_HOME=os.path.join(work, "cache"))

    def check(self, right, what):
        if not right:
            self.failures.append(what)

    def run(self, *arguments, ok=(0,), cwd=None):
        done = subprocess.run([self.heapsift, *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=900, cwd=cwd)
        self.check(done.returncode in ok, "%s: exit %d: %s" % (" ".join(arguments)[:120], done.returncode, done.stderr.strip()[-300:]))
        return done

    def page(self, name, *lines, ok=(0,), **more):
        """(the page's path, the answer of --json)"""
        path = os.path.join(self.work, name)
        done = self.run("report", "-f", "-o", path, *lines, "--json", *more.get("options", ()), ok=ok)
        return path, json.loads(done.stdout or "{}")


def main():
    parser = harness.parser("opens pages about many cores", kinds=("kernel",))
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, kinds, failures = harness.begin(options, "fleet-report")
    if not kinds or not found:
        return harness.end(failures)
    test = Test(options.heapsift, work)
    if not browser.path():
        print("not covered: the pages in a browser, since chromium is not installed")
    folder = os.path.join(work, "cores")
    os.makedirs(folder)
    own = [one for one in found if not one.debug and not one.tree]
    taken, failed = fleet_cores.take_all([(own[0], cause, number) for number, cause in enumerate(CAUSES)], folder)
    failures += failed
    if len(taken) == len(CAUSES):
        for name, run in (("page", fleet_page), ("hostile", hostile), ("redacted", redacted), ("many", many)):
            began, before = time.monotonic(), len(test.failures)
            try:
                run(test, folder)
            except (browser.BrowserError, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as reason:
                test.failures.append("%s: %s: %s" % (name, type(reason).__name__, reason))
            print("%-10s %s, %.1f s" % (name, "right" if len(test.failures) == before else "WRONG", time.monotonic() - began), flush=True)
    return harness.end(failures + test.failures)


def real_lines(test, folder):
    """By cause."""
    path = os.path.join(test.work, "real.jsonl")
    if not os.path.exists(path):
        test.run("batch", folder, "-q", "-o", path)
    with open(path, encoding="utf-8") as file:
        return {os.path.basename(line["path"]).split(".")[0]: line for line in map(json.loads, file)}


def made_up(lines):
    """What other days and hosts left: 60 cores of closures in a month on five hosts, 20 of a queue within two days on one, of a new version alone."""
    made, newest = list(lines.values()), datetime.datetime(2026, 11, 28, 12)

    def add(line, days, host, version, interpreter):
        stored = newest - datetime.timedelta(days=days)
        made.append({**line, "identity": "%032x" % (1000 + len(made)), "host": host, "stored": stored.strftime("%Y-%m-%dT%H:%M:%SZ"), "packages": {"shop": version},
                     "interpreter": interpreter})
    for line in made:
        line.update(stored="2026-11-27T00:00:00Z" if line is lines["queue"] else "2026-11-01T00:00:00Z", host="origin")
    for number in range(60):
        add(lines["closures"], 0.5 * number, "web%d" % (number % 5), "2.3.0", "CPython 3.%d.1" % (8 + number % 4))
    for number in range(20):
        add(lines["queue"], 0.1 * number, "db7", "2.4.0", "CPython 3.11.2")
    return made


def write(path, lines, mode="w"):
    with open(path, mode, encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def fleet_page(test, folder):
    lines = real_lines(test, folder)
    made = made_up(lines)
    first, second = write(os.path.join(test.work, "first.jsonl"), made[:40]), write(os.path.join(test.work, "second.jsonl"), made[40:] + made[:5])
    subprocess.run(["zstd", "-q", "-f", second], check=True)
    # The report of one example lies beside its core.
    example = lines["lru_cache"]["path"]
    test.run("report", example, "-o", example + ".html")
    page, answer = test.page("fleet.html", first, second + ".zst")
    data = answer["data"]
    expected = {"cores": 83, "analysed": 83, "in_part": 0, "failed": 0, "causes": 3, "hosts": 7}
    test.check({key: data[key] for key in expected} == expected and data["lines"] == {"read": 88, "repeated": 5, "skipped": 0}, "page: it counts %s" % data)
    facts = os.stat(page)
    test.check(facts.st_mode & 0o77 == 0 and facts.st_size < 1 << 20, "page: %d bytes, mode %o" % (facts.st_size, facts.st_mode))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for fault in report.faults_of_text(text):
        test.failures.append("page: " + fault)
    test.check(os.path.basename(test.page("fleet2.html", second + ".zst", first)[0]) == "fleet2.html", "page: in another order")
    if not browser.path():
        return
    with browser.Browser() as opened:
        in_browser(test, opened, page, lines)


def rows_of(opened, section, number=0):
    return opened.run("[...[...document.querySelectorAll('#%s table')][%d].tBodies[0].rows].filter(r => !r.hidden).map(r => [...r.cells].map(c => c.textContent))" % (section, number))


def in_browser(test, opened, page, lines):
    closures, queue = lines["closures"]["signature"], lines["queue"]["signature"]
    for width in (360, 820, 1440):
        for dark in (False, True):
            opened.show(width, dark=dark)
            opened.open(page)
            wide = opened.run("document.documentElement.scrollWidth")
            test.check(wide <= width, "browser: %d pixels wide in a window of %d" % (wide, width))
            test.check(opened.run("getComputedStyle(document.body).backgroundColor") == ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)"), "browser: dark and light are the same")
            with open("%s.%d.%s.png" % (page[:-5], width, "dark" if dark else "light"), "wb") as file:
                file.write(opened.picture())
    opened.show(1200)
    opened.open(page)
    for fault in report.faults_of_structure(opened, "fleet"):
        test.failures.append("browser: " + fault)
    head = opened.run("document.querySelector('main').textContent.slice(0, 1500)")
    for said in ("83 cores on 7 hosts", "61 of 83 cores have one cause: " + closures, "New in the last seven days", queue):
        test.check(said in head, "browser: it does not begin with %r" % said)
    causes = rows_of(opened, "causes")
    test.check([(row[0], row[-1]) for row in causes[:2]] == [("61", closures), ("21", queue)], "browser: causes: %s" % causes)
    test.check(causes[1][4:6] == ["2026-11-26", "2026-11-28"], "browser: first and last: %s" % causes[1])
    days = rows_of(opened, "time")
    heads = opened.run("[...document.querySelectorAll('#time th')].map(h => h.textContent)")
    test.check(dict(zip(heads, days[1])).get("11-28") is not None and sum(map(int, days[1][2:])) == 21, "browser: over time: %s %s" % (heads, days[1]))
    test.check(opened.run("document.querySelectorAll('svg.time rect').length") >= 30, "browser: the picture has hardly a bar")
    versions = rows_of(opened, "versions")
    test.check(len(versions) == 3 and "15" in versions[0], "browser: versions: %s" % versions)
    packages = rows_of(opened, "versions", 1)
    test.check(any(row[0] == "20" and row[-2:] == ["shop 2.4.0", queue] for row in packages), "browser: packages: %s" % packages)
    hosts = rows_of(opened, "hosts")
    test.check(hosts[0][0] == "20" and "db7" in hosts[0] and len(hosts) == 7, "browser: hosts: %s" % hosts)
    differ = rows_of(opened, "hosts", 1)
    test.check([(row[2], row[3]) for row in differ] == [("db7", queue)], "browser: hosts that differ: %s" % differ)
    # Sorted by hosts, and filtered.
    opened.run("[...document.querySelectorAll('#causes th button')].find(b => b.textContent === 'hosts').click()")
    down = [int(row[3]) for row in rows_of(opened, "causes")]
    opened.run("[...document.querySelectorAll('#causes th button')].find(b => b.textContent === 'hosts').click()")
    test.check(down == sorted(down, reverse=True) and [int(row[3]) for row in rows_of(opened, "causes")] == sorted(down), "browser: sorted by hosts: %s" % down)
    pdf = opened.pdf()
    test.check(pdf.startswith(b"%PDF") and len(pdf) > 20000, "browser: printed it is %d bytes" % len(pdf))
    link = opened.run("document.querySelector('#examples a') && document.querySelector('#examples a').href")
    test.check(bool(link) and link.endswith(".core.zst.html"), "browser: the link to a report is %r" % link)
    commands = opened.run("[...document.querySelectorAll('#examples code')].map(c => c.textContent).filter(c => c.startsWith('heapsift report'))")
    test.check(len(commands) == 2, "browser: commands for the other reports: %s" % commands)
    own = "file://" + page
    test.check(all(url.startswith((own, "about:")) for url in opened.requests), "browser: loads %s" % opened.requests[:3])
    if link:
        opened.open(link[len("file://"):])
        test.check(opened.run("document.querySelector('#suspects') !== null"), "browser: what the link leads to is no report")
    opened.show(1200, script=False)
    opened.open(page)
    for section, least in (("causes", 3), ("time", 3), ("versions", 3), ("hosts", 7)):
        test.check(len(rows_of(opened, section)) >= least, "browser: without its script the page has no rows of " + section)
    test.check(opened.run("document.querySelector('svg.time').getBoundingClientRect().height") > 100, "browser: without its script the picture is not seen")
    test.check(not opened.complaints, "browser: on the console: %s" % opened.complaints[:3])


def hostile(test, folder):
    line = real_lines(test, folder)["closures"]
    names = {"signature": _HOSTILE, "host": _HOSTILE, "interpreter": _HOSTILE, "path": "/" + _HOSTILE, "headline": _HOSTILE, "packages": {_HOSTILE: _HOSTILE},
             "suspects": [{"kind": _HOSTILE, "cause": _HOSTILE, "fix": _HOSTILE}], "signal": _HOSTILE}
    good = [{**line, "identity": "1"}, {**line, **names, "identity": "2"}, {**line, "identity": "3", "signature": "s" * 10_000, "host": "h" * 10_000, "path": "/p" * 10_000},
            {**line, "identity": "4", "exit": 1, "error": {"code": _HOSTILE, "message": _HOSTILE}}, {**line, "identity": "5", "in_use": 2 ** 64 - 1, "stored": "0000-99-99"},
            {"schema": "heapsift.batch/1"}, {**line, "identity": "6", "suspects": {"a": [1]}, "packages": [1], "exit": 2 ** 70, "pid": None, "stored": 7}]
    path = os.path.join(test.work, "hostile.jsonl")
    write(path, good)
    with open(path, "ab") as file:
        file.write(b"\n\n\x00\xff\xfe\n" + b"[" * 100_000 + b"\n{}\n" + b'{"schema":"heapsift.batch/2"}\n' + b"x" * (17 << 20) + b"\n" + json.dumps(line).encode()[:-20])
    page, answer = test.page("hostile.html", path, ok=(3,))
    test.check(answer["data"]["lines"] == {"read": 7, "repeated": 0, "skipped": 6} and not answer["complete"], "hostile: %s" % answer["data"])
    test.check(answer["data"]["failed"] == 1, "hostile: %s" % answer["data"])
    with open(page, encoding="utf-8") as file:
        text = file.read()
    for fault in report.faults_of_text(text):
        test.failures.append("hostile: " + fault)
    test.check("s" * 700 not in text, "hostile: a name of 10,000 letters stands there in full")
    if browser.path():
        with browser.Browser() as opened:
            opened.show(360)
            opened.open(page)
            test.check(not opened.run("window.broken !== undefined || document.querySelectorAll('img').length > 0"), "hostile: a name became part of the page")
            wide = opened.run("document.documentElement.scrollWidth")
            test.check(wide <= 360, "hostile: %d pixels wide" % wide)
            test.check(not opened.complaints, "hostile: on the console: %s" % opened.complaints[:3])
    # None of a batch's, and cut at every place of a line.
    nothing = write(os.path.join(test.work, "nothing.jsonl"), [{"schema": "heapsift.overview/1"}])
    test.check("no-lines" in test.run("report", nothing, "-f", "-o", page, "--json", ok=(1,)).stdout, "hostile: lines of an overview")
    whole = (json.dumps(line) + "\n").encode()
    for at in random.Random(7).sample(range(1, len(whole)), 25):
        cut = os.path.join(test.work, "cut.jsonl")
        with open(cut, "wb") as file:
            file.write(whole + whole[:at])
        answer = test.page("cut.html", cut)[1]
        test.check(answer["data"]["cores"] == 1, "hostile: cut at %d: %s" % (at, answer["data"]))


def redacted(test, folder):
    lines = []
    for number, line in enumerate(real_lines(test, folder).values()):
        lines.append({**line, "host": "s3cret-host", "path": "/s3cret/core.%d" % number, "signature": re.sub(r"^[^;]*", "s3cret.py", line["signature"]), "headline": "s3cret",
                      "command": "s3cret"})
    lines.append({**lines[0], "identity": "9", "exit": 1, "error": {"code": "not-a-core", "message": "/s3cret folder/core.9: no core"}, "path": "/s3cret folder/core.9"})
    page, _ = test.page("redacted.html", write(os.path.join(test.work, "s3cret.jsonl"), lines), options=("--redact",))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    found = re.search(".{0,60}s3cret.{0,40}", text)
    test.check(not found, "redacted: the page has %r" % (found and found.group(0)))
    test.check(test.work not in text and folder not in text, "redacted: the page names a folder")


def many(test, folder):
    """Time and memory, of lines as they are, and of those that were made to take most: a cause, a host and a package of its own each."""
    line = next(iter(real_lines(test, folder).values()))
    for unneeded in ("overview", "core"):
        line.pop(unneeded, None)
    chance = random.Random(1)
    start = datetime.datetime(2026, 11, 1)
    kinds = {"usual": lambda i: {"signature": "app.py; kind%d; x" % (chance.random() ** 2 * 30), "host": "host%d" % chance.randrange(1000), "packages": {"shop": "2.%d" % chance.randrange(5)}},
             "most": lambda i: {"signature": "app.py; kind; %d %s" % (i, "x" * 400), "host": "host%d" % i, "packages": {"p%d" % i: "1.%d" % i, "shop": "%d" % i}}}
    for name, make in kinds.items():
        path = os.path.join(test.work, "many-%s.jsonl" % name)
        with open(path, "w") as file:
            for number in range(_MANY):
                stored = start + datetime.timedelta(minutes=chance.randrange(28 * 24 * 60))
                file.write(json.dumps({**line, "identity": "%032x" % number, "stored": stored.strftime("%Y-%m-%dT%H:%M:%SZ"), **make(number)}) + "\n")
        began = time.monotonic()
        page = os.path.join(test.work, "many.html")
        process = subprocess.Popen([test.heapsift, "report", path, "-f", "-q", "-o", page], env=test.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss << 10
        print("           %s: %d lines of %.0f MB: %.1f s, %.0f MB of memory, a page of %.1f MB" %
              (name, _MANY, os.path.getsize(path) / 1e6, seconds, peak / 1e6, os.path.getsize(page) / 1e6), flush=True)
        test.check(process.returncode == 0 and seconds < 60 and peak < (100 << 20 if name == "usual" else 400 << 20) and os.path.getsize(page) < 3 << 20,
                   "many: %s: exit %d, %.1f s, %.0f MB, a page of %d bytes" % (name, process.returncode, seconds, peak / 1e6, os.path.getsize(page)))
        os.remove(path)


if __name__ == "__main__":
    sys.exit(main())
