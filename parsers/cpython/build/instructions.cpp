// Numbers of operations: Include/opcode.h (3.6 to 3.12), Include/opcode_ids.h (3.13). Those of specialized ones are
// what Tools/build/generate_opcode_h.py gives them (Tools/scripts up to 3.11).

#include "parsers/cpython/build/instructions.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace heapsift {
namespace {

constexpr std::uint8_t first_in_place = 13;  // NB_INPLACE_ADD, an argument of BINARY_OP (Include/opcode.h)

bool is_one_of(std::uint8_t operation, std::span<const int> of) {
    return std::find(of.begin(), of.end(), operation) != of.end();
}

using CacheWords = std::array<std::uint8_t, 256>;  // by operation

struct OfSoManyWords {
    std::uint8_t words;
    std::initializer_list<int> operations;
};

constexpr CacheWords cache_words_of(std::initializer_list<OfSoManyWords> all) {
    CacheWords made{};
    for (const OfSoManyWords& of : all)
        for (const int operation : of.operations) made[static_cast<std::size_t>(operation)] = of.words;
    return made;
}

// _PyOpcode_Caches (Include/internal/pycore_opcode.h, pycore_opcode_metadata.h); a specialized instruction, and one
// with an event, has as many as what it stands for.
constexpr CacheWords caches_to_10{};
constexpr CacheWords caches_11 = cache_words_of(
    {{1, {3,  4,  5,  6,  7,   8,   13,  14,  16,  60,  64,  65,  66,  67,  72,  73,  76,  77, 78,
          79, 80, 81, 92, 113, 121, 122, 127, 141, 143, 166, 168, 169, 170, 177, 178, 179, 180}},
     {2, {26, 27, 28, 29, 107}},
     {4, {17, 18, 19, 20, 21, 22, 23, 24, 25, 39, 40, 41, 42, 43, 95, 106, 153, 154, 158, 159, 171}},
     {5, {47, 48, 55, 116}},
     {10, {56, 57, 58, 59, 62, 63, 160}}});
constexpr CacheWords caches_12 = cache_words_of(
    {{1, {6,  7,  8,  10, 13, 14, 16,  18,  19,  20,  21,  22,  25,  57,  58,  59,  60,  62, 63,
          64, 65, 66, 67, 92, 93, 107, 122, 123, 141, 159, 160, 161, 166, 167, 168, 237, 248}},
     {3, {23, 24, 28, 29, 34, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 56, 171, 241}},
     {4, {95, 111, 112, 113, 116, 148, 153}},
     {9, {70, 72, 73, 76, 77, 78, 79, 80, 81, 82, 106}}});
constexpr CacheWords caches_13 = cache_words_of(
    {{1, {3,   5,   39,  45,  58,  59,  72,  77,  93,  97,  98,  99,  100, 104, 117, 150, 151,
          152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 182, 183, 184, 185, 186, 187, 188,
          189, 190, 205, 206, 208, 212, 213, 220, 221, 222, 242, 243, 249, 250, 251, 252, 253}},
     {3, {40,  53,  162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174,
          175, 176, 177, 178, 179, 180, 181, 214, 215, 216, 217, 218, 219, 244}},
     {4, {91, 108, 203, 204, 209, 210, 211}},
     {9, {82, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202}}});

// LIST_APPEND, SET_ADD, MAP_ADD, and from 3.9 on LIST_EXTEND
constexpr std::array<int, 4> displays_to_12 = {145, 146, 147, 162};
constexpr std::array<int, 1> items_to_10 = {60}, attributes_to_10 = {95};
constexpr std::array<int, 4> in_place_to_10 = {55, 57, 78, 79};  // INPLACE_ADD, MULTIPLY, XOR, OR
// EXTENDED_ARG, LOAD_CONST, LOAD_DEREF and STORE_DEREF; LOAD_NAME, LOAD_GLOBAL, LOAD_ATTR, LOAD_METHOD, STORE_ATTR,
// STORE_GLOBAL; and what they are specialized to
constexpr std::array<int, 1> extended_12 = {144}, constants_to_10 = {100};
constexpr std::array<int, 2> cells_to_10 = {136, 137};
constexpr std::array<int, 6> names_to_10 = {101, 116, 106, 160, 95, 97};
constexpr Operations::Numbers to_10 = {.caches = caches_to_10,
                                       .store_item = items_to_10,
                                       .store_attribute = attributes_to_10,
                                       .in_place = in_place_to_10,
                                       .add_to_display = displays_to_12,
                                       .delete_item = 61,
                                       .store_global = 97,
                                       .extended_argument = extended_12,
                                       .constants = constants_to_10,
                                       .cells = cells_to_10,
                                       .names = names_to_10,
                                       .names_by_2 = {},
                                       .names_by_4 = {}};

// STORE_SUBSCR and its specialized ones, STORE_SLICE; STORE_ATTR and its
constexpr std::array<int, 4> items_11 = {60, 168, 169, 170}, items_12 = {60, 27, 159, 160},
                             items_13 = {39, 38, 212, 213};
constexpr std::array<int, 5> attributes_11 = {95, 153, 154, 158, 159};
constexpr std::array<int, 4> attributes_12 = {95, 113, 148, 153}, attributes_13 = {108, 209, 210, 211},
                             displays_13 = {80, 81, 95, 105};
// From 3.11 on LOAD_GLOBAL has a flag below the place of the name, from 3.12 on LOAD_ATTR too, and LOAD_SUPER_ATTR two.
constexpr std::array<int, 2> extended_11 = {144, 34}, constants_11 = {100, 44}, constants_12 = {100, 84},
                             cells_11 = {137, 138}, cells_13 = {84, 109};
constexpr std::array<int, 1> extended_13 = {71}, constants_13 = {83};
constexpr std::array<int, 20> names_11 = {101, 97, 106, 39, 40, 41, 42,  43,  160, 56,
                                          57,  58, 59,  62, 63, 95, 153, 154, 158, 159};
constexpr std::array<int, 4> globals_11 = {116, 47, 48, 55};
constexpr std::array<int, 6> names_12 = {101, 95, 113, 148, 153, 97},
                             names_13 = {92, 108, 209, 210, 211, 113};
constexpr std::array<int, 14> attributes_by_2_12 = {116, 111, 112, 106, 70, 72, 73,
                                                    76,  77,  78,  79,  80, 81, 82};
constexpr std::array<int, 16> attributes_by_2_13 = {91,  203, 204, 82,  191, 192, 193, 194,
                                                    195, 196, 197, 198, 199, 200, 201, 202};
constexpr std::array<int, 3> super_12 = {141, 66, 67}, super_13 = {93, 205, 206};
constexpr Operations::Numbers of_11 = {.caches = caches_11,
                                       .store_item = items_11,
                                       .store_attribute = attributes_11,
                                       .in_place = {},
                                       .add_to_display = displays_to_12,
                                       .delete_item = 61,
                                       .store_global = 97,
                                       .binary = 122,
                                       .binary_adaptive = 3,
                                       .extended_argument = extended_11,
                                       .constants = constants_11,
                                       .cells = cells_11,
                                       .names = names_11,
                                       .names_by_2 = globals_11,
                                       .names_by_4 = {}};
constexpr Operations::Numbers of_12 = {.caches = caches_12,
                                       .store_item = items_12,
                                       .store_attribute = attributes_12,
                                       .in_place = {},
                                       .add_to_display = displays_to_12,
                                       .delete_item = 61,
                                       .store_global = 97,
                                       .binary = 122,
                                       .first_instrumented = 237,
                                       .extended_argument = extended_12,
                                       .constants = constants_12,
                                       .cells = cells_11,
                                       .names = names_12,
                                       .names_by_2 = attributes_by_2_12,
                                       .names_by_4 = super_12};
constexpr Operations::Numbers of_13 = {.caches = caches_13,
                                       .store_item = items_13,
                                       .store_attribute = attributes_13,
                                       .in_place = {},
                                       .add_to_display = displays_13,
                                       .delete_item = 9,
                                       .store_global = 113,
                                       .binary = 45,
                                       .first_instrumented = 236,
                                       .extended_argument = extended_13,
                                       .constants = constants_13,
                                       .cells = cells_13,
                                       .names = names_13,
                                       .names_by_2 = attributes_by_2_13,
                                       .names_by_4 = super_13};

}  // namespace

bool Operations::stores_item(Instruction instruction) const {
    return instruction.argument == 0 && is_one_of(instruction.operation, numbers_->store_item);
}

bool Operations::stores_name(Instruction instruction) const {
    return is_one_of(instruction.operation, numbers_->store_attribute) ||
           instruction.operation == numbers_->store_global;
}

bool Operations::changes_in_place(Instruction instruction) const {
    const int operation = instruction.operation;
    const bool binary = operation == numbers_->binary || operation == numbers_->binary_adaptive;
    return (binary && instruction.argument >= first_in_place) ||
           (instruction.argument == 0 && is_one_of(instruction.operation, numbers_->in_place));
}

bool Operations::adds_to_display(Instruction instruction) const {
    return is_one_of(instruction.operation, numbers_->add_to_display);
}

bool Operations::deletes_item(Instruction instruction) const {
    return instruction.argument == 0 && instruction.operation == numbers_->delete_item;
}

bool Operations::extends_argument(Instruction instruction) const {
    return is_one_of(instruction.operation, numbers_->extended_argument);
}

std::optional<std::uint32_t> Operations::used_name(Instruction instruction, std::uint32_t argument) const {
    if (is_one_of(instruction.operation, numbers_->names)) return argument;
    if (is_one_of(instruction.operation, numbers_->names_by_2)) return argument >> 1;
    if (is_one_of(instruction.operation, numbers_->names_by_4)) return argument >> 2;
    return std::nullopt;
}

std::optional<std::uint32_t> Operations::used_constant(Instruction instruction,
                                                       std::uint32_t argument) const {
    return is_one_of(instruction.operation, numbers_->constants) ? std::optional(argument) : std::nullopt;
}

std::optional<std::uint32_t> Operations::used_cell(Instruction instruction, std::uint32_t argument) const {
    return is_one_of(instruction.operation, numbers_->cells) ? std::optional(argument) : std::nullopt;
}

const Operations* operations_of(const LayoutVersion& version) {
    static const Operations up_to_10(to_10), op_11(of_11), op_12(of_12), op_13(of_13);
    if (is_python_2(version) || version.minor < 6 || version.minor > 13) return nullptr;
    switch (version.minor) {
        case 11:
            return &op_11;
        case 12:
            return &op_12;
        case 13:
            return &op_13;
        default:
            return &up_to_10;
    }
}

}  // namespace heapsift
