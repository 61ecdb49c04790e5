// Modules, their files and their symbols: a file is used only if it is the one that was mapped.

#include "parsers/elf/core_file.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/image_writer.h"
#include "tests/elf/temporary_directory.h"

#include <sys/stat.h>
#include <filesystem>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t base = 0x7f0000000000;
constexpr std::uint64_t page = 4096;
constexpr const char* id_hex = "abcdef0123456789";

std::vector<FileRow> rows_of_image(std::uint64_t start, const std::string& path) {
    return {{start, start + page, 0, path},
            {start + page, start + 2 * page, 1, path},
            {start + 2 * page, start + 4 * page, 2, path}};
}

/// An image as the kernel saves it: the first page, none of the code, all of the data.
CoreWriter kernel_core(const std::string& image, const std::string& path, std::uint64_t start = base) {
    CoreWriter core;
    core.thread(1, 6).files(rows_of_image(start, path));
    core.load(start, image.substr(0, page), page, PF_R)
        .load(start + page, "", page, PF_R | PF_X)
        .load(start + 2 * page, image.substr(2 * page, page), page, PF_R)  // relocated, then made read-only
        .load(start + 3 * page, image.substr(3 * page, page), page, PF_R | PF_W);
    return core;
}

/// As gcore saves it: no program header for the code.
CoreWriter gcore_core(const std::string& image, const std::string& path) {
    CoreWriter core = kernel_core(image, path);
    core.gcore = true;
    core.loads.erase(core.loads.begin() + 1);
    return core;
}

struct Opened {
    Diagnostics diagnostics;
    std::optional<CoreFile> core;
    const Module& module() const { return core->modules().at(0); }
};

Opened open(const TemporaryDirectory& directory, const CoreWriter& writer, const FileSearch& search = {}) {
    Opened opened;
    opened.core.emplace(CoreFile::open(directory.write("core", writer.bytes()), search, opened.diagnostics));
    return opened;
}

}  // namespace

TEST_CASE("modules: code that the core lacks comes from the file with an equal build-id", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    const std::string path = directory.write("lib/libx.so.1", image.bytes());
    const bool gcore = GENERATE(false, true);
    const Opened opened =
        open(directory, gcore ? gcore_core(image.bytes(), path) : kernel_core(image.bytes(), path));
    const CoreFile& core = *opened.core;
    REQUIRE(core.modules().size() == 1);
    const Module& module = opened.module();
    CHECK(module.path == path);
    CHECK(module.file == path);
    CHECK(module.file_state == ModuleFileState::found);
    CHECK(module.build_id == id_hex);
    CHECK(module.start == Address(base));
    CHECK(module.end == Address(base + 4 * page));
    CHECK(module.load_bias == base);
    CHECK(module.is_executable);  // nothing else is there
    CHECK(core.memory().state_of(Address(base + page)) == ByteState::from_file);
    CHECK(core.memory().read_c_string(Address(base + page)) == image.code);
    CHECK(core.memory().find(Address(base + page))->executable);
    CHECK(core.memory().find(Address(base + page))->module == 0);
    CHECK(core.memory().state_of(Address(base)) == ByteState::in_core);
    CHECK(core.module_at(Address(base + 4 * page - 1)) == &module);
    CHECK(core.module_at(Address(base + 4 * page)) == nullptr);
    CHECK(opened.diagnostics.all().empty());
}

TEST_CASE("modules: a file of another build is not used", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    ImageWriter other = image;
    ModuleFileState expected = ModuleFileState::mismatch;
    SECTION("another build-id") { other.build_id = "\x01\x02\x03\x04"; }
    SECTION("no build-id") {
        other.build_id.clear();
        expected = ModuleFileState::unverified;
    }
    SECTION("the same build-id and other segments, as patchelf leaves it") { other.virtual_base = 0x10000; }
    const std::string path = directory.write("libx.so", other.bytes());
    const Opened opened = open(directory, kernel_core(image.bytes(), path));
    CHECK(opened.module().file_state == expected);
    CHECK(opened.module().file == path);
    CHECK(opened.core->memory().state_of(Address(base + page)) == ByteState::not_saved);
    CHECK(opened.diagnostics.complete());
    CHECK(opened.diagnostics.all().size() == 1);
}

TEST_CASE("modules: a core without the build-id cannot be compared", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    const std::string path = directory.write("libx.so", image.bytes());
    CoreWriter core = kernel_core(image.bytes(), path);
    core.loads[0].bytes.clear();
    const Opened opened = open(directory, core);
    CHECK(opened.module().build_id.empty());
    CHECK(opened.module().file_state == ModuleFileState::unverified);
    CHECK(opened.module().load_bias == base);
    CHECK(opened.core->memory().state_of(Address(base + page)) == ByteState::not_saved);
}

TEST_CASE("modules: what may have been written to is never taken from a file", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    const std::string path = directory.write("libx.so", image.bytes());
    CoreWriter core = kernel_core(image.bytes(), path);
    core.loads[2].bytes.clear();  // relocated: read-only in the process, writable in the file
    core.loads[3].bytes.clear();  // writable in both
    const Opened opened = open(directory, core);
    CHECK(opened.module().file_state == ModuleFileState::found);
    CHECK(opened.core->memory().state_of(Address(base + page)) == ByteState::from_file);
    CHECK(opened.core->memory().state_of(Address(base + 2 * page)) == ByteState::not_saved);
    CHECK(opened.core->memory().state_of(Address(base + 3 * page)) == ByteState::not_saved);
}

TEST_CASE("modules: an offset that the file's headers do not explain is not followed", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    const std::string path = directory.write("libx.so", image.bytes());
    CoreWriter core = kernel_core(image.bytes(), path);
    core.notes.clear();
    auto rows = rows_of_image(base, path);
    rows[1].page_offset = 0;
    core.files(rows);
    const Opened opened = open(directory, core);
    CHECK(opened.core->memory().state_of(Address(base + page)) == ByteState::not_saved);
}

TEST_CASE("modules: files are found under the sysroot, as the executable and by build-id", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    const CoreWriter core = kernel_core(image.bytes(), "/nowhere/at/all/libx.so (deleted)");
    CHECK(open(directory, core).module().path == "/nowhere/at/all/libx.so");
    CHECK(open(directory, core).module().file_state == ModuleFileState::missing);
    SECTION("sysroot") {
        FileSearch search;
        search.sysroot = directory.path() + "/root";
        const std::string file = directory.write("root/nowhere/at/all/libx.so", image.bytes());
        CHECK(open(directory, core, search).module().file == file);
    }
    SECTION("executable") {
        FileSearch search;
        search.executable = directory.write("python", image.bytes());
        CHECK(open(directory, core, search).module().file == search.executable);
    }
    SECTION("debug directory, under any name; not a file of debug information alone") {
        FileSearch search;
        search.debug_dir = directory.path() + "/debug";
        ImageWriter debug = image;
        debug.debug_only = debug.debug_info = true;
        const std::string debug_file =
            directory.write("debug/.build-id/ab/cdef0123456789.debug", debug.bytes());
        CHECK(open(directory, core, search).module().file_state == ModuleFileState::missing);
        const std::string file = directory.write("debug/deep/er/some.bin", image.bytes());
        REQUIRE(::mkfifo(directory.below("debug/fifo").c_str(), 0600) == 0);
        std::filesystem::create_directory_symlink("..", directory.below("debug/deep/circle"));
        const Opened opened = open(directory, core, search);
        CHECK(opened.module().file == file);
        CHECK(opened.core->debug_file_for(opened.module()) == debug_file);
    }
}

TEST_CASE("modules: a file with debug information is its own debug file", "[elf][modules]") {
    const TemporaryDirectory directory;
    ImageWriter image;
    const bool has = image.debug_info = GENERATE(false, true);
    const std::string path = directory.write("libx.so", image.bytes());
    const Opened opened = open(directory, kernel_core(image.bytes(), path));
    CHECK(opened.core->debug_file_for(opened.module()) == (has ? path : ""));
}

TEST_CASE("modules: a path that names a FIFO or nothing regular is not opened", "[elf][modules]") {
    const TemporaryDirectory directory;
    const std::string fifo = directory.below("libx.so");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const Opened opened = open(directory, kernel_core(ImageWriter().bytes(), fifo));
    CHECK(opened.module().file_state == ModuleFileState::missing);
    CHECK(open(directory, kernel_core(ImageWriter().bytes(), "/dev/zero")).module().file_state ==
          ModuleFileState::missing);
    CHECK(open(directory, kernel_core(ImageWriter().bytes(), "relative.so")).module().file_state ==
          ModuleFileState::missing);
}

TEST_CASE("modules: the executable holds AT_PHDR, the vDSO has no file, data files are no modules",
          "[elf][modules]") {
    const TemporaryDirectory directory;
    ImageWriter program, library, vdso;
    program.virtual_base = 0x400000;
    program.build_id = "program!";
    vdso.build_id = "thevdso!";
    constexpr std::uint64_t vdso_at = 0x7ffff7fc1000;
    CoreWriter core = kernel_core(library.bytes(), "/nowhere/libx.so");
    const CoreWriter second = kernel_core(program.bytes(), "/nowhere/python", 0x400000);
    core.loads.insert(core.loads.end(), second.loads.begin(), second.loads.end());
    core.load(vdso_at, vdso.bytes().substr(0, 2 * page), 0, PF_R | PF_X);
    core.notes.clear();
    auto rows = rows_of_image(0x400000, "/nowhere/python");
    rows.push_back({0x500000, 0x600000, 0, "/usr/lib/locale/locale-archive"});
    rows.push_back({0x600000, 0x601000, 0, "/nowhere/lost.so.3"});
    for (const FileRow& row : rows_of_image(base, "/nowhere/libx.so")) rows.push_back(row);
    core.files(rows).auxiliary({{AT_PHDR, 0x400040}, {AT_ENTRY, 0x401000}, {AT_SYSINFO_EHDR, vdso_at}});
    const Opened opened = open(directory, core);
    const auto& modules = opened.core->modules();
    REQUIRE(modules.size() == 4);
    CHECK(modules[0].path == "/nowhere/python");
    CHECK(modules[0].is_executable);
    CHECK(modules[0].load_bias == 0);
    CHECK(modules[1].path == "/nowhere/lost.so.3");
    CHECK(modules[2].load_bias == base);
    CHECK_FALSE(modules[2].is_executable);
    CHECK(modules[3].path == "[vdso]");
    CHECK(modules[3].file_state == ModuleFileState::not_needed);
    CHECK(opened.core->module_at(Address(vdso_at)) == &modules[3]);
    CHECK(opened.core->mapped_files().size() == rows.size());
    CHECK(opened.core->module_at(Address(0x500000)) == nullptr);
    CHECK(opened.core->memory().state_of(Address(0x500000)) == ByteState::not_saved);
    REQUIRE(opened.diagnostics.all().size() == 1);
    CHECK(opened.diagnostics.all()[0].count == 3);
}

TEST_CASE("modules: the same file mapped twice in a row is two images", "[elf][modules]") {
    const TemporaryDirectory directory;
    const ImageWriter image;
    CoreWriter core = kernel_core(image.bytes(), "/nowhere/libx.so");
    const CoreWriter second = kernel_core(image.bytes(), "/nowhere/libx.so", base + 4 * page);
    core.loads.insert(core.loads.end(), second.loads.begin(), second.loads.end());
    core.notes.clear();
    auto rows = rows_of_image(base, "/nowhere/libx.so");
    for (const FileRow& row : rows_of_image(base + 4 * page, "/nowhere/libx.so")) rows.push_back(row);
    core.files(rows);
    const Opened opened = open(directory, core);
    REQUIRE(opened.core->modules().size() == 2);
    CHECK(opened.core->modules()[0].end == Address(base + 4 * page));
    CHECK(opened.core->modules()[1].load_bias == base + 4 * page);
}

TEST_CASE("modules: a build-id note at the end of the image is found through the program headers",
          "[elf][modules]") {
    const TemporaryDirectory directory;
    ImageWriter image;
    image.notes_at_end = true;
    CHECK(open(directory, kernel_core(image.bytes(), "/nowhere/libx.so")).module().build_id == id_hex);
}

TEST_CASE("symbols: from the file, or from the image in the core", "[elf][symbols]") {
    const TemporaryDirectory directory;
    ImageWriter image;
    image.gnu_hash = GENERATE(true, false);
    image.virtual_base = GENERATE(std::uint64_t{0}, std::uint64_t{0x400000});
    const bool with_file = GENERATE(true, false);
    const std::uint64_t start = image.virtual_base ? image.virtual_base : base;
    const std::string path = with_file ? directory.write("libx.so", image.bytes()) : "/nowhere/libx.so";
    const Opened opened = open(directory, kernel_core(image.bytes(), path, start));
    const CoreFile& core = *opened.core;
    const Module& module = opened.module();
    CHECK(module.load_bias == start - image.virtual_base);
    CHECK(core.symbol(module, "the_data") == Address(start + ImageWriter::data_at + 0x200));
    CHECK(core.symbol(module, "the_code") == Address(start + ImageWriter::code_at));
    CHECK(core.symbol(module, "local_data") == Address(start + ImageWriter::data_at + 0x300));
    CHECK_FALSE(core.symbol(module, "no_such_symbol"));
    CHECK_FALSE(core.symbol(module, ""));
    const auto covering = core.symbol_at(module, Address(start + ImageWriter::data_at + 0x20f));
    REQUIRE(covering);
    CHECK(covering->name == "the_data");
    CHECK(covering->offset == 15);
    CHECK_FALSE(core.symbol_at(module, Address(start + ImageWriter::data_at + 0x210)));
    const auto section = core.section(module, ".data");
    REQUIRE(section.has_value() == with_file);
    if (section) CHECK(section->start == Address(start + ImageWriter::data_at));
    CHECK_FALSE(core.section(module, ".nothing"));
}

TEST_CASE("symbols: pointers of the dynamic section may have been relocated by the loader",
          "[elf][symbols]") {
    const TemporaryDirectory directory;
    std::string image = ImageWriter().bytes();
    for (const std::size_t entry : {0, 1, 3}) {
        const std::size_t at = ImageWriter::data_at + entry * sizeof(Elf64_Dyn) + 8;
        std::uint64_t value = 0;
        std::memcpy(&value, image.data() + at, sizeof value);
        put_at(image, at, value + base);
    }
    const Opened opened = open(directory, kernel_core(image, "/nowhere/libx.so"));
    CHECK(opened.core->symbol(opened.module(), "the_data") == Address(base + ImageWriter::data_at + 0x200));
}

TEST_CASE("symbols: separate debug information answers where the file is missing", "[elf][symbols]") {
    const TemporaryDirectory directory;
    ImageWriter image, debug;
    debug.debug_only = debug.debug_info = true;
    FileSearch search;
    search.debug_dir = directory.path() + "/debug";
    directory.write("debug/.build-id/ab/cdef0123456789.debug", debug.bytes());
    CoreWriter core = kernel_core(image.bytes(), "/nowhere/libx.so");
    core.loads[2].bytes.assign(page, '\0');  // no dynamic section
    const Opened opened = open(directory, core, search);
    CHECK(opened.core->symbol(opened.module(), "the_data") == Address(base + ImageWriter::data_at + 0x200));
}

TEST_CASE("modules: random damage to an image, or to its file, never does more than lose data",
          "[elf][modules]") {
    const TemporaryDirectory directory;
    std::mt19937 random(5);
    const auto damaged = [&](std::string bytes) {
        // The headers, the tables of the first page, the dynamic section, and the section headers at the end.
        const std::size_t places[] = {
            random() % 0x200, 0x200 + random() % 0x400, 2 * page + random() % 0x60,
            ImageWriter::file_bytes + random() % (bytes.size() - ImageWriter::file_bytes)};
        for (int i = 0; i < 3; ++i)
            bytes[places[random() % 4]] = static_cast<char>(random() % 4 ? random() : 0xff);
        return bytes;
    };
    for (int round = 0; round < 2000; ++round) {
        ImageWriter image;
        image.gnu_hash = round % 2;
        image.debug_info = round % 3 == 0;
        const std::string whole = image.bytes();
        const bool damage_file = round % 4 < 2;
        const std::string path = directory.write("libx.so", damage_file ? damaged(whole) : whole);
        const bool missing = round % 4 == 3;
        const std::string image_in_core = damage_file ? whole : damaged(whole);
        const Opened opened =
            open(directory, kernel_core(image_in_core, missing ? "/nowhere/libx.so" : path));
        const CoreFile& core = *opened.core;
        for (const Module& m : core.modules()) {
            (void)core.symbol(m, "the_data");
            (void)core.symbol_at(m, Address(base + page + 3));
            (void)core.section(m, ".data");
            (void)core.debug_file_for(m);
        }
        for (const Segment& s : core.memory().segments()) {
            (void)core.memory().read<std::uint64_t>(s.start);
            (void)core.memory().read<char>(s.end() - 1);
        }
    }
}
