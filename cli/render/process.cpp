// How a process ended. Signal codes are those of sigaction(2).

#include "cli/render/process.h"

#include "cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>

namespace heapsift {
namespace {

std::string fault_text(int signal, int code) {
    if (signal == SIGSEGV && code == SEGV_MAPERR) return "address not mapped";
    if (signal == SIGSEGV && code == SEGV_ACCERR) return "access not allowed";
    if (signal == SIGBUS && code == BUS_ADRERR) return "address past the end of a mapped file";
    if (signal == SIGBUS && code == BUS_ADRALN) return "address not aligned";
    if (signal == SIGFPE && code == FPE_INTDIV) return "integer divided by zero";
    if (signal == SIGILL && code > 0) return "illegal instruction";
    if (code == SI_USER || code == SI_QUEUE) return "sent by a process";
    if (code == SI_TKILL) return signal == SIGABRT ? "abort()" : "sent by a thread";
    return "";
}

}  // namespace

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string signal_words(const ProcessInfo& process) {
    const int signal = process.signal.value_or(0);
    std::string text = fmt::format("{} ({})", signal_name(signal), signal);
    const std::string fault = process.signal_code ? fault_text(signal, *process.signal_code) : std::string();
    if (!fault.empty()) text += ": " + fault;
    if (process.fault_address) text += " at " + hexadecimal(process.fault_address->value);
    return text;
}

namespace {

std::string utc_time(std::uint64_t seconds, const char* format) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    if (!::gmtime_r(&time, &parts)) return {};
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

Datum captured_data(const std::optional<CaptureFacts>& facts) {
    if (!facts) return {};
    return entries({{"time", utc_time(facts->seconds, "%Y-%m-%dT%H:%M:%SZ")},
                    {"method", facts->by_fork ? "fork" : "copy"},
                    {"stood_ns", facts->stood_nanoseconds},
                    {"changed_pages", facts->changed_pages},
                    {"heapsift", facts->version}});
}

}  // namespace

std::string how_it_ended(const ProcessInfo& process) {
    if (was_alive(process) && process.captured)
        return "alive when captured, " + utc_time(process.captured->seconds, "%Y-%m-%d %H:%M:%S UTC");
    if (was_alive(process)) return process.from_gcore ? "alive when dumped (gcore)" : "alive when dumped";
    const std::string text = "killed by " + signal_words(process);
    return process.from_gcore ? text + " (saved by gdb)" : text;
}

std::string utc_text(double seconds) {
    return utc_time(static_cast<std::uint64_t>(std::max(seconds, 0.0)), "%Y-%m-%dT%H:%M:%SZ");
}

Datum program_data(const ProgramFacts& facts) {
    Datum packages = entries({});
    for (const auto& [name, version] : facts.packages) packages[name] = Withheld{version};
    return entries({{"host", facts.host.empty() ? Datum() : Datum(Withheld{facts.host})},
                    {"container", facts.container.empty() ? Datum() : Datum(Withheld{facts.container})},
                    {"started", facts.started ? Datum(utc_text(*facts.started)) : Datum()},
                    {"packages", std::move(packages)}});
}

Datum process_data(const ProcessInfo& process, std::size_t threads) {
    return entries(
        {{"pid", process.pid},
         {"name", process.name},
         {"arguments", ProcessCall{process.name, process.arguments}},
         {"threads", threads},
         {"alive", was_alive(process)},
         {"from_gcore", process.from_gcore},
         {"captured", captured_data(process.captured)},
         {"signal", process.signal},
         {"signal_name", process.signal.value_or(0) == 0 ? Datum() : Datum(signal_name(*process.signal))},
         {"signal_code", process.signal_code},
         {"fault_address", process.fault_address},
         {"ended", how_it_ended(process)}});
}

}  // namespace heapsift
