// The notes of a captured core, as heapsift's own reader and the layouts of <sys/procfs.h> have them.

#include "parsers/capture/process_notes.h"
#include "parsers/capture/process_files.h"
#include "parsers/elf/absent_pages.h"
#include "parsers/elf/capture_note.h"
#include "parsers/elf/core_notes.h"
#include "parsers/elf/elf_notes.h"
#include "tests/catch.h"

#include <elf.h>

#include <algorithm>
#include <string>

using namespace heapsift;

namespace {

Bytes bytes_of_text(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

ProcessRecords records() {
    ProcessRecords all;
    all.stat = "4711 (a) b (c) S 12 13 14 0 -1 4194304 1 2 3 4 5 6 7 8 20 -5 3 0 100";
    all.status =
        "Name:\ta\nPid:\t4711\nUid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\nNSpid:\t4711\t7\nNSpgid:"
        "\t13\t1\n";
    all.command_line = std::string("python3\0-m\0app\0", 15);
    const std::uint64_t page_size[] = {6, 4096, 0, 0};
    all.auxiliary.assign(reinterpret_cast<const char*>(page_size), sizeof page_size);
    all.own_thread_numbers = {{4711, 7}, {4712, 8}};
    return all;
}

std::vector<ThreadState> two_threads() {
    std::vector<ThreadState> threads(2);
    threads[0].tid = 4711;
    threads[0].registers[16] = 0x401000;
    threads[0].floating_point.resize(512);
    threads[0].extended.resize(832);
    threads[1].tid = 4712;
    threads[1].registers[19] = 0x7ff000;
    threads[1].blocked_signals = 0x200;
    return threads;
}

std::vector<Mapping> mappings() {
    Mapping file;
    file.range = {Address(0x400000), Address(0x402000)};
    file.of_file = true;
    file.file_offset = 0x3000;
    file.path = "/usr/bin/python3";
    Mapping memory;
    memory.range = {Address(0x500000), Address(0x600000)};
    return {file, memory};
}

}  // namespace

TEST_CASE("notes: what is written is what the reader of cores reads", "[capture]") {
    const std::string text =
        core_notes(records(), two_threads(), mappings(), {"0.1.0", 1764234000, 81, true, 5},
                   absent_pages_note(std::vector{AddressRange{Address(0x500000), Address(0x503000)}}));
    CoreHeaders headers;
    headers.notes.push_back({bytes_of_text(text), 4});
    Diagnostics diagnostics;
    const CoreNotes notes = read_core_notes("core", headers, diagnostics);
    CHECK(diagnostics.all().empty());
    REQUIRE(notes.threads.size() == 2);
    CHECK(notes.threads[0].tid == 7);  // as the process itself sees it
    CHECK(notes.threads[0].instruction_pointer() == 0x401000);
    CHECK(notes.threads[1].tid == 8);
    CHECK(notes.threads[1].stack_pointer() == 0x7ff000);
    CHECK(notes.process.pid == 7);
    CHECK(notes.process.name == "a) b (c");
    CHECK(notes.process.arguments == "python3 -m app");
    CHECK(was_alive(notes.process));
    REQUIRE(notes.mapped_files.size() == 1);
    CHECK(notes.mapped_files[0].file_offset == 0x3000);
    CHECK(notes.mapped_files[0].path == "/usr/bin/python3");
    REQUIRE(notes.auxiliary.size() == 1);
    CHECK(notes.auxiliary[0].second == 4096);
    REQUIRE((notes.absent_pages && notes.absent_pages->size() == 1));
    CHECK(notes.absent_pages->front().start == Address(0x500000));
    CHECK(notes.absent_pages->front().end == Address(0x503000));
    REQUIRE(notes.process.captured);
    CHECK(notes.process.captured->seconds == 1764234000);
    CHECK(notes.process.captured->by_fork);
    CHECK(notes.process.captured->version == "0.1.0");
}

TEST_CASE("notes: their order is the kernel's, each thread's other registers after its own", "[capture]") {
    const std::string text = core_notes(records(), two_threads(), mappings(), {"0.1.0", 1, 0, false, 0});
    ElfNoteReader reader(bytes_of_text(text), 4);
    std::vector<std::pair<std::string, std::uint32_t>> order;
    while (const auto note = reader.next()) order.emplace_back(note->name, note->type);
    CHECK_FALSE(reader.damaged());
    CHECK(order == decltype(order){{"CORE", NT_PRSTATUS},
                                   {"CORE", NT_PRPSINFO},
                                   {"CORE", NT_AUXV},
                                   {"CORE", NT_FILE},
                                   {"heapsift", 1},
                                   {"CORE", NT_FPREGSET},
                                   {"LINUX", NT_X86_XSTATE},
                                   {"CORE", NT_PRSTATUS}});
}

TEST_CASE("status and stat: names that hold anything", "[capture]") {
    const auto stat = read_stat("1 (x) R (y) Z 5 6 7");
    REQUIRE(stat);
    CHECK(stat->name == "x) R (y");
    CHECK(stat->state == 'Z');
    CHECK(stat->field(4) == 5);
    CHECK(stat->field(60) == 0);
    CHECK_FALSE(read_stat(""));
    CHECK_FALSE(read_stat("1 (x"));
    CHECK_FALSE(read_stat("1 )x("));
    CHECK(status_field("Ab:\t1\nA:\t 2 \n", "A") == "2");
    CHECK(status_field("Ab:\t1\n", "A").empty());
    CHECK(own_number("NSpid:\t10\n", 3) == 10);
    CHECK(own_number("NSpid:\t10\t20\t1\n", 3) == 1);
    CHECK(own_number("", 3) == 3);
}
