// Why the memory of a process may not be read: each reason has its own line and its own cure.

#include "parsers/process/access.h"

#include "tests/catch.h"

#include <unistd.h>

#include <cerrno>

using namespace heapsift;

namespace {

constexpr std::uint64_t all_capabilities = 0x1ffffffffff;

ProcessFacts process_of(std::uint32_t user, std::int32_t pid = 1234) {
    ProcessFacts facts;
    facts.pid = facts.process = pid;
    facts.parent = 1;
    facts.name = "python3";
    facts.state = 'S';
    facts.user = facts.effective_user = facts.saved_user = user;
    facts.group = facts.effective_group = facts.saved_group = user;
    return facts;
}

/// Refused, of one user to another.
AccessFacts between(std::uint32_t self, std::uint32_t other) {
    AccessFacts facts;
    facts.pid = 1234;
    facts.self = process_of(self, 99);
    facts.process = process_of(other);
    facts.refused = EACCES;
    facts.dumpable = true;
    facts.same_user_namespace = true;
    return facts;
}

struct Line {
    std::string code, text, hint;
    ExitCode exit = ExitCode::answered;
};

Line line(const AccessFacts& facts) {
    const auto error = why_no_access(facts, "1234 types");
    if (!error) return {};
    CHECK(error->message().find('\n') == std::string::npos);
    CHECK_FALSE(error->hint().empty());
    return {error->code(), error->message(), error->hint(), error->exit()};
}

}  // namespace

TEST_CASE("access: a process whose memory opens is never refused, whatever its facts", "[process][access]") {
    AccessFacts facts = between(1000, 0);
    facts.refused = 0;
    CHECK(line(facts).code.empty());
}

TEST_CASE("access: a frozen process can be read and not stopped, and its group is named",
          "[process][access]") {
    AccessFacts facts = between(0, 1000);
    facts.refused = 0;
    facts.frozen_group = "/sys/fs/cgroup/freezer/docker/a\x1b";
    CHECK(line(facts).code == "frozen");
    CHECK(line(facts).exit == ExitCode::cannot_analyse);
    CHECK_THAT(line(facts).hint, ContainsSubstring("/sys/fs/cgroup/freezer/docker/a"));
    CHECK_THAT(line(facts).hint, !ContainsSubstring("\x1b"));
    facts.refused = EACCES;
    CHECK(line(facts).code == "not-permitted");
}

TEST_CASE("access: no process, a thread, a zombie, a thread of the kernel", "[process][access]") {
    AccessFacts facts = between(1000, 1000);
    facts.process->process = 1200;
    CHECK(line(facts).code == "a-thread");
    CHECK(line(facts).hint == "heapsift 1200");
    facts = between(1000, 1000);
    facts.process->state = 'Z';
    facts.process->parent = 77;
    CHECK(line(facts).code == "zombie");
    facts.living_thread = facts.pid + 1;  // its first thread has ended, others go on
    CHECK(line(facts).code == "first-thread-ended");
    CHECK(line(facts).hint.find(std::to_string(facts.pid + 1)) != std::string::npos);
    facts.living_thread = 0;
    CHECK_THAT(line(facts).hint, ContainsSubstring("process 77"));
    facts = between(0, 0);
    facts.process->kernel_thread = true;
    CHECK(line(facts).code == "kernel-thread");
    facts.process.reset();
    CHECK(line(facts).code == "no-such-process");
    CHECK_THAT(why_no_access(facts, "", MayBeFile::yes)->message(),
               ContainsSubstring("and no file of that name"));
    CHECK(why_no_access(facts, "", MayBeFile::no)->message() == "there is no process 1234");
    CHECK(line(facts).exit == ExitCode::cannot_analyse);
    facts.processes_hidden = true;
    CHECK_THAT(line(facts).text, !ContainsSubstring("hidepid"));  // root sees all
    facts.self = process_of(1000);
    CHECK_THAT(line(facts).text, ContainsSubstring("hidepid"));
}

TEST_CASE("access: another user", "[process][access]") {
    const Line other = line(between(4242, 4343));
    CHECK(other.code == "not-permitted");
    CHECK(other.exit == ExitCode::cannot_analyse);
    CHECK_THAT(other.text, ContainsSubstring("belongs to uid 4343") && ContainsSubstring("runs as uid 4242"));
    CHECK_THAT(other.hint, ContainsSubstring("sudo heapsift 1234 types"));
    CHECK_THAT(line(between(0, 4343)).text, ContainsSubstring("root here lacks the capability SYS_PTRACE"));
    CHECK_THAT(line(between(0, 4343)).hint, ContainsSubstring("--cap-add SYS_PTRACE"));
    AccessFacts setuid = between(4242, 4242);
    setuid.process->effective_user = 0;
    CHECK_THAT(line(setuid).text, ContainsSubstring("belongs to root (uid 0)"));
    AccessFacts other_group = between(4242, 4242);
    other_group.process->group = 7;
    CHECK_THAT(line(other_group).text, ContainsSubstring("another group"));
}

TEST_CASE("access: Yama's scopes", "[process][access]") {
    AccessFacts facts = between(1000, 1000);
    facts.yama_scope = 1;
    CHECK_THAT(line(facts).text,
               ContainsSubstring("only its parent") && ContainsSubstring("ptrace_scope is 1"));
    CHECK_THAT(line(facts).hint, ContainsSubstring("sudo heapsift 1234 types") &&
                                     ContainsSubstring("sysctl kernel.yama.ptrace_scope=0"));
    facts.yama_scope = 2;
    CHECK_THAT(line(facts).text, ContainsSubstring("only root"));
    CHECK_THAT(line(facts).hint, !ContainsSubstring("sysctl"));
    facts.yama_scope = 3;
    CHECK_THAT(line(facts).text, ContainsSubstring("nobody"));
    CHECK_THAT(line(facts).hint, ContainsSubstring("help capture"));
    facts.yama_scope = 0;
    CHECK_THAT(line(facts).text, ContainsSubstring("security policy"));
    AccessFacts in_container = between(0, 0);
    in_container.yama_scope = 1;
    CHECK_THAT(line(in_container).hint, ContainsSubstring("--cap-add SYS_PTRACE"));
}

TEST_CASE("access: not dumpable, more capabilities, another user namespace", "[process][access]") {
    AccessFacts facts = between(1000, 1000);
    facts.dumpable = false;
    CHECK_THAT(line(facts).text, ContainsSubstring("protected"));
    facts = between(1000, 1000);
    facts.process->permitted = 1;
    CHECK_THAT(line(facts).text, ContainsSubstring("capabilities"));
    facts = between(1000, 1000);
    facts.same_user_namespace = false;
    CHECK_THAT(line(facts).text, ContainsSubstring("another user namespace"));
    // Root of a user namespace, of a process outside.
    facts = between(0, 65534);
    facts.self.effective = facts.self.permitted = all_capabilities;
    facts.same_user_namespace.reset();
    facts.in_user_namespace = true;
    CHECK_THAT(line(facts).text, ContainsSubstring("outside the user namespace"));
    CHECK_THAT(line(facts).hint, ContainsSubstring("on the host"));
}

TEST_CASE("access: of processes that are there", "[process][access]") {
    const AccessFacts own = access_facts(static_cast<std::int32_t>(::getpid()));
    REQUIRE(own.process.has_value());
    CHECK(own.refused == 0);
    CHECK(own.same_user_namespace == true);
    CHECK_FALSE(why_no_access(own, "").has_value());
    const AccessFacts none = access_facts(INT32_MAX);
    CHECK_FALSE(none.process.has_value());
    CHECK(why_no_access(none, "")->code() == "no-such-process");
}
