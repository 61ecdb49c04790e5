#pragma once

// The names by which the program's own code may reach what holds memory.

#include "analysis/suspects/scene.h"

#include <string>
#include <vector>

namespace heapsift {

/// How the program's own code may reach the holder.
struct NameInSource {
    enum class Kind : std::uint8_t {
        name,      // a global, or an attribute
        key,       // a str in the code, by which a mapping is asked: app['cache']
        variable,  // a variable that an inner function shares with the one around it
        local      // a local variable of `code`
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
    Address code = {};  // of a local
    // Of a global: the files whose modules have it by that name, and the modules' own names
    std::vector<std::string> files = {}, modules = {};
};

/// The attribute of an instance or class of the program's own, or the global of its module (by each name that its
/// modules have for it), nearest the holder; the key nearest the holder, if there is no such attribute, or a library's
/// stands between it and the global; of a local, of a running or suspended function, that, and the variable that inner functions
/// share. Of what several objects hold
/// together, the names of each of them. Empty if there is none.
std::vector<NameInSource> names_in_source(const Scene& scene);

}  // namespace heapsift
