#!/usr/bin/env python3
"""Pages of `report` about real cores, opened in a browser; and the pictures of `export`, `why` and `cycles`.

    report.py --heapsift build/dev/heapsift [--interpreter PATH …] [--keep] [--cases NAME …]

Each page is opened in Debian's Chromium without a window: in three widths, light and dark, printed, without its script, and driven by keys. Nothing
may be loaded but the page, nothing complained of on the console, nothing wider than the window. It must say what the commands say: the first
rows of its tables, and for each suspect its cause, its fix, the line of the program, and the path. `hostile` has names that are made to break a
page; with --redact nothing of what it stored may be in the file. Where Chromium is not installed, what it would show is not covered: the
test says so, and reads the files alone. --keep leaves the pages, and pictures of them.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

import browser
import cores
import harness

CASES = ("mixed", "tasks", "views", "cycles", "singleton", "method", "http", "sessions", "hostile", "cut")
_HUNTS = ("mixed", "tasks", "views", "cycles", "singleton", "method", "http")
_LARGEST_PAGE, _LARGEST_PICTURE = 3 << 20, 200 << 10
_WIDTHS = (360, 820, 1440)


def main():
    parser = harness.parser("opens reports in a browser", kinds=("kernel",))
    parser.add_argument("--cases", nargs="*", default=CASES, choices=CASES)
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    work, found, _, failures = harness.begin(options, "report")
    if not browser.path():
        print("not covered: the pages in a browser, since chromium is not installed")
    for interpreter in [one for one in found if not one.debug]:
        for case in options.cases:
            if case == "views" and not harness.has_pandas(interpreter):
                continue
            began = time.monotonic()
            faults = run_one(options, interpreter, case, work)
            print("%-18s %-10s %s, %.1f s" % (interpreter.name, case, "right" if not faults else "WRONG", time.monotonic() - began), flush=True)
            failures += ["%s %s: %s" % (interpreter.name, case, fault) for fault in faults]
    return harness.end(failures)


def run_one(options, interpreter, case, work):
    folder = harness.folder_for(interpreter, work, "heapsift-report-%s-" % case)
    try:
        for path in glob.glob(cores.PROGRAMS + "/*.py"):
            shutil.copy(path, folder)
        taken = take(interpreter, case, folder)
        asked = Asked(options.heapsift, interpreter, folder)
        return list(faults_of_case(asked, case, taken, folder))
    except (cores.NoCore, browser.BrowserError, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as reason:
        return ["%s: %s" % (type(reason).__name__, reason)]
    finally:
        harness.leave(folder, options.keep)


def take(interpreter, case, folder):
    """The cores, the older one first."""
    if case == "sessions":
        process = cores.start(interpreter, ["growth.py", case, "."], folder)
        if process.wait(timeout=300) != 0:
            raise cores.NoCore("growth.py: " + cores.last_words(folder))
        return [glob.glob(os.path.join(folder, number, "core*"))[0] for number in "12"]
    if case == "hostile":
        taken = []
        for count in ("3", "40"):
            process = cores.start(interpreter, ["hostile.py", count, "s3cret-argument"], folder)
            process.wait(timeout=120)
            path = os.path.join(folder, "s3cret folder " + count)
            os.makedirs(path)
            core = [one for one in glob.glob(os.path.join(folder, "core*")) if os.path.isfile(one)]
            if not core:
                raise cores.NoCore("hostile.py: " + cores.last_words(folder))
            taken.append(os.path.join(path, "core." + count))
            os.rename(core[0], taken[-1])
        return taken
    program = "mixed" if case == "cut" else case
    core, _ = cores.take_at_rest(interpreter, ["hunts.py", program], "kernel", folder, os.path.join(folder, "truth.json"))
    if case == "cut":
        os.truncate(core, os.stat(core).st_size * 9 // 10)
    named = os.path.join(folder, "core." + case)
    os.rename(core, named)
    return [named]


class Asked:
    def __init__(self, heapsift, interpreter, folder):
        self.heapsift, self.options = heapsift, ["--sysroot", interpreter.tree] if interpreter.tree else []
        self.environment = dict(os.environ, HEAPSIFT_STATE="off", XDG_CACHE_HOME=os.path.join(folder, "cache"))

    def run(self, *arguments):
        return subprocess.run([self.heapsift, *arguments, *self.options], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=600)

    def data(self, *arguments):
        return json.loads(self.run(*arguments, "--json").stdout)["data"]


def faults_of_case(asked, case, taken, folder):
    page = os.path.join(folder, "heap.html")
    done = asked.run("report", "-o", page, *taken)
    if done.returncode != (3 if case == "cut" else 0):
        yield "exit %d: %s" % (done.returncode, done.stderr.strip().splitlines()[-1:])
        return
    facts = os.stat(page)
    if facts.st_size > _LARGEST_PAGE or facts.st_mode & 0o77:
        yield "the page has %d bytes, mode %o" % (facts.st_size, facts.st_mode)
    if asked.run("report", "-o", page, *taken).returncode != 2:
        yield "a page that exists was overwritten"
    with open(page, encoding="utf-8") as file:
        text = file.read()
    yield from faults_of_text(text)
    if case in ("mixed", "sessions"):
        again = os.path.join(folder, "again.html")
        asked.run("report", "-o", again, "--no-index", "-j", "1", *taken)
        with open(again, encoding="utf-8") as file:
            if file.read() != text:
                yield "the page is another without the index"
    if browser.path():
        with browser.Browser() as opened:
            yield from faults_in_browser(opened, asked, case, taken[-1], page)
    if case == "hostile":
        yield from faults_of_redacted(asked, taken, folder)
    if case in ("mixed", "cycles", "hostile"):
        yield from faults_of_pictures(asked, case, taken[-1], folder)


def faults_of_text(text):
    if not text.startswith("<!DOCTYPE html>") or not text.rstrip().endswith("</html>"):
        yield "the page is not whole"
    for loads in (r"<(img|link|iframe|object|embed|base)\b", r"<[^>]*\ssrc=", r"<[a-z][^<>]*\son[a-z]+\s*=\s*[\"']?[a-z]+\(", r"<[a-z][^<>]*\sstyle=", r"@[A-Z_]+@"):
        if found := re.search(loads, re.sub(r"(?s)<script>.*?</script>", "", text)):
            yield "the page has %r" % found.group(0)[:80]
    if re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text):
        yield "a character that is not seen stands as it is"


# --- in the browser

def faults_in_browser(opened, asked, case, core, page):
    for width in _WIDTHS:
        for dark in (False, True):
            opened.show(width, dark=dark)
            opened.open(page)
            wide = opened.run("document.documentElement.scrollWidth")
            if wide > width:
                yield "%d pixels wide in a window of %d" % (wide, width)
            if opened.run("getComputedStyle(document.body).backgroundColor") != ("rgb(20, 24, 29)" if dark else "rgb(255, 255, 255)"):
                yield "dark and light are the same"
            if opened.run("document.querySelectorAll('#picture g').length") < 10:
                yield "the picture has hardly an area, %d wide" % width
            with open("%s.%d.%s.png" % (page[:-5], width, "dark" if dark else "light"), "wb") as file:
                file.write(opened.picture())
    opened.show(1200)
    opened.open(page)
    yield from faults_of_structure(opened, case)
    yield from faults_of_answers(opened, asked, core)
    yield from faults_of_tables(opened)
    yield from faults_of_keys(opened)
    pdf = opened.pdf()
    if not pdf.startswith(b"%PDF") or len(pdf) < 20000:
        yield "printed it is %d bytes" % len(pdf)
    with open(page[:-5] + ".pdf", "wb") as file:
        file.write(pdf)
    if case == "hostile" and opened.run("window.broken !== undefined || document.querySelectorAll('img,b:empty').length > 0"):
        yield "a name of the core became part of the page"
    yield from ("on the console: %s" % line for line in opened.complaints)
    own = "file://" + page
    yield from ("loads %s" % url for url in opened.requests if url.split("#")[0] != own and not own.startswith(url) and not url.startswith("about:") and url != own.replace(" ", "%20"))
    opened.show(1200, script=False)
    opened.open(page)
    for what in ("#types table tbody tr", "#picture svg g", "#suspects"):
        if not opened.run("document.querySelectorAll(%r).length" % what):
            yield "without its script the page has no %s" % what
    if opened.run("document.querySelector('#picture').getBoundingClientRect().height") < 40:
        yield "without its script the picture is not seen"


def faults_of_structure(opened, case):
    counts = opened.run("""({h1: document.querySelectorAll('h1').length, main: document.querySelectorAll('main').length,
        nav: document.querySelectorAll('nav[aria-label]').length, lang: document.documentElement.lang,
        unnamed: [...document.querySelectorAll('section')].filter(s => !document.getElementById(s.getAttribute('aria-labelledby'))).length,
        tables: [...document.querySelectorAll('table')].filter(t => !t.caption || !t.caption.textContent).length,
        fields: [...document.querySelectorAll('input,select')].filter(e => !e.getAttribute('aria-label')).length,
        links: [...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.hash)).length,
        ids: [...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i).length})""")
    if counts != {"h1": 1, "main": 1, "nav": 1, "lang": "en", "unnamed": 0, "tables": 0, "fields": 0, "links": 0, "ids": 0}:
        yield "landmarks, headings, captions: %s" % counts
    if case in ("sessions", "hostile") and not opened.run("document.querySelector('#growth') !== null"):
        yield "two cores, and nothing of what grew"
    if case == "cut" and "cut" not in opened.run("document.querySelector('main').textContent.slice(0, 4000)"):
        yield "it does not say that the core is cut"


def faults_of_answers(opened, asked, core):
    """Against the same questions in a terminal."""
    types = asked.data("types", core, "-n", "3")["types"]
    rows = opened.run("[...document.querySelectorAll('#types tbody tr')].slice(0, 3).map(r => [r.cells[0].dataset.v, r.cells[r.cells.length - 1].textContent])")
    for row, (count, name) in zip(types, rows):
        if int(count) != row["count"] or name[:20] != row["name"][:20] and "\\" not in name:
            yield "types: %s %s, not %d %s" % (count, name, row["count"], row["name"])
    text = " ".join(opened.run("document.querySelector('#suspects').textContent").split())
    for suspect in asked.data("suspects", core)["suspects"]:
        if suspect["object"] and suspect["object"]["address"] not in text:
            yield "the page has no path to %s" % suspect["object"]["address"]
        for said in (suspect["fix"], *("%s:%d" % (one["file"], one["line"]) for one in suspect["used_in"][:3])):
            if said and " ".join(said.split()) not in text:
                yield "the page does not say %r" % said


def faults_of_tables(opened):
    opened.run("document.querySelector('#types thead th button').click()")
    down = opened.run("[...document.querySelectorAll('#types tbody tr')].map(r => Number(r.cells[0].dataset.v))")
    opened.run("document.querySelector('#types thead th button').click()")
    up = opened.run("[...document.querySelectorAll('#types tbody tr')].map(r => Number(r.cells[0].dataset.v))")
    if down != sorted(down, reverse=True) or up != sorted(down):
        yield "a table is not sorted by its first column"
    # What goes on with a row stays below it.
    below = "[...document.querySelectorAll('#holders tbody tr')].map((r, i, all) => r.cells[0].textContent ? 0 : r.textContent + '<' + all[i - 1].textContent).filter(Boolean).sort().join('|')"
    before = opened.run(below)
    opened.run("document.querySelector('#holders thead th button').click()")
    if opened.run(below) != before:
        yield "a sorted table tears apart what belongs together"
    opened.run("document.querySelector('#types input[type=search]').focus()")
    opened.type("dict")
    shown = opened.run("[...document.querySelectorAll('#types tbody tr')].filter(r => !r.hidden).map(r => r.textContent)")
    if not shown or len(shown) == len(down) or any("dict" not in one.lower() for one in shown):
        yield "a filter for dict shows %d of %d rows" % (len(shown), len(down))


def faults_of_keys(opened):
    zoomed = "[...document.querySelectorAll('.crumbs button')].map(b => b.textContent)"
    focused = "document.activeElement.getAttribute('aria-label') || ''"
    opened.run("document.querySelector('#picture g[tabindex=\"0\"]').focus()")
    top = opened.run(focused)
    opened.press("ArrowDown")
    below = opened.run(focused)
    opened.press("ArrowRight")
    beside = opened.run(focused)
    opened.press("ArrowLeft")
    if not top or len({top, below, beside}) != 3 or opened.run(focused) != below:
        yield "arrow keys lead from %r to %r, %r" % (top, below, beside)
    opened.press("Enter", "\r")
    into = opened.run(zoomed)
    opened.press("Escape")
    if len(into) != 2 or len(opened.run(zoomed)) != 1:
        yield "Enter zooms to %s, Escape to %s" % (into, opened.run(zoomed))
    opened.run("document.querySelector('#search').focus()")
    opened.type("dict")
    found = opened.run("[document.querySelectorAll('#picture g.hit').length, document.querySelectorAll('.hits button').length]")
    opened.press("Enter", "\r")
    if not all(found) or not opened.run("document.querySelector('#about').textContent.length > 20"):
        yield "a search for dict finds %s areas" % found
    for view in ("icicle", "treemap"):
        for tree in ("types", "objects"):
            opened.run("""for (const [i, value] of [[0, %r], [1, %r]]) {
                const select = document.querySelectorAll('.tools select')[i];
                select.value = value;
                select.dispatchEvent(new Event('change'));
            }""" % (view, tree))
            outside = opened.run("""(() => { const box = document.querySelector('#picture svg').viewBox.baseVal;
                return [...document.querySelectorAll('#picture rect')].filter(r => r.x.baseVal.value < -1 || r.y.baseVal.value < -1 ||
                    r.x.baseVal.value + r.width.baseVal.value > box.width + 1 || r.y.baseVal.value + r.height.baseVal.value > box.height + 1).length; })()""")
            if outside or opened.run("document.querySelectorAll('#picture g').length") < 5:
                yield "%s of %s: %d areas lie outside of it" % (view, tree, outside)


# --- files

def faults_of_redacted(asked, taken, folder):
    for name, arguments in {"report.html": ("report",), "heap.svg": ("export",), "treemap.svg": ("export", "--treemap"), "heap.dot": ("export",)}.items():
        path = os.path.join(folder, "redacted-" + name)
        done = asked.run(*arguments, "--redact", "-o", path, *(taken if arguments[0] == "report" else taken[-1:]))
        if done.returncode:
            yield "%s --redact: exit %d: %s" % (" ".join(arguments), done.returncode, done.stderr.strip()[-200:])
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if found := re.search(".{0,60}s3cret.{0,40}", text):
            yield "a redacted %s has %r" % (name, found.group(0))
        if os.path.basename(folder) in text:
            yield "a redacted %s names a folder" % name


def faults_of_pictures(asked, case, core, folder):
    pictures = [("icicle.svg", ("export",)), ("treemap.svg", ("export", "--treemap"))]
    if suspects := [one for one in asked.data("suspects", core)["suspects"] if one["object"]]:
        pictures.append(("why.svg", ("why", suspects[0]["object"]["address"])))
    if asked.data("cycles", core)["total"]["cycles"]:
        pictures.append(("cycle.svg", ("cycles", "--id", "1")))
    for name, arguments in pictures:
        path = os.path.join(folder, name)
        done = asked.run(*arguments, "-o" if arguments[0] == "export" else "--svg", path, core)
        if done.returncode:
            yield "%s: exit %d: %s" % (name, done.returncode, done.stderr.strip()[-200:])
            continue
        if os.stat(path).st_size > _LARGEST_PICTURE:
            yield "%s has %d bytes" % (name, os.stat(path).st_size)
        shapes = [one.tag.rpartition("}")[2] for one in xml.etree.ElementTree.parse(path).iter()]
        if "script" in shapes or shapes.count("rect") < (2 if name in ("why.svg", "cycle.svg") else 10) or "text" not in shapes:
            yield "%s has %s" % (name, {shape: shapes.count(shape) for shape in shapes})
        if browser.path():
            with browser.Browser() as opened:
                opened.show(1200)
                opened.open(path)
                yield from ("%s: on the console: %s" % (name, line) for line in opened.complaints)
    dot = os.path.join(folder, "heap.dot")
    if asked.run("export", "-o", dot, core).returncode:
        yield "heap.dot is not written"
    elif shutil.which("dot") and subprocess.run(["dot", "-Tsvg", "-o", dot + ".svg", dot], stderr=subprocess.DEVNULL).returncode:
        yield "Graphviz does not read heap.dot"


if __name__ == "__main__":
    sys.exit(main())
