"""The workshop's fourth room: compressed data, digests, the system, profilers and the rest of the library, half done. `work.py` says why."""

import io
import sys

from work_language import Thing, half

EXHIBITS = []


def exhibit(function):
    EXHIBITS.append(function)
    return function


@exhibit
def squeezed_data():
    import gzip
    import tarfile
    import zipfile
    import zlib
    squeezing, restoring = zlib.compressobj(zdict=b"dictionary"), zlib.decompressobj(zdict=b"dictionary")
    squeezed = squeezing.compress(b"data" * 50) + squeezing.flush(zlib.Z_SYNC_FLUSH)
    restoring.decompress(squeezed, 10)
    zipped = io.BytesIO()
    archive = zipfile.ZipFile(zipped, "w")
    archive.writestr("name", b"content")
    member = archive.open("name")
    member.read(2)
    tar = tarfile.open(fileobj=io.BytesIO(), mode="w")
    tar.addfile(tarfile.TarInfo("member"))
    reading = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(b"lines\n" * 9)))
    reading.readline()
    return (squeezing, restoring, restoring.unconsumed_tail, archive, member, tar, reading, gzip.GzipFile(fileobj=io.BytesIO(), mode="w"),
            zlib.crc32)


@exhibit
def squeezed_data_bz2():
    import bz2
    restoring = bz2.BZ2Decompressor()
    restoring.decompress(bz2.compress(b"data" * 50) + b"what comes after %d" % 5)
    reading = bz2.BZ2File(io.BytesIO(bz2.compress(b"data\n" * 50)))
    reading.readline()
    return restoring, bz2.BZ2Compressor(), reading


@exhibit
def squeezed_data_lzma():
    import lzma
    restoring = lzma.LZMADecompressor(format=lzma.FORMAT_AUTO)
    restoring.decompress(lzma.compress(b"data" * 50) + b"what comes after %d" % 5)
    reading = lzma.LZMAFile(io.BytesIO(lzma.compress(b"data\n" * 50)))
    reading.readline()
    return restoring, lzma.LZMACompressor(), reading


@exhibit
def digests():
    import hashlib
    import hmac
    made = [hashlib.new(name, b"data") for name in ("md5", "sha1", "sha512", "sha3_512", "blake2s", "shake_128")]
    return made, hmac.new(b"key", b"message", hashlib.sha256), hmac.HMAC(b"key", digestmod=lambda data=b"": hashlib.blake2b(data))


@exhibit
def things_of_the_system():
    import array
    import grp
    import mmap
    import os
    import pwd
    import resource
    import signal
    import struct
    import uuid
    region = mmap.mmap(-1, 8192)
    numbers = array.array("d", range(9))
    class Numbers(array.array):
        pass
    kind = Numbers("i", [1])
    kind.attribute = ["on an array"]
    previous = signal.signal(signal.SIGUSR1, lambda number, frame, held=[1]: held)
    entries = os.scandir("/")
    entry = next(entries)
    entry.stat(), entry.path
    return (region, memoryview(region), numbers, half(numbers), kind, struct.Struct("<ii%ds" % 5),
            half(struct.iter_unpack("<I", b"abcd" * 5)), previous, entries, entry,
            os.stat("/"), os.statvfs("/"), os.uname(), os.times(), os.sched_param(1), pwd.getpwuid(0), half(pwd.getpwall()),
            grp.getgrgid(0), resource.getrusage(0),
            uuid.uuid5(uuid.NAMESPACE_DNS, "name"), os.environ, sys.flags, sys.version_info, sys.implementation, sys.thread_info,
            half(os.walk("/")))


@exhibit
def profilers_and_tracers():
    import cProfile
    import trace
    import traceback
    import tracemalloc
    profile = cProfile.Profile(lambda: 5)
    profile.enable()
    sorted([[2], [1]], key=lambda row: row)
    profile.disable()
    profile.create_stats()
    try:
        raise ValueError([1])
    except ValueError as error:
        summary = traceback.TracebackException.from_exception(error, capture_locals=True)
    return profile, profile.stats, trace.Trace(), summary, traceback.extract_stack(), tracemalloc.Filter(True, "file")


@exhibit
def introspection():
    import dis
    import inspect
    signature = inspect.signature(half)
    return (signature, signature.bind([1], steps=2), half(dis.get_instructions(half), 3), inspect.getfullargspec(half),
            inspect.currentframe, inspect.getmembers(Thing))


@exhibit
def the_rest_of_the_library():
    import argparse
    import calendar
    import configparser
    import contextlib
    import email
    import email.policy
    import gettext
    import heapq
    import http.cookies
    import pathlib
    import sched
    import shlex
    import shutil
    import string
    import textwrap
    import unittest.mock
    import urllib.parse
    parser = argparse.ArgumentParser("prog", description="d")
    parser.add_argument("--option", type=int, choices=[1, 2])
    group = parser.add_subparsers().add_parser("sub")
    stack = contextlib.ExitStack()
    stack.callback(print, [1])
    message = email.message_from_string("Subject: s\nTo: t@example.org\n\nbody", policy=email.policy.default)
    scheduler = sched.scheduler()
    scheduler.enter(1000, 1, print, ([1],))
    lexer = shlex.shlex("a 'b c' d")
    lexer.get_token()
    mock = unittest.mock.MagicMock(spec=Thing)
    mock.method(1).other([2])

    @contextlib.contextmanager
    def manager():
        yield ["entered"]

    entered = manager()
    entered.__enter__()
    config = configparser.ConfigParser()
    config.read_string("[a]\nb = %(c)s\nc = 1\n")
    return (parser, group, calendar.TextCalendar(), config, config["a"], stack, message, message["To"], gettext.NullTranslations(),
            half(heapq.merge([[1]], [[2]])),
            http.cookies.SimpleCookie("a=b"), pathlib.Path("/a/b").parents, half(pathlib.Path("/").iterdir()), scheduler, lexer,
            textwrap.TextWrapper(), mock,
            urllib.parse.urlsplit("http://host:80/path?q#f"), entered, contextlib.closing(io.StringIO()), contextlib.redirect_stdout(None),
            shutil.disk_usage("/"),
            string.ascii_letters)
