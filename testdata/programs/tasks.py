"""asyncio's tasks as they wait: for each other, queues, locks, times, threads, streams; some of them for ever.

    tasks.py                HEAPSIFT_TRUTH=FILE, HEAPSIFT_CORE_BY=kernel: as in truth.py

To FILE, as JSON: of each loop what asyncio.all_tasks() gives, each task with its coroutine, get_stack(), the coroutines that await each other
(cr_await), `awaits` as this program knows it, whether it ever finishes, and (3.14) its call graph; and what is suspended beside tasks.
"""

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

try:
    import greenlet
except ImportError:
    greenlet = None

said = {}        # by name of a task: what it waits for, and whether that can come (None: it cannot be told)
kept = []        # what is suspended beside tasks
names = {}


def tell(awaits, finishes=None, until=None):
    return {"awaits": awaits, "finishes": finishes, "until": until}


def start(name, coroutine, awaits, finishes=None, until=None, factory=None):
    loop = asyncio.get_running_loop()
    if factory is not None:
        task = factory(coroutine, loop=loop, name=name)
    else:
        task = loop.create_task(coroutine)
        task.set_name(name)
    said[name] = tell(awaits, finishes, until)
    kept_tasks.append(task)
    return task


kept_tasks = []


# --- nested

async def outer(waiting, *arguments):
    return await middle(waiting, *arguments)


async def middle(waiting, *arguments):
    return await inner(waiting, *arguments)


async def inner(waiting, *arguments):
    return await waiting(*arguments)


class Awaitable:
    def __init__(self, future):
        self.future = future

    def __await__(self):
        yield from self.future
        return 1


async def numbers(future):
    for number in range(3):
        if number == 1:
            await future
        yield number


async def takes_numbers(future):
    async for number in numbers(future):
        kept.append(number)


async def awaits_object(future):
    await Awaitable(future)


# --- what never comes: only the tasks themselves have what they wait for

async def own_future():
    await asyncio.get_running_loop().create_future()


async def own_queue():
    queue = asyncio.Queue()
    await queue.get()


async def own_event():
    event = asyncio.Event()
    await event.wait()


async def own_lock():
    lock = asyncio.Lock()
    await lock.acquire()
    await lock.acquire()


async def own_condition():
    condition = asyncio.Condition()
    async with condition:
        await condition.wait()


async def own_semaphore():
    semaphore = asyncio.Semaphore(0)
    async with semaphore:
        pass


async def own_barrier():
    await asyncio.Barrier(2).wait()


async def full_queue():
    queue = asyncio.Queue(1)
    await queue.put(1)
    await queue.put(2)


async def joins_queue():
    queue = asyncio.Queue()
    await queue.put(1)
    await queue.join()


async def handle(queue, number):
    buffer = bytearray(2000 + number)
    await queue.get()
    return buffer


async def handles_all(count):
    queue = asyncio.Queue()
    mine = [start("handle %d" % number, handle(queue, number), "queue-get", False) for number in range(count)]
    await asyncio.gather(*mine)


async def waits_for(task):
    return await task


async def waits_each_other():
    tasks = []

    async def one(number):
        while len(tasks) < 2:
            await asyncio.sleep(0)
        return await tasks[1 - number]

    tasks += [start("each other 0", one(0), "task", False), start("each other 1", one(1), "task", False)]
    await asyncio.sleep(0)


# --- what may come: a module refers to it

shared = {}


async def of_module(what):
    return await shared[what]


async def get_of_module():
    return await shared["queue"].get()


async def locked():
    async with shared["lock"]:
        pass


async def of_event():
    await shared["event"].wait()


async def in_thread():
    await asyncio.get_running_loop().run_in_executor(None, shared["thread"].wait)


async def to_thread():
    await asyncio.to_thread(shared["thread"].wait)


async def reads(reader):
    return await reader.readline()


async def receives(own):
    return await asyncio.get_running_loop().sock_recv(own, 10)


async def with_timeout():
    async with asyncio.timeout(3000):
        await own_future()


async def group():
    async with asyncio.TaskGroup() as tasks:
        for number in range(3):
            task = tasks.create_task(own_event())
            task.set_name("of group %d" % number)
            said["of group %d" % number] = tell("event", False)


async def gathers():
    first, second = (start("gathered %d" % number, of_event(), "event") for number in range(2))
    await asyncio.gather(first, second)


async def gathers_never():
    await asyncio.gather(*(start("gathered never %d" % number, own_future(), "future", False) for number in range(2)))


async def waits_for_first():
    await asyncio.wait([start("waited %d" % number, of_event(), "event") for number in range(2)],
                       return_when=asyncio.FIRST_COMPLETED)


async def shields(task):
    await asyncio.shield(task)


async def as_completed(tasks):
    for one in asyncio.as_completed(tasks):
        await one


def make_all():
    loop = asyncio.get_running_loop()
    shared["future"], shared["queue"], shared["lock"], shared["event"] = loop.create_future(), asyncio.Queue(), asyncio.Lock(), asyncio.Event()
    start("nested", outer(own_future), "future", False)
    start("nested in module", outer(of_module, "future"), "future")
    start("takes numbers", takes_numbers(loop.create_future()), "future", False)
    start("awaits object", awaits_object(loop.create_future()), "future", False)
    start("own queue", own_queue(), "queue-get", False)
    start("own event", own_event(), "event", False)
    start("own lock", own_lock(), "lock", False)
    start("own condition", own_condition(), "condition", False)
    start("own semaphore", own_semaphore(), "semaphore", False)
    start("full queue", full_queue(), "queue-put", False)
    start("joins queue", joins_queue(), "queue-join", False)
    start("handles all", handles_all(20), "tasks", False)
    start("waits each other", waits_each_other(), "ended")
    start("queue of module", get_of_module(), "queue-get")
    start("lock of module", locked(), "lock")
    start("event of module", of_event(), "event")
    start("sleeps", asyncio.sleep(5000), "sleep", True, True)
    start("sleeps nested", outer(asyncio.sleep, 4000), "sleep", True, True)
    start("in thread", in_thread(), "thread")
    start("to thread", to_thread(), "thread")
    start("waits for task", waits_for(start("waited for", own_future(), "future", False)), "task", False)
    start("waits for sleep", waits_for(start("slept", asyncio.sleep(3500), "sleep", True, True)), "task")
    start("wait_for", asyncio.wait_for(own_future(), 2000), None, True, True)
    start("gathers", gathers(), "tasks")
    start("gathers never", gathers_never(), "tasks", False)
    start("waits for first", waits_for_first(), "tasks")
    start("shields", shields(start("shielded", of_event(), "event")), "task")
    start("as completed", as_completed([start("completed %d" % number, of_event(), "event") for number in range(2)]), "tasks")
    start("of Python", outer(own_future), "future", False, factory=asyncio.tasks._PyTask)
    start("of Python, sleeps", asyncio.sleep(4500), "sleep", True, True, factory=asyncio.tasks._PyTask)
    if hasattr(asyncio, "Barrier"):
        start("own barrier", own_barrier(), "barrier", False)
    own, other = socket.socketpair()
    own.setblocking(False)
    shared["sockets"] = own, other
    start("receives", receives(own), "socket")
    if hasattr(asyncio, "timeout"):
        start("with timeout", with_timeout(), "future", True, True)
    if hasattr(asyncio, "TaskGroup"):
        start("group", group(), "tasks", False)
    if hasattr(asyncio, "eager_task_factory"):
        start("eager", own_future(), "future", False, factory=lambda coroutine, loop, name: asyncio.Task(coroutine, loop=loop, name=name, eager_start=True))


async def reads_pipe():
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    own, other = os.pipe()
    shared["pipe"] = own, other
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(own, "rb"))
    start("reads", reads(reader), "stream-read")


async def serves():
    server = await asyncio.start_unix_server(lambda reader, writer: None, "socket")
    async with server:
        await server.serve_forever()


async def waits_for_process():
    process = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE)  # ends with this one
    return await process.wait()


# --- what is suspended beside tasks

def generates():
    mine = bytearray(3000)
    yield mine


def generates_from():
    yield from generates()


def loops_over(generator):
    for item in generator:
        yield item


async def gives():
    mine = bytearray(3500)
    yield mine


async def no_task(future):
    await future


def switches():
    buffer = bytearray(4000)
    greenlet.getcurrent().parent.switch(buffer)
    return buffer


def others():
    """(kind, coroutine, awaits) by address, of what is suspended beside tasks."""
    told = {}

    def tell_of(one, kind, awaits):
        kept.append(one)
        told["0x%x" % id(one)] = [kind, getattr(one, "__qualname__", None) or "switches", awaits]

    one = generates()
    next(one)
    tell_of(one, "generator", "caller")
    tell_of(generates(), "generator", "not-started")
    one = generates_from()
    next(one)
    tell_of(one, "generator", "caller")
    over = generates()
    one = loops_over(over)
    next(one)
    tell_of(one, "generator", "caller")
    tell_of(over, "generator", "caller")
    one = gives()
    try:
        one.__anext__().send(None)
    except StopIteration:
        pass
    tell_of(one, "async_generator", "caller")
    one = no_task(shared["future"])
    one.send(None)
    shared["future"]._asyncio_future_blocking = False
    tell_of(one, "coroutine", "future")
    tell_of(no_task(None), "coroutine", "not-started")
    if greenlet:
        one = greenlet.greenlet(switches)
        one.switch()
        tell_of(one, "greenlet", "switch")
    return told


# --- the truth

def calls_of(coroutine):
    """The coroutines, generators and asynchronous generators that await each other: (address, function, line), outermost first."""
    calls = []
    while coroutine is not None:
        for prefix, awaited in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
            if hasattr(coroutine, prefix + "_frame"):
                break
        else:
            following = [one for one in gc.get_referents(coroutine) if hasattr(one, "cr_frame") or hasattr(one, "ag_frame") or hasattr(one, "gi_frame")]
            if type(coroutine).__name__ in ("async_generator_asend", "coroutine_wrapper", "anext_awaitable") and following:
                coroutine = following[0]
                continue
            break
        frame = getattr(coroutine, prefix + "_frame")
        if frame is None:
            break
        calls.append(["0x%x" % id(coroutine), frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno])
        coroutine = getattr(coroutine, awaited)
    return calls


def awaited_by(graph):
    """The tasks that wait for it by 3.14's own call graph."""
    return sorted({"0x%x" % id(one.future) for one in graph.awaited_by if isinstance(one.future, asyncio.Task)})


def truth_of_loop(loop, thread):
    tasks = []
    # 3.14's all_tasks() leaves out those written in Python.
    every = asyncio.all_tasks(loop) | {task for task in kept_tasks if task.get_loop() is loop and not task.done()}
    for task in sorted(every, key=lambda one: one.get_name()):
        coroutine = task.get_coro()
        stack = task.get_stack()
        told = said.get(task.get_name(), tell(None))
        one = {"address": "0x%x" % id(task), "name": task.get_name(), "coroutine": coroutine.__qualname__, "type": type(task).__module__,
               "stack": [[frame.f_code.co_name, frame.f_lineno] for frame in stack], "calls": calls_of(coroutine),
               "current": task is asyncio.current_task(loop) if thread == threading.get_ident() else False}
        one.update(told)
        waiter = task._fut_waiter
        one["waiter"] = "0x%x" % id(waiter) if waiter is not None else None
        if told["until"]:
            whens = [handle._when for handle in loop._scheduled if not handle._cancelled]
            one["until_is_one_of"] = whens
        # It has no end where tasks wait for each other.
        if hasattr(asyncio, "capture_call_graph") and isinstance(task, asyncio.Future) and not one["current"] and not task.get_name().startswith("each other"):
            graph = asyncio.capture_call_graph(task)
            one["awaited_by"] = awaited_by(graph)
            one["graph"] = [[entry.frame.f_code.co_name, entry.frame.f_lineno] for entry in graph.call_stack]
        tasks.append(one)
    return {"thread": thread, "tasks": tasks}


def other_loop(started, loops):
    async def run():
        make_other()
        for _ in range(20):
            await asyncio.sleep(0)
        loops.append((asyncio.get_running_loop(), threading.get_ident()))
        started.set()
        await asyncio.get_running_loop().create_future()

    def make_other():
        start("of the other loop", own_queue(), "queue-get", False)
        start("sleeps in the other loop", asyncio.sleep(6000), "sleep", True, True)

    asyncio.run(run())


async def main():
    shared["thread"] = threading.Event()
    started, loops = threading.Event(), []
    thread = threading.Thread(target=other_loop, args=(started, loops), daemon=True, name="other loop")
    thread.start()
    started.wait()
    make_all()
    await reads_pipe()
    start("serves", serves(), "server")
    start("waits for process", waits_for_process(), "process")
    for _ in range(50):
        await asyncio.sleep(0)
    await asyncio.sleep(0.2)  # until the threads of the executor wait
    gc.collect()
    beside = others()
    time.sleep(0.3)           # until the other loop waits in its selector
    truth = {"loops": [truth_of_loop(loop, ident) for loop, ident in loops + [(asyncio.get_running_loop(), threading.get_ident())]],
             "others": beside, "main": "0x%x" % id(asyncio.current_task())}
    with open(os.environ["HEAPSIFT_TRUTH"], "w", encoding="ascii") as out:
        json.dump(truth, out)
    del kept_tasks[:-1]
    print(os.getpid(), flush=True)
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.kill(os.getpid(), signal.SIGABRT)
    while True:
        time.sleep(1000)


async def or_end():
    try:
        await main()
    except BaseException:  # else it would wait for the threads
        traceback.print_exc()
        os._exit(3)


if __name__ == "__main__":
    asyncio.run(or_end())
