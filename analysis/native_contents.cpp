#include "analysis/native_contents.h"

#include "analysis/native_classes.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heapsift {
namespace {

constexpr std::uint64_t looked_at = 256;  // bytes of an example
constexpr std::uint64_t fewest_letters = 8;

bool is_printable(std::byte byte) {
    const auto c = std::to_integer<unsigned>(byte);
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

std::string native_content(const AddressSpace& memory, Address block, std::uint64_t size) {
    const auto bytes = memory.view(block, std::min(size, looked_at));
    if (bytes.size() < 8) return "";
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (std::all_of(bytes.begin(), bytes.end(), is_zero)) return "zeros";
    const auto end = std::find_if(bytes.begin(), bytes.end(), is_zero);
    const auto letters = static_cast<std::uint64_t>(end - bytes.begin());
    if (letters >= std::min<std::uint64_t>(fewest_letters, bytes.size()) &&
        std::all_of(bytes.begin(), end, is_printable))
        return "text";
    std::uint64_t words = 0, addresses = 0;
    for (std::uint64_t at = 0; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        if (word == 0) continue;
        ++words;
        addresses += memory.find(Address(word)) ? 1 : 0;
    }
    return words > 0 && addresses * 4 >= words * 3 ? "addresses" : "";
}

std::string variable_name(const CoreFile& core, Address word) {
    for (const Module& module : core.modules()) {
        if (word < module.start || word >= module.image_end) continue;
        const std::string file(base_name(module.path));
        const auto symbol = core.symbol_at(module, word);
        return symbol ? file + " " + symbol_words(symbol->name) : file;
    }
    return "a variable";
}

std::string variable_words(const CoreFile& core, Address word) {
    const auto module = std::find_if(core.modules().begin(), core.modules().end(), [&](const Module& one) {
        return word >= one.start && word < one.image_end;  // with its .bss, which is no part of the file
    });
    if (module == core.modules().end()) return "a variable";
    const std::string file(base_name(module->path));
    const auto symbol = core.symbol_at(*module, word);
    if (!symbol) return fmt::format("{}+{:#x}", file, word - module->start);
    const std::string name = file + " " + symbol_words(symbol->name);
    return symbol->offset == 0 ? name : fmt::format("{}+{:#x}", name, symbol->offset);
}

}  // namespace heapsift
