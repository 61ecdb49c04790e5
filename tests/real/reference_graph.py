"""Compares the references in heapsift's export with what gc.get_referents returned in the process, and with the counts in the core.

Two views of the same edges. Reported: what the type's traverse reports, kinds `strong` and `reported`; for a type whose references
heapsift reads exactly, this must be the truth, edge by edge and as often. Counted: what a reference count includes, kinds `strong`,
`hidden`, `native` and `guess`; if their number is an object's count, all its owners were found.

The export is read twice: first the edges without their names, then the names of the few that are wrong.
"""

import array
import collections
import dataclasses
import json

KINDS = ("strong", "hidden", "reported", "weak", "guess", "native")
_REPORTED = KINDS.index("reported")
_STRONG, _HIDDEN, _REPORTED, _WEAK, _GUESS, _NATIVE = range(6)
_SHOWN_BY_TRAVERSE = frozenset((_STRONG, _REPORTED))
_COUNTED = frozenset((_STRONG, _HIDDEN, _NATIVE, _GUESS))
_GUESSED = frozenset((_STRONG, _HIDDEN, _GUESS))
_NOTHING = array.array("Q")
_IMMORTAL = 1 << 29
_NAMED = 200000  # faults whose edges are looked up by name; more are only counted


class BadExport(Exception):
    """One line: why it cannot be compared."""


@dataclasses.dataclass(frozen=True)
class Row:
    __slots__ = ("type", "refcount", "exact", "static")
    type: str
    refcount: int  # -1: immortal
    exact: bool
    static: bool


class Graph:
    """The rows, and of each source its edges: a word of target << 3 | kind."""

    def __init__(self, path):
        self.path = path
        self.rows = {}
        self.edges = {}
        self.counted = collections.Counter()  # target -> references that a count counts
        self.kinds = collections.Counter()
        self.dangling = []  # (source, target) where one is no object
        types = {}
        for line in _lines(path):
            if line.startswith('{"table":"reference"'):
                self._add_edge(json.loads(line))
            elif line.startswith('{"table":"object"'):
                row = json.loads(line)
                count = row["refcount"]
                immortal = row["immortal"] or count is None or count >= _IMMORTAL
                self.rows[int(row["address"], 16)] = Row(types.setdefault(row["type"], row["type"]), -1 if immortal else count,
                                                         row["references"] == "exact", row["found_by"] == "static_data")
        if not self.kinds:
            raise BadExport("no reference in the export")
        self.dangling.extend(self._ends_that_are_no_object())

    def _add_edge(self, edge):
        source, target, kind = int(edge["source"], 16), int(edge["target"], 16), _kind_of(edge)
        self.kinds[kind] += 1
        if kind in _COUNTED:
            self.counted[target] += 1
        if target >> 61:  # no address of a process
            self.dangling.append((source, target))
        elif kind != _NATIVE:
            edges = self.edges.get(source)
            if edges is None:
                edges = self.edges[source] = array.array("Q")
            edges.append(target << 3 | kind)

    def _ends_that_are_no_object(self):
        for source, edges in self.edges.items():
            for edge in edges:
                if source not in self.rows or edge >> 3 not in self.rows:
                    yield source, edge >> 3

    def targets(self, source, kinds):
        return [edge >> 3 for edge in self.edges.get(source, _NOTHING) if edge & 7 in kinds]


def names_of(path, pairs):
    """{(source, target): [(kind, name)]} for those of `pairs` between which the export at `path` has an edge."""
    found = {}
    for line in _lines(path):
        if line.startswith('{"table":"reference"'):
            edge = json.loads(line)
            pair = (int(edge["source"], 16), int(edge["target"], 16))
            if pair in pairs:
                found.setdefault(pair, []).append((KINDS[_kind_of(edge)], edge["name"]))
    return found


def exact_among(path, addresses):
    """Those of `addresses` whose references the export at `path` calls exact."""
    found = set()
    for line in _lines(path):
        if line.startswith('{"table":"object"'):
            row = json.loads(line)
            if row["references"] == "exact" and int(row["address"], 16) in addresses:
                found.add(int(row["address"], 16))
    return found


def _lines(path):
    with open(path, encoding="utf-8") as file:
        yield from file


def _kind_of(edge):
    return KINDS.index(edge["kind"])


@dataclasses.dataclass
class Tally:
    """Of the objects of one type, or of all."""
    objects: int = 0
    right: int = 0
    missing: int = 0  # edges; in balances: the sum by which counts are above what was found
    extra: int = 0    # edges; in balances: the sum by which they are below
    example: tuple = ()


class Comparison:
    def __init__(self, truth, graph):
        self.without_row = sum(address not in graph.rows for address in truth.objects)
        self.written = collections.defaultdict(Tally)  # type -> Tally, of the objects that the truth lists
        self.guessed = collections.defaultdict(Tally)  # type -> Tally, where the type has a traverse that can tell
        self.balances = collections.defaultdict(Tally)  # of the mortal objects on the heap, listed or not
        self.faults = {"missing": [], "extra": []}  # (source, target), of written kinds
        _compare_referents(self, truth, graph)
        _compare_counts(self, graph)

    @staticmethod
    def total(tallies):
        return Tally(*(sum(getattr(tally, field) for tally in tallies.values()) for field in ("objects", "right", "missing", "extra")))


def _compare_referents(result, truth, graph):
    rows = {address: graph.rows[address] for address in truth.objects if address in graph.rows}
    telling = {row.type for address, row in rows.items() if truth.objects[address].tracked or address in truth.referents}
    for address, row in rows.items():
        if not row.exact and row.type not in telling:
            continue
        expected = sorted(truth.referents.get(address, _NOTHING))
        found = sorted(graph.targets(address, _SHOWN_BY_TRAVERSE if row.exact else _GUESSED))
        tally = (result.written if row.exact else result.guessed)[row.type]
        tally.objects += 1
        if expected == found:
            tally.right += 1
            continue
        expected, found = collections.Counter(expected), collections.Counter(found)
        missing, extra = list((expected - found).elements()), list((found - expected).elements())
        if row.type == "dict":
            # Strings that were interned after the truth was written: only the table of interned strings reports what it does not count.
            uncounted = set(graph.targets(address, (_REPORTED,)))
            extra = [target for target in extra if target in truth.objects or target not in uncounted]
        if not missing and not extra:
            tally.right += 1
            continue
        tally.missing += len(missing)
        tally.extra += len(extra)
        tally.example = tally.example or (address, len(missing), len(extra))
        if row.exact:
            result.faults["missing"].extend((address, target) for target in missing)
            result.faults["extra"].extend((address, target) for target in extra)


def _compare_counts(result, graph):
    for address, row in graph.rows.items():
        if row.refcount < 0 or row.static:
            continue
        tally = result.balances[row.type]
        tally.objects += 1
        off = graph.counted[address] - row.refcount if address in graph.counted else -row.refcount
        if off == 0:
            tally.right += 1
            continue
        tally.missing += max(0, -off)
        tally.extra += max(0, off)
        tally.example = tally.example or (address, row.refcount + off, row.refcount)


@dataclasses.dataclass
class Offenders:
    """Equal faults: with the same source type, type of referent, and name."""
    fault: str
    source_type: str
    target_type: str
    names: str
    count: int
    example: tuple  # (source, target)


def offenders(result, truth, graph):
    """The faults in groups, the largest first."""
    wanted = set(result.faults["missing"][:_NAMED]) | set(result.faults["extra"][:_NAMED])
    names = names_of(graph.path, wanted) if wanted else {}
    groups = {}
    for fault, pairs in result.faults.items():
        for index, pair in enumerate(pairs):
            text = _names_text(fault, names.get(pair, ())) if index < _NAMED else "not looked up"
            key = (fault, _type_of(pair[0], truth, graph), _type_of(pair[1], truth, graph), text)
            group = groups.get(key)
            if group is None:
                group = groups[key] = Offenders(*key, 0, pair)
            group.count += 1
    return sorted(groups.values(), key=lambda group: -group.count)


def _type_of(address, truth, graph):
    row, fact = graph.rows.get(address), truth.objects.get(address)
    return row.type if row else "%s without a row" % (fact.type if fact else "something")


def _names_text(fault, edges):
    """Of an edge that is missing: what there is between the two instead."""
    if fault == "extra":
        return " or ".join(sorted({_pattern(name) for kind, name in edges if kind in ("strong", "reported")}))
    instead = sorted({"%s %s" % (kind, _pattern(name)) for kind, name in edges})
    return "there is: " + ", ".join(instead) if instead else "no edge"


def _pattern(name):
    """Names that differ in a key or an index only are one."""
    if name.startswith("key "):
        return "key …"
    out, rest = "", name
    while "[" in rest:
        before, inside = rest.split("[", 1)
        if inside[:1] in "'\"b":
            quote = inside[inside.find("'" if "'" in inside[:2] else '"'):][:1]
            end = inside.rfind(quote + "]")
            out += before + "['…']"
            rest = inside[end + 2:] if end >= 0 else ""
        else:
            end = inside.find("]")
            out += before + "[…]"
            rest = inside[end + 1:] if end >= 0 else ""
    return out + rest
