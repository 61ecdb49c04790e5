"""Seven small applications that leak as applications do, for a hunt that begins with the first screen.

    hunts.py NAME     mixed, tasks, views, cycles, singleton, method or http

Each keeps 20 to 80 MiB, does the same in every run, writes truth.json in the current directory, and waits for its core. Its "culprits", the
largest first, have: "name"; "bytes", what the fix frees; "owner", the words without which nobody could find what keeps the memory; "fix", the
words of it, of which one is enough; "line", the number of the line of this file that must change, or "used_in", the function that fills it;
"proof", more words, which the command to try next must say. Lines are marked by a comment, `# line NAME`.
"""

import asyncio
import collections
import functools
import gc
import http.client
import http.server
import json
import logging
import logging.handlers
import queue
import sys
import threading
import weakref

import older  # noqa: F401
import standstill


def prose(seed, length):
    """A text that nobody else has."""
    return ("%07d lorem " % seed * (length // 14 + 1))[:length]


def block(size):
    """The block that pymalloc or malloc hands out for so many bytes."""
    return -(-size // 16) * 16 if size <= 512 else -(-(size + 8) // 16) * 16


def weigh(*roots):
    """What data takes, with all that it is made of: containers, text, numbers, and instances of classes that are written in Python. Each counts once."""
    seen, stack, total = set(), list(roots), 0
    while stack:
        one = stack.pop()
        instance = type(one).__module__ in (__name__, "logging")
        if id(one) in seen or not (instance or isinstance(one, (dict, list, tuple, set, str, bytes, bytearray, int, float))):
            continue
        seen.add(id(one))
        parts = gc.get_referents(one)
        total += block(sys.getsizeof(one))
        if instance and sys.version_info >= (3, 11):
            total += 8 * len(parts)  # an instance's values: no object of their own, and not in its size before 3.13
        stack += parts
    return total


def culprit(name, taken, owner, fix, line=None, used_in=None, proof=()):
    return {"name": name, "bytes": taken, "owner": owner, "fix": fix, "used_in": used_in, "proof": proof,
            "line": standstill.line_of(__file__, "line " + line) if line else None}


def rest(*culprits):
    """Does not return."""
    gc.collect()
    standstill.write_and_rest("truth.json", {"culprits": sorted(culprits, key=lambda one: -one["bytes"])})


# --- 1. a shop's server, in which seven things go wrong

class EventBus:
    def __init__(self):
        self.handlers = collections.defaultdict(list)

    def subscribe(self, topic, handler):
        self.handlers[topic].append(handler)


bus = EventBus()


def make_invoice(number):
    return {"number": number, "customer": "customer-%d" % number, "note": prose(number, 900),
            "lines": [{"sku": "sku-%d-%d" % (number, i), "price": number + i / 100, "title": prose(number * 100 + i, 120)} for i in range(30)]}


def watch_invoice(number):
    invoice = make_invoice(number)

    def on_paid(event):  # line on_paid
        if event == invoice["number"]:
            invoice["paid"] = True
    bus.subscribe("order.paid", on_paid)
    return invoice


@functools.lru_cache(maxsize=None)  # line render_page
def render_page(path, revision):
    return "<html><h1>%s</h1>%s</html>" % (path, prose(revision, 8_000))


class ImportJob:
    def __init__(self):
        self.failures = []

    def run(self, documents):
        for number in documents:
            try:
                self.parse(number)
            except ValueError as error:
                self.failures.append(error)

    def parse(self, number):
        document = prose(number, 60_000)
        if document.count("\n") == 0:
            raise ValueError("document %d has no header" % number)  # line parse


importer = ImportJob()


class User:
    def __init__(self, number):
        self.number = number


class Session:
    def __init__(self, user):
        self.user = user
        self.cart = prose(user.number, 6_000)


class SessionStore:
    def __init__(self):
        self.by_user = weakref.WeakKeyDictionary()

    def login(self, number):
        user = User(number)
        self.by_user[user] = Session(user)
        return self.by_user[user]


sessions = SessionStore()
audit = logging.getLogger("shop.audit")
audit.propagate = False
audit.addHandler(logging.handlers.MemoryHandler(capacity=1_000_000, flushLevel=logging.CRITICAL + 1))


class Connection:
    __slots__ = ("peer", "received")

    def __init__(self, peer, received):
        self.peer, self.received = peer, received


class ConnectionPool:
    def __init__(self):
        self.open_connections = {}

    def accept(self, port):
        self.open_connections[port] = Connection(("10.0.0.1", port), bytearray(prose(port, 8_000), "ascii"))


pool = ConnectionPool()
scratch = threading.local()


def worker(jobs):
    scratch.pages = []
    while True:
        number = jobs.get()
        scratch.pages.append(prose(number, 9_000))
        jobs.task_done()


def hunt_mixed():
    paid = weigh([watch_invoice(i) for i in range(1_250)])
    rendered = weigh([render_page("/product/%d" % i, i) for i in range(1_900)])
    importer.run(range(200))
    logged_in = weigh([sessions.login(i) for i in range(1_600)])
    for i in range(650):
        audit.warning("refund of %s", {"order": i, "body": prose(i, 12_000)})
    for i in range(1, 801):
        pool.accept(40_000 + i)
    shards = [queue.Queue(maxsize=50) for _ in range(4)]
    for jobs in shards:
        threading.Thread(target=worker, args=(jobs,), daemon=True).start()
    for i in range(560):
        shards[i % 4].put(i)
    for jobs in shards:
        jobs.join()
    rest(culprit("closures", paid, ["bus.handlers['order.paid']", "on_paid", "invoice"], ["unsubscribe", "weak"], "on_paid"),
         culprit("lru_cache", rendered, ["render_page"], ["maxsize"], "render_page"),
         culprit("tracebacks", 200 * weigh(prose(1, 60_000)), ["importer.failures", "parse()", "document"], ["with_traceback(None)"], "parse"),
         culprit("weak keys", logged_in, ["sessions.by_user", "WeakKeyDictionary", "Session", "User"], ["weak"], used_in="SessionStore.login"),
         culprit("log records", weigh(audit.handlers[0].buffer), ["MemoryHandler", "audit.handlers"], ["capacity", "flush"]),
         culprit("slots", weigh(pool.open_connections), ["pool.open_connections", "Connection"], ["remove", "bound"], used_in="ConnectionPool.accept"),
         culprit("thread-local", 560 * weigh(prose(1, 9_000)), ["pages", "scratch"], ["del", "clear", "request or job"], used_in="worker"))


# --- 2. a market feed whose clients never become ready

class Client:
    def __init__(self, number, loop):
        self.number, self.ready = number, loop.create_future()


class Feed:
    def __init__(self):
        self.clients, self.tasks = {}, set()

    async def stream_quotes(self, client):
        book = {"bids": [prose(client.number * 40 + i, 500) for i in range(40)]}
        await client.ready  # line stream_quotes
        return book["bids"][0]

    async def connect(self, number):
        client = self.clients[number] = Client(number, asyncio.get_running_loop())
        task = asyncio.get_running_loop().create_task(self.stream_quotes(client))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        await asyncio.sleep(0)


async def serve():
    feed = Feed()
    for number in range(1_500):
        await feed.connect(number)
    books = 1_500 * weigh({"bids": [prose(9_000 + i, 500) for i in range(40)]})
    asyncio.get_running_loop().call_soon(rest, culprit("tasks", books, ["stream_quotes()", "book"], ["wait_for", "timeout", "cancel"], "stream_quotes"))
    await asyncio.Event().wait()


def hunt_tasks():
    asyncio.run(serve())


# --- 3. features of DataFrames that are gone

class FeatureStore:
    def __init__(self):
        self.previews = []

    def add_day(self, day):
        import numpy
        import pandas
        table = numpy.arange(40_000.0).reshape(5_000, 8) + day
        frame = pandas.DataFrame(table.copy(), columns=["open", "high", "low", "close", "bid", "ask", "volume", "trades"])
        self.previews.append(frame["close"].to_numpy()[:60])  # line add_day


store = FeatureStore()


def hunt_views():
    for day in range(150):
        store.add_day(day)
    rest(culprit("slices", 150 * (40_000 - 60) * 8, ["previews"], [".copy()"], used_in="FeatureStore.add_day"))


# --- 4. a gateway that switched the collector off "because of pauses"

class Reply:
    def __init__(self, request):
        self.request, self.status = request, 200


class Request:
    def __init__(self, number):
        self.headers = {"id": str(number), "host": "gateway"}
        self.body = prose(number, 7_000)
        self.reply = Reply(self)


class Gateway:
    def __init__(self):
        gc.disable()
        self.served = 0

    def handle(self, number):
        request = Request(number)
        self.served += request.reply.status == 200
        return len(request.body)


gateway = None


def hunt_cycles():
    global gateway
    gateway = Gateway()
    for number in range(5_000):
        gateway.handle(number)
    taken = 5_001 * weigh(Request(5_000))
    standstill.write_and_rest("truth.json", {"culprits": [culprit("cycles", taken, ["Request"], ["gc.enable()", "gc.collect()"], proof=["Reply", ".reply", ".request"])]})


# --- 5. a catalog with two owners

class Catalog:
    def __init__(self):
        self.products = {}

    def load(self, count):
        for number in range(count):
            self.products["sku-%06d" % number] = {"title": prose(number, 200), "text": prose(number + count, 1_500), "stock": number + 1000}


class CatalogService:
    current = None

    @classmethod
    def reload(cls):
        global catalog
        cls.current = catalog = Catalog()
        cls.current.load(15_000)


catalog = None


def hunt_singleton():
    CatalogService.reload()
    rest(culprit("two owners", weigh(catalog), ["catalog", "CatalogService.current"], ["both", "every one of them", "the last one lets go"],
                 used_in="Catalog.load", proof=["CatalogService", ".current"]))


# --- 6. a cached method

class Report:
    def __init__(self, tenant):
        self.tenant = tenant
        self.rows = [("%s-%d" % (tenant, i), i / 7, prose(tenant * 500 + i, 60)) for i in range(400)]

    @functools.lru_cache(maxsize=None)  # line total
    def total(self, currency):
        return sum(row[1] for row in self.rows) * (1.1 if currency == "USD" else 1)


def nightly():
    reports, checked = [Report(tenant) for tenant in range(500)], 0
    for report in reports:
        checked += report.total("EUR") < report.total("USD")
    return weigh(reports)


def hunt_method():
    rest(culprit("method's cache", nightly(), ["Report.total", "`self`"], ["of the instance", "cached_property", "module-level"], "total"))


# --- 7. a web server that remembers what it has said

class ReportHandler(http.server.BaseHTTPRequestHandler):
    replies = {}

    def do_GET(self):
        body = json.dumps({"path": self.path, "rows": [prose(int(self.path.split("=")[1]) * 64 + i, 1_000) for i in range(64)]})
        self.replies[self.path] = body
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


def browse(port, first, count):
    for number in range(first, first + count):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/reports?page=%d" % number)
        assert connection.getresponse().read()
        connection.close()


def hunt_http():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ReportHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    users = [threading.Thread(target=browse, args=(server.server_port, i * 100, 100)) for i in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    rest(culprit("replies", weigh(ReportHandler.replies), ["ReportHandler.replies"], ["remove", "bound", "__init__"], used_in="ReportHandler.do_GET"))


if __name__ == "__main__":
    globals()["hunt_" + sys.argv[1]]()
