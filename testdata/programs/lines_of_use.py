"""Programs that fill a container in one line of many that use it: lines_of_use.py NAME. The truth that it writes is the number of that line,
which is marked by a comment, `# line NAME`, and those of all such lines. Others use the container, or another of that name, and add to
something else.
"""
import collections
import heapq
import queue
import sys

import standstill

MANY = 4000
log = []
METRICS = {}
TABLE = {}


def text(number):
    return ("%07d" % number) * 500


def note(owner):
    log.append(len(owner))
    del log[:]


class Filled(object):
    def __init__(self):
        self.table = {}
        self.entries = []
        self.items = []
        self.values = {}
        self.heap = []
        self.tables = {"rows": [], "count": 0}
        self.jobs = queue.Queue()
        self.recent = collections.deque()
        self.names = set()
        self.groups = collections.defaultdict(list)

    def sizes(self):
        METRICS["table"] = len(self.table)
        METRICS["entries"] = len(self.entries)
        log.append((len(self.items), len(self.values), len(self.heap), self.jobs.qsize()))
        METRICS.setdefault("all", []).append((len(self.recent), len(self.names), len(self.groups), self.tables["count"]))
        METRICS.clear()
        del log[:]

    def put_into_table(self, number):
        self.table[number] = text(number)  # line beside

    def count_and_put(self, number):
        METRICS["table"] = len(self.table)
        log.append(self.table.get(number - 1))
        self.table[number] = text(number)  # line same_function
        METRICS["table"] = log[0] and len(self.table)
        del log[:]

    def by_a_local(self, number):
        table = self.table
        METRICS[number % 3] = len(table)
        if number not in table:
            table[number] = text(number)  # line local

    def within(self, number):
        self.tables["count"] = number
        self.tables["rows"].append(text(number))  # line within

    def with_items(self, number):
        for name, value in METRICS.items():
            log.append((name, value))
        self.items.append(text(number))  # line items
        del log[:]

    def with_values(self, number):
        log.extend(METRICS.values())
        self.values[number] = text(number)  # line values
        del log[:]

    def with_queue(self, number):
        METRICS["waiting"] = self.jobs.qsize()
        self.jobs.put(text(number))  # line queue

    def with_heap(self, number):
        log.append(len(self.heap))
        heapq.heappush(self.heap, (number, text(number)))  # line heap
        del log[:]

    def in_place(self, number):
        METRICS["entries"] = len(self.entries)
        self.entries += [text(number)]  # line in_place

    def by_slice(self, number):
        end = len(self.entries)
        METRICS["entries"] = end
        self.entries[end:end] = [text(number)]  # line by_slice

    def by_default(self, number):
        METRICS["table"] = len(self.table)
        self.table.setdefault(number % 10, []).append(text(number))  # line by_default

    def if_else(self, number):
        METRICS["table"] = len(self.table) if number else 0
        self.table[number if number % 2 else -number] = text(number) if number else str(number) * 3500  # line if_else

    def formatted(self, number):
        METRICS["%d" % len(self.table)] = 1
        self.table["{}:{!r:>5}".format(number, number)] = text(number)  # line formatted
        METRICS.clear()

    def caught(self, number):
        try:
            self.entries[number]
        except IndexError as error:
            METRICS[str(error)] = len(self.entries)
            self.entries.append(text(*[number], **{}))  # line caught
        finally:
            METRICS["entries"] = len(self.entries)

    def chained(self, number):
        last = self.table[number] = text(number)  # line chained
        METRICS["last"] = (last[:3], len(self.table))

    def into_group(self, number):
        METRICS["groups"] = len(self.groups)
        self.groups[number % 10] += [text(number)]  # line into_group

    def into_set(self, number):
        METRICS["names"] = len(self.names)
        self.names |= {text(number)}  # line into_set

    def into_deque(self, number):
        METRICS["recent"] = len(self.recent)
        self.recent.append(  # line into_deque
            text(number))

    def comprehended(self, number):
        METRICS["entries"] = len(self.entries)
        [self.entries.append(text(one)) for one in (number,)]  # line comprehended


    def by_bound_method(self, number):
        append = self.entries.append
        METRICS["entries"] = len(self.entries)
        append(text(number))  # line bound_method


class Giver(object):
    def __init__(self):
        self._rows = []

    @property
    def rows(self):
        return self._rows


class Room(object):
    def __init__(self):
        self.messages = []


class Rooms(object):
    def __init__(self):
        self.rooms = {}

    def room(self, name):
        return self.rooms.setdefault(name, Room())


class Other(object):
    def __init__(self):
        self.entries = []

    def fill(self, number):
        self.entries.append(number)
        del self.entries[:]


class Base(object):
    def __init__(self):
        self.entries = []

    def take(self, number):
        self.entries.append(text(number))  # line inherited


class Derived(Base):
    def look(self):
        METRICS["entries"] = len(self.entries)


class Bare(object):
    def __init__(self):
        self.entries = []


def fill_from_outside(bare, number):
    METRICS["entries"] = len(bare.entries)
    bare.entries.append(text(number))  # line outside


def fill_global(number):
    METRICS["table"] = len(TABLE)
    log.append(TABLE.get(number - 1))
    TABLE[number] = text(number)  # line of_global
    del log[:]


def fill_what_is_given(number):
    METRICS["rows"] = len(giver.rows)
    giver.rows.append(text(number))  # line given


def post(number):
    room = rooms.room(number % 3)
    METRICS["rooms"] = len(rooms.rooms)
    room.messages.append(text(number))  # line few


def make_closures():
    seen = []

    def add(number):
        METRICS["seen"] = len(seen)
        seen.append(text(number))  # line closure

    def look():
        log.append(len(seen))
        del log[:]

    return add, look


filled = Filled()
other = Other()
derived = Derived()
bare = Bare()
giver = Giver()
rooms = Rooms()
add_seen, look_seen = make_closures()
FILL = {
    "beside": filled.put_into_table, "same_function": filled.count_and_put, "local": filled.by_a_local, "within": filled.within,
    "items": filled.with_items, "values": filled.with_values, "queue": filled.with_queue, "heap": filled.with_heap,
    "in_place": filled.in_place, "by_slice": filled.by_slice, "by_default": filled.by_default, "if_else": filled.if_else,
    "formatted": filled.formatted, "caught": filled.caught, "chained": filled.chained, "into_group": filled.into_group,
    "into_set": filled.into_set, "into_deque": filled.into_deque, "comprehended": filled.comprehended, "inherited": derived.take,
    "outside": lambda number: fill_from_outside(bare, number), "of_global": fill_global, "closure": add_seen,
    "bound_method": filled.by_bound_method, "given": fill_what_is_given, "few": post,
}


def main():
    name = sys.argv[1]
    for number in range(MANY):
        FILL[name](number)
    filled.sizes()
    derived.look()
    other.fill(1)
    look_seen()
    lines = {one: standstill.line_of(__file__, "line " + one) for one in FILL}
    standstill.write_and_rest("truth.json", {"line": lines[name], "fill": sorted(lines.values())})


if __name__ == "__main__":
    main()
