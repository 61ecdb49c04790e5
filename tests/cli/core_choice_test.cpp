// Which core: the order, and the core in use.

#include "cli/core_choice.h"

#include "cli/session.h"
#include "parsers/base/error.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

struct Machine {
    TemporaryDirectory directory;
    std::string state = directory.path() + "/state/heapsift";
    CoreInUseStore here{state, "7-34816-1000"};
    CoreInUseStore elsewhere{state, "8-34817-1001"};
    std::string core = directory.write("core.1", "bytes");
    std::string other = directory.write("core.2", "other bytes");

    void name(const std::string& path, const CoreInUseStore& store, const FileSearch& search = {}) const {
        const CoreWishes wishes{path, "", "", search};
        CHECK(remember_core(choose_core(wishes, store), wishes, store));
    }
};

std::string error_code(const CoreWishes& wishes, const CoreInUseStore& store) {
    try {
        choose_core(wishes, store);
    } catch (const Error& error) {
        CHECK(error.exit() == ExitCode::wrong_usage);
        return error.code();
    }
    return "none";
}

}  // namespace

TEST_CASE("core choice: argument, option, environment, session, user, in this order", "[cli][core]") {
    const Machine machine;
    machine.name(machine.core, machine.here);
    CHECK(choose_core({"a", "b", "c", {}}, machine.here).path == "a");
    CHECK(choose_core({"", "b", "c", {}}, machine.here).path == "b");
    CHECK(choose_core({"", "", "c", {}}, machine.here).path == "c");
    const CoreChoice session = choose_core({}, machine.here), user = choose_core({}, machine.elsewhere);
    CHECK(session.path == machine.core);
    CHECK(session.chosen_by == ChosenBy::session);
    CHECK(user.chosen_by == ChosenBy::user);
    CHECK_FALSE(why_this_core(session).empty());
    CHECK_FALSE(why_this_core(user).empty());
    CHECK(why_this_core(choose_core({"a", "", "", {}}, machine.here)).empty());
}

TEST_CASE("core choice: that another core lies in this folder is said", "[cli][core]") {
    const Machine machine;
    machine.name(machine.core, machine.here);
    const std::filesystem::path before = std::filesystem::current_path();
    const std::filesystem::path folder = std::filesystem::path(machine.core).parent_path() / "another folder";
    std::filesystem::create_directory(folder);
    const auto said_in = [&](const std::filesystem::path& where) {
        std::filesystem::current_path(where);
        const std::string said = why_this_core(choose_core({}, machine.here));
        std::filesystem::current_path(before);
        return said;
    };
    std::ofstream(folder / "core.py") << "no core by its name";
    CHECK(said_in(folder).find("not this folder's") == std::string::npos);
    std::ofstream(folder / "core.77") << "a core by its name";
    CHECK(said_in(folder).find("not this folder's core.77") != std::string::npos);
    std::ofstream(folder.parent_path() / "core.78") << "beside the one that is in use";
    CHECK(said_in(folder.parent_path()).find("not this folder's") == std::string::npos);
}

TEST_CASE("core choice: each session has its own, the user the last of all", "[cli][core]") {
    const Machine machine;
    machine.name(machine.core, machine.here);
    machine.name(machine.other, machine.elsewhere);
    CHECK(choose_core({}, machine.here).path == machine.core);
    CHECK(choose_core({}, machine.elsewhere).path == machine.other);
    CHECK(choose_core({}, CoreInUseStore(machine.state, "")).path == machine.other);
}

TEST_CASE("core choice: no core at all", "[cli][core]") {
    const Machine machine;
    CHECK(error_code({}, machine.here) == "no-core");
    CHECK(error_code({}, CoreInUseStore()) == "no-core");
}

TEST_CASE("core choice: a core in use that is gone or changed is an error, and never another core",
          "[cli][core]") {
    const Machine machine;
    machine.name(machine.other, machine.elsewhere);
    machine.name(machine.core, machine.here);
    std::ofstream(machine.core) << "other bytes than before";
    CHECK(error_code({}, machine.here) == "core-in-use-changed");
    std::filesystem::remove(machine.core);
    CHECK(error_code({}, machine.here) == "core-in-use-gone");
}

TEST_CASE("core choice: what was given for the core in use stays with it", "[cli][core]") {
    const Machine machine;
    machine.name(machine.core, machine.here, {"", "/srv/root", ""});
    CHECK(choose_core({}, machine.here).search.sysroot == "/srv/root");
    const CoreWishes more{"", "", "", {"/srv/python", "", ""}};
    CHECK(remember_core(choose_core(more, machine.here), more, machine.here));
    CHECK(choose_core({}, machine.here).search.sysroot == "/srv/root");
    CHECK(choose_core({}, machine.here).search.executable == "/srv/python");
    const CoreWishes second{"", "", "", {"", "", "", {}, 2}};
    CHECK(remember_core(choose_core(second, machine.here), second, machine.here));
    CHECK(choose_core({}, machine.here).search.runtime == 2);
    CHECK(choose_core({}, machine.here).search.sysroot == "/srv/root");
    machine.name(machine.core, machine.here);
    CHECK(choose_core({}, machine.here).search.sysroot.empty());
    CHECK_FALSE(choose_core({}, machine.here).search.runtime.has_value());
}

TEST_CASE("core choice: the environment's core is not the core in use", "[cli][core]") {
    const Machine machine;
    const CoreWishes wishes{"", "", machine.core, {}};
    remember_core(choose_core(wishes, machine.here), wishes, machine.here);
    CHECK(error_code({}, machine.here) == "no-core");
}

TEST_CASE("core in use: the file is private, whole, and survives any path", "[cli][core]") {
    const Machine machine;
    const std::string odd = machine.directory.write("co re\n%\xff.1", "bytes");
    machine.name(odd, machine.here);
    CHECK(machine.here.of_session()->path == odd);
    for (const auto& entry : std::filesystem::directory_iterator(machine.state)) {
        struct stat status {};
        REQUIRE(::stat(entry.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
}

TEST_CASE("core in use: a damaged file is as good as none", "[cli][core]") {
    const CoreInUse core{"/cores/core.1", {5, 6, 7}, {"", "/srv/root", ""}};
    const std::string text = written(core);
    const auto read = read_core_in_use(text);
    REQUIRE(read.has_value());
    CHECK(read->path == core.path);
    CHECK(read->identity == core.identity);
    CHECK(read->search.sysroot == "/srv/root");
    for (std::size_t length = 0; length + 1 < text.size(); ++length)
        CHECK_FALSE(read_core_in_use(text.substr(0, length)).has_value());
    CHECK_FALSE(read_core_in_use("something else entirely\nend\n").has_value());
    CHECK_FALSE(read_core_in_use(std::string(100, '\0')).has_value());
    std::string relative = text;
    relative.replace(relative.find("path /"), 6, "path x");
    CHECK_FALSE(read_core_in_use(relative).has_value());
}

TEST_CASE("core in use: where nothing can be written, nothing is remembered", "[cli][core]") {
    const Machine machine;
    const CoreInUseStore store(machine.core + "/below-a-file", "1-2-3");
    const CoreWishes wishes{machine.core, "", "", {}};
    CHECK_FALSE(remember_core(choose_core(wishes, store), wishes, store));
    CHECK_FALSE(store.of_session().has_value());
}

TEST_CASE("executable: one that is not of this core is told", "[cli][core]") {
    Module python, library;
    python.file = "/srv/python3";
    python.file_state = ModuleFileState::found;
    library.file = "/bin/ls";
    library.file_state = ModuleFileState::mismatch;
    const std::vector<Module> modules = {python, library};
    CHECK(unused_executable(modules, "").empty());
    CHECK(unused_executable(modules, "/srv/python3").empty());
    CHECK(unused_executable(modules, "/bin/ls") ==
          "/bin/ls is not the program of this core (other build-id) and was not used");
    CHECK_THAT(unused_executable(modules, "/other"), ContainsSubstring("/other is not the program"));
}

TEST_CASE("session: named by leader, terminal, start time and boot", "[cli][core]") {
    const std::string stat = "77 (a) b (c) S 1 77 77 34816 77 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 9 9";
    CHECK(session_name(stat, "0a1b2c3d-ffff") == "77-34816-123456-0a1b2c3d");
    CHECK(session_name(stat, "") == "77-34816-123456");
    CHECK(session_name("77 (bash) S 1", "").empty());
    CHECK(session_name("no brackets", "").empty());
    CHECK(session_name("77 (bash) S 1 ../../x 77 34816 77 4194560 1 2 3 4 5 6 7 8 20 0 1 0 ../../y 9", "")
              .empty());
}
