// What cores with the same cause have in common, and what must not distinguish them.

#include "analysis/suspects/signature.h"

#include "tests/catch.h"

#include <csignal>

using namespace heapsift;

namespace {

std::string program(const std::string& name, const std::string& arguments, bool with_arguments = true) {
    ProcessInfo process;
    process.name = name;
    process.arguments = arguments;
    return program_name(process, with_arguments);
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

TEST_CASE("signature: the largest suspect, and nothing of how the process ended", "[signature]") {
    OverviewResult result;
    result.memory = {{"array data", 10}, {"Python objects", 5}};
    result.dominant_types = {"dict", "numpy.ndarray"};
    ProcessInfo process;
    process.name = "python3";
    process.signal = SIGKILL;
    CHECK(signature(result, {}, process, "f(), a.py", true) ==
          "python3; no suspect; array data: dict, numpy.ndarray");
    SuspectsResult suspects;
    suspects.suspects.resize(1);
    suspects.suspects[0].cause.kind = "lru-cache";
    suspects.suspects[0].pattern = "render of str";
    const std::string leak = "python3; lru-cache; render of str";
    CHECK(signature(result, suspects, process, "f(), a.py", true) == leak);
    process.signal = SIGTRAP;
    process.from_gcore = true;
    CHECK(signature(result, suspects, process, "f(), a.py", true) == leak);
    suspects.suspects[0].cause.kind.clear();
    CHECK(signature(result, suspects, process, "", true) == "python3; holder; render of str");
}

TEST_CASE("signature: of a crash, where it was", "[signature]") {
    SuspectsResult suspects;
    suspects.suspects.resize(1);
    suspects.suspects[0].pattern = "CACHE of str";
    ProcessInfo process;
    process.name = "python3";
    process.signal = SIGSEGV;
    process.signal_code = SEGV_MAPERR;
    CHECK(signature({}, suspects, process, "decode(), image.py", true) ==
          "python3; SIGSEGV in decode(), image.py");
    CHECK(signature({}, suspects, process, "", true) == "python3; SIGSEGV");
    process.signal_code = SI_USER;  // somebody sent it
    CHECK(signature({}, suspects, process, "", true) == "python3; holder; CACHE of str");
    process.signal = SIGABRT;
    process.signal_code = SI_TKILL;
    CHECK(signature({}, suspects, process, "f(), a.py", true) == "python3; holder; CACHE of str");
    CHECK(signature({}, {}, process, "f(), a.py", true) == "python3; SIGABRT in f(), a.py");
}
