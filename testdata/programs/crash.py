"""A process that dies with faulthandler on: as in most crashes of services, the signal is handled on a separate stack, in the
middle of the heap."""

import faulthandler
import pickle
import io

import truth

faulthandler.enable()


class Node:
    def __init__(self, name):
        self.name = name


nodes = [Node("node %d" % number) for number in range(1000)]
pickler = pickle.Pickler(io.BytesIO())  # its first output buffer is there, and nothing in it

truth.record()
