"""Many cores, on a Dask cluster: one task a core, one line each, as `heapsift batch` writes them.

    >>> import heapsift
    >>> heapsift.fleet("/var/crash").lines()                       # on this machine
    >>> from distributed import Client
    >>> fleet = heapsift.fleet(["sftp://db1/var/crash", "s3://cores/2026-*/*.zst"], Client("scheduler:8786"),
    ...                        output="fleet.jsonl", resume="fleet.jsonl")
    >>> for line in fleet: print(line["signature"])                # as they come
    >>> fleet.dataframe().groupby("signature").size().compute()    # a Dask DataFrame

heapsift brings no engine of its own: machines, queues, retries, dashboards and authentication are Dask's, and any
scheduler that Dask supports will do (`LocalCluster`, dask-ssh, dask-jobqueue, Kubernetes). What is here:

- **A task is a run of the program** on the worker, `heapsift batch PATH --brief`, and its result is the line. So the
  workers need this package, of one version; nothing is computed in Python. A task dies with its worker
  (`setpriv --pdeathsig`, of util-linux), and what it had on disk lies in the worker's own directory, which Dask clears.
- **Paths are fsspec's.** One without a protocol is a file as the *worker* sees it. A remote one is copied to the
  worker's disk, checked by its length, analysed, and removed; its line has the path as it was given. A folder is what
  lies directly in it, without what is no core (the worker tells, as `batch` does); `*` is expanded, and a file that it
  names has a line, whatever it is, as one that a shell expands. Folders and `*` are listed here, by this process.
- **Memory is a resource.** An analysis takes up to 256 MiB and nine tenths of the core. Where workers declare how
  much they have (`dask worker --resources MEMORY=16e9`), each task asks for its part, so that Dask does not put two
  large cores onto one worker; what no worker has, the largest gets alone. Dask's own limit on a worker's memory does not
  see the program, which is a process beside it.
- **A core is done again** if its worker is lost (Dask does that, `distributed.scheduler.allowed-failures` times),
  and if it was not copied, or the program was killed, not started, or had too little memory there (`retries` times,
  each on a worker that it has not failed on: else one that fails at once would take the retries of all). Then its line
  says so: there is a line for each core in the end.
- **Never twice.** A core is known by its identity, which is in the core and not in its path; what has none, as no core has,
  by its path. Lines of the same
  identity as one before are dropped. With `resume` cores are asked again over which the program was killed, and those
  that a limit ended which is larger now; the workers are told what is answered, and stop as soon as they know the core: a
  moment for a file, its transfer for a remote one. Where paths are never used again, as with dated names,
  `by_path=True` spares that.
- **Lines are written as they come**, each with one call, so that a file that was killed in the middle is whole but
  for its last line, which is cut off when the file is gone on with.

A million cores are a million tasks, some kB each in Dask's scheduler; `window` of them are there at a time.
"""

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple, Union

from heapsift._answer import Error, UsageError, frame_of
from heapsift._core import _options
from heapsift._fleet_lines import (ACCIDENTS, SCHEMA, TOO_LITTLE, Line, LinesFile, error_line, path_in_line,
                                   read_answered)
from heapsift._program import find_program

Path = Union[str, "os.PathLike[str]"]

BASE_MEMORY = 256 << 20
PACKED = 8  # how much larger than its file a compressed core is taken to be: 6 to 15 as a rule
PACKED_ENDINGS = (".zst", ".gz", ".xz", ".lz4")
# Identities that each task is told. Beyond, it is told that of its own path's line; a core that was moved is asked again,
# and its line dropped.
MANY = 20_000
OPTIONS = ("timeout", "max_memory", "executable", "sysroot", "debug_dir", "redact", "limit", "memory", "no_native")


class Accident(Exception):
    """A task that should be tried again, on another worker; `line` is what to say if it was the last time."""

    def __init__(self, line: Line, worker: Optional[str] = None) -> None:
        super().__init__(line, worker)
        self.line = line
        self.worker = worker

    def __str__(self) -> str:
        return str(self.line["error"]["message"])


# On the worker


def _directory() -> str:
    """A folder on the worker's disk, which goes when the worker does."""
    try:
        from distributed import get_worker
        return str(get_worker().local_directory)
    except (ImportError, ValueError, AttributeError):
        return tempfile.gettempdir()


def _address() -> Optional[str]:
    try:
        from distributed import get_worker
        return str(get_worker().address)
    except (ImportError, ValueError, AttributeError):
        return None


def _copied(path: str, storage: Dict[str, Any], folder: str) -> str:
    """A copy of a remote core, of the same base name and time. Raises OSError if it is not whole."""
    from fsspec.core import url_to_fs
    system, place = url_to_fs(path, **storage)
    facts = system.info(place)
    copy = os.path.join(folder, os.path.basename(place.rstrip("/")) or "core")
    with system.open(place, "rb") as source, open(copy, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 22)
    size = facts.get("size")
    if size is not None and os.path.getsize(copy) != size:
        raise OSError(f"{os.path.getsize(copy)} of {size} bytes came")
    changed = facts.get("mtime", facts.get("LastModified"))
    seconds = changed.timestamp() if hasattr(changed, "timestamp") else changed
    if isinstance(seconds, (int, float)):
        os.utime(copy, (seconds, seconds))
    return copy


def _ask(program: str, path: str, words: List[str], answered: Iterable[str], folder: str,
         path_answered: bool = False) -> Optional[Line]:
    """The program's line; None if the core is one of those `answered`, or has no identity and a line is there of its path
    (`path_answered`), or if it is no core, and --only-cores is said.
    """
    command = [program, "batch", "--progress=never", "--jobs=1", *words]
    if answered or path_answered:
        known = os.path.join(folder, "answered.jsonl")
        with open(known, "w", encoding="ascii") as file:
            file.writelines(json.dumps({"schema": SCHEMA, "identity": one}) + "\n" for one in answered)
            if path_answered:
                there = path_in_line(os.path.basename(path) if "--redact" in words else path)
                file.write(json.dumps({"schema": SCHEMA, "identity": None, "path": there}) + "\n")
        command.append("--resume=" + known)
    guard = shutil.which("setpriv")
    if guard:
        command = [guard, "--pdeathsig", "KILL", *command]
    done = subprocess.run([*command, "--", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, "HEAPSIFT_STATE": "off"}, check=False)
    text = done.stdout.strip()
    if text:
        line: Line = json.loads(text)
        return line
    if done.returncode == 0 and (answered or path_answered or "--only-cores" in words):
        return None
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    message = said[-1] if said else f"heapsift ended with code {done.returncode}"
    if done.returncode < 0:
        return error_line(path, "killed", f"{path}: heapsift was killed over it: {message}")
    raise Error("no-answer", message, None, done.returncode)


def answer_core(path: str, program: Optional[str], words: List[str], storage: Dict[str, Any],
                answered: Iterable[str] = (), more_memory_helps: bool = True,
                path_answered: bool = False) -> Optional[Line]:
    """The task: the line of one core, None if it is one of those `answered`, or has none and `path_answered`. Raises
    `Accident`.
    """
    folder = tempfile.mkdtemp(prefix="heapsift-", dir=_directory())
    try:
        remote = is_remote(path)
        try:
            place = _copied(path, storage, folder) if remote else path
        except FileNotFoundError:
            return None if path_answered else error_line(path, "no-such-file", f"{path}: no such file")
        except Exception as reason:  # whatever a file system of fsspec raises
            raise Accident(error_line(path, "not-copied", f"{path}: {reason}",
                                      "does the worker reach it, and has it room?"), _address()) from reason
        line = _ask(find_program(program), place, words, answered, folder, path_answered)
        if line is None:
            return None
        if remote and "--redact" not in words:
            line["path"] = path_in_line(path)
        code = (line.get("error") or {}).get("code")
        if code in ACCIDENTS or more_memory_helps and code in TOO_LITTLE:
            raise Accident(line, _address())
        return line
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# Here


def is_remote(path: str) -> bool:
    return "://" in path and not path.startswith("file://")


def _plain(path: str) -> str:
    return path[len("file://"):] if path.startswith("file://") else path


def find_cores(paths: Union[Path, Iterable[Path]], storage: Dict[str, Any]) -> List[Tuple[str, int, bool]]:
    """(path, bytes or 0, whether it was named) of each, folders and `*` expanded, each once."""
    words = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: Dict[str, Tuple[str, int, bool]] = {}
    for word in words:
        path = _plain(os.fspath(word))
        for one in (_remote_cores if is_remote(path) else _local_cores)(path, storage):
            found.setdefault(one[0], one)
    return list(found.values())


def _size(path: str) -> int:
    """0 of what cannot be read."""
    return os.path.getsize(path) if os.path.exists(path) else 0


def _local_cores(path: str, _: Dict[str, Any]) -> Iterator[Tuple[str, int, bool]]:
    import glob
    path = os.path.abspath(path)
    if os.path.isdir(path):
        try:
            names = sorted(os.listdir(path))
        except OSError:  # the worker says why
            yield path, 0, True
            return
        for one in (os.path.join(path, name) for name in names):
            if not os.path.isdir(one):
                yield one, _size(one), False
    elif not os.path.exists(path) and glob.has_magic(path):
        for one in sorted(glob.glob(path)):
            if os.path.isdir(one):
                yield from _local_cores(one, _)
            else:
                yield one, _size(one), True
    else:  # perhaps only the workers see it
        yield path, _size(path), True


def _remote_cores(path: str, storage: Dict[str, Any]) -> Iterator[Tuple[str, int, bool]]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise Error("no-fsspec", f"{path}: remote paths need fsspec, which is not installed",
                    "apt install python3-fsspec") from None
    try:
        system, place = url_to_fs(path, **storage)
        # What stands before the place on its system: "sftp://user@host"; so a listed file has a path of its own.
        before = path[:len(path) - len(place)] if path.endswith(place) else path[:path.index("://") + 3]
        named = "*" in place
        if named:
            listed = [system.info(one) for one in system.glob(place)]
        elif system.isdir(place):
            listed = system.ls(place, detail=True)
        else:
            yield path, int(system.info(place).get("size") or 0) if system.exists(place) else 0, True
            return
    except (ImportError, ValueError) as reason:  # no such protocol
        raise UsageError("bad-path", f"{path}: {reason}") from None
    for facts in sorted(listed, key=lambda facts: str(facts["name"])):
        if facts.get("type") == "file":
            yield before + str(facts["name"]), int(facts.get("size") or 0), named


def needed_memory(path: str, size: int) -> int:
    """Bytes that the analysis of a core of this size may take."""
    return BASE_MEMORY + size * (PACKED if path.endswith(PACKED_ENDINGS) else 1) // 10 * 9


class Fleet:
    """What `heapsift.fleet` returns: the lines, as they come (iterate), all of them (`lines`), or as a DataFrame.

    `client` is Dask's, for its dashboard (`client.dashboard_link`); `futures` those that are not done, for
    `distributed.progress`.
    """

    def __init__(self, client: Any, own: Any, tasks: List[Dict[str, Any]], output: Optional[LinesFile],
                 known: Set[str], window: int) -> None:
        self.client = client
        self._own = own
        self._output = output
        self._known = known
        self._order = {task["path"]: number for number, task in enumerate(tasks)}  # of the lines' paths
        self._tasks = iter(tasks)
        self._window = window
        self._futures: Dict[str, Any] = {}
        self._task_of: Dict[str, Dict[str, Any]] = {}
        self._lines: List[Line] = []
        self._run = uuid.uuid4().hex[:12]
        self._completed = None
        if tasks:
            from distributed import as_completed
            self._completed = as_completed([self._submit(task) for task in itertools.islice(self._tasks, window)])
        else:
            self.close()

    def __repr__(self) -> str:
        return f"<heapsift.Fleet: {len(self._lines)} of {len(self._order)} cores>"

    def __len__(self) -> int:
        """How many cores were asked, without those that are known by their path."""
        return len(self._order)

    @property
    def futures(self) -> List[Any]:
        return list(self._futures.values())

    def _submit(self, task: Dict[str, Any]) -> Any:
        failed = task["failed_on"]
        others = [one for one in self.client.scheduler_info()["workers"] if one not in failed] if failed else None
        key = f"heapsift-{self._run}-{self._order[task['path']]}-{len(failed)}"
        future = self.client.submit(answer_core, *task["arguments"], key=key, pure=False, resources=task["resources"],
                                    workers=others or None, allow_other_workers=bool(others))
        self._futures[key], self._task_of[key] = future, task
        return future

    def _line_of(self, future: Any) -> Optional[Line]:
        """Of a future that is done."""
        path = self._task_of[future.key]["path"]
        if future.status == "finished":
            found: Optional[Line] = future.result()
            return found
        if future.status == "cancelled":
            return None
        reason = future.exception()
        if isinstance(reason, Accident):
            return reason.line
        if isinstance(reason, Error):
            return error_line(path, reason.code, str(reason), reason.hint)
        if type(reason).__name__ == "KilledWorker":
            return error_line(path, "worker-lost", f"{path}: each worker that had it was lost",
                              "most likely for lack of memory: fewer tasks a worker, or workers that declare MEMORY")
        return error_line(path, "no-answer", f"{path}: {type(reason).__name__}: {reason}")

    def __iter__(self) -> Iterator[Line]:
        """Each line once: those that came before, then the others as they come."""
        at = 0
        while at < len(self._lines) or self._next():
            if at < len(self._lines):
                yield self._lines[at]
                at += 1

    def _next(self) -> bool:
        """Waits for one more task; False if all are done."""
        if self._completed is None or not self._futures:
            self.close()
            return False
        future = next(self._completed)
        line = self._line_of(future)
        reason = future.exception() if future.status == "error" else None
        task = self._task_of.pop(future.key)
        del self._futures[future.key]
        if isinstance(reason, Accident) and len(task["failed_on"]) < task["retries"]:
            task["failed_on"].append(reason.worker)
            self._completed.add(self._submit(task))
            return True
        if line is not None:
            self._take(line)
        for more in itertools.islice(self._tasks, 1):
            self._completed.add(self._submit(more))
        return True

    def _take(self, line: Line) -> None:
        """Keeps and writes it, unless that core has one."""
        identity = line.get("identity")
        if identity and identity in self._known:
            return
        if identity and (line.get("error") or {}).get("code") not in ACCIDENTS:
            self._known.add(identity)
        if self._output:
            self._output.write(line)
        self._lines.append(line)

    def wait(self) -> "Fleet":
        """Until all are done."""
        while self._next():
            pass
        return self

    def lines(self) -> List[Line]:
        """All lines of this run, in the order of the paths. Those that a file already had are there, not here."""
        self.wait()
        return sorted(self._lines, key=lambda line: self._order.get(line["path"], len(self._order)))

    def frame(self) -> Any:
        """The lines as a pandas.DataFrame, a column each (`suspects` and `packages` as they are); `started` and
        `stored` are times.
        """
        return lines_frame(self.lines())

    def dataframe(self, npartitions: Optional[int] = None) -> Any:
        """The same as a Dask DataFrame."""
        try:
            import dask.dataframe
        except ImportError:
            raise Error("no-dask", "dask.dataframe needs pandas, which is not installed") from None
        frame = self.frame()
        return dask.dataframe.from_pandas(frame, npartitions=npartitions or max(1, min(64, len(frame) // 1000 + 1)))

    def cancel(self) -> None:
        """Gives up what is not done."""
        self._tasks = iter(())
        if self._futures:
            self.client.cancel(self.futures)
        self._futures.clear()
        self.close()

    def close(self) -> None:
        """Closes the file, and the cluster if it is of this fleet's own."""
        if self._output:
            self._output.close()
            self._output = None
        for one in self._own:
            one.close()
        self._own = ()

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *_: Any) -> None:
        self.cancel() if self._futures else self.close()


def lines_frame(lines: List[Line]) -> Any:
    """Lines as a pandas.DataFrame; `error` is its code."""
    frame_of([])  # pandas, or heapsift.Error
    import pandas
    rows = [{**{name: value for name, value in line.items() if name not in ("overview", "core")},
             "error": (line.get("error") or {}).get("code")} for line in lines]
    frame = pandas.DataFrame(rows)
    for name in ("started", "stored"):
        if name in frame:
            frame[name] = pandas.to_datetime(frame[name], utc=True, errors="coerce")
    return frame


def _local_client() -> Tuple[Any, List[Any]]:
    """One process with as many tasks as processors: the work is done by others, the programs."""
    from distributed import Client, LocalCluster
    processors = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    cluster = LocalCluster(n_workers=1, threads_per_worker=processors, processes=False, dashboard_address=None,
                           memory_limit=0, resources={"MEMORY": memory}, local_directory=tempfile.gettempdir())
    client = Client(cluster)
    return client, [client, cluster]


def _declared_memory(client: Any) -> float:
    """The most that a worker declares; 0 if none does."""
    workers = client.scheduler_info()["workers"].values()
    return max((worker.get("resources", {}).get("MEMORY", 0) for worker in workers), default=0)


def fleet(paths: Union[Path, Iterable[Path]], client: Any = None, *, output: Optional[Path] = None,
          resume: Union[Path, Iterable[Path], None] = None, by_path: bool = False, retries: int = 2,
          memory_of: Union[int, Callable[[str, int], int], None] = None, overview: bool = False,
          storage_options: Optional[Dict[str, Any]] = None, window: int = 100_000, program: Optional[str] = None,
          **options: Any) -> Fleet:
    """Asks about many cores, each in a task of a Dask cluster; returns at once, with a `Fleet`.

    paths: cores and folders of cores, as the workers see them, or as fsspec names them ("s3://…", "sftp://…")
    client: Dask's (`distributed.Client`, synchronous); without one, a cluster on this machine, closed at the end
    output: a file to which each line is appended as soon as it is there; one that exists only with the same `resume`
    resume: files of lines (batch's or a fleet's): what they answer is not asked again
    by_path: also skip paths that have a line there, without a look at the core
    retries: how often a core is tried again that was not copied, or whose analysis was killed or had too little memory
    memory_of: bytes that a core may take, as a number, or as a function of its path and bytes: what is asked of
        workers that declare MEMORY (default: 256 MiB and nine tenths of its size, of a compressed one eight times that)
    overview: lines with the columns `overview` and `core` too
    storage_options: for fsspec's file systems
    window: tasks that the scheduler is told of at a time
    program: the heapsift to run, on the workers (default: that of their environment)
    options: those of `heapsift batch`: timeout, max_memory, sysroot, executable, debug_dir, redact, limit

    Raises `heapsift.Error`: "no-dask", "no-fsspec"; `heapsift.UsageError`: "output-exists", "output-in-use",
    "cannot-create", "not-a-file", "no-lines", "bad-path".
    """
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"fleet() has no option {name!r}")
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise Error("no-dask", "fleet() needs Dask, which is not installed",
                    "apt install python3-distributed, or pip install distributed") from None
    storage = dict(storage_options or {})
    before = [] if resume is None else [resume] if isinstance(resume, (str, os.PathLike)) else list(resume)
    files = [os.fspath(one) for one in before]
    cores = find_cores(paths, storage)
    lines_file = None if output is None else LinesFile(os.fspath(output), os.fspath(output) in files)
    own: List[Any] = []
    try:
        known, known_paths = read_answered(files, options.get("timeout"), options.get("max_memory"))
        if client is None:
            client, own = _local_client()
        declared = _declared_memory(client)
        words = ([] if overview else ["--brief"]) + _options(options, ())
        few = sorted(known) if len(known) <= MANY else None
        answered = client.scatter(few, broadcast=True, hash=False) if few and cores else []
        tasks = []
        for path, size, named in cores:
            there = path_in_line(os.path.basename(path) if options.get("redact") else path)
            if by_path and there in known_paths:
                continue
            need = memory_of(path, size) if callable(memory_of) else memory_of or needed_memory(path, size)
            most = options.get("max_memory")
            if isinstance(most, int) and memory_of is None:
                need = min(need, most)
            resources = {"MEMORY": min(need, declared)} if declared else None
            if few is None:
                answered = [known_paths[there]] if known_paths.get(there) else []
            tasks.append({"path": path_in_line(path), "named": named, "retries": retries, "failed_on": [], "resources": resources,
                          "arguments": (path, program, words if named else [*words, "--only-cores"], storage, answered,
                                        most is None, known_paths.get(there) == "")})
        return Fleet(client, own, tasks, lines_file, known, window)
    except BaseException:
        if lines_file:
            lines_file.close()
        for one in own:
            one.close()
        raise
