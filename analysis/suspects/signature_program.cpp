// pr_psargs, as the kernel writes it (fs/binfmt_elf.c, fill_psinfo), is the first 79 bytes of the memory in which the
// arguments lie, with blanks for the zeros between them: the path of an interpreter in an environment can be longer than
// that, and a folder may have a blank in its name. A program may also have written a title there (setproctitle); that
// is then its name. What sys.argv has is not believed alone, since programs change it: it must be what the command line
// goes on with, unless that was cut before it told the script. Programs hardly change __main__.__file__; where it stands in
// the command line, behind nothing but options, it is the script, blanks and all.
//
// multiprocessing's spawn and forkserver start "python -c 'from multiprocessing.spawn import spawn_main; …'". The child is
// told how the parent was started (spawn.py, get_preparation_data): it sets sys.argv to the parent's, and imports the
// parent's main module once more, as __mp_main__; but not a package's __main__, nor what -c ran. What it was told is, as
// long as it runs, a local of multiprocessing.spawn._main: the parent may have changed its sys.argv. Loky, of joblib,
// starts "python -m joblib.externals.loky.backend.popen_loky_posix …", and hands on sys.argv alone.

#include "analysis/suspects/signature_program.h"

#include "analysis/suspects/general_numbers.h"
#include "parsers/base/text.h"
#include "parsers/cpython/known_types.h"
#include "parsers/cpython/threads.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>

namespace heapsift {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kept_of_command_line = 79;
constexpr std::size_t most_words = 64, longest_word = 4096, longest_program = 120;
constexpr std::string_view main_of_package = ".__main__", main_file_of_package = "/__main__.py";
constexpr std::string_view module_of_loky = "loky.backend.popen_loky";

std::string short_hash(std::string_view text) {
    return fmt::format("{:08x}", static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size())));
}

/// As it stands in a signature.
std::string shown_program(const std::string& name) {
    constexpr std::size_t long_number = 3;
    std::string text = escape_for_terminal(general_numbers(name, long_number));
    if (text.size() <= longest_program) return text;
    std::size_t end = longest_program;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return fmt::format("{}… #{}", text.substr(0, end), short_hash(text));
}

std::string name_of_path(std::string_view path) {
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return std::string(base_name(path));
}

bool is_python(const std::string& word) { return base_name(word).starts_with("python"); }

/// What Python was told to run: the first word after its own options.
std::optional<std::string> script_of(const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (!word.empty() && word[0] != '-') return name_of_path(word);
        if (word == "--check-hash-based-pycs") ++i;
        if (word.starts_with("--")) continue;
        // Several may be in one word, and what -c, -m, -W and -X take as well (Python/getopt.c, SHORT_OPTS).
        for (std::size_t at = 1; at < word.size(); ++at) {
            const bool ends = at + 1 == word.size();
            if (word[at] == 'c') return "-c";
            if (word[at] == 'm' && !ends) return word.substr(at + 1);
            if (word[at] == 'm') return i + 1 < words.size() ? std::optional(words[i + 1]) : std::nullopt;
            if (word[at] != 'W' && word[at] != 'X') continue;
            i += ends;
            break;
        }
    }
    return std::nullopt;
}

std::string name_of_words(const Words& words) {
    std::string name(base_name(words.front()));
    if (is_python(words.front())) {
        if (std::optional<std::string> script = script_of(words)) return std::move(*script);
        if (std::find(words.begin(), words.end(), "-m") != words.end()) return "-m";
    }
    while (name.ends_with(':')) name.pop_back();  // "gunicorn: worker [shop]"
    return name;
}

std::string joined(const Words& words) {
    std::string text = fmt::format("{}", fmt::join(words, " "));
    while (text.ends_with(' ')) text.pop_back();  // as core_notes.cpp
    return text;
}

/// Blanks at its end were cut off too.
bool may_be_cut(const std::string& command_line) {
    constexpr std::size_t blanks = 4;
    return command_line.size() + blanks >= kept_of_command_line;
}

/// Whether `command_line` is what the kernel has of these words.
bool is_of(const std::string& command_line, const std::string& words) {
    return command_line == words || (may_be_cut(command_line) && words.starts_with(command_line));
}

/// "app" of "app.__main__".
std::string name_of_module(std::string module) {
    if (module.ends_with(main_of_package)) module.resize(module.size() - main_of_package.size());
    return module;
}

/// Of sys.argv; "" if it does not tell.
std::string name_of_arguments(const CommandWords& words) {
    if (words.arguments.empty()) return {};
    const std::string module = name_of_module(words.module);
    // A folder or an archive that is run has a __main__ of its own.
    if (!module.empty() && module != "__main__") return module;
    return words.arguments.front() == "-c" ? "-c" : name_of_path(words.arguments.front());
}

/// Whether after `before`, the interpreter and its options, a script may come.
bool may_tell_script(std::string_view before) {
    std::istringstream in{std::string(before)};
    Words words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty() || script_of(words)) return false;
    const std::string& last = words.back();
    const bool takes_word = words.size() > 1 && !last.starts_with("--") && last.starts_with('-');
    return !takes_word || (last.back() != 'm' && last.back() != 'c');
}

/// Whether the main module's file is the script that the command line tells, or tells as far as it goes.
bool has_main_file(const std::string& command_line, const std::string& file) {
    if (file.empty()) return false;
    const bool cut = may_be_cut(command_line);
    const std::string name = name_of_path(file);
    for (std::size_t at = command_line.find(' '); at != std::string::npos;
         at = command_line.find(' ', at + 1)) {
        std::string_view rest = std::string_view(command_line).substr(at + 1);
        if (rest.empty() || !may_tell_script(std::string_view(command_line).substr(0, at))) continue;
        if (rest.starts_with(file) && (rest.size() == file.size() || rest[file.size()] == ' ')) return true;
        if (cut && file.starts_with(rest)) return true;
        // Since 3.9 it has its directory, where the command line may have a relative path.
        while (rest.starts_with("./") || rest.starts_with("../")) rest.remove_prefix(rest[1] == '/' ? 2 : 3);
        if (cut && !rest.empty() && file.find("/" + std::string(rest)) != std::string::npos) return true;
        for (std::size_t end = rest.find(name); end != std::string_view::npos;
             end = rest.find(name, end + 1)) {
            const std::size_t behind = end + name.size();
            const bool whole = behind == rest.size() || rest[behind] == ' ';
            if (whole && file.ends_with("/" + std::string(rest.substr(0, behind)))) return true;
        }
    }
    return false;
}

/// Whether it is the command line of a process that multiprocessing, or loky, starts, as far as it goes.
bool is_of_multiprocessing(const std::string& command_line) {
    constexpr std::string_view machinery[] = {
        " -c from multiprocessing.spawn import ", " -c from multiprocessing.forkserver import ",
        " -m joblib.externals.loky.backend.popen_loky", " -m loky.backend.popen_loky"};
    constexpr std::size_t option = 4, enough = 10;  // " -c ", " -c from m"
    return std::any_of(std::begin(machinery), std::end(machinery), [&](std::string_view text) {
        const std::size_t at = command_line.find(text.substr(0, option));
        if (at == std::string::npos) return false;
        const std::string_view rest = std::string_view(command_line).substr(at);
        const bool is_cut = may_be_cut(command_line) && rest.size() >= enough && text.starts_with(rest);
        return rest.starts_with(text) || is_cut;
    });
}

/// Of a child of multiprocessing that has no copy of its parent's main module.
std::string name_of_parent_without_copy(const CommandWords& words) {
    if (words.of_parent && words.of_parent->ends_with(main_of_package))
        return name_of_module(*words.of_parent);
    if (words.of_parent && words.of_parent->starts_with('/')) return name_of_path(*words.of_parent);
    const std::string first = words.arguments.empty() ? std::string() : words.arguments.front();
    // The path of IPython's script, "" of a prompt: these have no file either.
    if (words.of_parent && words.of_parent->empty() && !first.empty() && first.front() != '/') return "-c";
    if (!first.ends_with(main_file_of_package)) return first == "-c" ? first : name_of_path(first);
    return words.package.empty() ? name_of_path(first.substr(0, first.size() - main_file_of_package.size()))
                                 : words.package;
}

/// Of a child of multiprocessing; "" of any other process.
std::string name_of_parent(const std::string& command_line, const CommandWords& words) {
    if (words.of_multiprocessing && words.module.empty() && !words.file.empty())
        return name_of_path(words.file);
    if (words.of_multiprocessing) return name_of_arguments(words);
    if (!words.of_parent && !is_of_multiprocessing(command_line) &&
        !is_of_multiprocessing(joined(words.original)))
        return {};
    const bool of_loky = words.module.find(module_of_loky) != std::string::npos;
    return words.module.empty() || of_loky ? name_of_parent_without_copy(words) : name_of_arguments(words);
}

/// Whether the command line, after the interpreter and its options, is sys.argv.
bool ends_with_arguments(const std::string& command_line, const Words& arguments) {
    const std::string text = joined(arguments);
    if (text.empty()) return false;
    for (std::size_t at = command_line.find(' '); at != std::string::npos;
         at = command_line.find(' ', at + 1))
        if (is_of(command_line.substr(at + 1), text) ||
            (may_be_cut(command_line) && at + 1 < command_line.size() &&
             text.starts_with(std::string_view(command_line).substr(at + 1))))
            return true;
    return false;
}

std::string found_program(const ProcessInfo& process, const CommandWords& words) {
    const std::string& line = process.arguments;
    std::istringstream in(line);
    Words parts;
    for (std::string part; in >> part;) parts.push_back(part);
    if (parts.empty()) return process.name;
    const bool alone = parts.size() == 1 && is_python(parts.front());  // gcore knows no arguments
    if (is_python(parts.front()))
        if (std::string parent = name_of_parent(line, words); !parent.empty()) return parent;
    if (!words.original.empty() && !words.original.front().empty() &&
        (is_of(line, joined(words.original)) || (alone && is_python(words.original.front()))))
        return name_of_words(words.original);
    const bool is_folder = name_of_path(words.file) == "__main__.py";  // sys.argv has its name
    if (is_python(parts.front()) && !is_folder && has_main_file(line, words.file))
        return name_of_path(words.file);
    const std::string name = name_of_arguments(words);
    if (name.empty()) return name_of_words(parts);
    if (is_python(parts.front()) && (words.module.empty() || words.module == "__main__") &&
        words.arguments.front() != "-c" && ends_with_arguments(line, words.arguments))
        return name;
    if (alone) return name;
    if (!may_be_cut(line)) return name_of_words(parts);
    Words whole = parts;
    whole.pop_back();
    const bool told = !whole.empty() && (!is_python(whole.front()) || script_of(whole));
    return told ? name_of_words(parts) : name;
}

/// Text as the bytes that it was: Python keeps each that is not UTF-8 as a lone surrogate (PEP 383).
std::string with_bytes(const std::string& text) {
    constexpr std::size_t encoded = 3;
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[i + k]); };
        const bool is_byte = i + encoded <= text.size() && at(0) == 0xed && (at(1) == 0xb2 || at(1) == 0xb3);
        if (is_byte) {
            bytes += static_cast<char>((at(1) & 1U) << 6 | (at(2) & 0x3fU) | 0x80U);
            i += encoded - 1;
        } else {
            bytes += text[i];
        }
    }
    return bytes;
}

Words words_in(const PythonHeap& python, Address list) {
    Words words;
    const auto& items = python.layout().list.ob_item;
    if (list.is_null() || !items.present() || !python.types().is(python.type_of(list), KnownType::list))
        return words;
    const auto count = static_cast<std::size_t>(
        std::clamp<std::int64_t>(python.var_size(list), 0, std::int64_t{most_words}));
    const Address first = python.pointer(list + *items);
    for (std::size_t i = 0; i < count; ++i) {
        std::optional<std::string> word =
            first.is_null() ? std::nullopt : python.unicode_text(python.pointer(first + 8 * i), longest_word);
        if (!word) return {};
        words.push_back(with_bytes(*word));
    }
    return words;
}

/// An attribute of an instance without a class that says where it lies: read as `visit_references` names it.
std::string text_attribute(const HeapReader& heap, Address object, std::string_view name) {
    const PythonHeap& python = heap.python_heap();
    const ObjectId id = object.is_null() ? no_object : heap.snapshot().find(object);
    if (id == no_object) return {};
    Address found, dict;
    heap.visit_references(id, [&](const Reference& reference) {
        if (reference.step.is(Field::attributes)) dict = reference.target;
        if (found.is_null() && reference.step.kind == ReferenceStep::Kind::attribute &&
            reference.step.name == name)
            found = reference.target;
    });
    if (found.is_null() && !dict.is_null()) found = python.dict_value(dict, name);
    return found.is_null() ? std::string() : python.unicode_text(found, longest_word).value_or("");
}

/// The text that a dict has under a key; "" if that is none.
std::string text_in(const PythonHeap& python, Address dict, std::string_view key) {
    const Address found = python.dict_value(dict, key);
    return found.is_null() ? std::string() : python.unicode_text(found, longest_word).value_or("");
}

/// CommandWords::of_parent: `preparation_data` of the call of multiprocessing.spawn._main, which never ends.
std::optional<std::string> told_of_parent(const HeapReader& heap) {
    constexpr std::string_view function = "_main", file = "/multiprocessing/spawn.py",
                               local = "preparation_data";
    const PythonHeap& python = heap.python_heap();
    std::optional<std::string> told;
    for (const PythonThread& thread : heap.snapshot().roots->threads())
        for (const PythonFrame& frame : thread.frames) {
            if (frame.name != function || !frame.file.ends_with(file)) continue;
            visit_slots(python, frame, [&](const FrameSlot& slot) {
                if (slot.what != FrameSlot::What::local || slot.name.is_null() || slot.cell) return;
                if (python.unicode_text(slot.name, longest_word) != local) return;
                if (!python.types().is(python.type_of(slot.value), KnownType::dict)) return;
                told = text_in(python, slot.value, "init_main_from_name");
                if (told->empty()) told = text_in(python, slot.value, "init_main_from_path");
            });
        }
    return told;
}

/// CommandWords::package, of the path of its __main__.py: by the package nearest above that is loaded.
std::string package_of(const RootSet& roots, const std::string& main_file) {
    constexpr std::string_view init = "/__init__.py";
    const std::string folder = main_file.substr(0, main_file.size() - main_file_of_package.size());
    std::string package;
    std::size_t longest = 0;
    for (const LoadedModule& module : roots.modules()) {
        const std::string file = with_bytes(module.file);
        if (module.shadowed || !file.ends_with(init)) continue;
        const std::string_view above = std::string_view(file).substr(0, file.size() - init.size());
        const bool is_above = (folder + "/").starts_with(std::string(above) + "/");
        if (!is_above || above.size() <= longest) continue;
        longest = above.size();
        package = module.name + folder.substr(above.size());
    }
    std::replace(package.begin(), package.end(), '/', '.');
    return package;
}

}  // namespace

CommandWords command_words(const HeapReader& heap) {
    CommandWords words;
    const PythonHeap& python = heap.python_heap();
    for (const LoadedModule& module : heap.snapshot().roots->modules()) {
        if (module.shadowed || module.dict.is_null()) continue;
        if (module.name == "sys") {
            words.original = words_in(python, python.dict_value(module.dict, "orig_argv"));
            words.arguments = words_in(python, python.dict_value(module.dict, "argv"));
        }
        const bool is_copy = module.name == "__mp_main__";
        if (module.name != "__main__" && !is_copy) continue;
        words.of_multiprocessing |= is_copy;
        words.module = text_attribute(heap, python.dict_value(module.dict, "__spec__"), "name");
        words.file = with_bytes(module.file);
    }
    words.of_parent = told_of_parent(heap);
    if (words.arguments.empty() || !words.arguments.front().ends_with(main_file_of_package)) return words;
    words.package = package_of(*heap.snapshot().roots, words.arguments.front());
    return words;
}

std::string program_name(const ProcessInfo& process, const CommandWords& words, bool with_arguments) {
    const std::string program = shown_program(found_program(process, words));
    if (with_arguments) return program;
    const std::string name = shown_program(process.name);
    return program == name ? name : fmt::format("{} #{}", name, short_hash(program));
}

std::string without_program_file(const std::string& text, const CommandWords& words) {
    const std::string file = general_numbers(name_of_path(words.file), digits_of_files),
                      before = "(), " + file;
    if (file.empty()) return text;
    std::string result = text;
    for (std::size_t at = result.find(before); at != std::string::npos; at = result.find(before, at + 1)) {
        const std::size_t end = at + before.size();
        if (end < result.size() && result[end] != ' ' && result[end] != ',') continue;
        result.replace(end - file.size(), file.size(), "#" + short_hash(file));
    }
    return result;
}

}  // namespace heapsift
