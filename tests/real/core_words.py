"""The words of a core, read without heapsift: a second witness.

Problem: a row that heapsift shows and the process did not list is either an object that no list holds, or a ghost.
Idea: look at the bytes themselves. The object's header must have a count above 0 and a known type; its block must not be on a
free list, pymalloc's or malloc's; some other word of writable memory must hold its address. This shares nothing with heapsift: it
has a segment table, a few header fields of pymalloc (Objects/obmalloc.c), and a scan.
"""

import array
import mmap
import struct
import subprocess

try:
    import numpy
except ImportError:  # slower without: a GiB takes some 15 seconds
    numpy = None

_PT_LOAD = 1
_WRITABLE = 2
_CHUNK = 1 << 18
_PAGE = 4096

_POOL_HEADER = 48
_ALIGNMENT = 16
_SIZE_CLASSES = 32
_OBJECT_STARTS = (0, 16, 32)  # in its block: plain, behind the collector's header, behind that and __dict__ and weakrefs


class CoreWords:
    """The memory of an ELF64 little-endian core. Bytes that the core leaves out read as None."""

    def __init__(self, path, blocks=None, free_threaded=False):
        self._asked = [blocks, path]
        self._two_counts = free_threaded
        self.header = 32 if free_threaded else 16  # bytes of an object's; the last word is its type
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.segments = sorted(self._read_segments())
        self._last = (0, 0, 0, False)
        self._free_blocks = {}  # pool -> set of blocks

    def close(self):
        self._map.close()

    def _read_segments(self):
        header = struct.unpack_from("<16sHHIQQQIHHHHHH", self._map, 0)
        if header[0][:6] != b"\x7fELF\x02\x01":
            raise ValueError("not an ELF64 little-endian file")
        table, section_table, entry, count = header[5], header[6], header[9], header[10]
        if count == 0xFFFF:  # more than fit: the number stands in the first section header
            count = struct.unpack_from("<I", self._map, section_table + 44)[0]
        for index in range(count):
            kind, flags, offset, start, _, saved, _, _ = struct.unpack_from("<IIQQQQQQ", self._map, table + index * entry)
            saved = min(saved, max(0, len(self._map) - offset))
            if kind == _PT_LOAD and saved:
                yield start, start + saved, offset, bool(flags & _WRITABLE)

    def _segment(self, address):
        start, end, _, _ = self._last
        if not start <= address < end:
            low, high = 0, len(self.segments)
            while low < high:
                middle = (low + high) // 2
                if self.segments[middle][0] <= address:
                    low = middle + 1
                else:
                    high = middle
            if not low or address >= self.segments[low - 1][1]:
                return None
            self._last = self.segments[low - 1]
        return self._last

    def word(self, address):
        segment = self._segment(address)
        if segment is None or address + 8 > segment[1]:
            return None
        return struct.unpack_from("<Q", self._map, segment[2] + address - segment[0])[0]

    def half(self, address):
        """32 bits."""
        segment = self._segment(address)
        if segment is None or address + 4 > segment[1]:
            return None
        return struct.unpack_from("<I", self._map, segment[2] + address - segment[0])[0]

    def type_of(self, address):
        return self.word(address + self.header - 8)

    def reference_count(self, address, version):
        """None if the header is not in the core; 0 for an object that was freed, also if that word is a free list's link."""
        if self._two_counts:  # object.h: ob_ref_local at 12, ob_ref_shared at 16, above two bits of state
            local, shared = self.half(address + 12), self.word(address + 16)
            if local is None or shared is None:
                return None
            return local if local == 0xFFFFFFFF else max(0, local + ((shared - (1 << 64) if shared >> 63 else shared) >> 2))
        word = self.word(address)
        if word is None:
            return None
        if word >= _PAGE and self._is_free_list_link(address, word):
            return 0
        if version >= (3, 14):  # 32 bits of count, 16 that are 0 in a live object, 16 of flags; a free list's link fills them all
            return 0 if (word >> 32) & 0xFFFF else word & 0xFFFFFFFF
        if version >= (3, 12):  # an immortal object's count is 32 bits wide
            return word & 0xFFFFFFFF if word < 1 << 33 else 0
        return word if word < 1 << 40 else 0

    def references_counted(self, address, version):
        """The same, less the collector's own of an object whose count is deferred (gc bit 64)."""
        count = self.reference_count(address, version)
        if not self._two_counts or not count or count == 0xFFFFFFFF:
            return count
        return count - (self.half(address + 8) >> 30 & 1)

    def _is_free_list_link(self, address, word):
        """Whether `word`, at the start of a block, is the link by which glibc malloc chains freed blocks of a size: the address of the next
        one's chunk (a fast bin) or of the next block (a thread's cache), since 2.32 xor'ed with the link's own page. In a heap at low
        addresses that could be a count. Both ends are in the heap, so in one segment: the count 1000000000 of 3.11's static objects may
        be an address in the heap, but these objects are not there."""
        size = (self.word(address - 8) or 0) & ~7
        links = (word, word ^ address >> 12)
        return size >= 32 and any(link % 16 == 0 and self._segment(link) == self._segment(address) and (self.word(link + to) or 0) & ~7 == size
                                  for link in links for to in (8, -8))

    def block_state(self, address, version):
        """'allocated', 'free' or 'inside' (not where an object may start) by the pool around `address`; None if that is not a pool."""
        if self._two_counts:  # without pymalloc
            return None
        pool_size = 16384 if version >= (3, 10) else 4096
        pool = address & -pool_size
        first, free_block = self.word(pool), self.word(pool + 8)
        arena_and_class, offsets = self.word(pool + 32), self.word(pool + 40)
        if None in (first, free_block, arena_and_class, offsets):
            return None
        used, size_class, next_offset, limit = first & 0xFFFFFFFF, arena_and_class >> 32, offsets & 0xFFFFFFFF, offsets >> 32
        size = (size_class + 1) * _ALIGNMENT
        if size_class >= _SIZE_CLASSES or limit != pool_size - size or used > (pool_size - _POOL_HEADER) // size:
            return None
        if not _POOL_HEADER <= next_offset <= limit + size or (next_offset - _POOL_HEADER) % size:
            return None
        index, start = divmod(address - pool - _POOL_HEADER, size)
        if address < pool + _POOL_HEADER or start not in _OBJECT_STARTS:
            return "inside"
        block = pool + _POOL_HEADER + index * size
        if block >= pool + next_offset or block in self._free_list(pool, free_block, pool_size):
            return "free"
        return "allocated"

    def block_of(self, address, version):
        """The start and end of the block around `address`, which must be in a pool (`block_state`)."""
        pool = address & -(16384 if version >= (3, 10) else 4096)
        size = ((self.word(pool + 32) >> 32) + 1) * _ALIGNMENT
        block = address - (address - pool - _POOL_HEADER) % size
        return block, block + size

    def chunk_in_use(self, address):
        """Whether there is a chunk of glibc malloc in which an object at `address` may lie: a sane size before it, and a chunk after it that
        says it is in use."""
        for start in _OBJECT_STARTS:
            header = self.word(address - start - 8)
            size = (header or 0) & ~7
            if size < 32 or size % 16 or size > 1 << 40:
                continue
            follower = self.word(address - start - 8 + size)
            if header & 2 or (follower is not None and follower & 1 and 16 <= follower & ~7 < 1 << 40):
                return True
        return False

    def other_block_in_use(self, address):
        """The same of another allocator, by the program `blocks`, which jemalloc.py has compared with jemalloc itself."""
        if not self._asked[0]:
            return False
        starts = ["%#x" % (address - start) for start in _OBJECT_STARTS]
        said = subprocess.run(self._asked, input="\n".join(starts), stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
        return any(line.split()[:2] == [start, start] and line.endswith(" in_use") for start in starts for line in said.splitlines())

    def block_mates(self, address, version):
        """The other addresses at which an object may start in the block of `address`: only one of them can be an object."""
        block, end = self.block_of(address, version)
        return [block + start for start in _OBJECT_STARTS if start < end - block and block + start != address]

    def _free_list(self, pool, block, pool_size):
        known = self._free_blocks.get(pool)
        if known is None:
            known = self._free_blocks[pool] = set()
            while block and block not in known and pool <= block < pool + pool_size:
                known.add(block)
                block = self.word(block)
        return known

    def referred_to(self, bodies):
        """Of the keys of `bodies` (addresses), those that some aligned word of writable memory holds, outside of the object itself:
        `bodies` gives its first byte and the one past its last."""
        wanted, found = set(bodies), set()
        lowest, highest = min(wanted, default=0), max(wanted, default=0)
        for start, end, offset, writable in self.segments:
            if not writable:
                continue
            for base in range(start, end - 7, _CHUNK):
                length = min(_CHUNK, end - base) & ~7
                chunk = self._map[offset + base - start : offset + base - start + length]
                if not wanted or chunk.count(0) == length:
                    continue
                for address in wanted.intersection(_words(chunk, lowest, highest)):
                    if _held_outside(chunk, base, address, *bodies[address]):
                        found.add(address)
                wanted -= found
        return found


def _words(chunk, lowest, highest):
    """The words of `chunk`; with NumPy only those in the range, since most words of a big core are far outside."""
    if numpy is None:
        return array.array("Q", chunk)
    words = numpy.frombuffer(chunk, "<u8")
    return words[(words >= lowest) & (words <= highest)].tolist()


def _held_outside(chunk, base, address, first, end):
    if first >= base + len(chunk) or end <= base:
        return True
    pattern = struct.pack("<Q", address)
    position = chunk.find(pattern)
    while position >= 0:
        if position % 8 == 0 and not first <= base + position < end:
            return True
        position = chunk.find(pattern, position + 1)
    return False
