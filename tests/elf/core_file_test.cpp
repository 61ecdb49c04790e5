// Segments, notes, cut cores and false cores.

#include "parsers/elf/core_file.h"
#include "parsers/elf/capture_note.h"

#include "parsers/base/error.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <random>
#include <tuple>

using namespace heapsift;
using namespace heapsift::test;

namespace {

CoreWriter small_core() {
    CoreWriter core;
    core.thread(100, 11, 0x1234)
        .process(100, "python3", "python3 app.py ")
        .signal(11, 1, 0xdead0)
        .auxiliary({{AT_PAGESZ, 4096}, {AT_ENTRY, 0x401000}})
        .thread(101, 0);
    core.load(0x10000, std::string(4096, 'a'))
        .load(0x20000, std::string(8, 'b'), 4096)
        .load(0x30000, "", 8192, PF_R | PF_X);
    return core;
}

CoreFile open_bytes(const TemporaryDirectory& directory, const std::string& bytes, Diagnostics& diagnostics) {
    return CoreFile::open(directory.write("core", bytes), {}, diagnostics);
}

const Diagnostic* find_diagnostic(const Diagnostics& diagnostics, std::string_view code) {
    for (const Diagnostic& d : diagnostics.all())
        if (d.code == code) return &d;
    return nullptr;
}

/// Opens whatever the bytes are, touches everything found, and checks that memory is in order, without
/// overlaps, and that what was saved is bytes of the file. True for an answer, false for an Error, which is
/// fine too; a crash is not.
bool open_and_touch(const TemporaryDirectory& directory, const std::string& bytes) {
    Diagnostics diagnostics;
    try {
        const CoreFile core = open_bytes(directory, bytes, diagnostics);
        Address end;
        for (const Segment& s : core.memory().segments()) {
            REQUIRE((s.start >= end && s.end() > s.start));
            end = s.end();
            const std::uint64_t most = s.state == ByteState::in_core ? s.size : 0;
            REQUIRE(most <= bytes.size());
            const auto first = core.memory().read<char>(s.start);
            REQUIRE(first.has_value() == (core.memory().state_of(s.start) == ByteState::in_core ||
                                          core.memory().state_of(s.start) == ByteState::from_file));
            (void)core.memory().read<std::uint64_t>(s.end() - 1);
        }
        for (const Module& m : core.modules()) {
            (void)core.symbol(m, "_PyRuntime");
            (void)core.symbol_at(m, m.start);
            (void)core.section(m, ".text");
        }
        return true;
    } catch (const Error& e) {
        CHECK(e.exit() == ExitCode::cannot_analyse);
        return false;
    }
}

}  // namespace

TEST_CASE("core: threads, process and signal come from the notes", "[elf][core]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = open_bytes(directory, small_core().bytes(), diagnostics);
    CHECK(diagnostics.all().empty());
    REQUIRE(core.threads().size() == 2);
    CHECK(core.threads()[0].tid == 100);
    CHECK(core.threads()[0].current_signal == 11);
    CHECK(core.threads()[0].instruction_pointer() == 0x1234);
    CHECK(core.process().pid == 100);
    CHECK(core.process().name == "python3");
    CHECK(core.process().arguments == "python3 app.py");
    CHECK(core.process().signal == 11);
    CHECK(core.process().signal_code == 1);
    CHECK(core.process().fault_address == Address(0xdead0));
    CHECK_FALSE(core.process().from_gcore);
    CHECK(core.auxiliary(AT_ENTRY) == 0x401000);
    CHECK_FALSE(core.auxiliary(AT_PHDR));
}

TEST_CASE("core: a signal that a process sent has no fault address", "[elf][core]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = open_bytes(
        directory, CoreWriter().thread(7, 11).signal(11, 0, 0x3e8).load(0x1000, "x").bytes(), diagnostics);
    CHECK(core.process().signal == 11);
    CHECK_FALSE(core.process().fault_address);
    CHECK(core.process().pid == 7);
}

TEST_CASE("core: heapsift's own note says when it was captured, and a false one says nothing",
          "[elf][core]") {
    const auto captured_of = [](const std::string& note, const std::string& owner = "heapsift") {
        const TemporaryDirectory directory;
        Diagnostics diagnostics;
        CoreWriter writer;
        writer.thread(7, 0).note(1, note, owner).load(0x1000, "x");
        return open_bytes(directory, writer.bytes(), diagnostics).process().captured;
    };
    const CaptureFacts facts{"0.1.0", 1764234001, 5000000, true, 3};
    const auto read = captured_of(capture_note(facts));
    REQUIRE(read);
    CHECK(read->version == "0.1.0");
    CHECK(read->seconds == 1764234001);
    CHECK(read->stood_nanoseconds == 5000000);
    CHECK(read->by_fork);
    CHECK(read->changed_pages == 3);
    CHECK(captured_of("time=1\nlater=x\n"));
    CHECK_FALSE(captured_of("time=1\n", "other"));
    for (const char* false_note :
         {"", "time=\n", "time=-1\n", "time=253402300800\n", "time=1\nversion=\x1b[2J\n",
          "time=1\nstood_ns=99999999999999999999999\n", "time=1x\n", "time", "version=1\n"})
        CHECK_FALSE(captured_of(false_note));
    CHECK_FALSE(captured_of("time=1\n" + std::string(1024, 'a') + "=\n"));
}

TEST_CASE("core: gcore of a running process has no signal, though its note says SIGSTOP", "[elf][core]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreWriter writer;
    writer.gcore = true;
    writer.thread(7, 0).signal(19, 0).load(0x1000, "x");
    const CoreFile core = open_bytes(directory, writer.bytes(), diagnostics);
    CHECK(core.process().from_gcore);
    CHECK(core.process().signal == 0);
}

TEST_CASE("core: bytes past p_filesz were not saved, and are never zero", "[elf][core]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = open_bytes(directory, small_core().bytes(), diagnostics);
    const AddressSpace& memory = core.memory();
    CHECK(memory.state_of(Address(0x20007)) == ByteState::in_core);
    CHECK(memory.state_of(Address(0x20008)) == ByteState::not_saved);
    CHECK(memory.state_of(Address(0x30000)) == ByteState::not_saved);
    CHECK(memory.state_of(Address(0x32000)) == ByteState::unmapped);
    CHECK_FALSE(memory.find(Address(0x20008))->cut);
    CHECK(memory.find(Address(0x30000))->executable);
    CHECK_FALSE(memory.read<std::uint64_t>(Address(0x20001)));
    CHECK(core.extent().segment_count == 3);
    CHECK(core.extent().mapped_bytes == 4096 + 4096 + 8192);
    CHECK(core.extent().in_core_bytes == 4096 + 8);
    CHECK_FALSE(core.extent().cut());
    CHECK(diagnostics.complete());
}

TEST_CASE("core: a cut core says how much is lost, at every length", "[elf][core]") {
    const TemporaryDirectory directory;
    const std::string whole = small_core().bytes();
    for (std::size_t length = 0; length < whole.size(); length += length < 3000 ? 7 : 501) {
        Diagnostics diagnostics;
        try {
            const CoreFile core = open_bytes(directory, whole.substr(0, length), diagnostics);
            CHECK_FALSE(diagnostics.complete());
            CHECK(find_diagnostic(diagnostics, "core-cut"));
            CHECK(core.extent().file_bytes == length);
            if (core.extent().segment_count == 3) {
                CHECK(core.extent().promised_bytes == whole.size());
                CHECK(core.extent().cut());
            }
        } catch (const Error& e) {
            CHECK(length < sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
        }
    }
}

TEST_CASE("core: a thread's stack that gdb could not read, and wrote as zeros, counts as not there",
          "[elf][core]") {
    const TemporaryDirectory directory;
    // Two pages that were read, two of zeros with the stack pointer and the control block of the second thread.
    std::string stack(4 * 4096, '\0');
    std::fill_n(stack.begin(), 4096 + 100, 's');
    const std::uint64_t at = 0x70000, pointer = at + 2 * 4096 + 256, control = at + 4 * 4096 - 512;
    const auto open = [&](const std::string& segment, bool gcore, std::uint64_t stack_pointer,
                          Diagnostics& diagnostics) {
        CoreWriter writer = small_core();
        writer.thread(102, 0, 0, stack_pointer, control).thread(103, 0, 0, stack_pointer - 128, control - 64);
        writer.load(at, segment);
        writer.gcore = gcore;
        return open_bytes(directory, writer.bytes(), diagnostics);
    };
    {
        Diagnostics diagnostics;
        const CoreFile core = open(stack, true, pointer, diagnostics);
        REQUIRE(find_diagnostic(diagnostics, "stack-unread"));
        CHECK_THAT(find_diagnostic(diagnostics, "stack-unread")->message,
                   ContainsSubstring("stacks of 2 threads"));
        CHECK_FALSE(diagnostics.complete());
        CHECK(core.extent().cut_bytes == 2 * 4096);
        CHECK(core.memory().state_of(Address(at + 2 * 4096 - 1)) == ByteState::in_core);
        CHECK(core.memory().state_of(Address(at + 2 * 4096)) == ByteState::not_saved);
        CHECK_FALSE(core.memory().read<std::uint64_t>(Address(control)));
    }
    std::string with_control = stack;
    put_at(with_control, control - at, control);
    std::string with_frame = stack;
    put_at(with_frame, pointer - at + 8, std::uint64_t{0x401000});
    for (const auto& [segment, gcore, stack_pointer] :
         {std::tuple{with_control, true, pointer}, std::tuple{with_frame, true, pointer},
          std::tuple{stack, false, pointer}, std::tuple{stack, true, std::uint64_t{0x20000}}}) {
        Diagnostics diagnostics;
        const CoreFile core = open(segment, gcore, stack_pointer, diagnostics);
        CHECK_FALSE(find_diagnostic(diagnostics, "stack-unread"));
        CHECK(core.extent().cut_bytes == 0);
        CHECK(core.memory().read<std::uint64_t>(Address(control)).has_value());
    }
}

TEST_CASE("core: bytes that the headers promise and the file lacks are marked as cut", "[elf][core]") {
    const TemporaryDirectory directory;
    const std::string whole = small_core().bytes();
    Diagnostics diagnostics;
    const CoreFile core = open_bytes(directory, whole.substr(0, whole.size() - 8 - 1000), diagnostics);
    CHECK(core.extent().cut_bytes == 1008);
    CHECK(core.memory().state_of(Address(0x10000 + 3095)) == ByteState::in_core);
    const Segment* lost = core.memory().find(Address(0x10000 + 3096));
    REQUIRE(lost);
    CHECK(lost->state == ByteState::not_saved);
    CHECK(lost->cut);
    CHECK_FALSE(core.memory().find(Address(0x20008))->cut);
    CHECK_THAT(find_diagnostic(diagnostics, "core-cut")->message,
               ContainsSubstring("lowest address lost is 0x10c18"));
}

namespace {

// Out of order, so that a quadratic sort would show.
std::string core_of_segments(std::uint64_t count) {
    CoreWriter writer;
    writer.thread(1, 6);
    std::vector<FileRow> rows;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t page = (i * 7919) % count;
        writer.load(0x10000 + page * 8192, bytes_of(page), 4096, i % 2 ? PF_R : PF_R | PF_W);
        rows.push_back({0x10000 + i * 8192, 0x10000 + i * 8192 + 4096, 0, "/x/data" + std::to_string(i % 3)});
    }
    writer.files(rows);
    return writer.bytes();
}

// Processor time of this process, so that other programs on the machine do not count.
double seconds_to_open(const std::string& path) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
        Diagnostics diagnostics;
        const std::clock_t before = std::clock();
        const CoreFile core = CoreFile::open(path, {}, diagnostics);
        least = std::min(least, double(std::clock() - before) / CLOCKS_PER_SEC);
    }
    return least;
}

}  // namespace

TEST_CASE("core: 70,000 segments are opened, and their count may be lost", "[elf][core]") {
    const TemporaryDirectory directory;
    constexpr std::uint64_t count = 70'000;
    const std::string whole = core_of_segments(count);
    const auto check = [&](const std::string& bytes) {
        Diagnostics diagnostics;
        const CoreFile core = open_bytes(directory, bytes, diagnostics);
        CHECK(core.extent().segment_count == count);
        CHECK_FALSE(core.process().from_gcore);
        for (const std::uint64_t page : {std::uint64_t{0}, std::uint64_t{1}, count / 2, count - 1})
            CHECK(core.memory().read<std::uint64_t>(Address(0x10000 + page * 8192)) == page);
        return diagnostics.complete();
    };
    CHECK(check(whole));
    CHECK_FALSE(check(
        whole.substr(0, whole.size() - sizeof(Elf64_Shdr))));  // the section header with the count is gone
}

TEST_CASE("core: the time to open one grows with its segments, not with their square", "[elf][core]") {
    const TemporaryDirectory directory;
    const double few = seconds_to_open(directory.write("few", core_of_segments(7'000)));
    const double many = seconds_to_open(directory.write("many", core_of_segments(70'000)));
    CHECK(many < 40 * few);  // ten times as many: a square would be a hundred
}

TEST_CASE("core: overlapping segments are resolved, saved bytes first", "[elf][core]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreWriter writer;
    writer.load(0x10000, "", 8192)
        .load(0x11000, std::string(4096, 's'))
        .load(0x11800, std::string(4096, 't'));
    const CoreFile core = open_bytes(directory, writer.bytes(), diagnostics);
    CHECK(core.memory().state_of(Address(0x10fff)) == ByteState::not_saved);
    CHECK(core.memory().read<char>(Address(0x11000)) == 's');
    CHECK(core.memory().read<char>(Address(0x11fff)) == 's');
    CHECK(core.memory().read<char>(Address(0x12000)) == 't');
    CHECK(core.extent().mapped_bytes == 0x2800);
}

TEST_CASE("core: numbers near 2^64 in headers are survived", "[elf][core]") {
    const TemporaryDirectory directory;
    const std::string whole = small_core().bytes();
    const std::uint64_t values[] = {
        0, 1, 0x7fffffffffffffff, ~0ull, ~0ull - 7, ~0ull - 4095, 1ull << 60, whole.size(), whole.size() - 1};
    std::size_t answers = 0, asked = 0;
    for (const std::size_t field :
         {offsetof(Elf64_Phdr, p_offset), offsetof(Elf64_Phdr, p_vaddr), offsetof(Elf64_Phdr, p_filesz),
          offsetof(Elf64_Phdr, p_memsz), offsetof(Elf64_Phdr, p_align)})
        for (const std::uint64_t a : values)
            for (std::size_t header = 0; header < 4; ++header) {
                std::string bytes = whole;
                put_at(bytes, sizeof(Elf64_Ehdr) + header * sizeof(Elf64_Phdr) + field, a);
                answers += open_and_touch(directory, bytes);
                ++asked;
            }
    CHECK(answers > asked / 2);  // of four program headers, one lies
    for (const std::size_t field : {offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_shoff)})
        for (const std::uint64_t a : values)
            for (const std::uint16_t count :
                 {std::uint16_t{0}, std::uint16_t{4}, std::uint16_t{0xfffe}, std::uint16_t{0xffff}}) {
                std::string bytes = whole;
                put_at(bytes, field, a);
                put_at(bytes, offsetof(Elf64_Ehdr, e_phnum), count);
                put_at(bytes, offsetof(Elf64_Ehdr, e_shentsize), std::uint16_t{sizeof(Elf64_Shdr)});
                CHECK_FALSE((open_and_touch(directory, bytes) && field == offsetof(Elf64_Ehdr, e_phoff) &&
                             a > bytes.size()));  // no headers, no core
            }
}

TEST_CASE("core: a segment that promises 2^60 bytes is cut, and costs nothing", "[elf][core]") {
    const TemporaryDirectory directory;
    std::string bytes = small_core().bytes();
    const std::size_t header = CoreWriter::header_of_load(2);
    put_at(bytes, header + offsetof(Elf64_Phdr, p_filesz), std::uint64_t{1} << 60);
    put_at(bytes, header + offsetof(Elf64_Phdr, p_memsz), std::uint64_t{1} << 60);
    Diagnostics diagnostics;
    const CoreFile core = open_bytes(directory, bytes, diagnostics);
    CHECK(core.extent().cut_bytes == std::uint64_t{1} << 60);
    CHECK(core.memory().find(Address(0x40000))->cut);
}

TEST_CASE("core: notes that claim too much are read as far as they go", "[elf][core]") {
    const TemporaryDirectory directory;
    const auto file_note = [](std::uint64_t count, std::uint64_t unit) {
        std::string note = CoreWriter::file_note({{0x1000, 0x2000, 1, "/a"}, {0x3000, 0x4000, ~0ull, "/b"}});
        put_at(note, 0, count);
        put_at(note, 8, unit);
        return note;
    };
    SECTION("a claimed 2^60 mapped files") {
        Diagnostics diagnostics;
        const auto core = open_bytes(
            directory, CoreWriter().note(NT_FILE, file_note(1ull << 60, 4096)).load(0x1000, "x").bytes(),
            diagnostics);
        CHECK(core.mapped_files().empty());
        CHECK(find_diagnostic(diagnostics, "notes-damaged"));
    }
    SECTION("more rows than names, and an offset that overflows") {
        Diagnostics diagnostics;
        const auto core = open_bytes(
            directory, CoreWriter().note(NT_FILE, file_note(2, 4096)).load(0x1000, "x").bytes(), diagnostics);
        REQUIRE(core.mapped_files().size() == 2);
        CHECK(core.mapped_files()[0].file_offset == 4096);
        CHECK(core.mapped_files()[1].file_offset == ~0ull);
        CHECK(core.memory().state_of(Address(0x3000)) == ByteState::not_saved);
    }
    SECTION("a note longer than its segment") {
        CoreWriter writer;
        writer.thread(5, 6).load(0x1000, "x");
        const std::size_t second = writer.notes.size();
        writer.thread(6, 0);
        put_at(writer.notes, second + 4, std::uint32_t{0xfffffff0});
        Diagnostics diagnostics;
        const auto core = open_bytes(directory, writer.bytes(), diagnostics);
        CHECK(core.threads().size() == 2);  // the second has all that is needed
        CHECK_FALSE(diagnostics.complete());
    }
    SECTION("a name longer than its segment") {
        CoreWriter writer;
        writer.thread(5, 6).load(0x1000, "x");
        put_at(writer.notes, 0, std::uint32_t{0xffffffff});
        Diagnostics diagnostics;
        const auto core = open_bytes(directory, writer.bytes(), diagnostics);
        CHECK(core.threads().empty());
        CHECK_FALSE(diagnostics.complete());
    }
    SECTION("files that end before they start") {
        Diagnostics diagnostics;
        const auto core =
            open_bytes(directory, CoreWriter().files({{0x2000, 0x1000, 0, "/a"}}).load(0x1000, "x").bytes(),
                       diagnostics);
        CHECK(core.mapped_files().empty());
    }
}

TEST_CASE("core: random damage never does more than lose data", "[elf][core]") {
    const TemporaryDirectory directory;
    const std::string whole =
        small_core()
            .files({{0x10000, 0x11000, 0, "/nowhere/libx.so"}, {0x30000, 0x32000, 1, "/nowhere/libx.so"}})
            .bytes();
    std::mt19937 random(11);
    int answers = 0;
    for (int round = 0; round < 1500; ++round) {
        std::string bytes = whole;
        const std::size_t headers = 64 + 4 * 56 + 1500;
        for (int i = 0; i < 1 + round % 6; ++i)
            bytes[random() % std::min(bytes.size(), headers)] = static_cast<char>(random());
        if (round % 5 == 0) bytes.resize(random() % bytes.size());
        answers += open_and_touch(directory, bytes);
    }
    CHECK(answers > 750);  // most of the damage is in notes, or in one program header
}
