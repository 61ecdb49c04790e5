// What can be called and holds something: bound methods, functools.partial, caches of lru_cache.
//
// A cache counts beside the pointers that the layouts have: its hits before the function, its misses after the
// maximum (_functoolsmodule.c, lru_cache_object; the same from 3.9 to 3.13). A maximum below 0 is "none".

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

constexpr std::size_t most_arguments_shown = 8;

/// "app.load": module and name of a function; else its value.
std::string callable_name(const Describing& of, Address callable) {
    const PythonHeap& heap = of.heap();
    const auto object = object_at(heap, callable);
    if (!object) return "?";
    if (object->type().known == KnownType::function) {
        const auto& l = heap.layout().function;
        const LayoutOffset called = l.func_qualname.present() ? l.func_qualname : l.func_name;
        const auto name = str_value(heap, heap.pointer(callable + *called));
        const auto module = str_value(heap, heap.pointer(callable + *l.func_module));
        if (name) return module ? *module + "." + *name : *name;
    }
    return of.values.part(callable, of.limit, of.depth + 1).text;
}

ShortValue bound_method(const Describing& of) {
    const auto& l = of.object.layout();
    const Address function = of.object.pointer(l.method.im_func);
    const LayoutOffset called =
        l.function.func_qualname.present() ? l.function.func_qualname : l.function.func_name;
    const auto name = str_value(of.heap(), of.heap().pointer(function + *called));
    if (!name) return {};
    const std::string kept = "<bound method " + *name + ">";
    if (of.depth > 0) return {.kind = ShortValue::Kind::name, .text = kept};
    ValueText value(of, "<bound method " + *name + " of ");
    value.part(of.object.pointer(l.method.im_self)).add(">");
    return {
        .kind = ShortValue::Kind::summary, .text = value.text(), .cut = value.cut(), .without_values = kept};
}

ShortValue partial(const Describing& of) {
    const auto& l = of.object.layout().partial;
    const Address function = of.object.pointer(l.fn);
    if (function.is_null()) return {};
    const std::string name = callable_name(of, function);
    ValueText value(of, "functools.partial(" + name);
    const FirstItems arguments = first_items(of.heap(), of.object.pointer(l.args), most_arguments_shown);
    for (const Address argument : arguments.items) value.add(", ").part(argument);
    const auto keywords = first_entries(of.heap(), of.object.pointer(l.kw), most_arguments_shown);
    for (const auto& [key, argument] : keywords)
        value.add(", " + str_value(of.heap(), key).value_or("?") + "=").part(argument);
    value.add(")");
    return {.kind = ShortValue::Kind::summary,
            .text = value.text(),
            .cut = value.cut(),
            .without_values = fmt::format("functools.partial({}, …)", name)};
}

ShortValue lru_cache(const Describing& of) {
    const auto& l = of.object.layout().lru_cache;
    if (!l.func.present() || !l.maxsize.present()) return {};
    const bool is_old = l.maxsize_object.present();  // 3.6: both follow the class of cache_info()
    if (is_old ? !l.cache_info_type.present() : *l.maxsize != *l.func + 8) return {};
    const Address function = of.object.pointer(l.func);
    const auto hits =
        of.heap().integer<std::int64_t>(of.object.at(is_old ? *l.cache_info_type + 16 : *l.func - 8));
    const auto most = of.object.integer<std::int64_t>(l.maxsize);
    const auto misses =
        of.heap().integer<std::int64_t>(of.object.at(is_old ? *l.cache_info_type + 8 : *l.maxsize + 8));
    const Address cache = of.object.pointer(l.cache);
    const auto facts = cache.is_null() ? std::nullopt : of.heap().dict(cache);
    if (function.is_null() || hits < 0 || misses < 0 || !facts) return {};
    const std::string room = most < 0 ? "no limit" : fmt::format("of at most {}", most);
    std::string text = fmt::format("<cache of {}: {} {}, {} hits, {} misses>", callable_name(of, function),
                                   facts->used, most < 0 ? "entries, " + room : room, hits, misses);
    return {.kind = ShortValue::Kind::name, .text = std::move(text)};
}

constexpr ValueRow callable_rows[] = {
    {"method", bound_method}, {"functools.partial", partial}, {"functools._lru_cache_wrapper", lru_cache}};

}  // namespace

std::span<const ValueRow> callable_values() { return callable_rows; }

}  // namespace heapsift
