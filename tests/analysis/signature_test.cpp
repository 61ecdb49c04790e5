// What cores with the same cause have in common, and what must not distinguish them.

#include "analysis/signature.h"

#include "analysis/dominant_types.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

#include <csignal>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::string program(const std::string& name, const std::string& arguments, bool with_arguments = true) {
    ProcessInfo process;
    process.name = name;
    process.arguments = arguments;
    return program_name(process, with_arguments);
}

TypeRow type(const std::string& name, std::uint64_t memory) {
    TypeRow row;
    row.name = name;
    row.memory = memory;
    return row;
}

}  // namespace

TEST_CASE("signature: the program is what Python was told to run", "[signature]") {
    CHECK(program("python3", "/usr/bin/python3 -X dev -u /srv/worker.py --id 7 ") == "worker.py");
    CHECK(program("python3", "python3.11 -m app.main serve") == "app.main");
    CHECK(program("python3", "python3 -c import time") == "-c");
    CHECK(program("python3", "python3 -i") == "python3");
    CHECK(program("gunicorn", "gunicorn: worker [shop]") == "gunicorn");
    CHECK(program("worker-48213", "") == "worker-#");
    CHECK(program("x", "/opt/job_20260101_12.bin") == "job_#_12.bin");
}

TEST_CASE("signature: without arguments only the process's name is in it", "[signature][redact]") {
    CHECK(program("python3", "python3 /home/ann/secret.py", false) == "python3");
}

TEST_CASE("signature: types with a quarter of the memory, those of one name together", "[signature]") {
    using Names = std::vector<std::string>;
    CHECK(dominant_types({type("dict", 50), type("app.Node", 30), type("str", 20)}, 100) ==
          Names{"app.Node", "dict"});
    CHECK(dominant_types({type("str", 24), type("app.Row", 13), type("app.Row", 13)}, 100) ==
          Names{"app.Row"});
    CHECK(dominant_types({type("b", 20), type("a", 20), type("c", 10)}, 1000) == Names{"a"});
    CHECK(dominant_types({}, 0).empty());
}

TEST_CASE("signature: how it ended, and the largest part of the memory", "[signature]") {
    OverviewResult result;
    result.memory = {{"array data", 10}, {"Python objects", 5}};
    result.dominant_types = {"dict", "numpy.ndarray"};
    ProcessInfo process;
    process.name = "python3";
    process.signal = SIGABRT;
    CHECK(signature(result, process, {3, 11, 2}, true) ==
          "CPython 3.11; python3; SIGABRT; array data; dict, numpy.ndarray");
    process.signal = SIGTRAP;
    process.from_gcore = true;
    CHECK(signature(result, process, {3, 11, 4}, true) ==
          "CPython 3.11; python3; alive; array data; dict, numpy.ndarray");
}

TEST_CASE("signature: a shorter table of types does not change it", "[signature]") {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100), "dict", facts(64, 640), {}, {}},
                    {Address(0x10200), "str", facts(64, 600), {}, {}}};
    heap.memory = {{"Python objects", 1240}};
    const HandmadeReader reader = heap.build();
    Work work(reader);
    CHECK(overview(work, 1).dominant_types == std::vector<std::string>{"dict", "str"});
    CHECK(overview(work, 1).dominant_types == overview(work, 0).dominant_types);
}
