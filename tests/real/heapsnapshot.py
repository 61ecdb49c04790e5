#!/usr/bin/env python3
"""Reads a .heapsnapshot with its own reader, and compares the dominator and retained size of every node with heapsift's.

    heapsnapshot.py --heapsift build/dev/heapsift [--core CORE …]

The core is of the newest /usr/bin/python3.N (the programs zoo and churn), or --core. The file must be as its readers insist: keys in
order and strings last, counts exact, 32-bit numbers, ids odd and unique, every edge to a node. Then the dominators of the graph without
weak edges are computed again, by Cooper, Harvey and Kennedy's iteration, and sizes are added up. For every object both must be what the
lines of JSON (`export -o heap.jsonl`) say, and so must the edges.
"""

import argparse
import array
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import cores
import interpreters

ORDER = ["snapshot", "nodes", "edges", "trace_function_infos", "trace_tree", "samples", "locations", "strings"]
WEAK, ELEMENT, HIDDEN_EDGE = 6, 1, 4
SYNTHETIC, NATIVE = 9, 8
IN_USE = ("reachable", "held")


class Wrong(Exception):
    """One line: what is wrong with the file."""


def main():
    parser = argparse.ArgumentParser(description="reads heapsift's .heapsnapshot again")
    parser.add_argument("--heapsift", required=True, metavar="PATH")
    parser.add_argument("--core", nargs="*", default=[], metavar="PATH", help="these cores, whole; else some are taken")
    options = parser.parse_args()
    options.heapsift = os.path.abspath(options.heapsift)
    folder = tempfile.mkdtemp(prefix="heapsift-heapsnapshot-", dir="/var/tmp")
    failures = 0
    try:
        for core in map(os.path.abspath, options.core) if options.core else taken(folder):
            began = time.monotonic()
            try:
                detail = check(options.heapsift, core, folder)
                print("ok    %s: %s; %.1f s" % (os.path.basename(core), detail, time.monotonic() - began), flush=True)
            except Wrong as reason:
                failures += 1
                print("FAIL  %s: %s" % (os.path.basename(core), reason), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


def taken(folder):
    pythons = interpreters.find({}, None, [])
    if not pythons:
        sys.exit("heapsnapshot: no /usr/bin/python3.N to take a core of")
    kind = "kernel" if cores.why_no_kernel_cores() is None else "gcore"
    for program in ("zoo", "churn"):
        own = os.path.join(folder, program)
        os.mkdir(own)
        yield cores.take(pythons[-1], program, kind, own).core


def check(heapsift, core, folder):
    snapshot, lines = os.path.join(folder, "x.heapsnapshot"), os.path.join(folder, "x.jsonl")
    for path in (snapshot, lines):
        environment = {**os.environ, "HEAPSIFT_STATE": "off", "XDG_CACHE_HOME": folder}
        done = subprocess.run([heapsift, "export", core, "-f", "-o", path, "--no-native"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace")
        if done.returncode:
            raise Wrong("export exits with %d: %s" % (done.returncode, done.stderr.strip()))
    graph = Graph(snapshot)
    graph.compute_dominators()
    objects, edges = said_by_lines(lines)
    compare_objects(graph, objects)
    weak = compare_edges(graph, objects, edges)
    return "%d nodes, %d of them objects, %d edges (%d weak): dominators, retained sizes and edges are those of the lines" % (
        graph.count, len(objects), len(graph.targets), weak)


class Graph:
    """Nodes by ordinal, edges as consecutive rows."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            document = json.load(file, object_pairs_hook=collections.OrderedDict)
        if list(document) != ORDER:
            raise Wrong("its keys are %s" % list(document))
        head, nodes, edges, strings = document["snapshot"], document["nodes"], document["edges"], document["strings"]
        if (head["meta"]["node_fields"], head["meta"]["edge_fields"]) != (
                ["type", "name", "id", "self_size", "edge_count"], ["type", "name_or_index", "to_node"]):
            raise Wrong("its fields are others")
        if (5 * head["node_count"], 3 * head["edge_count"]) != (len(nodes), len(edges)):
            raise Wrong("it says %d nodes and %d edges; there are %g and %g" % (
                head["node_count"], head["edge_count"], len(nodes) / 5, len(edges) / 3))
        for numbers in (nodes, edges):
            if any(type(number) is not int or not 0 <= number < 1 << 32 for number in numbers):
                raise Wrong("a number that has no 32 bits")
        self.count = head["node_count"]
        self.types, self.sizes = nodes[0::5], nodes[3::5]
        self.names = [strings[name] for name in nodes[1::5]]
        if nodes[2::5] != list(range(1, 2 * self.count, 2)):
            raise Wrong("ids that are not 1, 3, 5, …")
        if self.types[0] != SYNTHETIC or "(GC roots)" not in self.names[1]:
            raise Wrong("no root, or no (GC roots)")
        self.edge_types, self.targets = edges[0::3], [target // 5 for target in edges[2::3]]
        if any(target % 5 for target in edges[2::3]) or max(self.targets, default=0) >= self.count:
            raise Wrong("an edge to no node")
        for kind, name in zip(self.edge_types, edges[1::3]):
            if kind not in (ELEMENT, HIDDEN_EDGE) and name >= len(strings):
                raise Wrong("an edge whose name is no string")
        self.first = array.array("Q", [0])
        for edge_count in nodes[4::5]:
            self.first.append(self.first[-1] + edge_count)
        if self.first[-1] != len(self.targets):
            raise Wrong("the nodes say %d edges" % self.first[-1])
        self.addresses = [int(name.split(" ")[1].rstrip(">"), 16) if kind not in (SYNTHETIC, NATIVE) else None
                          for name, kind in zip(self.names, self.types)]

    def followed(self, node):
        return [self.targets[e] for e in range(self.first[node], self.first[node + 1]) if self.edge_types[e] != WEAK]

    def compute_dominators(self):
        """`dominator` and `retained` by ordinal; -1 if nothing leads to a node."""
        order, number = self.postorder()
        sources = [[] for _ in range(self.count)]
        for node in order:
            for target in self.followed(node):
                sources[target].append(node)
        dominator = [-1] * self.count
        dominator[0] = 0
        changed = True
        while changed:
            changed = False
            for node in reversed(order[:-1]):
                above = -1
                for source in sources[node]:
                    if dominator[source] == -1:
                        continue
                    if above == -1:
                        above = source
                        continue
                    other = source
                    while above != other:
                        while number[above] < number[other]:
                            above = dominator[above]
                        while number[other] < number[above]:
                            other = dominator[other]
                if dominator[node] != above:
                    dominator[node], changed = above, True
        self.dominator, self.retained = dominator, list(self.sizes)
        for node in order[:-1]:
            self.retained[dominator[node]] += self.retained[node]
        if len(order) != self.count:
            raise Wrong("%d nodes that no root reaches" % (self.count - len(order)))

    def postorder(self):
        """The nodes in postorder, node 0 last; and for each node its number in that order."""
        order, number, seen = [], [-1] * self.count, bytearray(self.count)
        seen[0] = 1
        path = [(0, iter(self.followed(0)))]
        while path:
            node, rest = path[-1]
            for target in rest:
                if not seen[target]:
                    seen[target] = 1
                    path.append((target, iter(self.followed(target))))
                    break
            else:
                path.pop()
                number[node] = len(order)
                order.append(node)
        return order, number


def said_by_lines(path):
    objects, edges = {}, collections.Counter()
    with open(path, encoding="ascii") as file:
        for line in file:
            row = json.loads(line)
            if row["table"] == "object":
                objects[int(row["address"], 16)] = (row["state"], row["memory"], row["retained"], row["dominator"] and int(row["dominator"], 16))
            elif row["table"] == "reference":
                edges[int(row["source"], 16), int(row["target"], 16), row["followed"]] += 1
    return objects, edges


def compare_objects(graph, objects):
    own_pieces = collections.Counter()
    for node in range(graph.count):
        if graph.types[node] == NATIVE:
            own_pieces[graph.dominator[node]] += graph.sizes[node]
    seen = set()
    for node, address in enumerate(graph.addresses):
        if address is None:
            continue
        seen.add(address)
        if address not in objects:
            raise Wrong("%s is no object" % graph.names[node])
        _, memory, retained, dominator = objects[address]
        found = (graph.sizes[node] + own_pieces[node], graph.retained[node], graph.addresses[graph.dominator[node]])
        if found != (memory, retained, dominator):
            raise Wrong("%s has memory, retained, dominator %s; the lines say %s" % (graph.names[node], found, (memory, retained, dominator)))
    if len(seen) != len(objects):
        raise Wrong("%d objects, and the lines have %d" % (len(seen), len(objects)))


def compare_edges(graph, objects, edges):
    """Edges that heapsift follows must be followed, except from garbage to what is alive; the rest is weak. Returns how many."""
    expected, found = collections.Counter(), collections.Counter()
    for (source, target, followed), count in edges.items():
        if source in objects and target in objects:
            from_garbage = objects[source][0] not in IN_USE and objects[target][0] in IN_USE
            expected[source, target, followed and not from_garbage] += count
    weak = 0
    for node, address in enumerate(graph.addresses):
        for e in range(graph.first[node], graph.first[node + 1]):
            weak += graph.edge_types[e] == WEAK
            if address is not None and graph.types[graph.targets[e]] != NATIVE:
                found[address, graph.addresses[graph.targets[e]], graph.edge_types[e] != WEAK] += 1
    if found != expected:
        more, fewer = found - expected, expected - found
        raise Wrong("edges (source, target, followed): more %s; fewer %s" % (list(more.items())[:2], list(fewer.items())[:2]))
    return weak


if __name__ == "__main__":
    sys.exit(main())
