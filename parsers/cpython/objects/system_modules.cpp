// ssl, compression, decimal contexts, directories, the data behind abstract classes, profilers, and types of
// C modules that refer only to their class. (_ssl.c, zlibmodule.c, _bz2module.c, _lzmamodule.c, _decimal.c,
// posixmodule.c, _abc.c, _lsprof.c, …)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <unordered_set>
#include <vector>

namespace heapsift {

namespace {

/// A profiler keeps its entries in a binary tree. For each it owns the code object, or the name of the
/// built-in function.
void profiler_entries(const ObjectReader& object, Address root, ReferenceVisitor& visit) {
    const auto& l = object.layout().profiler_entry;
    std::vector<Address> open = {root};
    std::unordered_set<std::uint64_t> met;  // overwritten links may lead back
    while (!open.empty()) {
        const Address entry = open.back();
        open.pop_back();
        if (entry.is_null() || !met.insert(entry.value).second) continue;
        visit.named(object.heap().pointer(entry + *l.user_object), ".<profiled>", ReferenceKind::hidden);
        open.push_back(object.heap().pointer(entry + *l.left));
        open.push_back(object.heap().pointer(entry + *l.right));
    }
}

void profiler_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.profiler.timer), ".<timer>", reported_since(object, 13));
    visit.named(object.pointer(l.profiler.missing), ".<missing>", reported_since(object, 15));
    if (l.profiler_entry.user_object.present())
        profiler_entries(object, object.pointer(l.profiler.entries), visit);
}

constexpr const char* profiler_names[] = {"_lsprof.Profiler"};
constexpr const char* no_references_names[] = {"_socket.socket",
                                               "_ssl.MemoryBIO",
                                               "_ssl.Certificate",
                                               "_hashlib.HASH",
                                               "_hashlib.HASHXOF",
                                               "_hashlib.HMAC",
                                               "_blake2.blake2b",
                                               "_blake2.blake2s",
                                               "_md5.md5",
                                               "_sha1.sha1",
                                               "_sha2.SHA224Type",
                                               "_sha2.SHA256Type",
                                               "_sha2.SHA384Type",
                                               "_sha2.SHA512Type",
                                               "_sha256.sha224",
                                               "_sha256.sha256",
                                               "_sha512.sha384",
                                               "_sha512.sha512",
                                               "_sha3.sha3_224",
                                               "_sha3.sha3_256",
                                               "_sha3.sha3_384",
                                               "_sha3.sha3_512",
                                               "_sha3.shake_128",
                                               "_sha3.shake_256",
                                               "_bz2.BZ2Compressor",
                                               "_lzma.LZMACompressor",
                                               "_random.Random",
                                               "mmap.mmap",
                                               "select.epoll",
                                               "decimal.SignalDictMixin",
                                               "_curses.window",
                                               "_interpchannels.ChannelID",
                                               "_xxinterpchannels.ChannelID",
                                               "_xxsubinterpreters.ChannelID",
                                               "_tkinter.Tcl_Obj"};

constexpr const char* ssl_context_names[] = {"_ssl._SSLContext"};
constexpr const char* ssl_socket_names[] = {"_ssl._SSLSocket"};
constexpr const char* ssl_session_names[] = {"_ssl.SSLSession", "_ssl.Session"};
constexpr const char* zlib_object_names[] = {"zlib.Compress", "zlib.Decompress"};
constexpr const char* zlib_decompressor_names[] = {"zlib._ZlibDecompressor"};
constexpr const char* bz2_decompressor_names[] = {"_bz2.BZ2Decompressor"};
constexpr const char* lzma_decompressor_names[] = {"_lzma.LZMADecompressor"};
constexpr const char* array_iterator_names[] = {"array.arrayiterator", "arrayiterator"};
constexpr const char* poll_names[] = {"select.poll"};
constexpr const char* directory_entry_names[] = {"posix.DirEntry"};
constexpr const char* directory_iterator_names[] = {"posix.ScandirIterator"};
constexpr const char* abc_data_names[] = {"_abc_data", "_abc._abc_data"};
constexpr const char* decimal_context_names[] = {"decimal.Context"};
constexpr const char* decimal_context_manager_names[] = {"decimal.ContextManager"};
constexpr const char* curses_panel_names[] = {"_curses_panel.panel"};

constexpr VersionedField<ssl_context_layout> ssl_context_fields[] = {
    {&ssl_context_layout::set_sni_cb, ".sni_callback"},
    {&ssl_context_layout::msg_cb, "._msg_callback"},
    {&ssl_context_layout::keylog_filename, ".keylog_filename", never},
    {&ssl_context_layout::psk_client_callback, ".<PSK client callback>", never},
    {&ssl_context_layout::psk_server_callback, ".<PSK server callback>", never}};
constexpr VersionedField<ssl_socket_layout> ssl_socket_fields[] = {
    {&ssl_socket_layout::exc_type, ".<error type>", 10},
    {&ssl_socket_layout::exc, ".<error>", 10},
    {&ssl_socket_layout::exc_tb, ".<error traceback>", 10},
    {&ssl_socket_layout::socket, ".<weak reference to the socket>", never},
    {&ssl_socket_layout::ctx, ".context", never},
    {&ssl_socket_layout::owner, ".<weak reference to the owner>", never},
    {&ssl_socket_layout::server_hostname, ".server_hostname", never}};
constexpr VersionedField<ssl_session_layout> ssl_session_fields[] = {
    {&ssl_session_layout::ctx, ".<context>"}};
constexpr VersionedField<zlib_object_layout> zlib_object_fields[] = {
    {&zlib_object_layout::unused_data, ".unused_data", never},
    {&zlib_object_layout::unconsumed_tail, ".unconsumed_tail", never},
    {&zlib_object_layout::zdict, ".<dictionary>", 14}};
constexpr VersionedField<zlib_decompressor_layout> zlib_decompressor_fields[] = {
    {&zlib_decompressor_layout::zdict, ".<dictionary>", 14},
    {&zlib_decompressor_layout::unused_data, ".unused_data", never}};
constexpr VersionedField<bz2_decompressor_layout> bz2_decompressor_fields[] = {
    {&bz2_decompressor_layout::unused_data, ".unused_data", never}};
constexpr VersionedField<lzma_decompressor_layout> lzma_decompressor_fields[] = {
    {&lzma_decompressor_layout::unused_data, ".unused_data", never}};
constexpr VersionedField<array_iterator_layout> array_iterator_fields[] = {
    {&array_iterator_layout::ao, ".<array>"}};
constexpr VersionedField<poll_layout> poll_fields[] = {{&poll_layout::dict, ".<events>", never}};
constexpr VersionedField<directory_entry_layout> directory_entry_fields[] = {
    {&directory_entry_layout::name, ".name", never},
    {&directory_entry_layout::path, ".path", never},
    {&directory_entry_layout::stat, ".<stat>", never},
    {&directory_entry_layout::lstat, ".<lstat>", never}};
constexpr VersionedField<directory_iterator_layout> directory_iterator_fields[] = {
    {&directory_iterator_layout::path, ".<path>", never},
    {&directory_iterator_layout::cleanup, ".<encoded path>", never}};
constexpr VersionedField<abc_data_layout> abc_data_fields[] = {
    {&abc_data_layout::registry, ".<registry>"},
    {&abc_data_layout::cache, ".<cache>"},
    {&abc_data_layout::negative_cache, ".<negative cache>"}};
constexpr VersionedField<decimal_context_layout> decimal_context_fields[] = {
    {&decimal_context_layout::traps, ".traps", 13}, {&decimal_context_layout::flags, ".flags", 13}};
constexpr VersionedField<decimal_context_manager_layout> decimal_context_manager_fields[] = {
    {&decimal_context_manager_layout::local, ".<local context>", 13},
    {&decimal_context_manager_layout::global_, ".<global context>", 13}};
constexpr VersionedField<curses_panel_layout> curses_panel_fields[] = {
    {&curses_panel_layout::window, ".<window>", never}};

const ObjectKind kinds_of_system_modules[] = {
    {.name = "no references", .type_names = no_references_names},
    {.name = "Profiler",
     .type_names = profiler_names,
     .visit_references = profiler_references,
     .struct_size = struct_size<&Layout::profiler>},
    versioned_kind<&Layout::ssl_context, ssl_context_fields>("SSLContext", ssl_context_names),
    versioned_kind<&Layout::ssl_socket, ssl_socket_fields>("SSLSocket", ssl_socket_names),
    versioned_kind<&Layout::ssl_session, ssl_session_fields>("SSLSession", ssl_session_names),
    versioned_kind<&Layout::zlib_object, zlib_object_fields>("zlib stream", zlib_object_names),
    versioned_kind<&Layout::zlib_decompressor, zlib_decompressor_fields>("zlib decompressor",
                                                                         zlib_decompressor_names),
    versioned_kind<&Layout::bz2_decompressor, bz2_decompressor_fields>("bz2 decompressor",
                                                                       bz2_decompressor_names),
    versioned_kind<&Layout::lzma_decompressor, lzma_decompressor_fields>("lzma decompressor",
                                                                         lzma_decompressor_names),
    versioned_kind<&Layout::array_iterator, array_iterator_fields>("array iterator", array_iterator_names),
    versioned_kind<&Layout::poll, poll_fields>("poll", poll_names),
    versioned_kind<&Layout::directory_entry, directory_entry_fields>("DirEntry", directory_entry_names),
    versioned_kind<&Layout::directory_iterator, directory_iterator_fields>("scandir iterator",
                                                                           directory_iterator_names),
    versioned_kind<&Layout::abc_data, abc_data_fields>("data of an abstract class", abc_data_names),
    versioned_kind<&Layout::decimal_context, decimal_context_fields>("decimal.Context",
                                                                     decimal_context_names),
    versioned_kind<&Layout::decimal_context_manager, decimal_context_manager_fields>(
        "decimal context manager", decimal_context_manager_names),
    versioned_kind<&Layout::curses_panel, curses_panel_fields>("curses panel", curses_panel_names),
};

}  // namespace

std::span<const ObjectKind> system_module_kinds() { return kinds_of_system_modules; }

}  // namespace heapsift
