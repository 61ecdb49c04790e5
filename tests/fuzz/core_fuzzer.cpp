// The core reader on arbitrary bytes: headers, notes, modules, symbols from images in the core, and reads all
// over the memory that they make up. A core is written by a dying process, cut by a full disk and sent by
// strangers; any number in it may be false.
//
// Besides "no crash": segments are sorted and do not overlap, what is said to be saved can be read, and no
// more bytes are counted than the file has room for.

#include "parsers/base/error.h"
#include "parsers/elf/core_file.h"
#include "parsers/elf/unwinder.h"
#include "tests/elf/image_writer.h"
#include "tests/elf/unwind_image.h"
#include "tests/fuzz/fuzzer.h"
#include "tests/fuzz/memory_file.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

void ask_memory(const CoreFile& core) {
    const AddressSpace& memory = core.memory();
    const auto segments = memory.segments();
    std::uint64_t mapped = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Segment& s = segments[i];
        require(s.size > 0 && s.end() > s.start);
        require(i == 0 || segments[i - 1].end() <= s.start);
        require((s.data != nullptr) == (s.state == ByteState::in_core || s.state == ByteState::from_file));
        require(s.module < static_cast<std::int32_t>(core.modules().size()));
        mapped += s.size;
        if (i >= 256) continue;
        require(memory.find(s.start) == &s && memory.find(s.end() - 1) == &s);
        require(memory.read<std::uint8_t>(s.start).has_value() == (s.data != nullptr));
        require(memory.read<std::uint8_t>(s.end() - 1).has_value() == (s.data != nullptr));
        (void)memory.read<std::uint64_t>(s.end() - 4);  // straddles
        (void)memory.read_c_string(s.start);
        (void)memory.view(s.start, static_cast<std::size_t>(std::min<std::uint64_t>(s.size, 4096)));
    }
    require(core.extent().mapped_bytes == mapped);
    require(core.extent().in_core_bytes <= mapped);
}

void ask_modules(const CoreFile& core) {
    std::size_t asked = 0;
    for (const Module& module : core.modules()) {
        if (++asked > 16) break;
        (void)core.symbol(module, "_PyRuntime");
        (void)core.symbol(module, "the_data");
        (void)core.section(module, ".PyRuntime");
        (void)core.symbol_at(module, module.start + 0x2200);
        (void)core.module_at(module.start);
    }
}

/// Native stacks: every frame is somewhere, and each caller's lies above its callee's, but for those of
/// signals.
void ask_stacks(const CoreFile& core) {
    Unwinder unwinder(core);
    std::size_t asked = 0;
    for (const CoreThread& thread : core.threads()) {
        if (++asked > 4) break;
        const NativeStack stack = unwinder.stack_of(thread);
        require(!stack.frames.empty() || stack.end == NativeStack::End::too_many);
        require(stack.frames.size() <= Unwinder::most_frames);
        for (std::size_t i = 0; i + 1 < stack.frames.size(); ++i)
            require(stack.frames[i].signal_trampoline || stack.frames[i].frame_end > stack.frames[i].stack);
    }
}

std::string good_core(bool gcore) {
    const ImageWriter image;
    CoreWriter core;
    core.gcore = gcore;
    core.process(7, "python3", "python3 app.py").thread(7, 11, 0x401000).signal(11, 1, 0x10);
    core.auxiliary({{3, 0x400040}, {9, 0x401000}, {33, 0x700000}});
    core.files({{0x400000, 0x401000, 0, "/bin/a"},
                {0x402000, 0x404000, 2, "/bin/a"},
                {0x500000, 0x501000, 0, "/lib/b.so"}});
    const std::string bytes = image.bytes();
    core.load(0x400000, bytes.substr(0, 4096), 4096, PF_R);
    core.load(0x402000, bytes.substr(8192, 2048), 8192);
    core.load(0x700000, std::string(256, 'v'), 4096);
    return core.bytes();
}

}  // namespace

std::vector<std::string> heapsift::test::fuzz_seeds() {
    CoreWriter small;
    small.thread(1, 6).load(0x1000, std::string(64, 'x'));
    CoreWriter overlapping;
    overlapping.load(0x1000, std::string(128, 'a'))
        .load(0x1040, std::string(128, 'b'))
        .load(0x1000, std::string(8, 'c'), 4096);
    std::string many = small.bytes();  // PN_XNUM without its section header
    put_at(many, offsetof(Elf64_Ehdr, e_phnum), std::uint16_t{PN_XNUM});
    // Four calls, one of them interrupted by a signal.
    using Image = UnwindImage;
    std::vector<std::uint64_t> stack(20);
    stack[3] = Image::keeps_rbp + 16;
    stack[6] = Image::stack + 0x80;
    stack[7] = Image::plain + 16;
    stack[11] = Image::trampoline + 1;
    stack[14] = Image::stack;
    stack[15] = Image::outermost + 16;
    const std::string calls =
        Image::core(Image::plain + 16, Image::stack, Image::stack + 0x30, stack).bytes();
    // An empty gzip stream, and one cut in its header.
    const std::string gzip("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20);
    return {good_core(false),  good_core(true),        small.bytes(), overlapping.bytes(), many, gzip,
            gzip.substr(0, 6), "#!/usr/bin/python3\n", calls};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile file;
    static const bool cache_in_memory = ::setenv("XDG_CACHE_HOME", "/dev/shm", 1) == 0;
    (void)cache_in_memory;
    file.write(data, size);
    Diagnostics diagnostics;
    FileSearch search;
    search.sysroot = "/nonexistent";  // what lies on this machine must not matter
    try {
        const CoreFile core = CoreFile::open(file.path(), search, diagnostics);
        ask_memory(core);
        ask_modules(core);
        ask_stacks(core);
        for (const CoreThread& thread : core.threads())
            (void)core.memory().read<std::uint64_t>(Address(thread.stack_pointer()));
        (void)core.auxiliary(3);
    } catch (const Error& error) {
        require(error.exit() == ExitCode::cannot_analyse && !error.message().empty());
    }
    return 0;
}
