// How a command ends: its answer is written, then the process ends with the exit code.

#include "cli/session.h"

#include "cli/program.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <fcntl.h>
#include <unistd.h>

using namespace heapsift;

namespace {

int ended_with = -1;

/// Standard output goes nowhere while it lives.
class Quiet {
public:
    Quiet() : output_(::dup(STDOUT_FILENO)) {
        const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        ::dup2(nowhere, STDOUT_FILENO);
        ::close(nowhere);
    }
    ~Quiet() {
        ::dup2(output_, STDOUT_FILENO);
        ::close(output_);
    }

private:
    int output_;
};

struct Ending {
    ExitCode returned;
    int ended;
};

/// How a session ends that writes an answer in JSON. `damage`: part of the core did not read.
Ending ending(EndProcess end, bool damage = false, const std::optional<Error>& error = std::nullopt) {
    CommonOptions options;
    options.format = Format::json;
    options.progress = When::never;
    options.quiet = true;
    const Words words;
    Redactor redactor;
    Console console(true, redactor);
    Session session(options, words, console, redactor, run_program, end);
    if (damage) session.diagnostics().add("damaged", "a part does not read", Severity::damage);
    ended_with = -1;
    const Quiet quiet;
    const ExitCode returned = session.write(Document{.command = "types"}, error);
    return {returned, ended_with};
}

}  // namespace

TEST_CASE("session: the process ends as soon as the answer is written, with its exit code",
          "[cli][session]") {
    const EndProcess end = [](int code) { ended_with = code; };
    CHECK(ending(end).ended == 0);
    CHECK(ending(end, true).ended == 3);
    CHECK(ending(end, false, cannot_analyse("no-python", "there is no interpreter")).ended == 1);
}

TEST_CASE("session: without a way to end the process, the exit code is returned", "[cli][session]") {
    CHECK(ending(nullptr).returned == ExitCode::answered);
    CHECK(ending(nullptr, true).returned == ExitCode::answered_in_part);
    CHECK(ending(nullptr).ended == -1);
}

TEST_CASE("session: under --redact nothing says where a dangling reference leads: it may be text",
          "[cli][session]") {
    test::SmallCore core;
    const auto list = core.heap.heap().integer<std::uint64_t>(core.items + *core.heap.layout().list.ob_item);
    core.heap.put(Address(list), std::uint64_t{0x6f7773736170});
    const test::TemporaryDirectory directory;
    const bool redact = GENERATE(false, true);
    CommonOptions options;
    options.core = directory.write("core", core.bytes());
    options.no_index = true;
    options.progress = When::never;
    options.quiet = true;
    const Words words;
    Redactor redactor(redact);
    Console console(true, redactor);
    Session session(options, words, console, redactor, run_program, nullptr);
    session.leave_core_in_use();
    CoreHeap heap = session.open_heap();
    heap.add({all_columns});
    session.note_references(heap);
    std::string said;
    for (const Diagnostic& one : session.diagnostics().all())
        if (one.code == "references-dangling") said = one.message;
    CHECK_THAT(said, ContainsSubstring("a list"));
    CHECK((said.find("6f7773736170") == std::string::npos) == redact);
}
