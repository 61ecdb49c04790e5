// A layout is checked before it is trusted: every field of every built-in table is made absent in turn, and
// moved in turn.

#include "parsers/cpython/layout_check.h"

#include "tests/catch.h"

#include <algorithm>
#include <functional>
#include <string>

using namespace heapsift;

namespace {

std::string name_of(const LayoutFieldName& field) {
    return std::string(field.struct_name) + "." + field.field_name;
}

bool has(const Layout& layout, const LayoutFieldName& field) { return layout_place(layout, field).present(); }

void remove(Layout& layout, const LayoutFieldName& field) {
    if (field.bits)
        layout_bits(layout, field) = {};
    else
        layout_offset(layout, field) = {};
}

void move(Layout& layout, const LayoutFieldName& field, std::uint32_t to) {
    if (field.bits)
        layout_bits(layout, field).byte = to;
    else
        layout_offset(layout, field) = to;
}

const LayoutFieldName& struct_of(const LayoutFieldName& field) {
    for (const LayoutFieldName& other : layout_field_names())
        if (other.is_struct_size() && std::string_view(other.struct_name) == field.struct_name) return other;
    throw std::logic_error("a field without a struct");
}

bool same(const Layout& one, const Layout& other) {
    const auto fields = layout_field_names();
    return std::all_of(fields.begin(), fields.end(), [&](const LayoutFieldName& field) {
        return field.bits ? layout_bits(one, field) == layout_bits(other, field)
                          : layout_offset(one, field) == layout_offset(other, field);
    });
}

/// Ends the test if the table itself is wrong, which would fail everything else ten thousand times.
void require_sound(const Layout& table) {
    const auto faults = layout_faults(table, table);
    if (faults.empty()) return;
    FAIL("the table of 3."
         << table.version.minor << ": " << faults.front().struct_name << ": " << faults.front().what
         << ". A line in layout_fields*.def without its tables? layout_tables.sh makes them.");
}

/// Calls the function with each member that the table has.
void visit_members(const Layout& table, const std::function<void(const LayoutFieldName&)>& visit) {
    require_sound(table);
    std::size_t visited = 0;
    for (const LayoutFieldName& field : layout_field_names()) {
        if (field.is_struct_size() || !has(table, field)) continue;
        INFO(table.version.minor << " " << name_of(field));
        visit(field);
        ++visited;
    }
    CHECK(visited > (table.version.major == 2 ? 350U : 600U));
}

}  // namespace

TEST_CASE("layout check: the built-in tables are sound, and have what their versions require",
          "[cpython][layout]") {
    const Layout& table = *GENERATE(from_range(layouts_of_3()));
    require_sound(table);
    for (const LayoutFieldName& field : layout_field_names()) {
        INFO(table.version.minor << " " << name_of(field) << ": the table "
                                 << (has(table, field) ? "has it" : "lacks it")
                                 << "; are the versions of its line right?");
        if (field.versions.every_build) CHECK(has(table, field) == field.versions.require(table.version));
    }
}

TEST_CASE("layout check: debug information that says what the table says changes nothing",
          "[cpython][layout]") {
    const Layout& table = *GENERATE(from_range(all_layouts()));
    require_sound(table);
    const CompletedLayout completed = completed_layout(table, table);
    CHECK(same(completed.layout, table));
    CHECK(completed.refused.empty());
    CHECK(completed.differing.empty());
    // A file without CPython's structs contributes nothing.
    Layout nothing;
    nothing.version = table.version;
    CHECK(same(completed_layout(table, nothing).layout, table));
}

TEST_CASE("layout check: a build without the GIL has what its table has",
          "[cpython][layout][free-threaded]") {
    for (const Layout* table : free_threaded_layouts()) {
        CHECK(layout_faults(*table, *table).empty());  // without the interpreter's arrays of free lists
        CHECK(completed_layout(*table, *table).refused.empty());
        Layout read = *table;
        read.list.ob_item = {};
        CHECK(completed_layout(*table, read).refused.size() == 1);
    }
}

TEST_CASE("layout check: a struct without a field of its version is refused, and the table's is used",
          "[cpython][layout]") {
    const Layout& table = *GENERATE(from_range(all_layouts()));
    visit_members(table, [&](const LayoutFieldName& field) {
        Layout read = table;
        remove(read, field);
        const CompletedLayout completed = completed_layout(table, read);
        if (!field.versions.every_build) {
            CHECK(completed.refused.empty());
            CHECK_FALSE(has(completed.layout, field));  // this build has none
            return;
        }
        CHECK(same(completed.layout, table));
        REQUIRE(completed.refused.size() == 1);
        CHECK(completed.refused.front().struct_name == field.struct_name);
        CHECK(completed.refused.front().what == std::string(field.field_name) + " is not in it");
    });
}

TEST_CASE("layout check: a field behind the end of its struct is refused", "[cpython][layout]") {
    const Layout& table = *GENERATE(from_range(all_layouts()));
    visit_members(table, [&](const LayoutFieldName& field) {
        for (const std::uint32_t to : {*layout_offset(table, struct_of(field)) + 1, 0xfffffffeU}) {
            Layout read = table;
            move(read, field, to);
            const CompletedLayout completed = completed_layout(table, read);
            CHECK(same(completed.layout, table));
            REQUIRE(completed.refused.size() == 1);
            CHECK(completed.refused.front().what.find("does not lie in its") != std::string::npos);
        }
    });
}

TEST_CASE("layout check: wherever a field is moved, the table's struct is used, and it is said",
          "[cpython][layout]") {
    const Layout& table = *GENERATE(from_range(all_layouts()));
    visit_members(table, [&](const LayoutFieldName& field) {
        const std::uint32_t size = *layout_offset(table, struct_of(field));
        for (std::uint32_t to = 0; to < std::min(size, 256U); to += 8) {
            Layout read = table;
            move(read, field, to);
            if (to == *layout_place(table, field)) continue;
            const CompletedLayout completed = completed_layout(table, read);
            // Three fields are found by content, wherever the layout puts them.
            if (completed.refused.empty() && completed.differing.empty()) {
                const std::string name = name_of(field);
                CHECK((name == "gc_state.generations" || name == "interpreter_state.types_builtins" ||
                       name == "interpreter_state.types_for_extensions"));
                continue;
            }
            CHECK(same(completed.layout, table));
            CHECK(completed.refused.size() + completed.differing.size() == 1);
        }
    });
}

TEST_CASE("layout check: two fields do not share their bytes, unless the version's do", "[cpython][layout]") {
    const Layout& table = *builtin_layout({3, 11, false, false});
    Layout read = table;
    read.pool_header.freeblock = *read.pool_header.arenaindex;
    const auto faults = layout_faults(read, table);
    REQUIRE(faults.size() == 1);
    CHECK(faults.front().struct_name == "pool_header");
    CHECK(faults.front().what == "freeblock and arenaindex overlap");
}

TEST_CASE("layout check: a struct that is sound and elsewhere is for the core to judge",
          "[cpython][layout]") {
    const Layout& table = *builtin_layout({3, 11, false, false});
    Layout read = table;
    read.pool_header.freeblock = 16;  // where nextpool is, which heapsift does not read
    CompletedLayout completed = completed_layout(table, read);
    CHECK(completed.refused.empty());
    REQUIRE(completed.differing.size() == 1);
    CHECK(completed.differing.front().struct_name == "pool_header");
    CHECK(completed.differing.front().what ==
          "freeblock at 16, where other builds of CPython 3.11 have it at 8");
    CHECK(*completed.layout.pool_header.freeblock == 8);
    take_struct(completed.layout, read, "pool_header");
    CHECK(*completed.layout.pool_header.freeblock == 16);
}

TEST_CASE("layout check: the interpreter's own structs may be another size in another build",
          "[cpython][layout]") {
    const Layout& table = *builtin_layout({3, 13, false, false});
    Layout read = table;
    read.interpreter_state.size = *table.interpreter_state.size + 64;
    read.interpreter_state.modules = *table.interpreter_state.modules + 64;
    const CompletedLayout completed = completed_layout(table, read);
    CHECK(completed.refused.empty());
    CHECK(completed.differing.empty());
    CHECK(completed.layout.interpreter_state.modules == read.interpreter_state.modules);
    // For a list the same is doubtful.
    read = table;
    read.list.size = 48;
    read.list.ob_item = 32;
    CHECK(completed_layout(table, read).differing.size() + completed_layout(table, read).refused.size() == 1);
}
