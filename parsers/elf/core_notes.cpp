// The notes of a core of x86-64.
//
// The kernel (fs/binfmt_elf.c) writes, for the thread that took the signal, NT_PRSTATUS, NT_PRPSINFO,
// NT_SIGINFO, NT_AUXV and NT_FILE, then NT_PRSTATUS for each other thread. gcore writes NT_PRPSINFO first and
// an NT_SIGINFO for each thread, at the end of the file; a thread that gdb only stopped has current signal 0,
// but its NT_SIGINFO says SIGSTOP, which nobody sent. The owner of all of them is "CORE". The structures are
// those of <sys/procfs.h>; the offsets below were measured on cores of both writers.
//
// NT_FILE: a count, the unit of file offsets (4096 from the kernel, 1 from gdb), then (start, end, offset)
// for each file, then as many NUL-terminated paths.

#include "parsers/elf/core_notes.h"

#include "parsers/base/text.h"
#include "parsers/elf/absent_pages.h"
#include "parsers/elf/capture_note.h"
#include "parsers/elf/elf_notes.h"

#include <fmt/format.h>

#include <elf.h>
#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t prstatus_cursig = 12, prstatus_pid = 32, prstatus_registers = 112;
constexpr std::uint64_t prpsinfo_pid = 24, prpsinfo_fname = 40, prpsinfo_psargs = 56;
constexpr std::uint64_t fname_bytes = 16, psargs_bytes = 80;
constexpr std::uint64_t siginfo_signo = 0, siginfo_code = 8, siginfo_address = 16;
constexpr std::uint64_t file_row_bytes = 24;

std::string text_up_to_nul(Bytes bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::string(text.substr(0, text.find('\0')));
}

std::optional<CoreThread> read_thread(Bytes note) {
    const auto tid = read_at<std::int32_t>(note, prstatus_pid);
    const auto signal = read_at<std::int16_t>(note, prstatus_cursig);
    const auto registers = read_at<std::array<std::uint64_t, 27>>(note, prstatus_registers);
    if (!tid || !signal || !registers) return std::nullopt;
    return CoreThread{*tid, *signal, *registers};
}

class NotesOfCore {
public:
    NotesOfCore(std::string name, Diagnostics& diagnostics)
        : name_(std::move(name)), diagnostics_(diagnostics) {}

    void take(const ElfNote& note) {
        if (note.name == capture_note_owner && note.type == capture_note_type)
            notes_.process.captured = read_capture_note(note.description);
        if (note.name == capture_note_owner && note.type == absent_pages_note_type) {
            notes_.absent_pages = read_absent_pages(note.description);
            if (!notes_.absent_pages)
                damage("its note of pages that were never touched cannot be read: they may count as in use");
        }
        if (note.name != "CORE") return;
        switch (note.type) {
            case NT_PRSTATUS:
                take_thread(note.description);
                break;
            case NT_PRPSINFO:
                take_process(note.description);
                break;
            case NT_SIGINFO:
                take_signal(note.description);
                break;
            case NT_AUXV:
                take_auxiliary(note.description);
                break;
            case NT_FILE:
                take_files(note.description);
                break;
            default:
                break;
        }
    }

    CoreNotes finish(bool from_gcore) {
        ProcessInfo& process = notes_.process;
        process.from_gcore = from_gcore;
        if (!notes_.threads.empty()) {
            const CoreThread& first = notes_.threads.front();
            if (process.pid == 0) process.pid = first.tid;
            const bool taken_alive = from_gcore && first.current_signal == 0;
            if (taken_alive || !process.signal) {
                process.signal = first.current_signal;
                process.signal_code.reset();
                process.fault_address.reset();
            }
        }
        std::stable_sort(
            notes_.mapped_files.begin(), notes_.mapped_files.end(),
            [](const MappedFile& a, const MappedFile& b) { return a.range.start < b.range.start; });
        return std::move(notes_);
    }

private:
    void damage(std::string_view what) {
        diagnostics_.add("notes-damaged", fmt::format("{}: {}", name_, what), Severity::damage);
    }

    void take_thread(Bytes note) {
        if (auto thread = read_thread(note))
            notes_.threads.push_back(*thread);
        else
            damage("the registers of a thread do not read");
    }

    void take_process(Bytes note) {
        if (const auto pid = read_at<std::int32_t>(note, prpsinfo_pid)) notes_.process.pid = *pid;
        notes_.process.name = text_up_to_nul(clipped(note, prpsinfo_fname, fname_bytes - 1));
        notes_.process.arguments = text_up_to_nul(clipped(note, prpsinfo_psargs, psargs_bytes - 1));
        // The kernel turns the NUL after each argument into a blank, including the last one.
        while (notes_.process.arguments.ends_with(' ')) notes_.process.arguments.pop_back();
    }

    void take_signal(Bytes note) {
        if (notes_.process.signal) return;  // the first belongs to the thread that took the signal
        notes_.process.signal = read_at<std::int32_t>(note, siginfo_signo);
        notes_.process.signal_code = read_at<std::int32_t>(note, siginfo_code);
        constexpr std::int32_t sent_by_kernel = 0x80;  // SI_KERNEL: the processor gave no address
        constexpr std::int32_t sigill = 4, sigbus = 7, sigfpe = 8, sigsegv = 11;
        const std::int32_t signal = notes_.process.signal.value_or(0);
        const std::int32_t code = notes_.process.signal_code.value_or(0);
        const bool fault = signal == sigill || signal == sigbus || signal == sigfpe || signal == sigsegv;
        // Codes of zero and below were sent by a process, and have its pid and uid in place of the address.
        if (fault && code > 0 && code != sent_by_kernel)
            if (const auto address = read_at<std::uint64_t>(note, siginfo_address))
                notes_.process.fault_address = Address(*address);
    }

    void take_auxiliary(Bytes note) {
        if (!notes_.auxiliary.empty()) return;
        for (std::uint64_t at = 0;; at += 16) {
            const auto type = read_at<std::uint64_t>(note, at), value = read_at<std::uint64_t>(note, at + 8);
            if (!type || !value || *type == AT_NULL) return;
            notes_.auxiliary.emplace_back(*type, *value);
        }
    }

    void take_files(Bytes note) {
        const auto count = read_at<std::uint64_t>(note, 0), unit = read_at<std::uint64_t>(note, 8);
        if (!count || !unit) return damage("the list of mapped files does not read");
        const Bytes rows = clipped(note, 16, note.size());
        std::uint64_t rows_there = std::min<std::uint64_t>(*count, rows.size() / file_row_bytes);
        // Later code numbers rows with 31 bits.
        rows_there = std::min<std::uint64_t>(rows_there, std::numeric_limits<std::int32_t>::max() / 2);
        Bytes paths = *count <= rows.size() / file_row_bytes
                          ? clipped(rows, *count * file_row_bytes, rows.size())
                          : Bytes{};
        std::uint64_t taken = 0;
        for (; taken < rows_there; ++taken) {
            const void* nul = paths.empty() ? nullptr : std::memchr(paths.data(), 0, paths.size());
            if (!nul) break;
            const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(nul) - paths.data());
            take_file_row(rows, taken, *unit, {reinterpret_cast<const char*>(paths.data()), length});
            paths = paths.subspan(length + 1);
        }
        if (taken < *count) damage(fmt::format("{} of {} mapped files can be named", taken, *count));
    }

    void take_file_row(Bytes rows, std::uint64_t index, std::uint64_t unit, std::string_view path) {
        const std::uint64_t at = index * file_row_bytes;
        const auto start = read_at<std::uint64_t>(rows, at), end = read_at<std::uint64_t>(rows, at + 8),
                   offset = read_at<std::uint64_t>(rows, at + 16);
        if (!start || !end || !offset) return;
        if (*start >= *end) return damage("a mapped file ends before it starts");
        const std::uint64_t bytes = saturating_multiply(*offset, unit);
        notes_.mapped_files.push_back({{Address(*start), Address(*end)}, bytes, std::string(path)});
    }

    std::string name_;
    Diagnostics& diagnostics_;
    CoreNotes notes_;
};

}  // namespace

CoreNotes read_core_notes(const std::string& path, const CoreHeaders& headers, Diagnostics& diagnostics) {
    NotesOfCore notes(escape_for_terminal(path), diagnostics);
    bool damaged = false;
    for (const NoteSegment& segment : headers.notes) {
        ElfNoteReader reader(segment.bytes, segment.alignment);
        while (const auto note = reader.next()) notes.take(*note);
        damaged |= reader.damaged();
    }
    if (damaged)
        diagnostics.add("notes-damaged", escape_for_terminal(path) + ": the notes end in the middle of one",
                        Severity::damage);
    return notes.finish(headers.has_section_headers);
}

}  // namespace heapsift
