// /proc/PID/status and stat, as the kernel writes them and as nobody should.

#include "parsers/process/process_facts.h"

#include "tests/catch.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace heapsift;

TEST_CASE("process facts: a status", "[process]") {
    const auto facts = read_process_status(
        "Name:\tpython3 (x)\nUmask:\t0022\nState:\tS "
        "(sleeping)\nTgid:\t31\nNgid:\t0\nPid:\t32\nPPid:\t7\nTracerPid:\t0\n"
        "Uid:\t1000\t1001\t1002\t1003\nGid:\t100\t101\t102\t103\nNSpid:\t32\t5\t1\nKthread:\t0\nVmRSS:\t    "
        "2048 kB\n"
        "RssAnon:\t1024 kB\nVmSwap:\t1 kB\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000080000\n");
    REQUIRE(facts.has_value());
    CHECK(facts->name == "python3 (x)");
    CHECK(facts->process == 31);
    CHECK(facts->pid == 32);
    CHECK(facts->parent == 7);
    CHECK(facts->state == 'S');
    CHECK_FALSE(facts->kernel_thread);
    CHECK(facts->user == 1000);
    CHECK(facts->effective_user == 1001);
    CHECK(facts->saved_group == 102);
    CHECK(facts->namespace_pids == std::vector<std::int32_t>{32, 5, 1});
    CHECK(facts->resident_bytes == 2048 * 1024);
    CHECK(facts->swapped_bytes == 1024);
    CHECK(facts->effective == std::uint64_t{1} << capability_sys_ptrace);
}

TEST_CASE("process facts: what is no status", "[process]") {
    for (const char* text :
         {"", "\n\n", "Name:", "Pid:\t1\n", "Pid:\t1\nTgid:\t1\nState:\n",
          "Pid:\t99999999999999\nTgid:\t1\nState:\tR\n", "Pid:\t-1\nTgid:\t1\nState:\tR\n"})
        CHECK_FALSE(read_process_status(text).has_value());
    const auto odd = read_process_status(
        "Pid:\t1\nTgid:\t1\nState:\tR\nUid:\t1\nVmRSS:\t99999999999999999999 kB\nNSpid:\tx\n");
    REQUIRE(odd.has_value());
    CHECK(odd->effective_user == 0);
    CHECK_FALSE(odd->resident_bytes.has_value());
    CHECK(odd->namespace_pids.empty());
}

TEST_CASE("process facts: the start behind a name with brackets and blanks", "[process]") {
    CHECK(start_time_in("7 (a) S 1) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 1 0 424242 9 9") == 424242);
    CHECK_FALSE(start_time_in("7 (a) S 1 2 3").has_value());
    CHECK_FALSE(start_time_in("").has_value());
    CHECK_FALSE(start_time_in("7 (a)").has_value());
}

TEST_CASE("process facts: this process, and a zombie", "[process]") {
    const auto self = process_facts(static_cast<std::int32_t>(::getpid()));
    REQUIRE(self.has_value());
    CHECK(self->effective_user == ::geteuid());
    CHECK(self->resident_bytes.value_or(0) > 0);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    siginfo_t end{};
    ::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT);
    const auto zombie = process_facts(static_cast<std::int32_t>(child));
    ::waitpid(child, nullptr, 0);
    REQUIRE(zombie.has_value());
    CHECK(zombie->state == 'Z');
    CHECK_FALSE(zombie->kernel_thread);
    CHECK_FALSE(process_facts(static_cast<std::int32_t>(child)).has_value());
}
