#pragma once

// A place where memory gathers, and what is told of it.

#include "analysis/dominators.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// A place where memory gathers: below it no single object has most of it.
struct TopHolder {
    NodeId node{0};
    GroupId below = no_group;         // below which it hangs; `no_group` if several have it
    TypeId content = no_type;         // of what it holds, by memory
    bool has_content = false;         // it holds something in particular
    bool is_chain = false;            // of objects of its own type
    std::uint64_t many = 0;           // of a group that holds it in many small objects: how many
    bool by_c_code = false;           // they are what C code of that group has, all of one type
    std::string variable;             // of C code, that leads to most of these: "libfoo.so kept"; not escaped
    Address example;                  // one of these; null of any other holder
    std::optional<ObjectRow> object;  // nothing for a group, a frame, or joint holders
    std::optional<JointHolders> joint;  // several, that hold it together
    PathExpression expression;          // of `object`; its root empty where it has none
    std::vector<ObjectId> path;         // of `object`, or the first joint holder: from the root on
    std::string group;                  // below which it hangs: "thread MainThread", "app"; not escaped
    GroupKind group_kind = GroupKind::python;
    bool says_held = false;  // how it is called says that it is "held by" that
    std::string frame;       // "func(), worker.py, now at line 41", where a call holds it; not escaped
    std::string call;        // the same without the line: of every call of that function
    Address code;            // of that function; null where no call holds it
    bool in_work = false;    // that call has it by no name: it hangs on an argument, or a result not yet used
    std::string local;       // the local by which the call holds it, where `object` is that; not escaped
    std::string remark;      // "suspended in …"; not escaped
    std::string root;  // of a path whose expression does not say it: "thread-local data of …"; not escaped
    std::string thread_local_name;  // of thread-local data: "app.local"; not escaped
    std::uint64_t retained = 0;     // bytes
    std::uint64_t untouched = 0;    // of these, never used; filled in by whoever ranks by what is in use
    std::uint64_t in_use() const { return retained - untouched; }
    // Of an object that dominates `object`: its type, and where else it is held; none if that is too much to say
    TypeId owner_type_id = no_type;
    std::string owner_type;
    PathExpression owner;
    Address owner_address;
    std::vector<PathExpression> owner_also_held_by;
    std::string content_type;  // of what it holds, by memory; empty where it holds nothing in particular
    std::uint64_t content_count = 0;
    // Threads of which each has such a local in a call of one function: `retained` is of all of them, the rest of the one
    // that has most
    std::uint64_t alike = 1;
};

}  // namespace heapsift
