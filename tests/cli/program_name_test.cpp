// What to type to run this program again, and where that appears: hints and help.

#include "parsers/base/program_name.h"

#include "cli/command_list.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/invocation.h"
#include "cli/program.h"
#include "cli/render/object.h"
#include "cli/text_width.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace heapsift;
using namespace heapsift::test;
namespace fs = std::filesystem;

namespace {

/// A directory with programs in it, removed after the test; the current directory meanwhile.
class ProgramDirectory {
public:
    ProgramDirectory() : before_(fs::current_path()) {
        std::string made = (fs::temp_directory_path() / "heapsift-XXXXXX").string();
        REQUIRE(::mkdtemp(made.data()));
        path_ = fs::canonical(made);
        fs::current_path(path_);
    }
    ~ProgramDirectory() {
        std::error_code error;
        fs::current_path(before_, error);
        fs::remove_all(path_, error);
    }

    /// The path of an executable file of this name.
    std::string program(const std::string& name) const {
        const fs::path file = path_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << "#!/bin/true\n";
        fs::permissions(file, fs::perms::owner_all);
        return file.string();
    }
    std::string directory(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path before_, path_;
};

/// Sets the program's name until the end of a test.
struct Named {
    explicit Named(std::string name) { settle_program_name(std::move(name)); }
    ~Named() { settle_program_name(default_program_name); }
};

std::size_t widest_line(const std::string& text) {
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
    return widest;
}

}  // namespace

TEST_CASE("program name: heapsift where PATH leads to this file, through links too", "[cli][program]") {
    const ProgramDirectory programs;
    const std::string file = programs.program("build/heapsift");
    fs::create_directory(programs.directory("bin"));
    fs::create_symlink(file, programs.directory("bin/heapsift"));
    CHECK(program_name_of({file, programs.directory("build"), file}) == "heapsift");
    CHECK(program_name_of({file, "/nowhere:" + programs.directory("bin"), file}) == "heapsift");
    CHECK(program_name_of({"heapsift", programs.directory("build"), file}) == "heapsift");
    CHECK(program_name_of({"", programs.directory("build"), file}) == "heapsift");
    CHECK(program_name_of({"./build/heapsift", "relative:build", file}) == "heapsift");
}

TEST_CASE("program name: what was typed where PATH leads to another file, or nowhere", "[cli][program]") {
    const ProgramDirectory programs;
    const std::string file = programs.program("build/heapsift"), other = programs.directory("other");
    programs.program("other/heapsift");
    for (const std::string& path :
         {other, other + ":" + programs.directory("build"), std::string("/nowhere"), std::string()}) {
        CHECK(program_name_of({file, path, file}) == file);
        CHECK(program_name_of({"build/heapsift", path, file}) == "build/heapsift");
        CHECK(program_name_of({"./build/heapsift", path, file}) == "./build/heapsift");
    }
    // A file that cannot be run is passed over, as in a shell.
    fs::permissions(other + "/heapsift", fs::perms::owner_read);
    if (::access((other + "/heapsift").c_str(), X_OK) != 0)
        CHECK(program_name_of({file, other + ":" + programs.directory("build"), file}) == "heapsift");
    fs::create_directory(programs.directory("folder"));
    fs::create_directory(programs.directory("folder/heapsift"));
    CHECK(program_name_of({file, programs.directory("folder") + ":" + programs.directory("build"), file}) ==
          "heapsift");
}

TEST_CASE("program name: an empty entry of PATH is the current directory", "[cli][program]") {
    const ProgramDirectory programs;
    const std::string file = programs.program("heapsift");
    CHECK(program_name_of({file, "/nowhere:", file}) == "heapsift");
    CHECK(program_name_of({file, ":/nowhere", file}) == "heapsift");
}

TEST_CASE("program name: another name, found over PATH", "[cli][program]") {
    const ProgramDirectory programs;
    const std::string file = programs.program("bin/hs");
    CHECK(program_name_of({"hs", programs.directory("bin"), file}) == "hs");
}

TEST_CASE("program name: where argv[0] is no file, the file that runs is named", "[cli][program]") {
    const ProgramDirectory programs;
    const std::string file = programs.program("build/heapsift");
    for (const char* typed : {"", "heapsift", "-heapsift", "gone/heapsift", "a\x1b[2J/\xff", "build"}) {
        CAPTURE(typed);
        CHECK(program_name_of({typed, "/nowhere", file}) == file);
        CHECK(program_name_of({typed, "", file}) == file);
        CHECK(program_name_of({typed, "", "/no/such/file"}) == "heapsift");
    }
}

TEST_CASE("program name: where argv[0] is another program, the file that runs is named", "[cli][program]") {
    const ProgramDirectory programs;
    const std::string file = programs.program("build/heapsift"), other = programs.program("bin/ls");
    CHECK(program_name_of({"ls", programs.directory("bin"), file}) == file);
    CHECK(program_name_of({other, "", file}) == file);
}

TEST_CASE("program name: quoted for the shell", "[cli][program]") {
    const ProgramDirectory programs;
    const auto named = [&](const std::string& name) {
        programs.program(name);
        return program_name_of({name, "", programs.directory(name)});
    };
    CHECK(named("my tools/heapsift") == "'my tools/heapsift'");
    CHECK(named("it's/heapsift") == "\"it's/heapsift\"");
    CHECK(named("a\x1b[31mb/heapsift") == "$'a\\033[31mb/heapsift'");
    CHECK(named("\xff/heapsift") == "$'\\377/heapsift'");
    CHECK(named("v=1/heapsift") == "'v=1/heapsift'");  // else an assignment
    CHECK(named("~/heapsift") == "'~/heapsift'");
}

TEST_CASE("program name: heapsift until it is settled", "[cli][program]") {
    CHECK(program_name() == "heapsift");
    CHECK(command_line("help capture") == "heapsift help capture");
    const Named named("build/dev/heapsift");
    CHECK(command_line("help capture") == "build/dev/heapsift help capture");
}

TEST_CASE("program name: --redact hides where the program lies", "[cli][program]") {
    const Named named("/home/alice/heapsift");
    const Invocation shows({"types"}, run_program);
    CHECK(program_name() == "/home/alice/heapsift");
    const Invocation hides({"types", "--redact"}, run_program);
    CHECK(program_name() == "heapsift");
}

TEST_CASE("hint: the next command runs this program, and its remark goes below a long name",
          "[cli][program]") {
    Shown shown;
    shown.page.core_words = " core.1";
    shown.page.width = 80;
    CHECK(next_line(shown.page, "show 0x10100", "the largest dict") ==
          "next: heapsift show 0x10100 core.1    the largest dict\n");
    const Named named("'/opt/my tools/build/release/bin/heapsift'");
    CHECK(next_line(shown.page, "show 0x10100", "the largest dict") ==
          "next: '/opt/my tools/build/release/bin/heapsift' show 0x10100 core.1\n"
          "      the largest dict\n");
}

TEST_CASE("help: examples run this program; remarks are beside them, or below long ones", "[cli][program]") {
    CHECK_THAT(first_words(""),
               ContainsSubstring("\n  heapsift core.1234              what fills the memory\n"
                                 "  heapsift objects                the largest objects"));
    {
        const Named named("build/dev/heapsift");
        CHECK_THAT(first_words(""),
                   ContainsSubstring("\n  build/dev/heapsift core.1234              what fills the memory\n"
                                     "  build/dev/heapsift objects                the largest objects"));
        CHECK_THAT(help_topic("capture"),
                   ContainsSubstring("build/dev/heapsift core.PID --sysroot /proc/PID/root"));
        CHECK_THAT(first_words(""), Catch::Matchers::StartsWith("heapsift shows"));
    }
    const Named named("/home/somebody/projects/heapsift/build/release/heapsift");
    CHECK_THAT(first_words(""),
               ContainsSubstring("\n  /home/somebody/projects/heapsift/build/release/heapsift objects\n"
                                 "      the largest objects of the same core\n"));
    for (const std::string& topic : help_topics()) CHECK(widest_line(help_topic(topic)) <= 110);
    CHECK(widest_line(first_words("")) <= 100);
    const CommandOptions options("types", "objects grouped by type");
    const std::string help = general_help(all_commands(), options);
    CHECK_THAT(help, ContainsSubstring(
                         "Usage: /home/somebody/projects/heapsift/build/release/heapsift [COMMAND] [CORE]"));
    for (const Command& command : all_commands()) {
        if (!command.details) continue;
        CHECK_THAT(command.details(),
                   ContainsSubstring("\n  /home/") || ContainsSubstring("\n         /home/"));
        CHECK_THAT(command.details(), !ContainsSubstring("\n  heapsift "));
    }
}
