// Where the interpreter keeps the roots: pystate.h and pycore_interp.h (fields), sysmodule.c (sys.modules),
// pycore_frame.h and frameobject.h (frames), context.c, and _threadmodule.c: each threading.local keeps a
// dict for each thread; a dummy object in the thread's own dict tells which, and the dict goes away when the
// thread ends.

#include "parsers/snapshot/root_set.h"

#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

bool is_module(const PythonHeap& python, Address object) {
    const TypeId type = python.type_of(object);
    return type != no_type && python.types()[type].kind &&
           std::string_view(python.types()[type].kind->name) == "module";
}

void sort_once_each(std::vector<Address>& addresses) {
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

const char* slot_text(FrameSlot::What what) {
    switch (what) {
        case FrameSlot::What::function:
            return "<function>";
        case FrameSlot::What::code:
            return "<code>";
        case FrameSlot::What::locals:
            return "<f_locals>";
        case FrameSlot::What::frame:
            return "<frame>";
        case FrameSlot::What::local:
            break;
        case FrameSlot::What::stack:
            return "<value stack>";
    }
    return "";
}

constexpr std::size_t most_name_characters = 200;
constexpr int most_bases = 100;

}  // namespace

const char* name_of(RootKind kind) {
    switch (kind) {
        case RootKind::module:
            return "module";
        case RootKind::interpreter:
            return "interpreter";
        case RootKind::thread:
            return "thread";
        case RootKind::frame:
            return "frame";
        case RootKind::thread_local_:
            return "thread-local";
        case RootKind::context:
            return "context";
        case RootKind::static_type:
            return "static-type";
        case RootKind::native:
            return "native";
        case RootKind::native_unseen:
            return "native?";
        case RootKind::immortal:
            return "immortal";
    }
    return "";
}

RootSet::RootSet(const CoreFile& core, const PythonHeap& python, const FoundObjects& objects,
                 bool hide_thread_names) {
    add_modules(objects, python);
    add_named_classes(python);
    add_interpreters(objects, python);
    add_threads(core, objects, python, hide_thread_names);
    add_static_types(objects, python);
    for (std::vector<Address>* addresses : {&modules_and_dicts_, &thread_local_dicts_, &running_frames_})
        sort_once_each(*addresses);
}

void RootSet::add(const FoundObjects& objects, Address object, Root root) {
    root.object = object.is_null() ? no_object : objects.find(object);
    if (root.object != no_object) roots_.push_back(root);
}

void RootSet::add_modules(const FoundObjects& objects, const PythonHeap& python) {
    std::map<ObjectId, std::size_t> known;  // a module may have several names
    const LayoutOffset md_dict = python.layout().module.md_dict;
    for (const PythonInterpreter& interpreter : python.runtime().interpreters) {
        python.visit_dict(interpreter.modules, [&](Address key, Address value) {
            const ObjectId object = objects.find(value);
            // sys.modules may contain anything; only modules count.
            if (object == no_object || !is_module(python, value)) return;
            const std::string name = python.unicode_text(key, most_name_characters).value_or("?");
            const auto [at, added] = known.emplace(object, modules_.size());
            if (added) {
                LoadedModule module{
                    object, value, md_dict.present() ? python.pointer(value + *md_dict) : Address(),
                    name,   false, {}};
                if (!module.dict.is_null()) {
                    module.file =
                        python.unicode_text(python.dict_value(module.dict, "__file__"), 4096).value_or("");
                    modules_and_dicts_.push_back(module.dict);
                }
                modules_and_dicts_.push_back(value);
                modules_.push_back(std::move(module));
                add(objects, value, {.kind = RootKind::module, .name = key});
                return;
            }
            LoadedModule& module = modules_[at->second];
            const Address own =
                module.dict.is_null() ? Address() : python.dict_value(module.dict, "__name__");
            const bool is_own = python.unicode_equals(own, name),
                       has_own = python.unicode_equals(own, module.name);
            if (is_own ||
                (!has_own && std::pair(name.size(), name) < std::pair(module.name.size(), module.name)))
                module.name = name;
        });
    }
    std::map<std::string, ObjectId> first;  // modules_ is still in the order of interpreters
    for (LoadedModule& module : modules_)
        module.shadowed = first.emplace(module.name, module.object).first->second != module.object;
    std::sort(modules_.begin(), modules_.end(), [](const LoadedModule& a, const LoadedModule& b) {
        return std::pair(a.name, a.address) < std::pair(b.name, b.address);
    });
}

void RootSet::add_named_classes(const PythonHeap& python) {
    for (const LoadedModule& module : modules_) {
        if (module.dict.is_null()) continue;
        const std::string prefix = module.name + ".";
        python.visit_dict(module.dict, [&](Address, Address value) {
            const TypeId type = python.types().find(value);
            if (type != no_type && python.types()[type].heap_type &&
                python.types()[type].name.starts_with(prefix))
                named_classes_.push_back({module.dict, value});
        });
    }
}

void RootSet::add_interpreters(const FoundObjects& objects, const PythonHeap& python) {
    for (const PythonInterpreter& interpreter : python.runtime().interpreters) {
        const std::pair<Address, const char*> fields[] = {{interpreter.modules, "sys.modules"},
                                                          {interpreter.sysdict, "<dict of sys>"},
                                                          {interpreter.builtins, "<dict of builtins>"}};
        for (const auto& [object, text] : fields)
            add(objects, object, {.kind = RootKind::interpreter, .text = text});
    }
}

void RootSet::add_threads(const CoreFile& core, const FoundObjects& objects, const PythonHeap& python,
                          bool hide_names) {
    threads_ = python_threads(core, python);
    for (PythonThread& thread : threads_)
        if (hide_names && thread.name != "MainThread") thread.name.clear();
    const auto& l = python.layout().thread_state;
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(threads_.size()); ++t) {
        const PythonThread& thread = threads_[static_cast<std::size_t>(t)];
        for (std::int32_t f = 0; f < static_cast<std::int32_t>(thread.frames.size()); ++f) {
            const PythonFrame& frame = thread.frames[static_cast<std::size_t>(f)];
            if (frame.object == frame.frame &&
                !frame.object.is_null()) {  // up to 3.10 the frame object has the slots
                running_frames_.push_back(frame.object);
                add(objects, frame.object, {.kind = RootKind::frame, .thread = t, .frame = f, .text = ""});
                continue;
            }
            visit_slots(python, frame, [&](const FrameSlot& slot) {
                add(objects, slot.value,
                    {.kind = RootKind::frame,
                     .thread = t,
                     .frame = f,
                     .name = slot.what == FrameSlot::What::local ? slot.name : Address(),
                     .word = slot.word,
                     .text = slot_text(slot.what),
                     .cell = slot.cell});
            });
        }
        if (l.dict.present())
            add(objects, python.pointer(thread.state + *l.dict),
                {.kind = RootKind::thread_local_,
                 .thread = t,
                 .word = thread.state + *l.dict,
                 .text = "<dict of the thread>"});
        if (l.context.present())
            add(objects, python.pointer(thread.state + *l.context),
                {.kind = RootKind::context,
                 .thread = t,
                 .word = thread.state + *l.context,
                 .text = "<context>"});
    }
    add_thread_locals(objects, python);
}

// A threading.local has a dict of dicts, one for each thread that used it. In it a dummy object stands for
// the thread, as a key or by a weak reference; the thread owns the dummy. Up to 3.12 there is one dummy for
// each local, a value of the thread's dict; from 3.13 on one for all, a field of the thread's state.
void RootSet::add_thread_locals(const FoundObjects& objects, const PythonHeap& python) {
    const Layout& l = python.layout();
    const auto is_dummy = [&](Address object) {
        const TypeId type = object.aligned(8) ? python.type_of(object) : no_type;
        return python.types().is(type, KnownType::thread_local_dummy);
    };
    std::map<Address, std::int32_t> thread_of_dummy;
    for (std::int32_t t = 0; t < static_cast<std::int32_t>(threads_.size()); ++t) {
        const Address state = threads_[static_cast<std::size_t>(t)].state;
        if (l.thread_state.dict.present())
            python.visit_dict(python.pointer(state + *l.thread_state.dict), [&](Address, Address value) {
                if (is_dummy(value)) thread_of_dummy.emplace(value, t);
            });
        for (std::uint64_t at = 0; l.thread_state.size.present() && at + 8 <= *l.thread_state.size; at += 8)
            if (const Address word = python.pointer(state + at); !word.is_null() && is_dummy(word))
                thread_of_dummy.emplace(word, t);
    }
    std::vector<bool> is_local(python.types().size());
    bool any = false;
    for (TypeId type{0}; type < python.types().size(); ++type) {
        TypeId at = type;
        for (int steps = 0; at != no_type && steps < most_bases && !is_local[type];
             ++steps, at = python.types()[at].base)
            is_local[type] = python.types().is(at, KnownType::thread_local_data);
        any = any || is_local[type];
    }
    if (!any || thread_of_dummy.empty() || !l.thread_locals.dummies.present()) return;
    for (ObjectId local{0}; local < objects.addresses.size(); ++local) {
        if (objects.types[local] == no_type || !is_local[objects.types[local]]) continue;
        const Address dicts = python.pointer(objects.addresses[local] + *l.thread_locals.dummies);
        python.visit_dict(dicts, [&](Address key, Address value) {
            const bool weak = !is_dummy(key) && l.weakref.wr_object.present();
            const auto thread = thread_of_dummy.find(weak ? python.pointer(key + *l.weakref.wr_object) : key);
            if (thread == thread_of_dummy.end() || objects.find(value) == no_object || !python.is_dict(value))
                return;
            thread_local_dicts_.push_back(value);
            add(objects, value,
                {.kind = RootKind::thread_local_, .thread = thread->second, .text = "", .of = local});
        });
    }
}

void RootSet::add_static_types(const FoundObjects& objects, const PythonHeap& python) {
    for (const TypeInfo& type : python.types())
        if (!type.heap_type) add(objects, type.address, {.kind = RootKind::static_type});
}

}  // namespace heapsift
