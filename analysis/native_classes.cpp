// A table of virtual functions has a symbol, _ZTV and the class's name, unless the class is hidden or the file is
// not here. The word before the functions is the address of the class's type information (Itanium C++ ABI, 2.5.2
// and 2.9.5): an object of libstdc++'s whose second word is the address of the mangled name. A stripped library
// has that too, unless it was compiled with -fno-rtti.
//
// A mangled name comes from the core. It is demangled only if it is short, made of the letters of such names, and
// refers back to few parts of itself: each of these may double what comes out.

#include "analysis/native_classes.h"

#include "parsers/base/text.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::size_t longest_name = 1024, most_references_back = 14;

/// Substitutions and template parameters (Itanium C++ ABI, 5.1.10): S_, S0_, T_, T0_, at most.
std::size_t references_back(std::string_view mangled) {
    std::size_t count = 0;
    for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
        const char c = mangled[i], next = mangled[i + 1];
        if ((c == 'S' || c == 'T') &&
            (next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z')))
            ++count;
    }
    return count;
}

std::string demangled(const std::string& mangled) {
    if (mangled.size() > longest_name || references_back(mangled) > most_references_back) return "";
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : std::string();
}

bool is_mangled(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '.' || c == '$';
    });
}

std::string by_type_information(const AddressSpace& memory, Address table) {
    const auto information = memory.read_address(table - 8);
    const auto name = information ? memory.read_address(*information + 8) : std::nullopt;
    auto mangled = name ? memory.read_c_string(*name, longest_name) : std::nullopt;
    if (!mangled) return "";
    // Names that are compared by address begin with a star.
    if (mangled->starts_with('*')) mangled->erase(0, 1);
    return is_mangled(*mangled) ? demangled(*mangled) : "";
}

}  // namespace

NativeClass native_class(const CoreFile& core, Address table) {
    constexpr std::string_view mark = "_ZTV";
    NativeClass result;
    const Module* module = core.module_at(table);
    if (module) {
        result.module = base_name(module->path);
        const auto symbol = core.symbol_at(*module, table);
        if (symbol && symbol->name.starts_with(mark) && symbol->name.size() <= longest_name &&
            is_mangled(symbol->name))
            result.name = demangled(symbol->name.substr(mark.size()));
        if (result.name.empty()) result.name = by_type_information(core.memory(), table);
        result.named = !result.name.empty();
        if (!result.named && symbol)
            result.name = symbol->name;  // a C struct that begins with a table of functions
        if (result.name.empty()) result.name = fmt::format("{}+{:#x}", result.module, table - module->start);
    } else {
        result.name = by_type_information(core.memory(), table);
        result.named = !result.name.empty();
        if (!result.named) result.name = fmt::format("{:#x}", table.value);
    }
    return result;
}

std::string symbol_words(const std::string& symbol) {
    if (!symbol.starts_with("_Z") || symbol.size() > longest_name || !is_mangled(symbol)) return symbol;
    std::string words = demangled(symbol);
    return words.empty() ? symbol : words;
}

}  // namespace heapsift
