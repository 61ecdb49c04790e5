// A file of _io has two blocks, its buffer and its lock (Modules/_io/bufferedio.c, `buffered`), a lock of _thread has one
// (Modules/_threadmodule.c, `lockobject`, up to 3.13). The bytes of the lock are few (since 3.13 one, PyMutex) and its
// block is as large as the smallest there is: what else is in it was left there by who had it before, and may be a
// pointer still. Of one byte that was set to 0 in such a pointer, an address on a page's boundary remains in one of 16
// processes, which looks like a page that was aligned by hand.

#include "parsers/snapshot/lock_blocks.h"

#include <algorithm>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::string_view without_pointers[] = {"_io.BufferedRandom", "_io.BufferedReader",
                                                 "_io.BufferedWriter", "_thread.RLock", "_thread.lock"};

}  // namespace

LockBlocks::LockBlocks(const ObjectAccess& access) {
    const TypeTable& types = access.heap().types();
    types_.reserve(types.size());
    for (const TypeInfo& type : types)
        types_.push_back(!type.python_class && std::binary_search(std::begin(without_pointers),
                                                                  std::end(without_pointers), type.name));
}

}  // namespace heapsift
