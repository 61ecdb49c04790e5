#!/usr/bin/env python3
"""The Python module, from its wheel, on a core of this Python: answers, frames, errors, the magic, an installation.

    tests/beside/python_module.py --heapsift build/release/heapsift --build build/release

The wheel is made anew into a folder of the test's own. The module is imported from it as it is (a wheel is a zip), with
the program that was built; `Installed` puts it into a venv without a network and runs it there. What needs pandas,
IPython or venv is "not covered" where that is not installed.
"""

import argparse
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from small_core import make_core  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
has_pandas = importlib.util.find_spec("pandas") is not None
has_ipython = importlib.util.find_spec("IPython") is not None
has_venv = importlib.util.find_spec("ensurepip") is not None


def make_wheel(build: Path, program: str, output: Path) -> Path:
    output.mkdir()
    made = subprocess.run([sys.executable, str(SOURCE / "cli/python/make_wheel.py"), "--build", str(build),
                           "--program", program, "--output", str(output)], check=True, stdout=subprocess.PIPE)
    return Path(made.stdout.decode().strip())


class Case(unittest.TestCase):
    """What the tests share: the wheel, the core, and the module."""

    wheel: Path
    core_path: Path
    program: str
    build: Path
    folder: Path

    def setUp(self) -> None:
        import heapsift
        self.heapsift = heapsift
        self.core = heapsift.open(self.core_path)


class Answers(Case):
    """Commands are methods, and say what the program says."""

    def asked(self, *words: str) -> "dict[str, object]":
        done = subprocess.run([self.program, *words, "--json", "--core", str(self.core_path)], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout)["data"]

    def test_a_table_is_a_list_of_dicts(self) -> None:
        rows = self.core.types(sort="memory")
        self.assertIsInstance(rows, list)
        self.assertEqual(list(rows), self.asked("types", "--sort", "memory")["types"])
        self.assertEqual(rows.total["types"], len(rows))
        self.assertFalse(rows.partial)
        self.assertTrue(rows.complete)
        self.assertEqual(rows.core["path"], str(self.core_path))
        self.assertEqual(len(self.core.types(limit=3)), 3)

    def test_options_are_keywords(self) -> None:
        nodes = self.core.objects(type="__main__.Node")
        self.assertEqual(len(nodes), 2000)
        self.assertEqual({row["type"] for row in nodes}, {"__main__.Node"})
        few = self.core.objects(type="__main__.Node", where=["memory>=1", "refcount>0"], limit=5)
        self.assertEqual(len(few), 5)
        self.assertEqual(few.total["count"], 2000)
        self.assertEqual(list(self.core.types(type="__main__.*", sort="count", no_native=True))[0]["name"],
                         "__main__.Node")

    def test_an_address_is_a_number_an_expression_or_an_object(self) -> None:
        by_name = self.core.show("__main__.CACHE")
        self.assertIsInstance(by_name, dict)
        self.assertEqual(by_name["type"], "dict")
        self.assertEqual(self.core.show(int(by_name["address"], 16))["address"], by_name["address"])
        self.assertEqual(self.core.show(by_name)["address"], by_name["address"])
        self.assertEqual(self.core.why("__main__.CACHE[3]")["paths"][0]["expression"], "__main__.CACHE[3]")
        freed = self.core.retained("__main__.CACHE", "__main__.SESSIONS")
        self.assertIn("__main__.Node", [row["name"] for row in freed])

    def test_every_command_answers_as_it_is_declared(self) -> None:
        from heapsift._commands import Commands
        addressed = {"show", "why", "dominators", "retained", "referrers", "referents"}
        for name, method in vars(Commands).items():
            if name.startswith("_") or name in ("export", "report", "diff", "query"):
                continue
            with self.subTest(name):
                answer = getattr(self.core, name)(*(["__main__.CACHE"] if name in addressed else []))
                returns = method.__annotations__["return"]
                kinds = getattr(returns, "__args__", (returns,))
                self.assertIn(type(answer), kinds)
                self.assertTrue(method.__doc__)
        self.assertIsInstance(self.core.why(type="__main__.Node"), self.heapsift.Rows)
        self.assertIsInstance(self.core.memory(regions=True), self.heapsift.Rows)

    def test_query(self) -> None:
        sql = "SELECT name, count, count FROM type_total WHERE name LIKE '__main__.%' ORDER BY count DESC"
        rows = self.core.query(sql, timeout=60)
        self.assertEqual(list(rows[0]), ["name", "count", "count_2"])
        self.assertEqual((rows[0]["name"], rows[0]["count"]), ("__main__.Node", 2000))
        self.assertEqual(rows.data["columns"], ["name", "count", "count"])
        self.assertEqual(len(self.core.query("SELECT address FROM object", limit=3)), 3)
        with self.assertRaises(self.heapsift.UsageError) as raised:
            self.core.query("DELETE FROM object")
        self.assertEqual(raised.exception.code, "read-only")

    def test_diff_and_export(self) -> None:
        grown = self.core.diff(self.heapsift.open(self.core_path))
        self.assertIn("headline", grown.data)
        output = self.folder / "heap.db"
        written = self.core.export(output=output)
        self.assertEqual(written["path"], str(output))
        self.assertTrue(output.stat().st_size > 0)
        page = self.core.report(output=self.folder / "heap.html")
        self.assertIn("suspects", page["sections"])
        self.assertFalse(self.core.diff(output, max_growth="1G").exceeded)
        with self.assertRaises(self.heapsift.UsageError):
            self.core.export(output=output)  # it is there

    def test_batch_and_version(self) -> None:
        lines = self.heapsift.batch(self.core_path, jobs=1)
        self.assertEqual([line["exit"] for line in lines], [0])
        self.assertRegex(self.heapsift.version(), r"^\d+\.\d+\.\d+$")

    def test_the_terminals_core_in_use_is_left_alone(self) -> None:
        state = Path(os.environ["XDG_STATE_HOME"]) / "heapsift"
        self.core.types(limit=1)
        self.assertFalse(state.exists())


class Errors(Case):
    """What is no answer is an exception; an answer in part is none."""

    def test_codes(self) -> None:
        with self.assertRaises(self.heapsift.InputError) as caught:
            self.heapsift.open("/nonexistent/core")
        self.assertEqual(caught.exception.code, "no-such-file")
        with self.assertRaises(self.heapsift.UsageError) as caught:
            self.core.objects(type="no.such.Type")
        self.assertEqual(caught.exception.code, "no-such-type")
        self.assertEqual(caught.exception.exit_code, 2)
        with self.assertRaises(self.heapsift.UsageError) as caught:
            self.core.objects(where="size>>3")
        self.assertTrue(caught.exception.message)
        text = self.folder / "text"
        text.write_text("no core at all")
        with self.assertRaises(self.heapsift.InputError) as caught:
            self.heapsift.open(text).types()
        self.assertEqual(caught.exception.exit_code, 1)
        with self.assertRaises(TypeError):
            self.core.types(colour="always")
        with self.assertRaises(TypeError):
            self.heapsift.open(self.core_path, sysrot="/")

    def test_a_cut_core_is_answered_in_part(self) -> None:
        cut = self.folder / "cut"
        cut.write_bytes(self.core_path.read_bytes()[:self.core_path.stat().st_size * 19 // 20])
        rows = self.heapsift.open(cut, no_index=True).types(sort="memory")
        self.assertTrue(rows.partial)
        self.assertFalse(rows.complete)
        self.assertTrue(rows)
        self.assertIn("core-cut", [warning.code for warning in rows.warnings])

    def test_a_program_that_is_killed_or_missing(self) -> None:
        killed = self.folder / "killed"
        killed.write_text("#!/bin/sh\nkill -9 $$\n")
        killed.chmod(0o755)
        with self.assertRaises(self.heapsift.Error) as caught:
            self.heapsift.open(self.core_path, program=killed).types()
        self.assertEqual((caught.exception.code, caught.exception.exit_code), ("no-answer", -9))
        with self.assertRaises(self.heapsift.Error) as caught:
            self.heapsift.open(self.core_path, program="/nonexistent/heapsift")
        self.assertEqual(caught.exception.code, "no-program")


class Fleets(Case):
    """What `heapsift.fleet` does besides Dask (which tests/real/fleet.py has)."""

    def test_without_dask(self) -> None:
        import unittest.mock
        output = self.folder / "never.jsonl"
        with unittest.mock.patch.dict(sys.modules, {"distributed": None}):
            with self.assertRaises(self.heapsift.Error) as caught:
                self.heapsift.fleet(self.core_path, output=output)
        self.assertEqual(caught.exception.code, "no-dask")
        self.assertFalse(output.exists())
        with self.assertRaises(TypeError):
            self.heapsift.fleet(self.core_path, colour="always")

    def test_a_line_of_its_own_has_the_programs_columns(self) -> None:
        from heapsift._fleet_lines import error_line
        text = self.folder / "no core"
        text.write_text("no core at all")
        line, = self.heapsift.batch(text, brief=True)
        self.assertEqual(list(line), list(error_line("", "", "")))

    def test_a_task_is_the_programs_line(self) -> None:
        from heapsift._fleet import Accident, answer_core
        line = answer_core(str(self.core_path), self.program, ["--brief"], {})
        asked, = self.heapsift.batch(self.core_path, brief=True)
        self.assertEqual({**line, "seconds": 0}, {**asked, "seconds": 0})
        self.assertIsNone(answer_core(str(self.core_path), self.program, ["--brief"], {}, [line["identity"]]))
        self.assertIsNotNone(answer_core(str(self.core_path), self.program, ["--brief"], {}, ["0" * 32]))
        self.assertEqual(answer_core("/nonexistent", self.program, [], {})["error"]["code"], "no-such-file")
        with self.assertRaises(Accident) as caught:
            answer_core("nowhere://core", self.program, [], {})
        self.assertEqual(caught.exception.line["error"]["code"], "not-copied")
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))

    def test_a_file_of_a_folder_that_is_no_core_has_no_line(self) -> None:
        from heapsift._fleet import answer_core
        text, link = self.folder / "text", self.folder / "core.link"
        text.write_text("no core at all")
        link.symlink_to("/nonexistent")
        words = ["--brief", "--only-cores"]
        self.assertIsNone(answer_core(str(text), self.program, words, {}))
        self.assertEqual(answer_core(str(text), self.program, ["--brief"], {})["error"]["code"], "not-a-core")
        self.assertEqual(answer_core(str(link), self.program, words, {})["error"]["code"], "no-such-file")
        self.assertEqual(answer_core(str(self.core_path), self.program, words, {})["exit"], 0)

    def test_errors_are_the_same_in_another_process(self) -> None:
        for kind in (self.heapsift.Error, self.heapsift.InputError, self.heapsift.UsageError):
            error = kind("no-answer", "it said nothing", "try again", 7)
            again = pickle.loads(pickle.dumps(error))
            self.assertIs(type(again), kind)
            self.assertEqual((again.code, again.message, again.hint, again.exit_code, str(again)),
                             (error.code, error.message, error.hint, error.exit_code, str(error)))

    def test_what_a_limit_ended_is_asked_again_with_a_larger_one(self) -> None:
        from heapsift._fleet_lines import is_worth_more, read_answered
        slow = {"schema": "heapsift.batch/1", "path": "a", "identity": "1", "error": {"code": "timed-out"},
                "limits": {"timeout": 60, "max_memory": 1 << 30}}
        large = {**slow, "error": {"code": "out-of-memory"}}
        for line, options, expected in (
                (slow, {}, True), (slow, {"timeout": 60}, False), (slow, {"timeout": 61}, True), (slow, {"timeout": 0}, True),
                (slow, {"timeout": 60, "max_memory": "9G"}, False), (large, {}, True), (large, {"max_memory": "1G"}, False),
                (large, {"max_memory": 1 << 30}, False), (large, {"max_memory": "1025M"}, True),
                (large, {"max_memory": "odd"}, False), ({**slow, "limits": None}, {}, False),
                ({**slow, "error": {"code": "killed"}}, {}, True), ({**slow, "error": None}, {}, False)):
            self.assertEqual(is_worth_more(line, **options), expected, (line, options))
        path = self.folder / "limits.jsonl"
        path.write_text(json.dumps(slow) + "\n")
        self.assertEqual(read_answered([str(path)], 60), ({"1"}, {"a": "1"}))
        self.assertEqual(read_answered([str(path)], 90), (set(), {}))

    def test_lines_that_grow(self) -> None:
        from heapsift._fleet_lines import LinesFile, read_answered
        path = str(self.folder / "lines.jsonl")
        file = LinesFile(path, False)
        file.write({"schema": "heapsift.batch/1", "path": "a", "identity": "1"})
        with self.assertRaises(self.heapsift.UsageError) as caught:
            LinesFile(path, True)
        self.assertEqual(caught.exception.code, "output-in-use")
        file.write({"schema": "heapsift.batch/1", "path": "b", "identity": "2", "error": {"code": "killed"}})
        file.close()
        with open(path, "a", encoding="ascii") as more:
            more.write('{"schema":"heapsift.batch/1","path":"c","iden')
        with self.assertRaises(self.heapsift.UsageError) as caught:
            LinesFile(path, False)
        self.assertEqual(caught.exception.code, "output-exists")
        LinesFile(path, True).close()
        with open(path, encoding="ascii") as whole:
            self.assertEqual(len(whole.read().splitlines()), 2)
        self.assertEqual(read_answered([path, "/nonexistent"]), ({"1"}, {"a": "1"}))

    def test_what_a_person_wrote_into_a_file_of_lines(self) -> None:
        import warnings
        from heapsift._fleet_lines import LinesFile, read_answered
        path = str(self.folder / "edited.jsonl")
        good = {"schema": "heapsift.batch/1", "path": "a", "identity": "1"}
        odd = [b"# seen, Ann", b"[" * 200_000, b"\xff\xfe\0", b"null", b'{"path":"x"}', b'{"schema":"heapsift.batch/2"}']
        strange = [{**good, "identity": [1]}, {**good, "identity": {}}, {**good, "error": "timed-out"}, {**good, "error": [1]},
                   {**good, "error": {"code": [1]}}, {**good, "error": {"code": "timed-out"}, "limits": 5},
                   {**good, "error": {"code": "timed-out"}, "limits": {"timeout": [60]}}, {**good, "path": [1]},
                   {**good, "path": None}, {"schema": "heapsift.batch/1"}]
        with open(path, "wb") as file:
            file.write(b"\n".join([*odd, *(json.dumps(one).encode() for one in strange), json.dumps(good).encode()]))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertEqual(read_answered([path]), ({"1"}, {"a": "1"}))
        self.assertEqual([str(one.message)[:17] for one in said], ["resume: 6 of the "])
        before = pathlib.Path(path).read_bytes()
        file = LinesFile(path, True)  # its last line has no end: it is whole, and stays
        file.write({"path": "b\udcff"})
        file.close()
        self.assertEqual(pathlib.Path(path).read_bytes(), before + b'\n{"path":"b?"}\n')
        for name, code in (("/dev/full", "not-a-file"), (str(self.folder), "cannot-create")):
            with self.assertRaises(self.heapsift.UsageError) as caught:
                LinesFile(name, True)
            self.assertEqual(caught.exception.code, code)
        for name in ("/dev/full", str(self.folder)):
            with self.assertRaises(self.heapsift.UsageError) as caught:
                read_answered([name])
            self.assertEqual(caught.exception.code, "no-lines")

    def test_what_has_no_identity_has_one_line(self) -> None:
        from heapsift._fleet import answer_core, path_in_line, read_answered
        folder = os.fsencode(str(self.folder)) + b"/odd"
        os.mkdir(folder)
        for name in (b"core.\xff\xfe", b"core.\xfe\xff"):
            with open(folder + b"/" + name, "w", encoding="ascii") as text:
                text.write("no core at all")
        first, second = (os.fsdecode(folder + b"/" + name) for name in sorted(os.listdir(folder)))
        line = answer_core(first, self.program, ["--brief"], {})
        self.assertEqual(line["path"], path_in_line(first))
        self.assertTrue(line["path"].endswith("core.\\xfe\\xff"))
        lines = self.folder / "odd.jsonl"
        lines.write_text(json.dumps(line) + "\n")
        self.assertEqual(read_answered([str(lines)]), (set(), {path_in_line(first): ""}))
        self.assertIsNone(answer_core(first, self.program, ["--brief"], {}, (), True, True))
        self.assertIsNotNone(answer_core(second, self.program, ["--brief"], {}, (), True, False))
        self.assertIsNone(answer_core(first, self.program, ["--brief", "--redact"], {}, (), True, True))
        self.assertEqual(answer_core(str(self.core_path), self.program, ["--brief"], {}, (), True, True)["exit"], 0)
        self.assertEqual(answer_core("/nowhere\udcff", self.program, ["--brief"], {})["path"], "/nowhere\\xff")

    def test_paths(self) -> None:
        from heapsift._fleet import find_cores, needed_memory
        folder = self.folder / "many"
        folder.mkdir()
        for name in ("b", "a"):
            (folder / name).write_bytes(b"12345")
        (folder / "below").mkdir()
        a, b = str(folder / "a"), str(folder / "b")
        self.assertEqual(find_cores(folder, {}), [(a, 5, False), (b, 5, False)])
        self.assertEqual(find_cores([b, "file://" + b, str(folder / "[ab]"), "/nonexistent"], {}),
                         [(b, 5, True), (a, 5, True), ("/nonexistent", 0, True)])
        link = folder / "core.link"
        link.symlink_to("/nonexistent")
        self.assertEqual(find_cores([folder], {}), [(a, 5, False), (b, 5, False), (str(link), 0, False)])
        self.assertEqual(find_cores([str(folder / "core.*")], {}), [(str(link), 0, True)])
        below = folder / "below" / "c"
        below.write_bytes(b"1")
        self.assertEqual(find_cores([str(folder / "b*")], {}), [(b, 5, True), (str(below), 1, False)])
        self.assertEqual(needed_memory("core", 1000 << 20), (256 + 900) << 20)
        self.assertEqual(needed_memory("core.zst", 100 << 20), (256 + 720) << 20)


class Frames(Case):
    """pandas and IPython."""

    @unittest.skipUnless(has_pandas, "not covered: pandas is not installed")
    def test_frames(self) -> None:
        rows = self.core.types(sort="memory")
        frame = rows.frame()
        self.assertEqual(len(frame), len(rows))
        self.assertEqual(int(frame["memory"].sum()), sum(row["memory"] for row in rows))
        self.assertEqual(frame["largest.address"][0], rows[0]["largest"]["address"])
        self.assertEqual(len(self.core.show("__main__.CACHE").frame("referrers")), 1)
        self.assertEqual(len(self.core.lines().frame()), 0)

    @unittest.skipUnless(has_ipython, "not covered: IPython is not installed")
    def test_the_magic(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config
        config = Config()
        config.HistoryManager.enabled = False
        shell = InteractiveShell.instance(config=config)
        shell.run_line_magic("load_ext", "heapsift")
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            nothing = shell.run_line_magic("heapsift", f"types --sort count -n 3 {self.core_path}")
            shell.run_line_magic("heapsift", "types --sort nonsense")
            shell.run_line_magic("heapsift", "types 'open")
        self.assertIsNone(nothing)
        self.assertIn("count", printed.getvalue())
        self.assertIn("--sort nonsense is not a choice", said.getvalue())
        self.assertIn("No closing quotation", said.getvalue())
        if has_pandas:
            frame = shell.run_line_magic("heapsift", f"--frame types --sort count -n 3 {self.core_path}")
            self.assertEqual(len(frame), 3)


class Wheel(Case):
    """The wheel itself."""

    def test_it_is_the_same_when_made_again(self) -> None:
        again = make_wheel(self.build, self.program, self.folder / "again")
        self.assertEqual(again.name, self.wheel.name)
        self.assertEqual(again.read_bytes(), self.wheel.read_bytes())

    def test_contents(self) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            record = next(name for name in names if name.endswith(".dist-info/RECORD"))
            listed = [line.split(",")[0] for line in archive.read(record).decode().splitlines()]
            self.assertEqual(sorted(listed), sorted(names))
            program = archive.getinfo(next(name for name in names if name.endswith("/scripts/heapsift")))
            self.assertEqual(program.external_attr >> 16, 0o100755)
        self.assertTrue([name for name in names if name.endswith("man1/heapsift-why.1")])

    @unittest.skipUnless(has_venv, "not covered: python3-venv is not installed")
    def test_installed_in_a_venv(self) -> None:
        venv = self.folder / "venv"
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("PYTHONPATH", "HEAPSIFT_PROGRAM")}
        environment["PATH"] = "/usr/bin:/bin"

        def run(*words: object) -> str:
            done = subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, env=environment)
            return done.stdout.decode()

        run(sys.executable, "-m", "venv", venv)
        run(venv / "bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check",
            self.wheel)
        version = "heapsift " + self.heapsift.version() + "\n"
        self.assertEqual(run(venv / "bin/heapsift", "--version"), version)
        self.assertEqual(run(venv / "bin/python", "-m", "heapsift", "--version"), version)
        code = f"import heapsift; print(len(heapsift.open({str(self.core_path)!r}).types(limit=4)), heapsift.find_program())"
        self.assertEqual(run(venv / "bin/python", "-c", code), f"4 {venv}/bin/heapsift\n")
        self.assertTrue((venv / "share/man/man1/heapsift.1").exists())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--heapsift", required=True)
    parser.add_argument("--build", type=Path, required=True)
    arguments, rest = parser.parse_known_args()
    for what, there in (("pandas", has_pandas), ("IPython", has_ipython), ("python3-venv", has_venv)):
        if not there:
            print(f"not covered: {what} is not installed")
    with tempfile.TemporaryDirectory() as made:
        Case.folder = Path(made)
        Case.build = arguments.build.resolve()
        Case.program = os.environ["HEAPSIFT_PROGRAM"] = os.path.abspath(arguments.heapsift)
        os.environ["HEAPSIFT_STATE"] = "off"
        for name in ("cache", "state", "config"):
            os.environ[f"XDG_{name.upper()}_HOME"] = os.path.join(made, name)
        os.environ["IPYTHONDIR"] = os.path.join(made, "ipython")
        Case.core_path = make_core(Case.folder)
        Case.wheel = make_wheel(Case.build, Case.program, Case.folder / "wheel")
        sys.path.insert(0, str(Case.wheel))
        return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
