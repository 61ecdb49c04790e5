// The state file consists of lines "key value". Values are percent-encoded: a path is bytes, and JSON cannot
// carry all of them. The file is written under another name and renamed, so that two commands that end at
// once leave one whole file.

#include "cli/core_in_use.h"

#include "cli/machine.h"
#include "parsers/base/machine_boot.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "heapsift core in use 1";
constexpr std::size_t largest_file = 1 << 16;

std::string encoded(std::string_view text) {
    std::string out;
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte > ' ' && byte < 0x7f && c != '%' ? std::string(1, c) : fmt::format("%{:02x}", byte);
    }
    return out;
}

std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned byte = 0;
        if (i + 2 >= text.size()) return std::nullopt;
        const char* digits = text.data() + i + 1;
        if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

template <class Number>
bool read_number(const std::map<std::string, std::string>& values, const char* key, Number& number) {
    const auto found = values.find(key);
    if (found == values.end()) return false;
    const std::string& text = found->second;
    return std::from_chars(text.data(), text.data() + text.size(), number).ptr == text.data() + text.size() &&
           !text.empty();
}

std::optional<std::string> file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(largest_file, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

std::optional<CoreInUse> read_file(const std::string& path) {
    const auto text = path.empty() ? std::nullopt : file_text(path);
    return text ? read_core_in_use(*text) : std::nullopt;
}

// Writes all of it or nothing; false if it could not be written.
bool write_file(const std::string& path, const std::string& text) {
    std::string temporary = path + ".XXXXXX";
    const int descriptor = mkostemp(temporary.data(), 0);  // mode 0600
    if (descriptor < 0) return false;
    const bool whole = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool closed = ::close(descriptor) == 0;
    if (whole && closed && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
    ::unlink(temporary.c_str());
    return false;
}

// Sessions end without notice; those unused for a month are removed.
void forget_old_sessions(const std::string& directory) {
    std::error_code error;
    const auto oldest = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!entry->path().filename().string().starts_with("session-")) continue;
        const auto time = entry->last_write_time(error);
        if (!error && time < oldest) fs::remove(entry->path(), error);
    }
}

std::string state_directory() { return own_directory("XDG_STATE_HOME", "/.local/state"); }

std::string this_session() {
    const auto stat = file_text(fmt::format("/proc/{}/stat", static_cast<long>(getsid(0))));
    return stat ? session_name(*stat, machine_boot()) : std::string();
}

}  // namespace

std::optional<FileIdentity> identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return FileIdentity{
        static_cast<std::uint64_t>(status.st_size),
        static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec,
        status.st_ino};
}

std::string session_name(std::string_view stat, std::string_view boot_id) {
    const std::size_t name_end = stat.rfind(')');  // the command's name may contain blanks and brackets
    if (name_end == std::string_view::npos) return {};
    std::istringstream rest{std::string(stat.substr(name_end + 1))};
    std::vector<std::string> fields;  // from "state", the third field of proc(5), on
    for (std::string field; rest >> field;) fields.push_back(field);
    constexpr std::size_t session = 6 - 3, terminal = 7 - 3, start_time = 22 - 3;
    if (fields.size() <= start_time) return {};
    std::string name = fmt::format("{}-{}-{}", fields[session], fields[terminal], fields[start_time]);
    for (char c : name)
        if (c != '-' && !std::isdigit(static_cast<unsigned char>(c))) return {};
    std::string boot;
    for (char c : boot_id.substr(0, 8))
        if (std::isxdigit(static_cast<unsigned char>(c))) boot += c;
    return boot.empty() ? name : name + "-" + boot;
}

std::string written(const CoreInUse& core) {
    return fmt::format(
        "{}\npath {}\nsize {}\nmodified_ns {}\ninode {}\nexecutable {}\nsysroot {}\ndebug_dir {}\nruntime "
        "{}\nend\n",
        magic, encoded(core.path), core.identity.size, core.identity.modified_ns, core.identity.inode,
        encoded(core.search.executable), encoded(core.search.sysroot), encoded(core.search.debug_dir),
        core.search.runtime.value_or(0));
}

std::optional<CoreInUse> read_core_in_use(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::string line;
    if (!std::getline(lines, line) || line != magic) return std::nullopt;
    std::map<std::string, std::string> values;
    bool ended = false;
    while (!ended && std::getline(lines, line)) {
        const std::size_t blank = line.find(' ');
        ended = line == "end";
        if (blank == std::string::npos) continue;
        const auto value = decoded(std::string_view(line).substr(blank + 1));
        if (!value) return std::nullopt;
        values[line.substr(0, blank)] = *value;
    }
    CoreInUse core;
    core.path = values["path"];
    core.search = {values["executable"], values["sysroot"], values["debug_dir"]};
    std::size_t runtime = 0;  // older files say nothing of it
    if (read_number(values, "runtime", runtime) && runtime > 0 && runtime <= most_runtimes)
        core.search.runtime = runtime;
    const bool numbers = read_number(values, "size", core.identity.size) &&
                         read_number(values, "modified_ns", core.identity.modified_ns) &&
                         read_number(values, "inode", core.identity.inode);
    if (!ended || !numbers || !core.path.starts_with('/')) return std::nullopt;
    return core;
}

CoreInUseStore::CoreInUseStore(std::string directory, std::string session)
    : directory_(std::move(directory)), session_(std::move(session)) {}

CoreInUseStore CoreInUseStore::from_environment() {
    const char* state = std::getenv("HEAPSIFT_STATE");
    if (state && std::string_view(state) == "off") return {};
    return {state_directory(), this_session()};
}

std::string CoreInUseStore::session_file() const {
    return directory_.empty() || session_.empty() ? std::string() : directory_ + "/session-" + session_;
}

std::string CoreInUseStore::user_file() const {
    return directory_.empty() ? std::string() : directory_ + "/user";
}

std::optional<CoreInUse> CoreInUseStore::of_session() const { return read_file(session_file()); }
std::optional<CoreInUse> CoreInUseStore::of_user() const { return read_file(user_file()); }

bool CoreInUseStore::remember(const CoreInUse& core) const {
    if (directory_.empty()) return false;
    std::error_code error;
    if (!fs::exists(directory_, error)) {
        fs::create_directories(directory_, error);
        fs::permissions(directory_, fs::perms::owner_all, error);
    }
    forget_old_sessions(directory_);
    const bool for_session = !session_.empty() && write_file(session_file(), written(core));
    const bool for_user = write_file(user_file(), written(core));
    return session_.empty() ? for_user : for_session;
}

}  // namespace heapsift
