"""Growth that no Python object explains: blocks that ctypes asked malloc for and nobody frees, and C++ objects of a library that leaks them.
What must be found is written down: blocks by what malloc can use of them, and the addresses of some; objects by class.

With HEAPSIFT_NUMBERS, 10,000 ints are kept that are addresses of these blocks, and so many floats.
"""

import ctypes
import os
import struct

import standstill

BLOCKS = {3000: 60_000, 1000: 40_000}
LOST = 8 << 20
NUMBERS = 10_000
CLASSES = {"shapes::Circle": 50_000, "shapes::Polygon": 40_000, "shapes::Label": 20_000, "shapes::Kept": 5_000}


SOME = 1000  # blocks whose addresses are written down, xor'ed with a mask: an address itself would be an int that may be a handle
MASK = 0x5a5a5a5a5a5a


class Numbers:
    ints, floats, masked = [], [], []


def leak_blocks(libc):
    sizes = {}
    for size, count in BLOCKS.items():
        for _ in range(count):
            block = libc.malloc(size)
            ctypes.memset(block, 1, 16)
            if len(Numbers.masked) < SOME:
                Numbers.masked.append(block ^ MASK)
            if "HEAPSIFT_NUMBERS" in os.environ and len(Numbers.ints) < NUMBERS:
                Numbers.ints.append(block)
                Numbers.floats.append(struct.unpack("d", struct.pack("Q", block))[0])
        sizes[libc.malloc_usable_size(ctypes.c_void_p(block))] = count
    lost = libc.malloc(LOST)
    ctypes.memset(lost, 1, LOST)
    return sizes, libc.malloc_usable_size(ctypes.c_void_p(lost))


def main():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.malloc_usable_size.restype = ctypes.c_size_t
    sizes, lost = leak_blocks(libc)
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libnative_leak.so"))
    library.leak_shapes(*CLASSES.values())
    standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], {"sizes": sizes, "lost": lost, "classes": CLASSES, "kept": "shapes::Kept",
                                                             "kept_in": "shapes::kept",
                                                             "mask": MASK, "some": Numbers.masked, "numbers": len(Numbers.ints)})


if __name__ == "__main__":
    main()
