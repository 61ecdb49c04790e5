"""Programs whose cause is a line that no name of what is filled tells: lines_of_causes.py NAME. A local of a running or a suspended function,
what is put onto objects that live long, a cycle, a setting of the collector, a function of C. The truth that it writes is the number of the line,
which is marked by a comment, `# line NAME`.
"""
import ctypes
import gc
import sys
from collections import UserDict

import standstill

MANY = 4000
log = []


def text(number):
    return ("%07d" % number) * 500


def rest(name):
    standstill.write_and_rest("truth.json", {"line": standstill.line_of(__file__, "line " + name), "fill": []})


def running(name):
    kept = []
    for number in range(MANY):
        log.append(len(kept))
        kept.append(text(number))  # line running
    log.append(len(kept))
    rest(name)


def shared(name):
    kept = {}

    def look():
        log.append(len(kept))

    for number in range(MANY):
        look()
        kept[number] = text(number)  # line shared
    rest(name)


def handed_on(name):
    kept = []
    log.append(len(kept))
    fill(kept)  # line handed_on
    log.append(len(kept))
    rest(name)


def fill(these):
    for number in range(MANY):
        these.append(text(number))


def keeper():
    kept = {}
    for number in range(MANY):
        log.append(len(kept))
        kept[number] = text(number)  # line suspended
    yield len(kept)


def suspended(name):
    global waiting
    waiting = keeper()
    next(waiting)
    rest(name)


class Node(object):
    def __init__(self, word):
        self.word = word
        self.left = self.right = None

    def show(self):
        log.append((self.word, self.left))


class Model(object):
    def __init__(self):
        self.state = text(0)

    def forward(self, node, number):
        log.append(self.state)
        node.show()
        node.state = text(number)  # line later
        node.total = text(number + 1)


def later(name):
    global nodes
    nodes = [Node(str(number)) for number in range(MANY)]
    model = Model()
    for number, node in enumerate(nodes):
        model.forward(node, number)
    del log[:]
    rest(name)


class Request(object):
    def __init__(self, number):
        self.body = text(number)
        self.reply = None


class Reply(object):
    pass


def answer(request):
    reply = Reply()
    log.append(request.reply)
    reply.request, request.reply = request, reply  # line tied


def answer_all():
    for number in range(MANY):
        answer(Request(number))
    del log[:]


def tied(name):
    gc.disable()  # line disabled
    answer_all()
    rest(name)


def threshold(name):
    log.append(gc.get_threshold())
    gc.set_threshold(0)  # line threshold
    answer_all()
    rest(name)


class Job(object):
    def __init__(self, number):
        open_jobs.append(self)
        self.body = text(number)

    @classmethod
    def named(cls, number):
        return cls(number)


def made(name):
    """The line that adds is in the class; those who make one and never end it are elsewhere."""
    global open_jobs
    open_jobs = []
    log.append(Job)
    submit_all()
    log.append(isinstance(open_jobs[0], Job))
    rest(name)


def submit_all():
    log.append(Job.named(0))
    for number in range(MANY):
        Job(number)  # line made


def asked_by_key(name):
    """A running function made the object of a library through which another one asks for what it fills."""
    settings = UserDict()
    settings["uploads"] = []
    upload_all(settings)
    log.append(len(settings["uploads"]))
    rest(name)


def upload_all(settings):
    for number in range(MANY):
        settings["uploads"].append(text(number))  # line asked_by_key


def foreign(name):
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free(ctypes.c_void_p(libc.malloc(1000)))  # line foreign
    for _ in range(10 * MANY):
        ctypes.memset(libc.malloc(3000), 1, 16)
    rest(name)


CASES = {"running": running, "shared": shared, "handed_on": handed_on, "suspended": suspended, "later": later, "tied": tied, "disabled": tied,
         "threshold": threshold, "made": made, "asked_by_key": asked_by_key, "foreign": foreign}


def main():
    CASES[sys.argv[1]](sys.argv[1])


if __name__ == "__main__":
    main()
