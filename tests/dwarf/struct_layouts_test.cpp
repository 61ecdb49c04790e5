// Struct layouts from debug information, compared with the compiler's own offsetof, and on damaged files.
//
// The shapes are C (c_shapes.inc), in a shared object small enough to be damaged at thousands of places.

#include "parsers/dwarf/struct_layouts.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/dwarf/c_shapes.h"

namespace {

using namespace heapsift;

const std::string shapes_file = HEAPSIFT_SHAPES_FILE;

StructLayouts read_one(const std::string& file, const StructRequest& request) {
    const std::vector<std::string> files = {file};
    const std::vector<StructRequest> requests = {request};
    return read_struct_layouts(files, requests);
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A file that is removed after the test.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& bytes)
        : path_((std::filesystem::temp_directory_path() / ("heapsift-dwarf-" + std::to_string(getpid())))
                    .string()) {
        std::ofstream(path_, std::ios::binary) << bytes;
    }
    ~TemporaryFile() { std::remove(path_.c_str()); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// Whatever the bytes are, there is one answer for each request and file, with a place or none for each
/// requested member. If nothing is found, the file has a problem or lacks the struct. True if all of `wanted`
/// was found.
bool is_an_answer(const StructLayouts& read, const StructRequest& request) {
    REQUIRE(read.files.size() == 1);
    REQUIRE(read.structs.size() == 1);
    const auto& found = read.structs[0];
    if (!found) return false;
    REQUIRE(std::find(request.names.begin(), request.names.end(), found->name) != request.names.end());
    REQUIRE(found->members.size() == request.members.size());
    return std::all_of(found->members.begin(), found->members.end(),
                       [](const auto& m) { return m.has_value(); });
}

/// The request for damaged files: enough to walk into every kind of entry.
const StructRequest everything = {{"dwarf5_runtime"},
                                  {{"generations[].head.prev"}, {"inside_deep"}, {"interpreters.main"}}};

std::string problem_with(const std::string& bytes) {
    const TemporaryFile file(bytes);
    return read_one(file.path(), everything).files.at(0).problem;
}

}  // namespace

TEST_CASE("struct layouts: sizes and offsets are the compiler's", "[dwarf]") {
    for (const shape_fact* facts : {dwarf5_facts, dwarf3_facts}) {
        for (const shape_fact* fact = facts; fact->structure != nullptr; ++fact) {
            INFO(fact->structure << " " << (fact->path != nullptr ? fact->path : "(size)"));
            StructRequest request = {{fact->structure}, {}};
            if (fact->path != nullptr) request.members.push_back({fact->path});
            const StructLayouts found = read_one(shapes_file, request);
            REQUIRE(found.files[0].problem.empty());
            REQUIRE(found.structs[0]);
            if (fact->path == nullptr) {
                CHECK(found.structs[0]->byte_size == fact->offset);
            } else {
                REQUIRE(found.structs[0]->members[0]);
                CHECK(found.structs[0]->members[0]->byte == fact->offset);
                CHECK(found.structs[0]->members[0]->bit_width == 0);
            }
        }
    }
}

TEST_CASE("struct layouts: a bit field is where its bits are, in both ways of writing them down", "[dwarf]") {
    for (const shape_bits* all : {dwarf5_bits, dwarf3_bits}) {
        for (const shape_bits* field = all; field->structure != nullptr; ++field) {
            INFO(field->structure << " " << field->path);
            const StructLayouts found = read_one(shapes_file, {{field->structure}, {{field->path}}});
            REQUIRE(found.structs[0]);
            REQUIRE(found.structs[0]->members[0]);
            const MemberPlace place = *found.structs[0]->members[0];
            std::vector<unsigned char> memory(field->size);
            field->fill(memory.data());
            for (std::size_t bit = 0; bit < memory.size() * 8; ++bit) {
                const std::size_t first = place.byte * 8 + place.bit;
                const bool expected = bit >= first && bit < first + place.bit_width;
                const bool is_set = (memory[bit / 8] >> (bit % 8) & 1) != 0;
                if (is_set != expected) FAIL("bit " << bit << " is " << is_set);
            }
            CHECK(place.bit < 8);
        }
    }
}

TEST_CASE("struct layouts: the first name with a full definition and the first path that exists serve",
          "[dwarf]") {
    const StructRequest request = {
        {"no_such_struct", "dwarf5_opaque", "dwarf5_runtime", "dwarf5_bits"},
        {{"no_such_member", "other"}, {"initialized", "other"}, {"head"}, {"interpreters.none"}, {"grid[]"}}};
    const StructLayouts found = read_one(shapes_file, request);
    REQUIRE(found.structs[0]);
    CHECK(found.structs[0]->name == "dwarf5_runtime");
    const auto& members = found.structs[0]->members;
    REQUIRE(members.size() == 5);
    REQUIRE(members[0]);
    REQUIRE(members[1]);
    CHECK(members[0]->byte > members[1]->byte);
    CHECK_FALSE(members[2]);  // a member of a named member is not transparent
    CHECK_FALSE(members[3]);
    CHECK(members[4]);
}

TEST_CASE("struct layouts: a declaration is not a definition", "[dwarf]") {
    CHECK_FALSE(read_one(shapes_file, {{"dwarf5_opaque"}, {}}).structs[0]);
    CHECK(read_one(shapes_file, {{"dwarf3_full_here"}, {}}).structs[0]);  // which the DWARF 5 half declares
}

TEST_CASE("struct layouts: a struct comes from the first file that defines it", "[dwarf]") {
    const TemporaryFile copy(bytes_of(shapes_file));
    const std::vector<std::string> files = {"/nonexistent/libpython.so", HEAPSIFT_MINIATURE_FILE, shapes_file,
                                            copy.path()};
    const std::vector<StructRequest> requests = {
        {{"PyDictObject"}, {{"ma_keys"}}}, {{"dwarf5_choice"}, {}}, {{"no_such_struct"}, {}}};
    const StructLayouts found = read_struct_layouts(files, requests);
    REQUIRE(found.files.size() == 4);
    CHECK_THAT(found.files[0].problem, ContainsSubstring("No such file"));
    CHECK(found.files[1].problem.empty());
    CHECK(found.files[3].build_id == found.files[2].build_id);
    CHECK(found.structs[0]);
    CHECK(found.structs[1]);
    CHECK_FALSE(found.structs[2]);
}

TEST_CASE("struct layouts: the build-id is that of the file", "[dwarf]") {
    CHECK(build_id_of_file(shapes_file).size() == 40);
    CHECK(build_id_of_file(shapes_file) != build_id_of_file(HEAPSIFT_MINIATURE_FILE));
    CHECK(build_id_of_file("/nonexistent").empty());
}

TEST_CASE("struct layouts: what is no ELF file is said to be none", "[dwarf]") {
    CHECK(problem_with("") == "not an ELF file");
    CHECK(problem_with("#!/bin/sh\n") == "not an ELF file");
    CHECK_FALSE(problem_with("\177ELF").empty());
    std::string big_endian = bytes_of(shapes_file);
    big_endian[EI_DATA] = ELFDATA2MSB;
    CHECK_FALSE(problem_with(big_endian).empty());
}

TEST_CASE("struct layouts: a truncated file gives an explanation", "[dwarf]") {
    const std::string whole = bytes_of(shapes_file);
    REQUIRE(problem_with(whole).empty());
    // The section headers come last, so any cut removes some of them.
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 200) {
        INFO(length << " of " << whole.size() << " bytes");
        CHECK_FALSE(problem_with(whole.substr(0, length)).empty());
    }
}

TEST_CASE("struct layouts: damaged bytes do no harm", "[dwarf]") {
    const std::string whole = bytes_of(shapes_file);
    std::mt19937 random(20240);
    int whole_answers = 0;
    for (int round = 0; round < 1500; ++round) {
        std::string damaged = whole;
        const unsigned count = 1 + random() % 8;
        for (unsigned i = 0; i < count; ++i)
            damaged[random() % damaged.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
        const TemporaryFile file(damaged);
        whole_answers += is_an_answer(read_one(file.path(), everything), everything);
    }
    CHECK(whole_answers > 0);     // some damage is elsewhere
    CHECK(whole_answers < 1500);  // and some is not
}

TEST_CASE("struct layouts: a section that claims to unpack to a huge size is refused", "[dwarf]") {
    std::string bytes = bytes_of(shapes_file);
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    const Elf64_Shdr names = sections[header.e_shstrndx];
    bool marked = false;
    for (Elf64_Shdr& section : sections) {
        if (std::strcmp(bytes.data() + names.sh_offset + section.sh_name, ".debug_info") != 0) continue;
        section.sh_flags |= SHF_COMPRESSED;
        const Elf64_Chdr claim = {ELFCOMPRESS_ZLIB, 0, std::uint64_t{1} << 60, 1};
        std::memcpy(bytes.data() + section.sh_offset, &claim, sizeof claim);
        marked = true;
    }
    REQUIRE(marked);
    std::memcpy(bytes.data() + header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr));
    CHECK_THAT(problem_with(bytes), ContainsSubstring("claims to be"));
}

#ifdef HEAPSIFT_SHARED_ENTRIES_FILE
TEST_CASE("dwarf: entries and names that dwz moved to a shared file are read as if they were here",
          "[dwarf]") {
    const std::string file = HEAPSIFT_SHARED_ENTRIES_FILE;
    const StructLayouts whole = read_one(shapes_file, everything);
    const StructLayouts shared = read_one(file, everything);
    CHECK(shared.files.at(0).problem == "");
    CHECK(shared.files.at(0).build_id == whole.files.at(0).build_id);
    REQUIRE(whole.structs.at(0));
    REQUIRE(shared.structs.at(0));
    CHECK(shared.structs.at(0)->byte_size == whole.structs.at(0)->byte_size);
    REQUIRE(shared.structs.at(0)->members.size() == whole.structs.at(0)->members.size());
    for (std::size_t i = 0; i < whole.structs.at(0)->members.size(); ++i) {
        const auto &expected = whole.structs.at(0)->members[i], &got = shared.structs.at(0)->members[i];
        CHECK(got.has_value() == expected.has_value());
        if (got && expected)
            CHECK(std::pair(got->byte, got->byte_size) == std::pair(expected->byte, expected->byte_size));
    }
}

TEST_CASE("dwarf: without the file that has the shared entries nothing is read, and that is said",
          "[dwarf]") {
    const TemporaryFile alone(bytes_of(HEAPSIFT_SHARED_ENTRIES_FILE));  // its neighbour stays behind
    const StructLayouts read = read_one(alone.path(), everything);
    CHECK_FALSE(read.structs.at(0));
    CHECK(read.files.at(0).problem.find("shares debug information") != std::string::npos);
}

TEST_CASE("dwarf: damaged files with shared entries are an answer or a problem", "[dwarf][damaged]") {
    const std::string path = std::string(HEAPSIFT_SHARED_ENTRIES_FILE) + ".damaged";
    const std::string bytes = bytes_of(HEAPSIFT_SHARED_ENTRIES_FILE);
    std::mt19937_64 random(7);
    int whole_answers = 0;
    for (int round = 0; round < 400; ++round) {
        std::string damaged = bytes;
        for (int n = 0; n < 4; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
        std::ofstream(path, std::ios::binary) << damaged;
        whole_answers += is_an_answer(read_one(path, everything), everything);
    }
    std::remove(path.c_str());
    CHECK(whole_answers > 0);
}
#endif
