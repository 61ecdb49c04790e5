// Where the interpreter's variables are. A stripped executable still has its dynamic symbols, and
// `_PyRuntime` is one of them. If the file is there, libelf reads them (only here is libelf used for that).
// If not, gcore has saved the image's first mapping whole, and the dynamic section leads from the program
// headers to the table of symbols and their names (gABI, "Dynamic Section").
//
// Nothing gives the number of dynamic symbols. DT_HASH has as many chain entries as there are symbols.
// DT_GNU_HASH, which replaced it, has to be walked: to the highest symbol that begins a bucket, then along
// its chain to the entry whose lowest bit is set (the format has no specification but binutils and glibc,
// elf/dl-lookup.c).
//
// glibc before 2.36 adds the load bias to the pointers of the dynamic section when it loads an image; later
// versions and musl do not. So a pointer that already points into the image is taken as it is.

#include "parsers/elf/symbols.h"

#include "parsers/elf/debug_data.h"
#include "parsers/elf/libelf.h"

#include <gelf.h>
#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>

namespace heapsift {
namespace {

constexpr std::uint64_t most_dynamic_entries = 4096;
constexpr std::uint64_t most_symbols = 16'000'000;
constexpr std::size_t longest_name = 64 * 1024;  // mangled names of templates are long

bool has_runtime_address(unsigned char info, std::uint16_t section) {
    const unsigned type = ELF64_ST_TYPE(info);
    return section != SHN_UNDEF && section != SHN_ABS && section != SHN_COMMON && type != STT_TLS &&
           type != STT_SECTION && type != STT_FILE;
}

void collect(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, std::uint64_t load_bias,
             std::vector<Symbol>& out) {
    Elf_Data* data = elf_getdata(section, nullptr);
    if (!data || header.sh_entsize == 0) return;
    const std::uint64_t count =
        std::min<std::uint64_t>({data->d_size / header.sh_entsize, most_symbols, std::uint64_t{0x7fffffff}});
    out.reserve(out.size() + count);
    for (std::uint64_t i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, static_cast<int>(i), &symbol)) return;
        if (!has_runtime_address(symbol.st_info, symbol.st_shndx)) continue;
        const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (!name || !*name) continue;
        out.push_back({name, Address(symbol.st_value + load_bias), symbol.st_size,
                       ELF64_ST_BIND(symbol.st_info) == STB_LOCAL,
                       ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
    }
}

/// What the dynamic section of an image in memory says about its symbols.
class DynamicSymbols {
public:
    DynamicSymbols(const AddressSpace& memory, const ElfImage& image, AddressRange extent)
        : memory_(memory), image_(image), extent_(extent) {
        for (const Elf64_Phdr& ph : image.program_headers)
            if (ph.p_type == PT_DYNAMIC)
                read_entries(image.runtime(ph.p_vaddr), ph.p_memsz / sizeof(Elf64_Dyn));
    }

    std::vector<Symbol> read(std::string& names) const {
        std::vector<Symbol> out;
        if (!symbols_ || !strings_ || string_bytes_ == 0) return out;
        names = readable_strings();
        const std::uint64_t count = std::min(symbol_count(), most_symbols);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto symbol = memory_.read<Elf64_Sym>(*symbols_ + i * sizeof(Elf64_Sym));
            if (!symbol) break;
            if (!has_runtime_address(symbol->st_info, symbol->st_shndx) || symbol->st_name >= names.size())
                continue;
            std::string_view name(names.data() + symbol->st_name,
                                  std::min(names.size() - symbol->st_name, longest_name));
            if (const auto nul = name.find('\0'); nul != std::string_view::npos)
                name = name.substr(0, nul);
            else
                continue;
            if (name.empty()) continue;
            out.push_back({name, image_.runtime(symbol->st_value), symbol->st_size,
                           ELF64_ST_BIND(symbol->st_info) == STB_LOCAL});
        }
        return out;
    }

private:
    void read_entries(Address at, std::uint64_t count) {
        for (std::uint64_t i = 0; i < std::min(count, most_dynamic_entries); ++i) {
            const auto entry = memory_.read<Elf64_Dyn>(at + i * sizeof(Elf64_Dyn));
            if (!entry || entry->d_tag == DT_NULL) return;
            switch (entry->d_tag) {
                case DT_SYMTAB:
                    symbols_ = pointer(entry->d_un.d_ptr);
                    break;
                case DT_STRTAB:
                    strings_ = pointer(entry->d_un.d_ptr);
                    break;
                case DT_STRSZ:
                    string_bytes_ = entry->d_un.d_val;
                    break;
                case DT_HASH:
                    hash_ = pointer(entry->d_un.d_ptr);
                    break;
                case DT_GNU_HASH:
                    gnu_hash_ = pointer(entry->d_un.d_ptr);
                    break;
                default:
                    break;
            }
        }
    }

    Address pointer(std::uint64_t value) const {
        return extent_.contains(Address(value)) ? Address(value) : image_.runtime(value);
    }

    /// The string table from its start, as far as it was saved in one segment.
    std::string readable_strings() const {
        const Segment* s = memory_.find(*strings_);
        if (!s || !s->data) return {};
        const std::uint64_t offset = *strings_ - s->start;
        return std::string(reinterpret_cast<const char*>(s->data + offset),
                           std::min(string_bytes_, s->size - offset));
    }

    std::uint64_t symbol_count() const {
        if (hash_)
            if (const auto chains = memory_.read<std::uint32_t>(*hash_ + 4)) return *chains;
        return gnu_hash_ ? count_by_gnu_hash(*gnu_hash_) : 0;
    }

    std::uint64_t count_by_gnu_hash(Address table) const {
        struct Header {
            std::uint32_t buckets, first_symbol, bloom_words, bloom_shift;
        };
        const auto header = memory_.read<Header>(table);
        if (!header) return 0;
        const Address buckets = table + sizeof(Header) + std::uint64_t{header->bloom_words} * 8;
        const Address chains = buckets + std::uint64_t{header->buckets} * 4;
        std::uint32_t highest = 0;
        for (std::uint64_t i = 0; i < header->buckets && i < most_symbols; ++i) {
            const auto bucket = memory_.read<std::uint32_t>(buckets + i * 4);
            if (!bucket) return 0;
            highest = std::max(highest, *bucket);
        }
        if (highest < header->first_symbol) return header->first_symbol;  // only symbols that nobody looks up
        for (std::uint64_t symbol = highest; symbol < most_symbols; ++symbol) {
            const auto link = memory_.read<std::uint32_t>(chains + (symbol - header->first_symbol) * 4);
            if (!link) return symbol;
            if (*link & 1) return symbol + 1;
        }
        return most_symbols;
    }

    const AddressSpace& memory_;
    const ElfImage& image_;
    AddressRange extent_;
    std::optional<Address> symbols_, strings_, hash_, gnu_hash_;
    std::uint64_t string_bytes_ = 0;
};

}  // namespace

SymbolTable SymbolTable::of_file(const ElfFile& file, std::uint64_t load_bias) {
    SymbolTable table;
    table.read(file.bytes(), load_bias, nullptr);
    return table;
}

SymbolTable SymbolTable::of_debug_data(const ElfFile& file, std::uint64_t load_bias) {
    SymbolTable table;
    const auto bytes = std::make_shared<const std::string>(unpacked_debug_data(file.bytes()));
    if (!bytes->empty())
        table.read({reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()}, load_bias, bytes);
    return table;
}

/// `owner`: of the bytes, which must outlive the table.
void SymbolTable::read(Bytes file, std::uint64_t load_bias, std::shared_ptr<const void> owner) {
    const std::shared_ptr<Elf> elf(open_elf(file).release(),
                                   [owner = std::move(owner)](Elf* one) { elf_end(one); });
    if (!elf) return;
    std::vector<Symbol> symbols;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        has_static_symbols_ |= header.sh_type == SHT_SYMTAB;
        collect(elf.get(), section, header, load_bias, symbols);
    }
    names_ = elf;
    finish(std::move(symbols));
}

SymbolTable SymbolTable::of_image(const AddressSpace& memory, const ElfImage& image, AddressRange extent) {
    SymbolTable table;
    const auto names = std::make_shared<std::string>();
    std::vector<Symbol> symbols = DynamicSymbols(memory, image, extent).read(*names);
    table.names_ = names;
    table.finish(std::move(symbols));
    return table;
}

// A table has tens of thousands of symbols, and a few of them are asked for, mostly by name.
void SymbolTable::finish(std::vector<Symbol> symbols) {
    symbols_ = std::move(symbols);
    by_name_.assign(std::bit_ceil(symbols_.size() * 2 + 1), 0);
    const auto rank = [](const Symbol& s) { return std::tuple(s.local, s.address, s.size); };
    for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
        std::uint32_t& there = by_name_[slot_of(symbols_[i].name)];
        if (there == 0 || rank(symbols_[i]) < rank(symbols_[there - 1])) there = i + 1;
    }
}

/// Where the name is, or would be.
std::size_t SymbolTable::slot_of(std::string_view name) const {
    const std::size_t last = by_name_.size() - 1;
    std::size_t slot = std::hash<std::string_view>()(name) & last;
    while (by_name_[slot] != 0 && symbols_[by_name_[slot] - 1].name != name) slot = (slot + 1) & last;
    return slot;
}

const Symbol* SymbolTable::find(std::string_view name) const {
    if (symbols_.empty()) return nullptr;
    const std::uint32_t there = by_name_[slot_of(name)];
    return there == 0 ? nullptr : &symbols_[there - 1];
}

void SymbolTable::sort_by_address() const {
    if (!by_address_.empty()) return;
    by_address_.reserve(symbols_.size());
    for (const Symbol& s : symbols_) by_address_.push_back(&s);
    // Of several names for one address: first one with a size, then a global one, then the first by alphabet.
    const auto key = [](const Symbol* s) {
        return std::tuple(s->address, s->size == 0, s->local, s->name, s->size);
    };
    std::sort(by_address_.begin(), by_address_.end(),
              [&](const Symbol* a, const Symbol* b) { return key(a) < key(b); });
    const auto same = [](const Symbol* a, const Symbol* b) { return a->address == b->address; };
    by_address_.erase(std::unique(by_address_.begin(), by_address_.end(), same), by_address_.end());
}

const Symbol* SymbolTable::covering(Address address) const {
    sort_by_address();
    auto after = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                  [](Address a, const Symbol* s) { return a < s->address; });
    // A label without a size inside a function must not hide the function, so look at a few more.
    for (int looked_at = 0; after != by_address_.begin() && looked_at < 8; ++looked_at) {
        const Symbol* s = *--after;
        if (address - s->address < s->size) return s;
        if (looked_at == 0 && s->size == 0 && s->address == address) return s;
    }
    return nullptr;
}

std::optional<AddressRange> section_of_file(const ElfFile& file, std::string_view name,
                                            std::uint64_t load_bias) {
    const ElfHandle elf = open_elf(file.bytes());
    std::size_t names = 0;
    if (!elf || elf_getshdrstrndx(elf.get(), &names) != 0) return std::nullopt;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC)) continue;
        const char* found = elf_strptr(elf.get(), names, header.sh_name);
        if (!found || name != found) continue;
        const AddressRange range{Address(header.sh_addr + load_bias),
                                 Address(header.sh_addr + load_bias + header.sh_size)};
        if (range.start <= range.end) return range;
    }
    return std::nullopt;
}

}  // namespace heapsift
