// What functions do to a name, as real interpreters compile them.

#include "analysis/suspects/code_uses.h"

#include "parsers/cpython/layout.h"
#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"
#include "tests/program/code_uses_table.h"

#include <sstream>
#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

Address code_object(PythonHeapBuilder& heap, const std::string& code, const std::string& lines,
                    std::int32_t first_line) {
    const auto& l = heap.layout().code;
    const bool within = l.co_code_adaptive.present();
    const Address made = heap.object("code", within ? static_cast<std::int64_t>(code.size() / 2) : 0);
    if (within)
        for (std::size_t i = 0; i < code.size(); ++i)
            heap.put(made + *l.co_code_adaptive + i, static_cast<std::uint8_t>(code[i]));
    else
        heap.set(made, l.co_code, heap.bytes(code));
    heap.set(made, l.co_firstlineno, first_line);
    heap.set(made, l.co_linetable, heap.bytes(lines));
    return made;
}

std::string name_of(const CodeUse& use) {
    if (!use.read) return "not read";
    if (!use.used) return "unused";
    switch (use.use) {
        case UseByCode::reads:
            return use.called_line > 0 ? "calls" : "reads";
        case UseByCode::stores:
            return "stores";
        case UseByCode::hands_on:
            return "hands_on";
        case UseByCode::adds_apart:
            return "adds_apart";
        case UseByCode::adds:
            return "adds";
    }
    return "?";
}

std::vector<std::string> split(const std::string& text) {
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    return all;
}

UsedByCode sought_in(const CompiledUse& one) {
    UsedByCode sought{.table = one.table, .place = one.place};
    sought.filled_within = one.flags == std::string("within");
    sought.of_self = one.flags != std::string("others");
    return sought;
}

}  // namespace

TEST_CASE("code uses: what compiled functions do to a name, and in which line", "[program][suspects]") {
    for (const CompiledUse& one : compiled_uses) {
        INFO(one.title << ", compiled by " << one.compiled_by);
        PythonHeapBuilder heap(*builtin_layout({3, one.minor}));
        const Address code = code_object(heap, from_hex(one.code), from_hex(one.lines), one.first_line);
        const CodeUse use = use_of(heap.heap(), code, split(one.names), sought_in(one));
        CHECK(name_of(use) == one.use);
        CHECK((use.called_line > 0 ? use.called_line : use.line) == one.line);
    }
}

// Whatever the instructions are: nothing but the answer may depend on it.
TEST_CASE("code uses: instructions that are cut or damaged", "[program][suspects]") {
    for (const CompiledUse& one : compiled_uses) {
        const std::string whole = from_hex(one.code);
        for (std::size_t at = 0; at < whole.size(); at += 7 + whole.size() / 16) {
            INFO(one.title << ", compiled by " << one.compiled_by << ", " << at);
            PythonHeapBuilder heap(*builtin_layout({3, one.minor}));
            std::string damaged = whole.substr(0, 2 * (at / 2) + 2);
            damaged[at % damaged.size()] = static_cast<char>(at * 37);
            const Address code = code_object(heap, damaged, from_hex(one.lines), one.first_line);
            const CodeUse use = use_of(heap.heap(), code, split(one.names), sought_in(one));
            CHECK((use.read || !use.used));
        }
    }
}
