"""A process with so much memory of objects that is idle, or at work, and knows how long it stood.

    ticking_server.py MEBIBYTES idle|busy

A thread of its own notes every millisecond how long the last one really took: the longest gap is how long the process stood, as whoever waits for its
answers would see it. busy: eight threads serve requests meanwhile; each replaces some of the objects. After `ready` on standard output each line of
standard input is answered with the longest gap since the last answer, in milliseconds, and the number of requests served.
"""

import random
import sys
import threading
import time

BYTES_OF_RECORD = 700  # measured: a dict of five, its list, its strings


def record(number):
    return {"id": number, "name": "record %d" % number, "tags": ["a%d" % number, "b%d" % number], "price": number * 1.25, "text": "x" * (number % 200)}


class Ticks(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.longest = 0.0

    def run(self):
        last = time.monotonic()
        while True:
            time.sleep(0.001)
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            last = now


def serve(records, served, number):
    pick = random.Random(number)
    while True:
        for _ in range(50):
            at = pick.randrange(len(records))
            records[at] = record(at + served[number])
        served[number] += 1
        time.sleep(0.002)


def main():
    mebibytes, how = int(sys.argv[1]), sys.argv[2]
    records = [record(number) for number in range(mebibytes * (1 << 20) // BYTES_OF_RECORD)]
    served = [0] * 8
    if how == "busy":
        for number in range(len(served)):
            threading.Thread(target=serve, args=(records, served, number), daemon=True).start()
    ticks = Ticks()
    ticks.start()
    print("ready", flush=True)
    for _ in sys.stdin:
        print("%.3f %d" % (1000 * ticks.longest, sum(served)), flush=True)
        ticks.longest = 0.0


main()
