// Control groups of version 1 and 2, from the host, inside a container and beside one; and files that lie.

#include "parsers/process/memory_groups.h"

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <sys/stat.h>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

constexpr std::uint64_t mib = 1 << 20;

/// A /proc and folders of groups, made of plain files. Process 7 is asked about.
struct Machine {
    TemporaryDirectory directory;
    std::string proc = directory.path() + "/proc";

    void membership(const std::string& text) const { directory.write("proc/7/cgroup", text); }
    void mounts(const std::string& of, const std::string& text) const {
        directory.write("proc/" + of + "/mountinfo", text);
    }
    std::string v2_mount(const std::string& root, const std::string& place) const {
        return "30 24 0:26 " + root + " " + place + " rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    }
    void group(const std::string& folder, const std::string& limit, std::uint64_t current,
               std::uint64_t files = 0, const std::string& high = "max") const {
        directory.write(folder + "/memory.max", limit + "\n");
        directory.write(folder + "/memory.high", high + "\n");
        directory.write(folder + "/memory.current", std::to_string(current) + "\n");
        directory.write(folder + "/memory.stat", "anon 1\nfile " + std::to_string(files) +
                                                     "\ninactive_file " + std::to_string(files) +
                                                     "\nactive_file 0\n");
    }
    MemoryGroups groups() const { return MemoryGroups::of(7, proc, false); }
};

}  // namespace

TEST_CASE("memory groups: version 2 from the host: the process's group and those above it",
          "[process][groups]") {
    const Machine machine;
    const std::string top = machine.directory.path() + "/cg";
    machine.membership("0::/app.slice/web.service\n");
    machine.mounts("self", machine.v2_mount("/", top));
    machine.group("cg/app.slice/web.service", std::to_string(100 * mib), 80 * mib, 30 * mib);
    machine.group("cg/app.slice", std::to_string(120 * mib), 119 * mib);
    const auto uses = machine.groups().limited();
    REQUIRE(uses.size() == 2);
    CHECK(uses[0].folder == top + "/app.slice/web.service");
    CHECK(uses[0].used == 50 * mib);
    CHECK(uses[0].current == 80 * mib);
    CHECK(machine.groups().smallest()->limit == 100 * mib);
    CHECK(machine.groups().fullest()->limit == 120 * mib);  // 1 MiB is left there
}

TEST_CASE("memory groups: a limit far above counts too", "[process][groups]") {
    const Machine machine;
    std::string path;
    for (int i = 0; i < 200; ++i) path += "/g";
    machine.membership("0::" + path + "\n");
    machine.mounts("self", machine.v2_mount("/", machine.directory.path() + "/cg"));
    machine.group("cg/g", std::to_string(100 * mib), 80 * mib);
    REQUIRE(machine.groups().smallest());
    CHECK(machine.groups().smallest()->limit == 100 * mib);
}

TEST_CASE("memory groups: memory.high counts where it is less", "[process][groups]") {
    const Machine machine;
    machine.membership("0::/a\n");
    machine.mounts("self", machine.v2_mount("/", machine.directory.path() + "/cg"));
    machine.group("cg/a", "max", 5, 0, std::to_string(10 * mib));
    CHECK(machine.groups().smallest()->limit == 10 * mib);
    CHECK(machine.groups().smallest()->slows_down);
    machine.group("cg/a", std::to_string(5 * mib), 5, 0, std::to_string(10 * mib));
    CHECK_FALSE(machine.groups().smallest()->slows_down);
    machine.group("cg/a", "max", 5);
    CHECK_FALSE(machine.groups().smallest().has_value());
}

TEST_CASE("memory groups: those that are killed as a whole, by memory.max alone", "[process][groups]") {
    const Machine machine;
    const std::string top = machine.directory.path() + "/cg";
    machine.membership("0::/pod/app/inner\n");
    machine.mounts("self", machine.v2_mount("/", top));
    const auto flag = [&](const std::string& folder, const std::string& text) {
        machine.directory.write(folder + "/memory.oom.group", text + "\n");
    };
    machine.group("cg/pod/app/inner", "max", mib);
    machine.group("cg/pod/app", std::to_string(100 * mib), 80 * mib, 10 * mib, std::to_string(75 * mib));
    machine.group("cg/pod", std::to_string(400 * mib), 90 * mib);
    CHECK_FALSE(machine.groups().ended_as_one().has_value());  // kernels before 4.19
    for (const char* folder : {"cg/pod/app/inner", "cg/pod/app", "cg/pod"}) flag(folder, "0");
    CHECK_FALSE(machine.groups().ended_as_one().has_value());
    flag("cg/pod/app", "1");
    REQUIRE(machine.groups().ended_as_one().has_value());
    CHECK(machine.groups().ended_as_one()->folder == top + "/pod/app");
    CHECK(machine.groups().ended_as_one()->limit == 100 * mib);  // not memory.high
    CHECK(machine.groups().ended_as_one()->used == 70 * mib);
    flag("cg/pod/app", "0");
    flag("cg/pod", "1");  // what is below it is not ended with the others when its own limit is reached
    CHECK(machine.groups().ended_as_one()->folder == top + "/pod");
    flag("cg/pod", "0");
    flag("cg/pod/app/inner", "1");
    CHECK(machine.groups().ended_as_one()->folder == top + "/pod/app");
    machine.group("cg/pod", "max", 90 * mib);
    machine.group("cg/pod/app", "max", 80 * mib);
    CHECK_FALSE(machine.groups().ended_as_one().has_value());
}

TEST_CASE("memory groups: version 1, beside a version 2 without the controller", "[process][groups]") {
    const Machine machine;
    const std::string top = machine.directory.path() + "/v1/memory";
    machine.membership("5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/init\n");
    machine.mounts("self", "31 24 0:27 / /nowhere/cpu rw - cgroup cgroup rw,cpu,cpuacct\n33 24 0:28 / " +
                               top + " rw - cgroup cgroup rw,memory\n" +
                               machine.v2_mount("/", machine.directory.path() + "/unified"));
    machine.directory.write("v1/memory/docker/abc/memory.limit_in_bytes", "104857600\n");
    machine.directory.write("v1/memory/docker/abc/memory.usage_in_bytes", "52428800\n");
    machine.directory.write("v1/memory/docker/abc/memory.stat",
                            "inactive_file 0\ntotal_inactive_file 1048576\ntotal_active_file 1048576\n");
    machine.directory.write("v1/memory/docker/abc/memory.oom_control",
                            "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    machine.directory.write("v1/memory/memory.limit_in_bytes", "9223372036854771712\n");
    machine.directory.write("v1/memory/memory.usage_in_bytes", "99999999999\n");
    const auto uses = machine.groups().limited();
    REQUIRE(uses.size() == 1);
    CHECK(uses[0].limit == 100 * mib);
    CHECK(uses[0].used == 48 * mib);
    CHECK(machine.groups().killed() == 3);
}

TEST_CASE("memory groups: inside a container the mount shows its own group as the root",
          "[process][groups]") {
    const Machine machine;
    const std::string top = machine.directory.path() + "/cg";
    machine.group("cg", std::to_string(64 * mib), mib);
    SECTION("with a cgroup namespace") {
        machine.membership("0::/\n");
        machine.mounts("self", machine.v2_mount("/", top));
    }
    SECTION("without one") {
        machine.membership("0::/docker/abc\n");
        machine.mounts("self", machine.v2_mount("/docker/abc", top));
    }
    REQUIRE(machine.groups().limited().size() == 1);
    CHECK(machine.groups().smallest()->limit == 64 * mib);
}

TEST_CASE("memory groups: of the container beside, by its own mount", "[process][groups]") {
    const Machine machine;
    machine.membership("0::/../other\n");
    machine.mounts("self", machine.v2_mount("/", machine.directory.path() + "/mine"));
    machine.group("mine", std::to_string(8 * mib), mib);  // the sidecar's own limit, not asked about
    machine.mounts("7", machine.v2_mount("/../other", "/sys/fs/cgroup"));
    machine.group("proc/7/root/sys/fs/cgroup", std::to_string(256 * mib), mib);
    REQUIRE(machine.groups().limited().size() == 1);
    CHECK(machine.groups().smallest()->limit == 256 * mib);
}

TEST_CASE("memory groups: files that lie are no limits", "[process][groups]") {
    const Machine machine;
    const std::string top = machine.directory.path() + "/cg";
    machine.membership("0::/a\n");
    machine.mounts("self", machine.v2_mount("/", top));
    CHECK(machine.groups().limited().empty());  // no files at all
    for (const char* limit : {"", "-1", "99999999999999999999999", "\n", "one", "max"}) {
        machine.group("cg/a", limit, 5);
        CHECK(machine.groups().limited().empty());
    }
    machine.group("cg/a", "1000", 5, UINT64_MAX);  // more in files than in all
    CHECK(machine.groups().smallest()->used == 0);
    machine.directory.write("cg/a/memory.stat", std::string(1 << 20, 'x'));
    CHECK(machine.groups().smallest()->used == 5);
    ::unlink((top + "/a/memory.max").c_str());
    REQUIRE(::mkfifo((top + "/a/memory.max").c_str(), 0600) == 0);  // must not wait for a writer
    CHECK(machine.groups().limited().empty());
    // With the check, files of an ordinary file system count for nothing.
    machine.group("cg/b", "1000", 5);
    machine.membership("0::/b\n");
    CHECK(machine.groups().limited().size() == 1);
    CHECK(MemoryGroups::of(7, machine.proc, true).limited().empty());
}

TEST_CASE("memory groups: texts of membership and mounts that are odd", "[process][groups]") {
    CHECK_FALSE(group_path_in("", GroupVersion::v2).has_value());
    CHECK_FALSE(group_path_in("0:", GroupVersion::v2).has_value());
    CHECK_FALSE(group_path_in("4:mem:/x\n", GroupVersion::v1).has_value());
    CHECK(group_path_in("4:cpu,memory:/a:b\n0::/\n", GroupVersion::v1) == "/a:b");
    CHECK(group_mounts_in("").empty());
    CHECK(group_mounts_in("30 24 0:26 / /x rw").empty());
    CHECK(group_mounts_in("30 24 0:26 / /x rw - cgroup2").empty());
    CHECK(group_mounts_in("30 24 0:26 / /a\\040b\\134 rw - cgroup2 none rw\n") ==
          std::vector<GroupMount>{{GroupVersion::v2, "/", "/a b\\"}});
    CHECK(group_mounts_in("30 24 0:26 / /x rw - cgroup none rw,cpu,memoryx\n").empty());
    CHECK(path_below("/", "/a/b") == "/a/b");
    CHECK(path_below("/", "/") == "");
    CHECK(path_below("/a", "/a") == "");
    CHECK(path_below("/a", "/a/b") == "/b");
    CHECK_FALSE(path_below("/a", "/ab").has_value());
    CHECK_FALSE(path_below("/", "/../x").has_value());
    CHECK(path_below("/../x", "/../x/y") == "/y");
    CHECK_FALSE(path_below("/a", "/a/../../x").has_value());
}

TEST_CASE("frozen group: of version 1, where the process's own mount or ours shows it", "[process][groups]") {
    const Machine machine;
    const std::string top = machine.directory.path() + "/v1/freezer";
    machine.membership("4:memory:/docker/abc\n6:freezer:/docker/abc\n0::/init\n");
    machine.mounts("self", "31 24 0:27 / " + machine.directory.path() +
                               "/v1/memory rw - cgroup cgroup rw,memory\n" + "33 24 0:28 / " + top +
                               " rw - cgroup cgroup rw,freezer\n");
    CHECK_FALSE(frozen_group(7, machine.proc, false));
    machine.directory.write("v1/freezer/docker/abc/freezer.state", "THAWED\n");
    CHECK_FALSE(frozen_group(7, machine.proc, false));
    for (const char* state : {"FROZEN\n", "FREEZING\n"}) {
        machine.directory.write("v1/freezer/docker/abc/freezer.state", state);
        CHECK(frozen_group(7, machine.proc, false) == top + "/docker/abc");
    }
    CHECK_FALSE(frozen_group(7, machine.proc));  // a plain file is not the kernel's
    CHECK_FALSE(frozen_group(8, machine.proc, false));
    CHECK(MemoryGroups::of(7, machine.proc, false).limited().empty());
}
