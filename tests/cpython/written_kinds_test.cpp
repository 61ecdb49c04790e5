// Kinds that are more than a table of fields: what they reach through links, tables and counts, who owns
// what, and false links and counts.

#include "tests/cpython/heap_questions.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong, hidden = ReferenceKind::hidden,
               reported = ReferenceKind::reported, weak = ReferenceKind::weak;

/// An instance of the C type `name`, of the size that the layout has for its struct.
Address instance(PythonHeapBuilder& heap, const char* name, LayoutOffset size, std::int64_t itemsize = 0,
                 std::int64_t items = 0) {
    const Address type = heap.c_type(name, {.basicsize = *size,
                                            .itemsize = itemsize,
                                            .flags = heapsift::test::have_gc_flag,
                                            .own_sizeof = false});
    return heap.object(type, items);
}

std::vector<ReferenceKind> kinds_named(PythonHeapBuilder& heap, Address object, const std::string& name) {
    std::vector<ReferenceKind> kinds;
    for (const Seen& seen : references(heap, object))
        if (seen.name == name) kinds.push_back(seen.kind);
    return kinds;
}

}  // namespace

TEST_CASE("lru_cache: it owns its links, and reports what they own", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->lru_cache;
    const auto& of_link = layout->lru_cache_link;
    const Address cache = instance(heap, "functools._lru_cache_wrapper", l.size);
    const Address link_type = heap.c_type("functools._lru_list_elem", {.basicsize = *of_link.size});
    std::vector<Address> links, keys;
    for (int i = 0; i < 3; ++i) {
        links.push_back(heap.object(link_type));
        keys.push_back(heap.integer(i));
        heap.set(links.back(), of_link.key, keys.back());
        heap.set(links.back(), of_link.result, heap.none());
    }
    heap.set(cache, l.root_next, links[0]);
    for (std::size_t i = 0; i < 3; ++i) {
        heap.set(links[i], of_link.prev, i == 0 ? cache : links[i - 1]);
        heap.set(links[i], of_link.next, i == 2 ? cache : links[i + 1]);
    }
    const auto owned = [&] {
        std::vector<Address> targets;
        for (const Seen& seen : references(heap, cache))
            if (seen.name == ".<link>") targets.push_back(seen.target);
        return targets;
    };
    CHECK(owned() == links);
    CHECK(kinds_named(heap, cache, ".<link>") == std::vector(3, hidden));
    CHECK(kinds_named(heap, cache, ".<link>.key") == std::vector(3, reported));
    CHECK(reference(heap, links[1], ".key") == Seen{keys[1], ".key", hidden});
    // A ring that leads back to one of its links, or contradicts itself, ends there.
    heap.set(links[2], of_link.next, links[1]);
    CHECK(owned() == links);
    heap.set(links[1], of_link.prev, links[2]);
    CHECK(owned() == std::vector{links[0]});
    heap.set(links[0], of_link.next, links[0]);
    CHECK(owned() == std::vector{links[0]});
}

TEST_CASE("hamt: pairs of key and value, or nodes below; an array of nodes", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->hamt_bitmap_node;
    if (!l.size.present()) return;  // since 3.7
    const Address bitmap_type = heap.c_type(
        "hamt_bitmap_node", {.basicsize = *l.b_array, .itemsize = 8, .flags = heapsift::test::have_gc_flag});
    const Address node = heap.object(bitmap_type, 4), below = heap.object(bitmap_type, 0);
    const Address key = heap.str("key"), value = heap.integer(1);
    heap.put(node + *l.b_array, key);
    heap.put(node + *l.b_array + 8, value);
    heap.put(node + *l.b_array + 24, below);
    CHECK(references(heap, node) == std::vector<Seen>{{key, "key key", strong},
                                                      {value, "['key']", strong},
                                                      {below, ".<node>", strong}});
    for (const std::int64_t lie : {std::int64_t{-4}, std::int64_t{1} << 62, std::int64_t{-1} << 63}) {
        heap.put(node + *layout->var_object.ob_size, lie);
        ask_everything(heap, node);
    }
    const auto& of_array = layout->hamt_array_node;
    const Address array = instance(heap, "hamt_array_node", of_array.size);
    heap.put(array + *of_array.a_array + 8 * 31, node);
    heap.put(array + *of_array.a_count, std::uint64_t{1});  // no pointer
    CHECK(references(heap, array) == std::vector<Seen>{{node, ".<node>", strong}});
}

TEST_CASE("exceptions: what all have, and what their own class adds", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address value = heap.integer(7), args = heap.tuple({value});
    const Address base = heap.builtin("BaseException");
    const auto make = [&](const char* name, LayoutOffset size, LayoutOffset field) {
        const Address type = heap.c_type(
            name, {.base = base,
                   .basicsize = *size,
                   .flags = heapsift::test::have_gc_flag | heapsift::test::exception_subclass_flag});
        const Address exception = heap.object(type);
        heap.set(exception, layout->exception.args, args);
        heap.set(exception, field, value);
        return exception;
    };
    const auto check = [&](Address exception, const std::string& field) {
        CHECK(plausible(heap, exception));
        CHECK(reference(heap, exception, ".args").target == args);
        CHECK(reference(heap, exception, field) == Seen{value, field, strong});
    };
    check(make("StopIteration", layout->stop_iteration.size, layout->stop_iteration.value), ".value");
    check(make("SystemExit", layout->system_exit.size, layout->system_exit.code), ".code");
    check(make("ImportError", layout->import_error.size, layout->import_error.path), ".path");
    check(make("OSError", layout->os_error.size, layout->os_error.filename2), ".filename2");
    check(make("SyntaxError", layout->syntax_error.size, layout->syntax_error.print_file_and_line),
          ".print_file_and_line");
    check(make("UnicodeDecodeError", layout->unicode_error.size, layout->unicode_error.reason), ".reason");
    if (layout->name_error.size.present())
        check(make("NameError", layout->name_error.size, layout->name_error.name), ".name");
    if (layout->exception_group.size.present())
        check(make("BaseExceptionGroup", layout->exception_group.size, layout->exception_group.excs),
              ".exceptions");
}

TEST_CASE("thread-local: dicts of threads are its own, the dummy in a thread borrows", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->thread_locals;
    const Address local = instance(heap, "_thread._local", l.size);
    const Address dicts = heap.dict({}), key = heap.str("thread.local.1");
    heap.set(local, l.dummies, dicts);
    heap.set(local, l.key, key);
    CHECK(reference(heap, local, ".<dicts of threads>") == Seen{dicts, ".<dicts of threads>", strong});
    if (l.key.present()) CHECK(reference(heap, local, ".<key>").kind == hidden);
    const Address watchdogs = heap.set({});
    heap.set(local, l.watchdogs, watchdogs);
    CHECK(reference(heap, local, ".<watchdogs of threads>").target ==
          (l.watchdogs.present() ? watchdogs : Address()));
    CHECK(l.watchdogs.present() != layout->thread_local_dummy.localdict.present());
    if (!layout->thread_local_dummy.localdict.present())
        return;  // 3.13: a key in the thread's dict, and no dummy's dict
    const Address dummy = instance(heap, "_thread._localdummy", layout->thread_local_dummy.size);
    heap.set(dummy, layout->thread_local_dummy.localdict, dicts);
    CHECK(reference(heap, dummy, ".<dict>").kind == weak);
}

TEST_CASE("Element: children, and texts that wait to be joined", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->element;
    const auto& more = layout->element_extra;
    const Address element = heap.object("xml.etree.ElementTree.Element"),
                  child = heap.object("xml.etree.ElementTree.Element");
    const Address pieces = heap.list({}), extra = heap.allocate(*more.size);
    heap.set(element, l.text, Address(pieces.value | 1));
    heap.set(element, l.extra, extra);
    heap.set(extra, more.length, std::int64_t{1});
    heap.set(extra, more.allocated, std::int64_t{4});
    heap.set(extra, more.children, extra + *more.inline_children);
    heap.put(extra + *more.inline_children, child);
    CHECK(references(heap, element) == std::vector<Seen>{{pieces, ".text", strong}, {child, "[0]", strong}});
    for (const std::int64_t lie : {std::int64_t{1} << 62, std::int64_t{-1}}) {
        heap.set(extra, more.length, lie);
        CHECK(all_references(heap, element).count < 100'000);
    }
    const Address iterator = instance(heap, "_elementtree._element_iterator", layout->element_iterator.size);
    heap.set(iterator, layout->element_iterator.parent_stack, extra);
    for (const std::int64_t lie : {std::int64_t{-1} << 63, std::int64_t{1} << 62}) {
        heap.set(iterator, layout->element_iterator.parent_stack_used, lie);
        CHECK(all_references(heap, iterator).count < 100'000);
    }
}

TEST_CASE("Task: what it waits for, runs, and calls when it is done", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->task;
    const Address task = instance(heap, "_asyncio.Task", l.size),
                  future = instance(heap, "_asyncio.Future", layout->future.size);
    const Address coroutine = heap.object("coroutine"), callback = heap.object("function");
    heap.set(task, l.waiter, future);
    heap.set(task, l.coro, coroutine);
    heap.set(task, l.callback0, callback);
    heap.set(future, layout->future.result, task);
    std::vector<Seen> expected = {{future, "._fut_waiter", strong}, {coroutine, "._coro", strong}};
    if (l.callback0.present())  // since 3.7
        expected.insert(expected.begin(), {callback, "._callbacks[0][0]", strong});
    CHECK(references(heap, task) == expected);
    CHECK(references(heap, future) == std::vector<Seen>{{task, "._result", strong}});
}

TEST_CASE("Pickler: its memo owns what was written, reported since 3.11.7 and 3.12.1", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    const int micro = GENERATE(0, 1, 7);
    PythonHeapBuilder heap(*layout);
    heap.runtime().version.micro = micro;
    const Address pickler = instance(heap, "_pickle.Pickler", layout->pickler.size);
    const Address memo = heap.allocate(*layout->pickler_memo.size),
                  table = heap.allocate(8 * *layout->pickler_memo_entry.size);
    const Address written = heap.list({});
    heap.set(pickler, layout->pickler.memo, memo);
    heap.set(memo, layout->pickler_memo.mt_table, table);
    heap.set(memo, layout->pickler_memo.mt_allocated, std::uint64_t{8});
    heap.put(table + 5 * *layout->pickler_memo_entry.size + *layout->pickler_memo_entry.me_key, written);
    const int minor = heap.minor();
    const bool is_reported = minor >= 13 || (minor == 12 && micro >= 1) || (minor == 11 && micro >= 7);
    CHECK(references(heap, pickler) ==
          std::vector<Seen>{{written, ".<memo>", is_reported ? strong : hidden}});
    for (const std::uint64_t lie : {~std::uint64_t{0}, std::uint64_t{1} << 60}) {
        heap.set(memo, layout->pickler_memo.mt_allocated, lie);
        CHECK(all_references(heap, pickler).count < 100'000);
    }
}

TEST_CASE("struct sequence: fields behind its length, by the names of its type", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    const bool own_traverse = GENERATE(false, true);
    PythonHeapBuilder heap(*layout);
    const auto& def = layout->member_def;
    const std::uint64_t first = *layout->tuple.ob_item;
    const Address type = heap.c_type(
        "os.stat_result", {.base = heap.builtin("tuple"),
                           .basicsize = first,
                           .itemsize = 8,
                           .flags = heapsift::test::have_gc_flag | heapsift::test::tuple_subclass_flag});
    heap.set(type, layout->type.tp_dict, heap.dict({{heap.str("n_fields"), heap.integer(4)}}));
    heap.set(type, layout->type.tp_traverse, Address(own_traverse ? 0x555500001234 : 0));
    const Address members = heap.allocate_static(4 * *def.size);
    heap.set(type, layout->type.tp_members, members);
    for (const std::uint64_t i :
         {0, 1, 2})  // the last of the four, in place 2, has no name: members know 0, 1 and 3
        for (const std::uint64_t offset : {first + 8 * (i == 2 ? 3 : i)}) {
            heap.set(members + i * *def.size, def.name, heap.c_string(i == 2 ? "st_mtime" : "st_mode"));
            heap.set(members + i * *def.size, def.offset, offset);
        }
    const Address stat = heap.object(type, 4);
    heap.put(stat + *layout->var_object.ob_size, std::int64_t{2});
    std::vector<Address> fields;
    for (std::uint64_t i = 0; i < 4; ++i)
        heap.put(stat + first + 8 * i, fields.emplace_back(heap.integer(100 + static_cast<int>(i))));
    if (heap.type(type).field_count != 4) return;  // where a type's dict is elsewhere
    const auto kind = own_traverse ? strong : hidden;
    CHECK(references(heap, stat) == std::vector<Seen>{{fields[0], "[0]", strong},
                                                      {fields[1], "[1]", strong},
                                                      {fields[2], ".<hidden field>", kind},
                                                      {fields[3], ".st_mtime", kind}});
}

TEST_CASE("module: the words of its state are guesses, and without any it is exact", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto exact = [&](Address module) {
        const ObjectReader reader = heap.reader(module);
        return reader.type().kind->exact(reader);
    };
    const Address definition = heap.allocate_static(*layout->module_def.m_size + 8),
                  state = heap.allocate(32);
    const Address module = heap.object("module"), held = heap.str("held");
    CHECK(exact(module));
    heap.set(definition, layout->module_def.m_size, std::int64_t{32});
    heap.set(module, layout->module.md_state_size, std::int64_t{32});
    heap.set(module, layout->module.md_def, definition);
    heap.set(module, layout->module.md_state, state);
    heap.put(state + 8, std::uint64_t{12345});
    CHECK(exact(module));
    heap.put(state + 24, held);
    CHECK_FALSE(exact(module));
    CHECK(reference(heap, module, ".<module state>") == Seen{held, ".<module state>", ReferenceKind::guess});
    for (const std::int64_t lie : {std::int64_t{-8}, std::int64_t{1} << 20, std::int64_t{1} << 62}) {
        heap.set(definition, layout->module_def.m_size, lie);
        heap.set(module, layout->module.md_state_size, lie);
        ask_everything(heap, module);
    }
}

TEST_CASE("capsule: exact, unless it has a traverse of its own", "[cpython][kinds]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address capsule = heap.object("PyCapsule");
    heap.set(capsule, layout->capsule.name, heap.c_string("a.b"));
    const ObjectReader reader = heap.reader(capsule);
    CHECK(text_of(heap, capsule) == "<capsule \"a.b\">");
    CHECK(reader.type().kind->exact(reader));
    heap.set(capsule, layout->capsule.traverse_func, heap.code_address());
    CHECK(reader.type().kind->exact(heap.reader(capsule)) == !layout->capsule.traverse_func.present());
}

TEST_CASE("chains that lead back to themselves end", "[cpython][kinds][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (layout->profiler.size.present() && layout->profiler_entry.user_object.present()) {
        const auto& l = layout->profiler_entry;
        const Address profiler = instance(heap, "_lsprof.Profiler", layout->profiler.size),
                      entry = heap.allocate(256);
        heap.set(profiler, layout->profiler.entries, entry);
        heap.set(entry, l.user_object, heap.none());
        heap.set(entry, l.left, entry);
        heap.set(entry, l.right, entry);
        CHECK(kinds_named(heap, profiler, ".<profiled>").size() == 1);
    }
    if (layout->sqlite_cache.size.present()) {
        const auto& l = layout->sqlite_cache;
        const Address cache = instance(heap, "sqlite3.Cache", l.size), node = heap.allocate(256);
        heap.set(cache, l.mapping, heap.dict({{heap.str("a"), heap.none()}, {heap.str("b"), heap.none()}}));
        heap.set(cache, l.first, node);
        heap.set(node, layout->sqlite_cache_node.next, node);
        CHECK(kinds_named(heap, cache, ".<node>").size() == 2);
    }
}
