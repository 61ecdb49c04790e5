#pragma once

// Names of attributes by where instances keep them: of types made by C whose structs nobody described. (How
// they are found: find_field_names.cpp.)

#include "parsers/cpython/types.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// Memory: some ten bytes for each name of each type that has instances.
class FieldNames {
public:
    struct Name {
        std::uint32_t offset = 0;  // from the object on, of the word that the attribute shows
        std::string name;
        std::int32_t item = -1;  // the attribute is a tuple, of which this item is kept there
    };
    struct OfType {
        TypeId type;
        std::vector<Name> names;  // by offset; one at most for each
    };

    FieldNames() = default;
    /// Sorted by type.
    explicit FieldNames(std::vector<OfType> types) : types_(std::move(types)) {}

    /// Of the word at `offset` of an instance of exactly this type; null if it has none.
    const Name* at(TypeId type, std::uint64_t offset) const {
        const auto of = std::lower_bound(types_.begin(), types_.end(), type,
                                         [](const OfType& one, TypeId t) { return one.type < t; });
        if (of == types_.end() || of->type != type) return nullptr;
        const auto name = std::lower_bound(of->names.begin(), of->names.end(), offset,
                                           [](const Name& one, std::uint64_t o) { return one.offset < o; });
        return name != of->names.end() && name->offset == offset ? &*name : nullptr;
    }
    bool empty() const { return types_.empty(); }

    /// As a part of an index.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t types) {
        std::uint64_t before = 0;  // the type before, and one more
        part.list(self.types_, [&](auto& of, Part& p) {
            p.number(of.type);
            p.require(of.type < types && std::uint64_t{of.type} >= before, "types are not in order");
            before = std::uint64_t{of.type} + 1;
            std::uint64_t next = 0;
            p.list(of.names, [&](auto& name, Part& q) {
                q.number(name.offset);
                q.text(name.name);
                q.number(name.item);
                q.require(name.offset >= next && !name.name.empty(), "names are not in order");
                next = std::uint64_t{name.offset} + 1;
            });
        });
    }

private:
    std::vector<OfType> types_;
};

}  // namespace heapsift
