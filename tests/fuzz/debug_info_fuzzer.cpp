// Files that accompany a core: their headers, symbols and debug information, read through libelf and LLVM.
// They come from the crashed machine, by a path that the core names, and need not be what they claim to be.

#include "parsers/dwarf/entry_check.h"
#include "parsers/dwarf/struct_layouts.h"
#include "parsers/elf/symbols.h"
#include "tests/elf/image_writer.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"

#include <fstream>
#include <iterator>

using namespace heapsift;
using namespace heapsift::test;

namespace {

const std::vector<StructRequest>& requests() {
    static const std::vector<StructRequest> all = {
        {{"PyObject", "_object"}, {{"ob_refcnt"}, {"ob_type"}}},
        {{"_PyRuntimeState", "pyruntimestate"},
         {{"interpreters.head"}, {"gc.generations[].count", "generations[].count"}}},
        {{"shape", "outer", "bits"}, {{"a"}, {"inner.b"}, {"flags"}}}};
    return all;
}

}  // namespace

std::vector<std::string> heapsift::test::fuzz_seeds() {
    ImageWriter plain;
    ImageWriter old_hash;
    old_hash.gnu_hash = false;
    ImageWriter separate;
    separate.debug_info = separate.debug_only = true;
    std::vector<std::string> seeds = {plain.bytes(), old_hash.bytes(), separate.bytes()};
#ifdef HEAPSIFT_MINIATURE_FILE
    std::ifstream miniature(HEAPSIFT_MINIATURE_FILE, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(miniature), std::istreambuf_iterator<char>());
#endif
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile memory_file;
    memory_file.write(data, size);
    bool exists = false;
    if (const auto file = ElfFile::open(memory_file.path(), exists)) {
        const SymbolTable symbols = SymbolTable::of_file(*file, 0x7f0000000000);
        (void)symbols.find("_PyRuntime");
        (void)symbols.covering(Address(0x7f0000001008));
        (void)section_of_file(*file, ".PyRuntime", 0);
    }
    require(exists);
    const std::string path = memory_file.path();
    const StructLayouts layouts = read_struct_layouts(std::span(&path, 1), requests());
    require(layouts.structs.size() == requests().size() && layouts.files.size() == 1);
    (void)build_id_of_file(path);
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    (void)damage_in_entries(bytes.substr(0, size / 2), bytes.substr(size / 2), false);
    return 0;
}
