"""Programs that leak as users of well-known packages make them leak, and healthy ones: for the suspects.

    library_leaks.py leak_NAME|healthy_NAME     a function below, or in library_leaks_science.py; the first word of NAME is the package

Servers are asked over the loopback by a client of this process. Each case plants between 10 and 60 MB, writes truth.json in the current
directory and waits for its core: "kind", the cause that must be told; "bytes", what it planted, by its own count; "holder", what the expression
must contain; "fix", a word of the fix; "says", words of the sentence and the cause; "used_in", a function that must be named among those that use the holder.
"""

import asyncio
import sys
import threading
import time
import urllib.request

import library_leaks_science
import standstill
from library_leaks_common import allocated, text
from library_leaks_store import REPLIES


def finish(truth):
    standstill.write_and_rest("truth.json", truth)


def ask(port, path):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=30) as reply:
        return reply.read()


# --- Django

Article = None


def set_up_django(**settings):
    """A site with one model."""
    global Article
    import django
    from django.conf import settings as django_settings
    django_settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "news.db"}}, USE_TZ=True,
                              SECRET_KEY="none", ALLOWED_HOSTS=["*"], LOGGING_CONFIG=None, ROOT_URLCONF=__name__, **settings)
    django.setup()
    from django.db import connection, models

    class Article(models.Model):
        title = models.CharField(max_length=200)
        body = models.TextField()

        class Meta:
            app_label = "news"

    with connection.schema_editor() as editor:
        editor.create_model(Article)


def import_articles(count, length):
    from django.db import transaction
    with transaction.atomic():
        for number in range(count):
            Article(title="Article %d" % number, body=text(number, length)).save()


def leak_django():
    """A job of a night that runs with DEBUG: every statement is kept, with its parameters."""
    set_up_django(DEBUG=True)
    import_articles(4000, 6000)
    from django.db import connection
    return {"kind": "library", "bytes": sum(len(query["sql"]) for query in connection.queries), "holder": "django.db.connection.queries", "fix": "reset_queries"}


class Search:
    """Made for each request; tells the signal about itself, and never takes that back."""

    def __init__(self, number):
        from django.db.models.signals import post_save
        self.results = [text(number * 100 + i, 1000) for i in range(10)]
        post_save.connect(self.on_saved, weak=False, dispatch_uid="search-%d" % number)

    def on_saved(self, **named):
        self.results.clear()


def leak_django_signals():
    set_up_django(DEBUG=False)
    before = allocated()
    for number in range(2000):
        Search(number)
    return {"kind": "bound-methods", "bytes": allocated() - before, "holder": "receivers", "fix": "WeakMethod", "says": ["on_saved()", "Search"]}


latest_articles = None


def leak_django_queryset():
    """A queryset that is kept has its rows, once somebody has looked at it."""
    global latest_articles
    set_up_django(DEBUG=False)
    import_articles(3000, 6000)
    latest_articles = Article.objects.order_by("title")
    if len([article.title for article in latest_articles]) != 3000:
        raise AssertionError
    return {"kind": "library", "bytes": 3000 * 6000, "holder": "latest_articles", "fix": "iterator()", "used_in": "leak_django_queryset"}


def article_count(request):
    from django.http import JsonResponse
    return JsonResponse({"count": Article.objects.count()})


urlpatterns = []


def healthy_django():
    """A server under load, and its database."""
    set_up_django(DEBUG=False)
    import_articles(300, 500)
    from wsgiref.simple_server import WSGIRequestHandler, make_server
    from django.core.wsgi import get_wsgi_application
    from django.urls import path
    urlpatterns.append(path("count", article_count))

    class Quiet(WSGIRequestHandler):
        def log_message(self, *arguments):
            pass

    server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
    client = threading.Thread(target=lambda: [ask(server.server_port, "/count") for _ in range(200)])
    client.start()
    for _ in range(200):
        server.handle_request()
    client.join()
    return {}


# --- SQLAlchemy

Order = None


def set_up_sqlalchemy():
    """A table, and what makes sessions."""
    global Order
    import sqlalchemy
    from sqlalchemy.orm import declarative_base, sessionmaker
    Base = declarative_base()

    class Order(Base):
        __tablename__ = "orders"
        number = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
        note = sqlalchemy.Column(sqlalchemy.Text)
        state = sqlalchemy.Column(sqlalchemy.String(20))

    engine = sqlalchemy.create_engine("sqlite:///orders.db")
    Base.metadata.create_all(engine)
    return sessionmaker(bind=engine, autoflush=False)


class Worker:
    """Has one session for its whole life."""

    def __init__(self, Session):
        self.session = Session()

    def take(self, numbers):
        for number in numbers:
            order = self.session.get(Order, number)
            order.state = "seen"


def add_orders(Session, count, length):
    session = Session()
    for number in range(count):
        session.add(Order(number=number, note=text(number, length), state="new"))
        if number % 100 == 99:
            session.commit()
    session.close()


worker = None


def leak_sqlalchemy():
    """What was changed and is not yet written, the session keeps."""
    global worker
    Session = set_up_sqlalchemy()
    add_orders(Session, 3000, 8000)
    worker = Worker(Session)
    worker.take(range(5))
    before = allocated()
    worker.take(range(5, 3000))
    return {"kind": "pending-instances", "bytes": allocated() - before, "holder": "worker.session", "fix": "flush and commit", "used_in": "Worker.take"}


class Audit:
    """Made for each unit of work, and listens as long as the class lives."""

    def __init__(self, number):
        self.before = [text(number * 10 + i, 2000) for i in range(5)]

    def on_update(self, mapper, connection, order):
        self.before.append(order.note)


def leak_sqlalchemy_listeners():
    from sqlalchemy import event
    set_up_sqlalchemy()
    before = allocated()
    for number in range(2000):
        event.listen(Order, "after_update", Audit(number).on_update)
    return {"kind": "closures", "bytes": allocated() - before, "holder": "dispatch.after_update", "fix": "unsubscribe", "says": ["Audit.on_update()", "WeakMethod"]}


# --- Flask

def serve_flask(app, paths):
    """Over the loopback, by a thread for each request."""
    import logging
    from werkzeug.serving import make_server
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
    for path in paths:
        ask(server.server_port, path)
    while threading.active_count() > 2:  # those of the last requests
        time.sleep(0.01)
    time.sleep(0.1)


def leak_flask():
    """Replies by address, in a dict of another module: addresses never end."""
    import flask
    app = flask.Flask(__name__)

    @app.route("/report/<int:number>")
    def report(number):
        REPLIES[flask.request.full_path] = response = flask.make_response(text(number, 40_000))
        return response

    serve_flask(app, ["/report/%d?session=%d" % (number, number) for number in range(500)])
    return {"kind": "module-container", "bytes": 500 * 40_000, "holder": "library_leaks_store.REPLIES", "fix": "bound", "used_in": "report"}


def leak_flask_config():
    """What a view stores with the application stays."""
    import flask
    app = flask.Flask(__name__)
    app.config["UPLOADS"] = []

    @app.route("/upload/<int:number>")
    def upload(number):
        flask.current_app.config["UPLOADS"].append(text(number, 40_000))
        return "thanks"

    serve_flask(app, ["/upload/%d" % number for number in range(500)])
    return {"kind": "container", "bytes": 500 * 40_000, "holder": "['UPLOADS']", "fix": "bound", "used_in": "upload"}


def healthy_flask():
    """A server under load: requests that are at work when the core is taken."""
    import flask
    app = flask.Flask(__name__)
    waiting, never = threading.Semaphore(0), threading.Event()

    @app.route("/page/<int:number>")
    def page(number):
        return flask.render_template_string("<h1>{{ number }}</h1><p>{{ words }}</p>", number=number, words=text(number, 5000))

    @app.route("/slow/<int:number>")
    def slow(number):
        body = text(number, 50_000)
        waiting.release()
        never.wait()
        return body

    serve_flask(app, ["/page/%d" % number for number in range(200)])
    from werkzeug.serving import make_server
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for number in range(16):
        threading.Thread(target=ask, args=(server.server_port, "/slow/%d" % number), daemon=True).start()
    for _ in range(16):
        waiting.acquire()
    return {}


# --- aiohttp

async def serve_aiohttp(app, paths):
    import aiohttp
    from aiohttp import web
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession() as session:
        for path in paths:
            async with session.get("http://127.0.0.1:%d%s" % (port, path)) as reply:
                await reply.read()
    return runner


async def serve_preview(request):
    from aiohttp import web
    cache = request.app["cache"]
    if request.path_qs not in cache:
        cache[request.path_qs] = text(int(request.query["number"]), 40_000)
    return web.Response(text=cache[request.path_qs])


def leak_aiohttp():
    from aiohttp import web

    async def run():
        app = web.Application()
        app["cache"] = {}
        app.router.add_get("/preview", serve_preview)
        runner = await serve_aiohttp(app, ["/preview?number=%d" % number for number in range(500)])
        finish({"kind": "container", "bytes": 500 * 40_000, "holder": "['cache']", "fix": "bound", "used_in": "serve_preview"})
        return runner
    asyncio.run(run())


async def notify(done, body):
    await done.wait()
    return body


async def serve_order(request):
    from aiohttp import web
    body = text(int(request.query["number"]), 40_000)
    request.app["notifications"].add(asyncio.create_task(notify(request.app["done"], body)))
    return web.Response(text="ordered")


def leak_aiohttp_tasks():
    """Tasks that wait for an event that nobody sets."""
    from aiohttp import web

    async def run():
        app = web.Application()
        app["notifications"], app["done"] = set(), asyncio.Event()
        app.router.add_get("/order", serve_order)
        runner = await serve_aiohttp(app, ["/order?number=%d" % number for number in range(500)])
        finish({"kind": "tasks", "bytes": 500 * 40_000, "holder": "notifications", "fix": "timeout", "says": ["notify()", "`body`"]})
        return runner
    asyncio.run(run())


def healthy_aiohttp():
    """A server under load: keep-alive connections, requests at work."""
    from aiohttp import ClientSession, web

    async def slow(request):
        body = text(int(request.query["number"]), 20_000)
        request.app["begun"].release()
        await request.app["never"].wait()
        return web.Response(text=body)

    async def run():
        app = web.Application()
        app["cache"], app["begun"], app["never"] = {}, asyncio.Semaphore(0), asyncio.Event()
        app.router.add_get("/preview", serve_preview)
        app.router.add_get("/slow", slow)
        runner = await serve_aiohttp(app, ["/preview?number=%d" % (number % 10) for number in range(300)])
        port = runner.sites.copy().pop()._server.sockets[0].getsockname()[1]
        async with ClientSession() as session:
            waiting = [asyncio.create_task(session.get("http://127.0.0.1:%d/slow?number=%d" % (port, number))) for number in range(20)]
            for _ in waiting:
                await app["begun"].acquire()
            finish({})
    asyncio.run(run())


# --- gevent

subscribers = []


def push(done, body):
    done.wait()
    return len(body)


def leak_gevent():
    """Greenlets that wait for what never comes, in a list of the program."""
    import gevent
    import gevent.event
    gevent.sleep(0)
    before = allocated()
    for number in range(500):
        subscribers.append(gevent.spawn(push, gevent.event.Event(), text(number, 40_000)))
    gevent.sleep(0.3)
    return {"kind": "suspended", "bytes": allocated() - before, "holder": "subscribers", "fix": "timeout", "says": ["push()", "an Event that nobody has set", "`body`"], "used_in": "leak_gevent"}


def follow(inbox):
    rows = [text(len(following), 40_000)]
    while True:
        rows.append(inbox.get())


following = {}


def leak_gevent_queues():
    """A greenlet for each client, each with a queue into which nobody puts anything: nothing but the greenlets' own stacks holds them."""
    import gevent
    import gevent.queue
    gevent.sleep(0)
    before = allocated()
    for number in range(500):
        inbox = gevent.queue.Queue()
        gevent.spawn(follow, inbox)
        gevent.sleep(0)
        following[number] = inbox
    return {"kind": "suspended", "bytes": allocated() - before, "holder": "following", "fix": "timeout", "says": ["follow()", "a Queue", "`rows`"], "used_in": "follow"}


def poll(number):
    import gevent
    page = text(number, 40_000)
    while page:
        gevent.sleep(3600)


def leak_gevent_sleepers():
    """Greenlets that nothing holds but the timers of gevent's loop, in memory of C code."""
    import gevent
    gevent.sleep(0)
    before = allocated()
    for number in range(500):
        gevent.spawn(poll, number)
    gevent.sleep(0.3)
    return {"kind": "suspended", "bytes": allocated() - before, "holder": "", "fix": "kill()", "says": ["gevent's loop", "poll()", "`page`", "a timer"]}


server = None


def leak_gevent_server():
    """A server: a greenlet for each connection that stays open."""
    global server
    import gevent
    import gevent.event
    import gevent.pool
    import gevent.server
    import gevent.socket
    pool = gevent.pool.Pool(1000)

    def handle(socket, address):
        request = socket.recv(100)
        reply = text(int(request), 200_000).encode()
        socket.sendall(reply[:2])
        socket.recv(100)  # for ever
        socket.sendall(reply)

    server = gevent.server.StreamServer(("127.0.0.1", 0), handle, spawn=pool)
    server.start()
    clients = []
    for number in range(100):
        client = gevent.socket.create_connection(("127.0.0.1", server.server_port))
        client.sendall(b"%d" % number)
        client.recv(2)
        clients.append(client)
    return {"kind": "suspended", "bytes": 100 * 200_000, "holder": "pool", "fix": "timeout", "says": ["handle()", "a socket", "`reply`"]}


# --- lxml

newest = {}


def read_feed(number):
    """Keeps one entry of a feed, and so all of it."""
    from lxml import etree
    feed = "<feed>%s</feed>" % "".join("<entry id='%d'><title>%s</title></entry>" % (i, text(i, 500)) for i in range(1000))
    newest[number] = etree.fromstring(feed)[0]


def leak_lxml():
    read_feed(0)
    before = allocated()
    for number in range(1, 31):
        read_feed(number)
    return {"kind": "library", "bytes": (allocated() - before) * 31 // 30, "holder": "newest", "fix": "deepcopy", "used_in": "read_feed"}


# --- Twisted

class Calls:
    """Requests to which no answer comes."""

    def __init__(self):
        self.pending = {}

    def call(self, number):
        from twisted.internet import defer
        deferred = self.pending[number] = defer.Deferred()
        deferred.addCallback(self.answered, text(number, 40_000))
        return deferred

    def answered(self, result, request):
        return result, request


calls = Calls()


def leak_twisted():
    for number in range(500):
        calls.call(number)
    return {"kind": "library", "bytes": 500 * 40_000, "holder": "calls.pending", "fix": "addTimeout", "used_in": "Calls.call"}


def expire(body):
    return body


def leak_twisted_timers():
    from twisted.internet import reactor
    for number in range(500):
        reactor.callLater(3600, expire, text(number, 40_000))
    reactor.callLater(0.2, finish, {"kind": "library", "bytes": 500 * 40_000, "holder": "reactor", "fix": "cancel()", "says": ["expire()"], "used_in": "leak_twisted_timers"})
    reactor.run()


# --- IPython

def leak_ipython():
    """Cells that end with an expression: Out keeps what it gave, and _, __, ___ and _N do."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config
    config = Config()
    config.HistoryManager.hist_file = ":memory:"
    shell = InteractiveShell.instance(config=config)
    sys.stdout = open("shown", "w", encoding="utf-8")
    shell.run_cell("import numpy\ndef load(number):\n    return numpy.random.default_rng(number).random((1000, 40))\n", store_history=True)
    for number in range(60):
        shell.run_cell("load(%d)" % number, store_history=True)
    return {"kind": "notebook-results", "bytes": 60 * 1000 * 40 * 8, "holder": "Out", "fix": "semicolon"}


def main():
    finish((globals().get(sys.argv[1]) or getattr(library_leaks_science, sys.argv[1]))())


if __name__ == "__main__":
    main()
