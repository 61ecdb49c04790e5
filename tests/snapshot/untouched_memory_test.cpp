// What was only reserved: by the holes of the kernel's core, else by zeros.

#include "parsers/snapshot/untouched_memory.h"

#include "parsers/elf/absent_pages.h"
#include "parsers/elf/capture_note.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/zeros_in_use.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace heapsift;
using heapsift::test::CoreWriter;
using heapsift::test::TemporaryDirectory;

namespace {

constexpr std::uint64_t page = 4096, arena = 0x7f0000000000, rest = arena + 6 * page,
                        library = 0x7f1000000000;

using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Ranges numbers(const std::vector<AddressRange>& ranges) {
    Ranges result;
    for (const AddressRange& range : ranges) result.emplace_back(range.start.value, range.end.value);
    return result;
}

/// An arena of six pages, the first and the fourth of which were written to, and the rest of it, which cannot
/// be read; a library's pages; what can be read and not written.
CoreWriter core_of_an_arena() {
    std::string bytes(6 * page, '\0');
    bytes[100] = bytes[3 * page + 4095] = 'x';
    CoreWriter core;
    core.process(100, "python3", "python3 app.py").thread(100, 0);
    core.load(arena, bytes).load(rest, "", 16 * page, 0);
    core.load(library, std::string(page, '\0'), 2 * page, PF_R)
        .load(library + 2 * page, std::string(page, '\0'));
    core.files({{library, library + 3 * page, 0, "/usr/lib/libx.so"}});
    // As in the kernel's cores, pages of memory are pages of the file.
    std::size_t head = core.bytes().size();
    for (const CoreWriter::Load& load : core.loads) head -= load.bytes.size();
    const std::size_t note = CoreWriter::note_bytes(0, "").size();
    core.note(0, std::string((page - (head + note) % page) % page, 'x'));
    return core;
}

/// Writes the file without pages of zeros: `some_written` as the kernel does, which saves those that the process had
/// (here the last one), else as `cp --sparse=always`.
std::string write_with_holes(const TemporaryDirectory& directory, const std::string& bytes,
                             bool some_written = true) {
    const std::string path = directory.below("core");
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    REQUIRE(file >= 0);
    REQUIRE(::ftruncate(file, static_cast<off_t>(bytes.size())) == 0);
    for (std::size_t at = 0; at < bytes.size(); at += page) {
        const std::string part = bytes.substr(at, page);
        const bool is_last = at + page >= bytes.size();
        if (part.find_first_not_of('\0') == std::string::npos && !(some_written && is_last)) continue;
        REQUIRE(::pwrite(file, part.data(), part.size(), static_cast<off_t>(at)) ==
                static_cast<ssize_t>(part.size()));
    }
    ::close(file);
    return path;
}

UntouchedMemory untouched_in(const std::string& path) {
    Diagnostics diagnostics;
    return untouched_memory(CoreFile::open(path, {}, diagnostics));
}

}  // namespace

TEST_CASE("untouched memory: the holes of the kernel's core are certain", "[snapshot][regions]") {
    const TemporaryDirectory directory;
    const UntouchedMemory found = untouched_in(write_with_holes(directory, core_of_an_arena().bytes()));
    CHECK(numbers(found.never) ==
          Ranges{{arena + page, arena + 3 * page}, {arena + 4 * page, rest + 16 * page}});
    CHECK(found.zeros.empty());
}

TEST_CASE("untouched memory: without holes, or with one for each page of zeros, such a page may be either",
          "[snapshot][regions]") {
    const TemporaryDirectory directory;
    const std::string bytes = core_of_an_arena().bytes();
    const bool as_copied = GENERATE(false, true);
    const UntouchedMemory found =
        untouched_in(as_copied ? write_with_holes(directory, bytes, false) : directory.write("core", bytes));
    CHECK(numbers(found.never) == Ranges{{rest, rest + 16 * page}});
    CHECK(numbers(found.zeros) == Ranges{{arena + page, arena + 3 * page},
                                         {arena + 4 * page, arena + 6 * page},
                                         {library + 2 * page, library + 3 * page}});
}

TEST_CASE("untouched memory: a captured core says it itself, with holes and without", "[snapshot][regions]") {
    const TemporaryDirectory directory;
    CoreWriter core = core_of_an_arena();
    // Of its five pages of zeros the process had one, and of the library's pages it lacked one.
    const std::vector<AddressRange> absent = {{Address(arena + page), Address(arena + 3 * page)},
                                              {Address(arena + 5 * page), Address(arena + 6 * page)},
                                              {Address(library + 2 * page), Address(library + 3 * page)}};
    core.note(absent_pages_note_type, absent_pages_note(absent), std::string(capture_note_owner));
    const std::string bytes = core.bytes();
    const bool with_holes = GENERATE(false, true);
    const UntouchedMemory found =
        untouched_in(with_holes ? write_with_holes(directory, bytes) : directory.write("core", bytes));
    CHECK(numbers(found.never) ==
          Ranges{{arena + page, arena + 3 * page}, {arena + 5 * page, rest + 16 * page}});
    CHECK(found.zeros.empty());
}

TEST_CASE("untouched memory: a page that has bytes was there, whatever a captured core's note says",
          "[snapshot][regions]") {
    const TemporaryDirectory directory;
    CoreWriter core = core_of_an_arena();
    // The first and the fourth page have bytes.
    const auto absent =
        GENERATE(std::vector<AddressRange>{{Address(arena), Address(arena + 6 * page)}},
                 std::vector<AddressRange>{{Address(arena - 9 * page), Address(arena + 2 * page)},
                                           {Address(arena + 2 * page), Address(arena + 3 * page)},
                                           {Address(arena + 3 * page), Address(rest + 30 * page)}});
    core.note(absent_pages_note_type, absent_pages_note(absent), std::string(capture_note_owner));
    const std::string bytes = core.bytes();
    const bool with_holes = GENERATE(false, true);
    const UntouchedMemory found =
        untouched_in(with_holes ? write_with_holes(directory, bytes) : directory.write("core", bytes));
    CHECK(numbers(found.never) ==
          Ranges{{arena + page, arena + 3 * page}, {arena + 4 * page, rest + 16 * page}});
    CHECK(found.contradicted_pages == 2);
    CHECK(found.zeros.empty());
}

TEST_CASE("untouched memory: what processes share is saved whether it was touched or not",
          "[snapshot][regions]") {
    const TemporaryDirectory directory;
    std::string bytes(3 * page, '\0');
    bytes[page] = 'x';
    CoreWriter core;
    core.process(100, "python3", "python3 app.py").thread(100, 0);
    core.load(arena, bytes).load(library, bytes);
    core.files({{arena, arena + 3 * page, 0, "/memfd:cache (deleted)"}});
    const UntouchedMemory found = untouched_in(directory.write("core", core.bytes()));
    CHECK(numbers(found.zeros) == Ranges{{arena, arena + page},
                                         {arena + 2 * page, arena + 3 * page},
                                         {library, library + page},
                                         {library + 2 * page, library + 3 * page}});
}

TEST_CASE("untouched memory: pages of a segment that begins inside one", "[snapshot][regions]") {
    const TemporaryDirectory directory;
    CoreWriter core;
    core.process(100, "python3", "python3 app.py").thread(100, 0);
    core.load(arena + 16, std::string(3 * page, '\0'));
    const UntouchedMemory found = untouched_in(directory.write("core", core.bytes()));
    CHECK(numbers(found.zeros) == Ranges{{arena + page, arena + 3 * page}});
}

TEST_CASE("zeros in use: pages of zeros that were handed out, where the core does not tell",
          "[snapshot][regions]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    MappingRow row{.range = {Address(arena), Address(arena + 6 * page)}};
    row.shares[MemoryOwner::c_code] = 3 * page;
    row.shares[MemoryOwner::zeros] = page;
    row.shares[MemoryOwner::zero_blocks] = page;
    row.shares[MemoryOwner::reserved] = page;
    const std::string bytes = core_of_an_arena().bytes();
    // Four pages are zeros; of these three are counted as never used.
    CHECK(zeros_in_use(CoreFile::open(directory.write("dense", bytes), {}, diagnostics), {row}) == page);
    CHECK(zeros_in_use(CoreFile::open(write_with_holes(directory, bytes), {}, diagnostics), {row}) == 0);
}
