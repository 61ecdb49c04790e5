#pragma once

// Machine code as C compilers make a tp_traverse, and a core with objects to run it on.

#include "parsers/emulation/traverse.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heapsift::test {

/// int traverse(self, visit, arg), put together piece by piece: rbx is self, r12 is visit.
class Code {
public:
    using Bytes = std::initializer_list<int>;

    Code& raw(Bytes bytes) {
        for (const int byte : bytes) body_ += static_cast<char>(byte);
        return *this;
    }
    /// Py_VISIT(self->field)
    Code& slot(int offset) {
        return raw({0x48, 0x8b, 0x7b, offset, 0x48, 0x85, 0xff, 0x74, 0x03, 0x41, 0xff, 0xd4});
    }
    /// if (self->field & 1) Py_VISIT(self->field & ~1), as mypyc has it
    Code& tagged(int offset) {
        return raw({0x48, 0x8b, 0x7b, offset, 0x40, 0xf6, 0xc7, 0x01, 0x74, 0x0c, 0x48,
                    0x83, 0xe7, 0xfe, 0x48,   0x85, 0xff, 0x74, 0x03, 0x41, 0xff, 0xd4});
    }
    /// if (self->field) Py_VISIT(self->other)
    Code& slot_if(int field, int other) {
        return raw({0x48, 0x83, 0x7b, field, 0x00, 0x74, 0x0c}).slot(other);
    }
    /// for (i = self->count; i-- > 0;) visit(self->items[i])
    Code& items(int count, int items) {
        return raw({0x48, 0x8b, 0x6b,  count, 0x48, 0x85, 0xed, 0x74, 0x10, 0x48, 0xff, 0xcd, 0x48,
                    0x8b, 0x43, items, 0x48,  0x8b, 0x3c, 0xe8, 0x41, 0xff, 0xd4, 0xeb, 0xeb});
    }
    std::string bytes() const {
        const auto text = [](Bytes all) {
            std::string result;
            for (const int byte : all) result += static_cast<char>(byte);
            return result;
        };
        return text({0x53, 0x55, 0x41, 0x54, 0x48, 0x89, 0xfb, 0x49, 0x89, 0xf4}) + body_ +
               text({0x31, 0xc0, 0x41, 0x5c, 0x5d, 0x5b, 0xc3});
    }

private:
    std::string body_;
};

/// A process with functions, and objects of eight words, the first two of which are a count and a type.
class SmallProcess {
public:
    static constexpr std::uint64_t code = 0x400000, heap = 0x7f0000000000, type = heap + 0x800,
                                   object_bytes = 64;

    Address function(const std::string& bytes) {
        const Address at(code + functions_.size());
        functions_ += bytes;
        functions_.resize((functions_.size() + 15) / 16 * 16);
        return at;
    }
    Address function(const Code& made) { return function(made.bytes()); }
    /// An object with these words behind its type.
    Address object(std::vector<std::uint64_t> words) {
        const std::uint64_t at = 0x1000 + objects_.size() * 8;
        objects_.insert(objects_.end(), {1, type});
        words.resize(object_bytes / 8 - 2);
        objects_.insert(objects_.end(), words.begin(), words.end());
        return Address(heap + at);
    }

    void start() {
        functions_.resize(0x4000);
        std::string bytes(0x1000, '\0');
        for (const std::uint64_t word : objects_) bytes += bytes_of(word);
        bytes.resize((bytes.size() + 0xfff) / 0x1000 * 0x1000);
        CoreWriter writer;
        writer.thread(7, 0).load(code, functions_, 0, PF_R | PF_X).load(heap, bytes);
        Diagnostics diagnostics;
        core_ = std::make_unique<CoreFile>(
            CoreFile::open(directory_.write("core", writer.bytes()), {}, diagnostics));
        traverse = Traverse::start(*core_);
    }
    /// What each call visits; of one that did not come to its end, the word -1.
    std::vector<std::vector<std::uint64_t>> run(const std::vector<Traverse::Call>& calls) {
        std::vector<std::vector<std::uint64_t>> all;
        traverse->run(calls, [&](std::size_t call, bool exact, std::span<const Address> visited) {
            all.resize(call + 1);
            for (const Address target : visited) all[call].push_back(target.value);
            if (!exact) all[call] = {~std::uint64_t{0}};
        });
        return all;
    }

    const CoreFile& core() const { return *core_; }

    std::unique_ptr<Traverse> traverse;

private:
    TemporaryDirectory directory_;
    std::unique_ptr<CoreFile> core_;
    std::string functions_;
    std::vector<std::uint64_t> objects_;
};

}  // namespace heapsift::test
