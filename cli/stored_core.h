#pragma once

// What the file of a core tells besides its content: whoever stored it knew the host and the time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// Not escaped.
struct StoredCore {
    std::string host;       // "" if not known
    std::string boot;       // of the machine: 32 hexadecimal digits, as /proc/sys/kernel/random/boot_id
    std::string container;  // the command of the container's first process
    std::optional<double>
        stored;  // seconds since 1970: when the core was taken, else when its file was last written
};

/// From systemd-coredump's extended attributes (user.coredump.hostname, .timestamp, .container_cmdline) and the name
/// that it gives (core.COMM.UID.BOOT.PID.MICROSECONDS.zst), else the file's time. Nothing of a file that is not there.
StoredCore stored_core(const std::string& path);

/// The boot and the microseconds of such a name; "" and 0 if it is none.
struct StoredName {
    std::string boot;
    std::uint64_t microseconds = 0;
};
StoredName stored_name(std::string_view file_name);

}  // namespace heapsift
