// Numbers below 4 GiB that are no addresses, told by what stands before them.

#include "parsers/snapshot/low_numbers.h"
#include "tests/catch.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

using namespace heapsift;

namespace {

/// A library whose names lie at 0x7f0000000000, saved or not.
struct Library {
    explicit Library(bool saved) {
        std::memcpy(text.data() + 16, "GLIBC_2.2.5", 12);
        std::memcpy(text.data() + 32, "libc.so.6", 10);
        Segment constants{.start = names, .size = text.size(), .module = 0};
        if (saved) {
            constants.data = text.data();
            constants.state = ByteState::from_file;
        }
        memory = AddressSpace({constants});
    }
    Address names{0x7f0000000000};
    std::array<std::byte, 64> text{};
    AddressSpace memory;
};

bool is_number(const AddressSpace& memory, std::vector<std::uint64_t> words, std::size_t index,
               WordsOf of = WordsOf::block) {
    return is_low_number(memory, of, std::as_bytes(std::span(words)), index, words[index]);
}

std::uint64_t eight(const char* text) {
    std::uint64_t word = 0;
    std::memcpy(&word, text, 8);
    return word;
}

}  // namespace

TEST_CASE("low numbers: the end of a text behind eight characters", "[snapshot][native]") {
    const AddressSpace memory;
    const std::uint64_t end = 0x2e292868;  // h().
    CHECK(is_number(memory, {eight("realpat "), end}, 1));
    CHECK_FALSE(is_number(memory, {end}, 0));
    const std::uint64_t text = eight("realpat "), size = 36, mark = 0xfdfdfdfdfdfdfd6f;
    CHECK(is_number(memory, {text, text, text, end}, 3));
    // Behind something else it may be a text that was there before: the block does not begin with it.
    CHECK_FALSE(is_number(memory, {0x7f0000001000, 1, 2, text, text, end}, 5));
    CHECK(is_number(memory, {size, text, text, end}, 3));
    CHECK_FALSE(is_number(memory, {size, text, end}, 2));
    CHECK(is_number(memory, {0, 0, 0, text, text, end}, 5));
    CHECK_FALSE(is_number(memory, {0, 0, 0, text, end}, 4));
    CHECK(is_number(memory, {size, mark, text, end}, 3));
    CHECK(is_number(memory, {size, mark, size, mark, text, end}, 5));
    CHECK_FALSE(is_number(memory, {size, mark + 0x100, text, end}, 3));
    CHECK(is_number(memory, {0x7f0000001000, 1, 2, text, end}, 4, WordsOf::module));
    CHECK_FALSE(is_number(memory, {text, text, end}, 2, WordsOf::other));
    CHECK_FALSE(is_number(memory, {eight("realpat\0"), end}, 1));        // it has ended before
    CHECK_FALSE(is_number(memory, {0x7f0000001000, end}, 1));            // behind an address
    CHECK_FALSE(is_number(memory, {eight("realpat "), 0x2e290868}, 1));  // a backspace is no text
    CHECK_FALSE(is_number(memory, {eight("realpat "), 0x7e292e292868}, 1));
}

TEST_CASE("low numbers: the hash of a version beside its name", "[snapshot][native]") {
    const Library read(true);
    const std::uint64_t name = (read.names + 16).value, file = (read.names + 32).value;
    CHECK(is_number(read.memory, {name, 0x09691a75, file}, 1));
    CHECK(is_number(read.memory, {name, 0x09691a75}, 1));
    CHECK_FALSE(is_number(read.memory, {name, 0x09691a76, file}, 1));
    CHECK_FALSE(is_number(read.memory, {file, 0x09691a75, file}, 1));
    CHECK_FALSE(is_number(read.memory, {0x1000, 0x09691a75, file}, 1));
}

TEST_CASE("low numbers: beside a name that cannot be read", "[snapshot][native]") {
    const Library unread(false);
    const std::uint64_t name = (unread.names + 16).value, file = (unread.names + 32).value;
    CHECK(is_number(unread.memory, {name, 0x09691a75, file}, 1));
    CHECK(is_number(unread.memory, {name, 0x09691a75, 0}, 1));
    CHECK_FALSE(is_number(unread.memory, {name, 0x19691a75, file}, 1));  // hashes have 28 bits
    CHECK_FALSE(is_number(unread.memory, {name, 0x09691a75, 0x1000}, 1));
}

TEST_CASE("low numbers: a thousand million, and what is none", "[snapshot][native]") {
    const AddressSpace memory;
    CHECK(is_number(memory, {1'000'000'000}, 0));
    CHECK_FALSE(is_number(memory, {1'000'000'008}, 0));
    CHECK_FALSE(is_number(memory, {0x20000000, 0x20000010}, 1));
}

TEST_CASE("text over an address: its last characters, a zero, and what is left of the address",
          "[snapshot][native]") {
    const auto is_end = [](std::vector<std::uint64_t> words, std::size_t index) {
        return is_text_over_address(WordsOf::block, std::as_bytes(std::span(words)), index, words[index]);
    };
    const std::uint64_t text = eight("longer than sixteen"), end = 0x7f93cd003420;  // " 4"
    CHECK(is_end({text, text, end}, 2));
    CHECK(is_end({text, 0x7f93cd340041}, 1));        // "A"
    CHECK_FALSE(is_end({text, 0x7f93cd3441}, 1));    // "A4" and no zero
    CHECK_FALSE(is_end({text, 0x7f93cd003400}, 1));  // the text ends before
    CHECK_FALSE(is_end({end}, 0));
    CHECK_FALSE(is_end({0x7f93cd001000, end}, 1));  // behind no text
    // A text that was there before, behind something else.
    CHECK_FALSE(is_end({0x7f93cd001000, 1, 2, text, text, end}, 5));
}
