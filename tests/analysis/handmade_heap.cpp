// The members of HeapReader, over a list. (The linker takes these, and leaves the library's file alone.)

#include "tests/analysis/handmade_heap.h"

#include "parsers/cpython/object_kind.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/reported_references.h"
#include "parsers/snapshot/size_column.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <algorithm>
#include <set>

namespace heapsift {

struct HeapReader::State {
    test::HandmadeHeap made;
    CoreFile core;
    PythonRuntime python;
    TypeTable types;
    std::vector<TypeId> type_of;
    mutable std::optional<ReferenceGraph> references;
    mutable std::unique_ptr<PythonHeap> heap;
    mutable std::optional<SizeColumn> sizes;
};

namespace {

const test::HandmadeHeap* next_heap = nullptr;  // what `build` is to return

TypeTable types_of(const test::HandmadeHeap& heap) {
    std::vector<TypeInfo> types = heap.types;
    for (const test::HandmadeObject& object : heap.objects) {
        const auto known = std::find_if(types.begin(), types.end(),
                                        [&](const TypeInfo& t) { return t.name == object.type; });
        if (known != types.end()) continue;
        TypeInfo type;
        type.address = Address(0x1000 + 0x100 * types.size());
        type.name = object.type;
        type.heap_type = true;
        type.has_gc = object.facts.gc_tracked;
        types.push_back(type);
    }
    return TypeTable(std::move(types));
}

std::string small_core() {
    return test::CoreWriter()
        .thread(100, 0)
        .process(100, "python3", "python3 app.py")
        .load(0x10000, std::string(4096, 'a'))
        .bytes();
}

}  // namespace

HeapReader::HeapReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
HeapReader::HeapReader(HeapReader&&) noexcept = default;
HeapReader& HeapReader::operator=(HeapReader&&) noexcept = default;
HeapReader::~HeapReader() = default;

HeapReader HeapReader::build(CoreFile core, Diagnostics&, const ProgressCallback&) {
    test::HandmadeHeap made = *next_heap;
    std::sort(made.objects.begin(), made.objects.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    PythonRuntime python;
    python.version = {3, 11, 2};
    python.found_by = "symbol _PyRuntime of /usr/bin/python3.11";
    python.layout_source = "built-in table for CPython 3.11";
    python.layout = made.layout;
    python.interpreters = made.interpreters;
    python.checks = {{"type is its own type", true}};
    TypeTable types = types_of(*next_heap);  // in the order in which the test wrote the objects down
    std::vector<TypeId> type_of;
    for (const auto& object : made.objects) type_of.push_back(types.named(object.type).front());
    return HeapReader(std::make_unique<State>(State{std::move(made),
                                                    std::move(core),
                                                    std::move(python),
                                                    std::move(types),
                                                    std::move(type_of),
                                                    {},
                                                    {},
                                                    {}}));
}

const CoreFile& HeapReader::core() const { return state_->core; }
const PythonRuntime& HeapReader::python() const { return state_->python; }
const TypeTable& HeapReader::types() const { return state_->types; }
const PythonHeap& HeapReader::python_heap() const {
    if (!state_->heap)
        state_->heap = std::make_unique<PythonHeap>(state_->core.memory(), state_->python, state_->types);
    return *state_->heap;
}
std::size_t HeapReader::object_count() const { return state_->made.objects.size(); }
Address HeapReader::address_of(ObjectId object) const { return state_->made.objects[object].address; }
TypeId HeapReader::type_of(ObjectId object) const { return state_->type_of[object]; }
FoundBy HeapReader::found_by(ObjectId object) const { return state_->made.objects[object].found_by; }
ObjectFacts HeapReader::facts(ObjectId object) const { return state_->made.objects[object].facts; }
void HeapReader::sizes(ObjectId first, std::span<ObjectSizes> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = facts(static_cast<ObjectId>(first + i));
}
void HeapReader::hide_thread_names(bool) {}
bool HeapReader::thread_names_hidden() const { return false; }
ShortValue HeapReader::value(ObjectId object, std::size_t) const {
    return state_->made.objects[object].value;
}
HeapReader::MemoryRows HeapReader::memory_rows(const ProgressCallback&) const {
    return {state_->made.memory, 0};
}
const SizeColumn& HeapReader::size_column(const ProgressCallback&) const {
    if (!state_->sizes) {
        state_->sizes.emplace();
        for (ObjectId object{0}; object < object_count(); ++object) state_->sizes->add(facts(object));
    }
    return *state_->sizes;
}

ObjectId HeapReader::find(Address address) const {
    const auto& objects = state_->made.objects;
    const auto at = std::lower_bound(
        objects.begin(), objects.end(), address,
        [](const test::HandmadeObject& object, Address wanted) { return object.address < wanted; });
    return at != objects.end() && at->address == address ? static_cast<ObjectId>(at - objects.begin())
                                                         : no_object;
}

AddressFinding HeapReader::locate(Address address) const {
    const ObjectId object = find(address);
    return object == no_object ? state_->made.finding
                               : AddressFinding{AddressFinding::Kind::object, object, no_object};
}

void HeapReader::visit_references(ObjectId object, const std::function<void(const Reference&)>& visit) const {
    for (const Reference& reference : state_->made.objects[object].references) visit(reference);
}

void HeapReader::visit_references_to(ObjectId source, ObjectId target,
                                     const std::function<void(const Reference&)>& visit) const {
    for (const Reference& reference : state_->made.objects[source].references)
        if (reference.target == address_of(target)) visit(reference);
}

namespace {

/// A name that lasts, as those of the program's source do.
FieldName kept_name(const ReferenceStep& step) {
    static std::set<std::string> names;
    return FieldName::read(names.insert(notation(step)).first->c_str());
}

}  // namespace

void HeapReader::visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const {
    for (const Reference& reference : state_->made.objects[object].references)
        if (const ObjectId target = find(reference.target); target != no_object && reference.followed)
            visit.visit(target, {ReferenceName::Form::text, kept_name(reference.step), 0, {}});
}

void HeapReader::visit_referrers(ObjectId target,
                                 const std::function<void(ObjectId, const Reference&)>& visit) const {
    for (ObjectId id{0}; id < object_count(); ++id)
        for (const Reference& reference : state_->made.objects[id].references)
            if (reference.target == address_of(target)) visit(id, reference);
    for (const Reference& reference : state_->made.natives)
        if (reference.target == address_of(target)) visit(no_object, reference);
}

void HeapReader::visit_native_references(const std::function<void(const Reference&)>& visit) const {
    for (const Reference& reference : state_->made.natives) visit(reference);
}

const ReferenceGraph& HeapReader::references(const ProgressCallback&) const {
    if (state_->references) return *state_->references;
    std::vector<std::uint64_t> begin{0};
    std::vector<ObjectId> targets;
    for (const test::HandmadeObject& object : state_->made.objects) {
        for (const Reference& reference : object.references)
            if (const ObjectId target = find(reference.target); target != no_object && reference.followed)
                targets.push_back(target);
        begin.push_back(targets.size());
    }
    std::vector<NativeReference> natives;
    for (const Reference& native : state_->made.natives)
        if (const ObjectId target = find(native.target); target != no_object && native.followed)
            natives.push_back({native.word, target, NativePlace::block});
    return state_->references.emplace(std::move(begin), std::move(targets), std::move(natives));
}

CollectorFacts HeapReader::collector_facts(ObjectId object) const {
    const ObjectFacts& facts = state_->made.objects[object].facts;
    return {facts.refcount, facts.immortal, facts.gc_tracked, state_->made.objects[object].finalized};
}

ReportedReferences HeapReader::reported_references(std::span<const std::uint8_t> asked,
                                                   const ProgressCallback&) const {
    std::vector<std::uint64_t> begin{0};
    std::vector<ObjectId> targets;
    std::vector<ReportedReferences::Guess> guesses;
    for (ObjectId source{0}; source < object_count(); ++source) {
        for (const Reference& reference : state_->made.objects[source].references) {
            const ObjectId target = find(reference.target);
            if (target == no_object || !asked[source] || !asked[target]) continue;
            if (reference.kind == ReferenceKind::strong || reference.kind == ReferenceKind::reported)
                targets.push_back(target);
            if (reference.kind == ReferenceKind::guess && reference.followed)
                guesses.push_back({source, target});
        }
        begin.push_back(targets.size());
    }
    return {references(), std::move(begin), std::move(targets), std::move(guesses)};
}

namespace test {

HeapReader HandmadeHeap::build() const {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    next_heap = this;
    const std::string path = directory.write("core", core_bytes.empty() ? small_core() : core_bytes);
    return HeapReader::build(CoreFile::open(path, {}, diagnostics), diagnostics);
}

namespace {

/// The value of a name as a test writes it.
ReferenceStep step_called(const std::string& name) {
    ReferenceStep step = field_step(FieldName::read(name.c_str()));
    const std::string_view text = name;
    const auto inside = [&](std::string_view before, std::string_view after) {
        return text.starts_with(before) && text.ends_with(after)
                   ? std::string(text.substr(before.size(), text.size() - before.size() - after.size()))
                   : std::string();
    };
    const auto is = [&](ReferenceStep::Kind kind, std::string called) {
        step.kind = kind;
        step.name = std::move(called);
    };
    if (const std::string cell = inside(".<cell ", ">"); !cell.empty()) is(ReferenceStep::Kind::cell, cell);
    if (const std::string local = inside(".f_locals['", "']"); !local.empty()) {
        is(ReferenceStep::Kind::local, local);
        step.within = ".";
        step.own_frame = true;
    }
    const auto number = [](const std::string& digits) {
        return !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    };
    if (const std::string offset = inside("<+", ">"); number(offset)) {
        is(ReferenceStep::Kind::offset, {});
        step.number = std::stoull(offset);
    }
    if (const std::string index = inside("[", "]"); number(index)) {
        is(ReferenceStep::Kind::index, {});
        step.number = std::stoull(index);
    } else if (!index.empty()) {
        is(ReferenceStep::Kind::place, name);
    }
    return step;
}

}  // namespace

ShortValue literal(std::string text, std::uint64_t length) {
    return {ShortValue::Kind::literal, std::move(text), length};
}

Reference reference(std::uint64_t target, std::string name, ReferenceKind kind) {
    Reference made;
    made.target = Address(target);
    made.kind = kind;
    made.followed = is_owned(kind) || kind == ReferenceKind::guess;
    made.step = step_called(name);
    return made;
}

Reference item(std::uint64_t target, ShortValue key, ReferenceKind kind) {
    Reference made = reference(target, "", kind);
    made.step = item_step(std::move(key));
    return made;
}

Reference key(std::uint64_t target, ShortValue key, ReferenceKind kind) {
    Reference made = reference(target, "", kind);
    made.step = key_step(std::move(key));
    return made;
}

ObjectFacts facts(std::uint64_t size, std::uint64_t memory, std::uint64_t array_data, std::int64_t refcount) {
    ObjectFacts made;
    made.size = size;
    made.memory = memory;
    made.array_data = array_data;
    made.refcount = refcount;
    return made;
}

}  // namespace test
}  // namespace heapsift
