// atexit keeps an array of pointers to structs {func, args, kwargs}, its count and its room behind the pointer: in
// the interpreter's state since 3.10 (pycore_atexit.h and pycore_interp.h: struct atexit_state), before in the state
// of the module (atexitmodule.c: atexitmodule_state). No table of layouts has the offset, which differs from build to
// build; but nothing else has that shape in all its entries. Since 3.14 the state
// has a list of tuples instead: (function, arguments, keyword arguments or None).
//
// signal keeps for each number a flag and the handler, sixteen bytes: in a variable up to 3.11, then in the runtime's
// state (signalmodule.c: Handlers; pycore_signal.h). A number without a handler of its own has SIG_DFL, which is one
// object for all.

#include "parsers/snapshot/callback_tables.h"

#include "parsers/cpython/build/quirks.h"
#include "parsers/memory/region_map.h"

#include <algorithm>
#include <optional>

namespace heapsift {
namespace {

constexpr std::uint64_t callback_bytes = 24, module_state_bytes = 64;
constexpr std::int32_t most_callbacks = 1 << 24;

class AtExitSearch {
public:
    explicit AtExitSearch(const ObjectAccess& access) : heap_(access.heap()) {}

    std::vector<AddressRange> find() {
        const LayoutOffset size = heap_.layout().interpreter_state.size;
        for (const PythonInterpreter& interpreter : heap_.runtime().interpreters) {
            if (size.present() && !interpreter.address.is_null()) {
                if (keeps_callbacks_in_list(heap_.layout())) {
                    look_for_list(interpreter.address, *size);
                    continue;
                }
                look_in(interpreter.address, *size);
            }
            const Address module =
                interpreter.modules.is_null() ? Address() : heap_.dict_value(interpreter.modules, "atexit");
            const LayoutOffset field = heap_.layout().module.md_state;
            if (const Address state =
                    module.is_null() || !field.present() ? Address() : heap_.pointer(module + *field);
                !state.is_null())
                look_in(state, module_state_bytes);
        }
        join_ranges(found_);
        return std::move(found_);
    }

private:
    void look_in(Address state, std::uint64_t bytes) {
        for (std::uint64_t at = 0; at + 16 <= bytes; at += 8) {
            const auto count = heap_.integer<std::int32_t>(state + at + 8),
                       room = heap_.integer<std::int32_t>(state + at + 12);
            if (count <= 0 || count > room || room > most_callbacks) continue;
            const Address array = heap_.pointer(state + at);
            if (array.is_null() || !array.aligned(8)) continue;
            if (auto all = callbacks(array, count)) found_.insert(found_.end(), all->begin(), all->end());
        }
    }

    void look_for_list(Address state, std::uint64_t bytes) {
        for (std::uint64_t at = 0; at + 8 <= bytes; at += 8)
            if (const Address word = state + at; is_list_of_callbacks(heap_.pointer(word)))
                found_.push_back({word, word + 8});
    }

    bool is_list_of_callbacks(Address list) const {
        const Layout& l = heap_.layout();
        if (!list.aligned(8) || !is(list, KnownType::list)) return false;
        const std::int64_t count = heap_.var_size(list);
        const Address items = heap_.pointer(list + *l.list.ob_item);
        if (count <= 0 || count > most_callbacks) return false;
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
            const Address callback = heap_.pointer(items + 8 * i);
            if (!callback.aligned(8) || !is(callback, KnownType::tuple) || heap_.var_size(callback) != 3)
                return false;
            const auto part = [&](std::uint64_t n) {
                return heap_.pointer(callback + *l.tuple.ob_item + 8 * n);
            };
            if (!is(part(1), KnownType::tuple) ||
                !(is(part(2), KnownType::dict) || is(part(2), KnownType::none)))
                return false;
        }
        return true;
    }

    /// Nothing if one of them is something else. One that was taken back is null.
    std::optional<std::vector<AddressRange>> callbacks(Address array, std::int32_t count) const {
        std::vector<AddressRange> all;
        for (std::int32_t i = 0; i < count; ++i) {
            const Address callback = heap_.pointer(array + 8 * static_cast<std::uint64_t>(i));
            if (callback.is_null()) {
                if (i == 0 && count == 1) return std::nullopt;
                continue;
            }
            const Address named = heap_.pointer(callback + 16);
            if (!callback.aligned(8) ||
                heap_.types().find(heap_.type_address(heap_.pointer(callback))) == no_type ||
                !is(heap_.pointer(callback + 8), KnownType::tuple) ||
                !(named.is_null() || is(named, KnownType::dict)))
                return std::nullopt;
            all.push_back({callback, callback + callback_bytes});
        }
        return all;
    }

    bool is(Address object, KnownType known) const {
        return !object.is_null() && heap_.types().is(heap_.types().find(heap_.type_address(object)), known);
    }

    const PythonHeap& heap_;
    std::vector<AddressRange> found_;
};

}  // namespace

CallbackTables find_callback_tables(const ObjectAccess& access) { return {AtExitSearch(access).find()}; }

bool CallbackTables::is_signal_handler(const ObjectAccess& access, Address word) const {
    constexpr std::uint64_t entry = 16;
    constexpr int most = 65, least = 48;  // _NSIG; without those that C libraries keep for themselves
    const PythonHeap& heap = access.heap();
    const auto handler_at = [&](Address at) -> Address {
        const auto tripped = heap.integer<std::int32_t>(at - 8);
        const Address handler = heap.pointer(at);
        if (tripped < 0 || tripped > 1 || handler.is_null() || !handler.aligned(8)) return {};
        return heap.types().find(heap.type_address(handler)) == no_type ? Address() : handler;
    };
    int all = 0, with_default = 0;
    std::vector<Address> handlers;
    for (const std::int64_t step : {-1, 1})
        for (std::uint64_t i = step > 0; i < static_cast<std::uint64_t>(most); ++i) {
            const Address handler = handler_at(step > 0 ? word + entry * i : word - entry * i);
            if (handler.is_null()) break;
            handlers.push_back(handler);
        }
    all = static_cast<int>(handlers.size());
    if (all < least || all > most) return false;
    std::sort(handlers.begin(), handlers.end());
    for (std::size_t i = 0, j = 0; i < handlers.size(); i = j) {
        while (j < handlers.size() && handlers[j] == handlers[i]) ++j;
        with_default = std::max(with_default, static_cast<int>(j - i));
    }
    return with_default * 2 > all;
}

}  // namespace heapsift
