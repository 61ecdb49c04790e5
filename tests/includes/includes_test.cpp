// The #include lines of this tree, and of small trees that are wrong in one way each: a rule that refuses
// nothing is no rule.

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/includes/include_rules.h"

#include <string>
#include <utility>
#include <vector>

using heapsift::test::include_complaints;
using heapsift::test::TemporaryDirectory;

namespace {

using Complaints = std::vector<std::string>;
using Files = std::vector<std::pair<std::string, std::string>>;

Complaints complaints_of(const Files& files) {
    const TemporaryDirectory tree;
    for (const auto& [name, text] : files) tree.write(name, text);
    return include_complaints(tree.path());
}

}  // namespace

TEST_CASE("includes: of this tree, each goes down, is where it belongs, and leads into no circle",
          "[includes]") {
    CHECK(include_complaints(HEAPSIFT_SOURCE_DIR) == Complaints());
}

TEST_CASE("includes: a tree in order is not complained of", "[includes]") {
    CHECK(complaints_of({{"parsers/base/address.h", "#include <cstdint>\n"},
                         {"parsers/elf/core.h", "#include \"parsers/base/address.h\"\n"},
                         {"parsers/elf/core.cpp", "#include \"parsers/elf/core.h\"\n#include <libelf.h>\n"},
                         {"analysis/graph/csr.h", "#include <boost/graph/graph_traits.hpp>\n"},
                         {"analysis/holding/heap.h",
                          "#include \"analysis/graph/csr.h\"\n#include \"parsers/elf/core.h\"\n"},
                         {"cli/commands/why.cpp", "#include \"analysis/holding/heap.h\"\n"}}) ==
          Complaints());
}

TEST_CASE("includes: an include upwards is refused, into any folder above", "[includes]") {
    CHECK(
        complaints_of({{"parsers/base/a.h", "#include \"parsers/elf/b.h\"\n"}, {"parsers/elf/b.h", ""}}) ==
        Complaints{"parsers/base/a.h includes parsers/elf/b.h: parsers/base does not stand on parsers/elf"});
    CHECK(complaints_of({{"analysis/holding/a.cpp", "  #  include \"analysis/b.h\"  // spread\n"},
                         {"analysis/b.h", ""}}) ==
          Complaints{
              "analysis/holding/a.cpp includes analysis/b.h: analysis/holding does not stand on analysis"});
}

TEST_CASE("includes: graph code that includes something of the heap is refused", "[includes]") {
    CHECK(complaints_of({{"analysis/graph/a.h", "#include \"parsers/snapshot/heap.h\"\n"},
                         {"parsers/snapshot/heap.h", ""}})
              .size() == 1);
    CHECK(complaints_of({{"analysis/graph/a.h", "#include \"analysis/holding/groups.h\"\n"},
                         {"analysis/holding/groups.h", ""}})
              .size() == 1);
}

TEST_CASE("includes: two folders beside each other do not know each other", "[includes]") {
    CHECK(
        complaints_of(
            {{"parsers/dwarf/a.h", "#include \"parsers/memory/b.h\"\n"}, {"parsers/memory/b.h", ""}}) ==
        Complaints{
            "parsers/dwarf/a.h includes parsers/memory/b.h: parsers/dwarf does not stand on parsers/memory"});
}

TEST_CASE("includes: a header of another project out of its folder is refused", "[includes]") {
    CHECK(complaints_of({{"analysis/why.cpp", "#include <boost/graph/graph_traits.hpp>\n"}}) ==
          Complaints{
              "analysis/why.cpp includes <boost/graph/graph_traits.hpp>, which belongs to analysis/graph"});
    CHECK(complaints_of({{"parsers/dwarf/other.cpp", "#include <llvm/Object/BuildID.h>\n"}}).size() == 1);
    CHECK(complaints_of({{"cli/commands/export.cpp", "#include <sqlite3.h>\n"}}).size() == 1);
    CHECK(complaints_of({{"parsers/base/a.h", "#include <unheard/of.h>\n"}}) ==
          Complaints{"parsers/base/a.h includes <unheard/of.h>, of no library that is known"});
}

TEST_CASE("includes: a circle is refused, be it of headers or through the .cpp of one", "[includes]") {
    CHECK(complaints_of({{"analysis/a.h", "#include \"analysis/b.h\"\n"},
                         {"analysis/b.h", "#include \"analysis/c.h\"\n"},
                         {"analysis/c.h", ""},
                         {"analysis/c.cpp", "#include \"analysis/c.h\"\n#include \"analysis/a.h\"\n"}}) ==
          Complaints{"a circle: analysis/a, analysis/b, analysis/c"});
    CHECK(complaints_of({{"cli/a.h", "#include \"cli/commands/b.h\"\n"},
                         {"cli/commands/b.h", "#include \"cli/a.h\"\n"}}) ==
          Complaints{"a circle: cli/a, cli/commands/b"});
}

TEST_CASE("includes: a folder that nobody gave a place, and a file that is not there, are refused",
          "[includes]") {
    CHECK(complaints_of({{"parsers/novel/a.h", "#include \"parsers/novel/a.h\"\n"}}) ==
          Complaints{"parsers/novel/a.h: its folder has no place in the order"});
    CHECK(complaints_of({{"parsers/base/a.h", "#include \"parsers/base/gone.h\"\n"}}) ==
          Complaints{"parsers/base/a.h includes parsers/base/gone.h, which is not there"});
    CHECK_THROWS(complaints_of({{"README.md", ""}}));
}
