// A library that is called through ctypes gives its handles out as integers, and a class around it keeps the int in an
// attribute, to free the handle by: Shapely until 1.8 (`__geom__`), Rtree (`_ptr`). That int is all that knows of the
// structure, which else would seem to have leaked.
//
// An attribute of an instance may be such a handle; an element of a list or a value of a dict that is no instance's
// is a number like any other, so that lists of addresses, as a log or a profiler keeps them, own nothing. The int has
// to be the very start of a block to which no object leads by a pointer, and the class has to do it as
// pointer_fields.cpp asks of a field: for at least one instance in ten. Numbers above 4 GiB hit such a start about
// never; those below do by chance in a heap that lies there (position-dependent interpreters), one in a thousand at
// worst: a few instances alone are no proof.

#include "parsers/snapshot/native_handles.h"

#include "parsers/cpython/instance.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t surely_an_address = std::uint64_t{1} << 32;
constexpr std::uint32_t enough_instances = 16;  // as in pointer_fields.cpp

using Candidate = NativeWords::Number;

/// A class made by a class statement, whose instances are nothing but attributes.
bool has_attributes_alone(const TypeTable& types, TypeId id) {
    if (!types[id].python_class) return false;
    for (int depth = 0; depth < 64 && types[id].python_class && types[id].base != no_type; ++depth)
        id = types[id].base;
    return types[id].name == "object";
}

class HandleSearch {
public:
    HandleSearch(const ObjectAccess& access, const FoundObjects& objects, const ReferenceGraph& references,
                 std::vector<Candidate> candidates)
        : access_(access),
          types_(access.heap().types()),
          objects_(objects),
          references_(references),
          candidates_(std::move(candidates)) {}

    NativeHandles find() {
        std::vector<std::uint8_t> looked_at(types_.size());
        for (TypeId id{0}; id < types_.size(); ++id) looked_at[id] = has_attributes_alone(types_, id);
        std::vector<std::uint32_t> instances(types_.size()), with_handle(types_.size());
        for (ObjectId object{0}; object < objects_.addresses.size(); ++object) {
            const TypeId type = objects_.types[object];
            if (!looked_at[type]) continue;
            ++instances[type];
            const std::size_t before = found_.size();
            look_at(object);
            if (found_.size() > before) ++with_handle[type];
        }
        NativeHandles handles;
        for (const NativeHandle& handle : found_) {
            const std::uint32_t have = with_handle[objects_.types[handle.instance]];
            if (std::uint64_t{have} * 10 < instances[objects_.types[handle.instance]]) continue;
            const bool sure = handle.block.value >= surely_an_address || have >= enough_instances;
            (sure ? handles.fields : handles.alone).push_back(handle);
        }
        return handles;
    }

private:
    void look_at(ObjectId instance) {
        for (const ObjectId target : references_.targets(instance))
            if (types_.is(objects_.types[target], KnownType::dict))
                look_at_dict(instance, target);
            else
                consider(instance, target);
    }

    void look_at_dict(ObjectId instance, ObjectId dict) {
        const auto values = references_.targets(dict);
        if (std::none_of(values.begin(), values.end(), [&](ObjectId value) { return candidate(value); }))
            return;
        const ObjectReader reader(access_.heap(), objects_.addresses[instance],
                                  types_[objects_.types[instance]]);
        if (instance_dict(reader).dict != objects_.addresses[dict]) return;
        for (const ObjectId value : values) consider(instance, value);
    }

    void consider(ObjectId instance, ObjectId number) {
        if (const Candidate* const found = candidate(number)) found_.push_back({instance, found->value});
    }

    const Candidate* candidate(ObjectId number) const {
        const auto at = std::lower_bound(candidates_.begin(), candidates_.end(), number,
                                         [](const Candidate& a, ObjectId b) { return a.object < b; });
        return at != candidates_.end() && at->object == number ? &*at : nullptr;
    }

    const ObjectAccess& access_;
    const TypeTable& types_;
    const FoundObjects& objects_;
    const ReferenceGraph& references_;
    std::vector<Candidate> candidates_;  // by number
    std::vector<NativeHandle> found_;
};

}  // namespace

NativeHandles find_native_handles(const ObjectAccess& access, const FoundObjects& objects,
                                  const ReferenceGraph& references, std::vector<NativeWords::Number> ints) {
    if (ints.empty()) return {};
    return HandleSearch(access, objects, references, std::move(ints)).find();
}

}  // namespace heapsift
