// A cache that throws out its oldest entry and a table that is loaded once are no leaks, and look like one: a large
// container in an object. What tells them apart is code. A container is bounded if some function compares its length
// and takes things out, and there is a number that the length has reached; it is static if nothing but what made it
// adds to it. Both are said only where the code read shows them: a function that may add to anything else counts as one
// that adds, and so does one whose instructions are not known.

#include "analysis/suspects/bounds.h"

#include "analysis/suspects/code_uses.h"
#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string_view>

namespace heapsift {
namespace {

using Code = CodeThatNames::Code;

constexpr std::int64_t least_bound = 16;     // a smaller number may be anything
constexpr std::int64_t least_of_table = 32;  // of fewer, what each holds may be what grows

bool names_one_of(const Code& code, std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
        return std::find(code.names.begin(), code.names.end(), name) != code.names.end();
    });
}

bool names_it(const Code& code, const std::string& name) {
    return std::find(code.names.begin(), code.names.end(), name) != code.names.end();
}

bool names_what_adds(const Code& code) {
    return std::any_of(code.names.begin(), code.names.end(), is_name_that_adds);
}

/// Calls that give many things at once, of which a table is made.
bool names_what_loads(const Code& code) {
    return names_one_of(code, {"load", "loads", "fetchall", "readlines", "splitlines"});
}

bool names_what_takes_out(const Code& code) { return names_one_of(code, {"popitem", "popleft", "pop"}); }

class BoundSearch {
public:
    BoundSearch(const Scene& scene, const CodeThatNames& code)
        : scene_(scene),
          code_(code),
          python_(scene.python()),
          operations_(operations_of(python_.layout().version)) {}

    std::optional<Bound> find() {
        container_ = container_word(scene_, scene_.object());
        if (container_.empty() || scene_.holder().joint) return std::nullopt;
        const ReferenceStep* step = scene_.step();
        if (!operations_ || !step || step->kind != ReferenceStep::Kind::attribute || step->nameless)
            return std::nullopt;
        names_ = names_in_source(scene_);
        const bool by_name = std::all_of(names_.begin(), names_.end(), [](const NameInSource& name) {
            return name.kind == NameInSource::Kind::name && !name.only_else;
        });
        if (names_.empty() || !by_name || names_.front().text != step->name) return std::nullopt;
        for (const Code& one : code_.all())
            if (std::any_of(names_.begin(), names_.end(),
                            [&](const NameInSource& name) { return names_it(one, name.text); }))
                users_.push_back(&one);
        if (auto bound = of_own_code()) return bound;
        return of_static_table();
    }

private:
    std::int64_t length() const {
        const ObjectReader reader = scene_.read(scene_.object());
        const auto& l = python_.layout();
        if (container_ == "set") return reader.integer<std::int64_t>(l.set.used);
        if (container_ == "list" || container_ == "deque") return reader.var_size();
        return reader.integer<std::int64_t>(l.dict.ma_used);
    }

    Bound bounded_by(const std::string& name, std::int64_t most) const {
        CauseWords words = heapsift::words("it is bounded: ");
        if (name.empty())
            words << CauseWords::count(static_cast<std::uint64_t>(most)) << " entries at most";
        else
            words << name + "=" + std::to_string(most);
        if (length() + 1 >= most) words << ", full";
        return {.words = std::move(words),
                .fix = name.empty() ? "lower its bound, or keep smaller things in it"
                                    : "lower " + name + ", or keep smaller things in it"};
    }

    /// Of a function that takes out what is more than some number.
    std::optional<Bound> of_own_code() const {
        for (const Code* user : users_) {
            if (!names_it(*user, "len")) continue;
            if (!names_what_takes_out(*user) &&
                !has(*user, false, [&](Instruction one) { return operations_->deletes_item(one); }))
                continue;
            for (const std::string& name : user->names) {
                const std::optional<std::int64_t> number = number_of(name);
                if (number && *number >= least_bound && length() <= *number + 1 && *number <= 2 * length() &&
                    !is_set_later(name))
                    return bounded_by(name, *number);
            }
            if (const auto constant = constant_near_length(*user)) return bounded_by({}, *constant);
        }
        return std::nullopt;
    }

    std::optional<std::int64_t> as_number(Address object) const {
        const std::string text = scene_.whole_number(object);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return !text.empty() && error == std::errc() && end == text.data() + text.size()
                   ? std::optional(number)
                   : std::nullopt;
    }

    /// Of the attribute of the owner, or the global of a module of the program.
    std::optional<std::int64_t> number_of(const std::string& name) const {
        const ObjectId owner = scene_.owner();
        if (const auto number = as_number(scene_.attribute(owner, name))) return number;
        for (const LoadedModule& module : scene_.heap().snapshot().roots->modules()) {
            if (module.dict.is_null() || !scene_.is_module_of_program(module.name)) continue;
            if (const auto number = as_number(python_.dict_value(module.dict, name))) return number;
        }
        return std::nullopt;
    }

    std::optional<std::int64_t> constant_near_length(const Code& code) const {
        for (const Address constant : code_.constants(code)) {
            const auto number = as_number(constant);
            if (number && *number >= least_bound && *number - 1 <= length() && length() <= *number + 1)
                return number;
        }
        return std::nullopt;
    }

    /// A number that is set again may be a count of what is there.
    bool is_set_later(const std::string& name) const {
        return std::any_of(code_.all().begin(), code_.all().end(), [&](const Code& code) {
            return !code.runs_at_first() && names_it(code, name) && stores_name(code, name);
        });
    }

    bool stores_name(const Code& code, const std::string& name) const {
        const auto at = std::find(code.names.begin(), code.names.end(), name);
        if (at == code.names.end()) return false;
        const auto number =
            static_cast<std::uint8_t>(at - code.names.begin());  // its last byte, after EXTENDED_ARG
        return has(code, true, [&](Instruction one) {
            return (one.argument == number && operations_->stores_name(one)) ||
                   operations_->is_instrumented(one);
        });
    }

    /// Whether it has an instruction that stores an item in something, or that adds to something in place.
    bool has_what_adds(const Code& code) const {
        return has(code, true, [&](Instruction one) {
            return operations_->stores_item(one) || operations_->changes_in_place(one) ||
                   operations_->is_instrumented(one);
        });
    }

    bool adds(const Code& code) const {
        return names_what_adds(code) || has_what_adds(code) ||
               std::any_of(names_.begin(), names_.end(),
                           [&](const NameInSource& name) { return stores_name(code, name.text); });
    }

    /// Whether it puts in more than a display of its source has: by calls, in a loop, or by a comprehension.
    bool fills(const Code& code) const {
        if (names_what_adds(code) || names_what_loads(code)) return true;
        return code_.has_comprehension(code) || has(code, false, [&](Instruction one) {
                   return operations_->adds_to_display(one) || operations_->stores_item(one);
               });
    }

    /// Runs before the container is used, and never again: the body of a module; of an attribute of an instance its
    /// owner's __init__.
    bool makes_it(const Code& code) const {
        const std::string& of_class = names_.front().of_class;
        if (of_class.empty()) return code.place.is_body_of_module();
        const bool qualified = python_.layout().code.co_qualname.present();
        return code.place.function == of_class + ".__init__" ||
               (!qualified && code.place.function == "__init__");
    }

    /// Each instance of a tree's nodes puts itself into another's list, in the __init__ that makes its own.
    bool holds_what_is_like_its_owner() const {
        const HeapSnapshot& columns = scene_.heap().snapshot();
        const ObjectId owner = scene_.owner();
        return owner != no_object && !scene_.sample().empty() &&
               columns.type_of(scene_.sample().front()) == columns.type_of(owner);
    }

    bool is_running(const Code& code) const {
        const auto& threads = scene_.heap().snapshot().roots->threads();
        return std::any_of(threads.begin(), threads.end(), [&](const PythonThread& thread) {
            return std::any_of(thread.frames.begin(), thread.frames.end(),
                               [&](const PythonFrame& frame) { return frame.code == code.address; });
        });
    }

    std::optional<Bound> of_static_table() const {
        // Asked for what it has not, a defaultdict adds it; an attribute of a class is each instance's.
        if (container_ == "defaultdict" || container_ == "deque" || scene_.is_class(scene_.owner()) ||
            length() < least_of_table)
            return std::nullopt;
        const Code* maker = nullptr;
        std::vector<const Code*> readers;
        for (const Code* user : users_) {
            if (!makes_it(*user)) {
                readers.push_back(user);
                continue;
            }
            if (is_running(*user)) return std::nullopt;
            if (!fills(*user)) continue;  // as a module that imports it
            if (maker) return std::nullopt;
            maker = user;
        }
        if (!maker || readers.empty()) return std::nullopt;
        for (const Code* reader : readers) {
            if (adds(*reader)) return std::nullopt;
            if (reader->names.size() == 1 && is_called_where_something_adds(*reader)) return std::nullopt;
        }
        if (holds_what_is_like_its_owner()) return std::nullopt;
        const std::string by = maker->place.is_body_of_module() ? "the body of " + maker->place.file
                                                                : heapsift::words_of(maker->place);
        return Bound{.words = words("it is filled once, in ", by, "; no other function that uses `",
                                    names_.front().text, "` adds to it"),
                     .fix = "load less of it, or keep it in less memory (array, numpy, a file)"};
    }

    /// What does nothing else may be there to give it to others.
    bool is_called_where_something_adds(const Code& reader) const {
        const std::string name = reader.own_name();
        return std::any_of(code_.all().begin(), code_.all().end(), [&](const Code& code) {
            return names_it(code, name) && (names_what_adds(code) || has_what_adds(code));
        });
    }

    /// Whether it has such an instruction; `if_unknown` where they cannot be read.
    template <class Test>
    bool has(const Code& code, bool if_unknown, Test&& test) const {
        return any_instruction(python_, code.address, if_unknown,
                               [&](Instruction one, std::uint32_t, std::uint64_t) { return test(one); });
    }

    const Scene& scene_;
    const CodeThatNames& code_;
    const PythonHeap& python_;
    const Operations* const operations_;  // null: not known
    std::string container_;
    std::vector<NameInSource> names_;
    std::vector<const Code*> users_;
};

}  // namespace

std::optional<Bound> bound_of(const Scene& scene, const CodeThatNames& code) {
    return BoundSearch(scene, code).find();
}

}  // namespace heapsift
