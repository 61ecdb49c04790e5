// Debug information whose common part dwz moved to a second file.
//
// Distributions shrink separate debug files with `dwz -m`: entries and strings that several files have in
// common move to another file. .gnu_debugaltlink names it by path and build-id, and DW_FORM_GNU_ref_alt and
// DW_FORM_GNU_strp_alt refer to it. LLVM reads past such references without following them, so members would
// seem to be absent; libdw follows them. libdw looks for the second file at the path that the first one
// gives, and by build-id in /usr/lib/debug (dwarf_getalt). Without that file nothing is read: half of the
// names would be a wrong answer.

#include "parsers/dwarf/shared_entries.h"

#include "parsers/base/descriptor.h"
#include "parsers/elf/build_id.h"
#include "parsers/elf/elf_notes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>

namespace heapsift {
namespace {

/// struct_search.h's Entry, with libdw.
class LibdwEntry {
public:
    LibdwEntry() = default;
    explicit LibdwEntry(const Dwarf_Die& die) : die_(die), there_(true) {}

    explicit operator bool() const { return there_; }
    unsigned tag() const { return static_cast<unsigned>(dwarf_tag(handle())); }
    const char* name() const { return dwarf_diename(handle()); }
    bool has(unsigned attribute) const { return dwarf_hasattr(handle(), attribute) != 0; }
    std::optional<std::uint64_t> number(unsigned attribute) const {
        Dwarf_Attribute value;
        if (!dwarf_attr(handle(), attribute, &value)) return std::nullopt;
        // Neither function may get the other's forms: it would accept them, and read a DW_FORM_data1 of 200
        // as -56.
        const unsigned form = dwarf_whatform(&value);
        if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
            Dwarf_Sword number = 0;
            if (dwarf_formsdata(&value, &number) == 0 && number >= 0)
                return static_cast<std::uint64_t>(number);
            return std::nullopt;
        }
        Dwarf_Word number = 0;
        if (dwarf_formudata(&value, &number) == 0) return number;
        return std::nullopt;
    }
    std::span<const std::uint8_t> block(unsigned attribute) const {
        Dwarf_Attribute value;
        Dwarf_Block block;
        if (!dwarf_attr(handle(), attribute, &value) || dwarf_formblock(&value, &block) != 0) return {};
        return {block.data, block.length};
    }
    LibdwEntry type() const {
        Dwarf_Attribute value;
        Dwarf_Die die;
        if (!dwarf_attr(handle(), DW_AT_type, &value) || !dwarf_formref_die(&value, &die)) return {};
        return LibdwEntry(die);
    }
    std::uint64_t address_size() const { return 8; }  // only 64-bit files come here
    template <class See>
    void for_each_child(See see) const {
        Dwarf_Die child;
        if (dwarf_child(handle(), &child) != 0) return;
        do {
            if (!see(LibdwEntry(child))) return;
        } while (dwarf_siblingof(&child, &child) == 0);
    }

private:
    // libdw's functions take non-const pointers to what they do not change.
    Dwarf_Die* handle() const { return const_cast<Dwarf_Die*>(&die_); }
    Dwarf_Die die_{};
    bool there_ = false;
};

struct DwarfEnd {
    void operator()(Dwarf* debug) const { dwarf_end(debug); }
};

/// Whether the file found has the build-id that the link asks for: libdw looks by the name alone. (libdw can also read
/// the id, by a function that brings libdwfl and its decompressors into a static program.)
bool is_the_one_linked(Dwarf* debug, Dwarf* shared) {
    const char* name = nullptr;
    const void* wanted = nullptr;
    std::size_t size = 0;
    const ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(debug, &name, &wanted);
    const char* image = elf_rawfile(dwarf_getelf(shared), &size);
    if (id_size <= 0 || !image) return false;
    const Bytes id(static_cast<const std::byte*>(wanted), static_cast<std::size_t>(id_size));
    return build_id_of_file({reinterpret_cast<const std::byte*>(image), size}) == lower_case_hex(id);
}

void search_units(Dwarf* debug, struct_search::Search& search) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die top;
    while (!search.complete() && dwarf_get_units(debug, unit, &unit, nullptr, nullptr, &top, nullptr) == 0)
        LibdwEntry(top).for_each_child([&](const LibdwEntry& child) {
            search.look_at(child);
            return true;
        });
}

}  // namespace

std::string search_with_shared_entries(const std::string& path, struct_search::Search& search) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) return "it cannot be opened";
    const std::unique_ptr<Dwarf, DwarfEnd> debug(dwarf_begin(file.number(), DWARF_C_READ));
    if (!debug) return dwarf_errmsg(-1);
    Dwarf* shared = dwarf_getalt(debug.get());
    if (!shared || !is_the_one_linked(debug.get(), shared))
        return "the file that it shares debug information with (.gnu_debugaltlink) was not found";
    search_units(debug.get(), search);
    search_units(shared, search);
    return {};
}

}  // namespace heapsift
