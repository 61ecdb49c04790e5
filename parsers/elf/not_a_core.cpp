// People give a core's reader whatever lies near a core: the executable, the script, a log, a process id, the
// compressed core as systemd left it. The first bytes say what it is (magic numbers as in file(1)), never the
// name.

#include "parsers/elf/not_a_core.h"

#include "parsers/base/program_name.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <elf.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

namespace heapsift {
namespace {

using namespace std::string_view_literals;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

struct UnpackCommand {
    std::string_view magic;
    std::string_view name;
    std::string_view command;
};
constexpr std::array compressions = {
    UnpackCommand{"\x1f\x8b"sv, "gzip", "gzip -dc"},
    UnpackCommand{"\x28\xb5\x2f\xfd"sv, "zstd", "zstd -dc"},
    UnpackCommand{"\xfd\x37\x7a\x58\x5a\x00"sv, "xz", "xz -dc"},
    UnpackCommand{"\x04\x22\x4d\x18"sv, "lz4", "lz4 -dc"},
};

constexpr std::array mach_o_magics = {"\xcf\xfa\xed\xfe"sv, "\xce\xfa\xed\xfe"sv, "\xfe\xed\xfa\xcf"sv,
                                      "\xfe\xed\xfa\xce"sv, "\xca\xfe\xba\xbe"sv};

bool looks_like_text(std::string_view start) {
    while (!start.empty()) {
        const DecodedCharacter c = decode_utf8(start);
        // A sequence cut off by the end of the sample does not count as invalid.
        if (!c.valid && start.size() >= 4) return false;
        if (c.valid && c.value < 0x20 && !(c.value >= 0x07 && c.value <= 0x0d) && c.value != 0x1b)
            return false;
        start.remove_prefix(c.bytes);
    }
    return true;
}

std::string machine_name(std::uint16_t machine) {
    switch (machine) {
        case EM_386:
            return "32-bit x86";
        case EM_ARM:
            return "32-bit arm";
        case EM_AARCH64:
            return "aarch64";
        case EM_RISCV:
            return "risc-v";
        case EM_PPC64:
            return "ppc64";
        case EM_S390:
            return "s390x";
        case 258:
            return "loongarch";
        default:
            return fmt::format("machine number {}", machine);
    }
}

/// Whether a position-independent image is a program: it says so (DF_1_PIE), or it asks for a dynamic loader
/// and has no name by which other objects could ask for it (libc.so.6 has both). Works only for the host's
/// own byte order and class.
bool is_position_independent_program(Bytes file, const Elf64_Ehdr& header) {
    bool asks_for_loader = false, has_soname = false;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        const auto ph = read_at<Elf64_Phdr>(file, saturating_add(header.e_phoff, i * sizeof(Elf64_Phdr)));
        if (!ph) break;
        asks_for_loader |= ph->p_type == PT_INTERP;
        if (ph->p_type != PT_DYNAMIC) continue;
        const Bytes dynamic = clipped(file, ph->p_offset, std::min<std::uint64_t>(ph->p_filesz, 64 * 1024));
        for (std::uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
            const auto entry = read_at<Elf64_Dyn>(dynamic, at);
            if (!entry || entry->d_tag == DT_NULL) break;
            has_soname |= entry->d_tag == DT_SONAME;
            if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_PIE)) return true;
        }
    }
    return asks_for_loader && !has_soname;
}

[[noreturn]] void throw_other_elf(const std::string& name, Bytes file, std::uint16_t type,
                                  const Elf64_Ehdr* header) {
    const bool program =
        type == ET_EXEC || (type == ET_DYN && header && is_position_independent_program(file, *header));
    if (program)
        throw cannot_analyse(
            "elf-executable",
            name + " is an ELF executable, not a core; name the core, and pass this with --executable",
            "a core is written when a process crashes, or by '" + command_line("capture PID") + "'; see " +
                command_line("help capture"));
    if (type == ET_DYN)
        throw cannot_analyse("elf-shared-library",
                             name + " is an ELF shared library, not a core; name the core",
                             "where libraries lie is told with --sysroot");
    if (type == ET_REL)
        throw cannot_analyse("elf-object", name + " is an ELF object file, not a core", "name the core");
    throw cannot_analyse("not-a-core", fmt::format("{} is an ELF file of type {}, not a core", name, type),
                         "name the core");
}

void require_elf_core(const std::string& name, Bytes file) {
    const auto ident = read_at<std::array<unsigned char, EI_NIDENT>>(file, 0);
    const auto type_bytes = read_at<std::array<unsigned char, 4>>(file, EI_NIDENT);  // e_type, e_machine
    if (!ident || !type_bytes)
        throw cannot_analyse("not-a-core",
                             fmt::format("{} ends after {} bytes, within the ELF header", name, file.size()),
                             "it was cut when it was written or copied; copy it again");
    const bool big = (*ident)[EI_DATA] == ELFDATA2MSB;
    const bool wide = (*ident)[EI_CLASS] == ELFCLASS64;
    const auto half = [&](std::size_t at) {
        return static_cast<std::uint16_t>(big ? (*type_bytes)[at] << 8 | (*type_bytes)[at + 1]
                                              : (*type_bytes)[at + 1] << 8 | (*type_bytes)[at]);
    };
    const std::uint16_t type = half(0), machine = half(2);
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    if (type != ET_CORE) throw_other_elf(name, file, type, header && wide && !big ? &*header : nullptr);
    if (big)
        throw cannot_analyse("core-big-endian",
                             fmt::format("{} is a big-endian core ({})", name, machine_name(machine)),
                             "heapsift reads little-endian cores of x86-64");
    if (!wide)
        throw cannot_analyse(
            "core-32-bit", fmt::format("{} is a core of a 32-bit process ({})", name, machine_name(machine)),
            "heapsift reads 64-bit cores of x86-64");
    if (machine != EM_X86_64)
        throw cannot_analyse("core-other-machine",
                             fmt::format("{} is a core of another machine: {}", name, machine_name(machine)),
                             "heapsift reads cores of x86-64");
    if (!header)
        throw cannot_analyse("not-a-core",
                             fmt::format("{} ends after {} bytes, within the ELF header", name, file.size()),
                             "it was cut when it was written or copied; copy it again");
    if (header->e_phentsize < sizeof(Elf64_Phdr))
        throw cannot_analyse("core-without-memory",
                             fmt::format("{} is an ELF core without program headers", name),
                             "the file is damaged; copy it again");
}

}  // namespace

Error cannot_open_core(const std::string& path, const FileMapping::Status& status) {
    const std::string name = escape_for_terminal(path);
    const auto reason = [&] {
        std::string text = std::strerror(status.error_number);
        if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
            text[0] = static_cast<char>(text[0] - 'A' + 'a');
        return text;
    };
    if (status.failure == FileMapping::Failure::is_directory)
        return cannot_analyse(
            "is-a-directory", name + " is a directory, not a core",
            "name the core in it; " + command_line("batch " + shell_quoted(path)) + " answers for each");
    if (status.failure == FileMapping::Failure::not_regular)
        return cannot_analyse("not-a-regular-file", name + " is not a regular file",
                              "write the core to a file first");
    if (status.failure == FileMapping::Failure::cannot_map)
        return cannot_analyse("cannot-map",
                              fmt::format("{}: cannot be mapped into memory: {}", name, reason()),
                              "a limit on address space (ulimit -v) must be larger than the core");
    if (status.error_number == ENOENT || status.error_number == ENOTDIR) {
        const bool number =
            !path.empty() && path.size() <= 10 && path.find_first_not_of("0123456789") == std::string::npos;
        return cannot_analyse("no-such-file", name + ": no such file",
                              number ? "for a running process: " + command_line(path) : "");
    }
    if (status.error_number == EACCES || status.error_number == EPERM)
        return cannot_analyse(
            "permission-denied", name + ": permission denied",
            "cores are readable by their owner only; become that user, or have it made readable");
    return cannot_analyse("cannot-open", fmt::format("{}: {}", name, reason()));
}

void require_core(const std::string& path, Bytes file) {
    const std::string name = escape_for_terminal(path);
    const std::string_view start = text_of(clipped(file, 0, 512));
    if (start.empty())
        throw cannot_analyse("empty-file", name + " is empty",
                             "the disk was full, or a size limit cut the core to nothing (ulimit -c)");
    if (start.starts_with("\x7f"
                          "ELF"sv))
        return require_elf_core(name, file);
    for (const UnpackCommand& c : compressions)
        if (start.starts_with(c.magic))
            throw cannot_analyse("compressed-core",
                                 fmt::format("{} is compressed with {}, and once more inside", name, c.name),
                                 fmt::format("unpack it first: {} {} > core", c.command, shell_quoted(path)));
    for (const std::string_view magic : mach_o_magics)
        if (start.starts_with(magic))
            throw cannot_analyse("macho", name + " is a Mach-O file, of macOS",
                                 "heapsift reads ELF cores of Linux");
    if (start.starts_with("MDMP"sv))
        throw cannot_analyse("minidump", name + " is a minidump, of Windows or Breakpad",
                             "heapsift reads ELF cores of Linux");
    if (start.starts_with("#!"sv)) {
        const std::string_view line = start.substr(0, std::min(start.find('\n'), std::size_t{80}));
        throw cannot_analyse("not-a-core",
                             fmt::format("{} is a script ({}), not a core", name, escape_for_terminal(line)),
                             "name the core of the process that ran it");
    }
    if (looks_like_text(start))
        throw cannot_analyse("not-a-core", name + " is a text file, not a core", "name the core");
    throw cannot_analyse("not-a-core", name + " is not an ELF core",
                         "name a core written by the kernel, heapsift, gcore or systemd-coredump");
}

}  // namespace heapsift
