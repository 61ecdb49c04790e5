#pragma once

// Symbol tables: of a verified file, through libelf, or of an image in the core, through its dynamic section.

#include "parsers/base/address.h"
#include "parsers/elf/address_space.h"
#include "parsers/elf/elf_file.h"
#include "parsers/elf/elf_image.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// A defined symbol with an address in the process: a function or data, global or local, but not
/// thread-local.
struct Symbol {
    std::string_view name;
    Address address;
    std::uint64_t size = 0;
    bool local = false;
    bool indirect = false;  // what it returns is the function's address (STT_GNU_IFUNC)
};

class SymbolTable {
public:
    SymbolTable() = default;
    SymbolTable(SymbolTable&&) = default;  // no copies: the table points into itself
    SymbolTable& operator=(SymbolTable&&) = default;
    /// .symtab and .dynsym of `file`, whose mapping must outlive the table. Empty if libelf cannot read them.
    static SymbolTable of_file(const ElfFile& file, std::uint64_t load_bias);
    /// The symbols that `file` has in a compressed file of its own (debug_data.h).
    static SymbolTable of_debug_data(const ElfFile& file, std::uint64_t load_bias);
    /// The dynamic symbols of `image` as far as `memory` has them; the image lies in `extent`.
    static SymbolTable of_image(const AddressSpace& memory, const ElfImage& image, AddressRange extent);

    bool empty() const { return symbols_.empty(); }
    /// Whether it includes the static symbols (.symtab); separate debug information then has no others.
    bool has_static_symbols() const { return has_static_symbols_; }
    /// The global symbol of that name, else a local one; if there are several, the one at the lowest address.
    const Symbol* find(std::string_view name) const;
    /// The symbol that covers `address`: by its size, or up to the next symbol if it has no size. Null if
    /// there is none. Logarithmic; the first call sorts. Not thread-safe.
    const Symbol* covering(Address address) const;

private:
    void read(Bytes file, std::uint64_t load_bias, std::shared_ptr<const void> owner);
    void finish(std::vector<Symbol> symbols);
    void sort_by_address() const;
    std::size_t slot_of(std::string_view name) const;

    bool has_static_symbols_ = false;
    std::shared_ptr<const void> names_;  // the names' text, where the table owns it
    std::vector<Symbol> symbols_;
    std::vector<std::uint32_t> by_name_;             // a hash table: numbers from 1 on, or 0
    mutable std::vector<const Symbol*> by_address_;  // into symbols_, one for each address
};

/// The runtime range of an allocated section of `file`; nothing if there is none of that name.
std::optional<AddressRange> section_of_file(const ElfFile& file, std::string_view name,
                                            std::uint64_t load_bias);

}  // namespace heapsift
