// Files and sockets: their names, and whether they are open.
//
// An io.FileIO begins with its descriptor, below 0 once it is closed, and bits for what it was opened for; its name
// is in its __dict__. A buffered file leads to it by `raw`, a text file to that by `buffer` (_io/fileio.c,
// bufferedio.c, textio.c of 3.9 to 3.13). A socket begins with descriptor, family, type and protocol
// (socketmodule.h). Text is that of Python 2's repr(), which said whether a file is open.

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::int32_t most_descriptors = 1 << 30;
constexpr std::int32_t most_families = 128;
constexpr std::uint32_t bit_created = 1, bit_readable = 2, bit_writable = 4, bit_appending = 8;
constexpr int most_layers = 4;

bool is_called(const ObjectReader& object, std::string_view name) {
    for (const TypeInfo* at : lookup_order(object.heap(), object.type()))
        if (at->name == name && !at->python_class) return true;
    return false;
}

std::string mode_of(std::uint32_t bits) {
    const bool both = (bits & bit_readable) && (bits & bit_writable);
    if (bits & bit_created) return bits & bit_readable ? "xb+" : "xb";
    if (bits & bit_appending) return bits & bit_readable ? "ab+" : "ab";
    return both ? "rb+" : bits & bit_readable ? "rb" : "wb";
}

/// The io.FileIO that a file reads or writes; nothing if it is another kind of stream.
std::optional<ObjectReader> raw_file(const ObjectReader& file) {
    const PythonHeap& heap = file.heap();
    std::optional<ObjectReader> at = file;
    for (int i = 0; at && i < most_layers; ++i) {
        if (is_called(*at, "_io.FileIO")) return at;
        if (is_called(*at, "_io.TextIOWrapper"))
            at = object_at(heap, at->pointer(heap.layout().text_io.buffer));
        else if (is_called(*at, "_io.BufferedReader") || is_called(*at, "_io.BufferedWriter") ||
                 is_called(*at, "_io.BufferedRandom"))
            at = object_at(heap, at->pointer(heap.layout().buffered.raw));
        else
            break;
    }
    return std::nullopt;
}

ShortValue file(const Describing& of) {
    const auto raw = raw_file(of.object);
    if (!raw) return {};
    const PythonHeap& heap = of.heap();
    const std::uint64_t header = *heap.layout().object.size;
    const auto descriptor = heap.integer<std::int32_t>(raw->at(header));
    const auto bits = heap.integer<std::uint32_t>(raw->at(header + 4));
    if (descriptor < -1 || descriptor > most_descriptors || !(bits & (bit_readable | bit_writable)))
        return {};
    std::string mode = mode_of(bits);
    if (is_called(of.object, "_io.TextIOWrapper"))
        mode = str_value(heap, heap.dict_value(of.object.pointer(heap.layout().text_io.dict), "mode"))
                   .value_or(std::string());
    const Address name = heap.dict_value(raw->pointer(heap.layout().file_io.dict), "name");
    const bool open = descriptor >= 0;
    const std::string end = (mode.empty() ? "" : fmt::format(", mode {}", quoted_str(mode))) +
                            (open ? fmt::format(", fd {}", descriptor) : "") + ">";
    const std::string begin = open ? "<open file" : "<closed file";
    if (name.is_null()) return {.kind = ShortValue::Kind::name, .text = begin + end};
    const ShortValue named = of.values.part(name, of.limit, of.depth + 1);
    return {.kind = ShortValue::Kind::summary,
            .text = begin + " " + named.text + end,
            .cut = named.cut,
            .without_values = begin + end};
}

ShortValue bytes_in_memory(const Describing& of) {
    const LayoutOffset buffer = of.object.layout().bytes_io.buf;
    if (!buffer.present()) return {};
    if (of.object.pointer(buffer).is_null())
        return {.kind = ShortValue::Kind::name, .text = "<closed BytesIO>"};
    const auto position = of.heap().integer<std::int64_t>(of.object.at(*buffer + 8));
    const auto size = of.heap().integer<std::int64_t>(of.object.at(*buffer + 16));
    if (position < 0 || size < 0 || size > of.heap().var_size(of.object.pointer(buffer))) return {};
    return {.kind = ShortValue::Kind::name,
            .text = fmt::format("<BytesIO of {} bytes, position {}>", size, position)};
}

std::string family_name(std::int32_t family) {
    static constexpr struct {
        std::int32_t number;
        const char* name;
    } names[] = {{1, "AF_UNIX"},    {2, "AF_INET"},       {10, "AF_INET6"}, {16, "AF_NETLINK"},
                 {17, "AF_PACKET"}, {31, "AF_BLUETOOTH"}, {29, "AF_CAN"},   {40, "AF_VSOCK"}};
    for (const auto& one : names)
        if (one.number == family) return one.name;
    return fmt::format("family {}", family);
}

std::string socket_type(std::int32_t type) {
    static constexpr const char* names[] = {"SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW", "SOCK_RDM",
                                            "SOCK_SEQPACKET"};
    if (type >= 1 && type <= 5) return names[type - 1];
    return fmt::format("type {}", type);
}

ShortValue socket(const Describing& of) {
    const std::uint64_t header = *of.object.layout().object.size;
    const auto field = [&](std::uint64_t i) {
        return of.heap().memory().read<std::int32_t>(of.object.at(header + 4 * i));
    };
    const auto descriptor = field(0), family = field(1), type = field(2);
    if (!descriptor || !family || !type || *descriptor < -1 || *descriptor > most_descriptors ||
        *family < 0 || *family > most_families || *type < 0 || *type > most_families)
        return {};
    return {.kind = ShortValue::Kind::name,
            .text = fmt::format("<{} socket, {}, {}{}>", *descriptor < 0 ? "closed" : "open",
                                family_name(*family), socket_type(*type),
                                *descriptor < 0 ? "" : fmt::format(", fd {}", *descriptor))};
}

constexpr ValueRow file_rows[] = {{"_io.FileIO", file},         {"_io.BufferedReader", file},
                                  {"_io.BufferedWriter", file}, {"_io.BufferedRandom", file},
                                  {"_io.TextIOWrapper", file},  {"_io.BytesIO", bytes_in_memory},
                                  {"_socket.socket", socket}};

}  // namespace

std::span<const ValueRow> file_values() { return file_rows; }

}  // namespace heapsift
