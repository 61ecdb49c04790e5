"""The workshop's third room: processes, threads, event loops and connections in the middle of their work, and NumPy. `work.py` says why.

Everything here stands still: threads wait for what never comes, and child processes have been reaped, or sleep until their parent dies.
The processes come first, because a fork copies no threads.
"""

import io
import os
import signal
import sys
import threading
import time

import older  # noqa: F401
from work_language import Thing, half

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


def _sleep_until_the_parent_dies():
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    while os.getppid() != 1:
        time.sleep(1)


def _square(number):
    return [number * number]


@exhibit
def processes_of_multiprocessing():
    import multiprocessing
    context = multiprocessing.get_context("fork")
    alive, over = (context.Process(target=_sleep_until_the_parent_dies, name="alive", daemon=True),
                   context.Process(target=_square, args=(5,), kwargs={}))
    alive.start()
    over.start()
    over.join()
    here, there = context.Pipe()
    here.send([1])
    return (alive, over, context, here, there, context.Lock(), context.RLock(), context.Semaphore(3), context.Event(), context.Condition(),
            context.Barrier(2),
            context.Value("i", 5), context.Array("d", 9), context.JoinableQueue(), context.SimpleQueue(), multiprocessing.current_process())


@exhibit
def pools_of_processes():
    import multiprocessing
    context = multiprocessing.get_context("fork")
    pool = context.Pool(2)
    later, several = pool.apply_async(_square, (5,), callback=[].append), half(pool.imap(_square, range(9)), 2)
    later.get(60)
    pool.terminate()
    pool.join()
    return pool, later, several


@exhibit
def queues_of_processes():
    import multiprocessing
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    queue.put(["put", 1])  # a thread feeds its pipe from now on, and waits for more
    got = queue.get(timeout=60)
    queue.put(["put", 2])
    return queue, got


@exhibit
def managers_of_processes():
    import multiprocessing
    manager = multiprocessing.get_context("fork").Manager()
    mapping, rows = manager.dict(a=[1]), manager.list([[1]])
    copied = [dict(mapping), rows[:]]
    manager.shutdown()
    return manager, mapping, rows, copied


@exhibit
def memory_of_processes():
    from multiprocessing import shared_memory
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.unlink()
    return memory, memory.buf[5:10]


@exhibit
def processes_that_are_over():
    import subprocess
    done = subprocess.Popen(["true"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = done.communicate(timeout=60)
    return done, output, subprocess.run(["echo", "text"], capture_output=True, text=True), subprocess.CompletedProcess(["a"], 1)


@exhibit
def threads_at_work():
    local, lock, never, condition = threading.local(), threading.RLock(), threading.Event(), threading.Condition()
    started, owned = threading.Semaphore(0), threading.Lock()
    owned.acquire()

    class Local(threading.local):
        def __init__(self, *arguments):
            self.arguments = arguments

    mine = Local([1])

    def calls_back(row, deep):
        local.rows, mine.rows = [row], ["of a thread"]
        if deep:
            return sorted([[2], [1]], key=lambda one: calls_back(one, deep - 1))
        started.release()
        never.wait()

    def runs_a_generator():
        def generator():
            with lock:
                yield from map(calls_back, [["in a generator"]], [0])
        for _ in generator():
            pass

    def handles_an_exception():
        try:
            raise KeyError(["handled"])
        except KeyError:
            with condition:
                started.release()
                condition.wait()

    def sleeps(seconds):
        started.release()
        time.sleep(seconds)

    def waits_for_a_lock():
        started.release()
        owned.acquire()

    workers = [threading.Thread(target=target, args=arguments, daemon=True) for target, arguments in (
        (calls_back, (["deep"], 3)), (runs_a_generator, ()), (handles_an_exception, ()), (sleeps, (1e6,)), (waits_for_a_lock, ()))]
    timer = threading.Timer(1e6, print, [[1]], {"sep": "x"})
    timer.daemon = True
    for worker in workers + [timer]:
        worker.start()
    for _ in workers:
        started.acquire()
    over = threading.Thread(target=_square, args=(5,))
    over.start()
    over.join()
    local.rows, mine.rows = ["of the main thread"], ["of the main thread"]
    owned_again = threading.RLock()
    owned_again.acquire()
    owned_again.acquire()
    return (workers, timer, over, local, mine, lock, never, condition, started, owned, owned_again, threading.Barrier(3, action=print),
            threading.current_thread(),
            threading.enumerate(), threading.main_thread(), threading.settrace, threading.excepthook)


@exhibit
def executors():
    import concurrent.futures
    pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="pool", initializer=_square, initargs=(1,))
    never = threading.Event()
    done, waits = pool.submit(_square, 5), [pool.submit(never.wait) for _ in range(4)]
    failed = concurrent.futures.Future()
    failed.set_exception(ValueError([1]))
    failed.add_done_callback([].append)
    done.result()
    time.sleep(0.05)
    return pool, never, done, waits, failed, half(concurrent.futures.as_completed([done] + waits))


@exhibit
def queues_of_threads():
    import queue
    simple, bounded, ordered = queue.SimpleQueue(), queue.Queue(3), queue.PriorityQueue()
    for one in (simple, bounded, ordered):
        one.put([1])
        one.put([2])
    simple.get()
    waiting = queue.SimpleQueue()
    reader = threading.Thread(target=waiting.get, daemon=True)
    reader.start()
    return simple, bounded, ordered, queue.LifoQueue(), waiting, reader


@exhibit
def loggers():
    import logging
    import logging.handlers
    import queue
    logger = logging.getLogger("work.shop")
    kept = logging.handlers.MemoryHandler(50, target=logging.StreamHandler(io.StringIO()))
    kept.setFormatter(logging.Formatter("{message}", style="{"))
    kept.addFilter(logging.Filter("work"))
    sent = queue.Queue()
    listener = logging.handlers.QueueListener(sent, kept)
    listener.start()
    logger.addHandler(kept)
    logger.addHandler(logging.handlers.QueueHandler(sent))
    logger.propagate = False
    logger.warning("a record %s", ["argument"])
    time.sleep(0.05)
    return logger, kept, sent, listener, logging.LoggerAdapter(logger, {"extra": [1]}), logging.root


@exhibit
def contexts_in_use():
    import contextvars
    plain, defaulted = contextvars.ContextVar("plain %d" % 1), contextvars.ContextVar("defaulted", default=["default"])
    token = plain.set(["first"])
    context = contextvars.copy_context()
    tokens = context.run(lambda: [defaulted.set([i]) for i in range(40)])
    variables = [contextvars.ContextVar("many %d" % i) for i in range(60)]
    context.run(lambda: [variable.set([i]) for i, variable in enumerate(variables)])
    plain.reset(token)
    return (plain, defaulted, token, context, tokens, variables, half(context, 20), half(context.items(), 20), half(context.values(), 3),
            context.copy())


def _loop_in_a_thread(main):
    """The loop, and what `main` returned before the loop went on."""
    import asyncio
    loop, made, started = asyncio.new_event_loop(), [], threading.Event()

    def run():
        asyncio.set_event_loop(loop)
        made.extend(loop.run_until_complete(main()))
        loop.call_soon(started.set)
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    if not started.wait(60):
        raise RuntimeError("the event loop does not run")
    time.sleep(0.05)
    return loop, thread, made


@exhibit
def an_event_loop_that_waits():
    import asyncio

    async def takes(queue, number):
        kept = ["local of a task", number]
        while True:
            kept.append(await queue.get())

    async def waits_for(awaitable, held):
        async with asyncio.Lock() as entered:
            return await awaitable, held, entered

    async def fails():
        raise ValueError(["in a task"])

    async def swallows():
        while True:
            try:
                await asyncio.sleep(1e6)
            except asyncio.CancelledError:
                pass

    async def streams(event):
        yield ["first"]
        await event.wait()
        yield ["second"]

    async def follows(stream):
        return [row async for row in stream]

    async def serves(reader, writer):
        await reader.readexactly(1000)

    async def main():
        loop, event, lock, condition = asyncio.get_running_loop(), asyncio.Event(), asyncio.Lock(), asyncio.Condition()
        queue, bounded, future = asyncio.Queue(), asyncio.Queue(1), loop.create_future()
        await lock.acquire()
        await bounded.put([1])
        future.add_done_callback(lambda done, held=[1]: held)
        done, failed, cancelled = loop.create_future(), loop.create_future(), loop.create_future()
        done.set_result(["result"])
        failed.set_exception(KeyError(["exception"]))
        cancelled.cancel()
        start = asyncio.ensure_future
        tasks = [start(takes(queue, i)) for i in range(5)]
        tasks += [start(one) for one in (waits_for(event.wait(), [1]), waits_for(lock.acquire(), [2]), bounded.put([3]),
                                         follows(streams(event)), fails(), swallows(),
                                         waits_for(asyncio.sleep(1e6), [4]), waits_for(future, [5]), _square_later())]
        tasks += [start(waits_for(asyncio.wait_for(future, 1e6), [6])), start(waits_for(asyncio.shield(future), [7])),
                  start(asyncio.wait(tasks[:3])),
                  start(waits_for(loop.run_in_executor(None, _square, 5), [8]))]
        gathered = asyncio.gather(*tasks[:3], loop.create_future(), return_exceptions=True)
        server = await asyncio.start_server(serves, "127.0.0.1", 0)
        streams_open = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        streams_open[1].write(b"some bytes")
        await streams_open[1].drain()
        for _ in range(5):
            await asyncio.sleep(0.01)
        tasks[10].cancel()
        tasks[-1].add_done_callback(print)
        chained = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(fails(), loop))
        for _ in range(5):
            await asyncio.sleep(0.01)
        later = loop.call_later(1e6, print, [1]), loop.call_at(loop.time() + 1e6, print, [2])
        cancelled_later = loop.call_later(1e6, print, [3])
        cancelled_later.cancel()
        iterating = iter(future.__await__())
        return (queue, bounded, event, lock, condition, future, done, failed, cancelled, tasks, gathered, server, streams_open, chained,
                later, cancelled_later, iterating,
                asyncio.all_tasks(), tasks[0].get_stack(), [task.get_coro() for task in tasks], loop)

    async def _square_later():
        await asyncio.sleep(0)
        return _square(3)

    return _loop_in_a_thread(main)


@exhibit
def an_event_loop_that_is_stuck():
    """One task never comes back: it runs now, and others wait for it."""
    import asyncio
    never, reached = threading.Event(), threading.Event()

    async def stuck(held):
        reached.set()
        never.wait()

    async def behind(number):
        await asyncio.sleep(0)

    async def main():
        return [asyncio.ensure_future(one) for one in (behind(1), behind(2), stuck(["held"]), behind(3), behind(4))]

    loop = asyncio.new_event_loop()

    def run():
        asyncio.set_event_loop(loop)
        tasks = loop.run_until_complete(main())
        loop.run_forever()
        return tasks

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    if not reached.wait(60):
        raise RuntimeError("the event loop does not run")
    return loop, thread, never


@exhibit
def task_groups():
    import asyncio

    async def member(event):
        await event.wait()

    async def group_of(event):
        async with asyncio.TaskGroup() as group:
            group.create_task(member(event), name="member %d" % 1)
            group.create_task(member(event))

    async def limited(event):
        async with asyncio.timeout(1e6):
            await event.wait()

    async def main():
        event = asyncio.Event()
        tasks = [asyncio.create_task(group_of(event)), asyncio.create_task(limited(event))]
        asyncio.TaskGroup, asyncio.timeout  # since 3.11
        await asyncio.sleep(0.01)
        return tasks, event

    asyncio.TaskGroup
    return _loop_in_a_thread(main)


@exhibit
def sockets():
    import select
    import selectors
    import socket
    here, there = socket.socketpair()
    here.sendall(b"bytes\nmore")
    listening = socket.socket(socket.AF_UNIX)
    here.settimeout(5)
    poll, epoll, selector = select.poll(), select.epoll(), selectors.DefaultSelector()
    poll.register(here, select.POLLIN)
    epoll.register(there)
    selector.register(there, selectors.EVENT_READ, data=["data"])
    reading = there.makefile("r")
    reading.readline()
    class Kind(socket.socket):
        pass
    kind = Kind(socket.AF_UNIX)
    kind.attribute = ["on a socket"]
    return (here, there, listening, poll, epoll, selector, selector.select(0), selector.get_map(), reading, kind, selectors.PollSelector(),
            selectors.SelectSelector(),
            there.recv_into, socket.AddressFamily.AF_INET)


@exhibit
def secure_connections():
    import ssl
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.sni_callback = lambda one, name, of, held=[1]: None
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(incoming, outgoing, server_hostname="example.org")
    failure = None
    try:
        connection.do_handshake()
    except ssl.SSLWantReadError as error:
        failure = error
    answering = server.wrap_bio(outgoing, incoming, server_side=True)
    refused = None
    try:
        answering.do_handshake()
    except ssl.SSLError as error:
        refused = error
    return (context, server, incoming, outgoing, connection, failure, answering, refused, ssl.get_default_verify_paths(),
            context.get_ciphers()[:3], ssl.TLSVersion.TLSv1_2)


@exhibit
def servers():
    import http.client
    import http.server
    import socketserver
    import urllib.request
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    waiting = threading.Thread(target=server.handle_request, daemon=True)
    waiting.start()
    return (server, waiting, http.client.HTTPConnection("127.0.0.1", 1), urllib.request.build_opener(),
            urllib.request.Request("http://127.0.0.1/", headers={"A": "b"}),
            socketserver.BaseServer(("", 0), None))


def _numpy():
    import numpy
    return numpy


@exhibit
def arrays_at_work():
    np = _numpy()
    base = np.arange(1000.0)
    objects = np.array([Thing(i) for i in range(20)] + [None, 5], dtype=object)
    fields = np.dtype([("number", "i4"), ("what", "O"), ("both", "O", (2,)), ("inner", [("deep", "O")])])
    records = np.empty(9, fields)
    for row in range(9):
        records[row] = (row, [row], [[row], {"row": row}], ([row, row],))
    class Kind(np.ndarray):
        def __array_finalize__(self, of):
            self.kept = [of is None]
    kind = base[:50].view(Kind)
    kind.flags.writeable = False
    iterator = np.nditer([base[:50], objects[:1]], flags=["refs_ok", "multi_index"], op_flags=[["readonly"], ["readonly"]])
    next(iterator)
    flat, ndenumerate = half(objects.flat, 3), half(np.ndenumerate(base), 3)
    broadcast = half(np.broadcast(base[:5], objects[:5]), 2)
    return (base, base[5:500:3], base.reshape(10, 100).T, base.view("i8"), objects, objects[3:15], objects.reshape(2, 11), records,
            records["what"], records[3],
            records[3]["inner"], records[["number", "what"]], kind, kind[3:], iterator, flat, ndenumerate, broadcast, half(objects),
            half(records),
            np.frombuffer(bytearray(80)), np.asarray(memoryview(bytearray(80))), np.ndarray((5,), buffer=base, offset=80),
            np.lib.stride_tricks.sliding_window_view(base, 5),
            memoryview(objects), memoryview(base), objects.dtype, fields, fields.fields, fields["inner"], base.data, base.ctypes,
            base.__array_interface__)


@exhibit
def functions_of_arrays():
    np = _numpy()
    kept = [1]
    ufunc = np.frompyfunc(lambda a, b: [a, b, kept], 2, 1)
    outcome = ufunc.outer(np.arange(3), np.arange(3))
    vectorized = np.vectorize(lambda x: x + len(kept), otypes=[object], cache=True)
    return (ufunc, outcome, vectorized, vectorized(np.arange(5)), np.add.accumulate, np.poly1d([1, 2]), np.piecewise,
            np.errstate(all="ignore"),
            np.ma.masked_array(np.arange(5.0), [0, 1, 0, 1, 0], fill_value=9), np.ma.array([[1], [2]], dtype=object),
            np.rec.fromrecords([(1, "a"), (2, "b")], names="x,y"),
            np.char.array(["a", "b"]), np.matrix("1 2; 3 4").I, np.mgrid[0:3, 0:3], np.r_, np.s_[1:2, ::3], np.index_exp[..., 5],
            half(np.ndindex(3, 4), 3))


@exhibit
def chance_with_numpy():
    np = _numpy()
    generators = [np.random.default_rng(5), np.random.Generator(np.random.MT19937(5)), np.random.Generator(np.random.Philox(5)),
                  np.random.RandomState(5)]
    for generator in generators:
        generator.normal(size=5)
    return (generators, generators[0].bit_generator, np.random.SeedSequence(5).spawn(3), generators[0].bit_generator.state,
            generators[0].bit_generator.lock)


@exhibit
def scalars_at_work():
    np = _numpy()
    records = np.zeros(3, [("a", "i4"), ("b", "O")])
    records["b"] = [[1], [2], [3]]
    class Kind(np.float64):
        pass
    kind = Kind(5)
    kind.attribute = ["on a scalar"]
    return (records[1], np.void(b"bytes"), np.str_("text %d" % 5), np.bytes_(b"bytes %d" % 5), np.datetime64("2020-01-01"), kind,
            np.longdouble(1) / 3, np.float64(5).data)


@exhibit
def files_of_numpy():
    np = _numpy()
    import tempfile
    file = tempfile.NamedTemporaryFile(suffix=".npz")
    np.savez(file, a=np.arange(5), b=np.zeros(3))
    file.flush()
    loaded = np.load(file.name)
    mapped = np.memmap(tempfile.TemporaryFile(), dtype="f8", mode="w+", shape=(50, 2))
    return file, loaded, loaded["a"], mapped, mapped[5:, 0]


@exhibit
def modules_with_state():
    """Objects that live in C variables and in the state of modules, not only in what Python sees."""
    import atexit
    import gc
    import warnings
    def at_the_end(held=[1]):
        return held
    atexit.register(at_the_end, [2], key=[3])
    atexit.unregister(at_the_end)
    gc.callbacks.append(lambda phase, info, held=[1]: None)
    sys.excepthook = lambda *arguments: sys.__excepthook__(*arguments)
    warnings.simplefilter("ignore")
    return gc.callbacks, sys.excepthook, warnings.filters, sys.modules, sys.meta_path, sys.path_importer_cache, sys.path_hooks
