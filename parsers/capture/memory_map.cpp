// What of a process a core has is decided mapping by mapping, by rules that tools and people have got used to: private
// memory that was written to is saved whole, program files only with their first page, where their build-id is; what the
// process declared as not worth dumping is left out. The core of a capture follows the same rules, so that every answer
// is the one that the kernel's core would give. One thing cannot be seen from outside: whether a mapping has an anon_vma,
// that is, whether a page of it was ever written. Pages that are the process's own tell (pagemap), but a mapping whose
// pages were all given back again looks as if it had never been used. It has no bytes to save in either case.
//
// Source: Linux's fs/coredump.c (vma_dump_size), fs/proc/task_mmu.c (show_map_vma, show_smap_vma_flags), core(5).

#include "parsers/capture/memory_map.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace heapsift {
namespace {

/// Takes words and numbers off a line.
class Line {
public:
    explicit Line(std::string_view text) : rest_(text) {}

    std::optional<std::uint64_t> number(int base) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
        if (error != std::errc()) return std::nullopt;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    bool skip(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::string_view word() {
        const std::string_view found = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(found.size());
        return found;
    }
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

/// The kernel writes a line end within a name as \012.
std::string unescaped(std::string_view name) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name.substr(i, 4) == "\\012") {
            out += '\n';
            i += 3;
        } else {
            out += name[i];
        }
    }
    return out;
}

/// 7f3210000000-7f3210021000 rw-p 00000000 00:00 0    [heap]
std::optional<Mapping> mapping_in(std::string_view text) {
    Line line(text);
    const auto start = line.number(16);
    if (!start || !line.skip('-')) return std::nullopt;
    const auto end = line.number(16);
    if (!end || *end < *start || !line.skip(' ')) return std::nullopt;
    const std::string_view rights = line.word();
    if (rights.size() < 4 || !line.skip(' ')) return std::nullopt;
    const auto offset = line.number(16);
    if (!offset || !line.skip(' ') || line.word().empty() || !line.skip(' ')) return std::nullopt;
    const auto inode = line.number(10);
    if (!inode) return std::nullopt;
    line.skip_blanks();
    Mapping mapping;
    mapping.range = {Address(*start), Address(*end)};
    mapping.readable = rights[0] == 'r';
    mapping.writable = rights[1] == 'w';
    mapping.executable = rights[2] == 'x';
    mapping.shared = rights[3] == 's';
    mapping.path = unescaped(line.rest());
    mapping.of_file = *inode != 0 || mapping.path.starts_with('/');
    mapping.file_offset = mapping.of_file ? *offset : 0;
    return mapping;
}

void take_flags(Mapping& mapping, std::string_view words) {
    mapping.shared = false;
    Line line(words);
    for (line.skip_blanks(); !line.rest().empty(); line.skip_blanks()) {
        const std::string_view flag = line.word();
        mapping.shared |= flag == "sh";
        mapping.dont_dump |= flag == "dd";
        mapping.device |= flag == "io" || flag == "pf";
        mapping.huge_pages |= flag == "ht";
        mapping.not_in_fork |= flag == "dc" || flag == "wf";
        mapping.userfaultfd |= flag == "um" || flag == "uw" || flag == "ui";
    }
}

}  // namespace

std::vector<Mapping> read_mappings(std::string_view text) {
    constexpr std::string_view flags = "VmFlags:";
    std::vector<Mapping> mappings;
    bool taken = false;  // the last one
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (line.starts_with(flags)) {
            if (taken) take_flags(mappings.back(), line.substr(flags.size()));
        } else if (auto mapping = mapping_in(line)) {
            // The kernel writes the list in pieces; of a process that runs, what it maps between two of them may overlap
            // what was told before.
            const Address told = mappings.empty() ? Address() : mappings.back().range.end;
            taken = mapping->range.end > told;
            if (!taken) continue;
            if (mapping->range.start < told) {
                if (mapping->of_file) mapping->file_offset += told - mapping->range.start;
                mapping->range.start = told;
            }
            mappings.push_back(std::move(*mapping));
        }
    }
    return mappings;
}

std::size_t take_over_flags(std::vector<Mapping>& mappings, const std::vector<Mapping>& before) {
    std::size_t unknown = 0;
    auto known = before.begin();
    for (Mapping& mapping : mappings) {
        while (known != before.end() && known->range.end <= mapping.range.start) ++known;
        // One that grew downwards (a stack, or by a neighbour) is the same.
        if (known == before.end() || known->range.start >= mapping.range.end || known->path != mapping.path) {
            ++unknown;
            continue;
        }
        mapping.shared = known->shared;
        mapping.dont_dump = known->dont_dump;
        mapping.device = known->device;
        mapping.huge_pages = known->huge_pages;
        mapping.not_in_fork = known->not_in_fork;
        mapping.userfaultfd = known->userfaultfd;
    }
    return unknown;
}

SavingRule saving_of(const Mapping& mapping, const CoreFilter& filter) {
    enum : unsigned {
        anonymous_private = 0,
        anonymous_shared = 1,
        mapped_private = 2,
        mapped_shared = 3,
        elf_headers = 4,
        huge_private = 5,
        huge_shared = 6
    };
    if (mapping.path == "[vdso]") return {Saving::whole};
    if (mapping.device || mapping.path.starts_with("[vvar") || mapping.path == "[vsyscall]") return {};
    if (mapping.secret()) return {};
    if (filter.full) return {Saving::whole};
    if (mapping.dont_dump) return {};
    if (mapping.huge_pages)
        return {filter.has(mapping.shared ? huge_shared : huge_private) ? Saving::whole : Saving::nothing};
    if (mapping.shared)
        return {filter.has(mapping.unlinked() ? anonymous_shared : mapped_shared) ? Saving::whole
                                                                                  : Saving::nothing};
    Saving unwritten = Saving::nothing;
    if (mapping.of_file && filter.has(mapped_private))
        unwritten = Saving::whole;
    else if (mapping.of_file && filter.has(elf_headers) && mapping.file_offset == 0 && mapping.readable)
        unwritten = Saving::first_page;
    if (!filter.has(anonymous_private)) return {unwritten};
    return {Saving::if_written, unwritten};
}

}  // namespace heapsift
