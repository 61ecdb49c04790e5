#include "parsers/emulation/machine.h"

// Code of the dumped process is run by Unicorn, on pages of the core and of the files that the process had
// mapped. What it takes, each found by failing first:
//
//   - Pages are mapped when they are first touched: of hundreds of mappings, a run needs a few, and Unicorn's
//     cost for each grows with their number.
//   - A thread's fs register is needed, for what is local to the thread.
//   - Functions of the C library that were chosen for a new processor (libc_functions.cpp) are replaced.
//     Which they are is found by running the code that chose, once something has failed for want of an instruction.
//   - POPCNT is done in a hook.
//   - A system call is answered with ENOSYS, so that nothing leaves the machine. (Unicorn would silently go
//     on with whatever stands in rax.)
//
// The code may be anything, so it is stopped when its CPU time is over (watch.cpp). It can write nothing but its
// stack and its output (guest_memory.cpp).
//
// A getter does write: it counts the reference that it returns. For such code there is the machine that *takes
// back*: its pages may be written, in this process' own copy of them (they are mapped privately, so the core
// stays as it is), each write is noted, and undone before the next call. Unicorn has no other cheap way: to
// ignore a write is not possible in version 2.0, and to exchange single pages makes many regions. Such a call
// is short, or it is stopped: by the number of blocks of code that it runs, the same on each machine.

#include "parsers/base/text.h"
#include "parsers/emulation/guest_code.h"
#include "parsers/emulation/libc_functions.h"
#include "parsers/emulation/popcnt.h"
#include "parsers/emulation/unicorn.h"
#include "parsers/emulation/watch.h"

#include <fmt/format.h>

#ifdef HEAPSIFT_UNICORN

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace heapsift {

bool can_emulate() {
    const char* const wish = std::getenv("HEAPSIFT_EMULATION");
    return !(wish && std::string_view(wish) == "off") && unicorn() != nullptr;
}

std::string emulator_name() {
    if (!can_emulate()) return {};
    unsigned major = 0, minor = 0;
    unicorn()->version(&major, &minor);
    return fmt::format("Unicorn {}.{}", major, minor);
}

namespace {

constexpr std::size_t most_regions = 600, most_events = 4096, most_written = 4096;
constexpr std::uint64_t no_such_call = ~std::uint64_t{37};  // -ENOSYS, as Linux returns it
constexpr std::uint32_t invalid_opcode = 6;                 // the exception #UD of x86
constexpr double seconds_to_choose = 0.2;                   // a function of the C library

constexpr std::array<int, 16> general_registers = {
    UC_X86_REG_RAX, UC_X86_REG_RCX, UC_X86_REG_RDX, UC_X86_REG_RBX, UC_X86_REG_RSP, UC_X86_REG_RBP,
    UC_X86_REG_RSI, UC_X86_REG_RDI, UC_X86_REG_R8,  UC_X86_REG_R9,  UC_X86_REG_R10, UC_X86_REG_R11,
    UC_X86_REG_R12, UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15};

}  // namespace

struct Machine::State {
    State(const CoreFile& c, GuestMemory& m, Kind k)
        : core(c),
          memory(m),
          calls(*unicorn()),
          traced(k != Kind::plain),
          takes_back(k == Kind::takes_back) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
        take_back();
        close();
    }

    const CoreFile& core;
    GuestMemory& memory;
    const UnicornCalls& calls;
    const bool traced, takes_back;
    uc_engine* engine = nullptr;
    std::size_t regions = 0;
    bool unknown_instruction = false;  // seen in the last run
    bool counted = false;              // a hook has done POPCNT
    Address behind_counted;            // the instruction after it
    bool out_of_regions = false;
    std::string fault;
    std::vector<TraceEvent> events;
    struct Written {
        std::byte* where;
        std::byte before;
    };
    std::vector<Written> written;  // to be taken back
    std::uint64_t blocks = 0, most_blocks = 0;
    struct Replacement {
        State* state;
        Address chosen;
        const LibcFunction* function;
    };
    std::optional<std::vector<Replacement>> replaced;  // once they are known
    Watch watch;

    bool open();
    void close() {
        if (engine) calls.close(std::exchange(engine, nullptr));
    }
    bool add_hooks();
    bool map(Address address);
    bool note_write(Address address, std::uint64_t size);
    bool write_noted(Address address, const void* bytes, std::uint64_t size);
    void take_back();
    void choose_replacements();
    End run(Address from, Address to, double seconds);
    bool set_up();

    std::uint64_t get(int number) const {
        std::uint64_t value = 0;
        calls.reg_read(engine, number, &value);
        return value;
    }
    void set(int number, std::uint64_t value) const { calls.reg_write(engine, number, &value); }

    bool count_bits();
    void replace(const LibcFunction& function);

    // What Unicorn calls.
    static bool on_not_mapped(uc_engine*, uc_mem_type type, std::uint64_t address, int size, std::int64_t,
                              void* user) {
        auto& self = *static_cast<State*>(user);
        if (self.map(Address(address))) return true;
        const char* const what = type == UC_MEM_WRITE_UNMAPPED   ? "writes"
                                 : type == UC_MEM_FETCH_UNMAPPED ? "runs"
                                                                 : "reads";
        self.fault = fmt::format("{} {} bytes at {:#x}, where nothing is", what, size, address);
        return false;
    }
    static bool on_not_allowed(uc_engine*, uc_mem_type type, std::uint64_t address, int size, std::int64_t,
                               void* user) {
        auto& self = *static_cast<State*>(user);
        self.fault =
            fmt::format("{} {} bytes at {:#x}", type == UC_MEM_WRITE_PROT ? "writes" : "runs", size, address);
        return false;
    }
    static bool on_invalid(uc_engine*, void* user) {
        auto& self = *static_cast<State*>(user);
        if (self.count_bits()) return self.counted = true;
        self.unknown_instruction = true;
        self.fault = fmt::format("an unknown instruction at {:#x}", self.get(UC_X86_REG_RIP));
        return false;
    }
    static void on_interrupt(uc_engine* engine, std::uint32_t number, void* user) {
        auto& self = *static_cast<State*>(user);
        // Unicorn 2.1.1 and later report an instruction that a hook has done as an invalid one all the same.
        const Address at(self.get(UC_X86_REG_RIP));
        if (number == invalid_opcode && self.counted && at == self.behind_counted) return;
        self.fault = fmt::format("interrupt {} at {:#x}", number, at.value);
        self.calls.emu_stop(engine);
    }
    static void on_system_call(uc_engine*, void* user) {
        static_cast<State*>(user)->set(UC_X86_REG_RAX, no_such_call);
    }
    static void on_replaced(uc_engine*, std::uint64_t, std::uint32_t, void* user) {
        auto& replacement = *static_cast<Replacement*>(user);
        replacement.state->replace(*replacement.function);
    }
    static void on_read(uc_engine*, uc_mem_type, std::uint64_t address, int size, std::int64_t, void* user) {
        auto& self = *static_cast<State*>(user);
        const auto& room = self.memory.room();
        if (self.events.size() >= most_events) return;
        // Our own room is of no interest, but copies of objects are.
        if (Address(address) >= room.code && Address(address) < room.copy) return;
        self.events.push_back({TraceEvent::Kind::read, static_cast<std::uint8_t>(size), Address(address)});
    }
    static void on_write(uc_engine*, uc_mem_type, std::uint64_t address, int size, std::int64_t, void* user) {
        static_cast<State*>(user)->note_write(Address(address), static_cast<std::uint64_t>(size));
    }
    static void on_block(uc_engine* engine, std::uint64_t, std::uint32_t, void* user) {
        auto& self = *static_cast<State*>(user);
        if (++self.blocks <= self.most_blocks) return;
        self.fault = "it runs for too long";
        self.calls.emu_stop(engine);
    }
    static void on_visit(uc_engine*, std::uint64_t, std::uint32_t, void* user) {
        auto& self = *static_cast<State*>(user);
        if (self.events.size() < most_events)
            self.events.push_back({TraceEvent::Kind::visit, 8, Address(self.get(UC_X86_REG_RDI))});
    }
};

bool Machine::State::open() {
    close();
    regions = 0;
    out_of_regions = false;
    if (calls.open(UC_ARCH_X86, UC_MODE_64, &engine) != UC_ERR_OK) {
        engine = nullptr;
        return false;
    }
    return add_hooks();
}

bool Machine::State::add_hooks() {
    bool all = true;
    const auto hook = [&](int kind, auto* function, void* user, Address from, Address to, auto... more) {
        uc_hook handle = 0;
        all = all && calls.hook_add(engine, &handle, kind, reinterpret_cast<void*>(function), user,
                                    from.value, to.value, more...) == UC_ERR_OK;
    };
    const Address anywhere(1), nowhere(0);  // begin > end: everywhere
    hook(UC_HOOK_MEM_UNMAPPED, &on_not_mapped, this, anywhere, nowhere);
    hook(UC_HOOK_MEM_PROT, &on_not_allowed, this, anywhere, nowhere);
    hook(UC_HOOK_INSN_INVALID, &on_invalid, this, anywhere, nowhere);
    hook(UC_HOOK_INTR, &on_interrupt, this, anywhere, nowhere);
    hook(UC_HOOK_INSN, &on_system_call, this, anywhere, nowhere, UC_X86_INS_SYSCALL);
    hook(UC_HOOK_INSN, &on_system_call, this, anywhere, nowhere, UC_X86_INS_SYSENTER);
    if (replaced)
        for (Replacement& one : *replaced) hook(UC_HOOK_CODE, &on_replaced, &one, one.chosen, one.chosen);
    if (traced) {
        const Address visit = memory.room().code + guest_code::visit_at;
        hook(UC_HOOK_MEM_READ, &on_read, this, anywhere, nowhere);
        hook(UC_HOOK_CODE, &on_visit, this, visit, visit);
    }
    if (takes_back) {
        const auto& room = memory.room();
        hook(UC_HOOK_MEM_WRITE, &on_write, this, anywhere, room.code - 1);
        hook(UC_HOOK_MEM_WRITE, &on_write, this, room.copy, Address(~std::uint64_t{0}));
        hook(UC_HOOK_BLOCK, &on_block, this, anywhere, nowhere);
    }
    return all;
}

bool Machine::State::map(Address address) {
    if (regions >= most_regions) {
        out_of_regions = true;
        return false;
    }
    const auto region = memory.region_at(address);
    if (!region) return false;
    const bool writable =
        region->writable || (takes_back && !region->executable && GuestMemory::make_writable(*region));
    const std::uint32_t may = UC_PROT_READ | (writable ? UC_PROT_WRITE : UC_PROT_NONE) |
                              (region->executable ? UC_PROT_EXEC : UC_PROT_NONE);
    ++regions;
    // Unicorn wants a pointer to what it may write; of what is not writable, it writes nothing.
    return calls.mem_map_ptr(engine, region->start.value, region->size, may,
                             const_cast<std::byte*>(region->bytes)) == UC_ERR_OK;
}

/// What stands there before it is written. (Where nothing is, or nothing may be written, the write will fail.)
bool Machine::State::note_write(Address address, std::uint64_t size) {
    if (size > most_written || written.size() + size > most_written) {
        if (fault.empty()) fault = "it writes too much";
        calls.emu_stop(engine);
        return false;
    }
    auto region = memory.region_at(address);
    for (std::uint64_t i = 0; i < size; ++i) {
        const Address at = address + i;
        if (region && at - region->start >= region->size) region = memory.region_at(at);
        if (!region) return false;
        auto* const where = const_cast<std::byte*>(region->bytes) + (at - region->start);
        written.push_back({where, *where});
    }
    return true;
}

/// For functions of the C library that are done for the code.
bool Machine::State::write_noted(Address address, const void* bytes, std::uint64_t size) {
    const std::size_t first = written.size();
    for (std::uint64_t at = 0; at < size;
         at += GuestMemory::page) {  // the last byte is in one of them, or in the next
        for (const Address there : {address + at, address + (size - 1)}) {
            const auto region = memory.region_at(there);
            if (!region || region->executable || !GuestMemory::make_writable(*region)) return false;
        }
    }
    if (!note_write(address, size)) return false;
    for (std::uint64_t i = 0; i < size; ++i)
        *written[first + i].where = static_cast<const std::byte*>(bytes)[i];
    return true;
}

void Machine::State::take_back() {
    for (auto one = written.rbegin(); one != written.rend(); ++one)
        if (*one->where != one->before) *one->where = one->before;
    written.clear();
}

/// Does the instruction that Unicorn does not know, if it is POPCNT.
bool Machine::State::count_bits() {
    std::array<std::uint8_t, 15> bytes{};
    const Address at(get(UC_X86_REG_RIP));
    std::size_t there = bytes.size();
    while (there > 0 && !memory.read(at, bytes.data(), there)) --there;
    const auto decoded = decode_popcnt(std::span(bytes).first(there));
    if (!decoded) return false;
    const auto reg = [&](std::uint8_t number) { return get(general_registers[number]); };
    std::uint64_t source = 0;
    if (decoded->in_memory) {
        std::uint64_t from = static_cast<std::uint64_t>(std::int64_t{decoded->displacement});
        if (decoded->has_base) from += reg(decoded->source);
        if (decoded->has_index) from += reg(decoded->index) * decoded->scale;
        if (decoded->from_next) from += at.value + decoded->length;
        if (!memory.read(Address(from), &source, decoded->width)) return false;
        if (traced) on_read(engine, UC_MEM_READ, from, decoded->width, 0, this);
    } else {
        source = reg(decoded->source);
    }
    const std::uint64_t mask =
        decoded->width == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * decoded->width) - 1;
    const auto count = static_cast<std::uint64_t>(__builtin_popcountll(source & mask));
    const int destination = general_registers[decoded->destination];
    set(destination, decoded->width == 2 ? (get(destination) & ~mask) | count : count);
    constexpr std::uint64_t carry_parity_adjust_zero_sign_overflow = 0x8d5, zero = 0x40;
    set(UC_X86_REG_EFLAGS,
        (get(UC_X86_REG_EFLAGS) & ~carry_parity_adjust_zero_sign_overflow) | (count == 0 ? zero : 0));
    behind_counted = at + decoded->length;
    set(UC_X86_REG_RIP, behind_counted.value);
    return true;
}

/// Instead of a function of the C library: does what it does, and returns.
void Machine::State::replace(const LibcFunction& function) {
    const std::array<std::uint64_t, 3> arguments = {get(UC_X86_REG_RDI), get(UC_X86_REG_RSI),
                                                    get(UC_X86_REG_RDX)};
    const auto result = function.run(memory, arguments);
    const std::uint64_t stack = get(UC_X86_REG_RSP);
    std::uint64_t back = 0;
    if (!result || !memory.read(Address(stack), &back, 8)) {
        fault = fmt::format("{} of memory that is not there", function.name);
        calls.emu_stop(engine);
        return;
    }
    set(UC_X86_REG_RAX, *result);
    set(UC_X86_REG_RSP, stack + 8);
    set(UC_X86_REG_RIP, back);
}

/// Runs the C library's own code for choosing, on what it knew of the processor.
void Machine::State::choose_replacements() {
    replaced.emplace();
    std::vector<Replacement> found;
    for (const Module& module : core.modules()) {
        const std::string_view file = base_name(module.path);
        if (!file.starts_with("libc.so.") && !file.starts_with("libc-2.")) continue;
        for (const LibcFunction& function : libc_functions()) {
            const auto chooser = core.chooser_of(module, std::string(function.name));
            if (!chooser || !open() || !set_up()) continue;
            const Address back = memory.room().code + guest_code::returned_at;
            const Address stack = memory.room().stack_end - 64 - 8;
            memory.write(stack, &back.value, 8);
            set(UC_X86_REG_RSP, stack.value);
            if (run(*chooser, back, seconds_to_choose) != End::finished) continue;
            const Address chosen(get(UC_X86_REG_RAX));
            const bool known = std::any_of(found.begin(), found.end(),
                                           [&](const Replacement& one) { return one.chosen == chosen; });
            if (!known) found.push_back({this, chosen, &function});
        }
    }
    *replaced = std::move(found);
    open();
}

bool Machine::State::set_up() {
    if (!engine) return false;
    for (const int number : general_registers) set(number, 0);
    set(UC_X86_REG_EFLAGS, 2);
    std::uint64_t thread = 0;
    for (const CoreThread& one : core.threads())
        if (thread == 0 || one.tid == core.process().pid) thread = one.fs_base();
    set(UC_X86_REG_FS_BASE, thread);
    set(UC_X86_REG_RSP, (memory.room().stack_end - 64).value);
    return true;
}

Machine::End Machine::State::run(Address from, Address to, double seconds) {
    unknown_instruction = false;
    fault.clear();
    watch.begin(engine, seconds);
    uc_err error = UC_ERR_OK;
    do {  // Unicorn stops where a hook has done an instruction
        counted = false;
        error = calls.emu_start(engine, from.value, to.value, 0, 0);
        from = Address(get(UC_X86_REG_RIP));
    } while (counted && error == UC_ERR_OK && fault.empty() && from != to && !watch.is_over());
    const bool stopped = watch.end();
    const Address at = from;
    if (at == to && error == UC_ERR_OK && fault.empty()) return End::finished;
    if (stopped) return End::out_of_time;
    const Address full = memory.room().code + guest_code::full_at;
    if (error == UC_ERR_OK && (at == full || at == full + 1)) return End::no_room;
    if (fault.empty()) fault = fmt::format("it stopped at {:#x} ({})", at.value, static_cast<int>(error));
    return End::fault;
}

Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Machine::~Machine() = default;

std::unique_ptr<Machine> Machine::start(const CoreFile& core, GuestMemory& memory, Kind kind) {
    if (!can_emulate()) return nullptr;
    auto state = std::make_unique<State>(core, memory, kind);
    if (!state->open()) return nullptr;
    if (kind == Kind::takes_back)
        memory.set_write_elsewhere(
            [raw = state.get()](Address address, const void* bytes, std::uint64_t size) {
                return raw->write_noted(address, bytes, size);
            });
    const auto code = memory.own(memory.room().code, GuestMemory::page);
    const auto put = [&](const auto& bytes, std::uint64_t at) {
        std::transform(bytes.begin(), bytes.end(), code.begin() + static_cast<std::ptrdiff_t>(at),
                       [](std::uint8_t byte) { return std::byte{byte}; });
    };
    put(guest_code::batch, 0);
    put(guest_code::visit, guest_code::visit_at);
    put(std::array<std::uint8_t, 1>{0xf4}, guest_code::returned_at);
    return std::unique_ptr<Machine>(new Machine(std::move(state)));
}

Machine::End Machine::traverse(std::uint64_t first, std::uint64_t count, std::uint64_t visited,
                               double seconds) {
    const auto& room = state_->memory.room();
    const auto once = [&] {
        if (!state_->set_up()) return End::fault;
        state_->set(UC_X86_REG_RDI, (room.visits + 8 * visited).value);
        state_->set(UC_X86_REG_RSI, (room.visits + 8 * GuestMemory::most_visits).value);
        state_->set(UC_X86_REG_RBX, (room.calls + 16 * first).value);
        state_->set(UC_X86_REG_R13, (room.calls + 16 * count).value);
        state_->set(UC_X86_REG_R12, (room.ends + 8 * first).value);
        state_->set(UC_X86_REG_R14, (room.code + guest_code::visit_at).value);
        return state_->run(room.code, room.code + guest_code::done_at, seconds);
    };
    End end = once();
    // What could not be done for a reason of ours is done again, from the first call that did not finish.
    for (int tries = 0; end == End::fault && tries < 2; ++tries) {
        if (state_->out_of_regions) {
            if (!state_->open()) break;
        } else if (state_->unknown_instruction && !state_->replaced) {
            state_->choose_replacements();
        } else {
            break;
        }
        std::uint64_t next = first;
        const auto ends = state_->memory.own(room.ends, 8 * count);
        for (std::uint64_t end_at = 0; next < count; ++next) {
            std::memcpy(&end_at, ends.data() + 8 * next, 8);
            if (end_at == 0) break;
            visited = (end_at - room.visits.value) / 8;
        }
        if (visited > GuestMemory::most_visits) break;
        first = next;
        end = once();
    }
    return end;
}

std::optional<std::uint64_t> Machine::call(Address function, std::uint64_t argument, double seconds) {
    return call(function, argument, 0, seconds, ~std::uint64_t{0});
}

std::optional<std::uint64_t> Machine::call(Address function, std::uint64_t first, std::uint64_t second,
                                           double seconds, std::uint64_t most_blocks) {
    const Address back = state_->memory.room().code + guest_code::returned_at;
    const Address stack = state_->memory.room().stack_end - 64 - 8;
    for (int tries = 0; tries < 3; ++tries) {
        if (!state_->set_up()) return std::nullopt;
        state_->take_back();
        state_->events.clear();
        state_->blocks = 0;
        state_->most_blocks = most_blocks;
        state_->memory.write(stack, &back.value, 8);
        state_->set(UC_X86_REG_RSP, stack.value);
        state_->set(UC_X86_REG_RDI, first);
        state_->set(UC_X86_REG_RSI, second);
        const End end = state_->run(function, back, seconds);
        if (end == End::finished) return state_->get(UC_X86_REG_RAX);
        // What could not be done for a reason of ours is done again.
        if (state_->out_of_regions) {
            if (!state_->open()) return std::nullopt;
        } else if (end == End::fault && state_->unknown_instruction && !state_->replaced) {
            state_->choose_replacements();
        } else {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

std::uint64_t Machine::blocks() const { return state_->blocks; }
void Machine::take_back() { state_->take_back(); }
const std::vector<TraceEvent>& Machine::trace() const { return state_->events; }
void Machine::forget_trace() { state_->events.clear(); }
const std::string& Machine::last_fault() const { return state_->fault; }

}  // namespace heapsift

#else

namespace heapsift {

struct Machine::State {};

bool can_emulate() { return false; }
std::string emulator_name() { return {}; }
Machine::Machine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Machine::~Machine() = default;
std::unique_ptr<Machine> Machine::start(const CoreFile&, GuestMemory&, Kind) { return nullptr; }
Machine::End Machine::traverse(std::uint64_t, std::uint64_t, std::uint64_t, double) { return End::fault; }
std::optional<std::uint64_t> Machine::call(Address, std::uint64_t, double) { return std::nullopt; }
std::optional<std::uint64_t> Machine::call(Address, std::uint64_t, std::uint64_t, double, std::uint64_t) {
    return std::nullopt;
}
std::uint64_t Machine::blocks() const { return 0; }
void Machine::take_back() {}
const std::vector<TraceEvent>& Machine::trace() const {
    static const std::vector<TraceEvent> none;
    return none;
}
void Machine::forget_trace() {}
const std::string& Machine::last_fault() const {
    static const std::string none;
    return none;
}

}  // namespace heapsift

#endif
