#include "parsers/cpython/build/python_version.h"

// Py_Version and PY_VERSION_HEX have a byte each for major, minor and micro, then four bits for the level and
// four for the serial (patchlevel.h).

#include <fmt/format.h>

namespace heapsift {

PythonVersion PythonVersion::from_hex(std::uint32_t hex) {
    PythonVersion v;
    v.major = static_cast<int>(hex >> 24);
    v.minor = static_cast<int>((hex >> 16) & 0xff);
    v.micro = static_cast<int>((hex >> 8) & 0xff);
    v.release_level = static_cast<std::uint8_t>((hex >> 4) & 0xf);
    v.serial = static_cast<std::uint8_t>(hex & 0xf);
    return v;
}

std::string PythonVersion::text() const {
    std::string out = fmt::format("{}.{}", major, minor);
    if (micro >= 0) out += fmt::format(".{}", micro);
    if (release_level == 0xa) out += fmt::format("a{}", serial);
    if (release_level == 0xb) out += fmt::format("b{}", serial);
    if (release_level == 0xc) out += fmt::format("rc{}", serial);
    return out;
}

namespace {

constexpr int first_minor = 6, last_minor = 15;

}  // namespace

bool is_supported(const PythonVersion& version) {
    if (version.major == 2) return version.minor == 7;
    return version.major == 3 && version.minor >= first_minor && version.minor <= last_minor;
}

bool is_newer_than_supported(const PythonVersion& version) {
    return version.major == 3 && version.minor > last_minor;
}

std::vector<LayoutVersion> layouts_to_try(const PythonVersion& version, bool free_threaded) {
    constexpr int worth_a_try = 3;
    std::vector<LayoutVersion> versions;
    if (is_supported(version)) versions.push_back({version.major, version.minor, free_threaded, false});
    if (is_newer_than_supported(version))
        for (int back = 0; back < worth_a_try; ++back)
            versions.push_back({version.major, last_minor - back, free_threaded, false});
    return versions;
}

}  // namespace heapsift
