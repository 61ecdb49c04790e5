#include "analysis/holding/groups.h"

#include "parsers/base/text.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr int deepest_name = 32;

std::string folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash + 1));
}

}  // namespace

std::string package_of_file(std::string_view path) {
    for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
        const std::size_t at = path.rfind(folder);
        if (at == std::string_view::npos) continue;
        const std::string_view rest = path.substr(at + folder.size());
        const std::size_t slash = rest.find('/');
        std::string_view name = rest.substr(0, slash);
        if (slash == std::string_view::npos) name = name.substr(0, name.find('.'));  // a module of one file
        // numpy.libs beside numpy: shared libraries that come with a wheel.
        if (name.ends_with(".libs")) name.remove_suffix(5);
        return std::string(name);
    }
    return {};
}

/// "<frozen …>" and "<string>" are no files.
bool is_file_of_program(std::string_view path, std::string_view library) {
    return !path.empty() && path.front() != '<' && package_of_file(path).empty() &&
           (library.empty() || !path.starts_with(library));
}

std::string library_folder(const RootSet& roots) {
    for (const LoadedModule& module : roots.modules())
        if (module.name == "os") return folder_of(module.file);
    return {};
}

namespace {
constexpr const char* callbacks_at_exit = "atexit callbacks";  // also a rule's (suspects/callback_rules.cpp)
}  // namespace

GroupFinder::GroupFinder(const HeapReader& heap, const RootSet& roots) : heap_(heap), roots_(roots) {
    for (const LoadedModule& module : roots.modules()) by_object_[module.object] = &module;
    library_ = library_folder(roots);
    for (std::size_t t = 0; t < roots.threads().size(); ++t)
        for (std::size_t f = 0; f < roots.threads()[t].frames.size(); ++f)
            frames_.push_back({roots.threads()[t].frames[f].frame, static_cast<std::int32_t>(t),
                               static_cast<std::int32_t>(f)});
    std::sort(frames_.begin(), frames_.end(),
              [](const FramePlace& a, const FramePlace& b) { return a.frame < b.frame; });
}

GroupId GroupFinder::group(GroupKind kind, const std::string& name) {
    const auto [at, added] =
        by_name_.emplace(std::pair(kind, name), static_cast<GroupId>(groups_.all.size()));
    if (added) groups_.all.push_back({kind, name, -1, {}});
    return at->second;
}

const LoadedModule* GroupFinder::find_module(std::string_view name) const {
    const auto& all = roots_.modules();
    const auto at = std::lower_bound(all.begin(), all.end(), name,
                                     [](const LoadedModule& m, std::string_view n) { return m.name < n; });
    return at != all.end() && at->name == name ? &*at : nullptr;
}

GroupId GroupFinder::of_thread(std::int32_t thread) {
    const PythonThread& of = roots_.threads()[static_cast<std::size_t>(thread)];
    std::string name =
        of.name.empty() ? "thread " + std::to_string(of.tid ? *of.tid : thread) : "thread " + of.name;
    const bool taken = std::any_of(groups_.all.begin(), groups_.all.end(), [&](const Group& g) {
        return g.kind == GroupKind::thread && g.name == name && g.thread != thread;
    });
    if (taken) name += " (" + std::to_string(of.tid ? *of.tid : thread) + ")";
    const GroupId id = group(GroupKind::thread, name);
    groups_.all[id].thread = thread;
    return id;
}

GroupId GroupFinder::of_module(const LoadedModule& module, int depth) {
    if (const std::string package = package_of_file(module.file); !package.empty())
        return group(GroupKind::package, package);
    if (!library_.empty() && module.file.starts_with(library_)) return python();
    if (module.file.empty() && module.name != "__main__") {
        // Built in, frozen, or made by a program, and then without a __spec__: it belongs where its parent
        // does.
        if (const std::size_t dot = module.name.rfind('.'); dot != std::string::npos && depth < deepest_name)
            if (const LoadedModule* parent = find_module(std::string_view(module.name).substr(0, dot)))
                return of_module(*parent, depth + 1);
        const PythonHeap& python_heap = heap_.python_heap();
        const Address spec =
            module.dict.is_null() ? Address() : python_heap.dict_value(module.dict, "__spec__");
        const TypeId type = spec.is_null() ? no_type : columns().types.find(python_heap.type_address(spec));
        if (type != no_type && !columns().types.is(type, KnownType::none)) return python();
        if (module.name == "sys" || module.name == "builtins" || module.name == "__builtin__")
            return python();
    }
    const GroupId id = group(GroupKind::module, module.name);
    groups_.all[id].module = module.address;
    return id;
}

GroupId GroupFinder::of_type(std::string_view type_name) {
    // By the longest name of a module that it begins with.
    for (std::size_t dot = type_name.rfind('.'); dot != std::string_view::npos && dot > 0;
         dot = type_name.rfind('.', dot - 1))
        if (const LoadedModule* module = find_module(type_name.substr(0, dot))) return of_module(*module);
    return python();
}

/// Up to 3.9 the state of the module has the callbacks, and its traverse reports them (atexitmodule.c:
/// atexitmodule_state); since 3.10 they hang at the interpreter's state (NativePlace::at_exit).
bool GroupFinder::has_callbacks_at_exit(const LoadedModule& module, ObjectId object) const {
    if (module.name != "atexit") return false;
    const auto targets = columns().references->targets(object);
    return std::any_of(targets.begin(), targets.end(), [&](ObjectId target) {
        return columns().address_of(target) != module.dict &&
               !columns().types.is(columns().type_of(target), KnownType::str);
    });
}

GroupId GroupFinder::of(const Root& root) {
    if (root.thread >= 0) return of_thread(root.thread);
    if (root.kind == RootKind::module)
        if (const auto module = by_object_.find(root.object); module != by_object_.end())
            return has_callbacks_at_exit(*module->second, root.object)
                       ? group(GroupKind::callbacks, callbacks_at_exit)
                       : of_module(*module->second);
    if (root.kind == RootKind::static_type) {
        const TypeId type = columns().types.find(columns().address_of(root.object));
        return type == no_type ? python() : of_type(columns().types[type].name);
    }
    if (root.kind == RootKind::native || root.kind == RootKind::native_unseen) return native();
    return python();
}

const CoreThread* thread_at(const CoreFile& core, Address word) {
    constexpr std::uint64_t red_zone = 128;  // System V ABI, AMD64, 3.2.2: used below the stack pointer
    const Segment* segment = core.memory().find(word);
    const CoreThread* best = nullptr;
    for (const CoreThread& thread : core.threads()) {
        const Address top(thread.stack_pointer());
        if (top.value > word.value + red_zone || core.memory().find(top) != segment || !segment) continue;
        if (!best || best->stack_pointer() < top.value) best = &thread;
    }
    return best;
}

std::int32_t GroupFinder::thread_of_stack(Address word) const {
    const CoreThread* const best = thread_at(heap_.core(), word);
    if (!best) return -1;
    for (std::size_t t = 0; t < roots_.threads().size(); ++t)
        if (roots_.threads()[t].tid == best->tid) return static_cast<std::int32_t>(t);
    return -1;
}

Groups GroupFinder::take() {
    groups_.held = group(GroupKind::held, "held by what was not found");
    groups_.immortal = group(GroupKind::immortal, "immortal");
    groups_.unreachable = group(GroupKind::unreachable, "unreachable");
    return std::move(groups_);
}

Root GroupFinder::native_root(const NativeReference& native) const {
    Root root{.object = native.target, .kind = RootKind::native, .word = native.word};
    switch (native.place) {
        case NativePlace::frame: {
            auto at = std::upper_bound(frames_.begin(), frames_.end(), native.word,
                                       [](Address a, const FramePlace& f) { return a < f.frame; });
            root.kind = RootKind::frame;
            root.text = "<value stack>";
            if (at == frames_.begin()) break;
            --at;
            root.thread = at->thread;
            root.frame = at->index;
            break;
        }
        case NativePlace::interpreter: {
            root.kind = RootKind::interpreter;
            const LayoutOffset size = columns().python.layout.thread_state.size;
            for (std::size_t t = 0; size.present() && t < roots_.threads().size(); ++t) {
                const Address state = roots_.threads()[t].state;
                if (native.word < state || native.word >= state + *size) continue;
                root.kind = RootKind::thread;
                root.thread = static_cast<std::int32_t>(t);
            }
            break;
        }
        case NativePlace::stack:
            root.thread = thread_of_stack(native.word);
            break;
        case NativePlace::at_exit:
            root.text = callbacks_at_exit;
            break;
        case NativePlace::signal_handler:
            root.text = "signal handlers";
            break;
        case NativePlace::module_data:
        case NativePlace::block:
            break;
    }
    return root;
}

GroupId GroupFinder::of_native(const Root& root, NativePlace place) {
    if (root.thread >= 0) return of_thread(root.thread);
    if (place == NativePlace::interpreter) return python();
    if (root.kind == RootKind::native && *root.text) return group(GroupKind::callbacks, root.text);
    if (place != NativePlace::module_data) return native();
    const Module* const module = module_of(root.word);
    return module && of_library(*module) != no_group ? of_library(*module) : native();
}

GroupId GroupFinder::of_blocks(const NativeGraph::Entry& entry) {
    switch (entry.from) {
        case ReachedFrom::python_tables:
            return python();
        case ReachedFrom::modules:
            if (const Module* const module = module_of(entry.word)) {
                if (const GroupId known = of_library(*module); known != no_group) return known;
                return group(GroupKind::native, std::string(base_name(module->path)));
            }
            return native();
        case ReachedFrom::stacks:
            return group(GroupKind::native, "stacks of C code");
        case ReachedFrom::numbers:
            return group(GroupKind::native, "handles in ints");
        case ReachedFrom::nothing:
            return group(GroupKind::native, "leaked native memory");
        case ReachedFrom::objects:
        case ReachedFrom::mappings:
            break;
    }
    return native();
}

// They are by address, and there are few gaps.
const Module* GroupFinder::module_of(Address variable) const {
    const std::vector<Module>& modules = heap_.core().modules();
    const auto above = std::upper_bound(modules.begin(), modules.end(), variable,
                                        [](Address a, const Module& m) { return a < m.start; });
    return above != modules.begin() && variable < (above - 1)->image_end ? &*(above - 1) : nullptr;
}

GroupId GroupFinder::of_library(const Module& module) {
    if (const std::string package = package_of_file(module.path); !package.empty())
        return group(GroupKind::package, package);
    const bool library = !library_.empty() && module.path.starts_with(library_);
    if (library || module.is_executable || base_name(module.path).starts_with("libpython")) return python();
    return no_group;
}

}  // namespace heapsift
