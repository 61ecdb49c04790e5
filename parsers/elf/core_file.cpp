// Opening a core: its headers, its notes, the modules and their files, and the memory that all of them make
// up.
//
// What is really in a core. The kernel writes a PT_LOAD for every mapping, and saves of it what
// /proc/PID/coredump_filter selects: by default anonymous memory, pages of files that were written to, and
// the first page of each ELF image. Code and constants are a PT_LOAD of file size 0. gcore saves about the
// same, but leaves the mappings that it does not save out of the program headers, and adds section headers.
// So what is known of the address space is the union of PT_LOAD and NT_FILE, and much of it has no bytes.
//
// The order of work follows from that. First comes the memory of the core alone, in which the modules' own
// headers are found. Their build-ids decide whether a file is accepted. Then memory is put together again,
// with the files' bytes in the holes.
//
// Symbol tables are read when first asked for: the interpreter's has tens of thousands of entries, and most
// modules are never asked. One lock guards them.

#include "parsers/elf/core_file.h"

#include "parsers/base/text.h"
#include "parsers/elf/cached_mapping.h"
#include "parsers/elf/compressed_core.h"
#include "parsers/elf/core_headers.h"
#include "parsers/elf/core_memory.h"
#include "parsers/elf/core_notes.h"
#include "parsers/elf/file_mapping.h"
#include "parsers/elf/module_files.h"
#include "parsers/elf/modules.h"
#include "parsers/elf/not_a_core.h"
#include "parsers/elf/symbols.h"
#include "parsers/elf/unpacked_copy.h"
#include "parsers/elf/unread_memory.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <utility>

namespace heapsift {

struct CoreFile::State {
    State(std::string core_path, const FileSearch& search)
        : path(std::move(core_path)), module_files(search) {}

    std::string path;
    FileMapping mapping;
    std::optional<CachedMapping> cached;  // if the mapping is an unpacked copy
    CoreNotes notes;
    ModuleList list;
    std::vector<std::shared_ptr<const ElfFile>> files;  // one for each module, null where none was accepted
    AddressSpace memory;
    AddressSpace rows;
    CoreExtent extent;

    /// Symbols of one module. Each table is read once, the second only if the first has no answer.
    struct ModuleSymbols {
        std::optional<std::string> debug_path;
        std::optional<ElfFile> debug_file;  // what `debug` points into
        std::optional<SymbolTable> own;
        std::optional<SymbolTable> debug;  // of a separate file, else of a compressed one in the module's own
    };
    std::mutex lock;
    ModuleFiles module_files;
    std::vector<ModuleSymbols> symbols;

    std::optional<std::size_t> index_of(const Module& module) const;
    const std::string& debug_path(std::size_t module);
    const SymbolTable& own_symbols(std::size_t module);
    const SymbolTable& debug_symbols(std::size_t module);
};

namespace {

/// Reports what became of the modules' files. A module without its file is only a note: the answer has fewer
/// names, but is not wrong.
void report_files(const std::vector<Module>& modules, bool index_incomplete, Diagnostics& diagnostics) {
    for (const Module& m : modules) {
        const std::string path = escape_for_terminal(m.path), file = escape_for_terminal(m.file);
        if (m.file_state == ModuleFileState::missing)
            diagnostics.add(
                "module-file-missing",
                fmt::format("{}: not found on this machine; what only the file has cannot be read", path));
        if (m.file_state == ModuleFileState::mismatch)
            diagnostics.add("module-file-mismatch",
                            fmt::format("{}: the file {} is of another build and was not used", path, file));
        if (m.file_state == ModuleFileState::unverified)
            diagnostics.add(
                "module-file-unverified",
                fmt::format("{}: the file {} cannot be compared for lack of a build-id and was not used",
                            path, file));
    }
    if (index_incomplete)
        diagnostics.add("debug-dir-too-large",
                        "not all of the debug directory was searched; name a directory with fewer files");
}

CoreExtent measure(Bytes file, const CoreHeaders& headers, const AddressSpace& memory) {
    CoreExtent extent;
    extent.file_bytes = file.size();
    extent.promised_bytes = headers.promised_bytes;
    extent.cut_bytes = headers.cut_bytes;
    extent.segment_count = headers.loads.size();
    for (const Segment& s : memory.segments()) {
        extent.mapped_bytes += s.size;
        if (s.state == ByteState::in_core) extent.in_core_bytes += s.size;
    }
    return extent;
}

}  // namespace

CoreFile CoreFile::open(const std::string& path, const FileSearch& search, Diagnostics& diagnostics,
                        UnpackedCopy* copy, const std::string& name) {
    const std::string& called = name.empty() ? path : name;
    FileMapping::Status status;
    FileMapping mapping = FileMapping::open(path, status);
    if (status.failure != FileMapping::Failure::none) throw cannot_open_core(called, status);
    const bool compressed = is_compressed(mapping.bytes());
    if (compressed) mapping = unpack_core(path, diagnostics, copy);
    require_core(called, mapping.bytes());

    auto state = std::make_unique<State>(called, search);
    state->mapping = std::move(mapping);
    if (compressed && copy && copy->is_mapped())
        state->cached.emplace(CachedKind::unpacked_core, state->mapping.bytes(), copy->path());
    CoreHeaders headers = read_core_headers(called, state->mapping.bytes(), diagnostics);
    state->notes = read_core_notes(called, headers, diagnostics);
    leave_out_unread_stacks(called, state->notes.threads, headers, diagnostics);
    if (state->notes.mapped_files.empty())
        state->notes.mapped_files = images_in_memory(memory_of_core(headers, {}));
    const AddressSpace of_core = memory_of_core(headers, state->notes.mapped_files);
    state->list = find_modules(of_core, state->notes.mapped_files, state->notes.auxiliary);
    for (std::size_t i = 0; i < state->list.modules.size(); ++i) {
        const auto& image = state->list.images[i];
        state->files.push_back(state->module_files.locate(state->list.modules[i], image ? &*image : nullptr));
    }
    report_files(state->list.modules, state->module_files.index_incomplete(), diagnostics);
    state->memory = memory_with_files(of_core, state->list, state->files);
    constexpr std::size_t worth_skipping = 128 << 10;  // below that, skipping costs more than reading
    state->memory.set_holes(state->mapping.holes(), worth_skipping);
    state->rows = space_of_rows(state->list.rows);
    state->extent = measure(state->mapping.bytes(), headers, state->memory);
    state->symbols.resize(state->list.modules.size());
    return CoreFile(std::move(state));
}

CoreFile::CoreFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CoreFile::CoreFile(CoreFile&&) noexcept = default;
CoreFile& CoreFile::operator=(CoreFile&&) noexcept = default;
CoreFile::~CoreFile() = default;

const std::string& CoreFile::path() const { return state_->path; }
const AddressSpace& CoreFile::memory() const { return state_->memory; }
const std::vector<CoreThread>& CoreFile::threads() const { return state_->notes.threads; }
const std::vector<MappedFile>& CoreFile::mapped_files() const { return state_->notes.mapped_files; }
const std::vector<Module>& CoreFile::modules() const { return state_->list.modules; }
const ProcessInfo& CoreFile::process() const { return state_->notes.process; }
const CoreExtent& CoreFile::extent() const { return state_->extent; }
const std::optional<std::vector<AddressRange>>& CoreFile::absent_pages() const {
    return state_->notes.absent_pages;
}

void CoreFile::add_not_saved(std::span<const AddressRange> ranges) {
    state_->memory.add_not_saved(ranges);
    state_->extent.mapped_bytes = state_->memory.total_bytes();
}

std::optional<std::uint64_t> CoreFile::auxiliary(std::uint64_t type) const {
    for (const auto& [known, value] : state_->notes.auxiliary)
        if (known == type) return value;
    return std::nullopt;
}

/// Callers may hold a copy of a module, so a module is recognised by its start.
std::optional<std::size_t> CoreFile::State::index_of(const Module& module) const {
    for (std::size_t i = 0; i < list.modules.size(); ++i)
        if (&list.modules[i] == &module) return i;
    for (std::size_t i = 0; i < list.modules.size(); ++i)
        if (list.modules[i].start == module.start && list.modules[i].path == module.path) return i;
    return std::nullopt;
}

const SymbolTable& CoreFile::State::own_symbols(std::size_t module) {
    auto& own = symbols[module].own;
    if (own) return *own;
    const Module& m = list.modules[module];
    own.emplace();
    if (files[module]) own = SymbolTable::of_file(*files[module], m.load_bias);
    if (own->empty() && list.images[module])
        own = SymbolTable::of_image(memory, *list.images[module], {m.start, m.end});
    return *own;
}

const std::string& CoreFile::State::debug_path(std::size_t module) {
    auto& known = symbols[module].debug_path;
    if (!known) known = module_files.debug_file_for(list.modules[module], files[module].get());
    return *known;
}

const SymbolTable& CoreFile::State::debug_symbols(std::size_t module) {
    std::optional<SymbolTable>& debug = symbols[module].debug;
    std::optional<ElfFile>& debug_file = symbols[module].debug_file;
    if (debug) return *debug;
    debug.emplace();
    if (own_symbols(module).has_static_symbols()) return *debug;
    const std::uint64_t load_bias = list.modules[module].load_bias;
    const std::string& where = debug_path(module);
    if (!where.empty() && (!files[module] || where != files[module]->path)) {
        bool exists = false;
        debug_file = ElfFile::open(where, exists);
        if (debug_file && debug_file->build_id == list.modules[module].build_id)
            debug = SymbolTable::of_file(*debug_file, load_bias);
    }
    if (debug->empty() && files[module]) debug = SymbolTable::of_debug_data(*files[module], load_bias);
    return *debug;
}

std::optional<Address> CoreFile::symbol(const Module& module, const std::string& name) const {
    const auto index = state_->index_of(module);
    if (!index) return std::nullopt;
    const std::lock_guard guard(state_->lock);
    if (const Symbol* s = state_->own_symbols(*index).find(name)) return s->address;
    if (const Symbol* s = state_->debug_symbols(*index).find(name)) return s->address;
    return std::nullopt;
}

std::optional<Address> CoreFile::chooser_of(const Module& module, const std::string& name) const {
    const auto index = state_->index_of(module);
    if (!index || !state_->files[*index]) return std::nullopt;
    const std::lock_guard guard(state_->lock);
    const Symbol* s = state_->own_symbols(*index).find(name);
    return s && s->indirect ? std::optional(s->address) : std::nullopt;
}

std::optional<CoreFile::SymbolAt> CoreFile::symbol_at(const Module& module, Address address) const {
    const auto index = state_->index_of(module);
    if (!index) return std::nullopt;
    const std::lock_guard guard(state_->lock);
    const Symbol* s = state_->own_symbols(*index).covering(address);
    if (!s) s = state_->debug_symbols(*index).covering(address);
    if (!s) return std::nullopt;
    return SymbolAt{std::string(s->name), address - s->address};
}

std::optional<AddressRange> CoreFile::section(const Module& module, const std::string& name) const {
    const auto index = state_->index_of(module);
    if (!index || !state_->files[*index]) return std::nullopt;
    return section_of_file(*state_->files[*index], name, module.load_bias);
}

std::string CoreFile::debug_file_for(const Module& module) const {
    const auto index = state_->index_of(module);
    if (!index) return {};
    const std::lock_guard guard(state_->lock);
    return state_->debug_path(*index);
}

const ElfFile* CoreFile::file_of(const Module& module) const {
    const auto index = state_->index_of(module);
    return index ? state_->files[*index].get() : nullptr;
}

const ElfImage* CoreFile::image_of(const Module& module) const {
    const auto index = state_->index_of(module);
    return index && state_->list.images[*index] ? &*state_->list.images[*index] : nullptr;
}

const Module* CoreFile::module_at(Address address) const {
    const Segment* row = state_->rows.find(address);
    if (!row) return nullptr;
    const std::int32_t module = state_->list.module_of_row[static_cast<std::size_t>(row->module)];
    return module < 0 ? nullptr : &state_->list.modules[static_cast<std::size_t>(module)];
}

}  // namespace heapsift
