"""Programs that each keep memory in one way, and healthy ones that keep none: for the suspects.

    suspects.py NAME     a function below, of the name leak_NAME or healthy_NAME

Each plants between 8 and 40 MiB, writes truth.json in the current directory ("kind", "bytes": what it planted, "words": what the row must
say, "path": what its expression must contain, "line": the number of a line of this file that the cause must name; "used_in": the
function that alone uses what keeps it), and waits for its core.
The line of a cause is marked in this file by a comment: `# line NAME`.
"""

import asyncio
import atexit
import collections
import ctypes
import functools
import gc
import logging
import logging.handlers
import queue
import signal
import sys
import threading
import unittest
import unittest.mock
import weakref

import older  # noqa: F401
import standstill

_MIB = 1 << 20


def text(number, length=4000):
    """A str that nobody else has."""
    return "%09d" % number * (length // 9)


# --- callbacks

class Bus:
    def __init__(self):
        self.subscribers = {"paid": []}


def make_callback(number):
    payload = text(number)

    def on_paid():  # line closures
        return payload
    return on_paid


bus = None


def leak_closures():
    global bus
    bus = Bus()
    bus.subscribers["paid"] += [make_callback(i) for i in range(4000)]
    return {"bytes": 4000 * 4000, "path": "bus.subscribers['paid']", "words": ["make_callback.<locals>.on_paid()", "`payload`", "unsubscribe"], "line": "closures", "used_in": "leak_closures"}


class Widget:
    def __init__(self, number):
        self.text = text(number)

    def redraw(self):  # line bound-methods
        return self.text


listeners = []


def leak_bound_methods():
    listeners.extend(Widget(i).redraw for i in range(4000))
    return {"kind": "bound-methods", "bytes": 4000 * 4000, "path": "listeners", "words": ["redraw()", "Widget", "WeakMethod"], "line": "bound-methods"}


def send(letter):  # line partials
    return letter


jobs = set()


def leak_partials():
    jobs.update(functools.partial(send, text(i)) for i in range(4000))
    return {"bytes": 4000 * 4000, "path": "jobs", "words": ["partials of send()"], "line": "partials"}


# --- caches

@functools.lru_cache(maxsize=None)  # line lru-cache
def render(number):
    return text(number)


def leak_lru_cache():
    for i in range(4000):
        render(i)
    return {"bytes": 4000 * 4000, "path": "render", "words": ["without a bound", "render()", "4,000 entries", "maxsize"], "line": "lru-cache"}


@functools.lru_cache(maxsize=5000)  # line bounded-cache
def bounded(number):
    return text(number)


def leak_bounded_cache():
    for i in range(4000):
        bounded(i)
    return {"kind": "lru-cache", "bytes": 4000 * 4000, "words": ["bounded()", "4,000 entries of maxsize=5000"], "line": "bounded-cache"}


class Page:
    def __init__(self, number):
        self.text = text(number)

    @functools.lru_cache(maxsize=None)  # line method-cache
    def size(self):
        return len(self.text)

    @functools.lru_cache(maxsize=None)  # line arguments-cache
    def part(self, number):
        return self.text[number:number + 8]


def leak_method_cache():
    for i in range(4000):
        Page(i).size()
    return {"kind": "lru-cache", "bytes": 4000 * 4000, "words": ["Page.size()", "keeps the `self`", "cached_property"], "line": "method-cache"}


def leak_method_cache_with_arguments():
    for i in range(4000):
        Page(i).part(i)
    return {"kind": "lru-cache", "bytes": 4000 * 4000, "words": ["Page.part()", "keeps the `self`", "a dict of the instance"], "line": "arguments-cache"}


class Owner:
    pass


registry = weakref.WeakKeyDictionary()


def leak_weak_keys():
    for i in range(4000):
        owner = Owner()
        registry[owner] = {"owner": owner, "text": text(i)}
    return {"bytes": 4000 * 4000, "path": "registry", "words": ["WeakKeyDictionary", "refers to its own key", "Owner"], "used_in": "leak_weak_keys"}


# --- errors

errors = []


def fail(number):
    big_local = text(number, 40_000)
    raise ValueError(len(big_local))  # line exceptions


def leak_exceptions():
    for i in range(400):
        try:
            fail(i)
        except ValueError as error:
            errors.append(error)
    return {"bytes": 400 * 40_000, "path": "errors", "words": ["ValueError raised in fail()", "`big_local`", "with_traceback(None)"], "line": "exceptions"}


def leak_last_error():
    def broken():
        large = [text(i) for i in range(4000)]
        raise KeyError(len(large))
    try:
        broken()
    except KeyError as error:
        sys.last_value, sys.last_traceback, sys.last_type = error, error.__traceback__, type(error)
        sys.last_exc = error
    return {"kind": "last-error", "bytes": 4000 * 4000, "words": ["nothing caught", "del sys.last_value"]}


last_failure = None


def leak_traceback():
    def broken():
        large = [text(i) for i in range(4000)]
        raise KeyError(len(large))  # line traceback
    global last_failure
    try:
        broken()
    except KeyError as error:
        last_failure = error
    return {"bytes": 4000 * 4000, "path": "last_failure", "words": ["KeyError", "broken()", "with_traceback(None)"], "line": "traceback"}


# --- what waits

inbox = queue.Queue()


def leak_queue():
    for i in range(4000):
        inbox.put(text(i))
    return {"bytes": 4000 * 4000, "path": "inbox.queue", "words": ["queue.Queue with 4,000 items", "no bound", "maxsize"]}


def leak_tasks():
    async def poll(number):
        body = text(number)
        await asyncio.get_running_loop().create_future()
        return body

    async def main():
        waiting = [asyncio.create_task(poll(i)) for i in range(4000)]
        await asyncio.sleep(0)
        finish({"bytes": 4000 * 4000, "kind": "tasks", "words": ["tasks suspended in", "poll()", "nothing can complete it", "wait_for"]}, "tasks")
        return waiting
    asyncio.run(main())


suspended = []


def leak_suspended():
    def rows(number):
        body = text(number)
        yield 1
        yield body
    for i in range(4000):
        generator = rows(i)
        next(generator)
        suspended.append(generator)
    return {"bytes": 4000 * 4000, "path": "suspended", "words": ["generators suspended in", "rows()", "`body`", "close()"]}


never_sent = []


def leak_unawaited():
    async def send(payload):  # line unawaited
        return payload
    for i in range(4000):
        never_sent.append(send(text(i)))
    return {"kind": "suspended", "bytes": 4000 * 4000, "path": "never_sent", "words": ["nobody has awaited", "send()", "each keeps `payload`", "await"],
            "line": "unawaited"}


memory_handler = logging.handlers.MemoryHandler(capacity=100_000)


def leak_log_queue():
    log = logging.getLogger("queued")
    log.setLevel(logging.INFO)
    log.propagate = False
    waiting = queue.Queue()
    log.addHandler(logging.handlers.QueueHandler(waiting))
    for i in range(4000):
        log.info("got %s", text(i))
    return {"kind": "log-records", "bytes": 4000 * 4000, "words": ["nobody takes them", "QueueListener"]}


def leak_timers():
    """Tasks that nothing but the loop's timers holds."""
    async def refresh(number):
        rows = [text(number, 40_000)]
        while True:
            await asyncio.sleep(3600)
            rows.append(number)

    async def serve():
        for i in range(400):
            asyncio.ensure_future(refresh(i))
        await asyncio.sleep(0.5)
        finish({"kind": "tasks", "bytes": 400 * 40_000, "words": ["tasks suspended in", "refresh()", "each keeps `rows`", "cancel()"]}, "timers")
    asyncio.run(serve())


def leak_log_records():
    logger = logging.getLogger("shop")
    logger.propagate = False
    logger.addHandler(memory_handler)
    for i in range(4000):
        logger.warning("order %s", text(i))
    return {"bytes": 4000 * 4000, "words": ["MemoryHandler", "capacity=100000"]}


# --- places

def collect(number, into=[]):  # noqa: B006  # line default-argument
    into.append(text(number))
    return into


def leak_default_argument():
    for i in range(4000):
        collect(i)
    return {"bytes": 4000 * 4000, "words": ["default of an argument of collect()", "use None"], "line": "default-argument"}


local = threading.local()


def leak_thread_local():
    local.rows = [text(i) for i in range(4000)]
    return {"bytes": 4000 * 4000, "words": ["thread-local", "request or job"]}


def leak_thread_locals():
    """None of the threads has enough to be worth a row of its own."""
    def work(ready):
        local.pages = [text(i) for i in range(250)]
        ready.release()
        threading.Event().wait()
    ready = threading.Semaphore(0)
    for _ in range(12):
        threading.Thread(target=work, args=(ready,), daemon=True).start()
        ready.acquire()
    return {"kind": "thread-local", "bytes": 12 * 250 * 4000, "words": ["__main__.local.pages, in 12 threads", "request or job"]}


def clean_up(data):
    return data


def leak_at_exit():
    for i in range(4000):
        atexit.register(clean_up, text(i))
    return {"kind": "atexit", "bytes": 4000 * 4000, "words": ["clean_up()", "that atexit calls", "atexit.unregister"]}


class Workspace:
    def __init__(self, number):
        self.rows = text(number)
        atexit.register(self.clean_up)

    def clean_up(self):  # line at-exit-methods
        self.rows = None


def leak_at_exit_methods():
    for i in range(4000):
        Workspace(i)
    return {"kind": "atexit", "bytes": 4000 * 4000, "words": ["bound methods", "clean_up()", "__main__.Workspace"], "line": "at-exit-methods"}


class Upload:
    def __init__(self, number):
        self.chunks = text(number)
        self.finalizer = weakref.finalize(self, self.discard)

    def discard(self):  # line finalizers
        self.chunks = None


def leak_finalizers():
    for i in range(4000):
        Upload(i)
    return {"kind": "library", "bytes": 4000 * 4000, "words": ["weakref.finalize", "discard()", "a bound method of the watched object"],
            "line": "finalizers"}


def leak_loggers():
    for i in range(4000):
        logging.getLogger("job.%d" % i).context = text(i)
    return {"bytes": 4000 * 4000, "words": ["4,000 loggers", "logging.LoggerAdapter"]}


gate = threading.Event()


def upload(body):  # line executor-backlog
    gate.wait()
    return len(body)


def leak_executor_backlog():
    import concurrent.futures
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=2)
    for i in range(4000):
        pool.submit(upload, text(i, 12_000))
    globals()["pool"] = pool
    return {"bytes": 4000 * 12_000, "words": ["calls that a ThreadPoolExecutor has not started", "upload()", "limit how many"],
            "line": "executor-backlog", "used_in": "leak_executor_backlog"}


class Reader:
    def __init__(self):
        self.outbox = queue.Queue()


fast_reader, slow_reader = Reader(), Reader()


def leak_queue_of_each():
    for i in range(4000):
        (slow_reader if i % 2 else fast_reader).outbox.put(text(i))
    return {"kind": "queue", "bytes": 4000 * 4000, "words": ["2,000 items that nobody has taken", "2 alike", "give it a maxsize"]}


def make_handler(data):
    def on_signal(number, frame):  # line signal-handler
        return data
    return on_signal


def leak_signal_handler():
    signal.signal(signal.SIGUSR1, make_handler([text(i) for i in range(4000)]))
    return {"bytes": 4000 * 4000, "words": ["signal handler", "on_signal()", "signal.SIG_DFL"], "line": "signal-handler"}


class Person:
    def __init__(self):
        self.history = []


class Registry:
    def __init__(self):
        self.people = {}


def leak_history():
    """Each of few instances grows."""
    Registry.first = Registry()
    Registry.first.people.update((i, Person()) for i in range(400))
    for i in range(4000):
        Registry.first.people[i % 400].history.append(text(i))
    return {"kind": "container", "bytes": 4000 * 4000, "path": "Registry.first.people", "words": ["each Person keeps its `history`"],
            "used_in": "leak_history"}


class Members:
    current = None

    def __init__(self):
        self.known = {}


members = None


def leak_two_owners():
    global members
    members = Members.current = Members()
    members.known.update((i, text(i)) for i in range(4000))
    return {"kind": "container", "bytes": 4000 * 4000, "path": "members.known", "words": ["drop the Members from both that hold it"],
            "also_held_by": "__main__.Members.current"}


class Model:
    instances = []


def leak_class_attribute():
    Model.instances.extend(text(i) for i in range(4000))
    return {"bytes": 4000 * 4000, "path": "Model.instances", "words": ["attribute of the class Model", "__init__"], "used_in": "leak_class_attribute"}


orders = {}


class Learned:
    def __init__(self):
        self.rows = {i: text(i) for i in range(100)}

    def learn(self, number):
        self.rows[number] = text(number)

    def row(self, number):
        return self.rows[number]


learned = Learned()


def leak_learned_table():
    for i in range(4000):
        learned.learn(i)
    return {"kind": "container", "bytes": 4000 * 4000, "path": "learned.rows",
            "words": ["a dict in an object of type __main__.Learned", "remove entries that are done with"]}


def leak_module_container():
    orders.update((i, text(i)) for i in range(4000))
    return {"bytes": 4000 * 4000, "path": "orders", "words": ["a dict in a module", "remove entries"], "used_in": "leak_module_container"}


recent = collections.deque()


def leak_module_deque():
    recent.extend(text(i) for i in range(4000))
    return {"kind": "module-container", "bytes": 4000 * 4000, "path": "recent", "words": ["a deque in a module", "bound"]}


table = {}


def leak_emptied():
    table.update((i, None) for i in range(400_000))
    for i in range(400_000 - 5):
        del table[i]
    return {"bytes": sys.getsizeof(table), "path": "table", "words": ["taking entries out does not shrink it", "make a new one"],
            "used_in": "leak_emptied"}


def leak_references():
    """An extension that forgets Py_DECREF."""
    take = ctypes.pythonapi.Py_IncRef
    take.argtypes = [ctypes.py_object]
    for i in range(400):
        take([text(i * 10 + j) for j in range(10)])
    # Of few of these lists a stale word somewhere seems to be the reference that was taken.
    return {"kind": "leaked-reference", "bytes": 4000 * 3900, "words": ["held by what was not found", "Py_DECREF"]}


def leak_local():
    def work(ready):
        thread_cache = {i: text(i) for i in range(1000)}
        ready.release()
        threading.Event().wait()
        return thread_cache
    ready = threading.Semaphore(0)
    for _ in range(4):
        threading.Thread(target=work, args=(ready,), daemon=True).start()
    for _ in range(4):
        ready.acquire()
    return {"bytes": 4 * 1000 * 4000, "words": ["'thread_cache' of", "work()", "4 threads", "del the local"]}


def leak_temporary():
    """An argument of a call that has not ended, which no variable has."""
    def weigh(_):
        finish({"kind": "local", "bytes": 2000 * 4000, "words": ["a temporary of", "arrange()", "still working with", "smaller parts"]}, "temporary")

    def arrange():
        return max([text(i) for i in range(2000)], key=weigh)
    arrange()


by_name, by_number = {}, []


def leak_joint_holders():
    for number in range(4000):
        by_number.append(text(number))
        by_name["order %d" % number] = by_number[-1]
    return {"bytes": 4000 * 4000, "words": ["by_name", "by_number", "the last one lets go", "every one of them"]}


class Suite(unittest.TestCase):
    def runTest(self):
        self.large = text(1, 40_000)


suite = []


def leak_test_cases():
    for _ in range(400):
        case = Suite()
        case.large = text(len(suite), 40_000)
        suite.append(case)
    return {"kind": "library", "bytes": 400 * 40_000, "path": "suite", "words": ["test cases", "tearDown"]}


api = unittest.mock.Mock()


def leak_mock():
    for i in range(4000):
        api.send(text(i))
    return {"kind": "library", "bytes": 4000 * 4000, "words": ["a mock that records every call", "reset_mock"]}


def make_class(number):
    class Row:
        body = text(number, 20_000)
    return Row


row_classes = []


def leak_classes():
    row_classes.extend(make_class(i) for i in range(800))
    return {"bytes": 800 * 20_000, "path": "row_classes", "words": ["made again and again", "Row"]}


class Node:
    pass


def leak_garbage():
    gc.disable()
    for i in range(4000):
        node = Node()
        node.me, node.text = node, text(i)
    return {"bytes": 4000 * 4000, "words": ["garbage", "gc.enable()"], "used_in": "leak_garbage"}


# --- nothing is wrong

def healthy_idle():
    return {}


def healthy_server():
    """Threads at work on requests that end."""
    requests = queue.Queue(maxsize=100)

    def serve(ready):
        body = text(1, 20_000)
        ready.release()
        return requests.get() or body
    ready = threading.Semaphore(0)
    for _ in range(16):
        threading.Thread(target=serve, args=(ready,), daemon=True).start()
    for _ in range(16):
        ready.acquire()
    return {}


def healthy_loop():
    """An event loop with a few tasks that wait."""
    async def handle():
        await asyncio.get_running_loop().create_future()

    async def main():
        waiting = [asyncio.create_task(handle()) for _ in range(50)]
        await asyncio.sleep(0)
        finish({}, "loop")
        return waiting
    asyncio.run(main())


def healthy_pandas():
    """A job in the middle of its work."""
    import numpy
    import pandas

    def finish_with(frame, joined):
        summary = joined.describe()
        finish({}, "pandas")
        return frame, summary

    frame = pandas.DataFrame({"user": numpy.arange(200_000) % 1000, "price": numpy.random.rand(200_000), "city": ["city %d" % (i % 50) for i in range(200_000)]})
    mean = frame.groupby("user")["price"].mean()
    finish_with(frame, frame.join(mean, on="user", rsuffix="_mean"))


def healthy_imports():
    """A test run with half of the library imported."""
    import decimal
    import email.message
    import http.server
    import sqlite3
    import xml.dom.minidom
    return {"words": [module.__name__ for module in (decimal, email, http, sqlite3, xml)] and []}


buffers = []


def healthy_reserved():
    """Arrays for later: the kernel gives their pages when something is written there."""
    import numpy
    buffers.extend(numpy.zeros(8 << 20, dtype="u1") for _ in range(20))
    return {}


def make_others():
    """Three times as much as what 2,000 texts have."""
    for i in range(3):
        globals()["large_%d" % i] = bytearray(b"x") * 8_000_000


@functools.lru_cache(maxsize=2000)
def drawn(number):
    return text(number)


def healthy_full_cache():
    make_others()
    for i in range(3000):
        drawn(i)
    return {}


waiting = queue.Queue(maxsize=2000)


def healthy_full_queue():
    make_others()
    for i in range(2000):
        waiting.put(text(i))
    return {}


class Recent:
    def __init__(self, size):
        self.size, self.items = size, collections.OrderedDict()

    def get(self, number):
        if number not in self.items:
            self.items[number] = text(number)
            while len(self.items) > self.size:
                self.items.popitem(last=False)
        return self.items[number]


last_texts = Recent(2000)


def healthy_own_cache():
    make_others()
    for i in range(3000):
        last_texts.get(i)
    return {}


class Table:
    def __init__(self, count):
        self.lines = [text(i) for i in range(count)]

    def find(self, number):
        return self.lines[number]


def healthy_table():
    global text_table
    make_others()
    text_table = Table(2000)
    return {"found": [text_table.find(i)[:3] for i in range(1000)] and []}


def finish(truth, name):
    truth.setdefault("kind", name.replace("_", "-"))
    if "line" in truth:
        truth["line"] = standstill.line_of(__file__, "line " + truth["line"])
    standstill.write_and_rest("truth.json", truth)


def main():
    name = sys.argv[1]
    function = globals().get("leak_" + name) or globals()["healthy_" + name]
    truth = function()
    finish(truth, name)


if __name__ == "__main__":
    main()
