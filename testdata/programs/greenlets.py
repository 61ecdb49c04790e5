"""Greenlets that wait, have ended, or never began; what the calls of those that wait hold is held by nothing else.

    greenlets.py            HEAPSIFT_TRUTH=FILE, HEAPSIFT_CORE_BY=kernel: as in truth.py

To FILE, as JSON: greenlet's version; for each greenlet its address, its state, its calls with their lines, innermost first; and of each local the
name, the function and the address of its value; and the greenlets that only their own local refers to.
"""

import gc
import json
import os
import signal
import sys
import time

import greenlet

waiting, said = [], []


class Worker(greenlet.greenlet):
    pass


def line():
    return sys._getframe(1).f_lineno


def wait(number, local):
    buffer = bytearray(5000 + number)
    local("wait", "buffer", buffer)
    local("wait", "at", wait_line)
    greenlet.getcurrent().parent.switch(number)  # waits here
    return buffer


wait_line = wait.__code__.co_firstlineno + 3


def through_c(number, local):
    rows = ["row of %d" % number, [number]]
    local("through_c", "rows", rows)
    return sorted([number], key=lambda one: wait(number, local)) + rows


def generates(number, local):
    text = "text of %d" % number
    local("generates", "text", text)
    yield wait(number, local)
    yield text


def serve(number, how):
    mine = []
    state = {"number": number}

    def local(function, name, value):
        mine.append((function, name, "0x%x" % id(value)))

    local("serve", "state", state)
    said.append((number, mine))
    if how == "c":
        through_c(number, local)
    elif how == "generator":
        list(generates(number, local))
    else:
        wait(number, local)
    return state


def alone(addresses):
    """Nothing but its own local refers to it, and yet no collection may free it: it waits."""
    me = greenlet.getcurrent()
    addresses.append("0x%x" % id(me))
    me.parent.switch()
    return me


def main():
    truth = {"greenlet": greenlet.__version__, "waiting": {}, "others": {}, "alone": []}
    for _ in range(5):
        greenlet.greenlet(alone).switch(truth["alone"])
    gc.collect()
    for number in range(30):
        one = (Worker if number % 2 else greenlet.greenlet)(serve)
        one.switch(number, ("c", "generator", "python")[number % 3])
        waiting.append(one)
    unstarted = greenlet.greenlet(serve)
    done = greenlet.greenlet(lambda: 3)
    done.switch()
    truth["others"] = {"0x%x" % id(unstarted): "not started", "0x%x" % id(done): "finished"}
    for number, mine in said:
        truth["waiting"]["0x%x" % id(waiting[number])] = {
            "calls": {"c": ["wait", "<lambda>", "through_c", "serve"], "generator": ["wait", "generates", "serve"], "python": ["wait", "serve"]}[
                ("c", "generator", "python")[number % 3]],
            "line": wait_line + 1, "locals": mine}
    del said[:]
    with open(os.environ["HEAPSIFT_TRUTH"], "w", encoding="ascii") as out:
        json.dump(truth, out)
    print(os.getpid(), flush=True)
    if os.environ.get("HEAPSIFT_CORE_BY") == "kernel":
        os.kill(os.getpid(), signal.SIGABRT)
    while True:
        time.sleep(1000)


if __name__ == "__main__":
    main()
