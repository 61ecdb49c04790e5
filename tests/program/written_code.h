#pragma once

// Functions of a program, instruction by instruction, and the places that are found in them.

#include "analysis/suspects/code_that_names.h"
#include "parsers/cpython/build/instructions.h"
#include "tests/program/program_heap.h"

#include <algorithm>
#include <string>
#include <vector>

namespace heapsift::test {

// Of 3.13, as all programs of these tests.
inline constexpr std::uint8_t op_load_global = 91, op_load_name = 92, op_load_attribute = 82,
                              op_store_name = 114, op_store_item = 39, op_import_from = 74,
                              op_load_deref = 84, op_load_const = 83, op_instrumented_line = 254,
                              op_load_local = 85, op_store_attribute = 108, op_call = 53,
                              op_store_local = 110, op_pop = 32;

struct WrittenLine {
    std::uint8_t steps;  // lines behind the one before, the first behind the line of `def`, which is 10
    std::vector<Instruction> instructions;
};

/// Into a code object.
inline void write_lines(ProgramHeap& program, Address code, const std::vector<WrittenLine>& lines) {
    const auto& l = program.heap.layout().code;
    const Operations& operations = *operations_of(program.heap.layout().version);
    std::string table;
    std::uint64_t at = 0;
    for (const WrittenLine& line : lines) {
        std::uint64_t units = 0;
        for (const Instruction& one : line.instructions) {
            program.heap.put(code + *l.co_code_adaptive + at, one.operation);
            program.heap.put(code + *l.co_code_adaptive + at + 1, one.argument);
            at += operations.size(one);
            units += operations.size(one) / 2;
        }
        for (std::uint8_t steps = line.steps; units > 0;
             steps = 0) {  // locations.md: no columns, eight units at most
            const std::uint64_t some = std::min<std::uint64_t>(units, 8);
            table += static_cast<char>(0x80 | 13 << 3 | (some - 1));
            table += static_cast<char>(steps << 1);
            units -= some;
        }
    }
    program.heap.set(code, l.co_linetable, program.heap.bytes(table));
}

/// A function in app.py that uses these globals and attributes. At most 32 bytes of instructions.
inline Address code_with_lines(ProgramHeap& program, const std::string& name,
                               const std::vector<std::string>& names, const std::vector<WrittenLine>& lines) {
    const Address code = program.code_using(name, "/srv/app/app.py", names);
    write_lines(program, code, lines);
    return code;
}

inline std::vector<std::string> places_of(const std::vector<SourcePlace>& places) {
    std::vector<std::string> texts;
    for (const SourcePlace& place : places)
        texts.push_back(place.function + ":" + std::to_string(place.line));
    return texts;
}

inline std::vector<std::string> places_of(const CodePlaces& found) { return places_of(found.places); }

}  // namespace heapsift::test
