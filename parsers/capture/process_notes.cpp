// The order is the kernel's: the first thread's registers, then what is said of the process, then the first thread's other
// registers, then all of every other thread. gdb and eu-readelf assign a NT_FPREGSET to the NT_PRSTATUS before it. Which
// thread comes first is free here, where none took a signal: the first of the process. There is no NT_SIGINFO, and the
// current signal is 0: the process lived.
//
// Numbers of processes and threads are those of the process's own namespace, as in the kernel's core: Python has them in
// its thread states. Paths are those that the process itself would see.
//
// Source: Linux's fs/binfmt_elf.c (fill_note_info, fill_psinfo, fill_files_note), <sys/procfs.h>; proc(5).

#include "parsers/capture/process_notes.h"

#include "parsers/elf/absent_pages.h"
#include "parsers/elf/capture_note.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/procfs.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace heapsift {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void add_number(std::string& out, std::uint64_t number) { out += bytes_of(number); }

std::uint64_t status_number(std::string_view status, std::string_view name, int base) {
    const std::string_view text = status_field(status, name);
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// The last of the numbers of a line with one for each namespace.
std::int32_t innermost(std::string_view status, std::string_view name, std::int64_t otherwise) {
    const std::string_view numbers = status_field(status, name);
    if (numbers.empty()) return static_cast<std::int32_t>(otherwise);
    const std::string_view last = numbers.substr(numbers.find_last_of(" \t") + 1);
    std::int32_t value = 0;
    std::from_chars(last.data(), last.data() + last.size(), value);
    return value;
}

elf_prpsinfo process_info(const ProcessRecords& records) {
    elf_prpsinfo info{};
    const ProcessStat stat = read_stat(records.stat).value_or(ProcessStat{});
    constexpr std::string_view states = "RSDTZW";
    const std::size_t state = states.find(stat.state);
    info.pr_state = static_cast<char>(state == std::string_view::npos ? 0 : state);
    info.pr_sname = stat.state;
    info.pr_zomb = stat.state == 'Z';
    info.pr_nice = static_cast<char>(stat.field(19));
    info.pr_flag = static_cast<unsigned long>(stat.field(9));
    info.pr_uid = static_cast<decltype(info.pr_uid)>(status_number(records.status, "Uid", 10));
    info.pr_gid = static_cast<decltype(info.pr_gid)>(status_number(records.status, "Gid", 10));
    info.pr_pid = innermost(records.status, "NSpid", status_number(records.status, "Pid", 10));
    info.pr_ppid = static_cast<std::int32_t>(stat.field(4));
    info.pr_pgrp = innermost(records.status, "NSpgid", stat.field(5));
    info.pr_sid = innermost(records.status, "NSsid", stat.field(6));
    stat.name.copy(info.pr_fname, sizeof info.pr_fname - 1);
    std::string arguments = records.command_line.substr(0, sizeof info.pr_psargs - 1);
    std::replace(arguments.begin(), arguments.end(), '\0', ' ');
    arguments.copy(info.pr_psargs, sizeof info.pr_psargs - 1);
    return info;
}

elf_prstatus thread_status(const ThreadState& thread, const elf_prpsinfo& process,
                           const ProcessRecords& records) {
    elf_prstatus status{};
    const auto own = std::find_if(records.own_thread_numbers.begin(), records.own_thread_numbers.end(),
                                  [&](const auto& pair) { return pair.first == thread.tid; });
    status.pr_pid = own == records.own_thread_numbers.end() ? thread.tid : own->second;
    status.pr_ppid = process.pr_ppid;
    status.pr_pgrp = process.pr_pgrp;
    status.pr_sid = process.pr_sid;
    status.pr_sighold = thread.blocked_signals;
    status.pr_fpvalid = !thread.floating_point.empty();
    static_assert(sizeof status.pr_reg == sizeof thread.registers);
    std::memcpy(&status.pr_reg, thread.registers.data(), sizeof thread.registers);
    return status;
}

void add_float_notes(std::string& notes, const ThreadState& thread) {
    if (!thread.floating_point.empty()) add_note(notes, "CORE", NT_FPREGSET, text_of(thread.floating_point));
    if (!thread.extended.empty()) add_note(notes, "LINUX", NT_X86_XSTATE, text_of(thread.extended));
}

}  // namespace

ProcessRecords read_records(const ProcessFiles& process, std::span<const pid_t> threads) {
    ProcessRecords records;
    records.stat = process.read("stat").value_or("");
    records.status = process.read("status").value_or("");
    records.command_line = process.read("cmdline").value_or("");
    records.auxiliary = process.read("auxv").value_or("");
    if (own_number(records.status, process.pid()) == process.pid()) return records;
    for (const pid_t tid : threads)
        records.own_thread_numbers.emplace_back(
            tid, own_number(process.read(fmt::format("task/{}/status", tid)).value_or(""), tid));
    return records;
}

void add_note(std::string& notes, std::string_view owner, std::uint32_t type, std::string_view content) {
    const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1),
                            static_cast<Elf64_Word>(content.size()), type};
    const auto pad = [&] { notes.resize((notes.size() + 3) / 4 * 4, '\0'); };
    notes += bytes_of(header);
    notes += owner;
    notes += '\0';
    pad();
    notes += content;
    pad();
}

std::string file_note(std::span<const Mapping> mappings) {
    std::string rows, paths;
    std::uint64_t count = 0;
    constexpr std::uint64_t unit = 4096;
    for (const Mapping& mapping : mappings) {
        if (!mapping.of_file) continue;
        add_number(rows, mapping.range.start.value);
        add_number(rows, mapping.range.end.value);
        add_number(rows, mapping.file_offset / unit);
        paths += mapping.path;
        paths += '\0';
        ++count;
    }
    std::string note;
    add_number(note, count);
    add_number(note, unit);
    return note + rows + paths;
}

std::string core_notes(const ProcessRecords& records, std::span<const ThreadState> threads,
                       std::span<const Mapping> mappings, const CaptureFacts& facts,
                       std::string_view absent_pages) {
    std::string notes;
    const elf_prpsinfo process = process_info(records);
    for (std::size_t i = 0; i < threads.size(); ++i) {
        const ThreadState& thread = threads[i];
        add_note(notes, "CORE", NT_PRSTATUS, bytes_of(thread_status(thread, process, records)));
        if (i == 0) {
            add_note(notes, "CORE", NT_PRPSINFO, bytes_of(process));
            add_note(notes, "CORE", NT_AUXV, records.auxiliary);
            add_note(notes, "CORE", NT_FILE, file_note(mappings));
            add_note(notes, capture_note_owner, capture_note_type, capture_note(facts));
            if (!absent_pages.empty())
                add_note(notes, capture_note_owner, absent_pages_note_type, absent_pages);
        }
        add_float_notes(notes, thread);
    }
    return notes;
}

}  // namespace heapsift
