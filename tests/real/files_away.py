"""Makes a core look as if it came from a machine that no longer exists.

A core names the files that were mapped (NT_FILE) and has the first page of each, with its build-id. `move_files_away` replaces the first
folder in each name, so that no file is found. `forget_builds` also changes the build-ids, so that no table made from a known build
applies, as with an interpreter that somebody built at home. Both write into the core in place and change no length.
Sources: elf(5), core(5), the gABI's "Note Section"; NT_FILE as fs/binfmt_elf.c writes it.
"""

import mmap
import os
import shutil
import struct
import subprocess

_PT_LOAD, _PT_NOTE, _NT_FILE, _NT_GNU_BUILD_ID = 1, 4, 0x46494C45, 3


def move_files_away(core):
    """Returns how many names were changed."""
    with _writable(core) as image:
        names = 0
        for kind, start, end in _notes_of_core(image):
            if kind == _NT_FILE:
                names += _rename(image, start, end)
        return names


def forget_builds(core):
    """`move_files_away`, and also changes the build-ids. Returns how many it changed."""
    move_files_away(core)
    with _writable(core) as image:
        changed = 0
        loads = [header for header in _program_headers(image, 0) if header[0] == _PT_LOAD]
        for kind, start, _ in list(_notes_of_core(image)):
            if kind != _NT_FILE:
                continue
            for address in _first_pages(image, start):
                changed += _change_build_id(image, loads, address)
        return changed


class BareRoot:
    """A root directory with only one program, its libraries and one core: what runs in it finds no file of the process, and no separate
    debug file. Needs root, for chroot; mounts nothing."""

    def __init__(self, program, core, folder):
        self._root = os.path.join(folder, "bare")
        for path in [program, *_libraries_of(program)]:
            self._bring(path, path)
        self._bring(core, "/core")

    @staticmethod
    def why_not():
        """None if it can be made."""
        return None if os.geteuid() == 0 else "this machine's debug files stay in sight, since only root can hide them"

    def enter(self):
        """In a new process. The program has its own path, the core is /core."""
        os.chroot(self._root)
        os.chdir("/")

    def _bring(self, path, name):
        there = self._root + name
        os.makedirs(os.path.dirname(there), exist_ok=True)
        try:
            os.link(os.path.realpath(path), there)
        except FileExistsError:  # from an earlier question about that core
            pass
        except OSError:  # on another file system
            shutil.copyfile(path, there)
            shutil.copymode(path, there)


def _libraries_of(program):
    """The loader among them."""
    for line in subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout.splitlines():
        for word in line.split():
            if word.startswith("/"):
                yield word


class _writable:
    def __init__(self, path):
        self._path = path

    def __enter__(self):
        self._file = open(self._path, "r+b")
        self._image = mmap.mmap(self._file.fileno(), 0)
        return self._image

    def __exit__(self, *_):
        self._image.flush()
        self._image.close()
        self._file.close()


def _program_headers(image, at):
    """(type, offset, vaddr, filesz) of the ELF image that begins at file offset `at`."""
    table, = struct.unpack_from("<Q", image, at + 32)
    size, count = struct.unpack_from("<HH", image, at + 54)
    if count == 0xFFFF:  # PN_XNUM: the number is in the first section header
        sections, = struct.unpack_from("<Q", image, at + 40)
        count, = struct.unpack_from("<I", image, at + sections + 44)
    for index in range(count):
        kind, _, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", image, at + table + index * size)
        yield kind, offset, vaddr, filesz


def _notes(image, start, end):
    """(type, start and end of the description), all offsets in the file."""
    while start + 12 <= end:
        name_size, size, kind = struct.unpack_from("<III", image, start)
        begin = start + 12 + (name_size + 3 & ~3)
        yield kind, begin, begin + size
        start = begin + (size + 3 & ~3)


def _notes_of_core(image):
    for kind, offset, _, filesz in _program_headers(image, 0):
        if kind == _PT_NOTE:
            yield from _notes(image, offset, offset + filesz)


def _rename(image, start, end):
    count, = struct.unpack_from("<Q", image, start)
    at, renamed = start + 16 + 24 * count, 0
    while at < end:
        stop = image.find(b"\0", at)
        folder = image.find(b"/", at + 1)
        if image[at:at + 1] == b"/" and at < folder < stop:
            image[at + 1:folder] = b"~" * (folder - at - 1)
            renamed += 1
        at = stop + 1
    return renamed


def _first_pages(image, start):
    count, _ = struct.unpack_from("<QQ", image, start)
    for row in range(count):
        address, _, page_offset = struct.unpack_from("<QQQ", image, start + 16 + 24 * row)
        if page_offset == 0:
            yield address


def _change_build_id(image, loads, address):
    for _, offset, vaddr, filesz in loads:
        if not vaddr <= address < vaddr + filesz:
            continue
        head = offset + address - vaddr
        if image[head:head + 4] != b"\x7fELF":
            return 0
        changed = 0
        for kind, note, _, size in list(_program_headers(image, head)):
            if kind != _PT_NOTE or head + note + size > offset + filesz:
                continue
            for note_kind, begin, end in _notes(image, head + note, head + note + size):
                if note_kind == _NT_GNU_BUILD_ID and image[begin - 4:begin] == b"GNU\0":
                    image[begin:end] = bytes(byte ^ 0x5A for byte in image[begin:end])
                    changed += 1
        return changed
    return 0
