// Everything that people take for a core gets the one line that helps.

#include "parsers/base/error.h"
#include "parsers/elf/core_file.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/image_writer.h"
#include "tests/elf/temporary_directory.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Failure {
    std::string code;
    std::string message;
    std::string hint;
};

Failure failure_of(const std::string& path) {
    Diagnostics diagnostics;
    try {
        (void)CoreFile::open(path, {}, diagnostics);
    } catch (const Error& e) {
        CHECK(e.exit() == ExitCode::cannot_analyse);
        CHECK(e.message().back() != '.');
        CHECK(e.message().find('\n') == std::string::npos);
        return {e.code(), e.message(), e.hint()};
    }
    return {};
}

std::string core_header(std::uint16_t type, std::uint16_t machine, unsigned char elf_class = ELFCLASS64,
                        unsigned char data = ELFDATA2LSB) {
    Elf64_Ehdr header = CoreWriter::elf_header();
    header.e_type = type;
    header.e_machine = machine;
    if (data == ELFDATA2MSB) {
        header.e_type = static_cast<std::uint16_t>(type << 8);
        header.e_machine = static_cast<std::uint16_t>(machine << 8);
    }
    header.e_ident[EI_CLASS] = elf_class;
    header.e_ident[EI_DATA] = data;
    return bytes_of(header);
}

}  // namespace

TEST_CASE("errors: files that cannot be opened", "[elf][errors]") {
    const TemporaryDirectory directory;
    const std::string gone = directory.path() + "/gone";
    CHECK(failure_of(gone).code == "no-such-file");
    CHECK(failure_of(gone).message == gone + ": no such file");
    CHECK(failure_of("").code == "no-such-file");
    CHECK_THAT(failure_of("4194399").hint, ContainsSubstring("heapsift 4194399"));
    CHECK(failure_of(directory.path()).code == "is-a-directory");
    const std::string fifo = directory.below("fifo");
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(failure_of(fifo).code == "not-a-regular-file");
    CHECK(failure_of("/dev/zero").code == "not-a-regular-file");
    if (::geteuid() != 0) {
        const std::string locked = directory.write("locked", "x");
        REQUIRE(::chmod(locked.c_str(), 0) == 0);
        CHECK(failure_of(locked).code == "permission-denied");
    }
}

TEST_CASE("errors: files that are something else, told by their first bytes", "[elf][errors]") {
    using namespace std::string_literals;
    const TemporaryDirectory directory;
    const auto code_of = [&](const std::string& bytes) {
        return failure_of(directory.write("file", bytes)).code;
    };
    const auto message_of = [&](const std::string& bytes) {
        return failure_of(directory.write("file", bytes)).message;
    };
    CHECK(code_of("") == "empty-file");
    CHECK(code_of("\x1f\x8b\x08\0"s) == "cannot-unpack");
    CHECK(code_of("\x28\xb5\x2f\xfd...") == "cannot-unpack");
    CHECK(code_of("\xfd\x37\x7a\x58\x5a\0..."s) == "cannot-unpack");
    CHECK(code_of("\x04\x22\x4d\x18...") == "cannot-unpack");
    CHECK(code_of("MDMP\x93\xa7\0\0"s) == "minidump");
    CHECK(code_of("\xcf\xfa\xed\xfe\x07\0"s) == "macho");
    CHECK_THAT(message_of("#!/usr/bin/env python3\nimport os\n"),
               ContainsSubstring("is a script (#!/usr/bin/env python3), not a core"));
    CHECK_THAT(message_of("Traceback (most recent call last):\n\tgrün\n"),
               ContainsSubstring("is a text file, not a core"));
    CHECK_THAT(message_of("\0\x01\x02\x03"s), ContainsSubstring("is not an ELF core"));
    CHECK(code_of("\x7f"
                  "ELF") == "not-a-core");
}

TEST_CASE("errors: ELF files that are no core of x86-64", "[elf][errors]") {
    const TemporaryDirectory directory;
    const auto code_of = [&](const std::string& bytes) {
        return failure_of(directory.write("file", bytes)).code;
    };
    CHECK(code_of(core_header(ET_EXEC, EM_X86_64)) == "elf-executable");
    CHECK(code_of(core_header(ET_DYN, EM_X86_64)) == "elf-shared-library");
    CHECK(code_of(ImageWriter().bytes()) == "elf-shared-library");
    CHECK(code_of(core_header(ET_REL, EM_X86_64)) == "elf-object");
    CHECK(code_of(core_header(ET_CORE, EM_386, ELFCLASS32)) == "core-32-bit");
    CHECK(code_of(core_header(ET_CORE, EM_S390, ELFCLASS64, ELFDATA2MSB)) == "core-big-endian");
    CHECK(code_of(core_header(ET_CORE, EM_AARCH64)) == "core-other-machine");
    CHECK(code_of(core_header(ET_CORE, EM_X86_64)) == "core-without-memory");
    CHECK(failure_of("/proc/self/exe").code == "elf-executable");
}

TEST_CASE("errors: a path with escape sequences is shown as what it is", "[elf][errors]") {
    const TemporaryDirectory directory;
    const std::string message = failure_of(directory.write("a\x1b[31mb\nc", "hello")).message;
    CHECK(message.find('\x1b') == std::string::npos);
    CHECK_THAT(message, ContainsSubstring("a\\x1b[31mb\\nc is a text file"));
}
