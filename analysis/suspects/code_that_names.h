#pragma once

// Where a suspect's attribute or global stands in the program's source.

#include "analysis/kept_answers.h"
#include "analysis/source_places.h"
#include "analysis/suspects/code_uses.h"
#include "analysis/suspects/scene.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// How the program's own code may reach the holder.
struct NameInSource {
    enum class Kind : std::uint8_t {
        name,     // a global, or an attribute
        key,      // a str in the code, by which a mapping is asked: app['cache']
        variable  // a variable that an inner function shares with the one around it
    } kind = Kind::name;
    std::string text;
    bool only_else = false;     // asked for only where no name before it is used
    std::string of_class = {};  // the qualified name of its owner's class: methods of that come first
    std::string of_file = {};   // where that class is, if it is known
    // That class and those that it inherits from: `self` of another class's methods has another such attribute. Empty: not
    // known
    std::vector<ClassInSource> of_classes = {};
    bool filled_within = false;  // the holder is an item of it, or of an item
    // Of a variable: the base name of the file, and how qualified names of functions begin that may share it
    std::string file = {}, within = {};
    // Of a global: the files whose modules have it by that name, and the modules' own names
    std::vector<std::string> files = {}, modules = {};
};

/// The attribute of an instance or class of the program's own, or the global of its module (by each name that its
/// modules have for it), nearest the holder; the key nearest the holder, if there is no such attribute, or a library's
/// stands between it and the global; of a local, the variable that inner functions share. Of what several objects hold
/// together, the names of each of them. Empty if there is none.
std::vector<NameInSource> names_in_source(const Scene& scene);

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
    /// and line. `all` is how many there are.
    std::vector<SourcePlace> of(const std::vector<NameInSource>& names, std::size_t most,
                                std::size_t& all) const;
    /// The same of those that use one of the functions `makers`, and, unless it is empty, one of `made_of` as well. A
    /// body of a module that does is as good as a function. What only imports the name does not use it.
    std::vector<SourcePlace> that_make(const std::vector<std::string>& makers,
                                       const std::vector<std::string>& made_of, std::size_t most,
                                       std::size_t& all) const;

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

    /// Those that use all of these names, with the line of the last: {"gc", "disable"}. By file and line.
    std::vector<SourcePlace> with_all(const std::vector<std::string>& names) const;

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
    };
    CodeUse use_in(const Code& code, const NameInSource& name) const;
    std::optional<UsedByCode> place_in(const Code& code, const NameInSource& name) const;
    std::optional<UsedByCode> place_of_free_variable(const Code& code, const std::string& name) const;
    void add_places(const NameInSource& name, std::vector<Found>& found) const;
    /// Of those from `first` on that give it to others, as a property does: who adds to what they gave.
    void add_places_of_givers(const NameInSource& name, std::size_t first, std::vector<Found>& found) const;
    /// By their order; of a code object that was found twice the use that adds. Those that rank below the first are left
    /// out.
    static std::vector<SourcePlace> in_order(std::vector<Found> found, bool bodies_count, std::size_t most,
                                             std::size_t& all);

    const PythonHeap& python_;
    std::vector<Code> codes_;
};

}  // namespace heapsift
