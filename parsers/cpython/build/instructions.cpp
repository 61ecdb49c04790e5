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
constexpr Operations::Numbers to_10 = {.caches = caches_to_10,
                                       .store_item = items_to_10,
                                       .store_attribute = attributes_to_10,
                                       .in_place = in_place_to_10,
                                       .add_to_display = displays_to_12,
                                       .delete_item = 61,
                                       .store_global = 97};

// STORE_SUBSCR and its specialized ones, STORE_SLICE; STORE_ATTR and its
constexpr std::array<int, 4> items_11 = {60, 168, 169, 170}, items_12 = {60, 27, 159, 160},
                             items_13 = {39, 38, 212, 213};
constexpr std::array<int, 5> attributes_11 = {95, 153, 154, 158, 159};
constexpr std::array<int, 4> attributes_12 = {95, 113, 148, 153}, attributes_13 = {108, 209, 210, 211},
                             displays_13 = {80, 81, 95, 105};
constexpr Operations::Numbers of_11 = {.caches = caches_11,
                                       .store_item = items_11,
                                       .store_attribute = attributes_11,
                                       .in_place = {},
                                       .add_to_display = displays_to_12,
                                       .delete_item = 61,
                                       .store_global = 97,
                                       .binary = 122,
                                       .binary_adaptive = 3};
constexpr Operations::Numbers of_12 = {.caches = caches_12,
                                       .store_item = items_12,
                                       .store_attribute = attributes_12,
                                       .in_place = {},
                                       .add_to_display = displays_to_12,
                                       .delete_item = 61,
                                       .store_global = 97,
                                       .binary = 122,
                                       .first_instrumented = 237};
constexpr Operations::Numbers of_13 = {.caches = caches_13,
                                       .store_item = items_13,
                                       .store_attribute = attributes_13,
                                       .in_place = {},
                                       .add_to_display = displays_13,
                                       .delete_item = 9,
                                       .store_global = 113,
                                       .binary = 45,
                                       .first_instrumented = 236};

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
