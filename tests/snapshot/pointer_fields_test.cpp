// How much a word is believed by where it leads.

#include "parsers/snapshot/pointer_fields.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("pointer fields: a low word into a block counts where the data behind a line of the cache begin",
          "[snapshot][native]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreWriter writer;
    writer.process(100, "python3", "python3 app.py").thread(100, 0);
    writer.load(0x10000, std::string(4096, 1));
    const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
    const PointerFields fields(core);
    const auto belief = [&](std::uint64_t start, std::uint64_t bytes, std::uint64_t word) {
        return fields.belief(word, BlockNumbers::Block{0, Address(start), bytes}, word - start);
    };
    CHECK(belief(0x20000020, 1000, 0x20000040) == Belief::alone);
    CHECK(belief(0x200007a0, 1000, 0x20000800) == Belief::alone);
    CHECK(belief(0x20000720, 1000, 0x20000780) == Belief::alone);
    CHECK(belief(0x20000720, 1000, 0x200007c0) == Belief::none);  // the line behind that
    CHECK(belief(0x20000020, 1000, 0x20000048) == Belief::none);  // no line begins there
    CHECK(belief(0x20000020, 200, 0x20000040) == Belief::none);   // too small to be aligned
    CHECK(belief(0x20000020, 1000, 0x20000020) == Belief::field);
    CHECK(belief(0x20000030, 9000, 0x20001000) == Belief::alone);  // a page's data, with room before them
    CHECK(belief(0x20000030, 6000, 0x20001000) == Belief::none);   // too small for a page that is aligned
    CHECK(belief(0x20000030, 90000, 0x20002000) == Belief::none);  // the page behind that
}
