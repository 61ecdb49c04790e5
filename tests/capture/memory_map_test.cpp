// Mappings as the kernel lists them, and what of each a core saves.

#include "parsers/capture/memory_map.h"
#include "tests/catch.h"

#include <string>

using namespace heapsift;

namespace {

constexpr const char* listed =
    "00400000-00401000 r--p 00000000 fd:00 1234                               /usr/bin/python3.11\n"
    "00a00000-00b00000 rw-p 00000000 00:00 0                                  [heap]\n"
    "7f0000000000-7f0000004000 rw-s 00002000 00:01 77                         /dev/shm/a b\\012c (deleted)\n"
    "not a mapping\n"
    "7f0000010000-7f0000011000 ---p 00000000 00:00 0 \n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

constexpr const char* listed_with_flags =
    "7f0000000000-7f0000004000 rw-p 00000000 00:00 0 \n"
    "Size:                 16 kB\n"
    "Rss:                   4 kB\n"
    "VmFlags: rd wr mr mw me dd \n"
    "7f0000004000-7f0000008000 r--s 00000000 00:01 5       /srv/read-only\n"
    "VmFlags: rd mr me ms \n"
    "7f0000008000-7f000000c000 rw-s 00000000 00:01 5       /memfd:x (deleted)\n"
    "VmFlags: rd wr sh mr mw me ms dc ht \n";

Mapping private_memory() {
    Mapping mapping;
    mapping.range = {Address(0x1000), Address(0x9000)};
    mapping.readable = mapping.writable = true;
    return mapping;
}

Mapping program_file() {
    Mapping mapping = private_memory();
    mapping.of_file = true;
    mapping.path = "/usr/lib/libc.so.6";
    return mapping;
}

}  // namespace

TEST_CASE("mappings: ranges, rights, offsets and names are read, and what is no mapping is skipped",
          "[capture]") {
    const auto mappings = read_mappings(listed);
    REQUIRE(mappings.size() == 5);
    CHECK(mappings[0].range.start == Address(0x400000));
    CHECK(mappings[0].of_file);
    CHECK((mappings[0].readable && !mappings[0].writable && !mappings[0].executable));
    CHECK(mappings[1].path == "[heap]");
    CHECK_FALSE(mappings[1].of_file);
    CHECK(mappings[2].shared);
    CHECK(mappings[2].file_offset == 0x2000);
    CHECK(mappings[2].path == "/dev/shm/a b\nc (deleted)");
    CHECK(mappings[2].unlinked());
    CHECK(mappings[3].path.empty());
    CHECK_FALSE(mappings[3].readable);
    CHECK(mappings[4].executable);
    CHECK(read_mappings("").empty());
}

TEST_CASE("mappings: what a process maps while its list is read overlaps nothing", "[capture]") {
    const auto mappings = read_mappings(
        "10000-14000 rw-p 00000000 00:00 0 \n"
        "12000-13000 r--p 00000000 00:00 0 \n"
        "VmFlags: rd dd \n"
        "13000-16000 r--p 00001000 08:01 7 /lib/a.so\n"
        "VmFlags: rd dd \n"
        "16000-17000 rw-p 00000000 00:00 0 \n");
    REQUIRE(mappings.size() == 3);
    CHECK_FALSE(mappings[0].dont_dump);
    CHECK(mappings[1].range.start == Address(0x14000));
    CHECK(mappings[1].range.end == Address(0x16000));
    CHECK(mappings[1].file_offset == 0x2000);
    CHECK(mappings[1].dont_dump);
    CHECK(mappings[2].range.start == Address(0x16000));
}

TEST_CASE("mappings: smaps adds what a core depends on", "[capture]") {
    const auto mappings = read_mappings(listed_with_flags);
    REQUIRE(mappings.size() == 3);
    CHECK(mappings[0].dont_dump);
    CHECK_FALSE(mappings[1].shared);  // nobody can write through it: the kernel counts it as private
    CHECK((mappings[2].shared && mappings[2].huge_pages && mappings[2].not_in_fork));
    CHECK_FALSE(mappings[0].userfaultfd);
    for (const char* flag : {"um", "uw", "ui"}) {
        const auto answered =
            read_mappings("1000-2000 rw-p 00000000 00:00 0 \nVmFlags: rd wr " + std::string(flag) + " ac \n");
        REQUIRE(answered.size() == 1);
        CHECK(answered[0].userfaultfd);
    }
}

TEST_CASE("mappings: what was known of a place is taken over, and what is new is counted", "[capture]") {
    const auto before = read_mappings(listed_with_flags);
    auto mappings = read_mappings(
        "7f0000000000-7f0000003000 rw-p 00000000 00:00 0 \n"                  // shrunk
        "7f0000004000-7f0000008000 r--s 00000000 00:01 5       /srv/other\n"  // another file
        "7f0000009000-7f000000a000 rw-s 00001000 00:01 5       /memfd:x (deleted)\n"
        "7f0000010000-7f0000011000 rw-p 00000000 00:00 0 \n");  // new
    CHECK(take_over_flags(mappings, before) == 2);
    CHECK(mappings[0].dont_dump);
    CHECK_FALSE(mappings[1].dont_dump);
    CHECK((mappings[2].huge_pages && mappings[2].not_in_fork));
}

TEST_CASE("what a core saves is what the kernel's would", "[capture]") {
    const CoreFilter usual;
    CHECK(saving_of(private_memory(), usual).saving == Saving::if_written);
    CHECK(saving_of(private_memory(), usual).otherwise == Saving::nothing);

    SECTION("of a program file that was not written to, its first page") {
        Mapping file = program_file();
        CHECK(saving_of(file, usual).otherwise == Saving::first_page);
        file.file_offset = 0x1000;
        CHECK(saving_of(file, usual).otherwise == Saving::nothing);
        CHECK(saving_of(file, {.bits = 0x37}).otherwise == Saving::whole);
        CHECK(saving_of(file, {.bits = 0x32}).saving == Saving::nothing);
        file.file_offset = 0;
        file.readable = false;
        CHECK(saving_of(file, usual).otherwise == Saving::nothing);
    }
    SECTION("shared memory without a name, and no shared file") {
        Mapping shared = program_file();
        shared.shared = true;
        CHECK(saving_of(shared, usual).saving == Saving::nothing);
        CHECK(saving_of(shared, {.bits = 0x3b}).saving == Saving::whole);
        shared.path = "/dev/zero (deleted)";
        CHECK(saving_of(shared, usual).saving == Saving::whole);
        CHECK(saving_of(shared, {.bits = 0x31}).saving == Saving::nothing);
    }
    SECTION("of huge pages the private ones") {
        Mapping huge = private_memory();
        huge.huge_pages = true;
        CHECK(saving_of(huge, usual).saving == Saving::whole);
        huge.shared = true;
        CHECK(saving_of(huge, usual).saving == Saving::nothing);
        CHECK(saving_of(huge, {.bits = 0x73}).saving == Saving::whole);
    }
    SECTION("nothing of memfd_secret, which nobody can read; a file of that name is another matter") {
        Mapping secret = program_file();
        secret.shared = secret.dont_dump = true;
        secret.path = "/secretmem (deleted)";
        CHECK(saving_of(secret, {.full = true}).saving == Saving::nothing);
        secret.dont_dump = false;
        CHECK(saving_of(secret, {.full = true}).saving == Saving::whole);
        secret.dont_dump = true;
        secret.path = "/secretmem";
        CHECK(saving_of(secret, {.full = true}).saving == Saving::whole);
    }
    SECTION("nothing that must not be dumped, unless all is asked for; never a device") {
        Mapping secret = private_memory();
        secret.dont_dump = true;
        CHECK(saving_of(secret, usual).saving == Saving::nothing);
        CHECK(saving_of(secret, {.full = true}).saving == Saving::whole);
        Mapping device = private_memory();
        device.device = true;
        CHECK(saving_of(device, {.full = true}).saving == Saving::nothing);
    }
    SECTION("the vDSO, which has no file") {
        Mapping vdso = private_memory();
        vdso.path = "[vdso]";
        CHECK(saving_of(vdso, {.bits = 0}).saving == Saving::whole);
    }
}
