// The line of `def` says where a function begins; the line to change is where it fills what keeps the memory. Which
// instruction uses it, its argument tells (parsers/cpython/build/instructions.h), and which line, the line table.
// Whether something is added to it and not to another that stands on the same line, the values on the stack tell: they
// are followed from instruction to instruction, with what they are known to be (the object itself, or what was got out of
// it), and so are local variables that it is given to. A function or a method of the same object to which it is given may
// fill it; who stores None only clears.
//
// That is done in the order of the instructions, without looking where a jump leads: what stands behind one that is always
// taken (the second value of `a if b else c`) begins with the values of the last one that was taken on a condition. An
// instruction whose effect is not known empties the stack.

#include "analysis/suspects/code_uses.h"

#include "parsers/cpython/code_lines.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::size_t deepest_stack = 256, most_locals = 256, most_forks = 32;

template <std::size_t n>
bool is_one_of(const std::string& name, const std::array<std::string_view, n>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Functions that put something into the list that they are given.
bool is_function_that_adds(const std::string& name) {
    return is_one_of(name, std::array<std::string_view, 6>{"heappush", "heappushpop", "heapreplace", "insort",
                                                           "insort_left", "insort_right"});
}

/// Methods whose result is not the container's own.
bool is_name_that_copies(const std::string& name) {
    return is_one_of(
        name, std::array<std::string_view, 6>{"copy", "count", "index", "keys", "most_common", "qsize"});
}

/// Builtin functions that only look at what they are given.
bool is_name_that_reads(const std::string& name) {
    return is_one_of(name,
                     std::array<std::string_view, 28>{
                         "len",     "print",   "repr",   "str",      "sum",        "min",       "max",
                         "sorted",  "list",    "tuple",  "dict",     "set",        "frozenset", "iter",
                         "next",    "zip",     "any",    "all",      "id",         "type",      "bool",
                         "hasattr", "getattr", "format", "reversed", "isinstance", "enumerate", "range"});
}

struct ValueOnStack {
    bool used = false;         // what is sought, or got out of that
    bool itself = false;       // what is sought
    bool key = false;          // the constant by which it is asked for
    bool is_none = false;      // the constant None
    bool is_self = false;      // of a method: its first local variable
    bool adder = false;        // a function that adds to what it is given
    bool may_add = false;      // a function or method of the program, as far as is known
    bool bound_adder = false;  // a method that adds to what is sought, or to what was got out of that
    std::int32_t line = 0;     // where such a method was got, until it is put into a variable
};

class UseSearch {
public:
    UseSearch(const Operations& operations, const CodeLines& lines, const std::vector<std::string>& names,
              UsedByCode sought)
        : operations_(operations), lines_(lines), names_(names), sought_(sought) {}

    /// False if it cannot be followed.
    bool look_at(Instruction one, std::uint32_t argument, std::uint64_t offset) {
        line_ = lines_.line_at(static_cast<std::int64_t>(offset));
        switch (operations_.does(one)) {
            case Does::instrumented:
                return false;
            case Does::extended_argument:
                break;
            case Does::load_constant:
                push({.key = is_sought(UsedByCode::Table::constants, argument),
                      .is_none = argument == sought_.none_constant});
                if (values_.back().key) found(UseByCode::reads);
                break;
            case Does::load_local:
            case Does::store_local:
            case Does::load_two_locals:
            case Does::store_two_locals:
            case Does::store_and_load_local:
                of_locals(operations_.does(one), argument);
                break;
            case Does::load_cell:
                push(sought_value(is_sought_cell(argument)));
                values_.back().is_self = is_self_cell(argument);
                break;
            case Does::store_cell:
                pop();
                if (is_sought_cell(argument)) found(UseByCode::stores);
                break;
            case Does::load_name:
            case Does::load_name_by_2:
            case Does::store_name:
            case Does::load_attribute:
            case Does::load_attribute_by_2:
            case Does::load_method:
            case Does::load_super_attribute:
            case Does::store_attribute:
                of_name(one, argument);
                break;
            case Does::call:
            case Does::call_by_names:
            case Does::call_by_tuple:
                of_call(one, argument);
                break;
            case Does::copy:
                push(argument == 0 ? ValueOnStack() : behind(argument - 1));
                break;
            case Does::swap:
                if (argument > 0 && argument <= values_.size())
                    std::swap(values_.back(), values_[values_.size() - argument]);
                break;
            case Does::duplicate:
                push(behind(0));
                break;
            case Does::duplicate_two:
                push(behind(1));
                push(behind(1));
                break;
            case Does::rotate:
                rotate(argument);
                break;
            case Does::rotate_two:
                rotate(2);
                break;
            case Does::rotate_three:
                rotate(3);
                break;
            case Does::rotate_four:
                rotate(4);
                break;
            case Does::jump_if:
                pop();
                if (forks_.size() == most_forks) forks_.erase(forks_.begin());
                forks_.push_back(values_);
                break;
            case Does::give_back:
                gives_ = gives_ || behind(0).used;
                [[fallthrough]];
            case Does::jump:
                if (forks_.empty()) break;
                values_ = std::move(forks_.back());
                forks_.pop_back();
                break;
            default:
                of_items(one, argument);
                break;
        }
        // What is left of `a and b` within a display, once that has taken its values: nothing jumps there.
        while (!forks_.empty() && forks_.back().size() > values_.size()) forks_.pop_back();
        return true;
    }

    CodeUse result() const {
        CodeUse result{.read = true};
        for (const auto& [line, use] : uses_)
            if (!result.used || use > result.use) {
                result.used = true;
                result.use = use;
                result.line = line;
            }
        result.called_line = called_line_;
        result.gives = gives_;
        return result;
    }

private:
    bool is_sought(UsedByCode::Table table, std::uint32_t place) const {
        return sought_.table == table && sought_.place == place;
    }

    /// From 3.11 on shared variables are numbered with the others.
    bool is_sought_cell(std::uint32_t place) const {
        return is_sought(UsedByCode::Table::cells, place) ||
               (operations_.numbers_cells_with_locals() && is_sought(UsedByCode::Table::locals, place));
    }

    bool is_self_cell(std::uint32_t place) const {
        return place == sought_.self_cell || (operations_.numbers_cells_with_locals() && place == 0);
    }

    void found(UseByCode use, std::int32_t at) {
        const auto [line, is_new] = uses_.try_emplace(at, use);
        if (!is_new) line->second = std::max(line->second, use);
    }

    void found(UseByCode use) { found(use, line_); }

    void found_added(const ValueOnStack& container) {
        found(container.itself == sought_.filled_within ? UseByCode::adds_apart : UseByCode::adds,
              container.line > 0 ? container.line : line_);
    }

    ValueOnStack sought_value(bool is_sought) {
        if (is_sought) found(UseByCode::reads);
        return {.used = is_sought, .itself = is_sought};
    }

    void push(const ValueOnStack& value) {
        if (values_.size() == deepest_stack) values_.clear();
        values_.push_back(value);
    }

    ValueOnStack pop() {
        if (values_.empty()) return {};
        const ValueOnStack value = values_.back();
        values_.pop_back();
        return value;
    }

    ValueOnStack behind(std::size_t many) const {
        return many < values_.size() ? values_[values_.size() - 1 - many] : ValueOnStack();
    }

    void rotate(std::size_t many) {
        if (many > 1 && many <= values_.size())
            std::rotate(values_.end() - static_cast<std::ptrdiff_t>(many), values_.end() - 1, values_.end());
    }

    ValueOnStack local(std::uint32_t place) {
        if (is_sought(UsedByCode::Table::locals, place)) return sought_value(true);
        ValueOnStack value = place < locals_.size() ? locals_[place] : ValueOnStack();
        value.is_self = place == 0;
        return value;
    }

    void set_local(std::uint32_t place) {
        const ValueOnStack value = pop();
        if (is_sought(UsedByCode::Table::locals, place)) found(UseByCode::stores);
        if (place >= most_locals) return;
        if (place >= locals_.size()) locals_.resize(place + 1);
        locals_[place] = value;
        locals_[place].line = 0;
    }

    void of_locals(Does does, std::uint32_t argument) {
        const std::uint32_t first = argument >> 4, second = argument & 15;  // of two
        switch (does) {
            case Does::load_local:
                return push(local(argument));
            case Does::store_local:
                return set_local(argument);
            case Does::load_two_locals:
                push(local(first));
                return push(local(second));
            case Does::store_two_locals:
                set_local(first);
                return set_local(second);
            default:
                set_local(first);
                return push(local(second));
        }
    }

    void of_name(Instruction one, std::uint32_t argument) {
        const std::uint32_t place = operations_.used_name(one, argument).value_or(0);
        const std::string name = place < names_.size() ? names_[place] : std::string();
        const bool is_it = is_sought(UsedByCode::Table::names, place);
        if (operations_.does(one) == Does::store_name) {
            const bool is_none = pop().is_none;
            if (is_it) found(is_none ? UseByCode::reads : UseByCode::stores);
        } else if (operations_.does(one) == Does::store_attribute) {
            const ValueOnStack object = pop();
            const bool is_none = pop().is_none;
            if (is_it && is_object_for_it(object)) found(is_none ? UseByCode::reads : UseByCode::stores);
        } else if (operations_.gets_attribute(one)) {
            if (operations_.does(one) == Does::load_super_attribute) {
                pop();
                pop();
            }
            const bool is_method = operations_.gets_method(one, argument);
            const ValueOnStack value =
                attribute(pop(), name, is_it && (sought_.called || !is_method), is_method);
            push(value);
            if (is_method) push(value);  // and the object that it is a method of
        } else {
            ValueOnStack value = sought_value(is_it);
            value.adder = is_function_that_adds(name);
            value.may_add = !value.used && !is_name_that_reads(name);
            push(value);
            if (operations_.effect(one, argument) == 2)
                push(value);  // and no object that it were a method of
        }
    }

    bool is_object_for_it(const ValueOnStack& object) const { return sought_.of_self || !object.is_self; }

    ValueOnStack attribute(const ValueOnStack& object, const std::string& name, bool is_it, bool is_called) {
        if (is_it && is_object_for_it(object)) return sought_value(true);
        if (!object.used) return {.adder = is_function_that_adds(name), .may_add = object.is_self};
        const bool adds = is_name_that_adds(name);
        if (adds && is_called)
            found_added(object);
        else if (adds)
            found(UseByCode::adds_apart);  // it may be called elsewhere
        return {.used = !is_name_that_copies(name),
                .itself = adds && !is_called && object.itself,
                .bound_adder = adds && !is_called,
                .line = adds && !is_called ? line_ : 0};
    }

    void of_call(Instruction one, std::uint32_t argument) {
        const auto effect = operations_.effect(one, argument);
        if (!effect || *effect > 0) return values_.clear();
        const auto total = static_cast<std::size_t>(1 - *effect);
        const Does does = operations_.does(one);
        const std::size_t arguments =
            does == Does::call_by_tuple
                ? total - 1
                : std::min<std::size_t>(total, argument + (does == Does::call ? 0 : 1));
        ValueOnStack result, given;
        bool adds = false, may_add = false;
        for (std::size_t i = 0; i < std::min(total, deepest_stack); ++i) {
            const ValueOnStack value = pop();
            if (i < arguments) {
                if (value.used && !given.itself) given = value;
                result.itself = result.itself || value.key;
            } else {
                result.used = result.used || value.used;
                result.itself =
                    result.itself || (value.itself && !value.bound_adder);  // of a method that gives it
                adds = adds || value.adder;
                may_add = may_add || value.may_add;
                if (value.bound_adder) found_added(value);
                if (value.itself && !value.bound_adder && (called_line_ == 0 || line_ < called_line_))
                    called_line_ = line_;
            }
        }
        if (adds && given.used)
            found_added(given);
        else if (may_add && given.used && (given.itself || sought_.filled_within))
            found(UseByCode::hands_on);
        result.used = result.used || result.itself;
        push(result);
    }

    void of_items(Instruction one, std::uint32_t argument) {
        const auto effect = operations_.effect(one, argument);
        if (!effect) return values_.clear();
        const Does does = operations_.does(one);
        if (does == Does::store_item || does == Does::store_slice) {
            const bool by_key = pop().key;
            if (does == Does::store_slice) pop();
            const ValueOnStack container = pop();
            pop();
            if (container.used) found_added(container);
            if (by_key) found(UseByCode::stores);
        } else if (operations_.takes_subscript(one)) {
            const bool by_key = pop().key;
            if (*effect == -2) pop();
            const bool within = pop().used && does != Does::slice;
            push({.used = by_key || within, .itself = by_key});
        } else if (operations_.changes_in_place(one)) {
            pop();
            const ValueOnStack container = pop();
            if (container.used) found_added(container);
            push(container);
        } else {
            of_effect(does, *effect);
        }
    }

    void of_effect(Does does, int effect) {
        const bool gives = does != Does::pop && does != Does::delete_item && does != Does::add_to_display;
        int taken = 0, given = 0;
        ValueOnStack part;
        if (does == Does::unpack) {
            part.used = pop().used;
            given = effect + 1;
        } else if (effect > 0) {
            given = effect;
        } else if (effect < 0) {
            taken = gives ? 1 - effect : -effect;
            given = gives ? 1 : 0;
        }
        constexpr int most = deepest_stack;  // an argument may be anything
        for (taken = std::min(taken, most); taken > 0; --taken) pop();
        for (given = std::min(given, most); given > 0; --given) push(part);
    }

    const Operations& operations_;
    const CodeLines& lines_;
    const std::vector<std::string>& names_;
    const UsedByCode sought_;
    std::int32_t line_ = 0, called_line_ = 0;
    bool gives_ = false;
    std::vector<ValueOnStack> values_, locals_;
    std::vector<std::vector<ValueOnStack>> forks_;
    std::map<std::int32_t, UseByCode> uses_;  // by line
};

}  // namespace

bool is_name_that_adds(const std::string& name) {
    return is_one_of(
        name, std::array<std::string_view, 18>{"append", "appendleft", "extend", "extendleft", "insert",
                                               "add", "update", "setdefault", "__setitem__", "__iadd__",
                                               "__ior__", "insort", "insort_left", "insort_right", "heappush",
                                               "symmetric_difference_update", "put", "put_nowait"});
}

CodeUse use_of(const PythonHeap& heap, Address code, const std::vector<std::string>& names, UsedByCode used) {
    const Operations* operations = operations_of(heap.layout().version);
    if (!operations) return {};
    const CodeLines lines(heap, code);
    UseSearch search(*operations, lines, names, used);
    const bool unknown =
        any_instruction(heap, code, true, [&](Instruction one, std::uint32_t argument, std::uint64_t offset) {
            return !search.look_at(one, argument, offset);
        });
    return unknown ? CodeUse() : search.result();
}

}  // namespace heapsift
