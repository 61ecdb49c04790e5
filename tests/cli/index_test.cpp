// Where indexes lie, for what they are valid, and how much room they take.

#include "cli/index_place.h"

#include "cli/render/index.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

namespace fs = std::filesystem;

/// An environment variable, for the time of a test.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        value ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

void make_index(const std::string& path, std::uint64_t bytes, int days_old) {
    std::ofstream(path) << "";
    fs::resize_file(path, bytes);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * days_old));
}

CoreFile open_core(const std::string& path) {
    Diagnostics diagnostics;
    return CoreFile::open(path, {}, diagnostics);
}

}  // namespace

TEST_CASE("index: its folder", "[cli][index]") {
    CHECK(index_directory("/given") == "/given");
    const Variable home("HOME", "/home/ann");
    {
        const Variable cache("XDG_CACHE_HOME", "/cache");
        CHECK(index_directory("") == "/cache/heapsift");
    }
    const Variable cache("XDG_CACHE_HOME", nullptr);
    CHECK(index_directory("") == "/home/ann/.cache/heapsift");
    const Variable none("HOME", nullptr);
    CHECK(index_directory("").empty());
}

TEST_CASE("index: a file for each core and each set of options", "[cli][index]") {
    const TemporaryDirectory directory;
    const std::string core = directory.write("core of mine.7", "bytes"),
                      other = directory.write("b/core", "b");
    const std::string one = index_path("/cache", {core, ChosenBy::argument, {}}, true);
    CHECK(one.starts_with("/cache/core_of_mine.7-"));
    CHECK(one.ends_with(".index"));
    CHECK(one == index_path("/cache", {directory.path() + "/./core of mine.7", ChosenBy::user, {}}, true));
    CHECK(one != index_path("/cache", {other, ChosenBy::argument, {}}, true));
    CHECK(one !=
          index_path("/cache",
                     {core, ChosenBy::argument, {.executable = "", .sysroot = "/root", .debug_dir = ""}},
                     true));
    CHECK(one != index_path("/cache", {core, ChosenBy::argument, {}}, false));
}

TEST_CASE("index: its key changes with the core", "[cli][index]") {
    const TemporaryDirectory directory;
    test::CoreWriter writer;
    writer.load(0x10000, std::string(200'000, 'x'), 0, 6);
    std::string bytes = writer.bytes();
    const std::string path = directory.write("core", bytes);
    const CoreChoice choice{path, ChosenBy::argument, {}};
    const IndexKey before = index_key(choice, open_core(path));
    CHECK(before == index_key(choice, open_core(path)));
    CHECK(before != IndexKey{});
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    // Another core of the same size, with the same time.
    bytes[5000] = 'y';
    std::ofstream(path, std::ios::binary) << bytes;
    const timespec times[2] = {status.st_atim, status.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    CHECK(before != index_key(choice, open_core(path)));
}

TEST_CASE("index: its key changes with a core that is rewritten in place, whatever its times say",
          "[cli][index]") {
    const TemporaryDirectory directory;
    test::CoreWriter writer;
    writer.load(0x10000, std::string(8'000'000, 'x'), 0, 6);
    const std::string path = directory.write("core", writer.bytes());
    const CoreChoice choice{path, ChosenBy::argument, {}};
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    const IndexKey before = index_key(choice, open_core(path));
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(70'000);  // between what is sampled
    file << "y" << std::flush;
    const timespec times[2] = {status.st_atim, status.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    CHECK(before != index_key(choice, open_core(path)));
}

TEST_CASE("index: the oldest go", "[cli][index]") {
    const TemporaryDirectory directory;
    const std::string own = directory.below("own.index"), old = directory.below("old.index"),
                      used = directory.below("used.index"), left = directory.below("x.index.7.new"),
                      other = directory.below("notes.txt");
    make_index(own, 3000, 9);
    make_index(old, 3000, 5);
    make_index(used, 3000, 8);
    std::ofstream(used + ".checked") << "now";  // it was read a moment ago
    make_index(left, 3000, 3);
    make_index(other, 3000, 99);
    {
        const Variable limit("HEAPSIFT_INDEX_LIMIT", "9K");
        CHECK(drop_old_indexes(own) == 0);
        CHECK_FALSE(fs::exists(left));
    }
    {
        const Variable limit("HEAPSIFT_INDEX_LIMIT", "7K");
        CHECK(drop_old_indexes(own) == 1);
    }
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(used));
    const Variable limit("HEAPSIFT_INDEX_LIMIT", "1K");
    CHECK(drop_old_indexes(own) == 1);
    CHECK(fs::exists(own));  // the one in use stays, whatever its size
    CHECK(fs::exists(other));
    CHECK_FALSE(fs::exists(used + ".checked"));
}

TEST_CASE("index: an unpacked core lies beside it, takes of its room, and goes when it is the oldest",
          "[cli][index]") {
    const TemporaryDirectory directory;
    const std::string core = directory.write("core.gz", "bytes");
    const CoreChoice choice{core, ChosenBy::argument, {}};
    const CoreChoice elsewhere{
        core, ChosenBy::argument, {.executable = "", .sysroot = "/root", .debug_dir = ""}};
    const std::string path = unpacked_path(directory.path(), choice);
    CHECK(path.ends_with(".unpacked"));
    CHECK(path == unpacked_path(directory.path(), elsewhere));

    const std::string own = directory.below("own.index");
    make_index(own, 3000, 1);
    std::ofstream(path) << std::string(8000, 'x');
    fs::resize_file(path, 1 << 20);  // a hole: it takes two blocks of the disk
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(72));
    std::ofstream(path + ".checked") << "";
    fs::last_write_time(path + ".checked", fs::file_time_type::clock::now() - std::chrono::hours(48));
    const Variable limit("HEAPSIFT_INDEX_LIMIT", "10K");
    CHECK(index_limit(own, path) < 3000);
    CHECK(index_limit(own) > 10'000);
    CHECK(drop_old_indexes(own, path) == 0);  // in use, whatever it takes
    CHECK(drop_old_indexes("", path) == 1);
    CHECK_FALSE(fs::exists(own));
    make_index(own, 3000, 1);
    CHECK(drop_old_indexes(own) == 1);
    CHECK_FALSE(fs::exists(path));
    CHECK_FALSE(fs::exists(path + ".checked"));
}

TEST_CASE("index: written where there is room, else a line says why", "[cli][index]") {
    const TemporaryDirectory directory;
    constexpr IndexKey key{7, 7};
    const auto parts = [] {
        std::vector<PartWriter> made;
        made.emplace_back("numbers").number(std::uint64_t{5});
        return made;
    };
    const std::string path = directory.path() + "/new/folder/core.index";
    {
        IndexFile index(path, key);
        CHECK(keep_in_index(index, parts()).empty());
        struct stat status {};
        REQUIRE(::stat((directory.path() + "/new/folder").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0700);
    }
    const auto there = index_there(path, key);
    REQUIRE(there);
    CHECK(there->all.count == 1);
    REQUIRE(there->parts.size() == 1);
    CHECK(there->parts[0].name == "numbers");
    CHECK(there->parts[0].bytes == 8);
    CHECK_FALSE(index_there(path, {7, 8}));
    {
        const Variable limit("HEAPSIFT_INDEX_LIMIT", "1");
        IndexFile index(directory.path() + "/new/folder/other.index", key);
        CHECK_THAT(keep_in_index(index, parts()), ContainsSubstring("no room"));
    }
    IndexFile nowhere(directory.write("file", "") + "/core.index", key);
    CHECK_THAT(keep_in_index(nowhere, parts()), ContainsSubstring("cannot be written"));
}

TEST_CASE("index: what doctor says of it", "[cli][index]") {
    IndexThere there{"/cache/core.index", 2048, 2, 512, {{"sizes", 1024}}, {4096, 3}, 1 << 20};
    Document document{.command = "doctor"};
    add_index(there, document);
    const Datum* data = document.data.find("index");
    REQUIRE(data);
    CHECK(data->find("parts")->items().size() == 1);
    Document without{.command = "doctor"};
    add_index(std::nullopt, without);
    CHECK(without.data.find("index")->is_null());
    CHECK(data->find("unpacked")->is_null());
    there.unpacked = {"/cache/core.unpacked", 7};
    Document compressed{.command = "doctor"};
    add_index(there, compressed);
    CHECK(compressed.data.find("index")->find("unpacked")->find("bytes"));
    CHECK_FALSE(render_index(there).blocks.empty());
}
