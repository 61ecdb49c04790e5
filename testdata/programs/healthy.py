"""Healthy programs over well-known packages, in the middle of what they do: nothing is wrong with them, and nothing may be said to be.

    healthy.py NAME     a function below; the first word of NAME is the package, or `python` for its own library

Each does a bounded amount of work, keeps what such a program keeps, writes truth.json and waits for its core. What leaks by the package's own fault
says so: a child of the process does the work once more, and truth.json has how many objects were then there to stay.
"""

import asyncio
import gc
import os
import sys
import threading
import urllib.request

import standstill


def rest(**truth):
    standstill.write_and_rest("truth.json", truth)


def ask(port, count):
    for number in range(count):
        with urllib.request.urlopen("http://127.0.0.1:%d/?n=%d" % (port, number), timeout=30) as reply:
            reply.read()


# --- Python's own library

def python_idle():
    rest()


def python_http():
    import http.server

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = ("<p>%s</p>" % self.path * 20).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask(server.server_port, 300)
    rest()


def python_asyncio():
    async def echo(reader, writer):
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()

    async def talk(port, number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(20):
            writer.write(b"line %d\n" % number)
            await reader.readline()
        await asyncio.sleep(3600)

    async def main():
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        clients = [asyncio.create_task(talk(port, number)) for number in range(40)]
        await asyncio.sleep(1)
        asyncio.get_running_loop().call_soon(rest)
        await asyncio.gather(*clients)

    asyncio.run(main())


def python_futures():
    import concurrent.futures
    import hashlib
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        waiting = threading.Event()
        sums = list(pool.map(lambda n: hashlib.sha256(b"%d" % n).hexdigest(), range(2000)))
        last = pool.submit(waiting.wait)
        assert len(set(sums)) == 2000 and not last.done()
        rest()


def python_processes():
    import multiprocessing
    context = multiprocessing.get_context("fork")
    numbers, sums = context.Queue(), context.Queue()
    child = context.Process(target=_work, args=(numbers, sums))
    child.start()
    for number in (*range(500), None):
        numbers.put(number)
    assert sum(sums.get() for _ in range(500)) == 249500
    rest()


def _work(numbers, sums):
    while (number := numbers.get()) is not None:
        sums.put(2 * number)


def python_sqlite():
    import sqlite3
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE page(name TEXT, text TEXT)")
    database.executemany("INSERT INTO page VALUES(?,?)", (("page %d" % i, "text %d" % i * 10) for i in range(3000)))
    cursor = database.execute("SELECT * FROM page")
    first = cursor.fetchmany(20)
    assert len(first) == 20
    rest()


def python_tests():
    """In the middle of a test."""
    import unittest

    class Pages(unittest.TestCase):
        def setUp(self):
            self.pages = ["page %d" % i for i in range(200)]

        def test_count(self):
            self.assertEqual(len(self.pages), 200)

        def test_long(self):
            with self.subTest("rests"):
                rest()

    unittest.main(argv=["tests"], exit=False, defaultTest=["Pages"], module=type(sys)("tests"), testLoader=_OneCase(Pages))


class _OneCase:
    def __init__(self, case):
        self.case = case

    def loadTestsFromNames(self, names, module):
        import unittest
        return unittest.defaultTestLoader.loadTestsFromTestCase(self.case)


def python_texts():
    import argparse
    import csv
    import email
    import io
    import json
    import logging
    import re
    import xml.etree.ElementTree as xml
    log = logging.getLogger("texts")
    log.addHandler(logging.StreamHandler(io.StringIO()))
    rows = list(csv.reader(io.StringIO("".join("%d,name %d,%d\n" % (i, i, i * i) for i in range(1000)))))
    tree = xml.fromstring("<all>%s</all>" % "".join("<row n='%d'>text</row>" % i for i in range(1000)))
    mail = email.message_from_string("Subject: hello\nTo: you\n\nA text.\n" * 3)
    words = re.findall(r"\w+", json.dumps(rows))
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int)
    options = parser.parse_args(["--count", "3"])
    log.warning("%d rows, %d words, %s, %s, %s", len(rows), len(words), tree.tag, mail["To"], options)
    rest()


def python_numbers():
    import collections
    import ctypes
    import datetime
    import decimal
    import enum
    import fractions
    import ipaddress
    import uuid

    class Size(ctypes.Structure):
        _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_double)]

    class Colour(enum.Flag):
        RED = enum.auto()
        BLUE = enum.auto()

    kept = collections.deque(maxlen=500)
    for i in range(1000):
        kept.append((decimal.Decimal(i) / 7, fractions.Fraction(i, 7), datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=i), uuid.UUID(int=i),
                     Size(i, i), Colour.RED | Colour.BLUE, ipaddress.ip_address(i), range(i)))
    rest()


# --- numbers and pictures

def numpy_matrices():
    import numpy
    a = numpy.arange(250000.0).reshape(500, 500)
    rows, product = a[:20], a @ a.T
    record = numpy.zeros(100, dtype=[("name", "U10"), ("size", "f8")])
    assert len(rows) == 20 and product.shape == (500, 500) and len(record) == 100
    rest()


def pandas_groups():
    import pandas
    frame = pandas.DataFrame({"city": ["a", "b", "c", "d"] * 5000, "day": pandas.date_range("2024-01-01", periods=20000, freq="min"), "n": range(20000)})
    groups = frame.groupby("city")
    sums = {name: group["n"].sum() for name, group in groups}
    merged = frame.merge(frame.head(100), on="n")
    assert len(sums) == 4 and len(merged) == 100
    rest()


def matplotlib_figure():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    for number in range(3):
        figure, axes = pyplot.subplots()
        axes.plot(range(100), label="line")
        axes.legend()
        figure.savefig("figure.png")
        pyplot.close(figure)
    pyplot.subplots()
    rest()


def sklearn_forest():
    import numpy
    from sklearn.ensemble import RandomForestClassifier
    chance = numpy.random.RandomState(1)
    data = chance.rand(400, 8)
    model = RandomForestClassifier(10).fit(data, data[:, 0] > 0.5)
    assert model.predict(data[:5]).shape == (5,)
    rest()


def PIL_thumbnails():
    from PIL import Image, ImageDraw
    kept = []
    for number in range(10):
        picture = Image.new("RGB", (300, 200), (number, 0, 0))
        ImageDraw.Draw(picture).line((0, 0, 300, 200), fill=(255, 255, 255))
        picture.thumbnail((64, 64))
        kept.append(picture)
    rest()


def lxml_pages():
    from lxml import etree, html
    tree = etree.fromstring("<all>%s</all>" % "".join("<row n='%d'>text</row>" % i for i in range(500)))
    rows = tree.xpath("//row[@n='7']")
    page = html.fromstring("<p>one <b>two</b></p>")
    transform = etree.XSLT(etree.XML("<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template match='/'><x/>"
                                     "</xsl:template></xsl:stylesheet>"))
    assert len(rows) == 1 and page.text_content() and transform(tree) is not None
    rest()


# --- servers and stores

def django_queries():
    from django.conf import settings
    settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, USE_TZ=True, SECRET_KEY="none",
                       ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, LOGGING_CONFIG=None)
    import django
    django.setup()
    from django.db import connection, models
    from django.test import RequestFactory
    from django.template import Engine, Context

    class Article(models.Model):
        title = models.CharField(max_length=200)

        class Meta:
            app_label = "news"

    with connection.schema_editor() as editor:
        editor.create_model(Article)
    Article.objects.bulk_create([Article(title="article %d" % i) for i in range(500)])
    titles = [article.title for article in Article.objects.filter(title__contains="7")]
    request = RequestFactory().get("/")
    page = Engine().from_string("{% for t in titles %}<p>{{ t }}</p>{% endfor %}").render(Context({"titles": titles}))
    assert page and request.path == "/"
    rest()


def sqlalchemy_session():
    import sqlalchemy
    from sqlalchemy import orm
    Base = orm.declarative_base()

    class Author(Base):
        __tablename__ = "author"
        id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
        name = sqlalchemy.Column(sqlalchemy.String)

    engine = sqlalchemy.create_engine("sqlite:///authors.db")
    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Author(name="author %d" % i) for i in range(500)])
        session.commit()
        some = session.query(Author).filter(Author.name.like("%7")).all()
        assert some
        rest()


def flask_pages():
    import flask
    import logging
    from werkzeug.serving import make_server
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = flask.Flask("pages")
    app.add_url_rule("/", "page", lambda: flask.jsonify(n=flask.request.args.get("n")))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ask(server.server_port, 300)
    rest()


def aiohttp_pages():
    from aiohttp import ClientSession, web

    async def page(request):
        return web.json_response({"n": request.query.get("n")})

    async def main():
        app = web.Application()
        app.router.add_get("/", page)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        async with ClientSession() as session:
            for number in range(200):
                async with session.get("http://127.0.0.1:%d/?n=%d" % (port, number)) as reply:
                    await reply.json()
            rest()

    asyncio.run(main())


def gevent_pool():
    import gevent
    import gevent.pool
    pool = gevent.pool.Pool(50)
    for number in range(50):
        pool.spawn(lambda n: gevent.sleep(3600), number)
    gevent.spawn_later(0.2, rest)
    gevent.sleep(1)


def twisted_lines():
    from twisted.internet import reactor, protocol
    from twisted.protocols.basic import LineReceiver

    class Echo(LineReceiver):
        def lineReceived(self, line):
            self.sendLine(line.upper())

    class Client(LineReceiver):
        def connectionMade(self):
            self.sendLine(b"hello")

        def lineReceived(self, line):
            reactor.callLater(0.01, self.sendLine, line)

    served = protocol.Factory.forProtocol(Echo)
    port = reactor.listenTCP(0, served, interface="127.0.0.1").getHost().port
    factory = protocol.ClientFactory.forProtocol(Client)
    for _ in range(10):
        reactor.connectTCP("127.0.0.1", port, factory)
    reactor.callLater(1, rest)
    reactor.run()


# --- tools

def IPython_cells():
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    for cell in ("import math", "numbers = [math.sqrt(n) for n in range(1000)]", "def total():\n    return sum(numbers)", "result = total()"):
        assert shell.run_cell(cell, store_history=False).success
    rest()


def mypy_check():
    import mypy.api
    with open("checked.py", "w", encoding="ascii") as file:
        file.write("def f(a: int) -> str:\n    return str(a)\n\nclass A:\n    def g(self) -> list[int]:\n        return [1]\n")

    def check():
        out, _, status = mypy.api.run(["checked.py", "--cache-dir", os.devnull])
        assert status == 0, out

    for _ in range(3):
        check()
    rest(objects_leaked=objects_left_by(check))


def objects_left_by(work):
    """How many more objects there are after `work`, which was done before: found out in a child, so that this process stays as it is."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        gc.collect()
        before = len(gc.get_objects())
        work()
        gc.collect()
        os.write(writer, b"%d" % max(0, len(gc.get_objects()) - before))
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answer:
        left = int(answer.read())
    os.waitpid(child, 0)
    return left


if __name__ == "__main__":
    globals()[sys.argv[1]]()
