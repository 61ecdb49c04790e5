// heapsift-layout-table: prints a built-in layout table, as C++ source, from the debug information of a real
// build.
//
//     heapsift-layout-table --version 3.11 --build "Debian 12's python3.11 3.11.2-6" FILE...
//
// The problem: offsets typed by hand are wrong sooner or later. The idea: the compiler has written them down,
// so print those that layout_fields.def lists, with designated initialisers, so that a table reads like the
// structs. Absent fields are left out. `--version` takes 3.13, 3.13t (free-threaded), 3.13d (debug) or
// 3.13td. Files that are not needed contribute nothing; a file that cannot be read ends the run, since a
// table must not be made from half of its input.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/cpython/layout_from_debug_info.h"

namespace {

using namespace heapsift;

struct Request {
    LayoutVersion version;
    std::string build;  // what the header comment says the table was read from
    std::vector<std::string> files;
};

/// "3.13td": major, minor, then any of the letters t and d.
std::optional<LayoutVersion> parse_version(const std::string& text) {
    LayoutVersion version;
    int used = 0;
    if (std::sscanf(text.c_str(), "%d.%d%n", &version.major, &version.minor, &used) != 2) return std::nullopt;
    for (const char letter : std::string_view(text).substr(static_cast<std::size_t>(used))) {
        if (letter != 't' && letter != 'd') return std::nullopt;
        (letter == 't' ? version.free_threaded : version.debug) = true;
    }
    return version;
}

std::optional<Request> parse_arguments(const std::vector<std::string>& arguments) {
    Request request;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool has_value = i + 1 < arguments.size();
        if (arguments[i] == "--version" && has_value) {
            const auto version = parse_version(arguments[++i]);
            if (!version) return std::nullopt;
            request.version = *version;
        } else if (arguments[i] == "--build" && has_value) {
            request.build = arguments[++i];
        } else if (arguments[i].starts_with("--")) {
            return std::nullopt;
        } else {
            request.files.push_back(arguments[i]);
        }
    }
    if (!request.version.major || request.files.empty()) return std::nullopt;
    return request;
}

/// cpython_3_13, cpython_3_13_free_threaded, cpython_3_13_debug…
std::string table_name(const LayoutVersion& version) {
    return fmt::format("cpython_{}_{}{}{}", version.major, version.minor,
                       version.free_threaded ? "_free_threaded" : "", version.debug ? "_debug" : "");
}

std::string version_initialiser(const LayoutVersion& version) {
    std::string text = fmt::format("{{.major = {}, .minor = {}", version.major, version.minor);
    if (version.free_threaded) text += ", .free_threaded = true";
    if (version.debug) text += ", .debug = true";
    return text + "}";
}

/// ".ob_item = 24", ".state_kind = {.byte = 32, .bit = 2, .width = 3}"; empty for an absent field.
std::string field_initialiser(const Layout& layout, const LayoutFieldName& field) {
    if (field.bits) {
        const LayoutBits& bits = layout_bits(layout, field);
        if (!bits.present()) return {};
        return fmt::format(".{} = {{.byte = {}, .bit = {}, .width = {}}}", field.field_name, *bits.byte,
                           bits.bit, bits.width);
    }
    const LayoutOffset& offset = layout_offset(layout, field);
    return offset.present() ? fmt::format(".{} = {}", field.field_name, *offset) : std::string{};
}

/// One struct's initialiser, on one line if it fits, else one line per field.
void append_struct(std::string& source, std::string_view name, const std::vector<std::string>& fields) {
    if (fields.empty()) return;
    constexpr std::size_t column_limit = 130;
    std::string one_line = fmt::format("    .{} = {{{}}},\n", name, fmt::join(fields, ", "));
    if (one_line.size() - 1 <= column_limit) {
        source += one_line;
        return;
    }
    source += fmt::format("    .{} = {{\n", name);
    for (const std::string& field : fields) source += fmt::format("        {},\n", field);
    source += "    },\n";
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string header_comment(const Request& request, const LayoutFromDebugInfo& read) {
    const LayoutSource& interpreter = read.files.front();
    std::string text = fmt::format(
        "// The layout of CPython {}.{}{}{}, read by heapsift-layout-table from the debug information of a "
        "real build: do not "
        "edit.\n//\n",
        request.version.major, request.version.minor, request.version.free_threaded ? ", free-threaded" : "",
        request.version.debug ? ", debug build" : "");
    text +=
        fmt::format("// Build: {}\n", request.build.empty() ? file_name(interpreter.path) : request.build);
    text += fmt::format("// Build-id of the interpreter: {}\n//\n",
                        interpreter.build_id.empty() ? "none" : interpreter.build_id);
    text +=
        "// Structs of built-in objects are the same in every build of this version. Those private to the "
        "interpreter "
        "(PyInterpreterState,\n"
        "// PyThreadState, _PyRuntimeState, _gc_runtime_state) and to extension modules (_pickle...) are "
        "those of this build: "
        "check them on\n"
        "// the core before trusting them.\n";
    return text;
}

std::string table_source(const Request& request, const LayoutFromDebugInfo& read) {
    const std::string name = table_name(request.version);
    std::string source = header_comment(request, read);
    source += "\n#include \"parsers/cpython/layout.h\"\n\n";
    source +=
        "// Written by a program, not by clang-format.\n// clang-format off\n// Absent fields are left out "
        "on purpose.\n#pragma "
        "GCC diagnostic ignored "
        "\"-Wmissing-field-initializers\"\n\n";
    source += fmt::format(
        "namespace heapsift {{\n\nextern const Layout {0};\n\nconstexpr Layout {0} = {{\n    .version = "
        "{1},\n    "
        ".build_id = \"{2}\",\n",
        name, version_initialiser(request.version), read.files.front().build_id);
    std::string_view struct_name;
    std::vector<std::string> fields;
    for (const LayoutFieldName& field : layout_field_names()) {
        if (struct_name != field.struct_name) {
            append_struct(source, struct_name, fields);
            struct_name = field.struct_name;
            fields.clear();
        }
        if (std::string text = field_initialiser(read.layout, field); !text.empty())
            fields.push_back(std::move(text));
    }
    append_struct(source, struct_name, fields);
    return source + "};\n\n}  // namespace heapsift\n";
}

}  // namespace

int main(int argc, char** argv) {
    const auto request = parse_arguments({argv + 1, argv + argc});
    if (!request) {
        fmt::print(stderr,
                   "usage: heapsift-layout-table --version MAJOR.MINOR[t][d] [--build TEXT] FILE...\n");
        return 2;
    }
    const LayoutFromDebugInfo read = layout_from_debug_info(request->files, request->version);
    bool readable = true;
    for (const LayoutSource& file : read.files) {
        if (file.problem.empty()) continue;
        fmt::print(stderr, "heapsift-layout-table: {}: {}\n", file.path, file.problem);
        readable = false;
    }
    if (!readable) return 1;
    if (!read.usable()) {
        fmt::print(stderr, "heapsift-layout-table: {}: no CPython in its debug information\n",
                   request->files.front());
        return 1;
    }
    for (const std::string& member : read.too_wide)
        fmt::print(
            stderr,
            "heapsift-layout-table: {}: its line in layout_fields*.def gives it more bytes than it has\n",
            member);
    if (!read.too_wide.empty()) return 1;
    fmt::print("{}", table_source(*request, read));
    return 0;
}
