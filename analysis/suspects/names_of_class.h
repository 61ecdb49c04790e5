#pragma once

// By which names the program's code calls a class.

#include "parsers/reading/heap_reader.h"

#include <string>
#include <vector>

namespace heapsift {

/// Names are believed only where they lead to the class itself: another class, a function or a method may be called the
/// same.
class NamesOfClass {
public:
    /// Cost: the entries of the dicts of the program's modules.
    NamesOfClass(const HeapReader& heap, TypeId type);

    /// Of the globals and attributes that a function in that file uses, those by which it may reach the class: a global
    /// of its module, under any name; an attribute of a module or a class that it uses as well (shop.Order, Graph.Node).
    std::vector<std::string> among(const std::string& path, const std::vector<std::string>& names) const;

private:
    struct Module {
        std::string name, file;
        Address dict;
        std::vector<std::string> globals;  // that are the class
    };
    bool is_attribute_of(Address owner) const;

    const HeapReader& heap_;
    Address type_;
    std::string last_name_;        // "Line" of "shop.Order.Line"
    std::vector<Module> modules_;  // of the program
};

/// "Line" of "shop.Order.Line": by which code calls it.
std::string last_name_of(const std::string& qualified);

/// A path that is not absolute is as much of one as is known.
bool may_be_same_file(const std::string& a, const std::string& b);

}  // namespace heapsift
