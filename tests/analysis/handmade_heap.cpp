// A heap made by hand: its columns are filled from what a test wrote down, and so are the reader's answers.

#include "tests/analysis/handmade_heap.h"

#include "parsers/cpython/object_kind.h"
#include "parsers/cpython/python_heap.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <algorithm>
#include <set>

namespace heapsift::test {

struct HandmadeReader::State {
    State(HandmadeHeap m, CoreFile c)
        : made(std::move(m)),
          core(std::move(c)),
          heap(made.columns()),
          python(core.memory(), heap.python, heap.types) {
        heap.roots = RootSet(core, python, heap.objects, false);
    }
    HandmadeHeap made;
    CoreFile core;
    HeapSnapshot heap;
    PythonHeap python;
};

namespace {

/// Those that the test described, then the others, in the order in which it wrote the objects down.
std::vector<TypeInfo> types_of(const HandmadeHeap& heap) {
    std::vector<TypeInfo> types = heap.types;
    for (const HandmadeObject& object : heap.objects) {
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
    return types;
}

std::string small_core() {
    return CoreWriter()
        .thread(100, 0)
        .process(100, "python3", "python3 app.py")
        .load(0x10000, std::string(4096, 'a'))
        .bytes();
}

CoreFile core_of(const HandmadeHeap& heap) {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const std::string path =
        directory.write("core", heap.core_bytes.empty() ? small_core() : heap.core_bytes);
    return CoreFile::open(path, {}, diagnostics);
}

PythonRuntime runtime_of(const HandmadeHeap& heap) {
    PythonRuntime python;
    python.version = {3, 11, 2};
    python.found_by = "symbol _PyRuntime of /usr/bin/python3.11";
    python.layout_source = "built-in table for CPython 3.11";
    python.layout = heap.layout;
    python.interpreters = heap.interpreters;
    python.checks = {{"type is its own type", true}};
    return python;
}

/// Those that are followed and lead to an object.
ReferenceGraph references_of(const HandmadeHeap& made, const HeapSnapshot& heap) {
    std::vector<std::uint64_t> begin{0};
    std::vector<ObjectId> targets;
    for (const HandmadeObject& object : made.objects) {
        for (const Reference& reference : object.references)
            if (const ObjectId target = heap.find(reference.target);
                target != no_object && reference.followed)
                targets.push_back(target);
        begin.push_back(targets.size());
    }
    std::vector<NativeReference> natives;
    for (const Reference& native : made.natives)
        if (const ObjectId target = heap.find(native.target); target != no_object && native.followed)
            natives.push_back({native.word, target, NativePlace::block});
    return {std::move(begin), std::move(targets), std::move(natives)};
}

HandmadeHeap in_order(HandmadeHeap made) {
    made.types = types_of(made);
    std::sort(made.objects.begin(), made.objects.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    return made;
}

/// A name that lasts, as those of the program's source do.
FieldName kept_name(const ReferenceStep& step) {
    static std::set<std::string> names;
    return FieldName::read(names.insert(notation(step)).first->c_str());
}

}  // namespace

HeapSnapshot HandmadeHeap::columns() const {
    HeapSnapshot heap;
    heap.python = runtime_of(*this);
    heap.types = TypeTable(types_of(*this));
    SizeColumnBuilder sizes;
    std::vector<Address> addresses;
    std::vector<TypeId> of_types;
    std::vector<FoundBy> found_by;
    for (const HandmadeObject& object : objects) {
        addresses.push_back(object.address);
        of_types.push_back(heap.types.named(object.type).front());
        found_by.push_back(object.found_by);
        sizes.add(object.facts);
    }
    heap.objects = {std::move(addresses), std::move(of_types), std::move(found_by)};
    heap.index = ObjectIndex(heap.objects.addresses);
    heap.sizes = sizes.finish();
    heap.memory = MemoryRows{memory};
    heap.native = NativeBlocks{native, 0, {}};
    heap.references = references_of(*this, heap);
    return heap;
}

HandmadeReader HandmadeHeap::build() const { return HandmadeReader(*this); }

HandmadeReader::HandmadeReader(std::unique_ptr<State> state)
    : HeapReader(state->heap), state_(std::move(state)) {}

HandmadeReader::HandmadeReader(const HandmadeHeap& made)
    : HandmadeReader(std::make_unique<State>(in_order(made), core_of(made))) {}

HandmadeReader::HandmadeReader(HandmadeReader&&) noexcept = default;
HandmadeReader::~HandmadeReader() = default;

const HandmadeObject& HandmadeReader::object(ObjectId object) const { return state_->made.objects[object]; }
const CoreFile& HandmadeReader::core() const { return state_->core; }
const PythonHeap& HandmadeReader::python_heap() const { return state_->python; }
ObjectFacts HandmadeReader::facts(ObjectId id) const { return object(id).facts; }
void HandmadeReader::sizes(ObjectId first, std::span<ObjectSizes> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = facts(static_cast<ObjectId>(first + i));
}
CollectorFacts HandmadeReader::collector_facts(ObjectId id) const {
    const ObjectFacts& facts = object(id).facts;
    return {facts.refcount, facts.immortal, facts.gc_tracked, object(id).finalized};
}
ShortValue HandmadeReader::value(ObjectId id, std::size_t) const { return object(id).value; }

AddressFinding HandmadeReader::locate(Address address) const {
    const ObjectId found = snapshot().find(address);
    return found == no_object ? state_->made.finding
                              : AddressFinding{AddressFinding::Kind::object, found, no_object};
}

void HandmadeReader::visit_references(ObjectId source,
                                      const std::function<void(const Reference&)>& visit) const {
    for (const Reference& reference : object(source).references) visit(reference);
}

void HandmadeReader::visit_references_to(ObjectId source, std::span<const ObjectId> targets,
                                         const std::function<void(const Reference&)>& visit) const {
    for (const Reference& reference : object(source).references)
        if (std::binary_search(targets.begin(), targets.end(), snapshot().find(reference.target)))
            visit(reference);
}

void HandmadeReader::visit_owned_references(ObjectId source, OwnedReferenceVisitor& visit) const {
    for (const Reference& reference : object(source).references)
        if (const ObjectId target = snapshot().find(reference.target);
            target != no_object && reference.followed)
            visit.visit(target, {ReferenceName::Form::text, kept_name(reference.step), 0, {}});
}

void HandmadeReader::visit_referrers(ObjectId target,
                                     const std::function<void(ObjectId, const Reference&)>& visit) const {
    for (ObjectId id{0}; id < snapshot().object_count(); ++id)
        visit_references_to(id, {&target, 1}, [&](const Reference& reference) { visit(id, reference); });
    for (const Reference& reference : state_->made.natives)
        if (reference.target == snapshot().address_of(target)) visit(no_object, reference);
}

void HandmadeReader::visit_native_references(const std::function<void(const Reference&)>& visit) const {
    for (const Reference& reference : state_->made.natives) visit(reference);
}

void HandmadeReader::visit_native_blocks(
    const std::function<void(Address start, std::uint32_t row)>& visit) const {
    const auto& rows = snapshot().native->rows;
    for (std::uint32_t row = 0; row < rows.size(); ++row)
        for (std::uint64_t i = 0; i < rows[row].count; ++i) visit(rows[row].example + 0x1000 * i, row);
}

ReportedReferences HandmadeReader::reported_references(std::span<const std::uint8_t> asked,
                                                       const ProgressCallback&) const {
    RowStartsBuilder begin;
    begin.push_back(0);
    std::vector<ObjectId> targets;
    std::vector<ReportedReferences::Guess> guesses;
    for (ObjectId source{0}; source < snapshot().object_count(); ++source) {
        for (const Reference& reference : object(source).references) {
            const ObjectId target = snapshot().find(reference.target);
            if (target == no_object || !asked[source] || !asked[target]) continue;
            if (reference.kind == ReferenceKind::strong || reference.kind == ReferenceKind::reported)
                targets.push_back(target);
            if (reference.kind == ReferenceKind::guess && reference.followed)
                guesses.push_back({source, target});
        }
        begin.push_back(targets.size());
    }
    return {*snapshot().references, begin.finish(), std::move(targets), std::move(guesses)};
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

}  // namespace heapsift::test
