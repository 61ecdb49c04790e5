// Layouts: the built-in tables have what every CPython has, and a layout read from debug information is that
// of the file.

#include "parsers/cpython/layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parsers/cpython/layout_from_debug_info.h"
#include "parsers/index/part.h"
#include "tests/catch.h"

namespace {

using namespace heapsift;

bool is_present(const Layout& layout, const LayoutFieldName& field) {
    return field.bits ? layout_bits(layout, field).present() : layout_offset(layout, field).present();
}

/// Fields without which no heap can be read, and which every CPython has had.
const std::set<std::string> needed = {"runtime_state.interpreters_head",
                                      "interpreter_state.next",
                                      "interpreter_state.threads_head",
                                      "interpreter_state.modules",
                                      "interpreter_state.sysdict",
                                      "interpreter_state.builtins",
                                      "thread_state.next",
                                      "thread_state.interp",
                                      "gc_generation.head",
                                      "gc_head.next",
                                      "gc_head.prev",
                                      "arena_object.address",
                                      "arena_object.pool_address",
                                      "arena_object.nfreepools",
                                      "arena_object.ntotalpools",
                                      "pool_header.ref_count",
                                      "pool_header.freeblock",
                                      "pool_header.arenaindex",
                                      "pool_header.szidx",
                                      "pool_header.nextoffset",
                                      "object.ob_refcnt",
                                      "object.ob_type",
                                      "var_object.ob_size",
                                      "type.tp_name",
                                      "type.tp_basicsize",
                                      "type.tp_itemsize",
                                      "type.tp_flags",
                                      "type.tp_traverse",
                                      "type.tp_base",
                                      "type.tp_dict",
                                      "type.tp_dictoffset",
                                      "type.tp_bases",
                                      "type.tp_mro",
                                      "heap_type.ht_name",
                                      "heap_type.ht_qualname",
                                      "heap_type.ht_cached_keys",
                                      "dict.ma_used",
                                      "dict.ma_keys",
                                      "dict.ma_values",
                                      "dict_keys.dk_refcnt",
                                      "dict_keys.dk_usable",
                                      "dict_keys.dk_nentries",
                                      "dict_keys.dk_indices",
                                      "set.fill",
                                      "set.used",
                                      "set.mask",
                                      "set.table",
                                      "set.smalltable",
                                      "list.ob_item",
                                      "list.allocated",
                                      "tuple.ob_item",
                                      "bytes.ob_sval",
                                      "bytearray.ob_alloc",
                                      "bytearray.ob_start",
                                      "ascii.length",
                                      "ascii.state",
                                      "ascii.state_interned",
                                      "ascii.state_kind",
                                      "ascii.state_compact",
                                      "ascii.state_ascii",
                                      "compact_unicode.utf8",
                                      "unicode.data",
                                      "long_.ob_digit",
                                      "float_.ob_fval",
                                      "complex.real",
                                      "complex.imag",
                                      "function.func_globals",
                                      "function.func_code",
                                      "function.func_dict",
                                      "code.co_consts",
                                      "code.co_names",
                                      "code.co_flags",
                                      "code.co_filename",
                                      "code.co_name",
                                      "frame.f_back",
                                      "generator.gi_name",
                                      "module.md_dict",
                                      "module.md_name",
                                      "method.im_func",
                                      "method.im_self",
                                      "builtin_function.m_ml",
                                      "builtin_function.m_self",
                                      "descriptor.d_type",
                                      "descriptor.d_name",
                                      "cell.ob_ref",
                                      "property.prop_get",
                                      "classmethod.callable",
                                      "staticmethod.callable",
                                      "traceback.tb_next",
                                      "traceback.tb_frame",
                                      "exception.dict",
                                      "exception.args",
                                      "weakref.wr_object",
                                      "weakref.wr_callback",
                                      "deque.leftblock",
                                      "deque_block.data",
                                      "defaultdict.default_factory",
                                      "ordered_dict.od_first",
                                      "ordered_dict_node.next",
                                      "partial.fn",
                                      "memoryview.view",
                                      "array.ob_item",
                                      "array_descr.itemsize",
                                      "element.extra",
                                      "decimal.dec",
                                      "lru_cache.root_prev",
                                      "range.start",
                                      "slice.start",
                                      "mappingproxy.mapping"};

}  // namespace

TEST_CASE("layout: every built-in table of CPython 3 has what all of these have", "[cpython][layout]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()), from_range(free_threaded_layouts()));
    INFO(layout->version.major << "." << layout->version.minor);
    std::size_t checked = 0;
    for (const LayoutFieldName& field : layout_field_names()) {
        const std::string name = std::string(field.struct_name) + "." + field.field_name;
        if (!needed.contains(name)) continue;
        if (!field.versions.contain(layout->version)) {  // 3.6 has no _PyRuntime
            CHECK(name == "runtime_state.interpreters_head");
            ++checked;
            continue;
        }
        INFO(name);
        CHECK(is_present(*layout, field));
        ++checked;
    }
    CHECK(checked == needed.size());  // no name above is misspelt
}

TEST_CASE("layout: members lie inside their struct", "[cpython][layout]") {
    const Layout* layout = GENERATE(from_range(all_layouts()), from_range(free_threaded_layouts()));
    LayoutOffset size;
    for (const LayoutFieldName& field : layout_field_names()) {
        if (std::string_view(field.field_name) == "size" && *field.dwarf_path[0] == '\0') {
            size = layout_offset(*layout, field);
            continue;
        }
        INFO(layout->version.minor << " " << field.struct_name << "." << field.field_name);
        if (!is_present(*layout, field)) continue;
        REQUIRE(size.present());
        // equal: a flexible array
        CHECK(*(field.bits ? layout_bits(*layout, field).byte : layout_offset(*layout, field)) <= *size);
    }
}

TEST_CASE("layout: a version is found by its numbers and kind, an unknown one is not", "[cpython][layout]") {
    for (const Layout* layout : all_layouts()) CHECK(builtin_layout(layout->version) == layout);
    CHECK(builtin_layout({3, 11}) != nullptr);
    CHECK(builtin_layout({3, 13}) != nullptr);
    for (const Layout* layout : free_threaded_layouts()) CHECK(builtin_layout(layout->version) == layout);
    CHECK(builtin_layout({3, 13, /*free_threaded=*/true}) != nullptr);
    CHECK(builtin_layout({3, 12, /*free_threaded=*/true}) == nullptr);
    CHECK(builtin_layout({2, 7}) != nullptr);
    CHECK(builtin_layout({2, 0}) == nullptr);
}

TEST_CASE("layout: facts of CPython's history hold in the tables", "[cpython][layout]") {
    // A keys table stores the logarithm of its size since 3.11; strings lost wstr in 3.12; integers got a tag
    // in 3.12.
    for (const Layout* layout : layouts_of_3()) {
        INFO(layout->version.minor);
        CHECK(layout->dict_keys.dk_log2_size.present() == (layout->version.minor >= 11));
        CHECK(layout->dict_keys.dk_size.present() == (layout->version.minor < 11));
        CHECK(layout->ascii.wstr.present() == (layout->version.minor < 12));
        CHECK(layout->long_.lv_tag.present() == (layout->version.minor >= 12));
        CHECK(layout->debug_offsets.size.present() == (layout->version.minor >= 13));
        CHECK(*layout->object.ob_type == 8);
        CHECK(*layout->gc_head.size == (layout->version.minor >= 8 ? 16U : 32U));
    }
}

TEST_CASE("layout: 2.7 has dicts with a table of their own, and classes that are no types",
          "[cpython][layout]") {
    for (const Layout* layout : all_layouts()) {
        const bool old = layout->version.major == 2;
        CHECK(layout->dict.ma_table.present() == old);
        CHECK(layout->dict.ma_keys.present() != old);
        CHECK(layout->old_instance.in_class.present() == old);
        CHECK(layout->int_.ob_ival.present() == old);
        CHECK(layout->unicode.str.present() == old);
    }
}

TEST_CASE("layout: each field has its own place and the DWARF names of its struct", "[cpython][layout]") {
    std::set<std::size_t> places;
    for (const LayoutFieldName& field : layout_field_names()) {
        INFO(field.struct_name << "." << field.field_name);
        CHECK(places.insert(field.offset_of_member).second);
        CHECK(field.offset_of_member < sizeof(Layout));
        CHECK(*field.dwarf_struct[0] != '\0');
    }
}

TEST_CASE("layout: read from debug information, it is that of the file", "[cpython][layout]") {
    const std::vector<std::string> files = {HEAPSIFT_MINIATURE_FILE};
    const LayoutFromDebugInfo read = layout_from_debug_info(files, {3, 99});
    REQUIRE(read.files.size() == 1);
    CHECK(read.files[0].problem.empty());
    CHECK(read.usable());
    const Layout& layout = read.layout;
    CHECK(layout.version == LayoutVersion{3, 99});
    CHECK(layout.object.size == LayoutOffset(24));
    CHECK(layout.object.ob_type == LayoutOffset(8));
    CHECK(layout.object.ob_refcnt == LayoutOffset(16));
    CHECK(layout.type.tp_flags == LayoutOffset(64));
    CHECK(layout.dict.ma_keys == LayoutOffset(32));
    CHECK_FALSE(layout.dict.ma_values.present());
    CHECK(layout.interpreter_state.modules == LayoutOffset(16));
    CHECK(layout.runtime_state.interpreters_head == LayoutOffset(16));
    CHECK(layout.runtime_state.finalizing == LayoutOffset(0));
    CHECK(layout.ascii.state == LayoutOffset(28));
    CHECK(layout.ascii.state_kind == LayoutBits{28, 2, 3});
    CHECK(layout.ascii.state_ready == LayoutBits{29, 0, 8});
    CHECK_FALSE(layout.ascii.state_ascii.present());
    CHECK_FALSE(layout.list.size.present());
}

TEST_CASE("layout: a file without CPython's structs is of no use, and says no more than that",
          "[cpython][layout]") {
    const std::vector<std::string> files = {HEAPSIFT_SHAPES_FILE};
    const LayoutFromDebugInfo read = layout_from_debug_info(files, {3, 11});
    CHECK_FALSE(read.usable());
    CHECK(read.structs_found == 0);
    CHECK(read.files.at(0).problem.empty());
}

TEST_CASE("layout: what one file said is kept, and not read again before somebody writes to that file",
          "[cpython][layout]") {
    const std::string folder =
        (std::filesystem::temp_directory_path() / fmt::format("heapsift-layout-{}", ::getpid())).string();
    std::filesystem::create_directories(folder);
    const std::string file = folder + "/miniature";
    std::filesystem::copy_file(HEAPSIFT_MINIATURE_FILE, file,
                               std::filesystem::copy_options::overwrite_existing);
    KeptLayout kept;
    const LayoutFromDebugInfo first = layout_from_debug_info(file, {3, 99}, kept);
    CHECK(first.usable());
    CHECK(kept.file == file);
    // A mark tells what was kept from what was read.
    kept.read.structs_found += 1000;
    CHECK(layout_from_debug_info(file, {3, 99}, kept).structs_found == first.structs_found + 1000);

    SECTION("of another version nothing is known") {
        CHECK(layout_from_debug_info(file, {3, 98}, kept).structs_found == first.structs_found);
    }
    SECTION("of another file nothing is known") {
        CHECK(layout_from_debug_info(HEAPSIFT_MINIATURE_FILE, {3, 99}, kept).structs_found ==
              first.structs_found);
        CHECK(kept.file == HEAPSIFT_MINIATURE_FILE);
    }
    SECTION("a file that was written to is read again; of a damaged one nothing is kept") {
        std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
        const LayoutFromDebugInfo cut = layout_from_debug_info(file, {3, 99}, kept);
        CHECK(cut.structs_found == 0);
        CHECK_FALSE(cut.files.at(0).problem.empty());
        CHECK(kept.read.structs_found == first.structs_found + 1000);  // of the file as it was
        CHECK(layout_from_debug_info(file, {3, 99}, kept).structs_found == 0);
    }
    SECTION("a file that is gone says why") {
        std::filesystem::remove(file);
        CHECK_FALSE(layout_from_debug_info(file, {3, 99}, kept).files.at(0).problem.empty());
    }
    SECTION("it comes back from an index as it was, of whatever build") {
        const LayoutVersion version{
            .major = 3, .minor = 99, .free_threaded = GENERATE(false, true), .debug = GENERATE(false, true)};
        layout_from_debug_info(file, version, kept);
        kept.read.structs_found = first.structs_found + 1000;
        PartWriter part("layout");
        KeptLayout::fields(std::as_const(kept), part);
        PartReader reader(part.blobs(), /*check=*/true, nullptr);
        KeptLayout back;
        KeptLayout::fields(back, reader);
        reader.finish();
        CHECK(layout_from_debug_info(file, version, back).structs_found == first.structs_found + 1000);
        for (const LayoutFieldName& field : layout_field_names()) {
            INFO(field.struct_name << "." << field.field_name);
            if (field.bits)
                CHECK(layout_bits(back.read.layout, field) == layout_bits(first.layout, field));
            else
                CHECK(layout_offset(back.read.layout, field) == layout_offset(first.layout, field));
        }
    }
    std::filesystem::remove_all(folder);
}
