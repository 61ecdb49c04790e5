// .eh_frame is a row of entries (Linux Standard Base 5.0, 10.6; DWARF 5, 6.4): common ones (CIE), and one for
// each function (FDE), which names its common one. Each has instructions, which say what changes from which
// address on. All of it is from a core, so it is read once here, the way a reader of it will: lengths, the
// augmentation that says what else an entry has, and each instruction with its operands.

#include "parsers/elf/saved_unwind_tables.h"

#include <dwarf.h>
#include <elf.h>
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_table_bytes = 64 << 20, longest_entry = 64 << 10, most_common_entries = 1 << 16;
constexpr std::uint64_t most_registers = 64;  // x86-64 has numbers up to 66, and compilers save 16 of them

/// Reads bytes one after the other; what is not there reads as 0, and `failed` stays set.
class ByteReader {
public:
    explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

    template <class T>
    T number() {
        const auto value = read_at<T>(bytes_, at_);
        skip(sizeof(T));
        return value.value_or(T{});
    }
    std::uint64_t leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (failed_ || !(byte & 0x80)) return value;
        }
    }
    void skip(std::uint64_t count) {
        if (count > bytes_.size() - at_) {
            failed_ = true;
            at_ = bytes_.size();
        } else {
            at_ += static_cast<std::size_t>(count);
        }
    }
    std::string_view text() {
        const Bytes rest = bytes_.subspan(at_);
        const auto nul = std::find(rest.begin(), rest.end(), std::byte{0});
        const auto length = static_cast<std::size_t>(nul - rest.begin());
        skip(length + 1);
        return {reinterpret_cast<const char*>(rest.data()), length};
    }
    Bytes rest() const { return bytes_.subspan(at_); }
    bool at_end() const { return at_ == bytes_.size(); }
    bool failed() const { return failed_; }

private:
    Bytes bytes_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

/// Bytes of a pointer of this encoding; nothing for one that is not used here.
std::optional<std::size_t> pointer_bytes(std::uint8_t encoding) {
    if ((encoding & 0x70) != DW_EH_PE_absptr && (encoding & 0x70) != DW_EH_PE_pcrel) return std::nullopt;
    switch (encoding & 0x0f) {
        case DW_EH_PE_absptr:
        case DW_EH_PE_udata8:
        case DW_EH_PE_sdata8:
            return 8;
        case DW_EH_PE_udata4:
        case DW_EH_PE_sdata4:
            return 4;
        case DW_EH_PE_udata2:
        case DW_EH_PE_sdata2:
            return 2;
        default:
            return std::nullopt;
    }
}

bool is_register(std::uint64_t number) { return number <= most_registers; }

/// Whether the operands of one instruction whose operation takes the whole byte are sound.
bool sound_operands(std::uint8_t operation, ByteReader& in) {
    switch (operation) {
        case DW_CFA_nop:
        case DW_CFA_remember_state:
        case DW_CFA_restore_state:
            return true;
        case DW_CFA_advance_loc1:
            in.skip(1);
            return true;
        case DW_CFA_advance_loc2:
            in.skip(2);
            return true;
        case DW_CFA_advance_loc4:
            in.skip(4);
            return true;
        case DW_CFA_def_cfa_offset:
        case DW_CFA_def_cfa_offset_sf:
        case DW_CFA_GNU_args_size:
            in.leb();
            return true;
        case DW_CFA_def_cfa_register:
        case DW_CFA_restore_extended:
        case DW_CFA_undefined:
        case DW_CFA_same_value:
            return is_register(in.leb());
        case DW_CFA_def_cfa:
        case DW_CFA_def_cfa_sf:
        case DW_CFA_offset_extended:
        case DW_CFA_offset_extended_sf:
        case DW_CFA_val_offset:
        case DW_CFA_val_offset_sf: {
            const bool sound = is_register(in.leb());
            in.leb();
            return sound;
        }
        case DW_CFA_register: {
            const bool sound = is_register(in.leb());
            return is_register(in.leb()) && sound;
        }
        case DW_CFA_def_cfa_expression:
            in.skip(in.leb());
            return true;
        case DW_CFA_expression:
        case DW_CFA_val_expression: {
            const bool sound = is_register(in.leb());
            in.skip(in.leb());
            return sound;
        }
        default:
            return false;
    }
}

bool sound_instructions(Bytes bytes) {
    ByteReader in(bytes);
    while (!in.at_end()) {
        const auto byte = in.number<std::uint8_t>();
        if ((byte & 0xc0) == DW_CFA_offset)
            in.leb();
        else if ((byte & 0xc0) == 0 && !sound_operands(byte, in))
            return false;
        if (in.failed()) return false;
    }
    return true;
}

/// What an FDE needs to know of its CIE.
struct CommonEntry {
    std::size_t pointer_bytes = 8;
    bool has_augmentation = false;
};

std::optional<CommonEntry> common_entry(Bytes entry) {
    ByteReader in(entry);
    const auto version = in.number<std::uint8_t>();
    const std::string_view augmentation = in.text();
    CommonEntry common;
    in.leb();  // code and data alignment
    in.leb();
    const std::uint64_t return_address = version == 1 ? in.number<std::uint8_t>() : in.leb();
    if ((version != 1 && version != 3) || !is_register(return_address)) return std::nullopt;
    if (!augmentation.empty()) {
        if (augmentation.front() != 'z' || augmentation.size() > 8) return std::nullopt;
        common.has_augmentation = true;
        const std::uint64_t length = in.leb();
        ByteReader data(clipped(in.rest(), 0, length));
        for (const char letter : augmentation.substr(1)) {
            if (letter == 'S') continue;
            if (letter != 'R' && letter != 'L' && letter != 'P') return std::nullopt;
            const auto encoding = data.number<std::uint8_t>();
            if (letter == 'L') continue;
            // A personality is read through a pointer (indirect); where functions are is not.
            const auto bytes =
                pointer_bytes(letter == 'P' ? static_cast<std::uint8_t>(encoding & 0x7f) : encoding);
            if (!bytes || (letter == 'R' && (encoding & DW_EH_PE_indirect))) return std::nullopt;
            if (letter == 'R')
                common.pointer_bytes = *bytes;
            else
                data.skip(*bytes);
        }
        if (data.failed()) return std::nullopt;
        in.skip(length);
    }
    if (in.failed() || !sound_instructions(in.rest())) return std::nullopt;
    return common;
}

bool sound_function_entry(Bytes entry, const CommonEntry& common) {
    ByteReader in(entry);
    in.skip(2 * common.pointer_bytes);
    if (common.has_augmentation) in.skip(in.leb());
    return !in.failed() && sound_instructions(in.rest());
}

/// Where .eh_frame begins, by the index that the program headers name.
std::optional<Address> table_of_image(const AddressSpace& memory, const ElfImage& image) {
    for (const Elf64_Phdr& ph : image.program_headers) {
        if (ph.p_type != PT_GNU_EH_FRAME) continue;
        const Address index = image.runtime(ph.p_vaddr);
        const auto version = memory.read<std::uint8_t>(index),
                   encoding = memory.read<std::uint8_t>(index + 1);
        const auto distance = memory.read<std::int32_t>(index + 4);
        if (version != 1 || encoding != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) || !distance) return std::nullopt;
        return index + 4 + static_cast<std::uint64_t>(std::int64_t{*distance});
    }
    return std::nullopt;
}

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string file_with_table(std::uint64_t address, Bytes table) {
    constexpr std::string_view names("\0.eh_frame\0.shstrtab\0", 21);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shstrndx = 2;
    const std::uint64_t table_at = sizeof header;
    const std::uint64_t names_at = table_at + table.size();
    header.e_shoff = (names_at + names.size() + 7) / 8 * 8;
    Elf64_Shdr section{};
    section.sh_name = 1;
    section.sh_type = SHT_PROGBITS;
    section.sh_flags = SHF_ALLOC;
    section.sh_addr = address;
    section.sh_offset = table_at;
    section.sh_size = table.size();
    section.sh_addralign = 8;
    Elf64_Shdr names_section{};
    names_section.sh_name = 11;
    names_section.sh_type = SHT_STRTAB;
    names_section.sh_offset = names_at;
    names_section.sh_size = names.size();
    names_section.sh_addralign = 1;
    std::string file;
    file.reserve(header.e_shoff + 3 * sizeof section);
    append(file, header);
    file.append(reinterpret_cast<const char*>(table.data()), table.size());
    file.append(names);
    file.resize(header.e_shoff);
    append(file, Elf64_Shdr{});
    append(file, section);
    append(file, names_section);
    return file;
}

}  // namespace

std::size_t sound_unwind_entries(Bytes table) {
    std::unordered_map<std::size_t, CommonEntry> common;
    std::size_t at = 0;
    for (;;) {
        const auto length = read_at<std::uint32_t>(table, at), id = read_at<std::uint32_t>(table, at + 4);
        if (!length || !id || *length < 4 || *length > longest_entry || *length > table.size() - at - 4)
            return at;
        const Bytes entry = table.subspan(at + 8, *length - 4);
        if (*id == 0) {
            const auto read = common_entry(entry);
            if (!read || common.size() >= most_common_entries) return at;
            common.emplace(at, *read);
        } else {
            const auto of = *id <= at + 4 ? common.find(at + 4 - *id) : common.end();
            if (of == common.end() || !sound_function_entry(entry, of->second)) return at;
        }
        at += 4 + *length;
    }
}

std::string file_of_saved_unwind_table(const AddressSpace& memory, const ElfImage& image) {
    const auto start = table_of_image(memory, image);
    const Segment* segment = start ? memory.find(*start) : nullptr;
    if (!segment || !segment->data) return {};
    const std::uint64_t offset = *start - segment->start;
    const Bytes there(segment->data + offset, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                  segment->size - offset, most_table_bytes)));
    const std::size_t sound = sound_unwind_entries(there);
    if (sound == 0) return {};
    return file_with_table(start->value - image.load_bias, there.subspan(0, sound));
}

}  // namespace heapsift
