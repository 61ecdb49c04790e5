// Every text is checked before it is believed: a program may write what it likes where its environment was, and into
// its modules' variables.

#include "analysis/program_facts.h"

#include "analysis/holding/groups.h"
#include "parsers/cpython/known_types.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace heapsift {
namespace {

constexpr std::uint64_t path_of_program = 31;  // AT_EXECFN, <elf.h>
constexpr std::size_t most_variable = 4096, most_name = 128, most_version = 64;
constexpr double first_second = 1e9, last_second = 1e10;  // 2001 to 2286

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_version(const std::string& text) {
    return !text.empty() && text.size() <= most_version && std::any_of(text.begin(), text.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
    }) && std::all_of(text.begin(), text.end(), [](char c) {
        return is_name_character(c) || c == '.' || c == '+' || c == '!' || c == '-';
    });
}

/// time.time() as `logging` keeps it: a float, from 3.13 on nanoseconds in an int (Lib/logging/__init__.py).
std::optional<double> seconds_of(const HeapReader& heap, Address value) {
    const PythonHeap& python = heap.python_heap();
    const LayoutOffset number = python.layout().float_.ob_fval;
    std::optional<double> seconds;
    if (python.types().is(python.type_of(value), KnownType::floating) && number.present()) {
        seconds = python.memory().read<double>(value + *number);
    } else if (const ObjectId object = heap.snapshot().find(value);
               object != no_object && heap.snapshot().type_of(object) != no_type) {
        const std::string digits = heap.value(object).text;
        double whole = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
        if (error == std::errc() && end == digits.data() + digits.size()) seconds = whole / 1e9;
    }
    if (!seconds || !std::isfinite(*seconds) || *seconds < first_second || *seconds > last_second)
        return std::nullopt;
    return seconds;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> variables_below(const AddressSpace& memory, Address end,
                                                                 std::size_t limit) {
    std::vector<std::pair<std::string, std::string>> found;
    std::string text;  // of one variable, without its 0
    std::size_t taken = 0;
    for (Address at = end; taken < limit; taken += text.size() + 1) {
        if (at.value < 2 || memory.read<char>(at - 1) != '\0') break;
        text.clear();
        Address from = at - 1;
        while (from.value > 0 && text.size() <= most_variable) {
            const std::optional<char> before = memory.read<char>(from - 1);
            if (!before || *before == '\0') break;
            text.push_back(*before);
            from = from - 1;
        }
        std::reverse(text.begin(), text.end());
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0 || text.size() > most_variable ||
            !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), is_name_character))
            break;
        found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        at = from;
    }
    return found;
}

ProgramFacts program_facts(const HeapReader& heap) {
    ProgramFacts facts;
    if (const auto end = heap.core().auxiliary(path_of_program)) {
        bool kubernetes = false;
        for (const auto& [name, value] : variables_below(heap.core().memory(), Address(*end))) {
            if (name == "HOSTNAME") facts.host = value;
            if (name == "KUBERNETES_SERVICE_HOST") kubernetes = true;
            if (name == "container") facts.container = value;
        }
        if (kubernetes) facts.container = "kubernetes";
    }
    const PythonHeap& python = heap.python_heap();
    const RootSet& roots = *heap.snapshot().roots;
    const std::string library = library_folder(roots);
    for (const LoadedModule& module : roots.modules()) {
        if (module.shadowed || module.dict.is_null()) continue;
        if (module.name == "logging")
            facts.started = seconds_of(heap, python.dict_value(module.dict, "_startTime"));
        const bool is_top = module.name.find('.') == std::string::npos && module.name.size() <= most_name;
        const bool is_of_python =
            package_of_file(module.file).empty() && !is_file_of_program(module.file, library);
        if (!is_top || module.name == "__main__" || module.file.empty() || is_of_python) continue;
        const std::string version =
            python.unicode_text(python.dict_value(module.dict, "__version__"), most_version + 1).value_or("");
        if (is_version(version)) facts.packages.emplace_back(module.name, version);
    }
    std::sort(facts.packages.begin(), facts.packages.end());
    return facts;
}

}  // namespace heapsift
