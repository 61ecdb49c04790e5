"""A process with objects of types that come with extension modules, of whatever packages are at hand.

Nobody has described most of these types to heapsift: their own code has to tell what they refer to. Each exhibit makes many objects that
differ from each other in which of their fields are set. One whose package is not there is named and left out.
"""

import gc
import sys

import exhibits
import truth

EXHIBITS = []
KEPT = {}


def exhibit(function):
    EXHIBITS.append(function)
    return function


@exhibit
def elements_of_lxml():
    from lxml import etree, objectify
    feed = etree.fromstring("<feed xmlns:a='urn:a'>" + "".join("<a:entry id='%d'><title>T%d</title>text<!-- c --><?p i?></a:entry>" % (i, i) for i in range(3000)) + "</feed>")
    elements = list(feed.iter())
    parser = etree.XMLParser(remove_comments=True)
    path = etree.XPath("//title")
    style = etree.XSLT(etree.fromstring("<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template match='/'><b/></xsl:template></xsl:stylesheet>"))
    attributes = [element.attrib for element in elements[:2000] if isinstance(element.tag, str)]
    walks = [element.iterchildren() for element in elements[:600]] + [element.iterancestors() for element in elements[:300]] + [iter(element) for element in elements[:300]]
    kept = [feed, elements, parser, path, path(feed), style, style(feed), attributes, walks, etree.QName("a", "b"), etree.ElementTree(feed), feed.getroottree().docinfo]
    for walk in walks[::2]:
        next(walk, None)
    kept.append(objectify.fromstring("<r><a>1</a><b>x</b></r>"))
    kept.append([objectify.fromstring("<r><a>%d</a></r>" % i).a for i in range(300)])
    kept.append(etree.iterwalk(feed, events=("start", "end")))
    return kept


@exhibit
def frames_of_pandas():
    import pandas
    frames = [pandas.DataFrame({"a": range(50), "b": [str(i) for i in range(50)], "c": pandas.Categorical(["x", "y"] * 25)}) for _ in range(200)]
    stamps = [pandas.Timestamp("2020-01-01", tz="UTC") + pandas.Timedelta(days=i) for i in range(700)]
    periods = [pandas.Period(year=2000 + i, freq="Y") for i in range(100)]
    series = [frame["a"][::2] for frame in frames] + [frame.set_index("b")["a"] for frame in frames[:50]]
    for one in series[-50:]:
        one.index.get_loc("7")
    offsets = [pandas.offsets.BDay(i) for i in range(1, 100)]
    intervals = [pandas.Interval(i, i + 1) for i in range(200)]
    return frames, stamps, periods, series, offsets, intervals, [frame.groupby("c") for frame in frames[:20]], [frame.rolling(3) for frame in frames[:20]], pandas.NA, pandas.NaT


@exhibit
def classes_of_mypyc():
    import os
    import mypy.build
    import mypy.errors
    import mypy.fscache
    import mypy.main
    sources, options = mypy.main.process_options(["-c", "import typing\nclass A:\n    x: typing.List[int] = []\n    def f(self, y: 'A') -> str: return str(y.x)\n",
                                                  "--cache-dir=" + os.devnull, "--no-incremental"])
    options.preserve_asts = True
    return mypy.build.build(sources, options, None, None, mypy.fscache.FileSystemCache())


@exhibit
def greenlets():
    import greenlet

    def work(number):
        local = [number]
        greenlet.getcurrent().parent.switch(local)

    class Worker(greenlet.greenlet):  # no collection asks one that waits: not even for its class
        pass

    waiting = [(Worker if number % 2 else greenlet.greenlet)(work) for number in range(300)]
    for number, one in enumerate(waiting[:250]):
        one.switch(number)
    return waiting


@exhibit
def messages_of_protobuf():
    from google.protobuf import descriptor_pb2, struct_pb2
    files = []
    for i in range(600):
        message = descriptor_pb2.FileDescriptorProto(name="f%d" % i)
        for k in range(i % 4):
            message.message_type.add(name="m%d" % k).field.add(name="x", number=1)
        files.append((message, message.message_type, message.options if i % 3 == 0 else None))
    struct = struct_pb2.Struct()
    struct.update({"a": 1, "b": ["x", {"c": None}]})
    return files, struct, struct.fields, struct.DESCRIPTOR


@exhibit
def figures_of_matplotlib():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import figure
    figures = []
    for i in range(5):
        one = figure.Figure()
        one.add_subplot().plot(range(10), [x * i for x in range(10)], label="l")
        one.canvas.draw() if hasattr(one.canvas, "draw") else None
        figures.append(one)
    return figures


@exhibit
def solvers_of_kiwi():
    import kiwisolver
    variables = [kiwisolver.Variable("v%d" % i) for i in range(400)]
    expressions = [2 * a + b + 1 for a, b in zip(variables, variables[1:])]
    solver = kiwisolver.Solver()
    constraints = [e >= i for i, e in enumerate(expressions[:50])]
    for constraint in constraints:
        solver.addConstraint(constraint)
    return variables, expressions, constraints, solver


@exhibit
def arrays_of_scipy():
    import numpy
    from scipy import interpolate, optimize, sparse, spatial
    trees = [spatial.cKDTree(numpy.random.rand(20, 2)) for _ in range(100)]
    return (trees, [tree.query_pairs(0.1, output_type="set") for tree in trees[:10]], sparse.random(50, 50, 0.1), interpolate.interp1d([0, 1, 2], [0, 1, 4]),
            optimize.minimize(lambda x: x[0] ** 2, [1.0]), spatial.Delaunay(numpy.random.rand(10, 2)))


@exhibit
def tensors_of_torch():
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    outputs = [model(torch.rand(2, 4)) for _ in range(80)]
    sums = [output.sum() for output in outputs]
    sums[0].backward()
    return model, outputs, sums, [s.grad_fn for s in sums], torch.Generator(), torch.float32, torch.device("cpu"), torch.Size([1, 2]), [p.grad for p in model.parameters()]


@exhibit
def loaders_of_yaml():
    import io
    import yaml
    loaders = [yaml.CLoader(io.StringIO("a: [1, 2, {b: c}]\nd: &x 1\ne: *x\n")) for _ in range(60)]
    for loader in loaders[::2]:
        loader.get_event()
    return loaders, [event for event in yaml.parse("a: 1\n", Loader=yaml.CLoader)], [yaml.CDumper(io.StringIO()) for _ in range(20)]


@exhibit
def images_of_pillow():
    from PIL import Image, ImageDraw, ImageFont
    images = [Image.new("RGB", (8, 8), (i, 0, 0)) for i in range(100)]
    return images, [ImageDraw.Draw(image) for image in images], [image.getdata() for image in images[:20]], ImageFont.load_default()


@exhibit
def geometries_of_shapely():
    from shapely import geometry, prepared
    points = [geometry.Point(i, i).buffer(1) for i in range(100)]
    return points, [prepared.prep(point) for point in points]


@exhibit
def cffi_objects():
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("struct s { int a; struct s *next; }; int puts(const char *);")
    return ffi, ffi.dlopen(None), [ffi.new("struct s *", {"a": i}) for i in range(200)], [ffi.new_handle([i]) for i in range(100)], [ffi.gc(ffi.new("int *"), id) for _ in range(60)], ffi.callback("int(int)", lambda x: x)


@exhibit
def dictionaries_of_frozenlist_and_multidict():
    import multidict
    return [multidict.CIMultiDict(a=i, b=[i]) for i in range(200)], [multidict.CIMultiDictProxy(multidict.CIMultiDict(a=i)) for i in range(60)]


@exhibit
def objects_of_glib():
    from gi.repository import GLib, Gio
    return [GLib.Variant("(si)", ("a", i)) for i in range(100)], [Gio.Cancellable() for _ in range(50)], GLib.MainLoop()


def stand_still():
    truth.record()


exhibits.open_houses("foreign", (sys.modules[__name__],), KEPT)
gc.collect()
stand_still()
