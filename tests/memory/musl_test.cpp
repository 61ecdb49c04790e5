// musl by the name of its loader, or by mallocng's state in a program that has no C library beside it.

#include "parsers/memory/musl.h"

#include "tests/catch.h"

#include <cstring>
#include <vector>

using namespace heapsift;

namespace {

constexpr Address program(0x400000), metadata(0x7ffff0000000);
constexpr std::uint64_t page = 4096, secret = 0x8d7a3f11c0ffee05;

struct Process {
    Process() : data(page), pages(2 * page) {
        put(data, 0x208, secret);
        put(data, 0x210, std::uint64_t{3} << 32 | 1);
        put(data, 0x240, metadata.value);
        put(data, 0x248, (metadata + page).value);
        put(pages, 0, secret);
        put(pages, page, secret);
        Module module;
        module.path = "/usr/bin/python3";
        module.start = program;
        module.end = module.image_end = program + page;
        module.is_executable = true;
        modules.push_back(module);
    }
    static void put(std::vector<std::byte>& bytes, std::uint64_t at, std::uint64_t value) {
        std::memcpy(bytes.data() + at, &value, 8);
    }
    void load(const char* path) {
        Module module;
        module.path = path;
        modules.push_back(module);
    }
    bool is_musl() const {
        const auto segment = [](Address start, const std::vector<std::byte>& bytes) {
            Segment s;
            s.start = start;
            s.size = bytes.size();
            s.data = bytes.data();
            s.state = ByteState::in_core;
            s.writable = true;
            return s;
        };
        return has_musl(AddressSpace({segment(program, data), segment(metadata, pages)}), modules);
    }
    std::vector<std::byte> data, pages;
    std::vector<Module> modules;
};

}  // namespace

TEST_CASE("musl: linked into a program, it is told by its own state", "[musl]") {
    Process process;
    CHECK(process.is_musl());
    Process::put(process.pages, page, 1);  // one page does not repeat the number
    CHECK_FALSE(process.is_musl());
}

TEST_CASE("musl: beside glibc the state is not looked for", "[musl]") {
    Process process;
    process.load("/usr/lib/x86_64-linux-gnu/libc.so.6");
    CHECK_FALSE(process.is_musl());
}

TEST_CASE("musl: its loader has a name of its own", "[musl]") {
    Process process;
    process.data.assign(page, std::byte{0});
    CHECK_FALSE(process.is_musl());
    process.load("/lib/ld-musl-x86_64.so.1");
    CHECK(process.is_musl());
}
