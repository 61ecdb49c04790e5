// Completion: what is offered where, in which order, and how it is quoted for bash.

#include "cli/complete/candidates.h"
#include "cli/complete/complete.h"
#include "cli/complete/kept_type_names.h"
#include "cli/complete/paths.h"
#include "cli/complete/processes.h"
#include "cli/complete/shell_line.h"
#include "tests/catch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace heapsift;

namespace {

const std::string bash_breaks = " \t\n\"'@><=;|&(:";

std::string& asked_core() {
    static std::string core;
    return core;
}

CompletionSources made_up() {
    return {[](const std::string& beginning, PathKind kind) {
                std::vector<Candidate> found;
                for (const char* core : {"core.1", "core.2"})
                    if (std::string(core).starts_with(beginning) && kind != PathKind::folders)
                        found.push_back({core, "core", false});
                if (kind == PathKind::cores_and_exports) found.push_back({"heap.db", "", false});
                if (kind == PathKind::all) found.push_back({"any", "", false});
                return found;
            },
            [](const std::string& path) { return path.starts_with("core."); },
            [](const std::string& beginning) {
                std::vector<Candidate> found;
                for (const char* process : {"812", "1234"})
                    if (std::string(process).starts_with(beginning))
                        found.push_back({process, "python3 app.py", false});
                return found;
            },
            [](const CompletionSources::CoreAsked& asked) {
                asked_core() = asked.wishes.argument + "|" + asked.wishes.option;
                return std::vector<std::string>{"dict", "shop.Order", "shop.Item"};
            }};
}

std::vector<std::string> offered(const std::vector<std::string>& before, const std::string& current) {
    std::vector<std::string> values;
    for (const Candidate& one : candidates(before, current, made_up())) {
        CHECK(one.value.starts_with(current));
        values.push_back(one.value);
    }
    return values;
}

using Texts = std::vector<std::string>;

/// A folder of this test's own, which goes with it.
struct OwnFolder {
    std::string path = (std::filesystem::temp_directory_path() / "heapsift-completion-XXXXXX").string();
    OwnFolder() { REQUIRE(mkdtemp(path.data())); }
    ~OwnFolder() { std::filesystem::remove_all(path); }
    std::string with(const std::string& name, const std::string& content) const {
        std::ofstream(path + "/" + name, std::ios::binary) << content;
        return path + "/" + name;
    }
};

}  // namespace

TEST_CASE("completion: commands and cores first, then what the command takes", "[cli][completion]") {
    CHECK(offered({}, "ty") == Texts{"types"});
    CHECK(offered({}, "co") == Texts{"core.1", "core.2"});
    CHECK(offered({"core.1"}, "wh") == Texts{"why"});
    CHECK(offered({"core.1"}, "co").empty());
    CHECK(offered({"types"}, "") == Texts{"core.1", "core.2", "812", "1234"});
    CHECK(offered({"types", "core.1"}, "").empty());
    CHECK(offered({"types", "--core", "core.1"}, "").empty());
    CHECK(offered({"diff", "core.1"}, "") == Texts{"core.1", "core.2", "heap.db"});
    CHECK(offered({"batch"}, "") == Texts{"core.1", "core.2"});
    CHECK(offered({"help"}, "ad") == Texts{"address"});
    CHECK(offered({"help"}, "dia").empty());
    CHECK(offered({}, "__").empty());
    CHECK(offered({"nonsense"}, "ty") == Texts{"types"});
}

TEST_CASE("completion: options of the command, and the values that each has", "[cli][completion]") {
    CHECK(offered({"types"}, "--by-l") == Texts{"--by-line"});
    CHECK(offered({"why"}, "--by-l").empty());
    CHECK(offered({"core.1"}, "--to") == Texts{"--top"});
    CHECK(offered({"types", "--by-line"}, "--by-").size() == 1);
    CHECK(offered({"types", "--sort"}, "") ==
          Texts{"retained", "memory", "size", "array_data", "count", "name"});
    CHECK(offered({"lines", "--sort"}, "a") == Texts{"average"});
    CHECK(offered({"types"}, "--sort=re") == Texts{"--sort=retained"});
    CHECK(offered({"types", "--format"}, "j") == Texts{"json", "jsonl"});
    CHECK(offered({"export", "--format"}, "d") == Texts{"db", "dot"});
    CHECK(offered({"types", "--color"}, "") == Texts{"auto", "always", "never"});
    CHECK(offered({"why", "--exclude"}, "frame,") == Texts{"frame,frame", "frame,traceback"});
    CHECK(offered({"objects", "--where"}, "ret") == Texts{"retained>"});
    CHECK(offered({"types", "-n"}, "").empty());
    CHECK(offered({"types", "--sysroot"}, "").empty());
    CHECK(offered({"types", "--executable"}, "") == Texts{"core.1", "core.2", "any"});
    CHECK(offered({"types", "--"}, "--by").empty());
}

TEST_CASE("completion: processes where one may be named, and what a condition begins with",
          "[cli][completion]") {
    CHECK(offered({}, "8") == Texts{"812"});
    CHECK(offered({"types"}, "1") == Texts{"1234"});
    CHECK(offered({"types", "812"}, "").empty());
    CHECK(offered({"types", "core.1"}, "8").empty());
    CHECK(offered({"show", "140032012345"}, "co") == Texts{"core.1", "core.2"});  // an address
    CHECK(offered({"capture"}, "") == Texts{"812", "1234"});
    CHECK(offered({"capture", "812"}, "").empty());
    CHECK(offered({"diff", "core.1"}, "8") == Texts{"812"});
    CHECK(offered({"batch"}, "8").empty());
    CHECK(offered({"812"}, "susp") == Texts{"suspects"});
    CHECK(offered({"812", "objects", "--type"}, "d").empty());
    CHECK(offered({"capture", "812", "--when"}, "") == Texts{"rss>", "cgroup>", "growth>"});
    CHECK(offered({"capture", "812", "--when"}, "gr") == Texts{"growth>"});
    CHECK(offered({"capture", "812"}, "--when=r") == Texts{"--when=rss>"});
    CHECK(offered({"capture", "812", "--when"}, "rss>80%|c") == Texts{"rss>80%|cgroup>"});
}

TEST_CASE("completion: processes are told by the names of their files", "[cli][completion]") {
    const OwnFolder proc;
    const auto process = [&](const std::string& number, const std::string& program, const std::string& maps,
                             const std::string& words) {
        std::filesystem::create_directory(proc.path + "/" + number);
        if (!program.empty()) std::filesystem::create_symlink(program, proc.path + "/" + number + "/exe");
        proc.with(number + "/maps", maps);
        proc.with(number + "/cmdline", words);
    };
    process("12", "/usr/bin/python3.11", "", std::string("python3\0app.py\0", 15));
    process("13", "/usr/bin/sleep", "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libc.so.6\n", "sleep");
    process("125", "/usr/sbin/uwsgi", "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libpython3.11.so.1.0\n",
            std::string("uwsgi\0\x1b[31m", 11));
    process("126", "", "", "");
    std::filesystem::create_directory(proc.path + "/self");
    const auto found = process_candidates("", std::chrono::seconds(5), proc.path);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == Candidate{"12", "python3 app.py", false});
    CHECK(found[1].value == "125");
    CHECK_THAT(found[1].remark, !ContainsSubstring("\x1b"));
    CHECK(process_candidates("125", std::chrono::seconds(5), proc.path).size() == 1);
    CHECK(process_candidates("", std::chrono::milliseconds(-1), proc.path).empty());
}

TEST_CASE("completion: types are those of the core on the line, or of the one in use", "[cli][completion]") {
    CHECK(offered({"objects", "--type"}, "shop.") == Texts{"shop.Order", "shop.Item"});
    CHECK(asked_core() == "|");
    CHECK(offered({"objects", "core.2", "--type"}, "d") == Texts{"dict"});
    CHECK(asked_core() == "core.2|");
    CHECK(offered({"objects", "--core", "core.1"}, "--type=d") == Texts{"--type=dict"});
    CHECK(asked_core() == "|core.1");
}

TEST_CASE("completion: many types are offered by packages", "[cli][completion]") {
    std::vector<std::string> names = {"dict", "list"};
    for (int i = 0; i < 200; ++i) names.push_back("numpy.sub.T" + std::to_string(i));
    names.push_back("numpy.dtype");
    CHECK(type_candidates(names, "") ==
          std::vector<Candidate>{{"dict", "", false}, {"list", "", false}, {"numpy.", "", true}});
    CHECK(type_candidates(names, "numpy.") ==
          std::vector<Candidate>{{"numpy.sub.", "", true}, {"numpy.dtype", "", false}});
    CHECK(type_candidates(names, "numpy.sub.T19").size() == 11);
}

TEST_CASE("completion: a line of bash is read as bash reads it", "[cli][completion]") {
    const ShellLine plain = read_shell_line("heapsift types --so", bash_breaks);
    CHECK(plain.words == Texts{"heapsift", "types"});
    CHECK(plain.current == "--so");
    CHECK(plain.kept.empty());
    const ShellLine quoted = read_shell_line("heapsift 'my core' \"a\\\"b\" c\\ d ", bash_breaks);
    CHECK(quoted.words == Texts{"heapsift", "my core", "a\"b", "c d"});
    CHECK(quoted.current.empty());
    const ShellLine option = read_shell_line("heapsift --type=app.N", bash_breaks);
    CHECK(option.current == "--type=app.N");
    CHECK(option.kept == "--type=");
    CHECK(in_shell_line(option, "--type=app.Node") == "app.Node");
    CHECK(in_shell_line(option, "other").empty());
    const ShellLine escaped = read_shell_line("heapsift --type=a\\=b", bash_breaks);
    CHECK(escaped.kept == "--type=");
    const ShellLine open = read_shell_line("heapsift --type 'evil.f", bash_breaks);
    CHECK(open.quote == '\'');
    CHECK(in_shell_line(open, "evil.f'g") == "evil.f'\\''g");
    const ShellLine closed = read_shell_line("heapsift --type 'evil.'f", bash_breaks);
    CHECK(in_shell_line(closed, "evil.f g") == "evil.f\\ g");
    CHECK(read_shell_line("", bash_breaks).words.empty());
}

TEST_CASE("completion: nothing of a name means anything to a shell", "[cli][completion]") {
    const ShellLine plain = read_shell_line("heapsift objects --type e", bash_breaks);
    CHECK(in_shell_line(plain, "e$(reboot)") == "e\\$\\(reboot\\)");
    CHECK(in_shell_line(plain, "e`x`;y&z|w>v<u") == "e\\`x\\`\\;y\\&z\\|w\\>v\\<u");
    CHECK(in_shell_line(plain, "e !#*?[]{}~^'\"\\") == "e\\ \\!\\#\\*\\?\\[\\]\\{\\}\\~\\^\\'\\\"\\\\");
    CHECK(in_shell_line(plain, "e\nf").empty());
    CHECK(in_shell_line(plain, "eü") == "eü");
    const ShellLine in_double = read_shell_line("heapsift objects --type \"e", bash_breaks);
    CHECK(in_shell_line(in_double, "e$x`y\"z\\") == "e\\$x\\`y\\\"z\\\\");
    CHECK(in_shell_line(in_double, "e!x").empty());
}

TEST_CASE("completion: names of types are kept, and are of one state of one core", "[cli][completion]") {
    const OwnFolder folder;
    const std::string core = folder.with("core", "x"), path = folder.path + "/core.index.names";
    CHECK_FALSE(has_type_names(path, core));
    CHECK_FALSE(read_type_names(path, core));
    keep_type_names(path, core, {"dict", "a\nb", "app.Node", "esc\x1b[31m", ""});
    CHECK(has_type_names(path, core));
    CHECK(read_type_names(path, core) == Texts{"dict", "app.Node"});
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);

    SECTION("the core is changed") {
        folder.with("core", "longer");
        CHECK_FALSE(has_type_names(path, core));
        CHECK_FALSE(read_type_names(path, core));
    }
    SECTION("the file is cut") {
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 2);
        CHECK_FALSE(read_type_names(path, core));
    }
    SECTION("others may write it") {
        REQUIRE(::chmod(path.c_str(), 0666) == 0);
        CHECK_FALSE(read_type_names(path, core));
    }
    SECTION("somebody wrote names into it that a terminal would act upon") {
        std::ofstream(path, std::ios::app) << "\x1b[2Jx\nend\n";
        CHECK(read_type_names(path, core) == Texts{"dict", "app.Node", "end"});
    }
    SECTION("it is a pipe") {
        REQUIRE(::unlink(path.c_str()) == 0);
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        CHECK_FALSE(has_type_names(path, core));
        CHECK_FALSE(read_type_names(path, core));
    }
}

TEST_CASE("completion: paths are folders, and files of the kind that is wanted", "[cli][completion]") {
    const OwnFolder folder;
    std::string elf(64, '\0');
    elf.replace(0, 7, std::string("\177ELF\2\1\1", 7));
    elf[16] = 4;     // ET_CORE
    elf[18] = 0x3e;  // x86-64
    elf[20] = 1;
    folder.with("a.core", elf);
    folder.with("b.txt", "text");
    folder.with("c.db", std::string("SQLite format 3\0", 16));
    folder.with(".hidden", elf);
    std::filesystem::create_directory(folder.path + "/d");
    REQUIRE(::mkfifo((folder.path + "/e").c_str(), 0600) == 0);
    const auto names = [&](const std::string& beginning, PathKind kind) {
        Texts found;
        for (const Candidate& one : path_candidates(folder.path + "/" + beginning, kind))
            found.push_back(one.value.substr(folder.path.size() + 1));
        return found;
    };
    CHECK(names("", PathKind::folders) == Texts{"d/"});
    CHECK(names("", PathKind::cores) == Texts{"a.core", "d/"});
    CHECK(names("", PathKind::cores_and_exports) == Texts{"a.core", "c.db", "d/"});
    CHECK(names("", PathKind::all) == Texts{"a.core", "b.txt", "c.db", "d/"});
    CHECK(names("a", PathKind::cores) == Texts{"a.core"});
    CHECK(names(".", PathKind::cores) == Texts{".hidden"});
    CHECK(path_candidates("/nonexistent/x", PathKind::all).empty());
    CHECK(path_candidates(folder.path + "/", PathKind::all, std::chrono::milliseconds(0)).empty());
}

TEST_CASE("completion: the answers to the three shells", "[cli][completion]") {
    CHECK(complete({"bash", bash_breaks, "heapsift susp"}) == "space\nsuspects\n");
    CHECK(complete({"bash", bash_breaks, "/opt/x/heapsift types --sort=na"}) == "space\nname\n");
    CHECK(complete({"zsh", "susp"}) == " suspects\tlikely causes, each with its fix\n");
    CHECK(complete({"fish", "types", "--by-l"}) ==
          "--by-line\tgroup by the source line that allocated them (tracemalloc)\n");
    CHECK(complete({}).empty());
    CHECK(complete({"bash"}).empty());
    CHECK(complete({"bash", bash_breaks, ""}).empty());
    CHECK(complete({"zsh"}).empty());
    CHECK(complete({"tcsh", "x"}).empty());
}
