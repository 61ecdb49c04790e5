#include "parsers/cpython/type_names.h"

// Names without files, the most reliable first.
//
//   1. the place of a type in a module whose build-id is known (tables made from real builds);
//   2. since 3.12, its number among the builtin types, which is the same in every build of a minor version;
//   3. where an instance is found: the type of builtins.None, of builtins.len, of a module, of the importer's
//      functions and their code, …;
//   4. its shape: sizes, flags, slots and dictionary as in a known build (type_shape.cpp), if no other type here
//      has the same;
//   5. a key of a module's dictionary that holds it. Often the key is the name; where it is not
//      (types.CodeType is `code`), there is a table of aliases. Of several keys, one in builtins comes first,
//      then one in the module with the shortest name.
//
// A type that none of these names stays anonymous, and is counted.

#include "parsers/base/address_index.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/cpython/type_name_tables.h"
#include "parsers/cpython/type_shape.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heapsift {

namespace {

class Namer {
public:
    Namer(std::span<const Module> modules, const PythonHeap& heap, std::vector<TypeInfo>& types)
        : modules_(modules),
          heap_(heap),
          layout_(heap.layout()),
          types_(types),
          unnamed_(count_unnamed(types)),
          keys_(types.size()) {
        for (std::uint32_t i = 0; i < types_.size(); ++i)
            if (!types_[i].named) unnamed_.add(types_[i].address, i);
    }

    void run() {
        for (TypeInfo& type : types_)
            if (!type.named) by_place(type) || by_number(type);
        by_position();
        if (count_unnamed(types_) > 0) find_shapes();
        for (std::uint32_t i = 0; i < types_.size(); ++i)
            if (!types_[i].named && is_only_one(i)) by_shape(i);
        by_dictionary();
        // Of several that look the same, the one that is left when all others have other names.
        for (std::uint32_t i = 0; i < types_.size(); ++i)
            if (!types_[i].named && is_last_one(i)) by_shape(i);
    }

private:
    static std::size_t count_unnamed(const std::vector<TypeInfo>& types) {
        return static_cast<std::size_t>(
            std::count_if(types.begin(), types.end(), [](const TypeInfo& t) { return !t.named; }));
    }

    void name(TypeInfo& type, std::string text) {
        type.name = std::move(text);
        type.named = true;
    }
    void name_at(Address type, const char* text) {
        const std::uint32_t index = unnamed_.find(type);
        if (index != AddressIndex::missing && !types_[index].named) name(types_[index], text);
    }

    bool by_place(TypeInfo& type) {
        const Module* module = nullptr;
        for (const Module& candidate : modules_)
            if (type.address >= candidate.start && type.address < candidate.image_end &&
                !candidate.build_id.empty())
                module = &candidate;
        if (!module) return false;
        const std::uint64_t offset = type.address.value - module->load_bias;
        const auto all = type_names_by_place();
        const auto it = std::lower_bound(all.begin(), all.end(), offset,
                                         [&](const TypeNameAt& row, std::uint64_t wanted) {
                                             const int order = module->build_id.compare(row.build_id);
                                             return order != 0 ? order > 0 : row.offset < wanted;
                                         });
        if (it == all.end() || module->build_id != it->build_id || it->offset != offset) return false;
        name(type, it->name);
        return true;
    }

    bool by_number(TypeInfo& type) {
        const Address state = heap_.static_type_state(type.address);
        if (state.is_null() || !(type.flags & static_builtin_flag)) return false;
        const auto number = heap_.integer<std::uint64_t>(type.address + *layout_.type.tp_subclasses);
        // Static types of extension modules are numbered separately (3.13), in the order in which they became
        // ready.
        const Address builtins =
            heap_.runtime().interpreters.front().address + *layout_.interpreter_state.types_builtins;
        if (state != builtins + (number - 1) * *layout_.managed_static_type_state.size) return false;
        for (const TypeNumber& row : type_numbers()) {
            if (!is_minor(layout_.version, row.minor) || row.number != number) continue;
            name(type, row.name);
            return true;
        }
        return false;
    }

    void find_shapes() {
        for (const TypeInfo& type : types_) {
            shapes_.push_back(type.heap_type ? 0 : type_shape(heap_, type.address));
            of_shape_[shapes_.back()].push_back(static_cast<std::uint32_t>(shapes_.size() - 1));
        }
    }
    /// Of its shape. Types of other modules, and of other versions' tables, may look the same: range_iterator and
    /// longrange_iterator do in 3.9, and not in 3.6.
    bool is_only_one(std::uint32_t type) { return of_shape_[shapes_[type]].size() == 1; }
    bool is_last_one(std::uint32_t type) {
        const auto& all = of_shape_[shapes_[type]];
        return std::all_of(all.begin(), all.end(),
                           [&](std::uint32_t other) { return other == type || types_[other].named; });
    }

    /// From this minor version if the table has it, else from any. Not a name that another type of its shape has.
    bool by_shape(std::uint32_t index) {
        TypeInfo& type = types_[index];
        const std::uint64_t shape = shapes_[index];
        if (shape == 0) return false;
        const auto all = type_shapes();
        auto it = std::lower_bound(all.begin(), all.end(), shape,
                                   [](const TypeShape& row, std::uint64_t s) { return row.shape < s; });
        const char* found = nullptr;
        constexpr LayoutVersion version_2{.major = 2, .minor = 7};
        for (; it != all.end() && it->shape == shape; ++it) {
            if (is_minor(version_2, it->minor) != is_python_2(layout_.version)) continue;
            if (!found || is_minor(layout_.version, it->minor)) found = it->name;
        }
        if (!found || !can_be_here(found, type.address)) return false;
        const auto& alike = of_shape_[shape];
        if (std::any_of(alike.begin(), alike.end(), [&](std::uint32_t other) {
                return types_[other].named && types_[other].name == found;
            }))
            return false;
        name(type, found);
        return true;
    }

    /// A code generator (Cython, with its Enum) puts types into each of its modules that look the same in
    /// all. So "package.module.Type" can only name a type in that module's own file.
    bool can_be_here(std::string_view name, Address type) const {
        const std::size_t last = name.rfind('.');
        const std::size_t before =
            last == std::string_view::npos || last == 0 ? last : name.rfind('.', last - 1);
        if (last == std::string_view::npos || before == std::string_view::npos) return true;
        const std::string_view module_name = name.substr(before + 1, last - before - 1);
        for (const Module& module : modules_) {
            if (type < module.start || type >= module.image_end) continue;
            const std::string_view file = std::string_view(module.path).substr(module.path.rfind('/') + 1);
            return file.substr(0, file.find('.')) == module_name;
        }
        return false;
    }

    // --- what stands where

    void by_position() {
        const Address builtins = heap_.runtime().interpreters.front().builtins;
        auto builtin = [&](const char* key) { return heap_.dict_value(builtins, key); };
        auto name_type_of = [&](Address object, const char* text) {
            if (!object.is_null()) name_at(heap_.type_address(object), text);
        };
        name_at(heap_.runtime().type_type, "type");
        name_at(builtin("object"), "object");
        name_type_of(builtin("None"), "NoneType");
        name_type_of(builtin("Ellipsis"), "ellipsis");
        name_type_of(builtin("NotImplemented"), "NotImplementedType");
        name_type_of(builtin("len"), "builtin_function_or_method");
        const Address object_dict = heap_.type_dict(builtin("object"));
        name_type_of(heap_.dict_value(object_dict, "__init__"), "wrapper_descriptor");
        name_type_of(heap_.dict_value(object_dict, "__class__"), "getset_descriptor");
        name_type_of(heap_.dict_value(object_dict, "__dir__"), "method_descriptor");
        name_type_of(heap_.dict_value(object_dict, "__init_subclass__"), "classmethod_descriptor");
        name_type_of(heap_.dict_value(object_dict, "__reduce__"),
                     "method_descriptor");  // 2.7 has no __dir__ there
        name_type_of(heap_.dict_value(heap_.type_dict(builtin("dict")), "fromkeys"),
                     "classmethod_descriptor");
        name_type_of(heap_.dict_value(heap_.type_dict(heap_.runtime().type_type), "__basicsize__"),
                     "member_descriptor");
        heap_.visit_dict(heap_.runtime().interpreters.front().modules, [&](Address key, Address module) {
            if (heap_.unicode_equals(key, builtins_name(layout_))) name_type_of(module, "module");
            if (!heap_.unicode_equals(key, "_frozen_importlib") || !has_module_layout(module)) return;
            const Address function = heap_.dict_value(heap_.pointer(module + *layout_.module.md_dict),
                                                      "_call_with_frames_removed");
            if (function.is_null()) return;
            name_type_of(function, "function");
            name_type_of(heap_.pointer(function + *layout_.function.func_code), "code");
        });
    }

    // --- keys of dictionaries

    void by_dictionary() {
        for (const PythonInterpreter& interpreter : heap_.runtime().interpreters) {
            collect_keys("", interpreter.builtins);
            heap_.visit_dict(interpreter.modules, [&](Address key, Address module) {
                const auto module_name = heap_.unicode_text(key, 200);
                // Cython keeps the types that its modules share in modules of their own, which are not part
                // of the types' names.
                const bool nameless = module_name && module_name->starts_with("_cython_");
                if (module_name && *module_name != builtins_name(layout_) && has_module_layout(module))
                    collect_keys(nameless ? "" : *module_name + ".",
                                 heap_.pointer(module + *layout_.module.md_dict));
            });
        }
        for (std::uint32_t i = 0; i < types_.size(); ++i)
            if (!types_[i].named && !keys_[i].empty()) name(types_[i], best_name(keys_[i]));
    }

    /// False for anything in sys.modules that is neither a module nor of a subclass.
    bool has_module_layout(Address object) const {
        return heap_.is_dict(heap_.pointer(object + *layout_.module.md_dict));
    }

    void collect_keys(const std::string& prefix, Address dict) {
        heap_.visit_dict(dict, [&](Address key, Address value) {
            const std::uint32_t index = unnamed_.find(value);
            if (index == AddressIndex::missing || types_[index].named) return;
            if (const auto text = heap_.unicode_text(key, 200)) keys_[index].push_back(prefix + *text);
        });
    }

    std::string best_name(const std::vector<std::string>& keys) const {
        const std::string* best = nullptr;
        for (const std::string& key : keys) {
            if (const char* alias = alias_of(key)) return alias;
            if (!best || rank(key) < rank(*best)) best = &key;
        }
        return *best;
    }

    static std::pair<std::size_t, const std::string&> rank(const std::string& key) {
        const std::size_t dot = key.rfind('.');
        return {dot == std::string::npos ? 0 : dot + 1, key};
    }

    /// From this minor version, else from the nearest that has the key.
    const char* alias_of(const std::string& key) const {
        const char* found = nullptr;
        int distance = 1000;
        const auto all = type_aliases();
        for (auto it = std::lower_bound(
                 all.begin(), all.end(), key,
                 [](const TypeAlias&row, const std::string&wanted) { return wanted.compare(row.plain) > 0; });
             it != all.end() && key == it->plain; ++it) {
            const int away = std::abs(it->minor - layout_.version.minor);
            if (away < distance) {
                distance = away;
                found = it->name;
            }
        }
        return found;
    }

    std::span<const Module> modules_;
    const PythonHeap& heap_;
    const Layout& layout_;
    std::vector<TypeInfo>& types_;
    AddressIndex unnamed_;
    std::vector<std::vector<std::string>> keys_;  // by type: "module.key"
    std::vector<std::uint64_t> shapes_;           // by type
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> of_shape_;
};

}  // namespace

void name_without_files(std::span<const Module> modules, const PythonHeap& heap,
                        std::vector<TypeInfo>& types) {
    if (heap.runtime().interpreters.empty()) return;
    if (std::all_of(types.begin(), types.end(), [](const TypeInfo& t) { return t.named; })) return;
    Namer(modules, heap, types).run();
}

}  // namespace heapsift
