#pragma once

// Where a name by which a suspect is reached stands in the program's source.

#include "analysis/kept_answers.h"
#include "analysis/source_places.h"
#include "analysis/suspects/code_uses.h"
#include "analysis/suspects/names_in_source.h"
#include "analysis/suspects/names_of_class.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Lines of a program's functions, the likeliest to fill what is sought first.
struct CodePlaces {
    std::vector<SourcePlace> places;
    std::uint64_t more = 0;   // places that were left out
    std::size_t filling = 0;  // of `places` the first so many add to it
    bool sets = false;        // the first one sets it; of a local alone, or if that was asked for
};

/// Functions of the program's own code, not of Python's library or installed packages, that use a name; and bodies of
/// its modules ("<module>"), but not of classes. For a name that containers and strings have as a method ("items") those
/// alone that do not call it, which 3.6 does not tell; none for keys that many functions use; methods of its class alone
/// for an attribute that is called as a builtin function is ("open").
class CodeThatNames {
public:
    /// Cost: a look at the type of each object, if no answer is kept; and at the names of each code object of the
    /// program.
    explicit CodeThatNames(const HeapReader& heap, KeptAnswers* answers = nullptr);

    /// At most `most` of those that use any of the names, with the line that does: those that do not run only once, and
    /// what adds to a global in an `__init__` or the body of a module; if there are none, `__init__`; if there is none,
    /// bodies of modules. Those that add something on that line first, methods of the class before others, then by file
    /// and line.
    CodePlaces of(const std::vector<NameInSource>& names, std::size_t most) const;
    /// Those that set such an attribute or global, or add to it, each with its first line that does; without `at_first`
    /// only those that neither run once alone nor make an instance of that class. By file and line.
    CodePlaces that_set(const std::vector<NameInSource>& names, std::size_t most, bool at_first) const;
    /// The same of those that use one of the functions `makers`, and, unless it is empty, one of `made_of` as well. A
    /// body of a module that does is as good as a function. What only imports the name does not use it.
    CodePlaces that_make(const std::vector<std::string>& makers, const std::vector<std::string>& made_of,
                         std::size_t most) const;

    static constexpr std::int64_t most_names = 1000;  // that are read of a code object

    struct Code {
        Address address;
        SourcePlace place;
        std::string path;                // of its file, of which place.file is the end
        std::vector<std::string> names;  // co_names: globals and attributes
        /// Runs once for each instance, or once: what fills a container is elsewhere, if anything else names it.
        bool runs_at_first() const;
        std::string own_name() const;  // "lookup" of "GeoTable.lookup"
    };
    /// All of the program's, without bodies of classes.
    const std::vector<Code>& all() const { return codes_; }
    /// Whether a comprehension is a part of it, as a function of its own (up to 3.11).
    bool has_comprehension(const Code& code) const;
    /// co_consts; at most `most_names`.
    std::vector<Address> constants(const Code& code) const;

    /// Those that call one of `functions`, and, unless it is empty, use the name of `module` as well: gc.disable(). Where
    /// none is seen to call it, those that use its name. Of those that use the name `rather_without` as well only where
    /// there are no others. By file and line.
    CodePlaces that_call(const std::vector<std::string>& functions, const std::string& module,
                         std::size_t most, const std::string& rather_without = {}) const;

    /// Those that are seen to call a class by one of its names, each with its first such line. By file and line.
    std::vector<SourcePlace> callers_of(const NamesOfClass& called) const;

private:
    bool uses(const Code& code, const NameInSource& name) const;
    bool is_str(Address object, const std::string& text) const;
    bool has_constant(const Code& code, const std::string& text) const;
    bool has_free_variable(const Code& code, const NameInSource& name) const;
    bool is_builtin(const std::string& name) const;
    struct Found {
        const Code* code;
        CodeUse use;
        bool own_name =
            false;  // it was sought by an attribute of a class whose method it is, or a global of its module
        bool elsewhere = false;  // by a global of another module, which it does not name
        bool is_local = false;   // by the name of its own local variable
    };
    CodeUse use_in(const Code& code, const NameInSource& name) const;
    /// Where it first calls what it knows by that name; 0 if it is not seen to.
    std::int32_t line_of_call(const Code& code, const std::string& name) const;
    std::optional<UsedByCode> place_in(const Code& code, const NameInSource& name) const;
    std::optional<UsedByCode> place_of_free_variable(const Code& code, const std::string& name) const;
    std::optional<UsedByCode> place_of_local(const Code& code, const std::string& name) const;
    void add_places(const NameInSource& name, std::vector<Found>& found) const;
    /// Of those from `first` on that give it to others, as a property does: who adds to what they gave.
    void add_places_of_givers(const NameInSource& name, std::size_t first, std::vector<Found>& found) const;
    /// By their order; of a code object that was found twice the use that adds. Those that rank below the first are left
    /// out.
    static CodePlaces in_order(std::vector<Found> found, bool bodies_count, std::size_t most);

    const PythonHeap& python_;
    std::vector<Code> codes_;
};

}  // namespace heapsift
