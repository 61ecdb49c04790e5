// Which native call of the interpreter's loop runs which of Python's calls.

#include "analysis/native_calls.h"

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/elf/unwind_image.h"

#include <array>
#include <cstring>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t stack_start = 0x7ffd00000000, frame_bytes = 0x100;

/// Native calls of the loop, each with a native frame of 256 bytes, innermost first.
NativeCalls loops(std::size_t count) {
    NativeCalls native;
    for (std::size_t i = 0; i < count; ++i) {
        NativeCall& call = native.calls.emplace_back();
        call.function = "_PyEval_EvalFrameDefault";
        call.evaluates = true;
        native.evaluations.push_back(
            {i, Address(stack_start + i * frame_bytes), Address(stack_start + (i + 1) * frame_bytes)});
    }
    return native;
}

PythonFrame python(std::uint32_t evaluation, std::uint64_t address) {
    PythonFrame frame;
    frame.evaluation = evaluation;
    frame.frame = Address(address);
    return frame;
}

using Matches = std::vector<std::int64_t>;
using Image = UnwindImage;

/// The image of functions that call each other, with these names for `plain`, `keeps_rbp` and `outermost`.
std::string named_image(const std::array<const char*, 3>& names) {
    constexpr std::uint64_t dynamic_at = 0x180, strings_at = 0x300, symbols_at = 0x400, hash_at = 0x600;
    std::string image = Image::bytes();
    Elf64_Ehdr header{};
    std::memcpy(&header, image.data(), sizeof header);
    const std::uint16_t count = header.e_phnum++;
    put_at(image, 0, header);
    put_at(image, sizeof header + count * sizeof(Elf64_Phdr),
           CoreWriter::program_header(PT_DYNAMIC, PF_R, dynamic_at, dynamic_at, 0x100, 0x100));
    std::string strings(1, '\0');
    const std::uint64_t functions[] = {Image::plain, Image::keeps_rbp, Image::outermost};
    for (std::size_t i = 0; i < names.size(); ++i) {
        put_at(image, symbols_at + (i + 1) * sizeof(Elf64_Sym),
               Elf64_Sym{static_cast<std::uint32_t>(strings.size()), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0,
                         1, functions[i] - Image::base, 0x100});
        strings += names[i];
        strings += '\0';
    }
    image.replace(strings_at, strings.size(), strings);
    const std::array<std::uint32_t, 7> hash = {1, 4, 1, 0, 2, 3, 0};
    put_at(image, hash_at, hash);
    const Elf64_Dyn entries[] = {{DT_SYMTAB, {symbols_at}},
                                 {DT_STRTAB, {strings_at}},
                                 {DT_STRSZ, {strings.size()}},
                                 {DT_HASH, {hash_at}},
                                 {DT_NULL, {0}}};
    put_at(image, dynamic_at, entries);
    return image;
}

constexpr std::uint64_t in(std::uint64_t function) { return function + 0x10; }

/// Of a thread in `plain`, called by `keeps_rbp`, `plain` and `outermost`.
NativeCalls calls_in(const std::string& image, const PythonThread* thread, std::int32_t interpreter) {
    const std::uint64_t s = Image::stack;
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreWriter writer = Image::core(
        in(Image::plain), s, s + 0x30,
        {0, 0, 0, in(Image::keeps_rbp), 0, 0, 0x1111, in(Image::plain), 0, 0, 0, in(Image::outermost), 0, 0},
        image);
    const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
    return NativeCallReader(core, interpreter).calls_of(core.threads().at(0), thread);
}

std::vector<std::string> functions_of(const NativeCalls& native) {
    std::vector<std::string> names;
    for (const NativeCall& call : native.calls) names.push_back(call.function);
    return names;
}

std::vector<bool> machinery_of(const NativeCalls& native) {
    std::vector<bool> marked;
    for (const NativeCall& call : native.calls) marked.push_back(call.machinery);
    return marked;
}

}  // namespace

TEST_CASE("native calls: as many calls of the loop as evaluations match one by one", "[analysis][threads]") {
    PythonThread thread;
    thread.evaluations = 3;
    CHECK(match_evaluations({}, loops(3), thread, {}) == Matches{0, 1, 2});
    // The native list is cut: the outermost are missing.
    CHECK(match_evaluations({}, loops(2), thread, {}) == Matches{0, 1});
    CHECK(match_evaluations({}, loops(0), thread, {}).empty());
}

TEST_CASE("native calls: where there are more calls of the loop, the stack tells which they run",
          "[analysis][threads]") {
    std::vector<std::uint64_t> words(4 * frame_bytes / 8);
    const std::vector<PythonFrame> frames = {python(0, 0x1000), python(0, 0x2000), python(1, 0x3000)};
    PythonThread thread;
    thread.evaluations = 2;
    const auto memory = [&] {
        Segment segment;
        segment.start = Address(stack_start);
        segment.size = words.size() * 8;
        segment.data = reinterpret_cast<const std::byte*>(words.data());
        segment.state = ByteState::in_core;
        return AddressSpace({segment});
    };
    // Nothing is seen: the innermost match.
    CHECK(match_evaluations(memory(), loops(3), thread, frames) == Matches{0, 1, -1});
    // The innermost call of the loop has only begun.
    words[frame_bytes / 8 + 3] = 0x1000;
    words[2 * frame_bytes / 8 + 5] = 0x3000;
    CHECK(match_evaluations(memory(), loops(3), thread, frames) == Matches{-1, 0, 1});
    // The outermost is that of a greenlet's parent.
    words.assign(words.size(), 0);
    words[7] = 0x1000;
    words[frame_bytes / 8 + 5] = 0x3000;
    CHECK(match_evaluations(memory(), loops(3), thread, frames) == Matches{0, 1, -1});
}

TEST_CASE("native calls: entry frames lie in the native frame of their loop", "[analysis][threads]") {
    PythonThread thread;
    thread.evaluations = 2;
    thread.entry_frames = {Address(stack_start + frame_bytes + 0x40),
                           Address(stack_start + 3 * frame_bytes + 8)};
    CHECK(match_evaluations({}, loops(5), thread, {}) == Matches{-1, 0, -1, 1, -1});
    // One whose native call was not found is passed over.
    thread.entry_frames.insert(thread.entry_frames.begin() + 1, Address(0x1234));
    thread.evaluations = 3;
    CHECK(match_evaluations({}, loops(5), thread, {}) == Matches{-1, 0, -1, 2, -1});
}

TEST_CASE("native calls: by name, with what runs Python's calls, and what only starts them",
          "[analysis][threads]") {
    const std::string image = named_image({"step_of_solver", "_PyEval_EvalFrameDefault", "_PyRun_Main"});
    const PythonThread thread;
    const NativeCalls native = calls_in(image, &thread, 0);
    CHECK(functions_of(native) == std::vector<std::string>{"step_of_solver", "_PyEval_EvalFrameDefault",
                                                           "step_of_solver", "_PyRun_Main"});
    CHECK(native.end == NativeStack::End::outermost);
    REQUIRE(native.evaluations.size() == 1);
    CHECK(native.evaluations[0].call == 1);
    CHECK(native.evaluations[0].stack == Address(Image::stack + 0x20));
    CHECK(native.evaluations[0].frame_end == Address(Image::stack + 0x40));
    CHECK(native.calls[1].evaluates);
    CHECK(native.calls[0].offset == 0x10);
    CHECK(native.calls[0].module_offset == Image::plain - Image::base + 0x10);
    CHECK(native.calls[0].module == "/nowhere/libunwind-test.so");
    CHECK(native.calls[0].line == 0);
    // What is the interpreter's behind its last loop only starts the thread.
    CHECK(machinery_of(native) == std::vector{false, true, true, true});
}

TEST_CASE("native calls: a part of the loop that the compiler moved runs Python's calls, too",
          "[analysis][threads]") {
    const PythonThread thread;
    const NativeCalls native =
        calls_in(named_image({"step", "_PyEval_EvalFrameDefault.cold", "run"}), &thread, 0);
    CHECK(native.evaluations.size() == 1);
    CHECK(
        calls_in(named_image({"step", "_PyEval_EvalFrameDefaultly", "run"}), &thread, 0).evaluations.empty());
}

TEST_CASE("native calls: a thread that never ran Python, and a library that is no interpreter",
          "[analysis][threads]") {
    const std::string image = named_image({"step", "_PyEval_EvalFrameDefault", "run"});
    const NativeCalls without = calls_in(image, nullptr, 0);
    CHECK(without.evaluations.empty());
    CHECK(machinery_of(without) == std::vector{false, true, false, false});
    const PythonThread thread;
    const NativeCalls elsewhere = calls_in(image, &thread, -1);
    CHECK(elsewhere.evaluations.empty());
    CHECK(machinery_of(elsewhere) == std::vector{false, false, false, false});
}

TEST_CASE("native calls: without symbols the loop is told by the entry frame in its native frame",
          "[analysis][threads]") {
    PythonThread thread;
    thread.evaluations = 1;
    thread.entry_frames = {Address(Image::stack + 0x28)};
    const NativeCalls native = calls_in(Image::bytes(), &thread, 0);
    REQUIRE(native.calls.size() == 4);
    REQUIRE(native.evaluations.size() == 1);
    CHECK(native.evaluations[0].call == 1);
    CHECK(native.calls[0].function.empty());
    CHECK_FALSE(native.calls[0].offset);
    CHECK(match_evaluations({}, native, thread, {}) == Matches{0});
}

TEST_CASE("native calls: a C++ function has its name for people", "[analysis][threads]") {
    const NativeCalls native =
        calls_in(named_image({"_ZN6shapes6Circle4areaEv", "_PyEval_EvalFrameDefault", "run"}), nullptr, 0);
    CHECK(native.calls[0].function.starts_with("shapes::Circle::area"));
}
