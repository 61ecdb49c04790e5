// Types that many programs use and whose instances are small while what they stand for is not. Each of them has a field
// that says how much it is, or where it came from. Their structs are private to the libraries, so no version is
// trusted: a struct is read only where it proves itself.
//
// io.BytesIO         the bytes object that is its buffer, then the position and the length of what was written
//                    (Modules/_io/bytesio.c); the length is not above that of the buffer
// mmap.mmap          address and length (mmapmodule.c); all of it is mapped
// PIL.Image.Image    its `im`, an ImagingCore, leads to an ImagingMemoryInstance (libImaging/Imaging.h of Pillow 9 and
//                    11): the mode, width and height, bytes of a pixel and of a line, which agree
// sqlite3.Connection leads to a sqlite3 (sqliteInt.h, btreeInt.h, pager.c of 3.40 and 3.46): its list of databases
//                    begins with "main", whose Btree leads back to it and on to a Pager; there two names stand side by
//                    side, of the file and of its journal, which is the same with "-journal"
// lxml.etree         an element's node leads back to the element, a document's xmlDoc to itself (etree.pyx of lxml 4.9
//                    and 5.3, libxml/tree.h of 2.9); the URL and the root's name are C strings

#include "parsers/libraries/library_objects.h"

#include "parsers/cpython/instance.h"

#include <array>
#include <string_view>

namespace heapsift {
namespace {

constexpr std::uint64_t word = 8;
constexpr std::size_t longest_name = 4096;
constexpr int most_ancestors = 64, most_siblings = 1000;

/// Whether `type` or one of its bases is called so.
bool is_a(const ObjectReader& object, std::string_view name) {
    const TypeTable& types = object.heap().types();
    const TypeInfo* at = &object.type();
    for (int i = 0; i < most_ancestors; ++i) {
        if (at->name == name) return true;
        if (at->base == no_type) return false;
        at = &types[at->base];
    }
    return false;
}

std::optional<ObjectReader> reader_of(const PythonHeap& heap, Address object) {
    const TypeId type = object.is_null() ? no_type : heap.type_of(object);
    if (type == no_type) return std::nullopt;
    return ObjectReader(heap, object, heap.types()[type]);
}

std::string c_string(const PythonHeap& heap, Address at) {
    return at.is_null() ? std::string() : heap.memory().read_c_string(at, longest_name).value_or("");
}

LibraryFacts of_kind(LibraryFacts::Kind kind) {
    LibraryFacts facts{};
    facts.kind = kind;
    return facts;
}

std::optional<LibraryFacts> bytes_io(const ObjectReader& object) {
    const LayoutOffset field = object.layout().bytes_io.buf;
    const Address buffer = object.pointer(field);
    if (buffer.is_null()) return std::nullopt;  // closed
    const std::int64_t room = object.heap().var_size(buffer);
    const auto position = object.heap().integer<std::int64_t>(object.at(*field + word));
    const auto length = object.heap().integer<std::int64_t>(object.at(*field + 2 * word));
    if (length < 0 || length > room || position < 0) return std::nullopt;
    LibraryFacts facts = of_kind(LibraryFacts::Kind::bytes_io);
    facts.bytes = static_cast<std::uint64_t>(length);
    facts.allocated = static_cast<std::uint64_t>(room);
    return facts;
}

std::optional<LibraryFacts> mapping(const ObjectReader& object) {
    const std::uint64_t header = *object.layout().object.size;
    const Address data = object.heap().pointer(object.at(header));
    const auto bytes = object.heap().integer<std::uint64_t>(object.at(header + word));
    if (data.is_null() || bytes == 0 || object.heap().memory().mapped_bytes(data, bytes) != bytes)
        return std::nullopt;
    LibraryFacts facts = of_kind(LibraryFacts::Kind::mapping);
    facts.bytes = bytes;
    facts.data = data;
    return facts;
}

std::optional<LibraryFacts> image_core(const ObjectReader& core) {
    constexpr std::uint64_t xsize = 20, ysize = 24, rows_of_8 = 40, rows_of_32 = 48, rows = 56, pixel = 80,
                            line = 84, destroy = 88;
    constexpr std::size_t longest_mode = 6;
    const PythonHeap& heap = core.heap();
    const Address at = heap.pointer(core.at(*core.layout().object.size));
    LibraryFacts facts = of_kind(LibraryFacts::Kind::image);
    facts.mode = heap.memory().read_c_string(at, longest_mode).value_or("");
    facts.width = heap.integer<std::int32_t>(at + xsize);
    facts.height = heap.integer<std::int32_t>(at + ysize);
    const std::int64_t of_pixel = heap.integer<std::int32_t>(at + pixel);
    const std::int64_t of_line = heap.integer<std::int32_t>(at + line);
    for (const char c : facts.mode)
        if (c < ' ' || c > '~') return std::nullopt;
    if (facts.mode.empty() || facts.width <= 0 || facts.height <= 0 || of_pixel < 1 || of_pixel > 8)
        return std::nullopt;
    // Lines may be padded to whole words.
    if (of_line < facts.width * of_pixel || of_line > facts.width * of_pixel + 7) return std::nullopt;
    facts.data = heap.pointer(at + rows);
    const Segment* const code = heap.memory().find(heap.pointer(at + destroy));
    if (facts.data.is_null() || !code || code->module < 0 ||
        (facts.data != heap.pointer(at + rows_of_8) && facts.data != heap.pointer(at + rows_of_32)))
        return std::nullopt;
    facts.bytes = static_cast<std::uint64_t>(of_line) * static_cast<std::uint64_t>(facts.height);
    return facts;
}

std::optional<LibraryFacts> image(const ObjectReader& object) {
    for (const char* const name : {"im", "_im"})
        if (const auto core = reader_of(object.heap(), instance_attribute(object, name));
            core && core->type().name.ends_with("ImagingCore"))
            return image_core(*core);
    return std::nullopt;
}

/// All pages of the database of a BtShared (btreeInt.h), as PRAGMA page_count and page_size say; 0 if its fields do not
/// prove themselves.
std::uint64_t database_bytes(const PythonHeap& heap, Address shared, Address db) {
    constexpr std::uint64_t of_db = 8, page_size = 52, usable_size = 56, pages = 64;
    constexpr std::uint32_t smallest = 512, largest = 65536, most_reserved = 255;
    const auto size = heap.integer<std::uint32_t>(shared + page_size);
    const auto usable = heap.integer<std::uint32_t>(shared + usable_size);
    if (heap.pointer(shared + of_db) != db || size < smallest || size > largest || (size & (size - 1)) != 0 ||
        usable > size || size - usable > most_reserved)
        return 0;
    return std::uint64_t{size} * heap.integer<std::uint32_t>(shared + pages);
}

std::optional<LibraryFacts> database(const ObjectReader& object) {
    constexpr std::uint64_t databases = 32, tree = 8, shared = 8, most_of_pager = 512;
    const PythonHeap& heap = object.heap();
    const Address db = heap.pointer(object.at(*object.layout().object.size));
    if (db.is_null()) return std::nullopt;  // closed
    const Address main = heap.pointer(db + databases);
    if (c_string(heap, heap.pointer(main)) != "main") return std::nullopt;
    const Address btree = heap.pointer(main + tree);
    if (btree.is_null() || heap.pointer(btree) != db) return std::nullopt;
    const Address pager = heap.pointer(heap.pointer(btree + shared));
    if (pager.is_null() || heap.memory().mapped_bytes(pager, most_of_pager) != most_of_pager)
        return std::nullopt;
    LibraryFacts facts = of_kind(LibraryFacts::Kind::database);
    const AddressSpace::Window words(heap.memory(), pager, most_of_pager);
    for (std::uint64_t at = 0; at + 2 * word <= most_of_pager; at += word) {
        const Address file = words.pointer(at), journal = words.pointer(at + word);
        if (file.is_null() || journal <= file || journal - file > 2 * longest_name) continue;
        const std::string name = c_string(heap, file);
        if (name.empty() || c_string(heap, journal) != name + "-journal") continue;
        if (name == ":memory:") break;
        facts.file = name;
        return facts;
    }
    facts.in_memory = true;  // or a temporary file, which has no name either
    facts.bytes = database_bytes(heap, heap.pointer(btree + shared), db);
    return facts;
}

// _xmlNode and _xmlDoc: `_private`, type, name, children, last, parent, next, prev, doc.
constexpr std::uint64_t xml_private = 0, xml_type = 8, xml_name = 16, xml_children = 24, xml_next = 48,
                        xml_doc = 64, xml_url = 136;
constexpr std::int32_t xml_element = 1, xml_document = 9, html_document = 13;

bool is_document(const PythonHeap& heap, Address doc) {
    const auto type = heap.integer<std::int32_t>(doc + xml_type);
    return !doc.is_null() && (type == xml_document || type == html_document) &&
           heap.pointer(doc + xml_doc) == doc;
}

std::optional<LibraryFacts> document(const ObjectReader& object) {
    const PythonHeap& heap = object.heap();
    // After the header: the Cython class' functions, a counter, a prefix, the document.
    const Address doc = heap.pointer(object.at(*object.layout().object.size + 3 * word));
    if (!is_document(heap, doc)) return std::nullopt;
    LibraryFacts facts = of_kind(LibraryFacts::Kind::document);
    facts.file = c_string(heap, heap.pointer(doc + xml_url));
    Address node = heap.pointer(doc + xml_children);
    for (int i = 0; i < most_siblings && !node.is_null(); ++i) {
        if (heap.pointer(node + xml_doc) != doc) break;
        if (heap.integer<std::int32_t>(node + xml_type) == xml_element) {
            facts.tag = c_string(heap, heap.pointer(node + xml_name));
            break;
        }
        node = heap.pointer(node + xml_next);
    }
    return facts;
}

std::optional<LibraryFacts> element(const ObjectReader& object) {
    const PythonHeap& heap = object.heap();
    const std::uint64_t header = *object.layout().object.size;
    const Address node = heap.pointer(object.at(header + word));
    if (node.is_null() || heap.pointer(node + xml_private) != object.address()) return std::nullopt;
    const Address doc = heap.pointer(node + xml_doc);
    if (!is_document(heap, doc) || heap.integer<std::int32_t>(node + xml_type) != xml_element)
        return std::nullopt;
    LibraryFacts facts = of_kind(LibraryFacts::Kind::element);
    facts.file = c_string(heap, heap.pointer(doc + xml_url));
    facts.tag = c_string(heap, heap.pointer(node + xml_name));
    return facts;
}

struct Reader {
    std::string_view type;
    std::optional<LibraryFacts> (*read)(const ObjectReader&);
};
constexpr std::array readers = {Reader{"_io.BytesIO", bytes_io},
                                Reader{"mmap.mmap", mapping},
                                Reader{"PIL.Image.Image", image},
                                Reader{"ImagingCore", image_core},
                                Reader{"PIL._imaging.ImagingCore", image_core},
                                Reader{"sqlite3.Connection", database},
                                Reader{"lxml.etree._Document", document},
                                Reader{"lxml.etree._Element", element}};

}  // namespace

bool is_shared_memory(const std::string& path) { return path.starts_with("/dev/zero"); }

std::optional<LibraryFacts> library_facts(const ObjectReader& object) {
    if (!object.layout().object.size.present()) return std::nullopt;
    for (const Reader& reader : readers)
        if (is_a(object, reader.type)) return reader.read(object);
    return std::nullopt;
}

}  // namespace heapsift
