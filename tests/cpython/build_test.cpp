// What a build is, for all versions: where the count is, what precedes an object, where an instance's dict
// is.

#include "parsers/cpython/build/collector.h"
#include "parsers/cpython/build/frames.h"
#include "parsers/cpython/build/instance_dict.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/build/refcount.h"

#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"

#include <limits>

using namespace heapsift;

namespace {

const Layout& layout_of(int minor) { return *builtin_layout({3, minor, false, false}); }

}  // namespace

TEST_CASE("build: the count of an object is where its layout says", "[cpython][build]") {
    test::PythonHeapBuilder builder(*GENERATE(from_range(all_layouts())));
    const Address number = builder.integer(7);
    builder.put(number, std::uint64_t{41});
    CHECK(count_of(builder.heap(), number) == 41);
    builder.put(number + 8, Address());  // the type is no part of it
    CHECK(count_of(builder.heap(), number) == 41);
    CHECK(count_of(builder.heap(), Address(0x10)) == 0);
}

TEST_CASE("build: objects are immortal since 3.12, by the lower half of their count", "[cpython][build]") {
    for (const std::uint64_t count : {0xffffffffULL, 0x80000000ULL, 0x1c0000000ULL}) {
        CHECK(is_immortal_count(layout_of(12), count));
        CHECK(is_immortal_count(layout_of(13), count));
        CHECK_FALSE(is_immortal_count(layout_of(11), count));
    }
    CHECK_FALSE(is_immortal_count(layout_of(13), 1));
    CHECK_FALSE(is_immortal_count(layout_of(13), 0x100000001ULL));
}

TEST_CASE(
    "build: two words before an instance are its managed dict's, since 3.11, and weak references', since "
    "3.12",
    "[cpython][build]") {
    const std::uint64_t dict = have_gc_flag | managed_dict_flag, weak = have_gc_flag | managed_weakref_flag;
    CHECK(bytes_before_instance(layout_of(10), dict) == 16);
    CHECK(bytes_before_instance(layout_of(11), dict) == 32);
    CHECK(bytes_before_instance(layout_of(11), weak) == 16);
    CHECK(bytes_before_instance(layout_of(12), weak) == 32);
    CHECK(bytes_before_instance(layout_of(13), dict | weak) == 32);
    CHECK(bytes_before_instance(layout_of(13), 0) == 0);
}

TEST_CASE("build: sys.getsizeof asks the object for its header up to 3.10, the type in 3.11 and 3.12",
          "[cpython][build]") {
    // A static type: its metatype has the flag, but the type itself has no header.
    for (const int minor : {9, 10, 13})
        CHECK(counted_before_instance(layout_of(minor), have_gc_flag, false, true) == 0);
    for (const int minor : {11, 12})
        CHECK(counted_before_instance(layout_of(minor), have_gc_flag, false, true) == 16);
    CHECK(counted_before_instance(layout_of(13), have_gc_flag, false, false) == 16);
    CHECK(counted_before_instance(layout_of(9), have_gc_flag, true, false) == 16);
}

TEST_CASE("build: each form of an instance's dict is of its versions", "[cpython][build]") {
    CHECK(managed_dict(layout_of(9)) == ManagedDict::none);
    CHECK(managed_dict(layout_of(10)) == ManagedDict::none);
    CHECK(managed_dict(layout_of(11)) == ManagedDict::two_words);
    CHECK(managed_dict(layout_of(12)) == ManagedDict::tagged_word);
    CHECK(managed_dict(layout_of(13)) == ManagedDict::inline_values);
}

TEST_CASE(
    "build: an instance reports its dict alone from 3.13.13 on, and in builds that took the change earlier",
    "[cpython][build]") {
    PythonVersion version{3, 13, 5};
    CHECK_FALSE(instance_reports_dict(version, ""));
    CHECK_FALSE(instance_reports_dict(version, "0123"));
    CHECK(instance_reports_dict(version, "7e8d5f6d0cd6cd1e9bff2a775c11d398cecca758"));
    version.micro = 13;
    CHECK(instance_reports_dict(version, ""));
    CHECK(instance_reports_dict({3, 11, 2}, ""));
}

TEST_CASE("build: lines, steps and traces of a frame", "[cpython][build]") {
    CHECK(line_table(layout_of(9)) == LineTable::increments);
    CHECK(line_table(layout_of(10)) == LineTable::ranges);
    CHECK(line_table(layout_of(13)) == LineTable::locations);
    CHECK(bytes_a_step(layout_of(9)) == 1);
    CHECK(bytes_a_step(layout_of(10)) == 2);
    CHECK(line_needs_trace(layout_of(9)));
    CHECK_FALSE(line_needs_trace(layout_of(10)));
    CHECK_FALSE(has_interpreter_frames(layout_of(10)));
    CHECK(has_interpreter_frames(layout_of(11)));
}

TEST_CASE("build: a pickler reports its memo since the releases of one day", "[cpython][build]") {
    CHECK_FALSE(pickler_reports_memo({3, 10, 13}));
    CHECK_FALSE(pickler_reports_memo({3, 11, 6}));
    CHECK(pickler_reports_memo({3, 11, 7}));
    CHECK_FALSE(pickler_reports_memo({3, 12, 0}));
    CHECK(pickler_reports_memo({3, 12, 1}));
    CHECK(pickler_reports_memo({3, 13, 0}));
}

TEST_CASE("build: a header says whether its object is tracked, and its finalizer has run",
          "[cpython][build]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    const gc_head_layout& header = layout->gc_head;
    std::uint64_t next = 0, prev = 0, refs = 0;
    const auto word = [&](std::uint32_t at) {
        return at == *header.next ? next : at == *header.prev ? prev : refs;
    };
    if (layout->version.major == 2) {
        next = 0x7f0000001230;
        refs = static_cast<std::uint64_t>(-2);
        CHECK_FALSE(header_is_tracked(*layout, word));
        refs = static_cast<std::uint64_t>(-3);
        CHECK(header_is_tracked(*layout, word));
        CHECK_FALSE(header_is_finalized(*layout, word));
    } else if (header.refs.present()) {  // up to 3.7; the links of what is not tracked may be anything
        next = 0x7f0000001230;
        refs = static_cast<std::uint64_t>(-4);
        CHECK_FALSE(header_is_tracked(*layout, word));
        refs = static_cast<std::uint64_t>(-3);
        CHECK_FALSE(header_is_tracked(*layout, word));
        refs = static_cast<std::uint64_t>(-6);
        CHECK(header_is_tracked(*layout, word));
        CHECK_FALSE(header_is_finalized(*layout, word));
        refs = static_cast<std::uint64_t>(-5);
        CHECK(header_is_tracked(*layout, word));
        CHECK(header_is_finalized(*layout, word));
    } else {
        CHECK_FALSE(header_is_tracked(*layout, word));
        next = 0x7f0000001230;
        CHECK(header_is_tracked(*layout, word));
        CHECK_FALSE(header_is_finalized(*layout, word));
        prev = 0x7f0000001231;
        CHECK(header_is_finalized(*layout, word));
    }
}

TEST_CASE("build: 2.7 came before all of 3", "[cpython][build]") {
    const LayoutVersion old{2, 7};
    CHECK_FALSE(since(7).contain(old));
    CHECK_FALSE(since(0).contain(old));
    CHECK(until(3).contain(old));
    CHECK(until(before_3).contain(old));
    CHECK_FALSE(until(before_3).contain({3, 6}));
    CHECK_FALSE(within(0, 7).contain(old));
    CHECK_FALSE(is_minor(old, 7));
    CHECK_FALSE(until(9).require(old));  // its table says what it needs
}

TEST_CASE("build: the versions that can be read", "[cpython][build]") {
    CHECK(is_supported({2, 7, 18}));
    CHECK(is_supported({3, 6, 0}));
    CHECK(is_supported({3, 15, 99}));
    CHECK_FALSE(is_supported({3, 5, 10}));
    CHECK_FALSE(is_supported({3, 16, 0}));
    CHECK_FALSE(is_supported({2, 9, 0}));
    // A newer one is tried with the newest tables first.
    CHECK(is_newer_than_supported({3, 16, 0}));
    CHECK_FALSE(is_newer_than_supported({4, 0, 0}));
    CHECK(layouts_to_try({3, 9, 2}, false) == std::vector<LayoutVersion>{{3, 9}});
    CHECK(layouts_to_try({3, 17, 0}, false) == std::vector<LayoutVersion>{{3, 15}, {3, 14}, {3, 13}});
    CHECK(layouts_to_try({3, 5, 10}, false).empty());
    CHECK(layouts_to_try({4, 0, 0}, true).empty());
    CHECK(PythonVersion::from_hex(0x030d01f0).text() == "3.13.1");
    CHECK(PythonVersion::from_hex(0x030d00c2).text() == "3.13.0rc2");
}

TEST_CASE("build: since 3.14 a count is half a word, and the rest tells what is none", "[cpython][build]") {
    for (const Layout* layout : all_layouts()) {
        const bool half = since(14).contain(layout->version);
        CHECK(count_in_word(*layout, 7) == 7);
        // A static object's flags, and the address of the next block on a free list.
        CHECK(count_in_word(*layout, 0x0005'0000'c000'0000) == (half ? 0xc0000000 : 0x0005'0000'c000'0000));
        CHECK(count_in_word(*layout, 0x7f12'3456'7890) == (half ? 0 : 0x7f12'3456'7890));
        CHECK(is_immortal_table_count(*layout, std::numeric_limits<std::int64_t>::min()) == half);
        CHECK_FALSE(is_immortal_table_count(*layout, 1));
    }
}

TEST_CASE("build: a table that is kept for reuse has no count, or the next one's address and eight places",
          "[cpython][build]") {
    for (const Layout* layout : all_layouts()) {
        const bool links = since(14).contain(layout->version);
        DictFacts table;
        table.capacity = 5;
        table.unicode_keys = true;
        CHECK(is_unused_table(*layout, table));
        table.keys_refcount = 1;
        CHECK_FALSE(is_unused_table(*layout, table));
        table.keys_refcount = 0x7f1234567890;
        CHECK(is_unused_table(*layout, table) == links);
        table.capacity = 0;  // a pointer and zeros in a block of C code
        CHECK_FALSE(is_unused_table(*layout, table));
        table.capacity = 5;
        table.unicode_keys = false;
        CHECK_FALSE(is_unused_table(*layout, table));
    }
}
