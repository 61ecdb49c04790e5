"""Compares what heapsift says about a core with what the process wrote about itself, row by row.

Every object of the truth must be a row with the same type name, size and tracking. A row that the truth lacks is an extra: an
object that is in none of the interpreter's lists and that no traverse reports (strings that are keys of dicts, constants of code,
parts of static types). Each needs a second proof, which `core_words.py` reads from the core without heapsift.
"""

import array
import collections
import dataclasses
import json

from core_words import CoreWords

FOUND_BY = ("collector", "pymalloc", "malloc", "static_data", "reference")
REFERRER, CONTENT, ALLOCATED = "referrer found", "its characters are referred to", "allocated, no referrer"

@dataclasses.dataclass(frozen=True)
class Fact:
    collected: bool  # by gc.get_objects(); else found in the closure
    type: str
    size: object     # an int, or "P" or "-" (truth.py)
    tracked: bool


@dataclasses.dataclass
class Truth:
    version: tuple = ()
    numpy: str = ""
    free_threaded: bool = False
    objects: dict = dataclasses.field(default_factory=dict)  # address -> Fact
    types: dict = dataclasses.field(default_factory=dict)    # address of a type -> name of its instances' type
    referents: dict = dataclasses.field(default_factory=dict)  # address -> what gc.get_referents returned, where asked for and not empty
    attributes: dict = dataclasses.field(default_factory=dict)  # (address, name) -> address of the value, where asked for


def load_truth(path, with_referents=False):
    truth = Truth()
    names = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if line.startswith("# python "):
                truth.version = tuple(map(int, line.split()[2].split(".")))
            elif line.startswith("# numpy "):
                truth.numpy = line.split()[2].strip("-")
            elif line.startswith("# free-threaded"):
                truth.free_threaded = True
            elif fields[0] == "T":
                truth.types[int(fields[1], 16)] = json.loads(fields[2])
            elif fields[0] == "R":
                if with_referents:
                    truth.referents[int(fields[1], 16)] = array.array("Q", (int(text, 16) for text in fields[2].split()))
            elif fields[0] == "N":
                truth.attributes[int(fields[1], 16), fields[2]] = int(fields[3], 16)
            elif not line.startswith("#"):
                address, kind, name, size, _, tracked = fields
                name = names.setdefault(name, json.loads(name)) if name not in names else names[name]
                truth.objects[int(address, 16)] = Fact(kind == "G", name, size if size in "P-" else int(size), tracked == "1")
    return truth


class Comparison:
    def __init__(self, truth):
        self.truth = truth
        self.collected = sum(fact.collected for fact in truth.objects.values())
        self.closure = len(truth.objects) - self.collected
        self.faults = collections.Counter()            # kind of fault -> count; empty is success
        self.offenders = []                            # (fault, type, address, expected, got); unexplained: (…, why, found_by)
        self.extras = collections.Counter()            # found_by -> count
        self.proofs = collections.Counter()            # REFERRER, CONTENT, ALLOCATED
        self.sized_in_python = collections.Counter()   # type -> count
        self.extra_types = collections.Counter()       # type -> count, of the extras

    def fault(self, kind, type_name, address, expected, got):
        self.faults[kind] += 1
        self.offenders.append((kind, type_name, address, expected, got))


def compare(truth, core_path, rows, blocks=None):
    """`rows`: dicts as `heapsift objects --format jsonl` prints them."""
    core = CoreWords(core_path, blocks, truth.free_threaded)
    try:
        result = Comparison(truth)
        _check_recording(result, core)
        extras = _check_rows(result, core, rows)
        _prove_extras(result, core, extras)
        return result
    finally:
        core.close()


def _check_recording(result, core):
    """Compares the truth itself with the core's bytes: the type of each object it lists. If they differ, the recording is at fault."""
    for address, fact in result.truth.objects.items():
        type_address = core.type_of(address)
        found = result.truth.types.get(type_address)
        if found != fact.type:
            result.fault("recording", fact.type, address, fact.type, found or "type at %#x" % (type_address or 0))
        elif core.reference_count(address, result.truth.version) == 0:
            result.fault("recording", fact.type, address, "a live object", "count 0")


def _check_rows(result, core, rows):
    """Returns the extras: {address: row}."""
    truth, seen, extras = result.truth, set(), {}
    for row in rows:
        address = int(row["address"], 16)
        if address in seen:
            result.fault("twice", row["type"], address, "one row", "two")
            continue
        seen.add(address)
        count = core.references_counted(address, truth.version)
        if count is not None and row["refcount"] != count and not (_is_immortal(count) and _is_immortal(row["refcount"])):
            result.fault("count", row["type"], address, count, row["refcount"])
        fact = truth.objects.get(address)
        if fact is None:
            extras[address] = row
            continue
        if row["type"] != fact.type:
            result.fault("type", fact.type, address, fact.type, row["type"])
        if fact.size == "P":
            result.sized_in_python[fact.type] += 1
        elif fact.size != "-" and row["size"] != fact.size:
            result.fault("size", fact.type, address, fact.size, row["size"])
        if row["gc_tracked"] != fact.tracked:
            result.fault("tracked", fact.type, address, fact.tracked, row["gc_tracked"])
    for address, fact in truth.objects.items():
        if address not in seen:
            result.fault("missing" if fact.collected else "missing in closure", fact.type, address, "a row", "none")
    return extras


def _is_immortal(count):
    return count is None or count >= 1 << 29


def _prove_extras(result, core, extras):
    version = result.truth.version
    bodies = {address: _body(core, version, address) for address in extras}
    referred = core.referred_to(bodies)
    by_content = _content_referred_to(core, version, {a: row for a, row in extras.items() if a not in referred}, bodies)
    for address, row in extras.items():
        result.extras[row.get("found_by")] += 1
        result.extra_types[row["type"]] += 1
        doubt = _doubt(core, result.truth, extras, address)
        if doubt:
            result.fault("unexplained", row["type"], address, doubt, row.get("found_by"))
        elif address in referred:
            result.proofs[REFERRER] += 1
        elif address in by_content:
            result.proofs[CONTENT] += 1
        elif core.block_state(address, version) == "allocated" or (row.get("found_by") == "malloc" and (core.chunk_in_use(address) or core.other_block_in_use(address))):
            result.proofs[ALLOCATED] += 1
        else:
            result.fault("unexplained", row["type"], address, "nothing refers to it", row.get("found_by"))


def _body(core, version, address):
    """Where the object itself lies. Its size does not tell, since it may count a buffer elsewhere."""
    if core.block_state(address, version) == "allocated":
        return core.block_of(address, version)
    return address, address + core.header


def _content_referred_to(core, version, rows, bodies):
    """The str and bytes whose characters C code points at, after keeping the object alive for good: NumPy's docstrings, names of
    methods. The characters start right after the header, which is longer if they are not ASCII, and shorter from 3.12 on."""
    starts = {"str": (40, 56) if version >= (3, 12) else (48, 72), "bytes": (32,)}
    starts = {name: tuple(start + core.header - 16 for start in places) for name, places in starts.items()}
    inner = {address + start: address for address, row in rows.items() for start in starts.get(row["type"], ())}
    return {inner[held] for held in core.referred_to({held: bodies[address] for held, address in inner.items()})}


def _doubt(core, truth, extras, address):
    """Why the bytes at `address` are not a live object of the type that its row says, or None."""
    count = core.reference_count(address, truth.version)
    if count is None:
        return "its header is not in the core"
    if count == 0:
        return "its count is 0"
    state = core.block_state(address, truth.version)
    if state in ("free", "inside"):
        return "its block is free" if state == "free" else "no object starts there in its block"
    if state and any(mate in truth.objects or mate in extras for mate in core.block_mates(address, truth.version)):
        return "another object has its block"
    type_address = core.type_of(address)
    name = truth.types.get(type_address)
    if name is None:  # a type that the process did not list: its own type must be one that it did
        return None if core.type_of(type_address or 0) in truth.types else "its type pointer is no type"
    said = extras[address]["type"]  # anonymous where heapsift has no files: then nothing is claimed
    return None if said in (name, "<type %#x>" % type_address) else "its type is %s" % name
