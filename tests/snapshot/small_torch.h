#pragma once

// torch's tensors and storages in a small core, with a library for their classes.

#include "parsers/reading/core_heap.h"
#include "tests/elf/image_writer.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <cstdint>

namespace heapsift::test {

/// Tensors of one dimension of float32, each with a storage of its own unless one is given.
struct SmallTorch {
    static constexpr std::uint64_t header = 24;  // of torch up to 2.2

    SmallTorch() {
        constexpr std::uint64_t page = ImageWriter::page;
        const std::string image = ImageWriter().bytes();
        const Address library = small.heap.map(Address(0x7a0000000000), image.size());
        for (std::size_t i = 0; i < image.size(); ++i) small.heap.put(library + i, image[i]);
        for (std::uint64_t i = 0; i < image.size() / page; ++i)
            small.files.push_back(
                {library.value + i * page, library.value + (i + 1) * page, i, "/lib/libc10.so"});
        table = library + 3 * page + 64;
        deleter = library + page;
        type = small.heap.c_type("torch._C._TensorBase", {.basicsize = 40});
    }

    Address counted(std::uint64_t bytes, std::uint64_t count, Address of_class) {
        const Address at = small.heap.allocate(bytes);
        small.heap.put(at, of_class);
        small.heap.put(at + 8, count);
        small.heap.put(at + 16, std::uint64_t{1});
        return at;
    }
    struct Storage {
        Address impl, data;
    };
    Storage storage(std::uint64_t bytes, std::uint64_t count = 1) {
        const Address impl = counted(64, count, table + 64), data = small.heap.allocate(bytes);
        small.heap.put(impl + header, data);
        small.heap.put(impl + header + 8, deleter);
        small.heap.put(impl + header + 16, data);
        small.heap.put(impl + header + 32, bytes);
        return {impl, data};
    }
    /// `first`: the element of the storage with which it begins.
    Address impl(const Storage& of, std::uint64_t elements, std::uint64_t count, std::uint64_t first = 0) {
        const Address at = counted(192, count, table);
        small.heap.put(at + header, of.impl);
        small.heap.put(at + header + 48, std::uint64_t{1});
        small.heap.put(at + header + 56, elements);
        small.heap.put(at + header + 96, std::uint64_t{1});
        small.heap.put(at + header + 136, first);
        small.heap.put(at + header + 144, elements);
        small.heap.put(at + header + 152, std::uint16_t{6});
        small.heap.put(at + header + 154, std::uint8_t{1});
        small.heap.put(at + header + 156, std::int8_t{-1});
        return at;
    }
    Address tensor(Address impl) {
        const Address object = small.heap.object(type);
        small.heap.put(object + 24, impl);
        small.heap.put(impl + header + 40, object);
        return object;
    }

    CoreHeap open(Columns columns) {
        TemporaryDirectory directory;
        Diagnostics diagnostics;
        return CoreHeap::open(CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics),
                              columns, diagnostics);
    }

    SmallCore small;
    Address table, deleter, type;
};

}  // namespace heapsift::test
