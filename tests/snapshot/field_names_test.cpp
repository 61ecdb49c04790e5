// Names of fields of types made by C: from tables of members, and from getters that are run.

#include "parsers/emulation/machine.h"
#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <functional>
#include <map>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

using Bytes = std::vector<int>;

/// Py_XINCREF(self->field); return self->field
Bytes getter(int offset) {
    return {0x48, 0x8b, 0x47, offset, 0x48, 0x85, 0xc0, 0x74, 0x05,
            0x48, 0x83, 0x00, 0x01,   0xc3, 0x31, 0xc0, 0xc3};
}
/// if (self->flag) return self->a; return self->b
Bytes one_of_two(int flag, int a, int b) {
    return {0x48, 0x83, 0x7f, flag, 0x00, 0x74, 0x05, 0x48, 0x8b, 0x47, a, 0xc3, 0x48, 0x8b, 0x47, b, 0xc3};
}
/// return self->word & 1 ? self->word & ~1 : NULL
Bytes tagged(int offset) {
    return {0x48, 0x8b, 0x47, offset, 0xa8, 0x01, 0x74, 0x05, 0x48, 0x83, 0xe0, 0xfe, 0xc3, 0x31, 0xc0, 0xc3};
}
/// return the same for all
Bytes constant(Address object) {
    Bytes bytes{0x48, 0xb8};
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<int>(object.value >> 8 * i & 0xff));
    bytes.push_back(0xc3);
    return bytes;
}
/// return self->field->field
Bytes of_another(int offset) { return {0x48, 0x8b, 0x47, offset, 0x48, 0x8b, 0x40, offset, 0xc3}; }

/// tuple->items = self->fields; return tuple
Bytes tuple_of(Address tuple, int items_at, int field, int next) {
    Bytes bytes = constant(tuple);
    bytes.pop_back();
    const Bytes copies{0x48, 0x8b, 0x4f, field, 0x48, 0x89, 0x48,         items_at, 0x48,
                       0x8b, 0x4f, next, 0x48,  0x89, 0x48, items_at + 8, 0xc3};
    bytes.insert(bytes.end(), copies.begin(), copies.end());
    return bytes;
}

struct CTypeCore : SmallCore {
    struct Member {
        std::string name;
        std::uint64_t offset;
        std::int32_t type = 6;  // T_OBJECT
    };

    Address function(const Bytes& bytes) {
        const Address at = heap.code_address() + code_used_;
        for (const int byte : bytes)
            heap.put(heap.code_address() + code_used_++, static_cast<std::uint8_t>(byte));
        code_used_ = (code_used_ + 15) / 16 * 16;
        return at;
    }
    Address c_type(const std::string& tp_name, std::uint64_t basicsize, const std::vector<Member>& members,
                   const std::vector<std::pair<std::string, Bytes>>& getters, Address base = {}) {
        const Address made = heap.c_type(tp_name, {.base = base, .basicsize = basicsize});
        const auto& def = heap.layout().member_def;
        if (!members.empty()) {
            const Address table = heap.allocate_static(*def.size * (members.size() + 1));
            for (std::size_t i = 0; i < members.size(); ++i) {
                heap.set(table + i * *def.size, def.name, heap.c_string(members[i].name));
                heap.set(table + i * *def.size, def.type, members[i].type);
                heap.set(table + i * *def.size, def.offset, members[i].offset);
            }
            heap.put(made + *heap.layout().type.tp_members, table);
        }
        if (!getters.empty()) {
            const Address table = heap.allocate_static(40 * (getters.size() + 1));
            for (std::size_t i = 0; i < getters.size(); ++i) {
                heap.put(table + 40 * i, heap.c_string(getters[i].first));
                heap.put(table + 40 * i + 8, function(getters[i].second));
            }
            heap.put(made + *heap.layout().type.tp_members + 8, table);
        }
        return made;
    }
    /// An instance whose words, from the first behind the type on, are these.
    Address instance_of(Address its_type, const std::vector<std::uint64_t>& words) {
        const Address object = heap.object(its_type);
        for (std::size_t i = 0; i < words.size(); ++i) heap.put(object + 16 + 8 * i, words[i]);
        return object;
    }
    /// A str to which nothing else refers.
    std::uint64_t value() { return heap.str("value " + std::to_string(++values_)).value; }

private:
    std::uint64_t code_used_ = 64;
    int values_ = 0;
};

/// Of each reference of an object but to its class: where it leads, and its name.
std::map<std::uint64_t, std::string> names_in(CTypeCore& core, Address object,
                                              const std::function<void(const CoreHeap&)>& also = {}) {
    core.heap.allocate_static(4096);  // only whole pages are seen by code: so the types are on such
    core.heap.allocate(4096);
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap reader = CoreHeap::open(
        CoreFile::open(directory.write("core", core.bytes()), {}, diagnostics), all_columns, diagnostics);
    std::map<std::uint64_t, std::string> names;
    const ObjectId id = reader.snapshot().find(object);
    REQUIRE(id != no_object);
    reader.visit_references(id, [&](const Reference& r) { names[r.target.value] = r.name(); });
    if (also) also(reader);
    return names;
}

}  // namespace

TEST_CASE("field names: members of the type and of all it derives from; others are no names", "[snapshot]") {
    CTypeCore core;
    const Address base = core.c_type("lib.Base", 24, {{"first", 16}}, {});
    const Address type =
        core.c_type("lib.Type", 64,
                    {{"second", 24, 16}, {"count", 32, 1}, {"__weakref__", 40}, {"__dict__", 48}}, {}, base);
    const std::uint64_t first = core.value(), second = core.value(), third = core.value(),
                        weak = core.value(), dict = core.value();
    const Address object = core.instance_of(type, {first, second, third, weak, dict});
    auto names = names_in(core, object);
    CHECK(names[first] == ".first");
    CHECK(names[second] == ".second");
    CHECK(names[third] == "<+32>");  // of another kind
    CHECK(names[weak] == "<+40>");   // a str is no weak reference
    CHECK(names[dict] == "<+48>");   // and no dict
}

TEST_CASE("field names: getters that return a field name it, and no others", "[snapshot]") {
    CTypeCore core;
    std::uint64_t all[6];
    for (std::uint64_t& one : all) one = core.value();
    const Address type = core.c_type("lib.Type", 80, {},
                                     {{"a", getter(16)},
                                      {"again", getter(16)},
                                      {"fixed", constant(Address(all[1]))},
                                      {"big", tagged(32)},
                                      {"inner", of_another(40)},
                                      {"either", one_of_two(48, 56, 64)},
                                      {"", getter(24)},
                                      {"behind_the_end", getter(24)}});
    const Address inner = core.instance_of(type, {0, 0, 0, all[4]});
    core.instance_of(type, {all[0], all[1], 4, inner.value, 1, all[2], all[3]});
    const Address object =
        core.instance_of(type, {all[0], all[1], all[5] | 1, inner.value, 0, all[2], all[3]});
    for (const std::uint64_t held_twice : {all[0], all[1], all[2], all[3], inner.value})
        core.heap.put(Address(held_twice), std::uint64_t{2});
    const bool runs = can_emulate();
    auto names = names_in(core, object, [&](const CoreHeap& reader) {
        // A marked pointer is a reference only where a traverse says so; its field has a name.
        const TypeId id = reader.snapshot().types.find(type);
        const FieldNames::Name* const big = reader.snapshot().traversed->field_names().at(id, 32);
        CHECK((big ? big->name : "") == (runs ? "big" : ""));
    });
    CHECK(names[all[0]] == (runs ? ".a" : "<+16>"));
    CHECK(names[all[1]] == "<+24>");       // a value that is returned, and not read
    CHECK(names[inner.value] == "<+40>");  // not what `inner` is
    CHECK(names[all[2]] == "<+56>");       // two instances, two fields
    CHECK(names[all[3]] == "<+64>");
}

TEST_CASE("field names: a class between has another attribute of that name", "[snapshot]") {
    CTypeCore core;
    const Address base = core.c_type("lib.Base", 32, {}, {{"a", getter(16)}, {"b", getter(24)}});
    const Address derived = core.heap.python_class(
        "Derived", {.base = base, .slots = {"c"}, .members = {{"b", core.heap.none()}}});
    const std::uint64_t a = core.value(), b = core.value(), c = core.value();
    const Address object = core.instance_of(derived, {a, b, c});
    auto names = names_in(core, object);
    CHECK(names[a] == (can_emulate() ? ".a" : "<+16>"));
    CHECK(names[b] == "<+24>");
}

TEST_CASE("field names: items of a tuple that a getter makes of several fields", "[snapshot]") {
    CTypeCore core;
    const Address tuple = core.heap.tuple({core.heap.none(), core.heap.none()});
    const Bytes code = tuple_of(tuple, static_cast<int>(*core.heap.layout().tuple.ob_item), 24, 16);
    const Address type = core.c_type("lib.Type", 40, {}, {{"pair", code}});
    const std::uint64_t second = core.value(), first = core.value(), other = core.value();
    const Address object = core.instance_of(type, {second, first, other});
    auto names = names_in(core, object);
    CHECK(names[first] == (can_emulate() ? ".pair[0]" : "<+24>"));
    CHECK(names[second] == (can_emulate() ? ".pair[1]" : "<+16>"));
    CHECK(names[other] == "<+32>");
}

TEST_CASE("field names: getters that mean harm give no name, and cost no other its name", "[snapshot]") {
    CTypeCore core;
    const Bytes endless{0xeb, 0xfe}, invalid{0x0f, 0x0b}, jumps_into_data{0xff, 0xe7},
        writes_on_and_on{0x48, 0x89, 0x3f, 0x48, 0x83, 0xc7, 0x08, 0xeb, 0xf7},
        overwrites_its_object{0x48, 0xc7, 0x47, 0x10, 0, 0, 0, 0, 0x48, 0x8b, 0x47, 0x10, 0xc3};
    const Address type = core.c_type("lib.Type", 40, {},
                                     {{"a", endless},
                                      {"b", invalid},
                                      {"c", jumps_into_data},
                                      {"d", writes_on_and_on},
                                      {"e", overwrites_its_object},
                                      {"no name", getter(16)},
                                      {"f", getter(16)},
                                      {"g", endless}});
    const std::uint64_t first = core.value(), second = core.value();
    const Address object = core.instance_of(type, {first, second});
    auto names = names_in(core, object);
    CHECK(names[first] == (can_emulate() ? ".f" : "<+16>"));
    CHECK(names[second] == "<+24>");
}
