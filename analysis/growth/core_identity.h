#pragma once

// Of which process and which program a core is: what decides whether two of them can be compared, and whether an
// object of the one can be an object of the other. Known before anything is computed.

#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// Which process a core is of, as far as it tells.
struct CoreIdentity {
    std::string file, python, command, arguments;
    std::string script;  // __main__.__file__, as a literal; empty: not known
    std::int32_t pid = 0;
    bool cut = false;  // bytes of the core are missing
    struct PlacedModule {
        std::string path;
        Address start;
    };
    std::vector<PlacedModule> modules;  // where they lie: the same in one process, hardly in two
};

/// All of it but the script.
CoreIdentity core_identity(const HeapReader& heap);

/// Whether both are of one program: its script, also of another release (/srv/app/v12/app.py), else its command line as far
/// as both say it.
bool may_be_same_program(const CoreIdentity& a, const CoreIdentity& b);
/// Whether both are of one process, as far as cores tell.
bool may_be_same_process(const CoreIdentity& before, const CoreIdentity& after);

}  // namespace heapsift
