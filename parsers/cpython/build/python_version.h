#pragma once

// Versions, and what they have. Only this file and its neighbours in this folder compare versions. To learn
// what a build *is*, ask the functions in this folder; what a struct holds, its Layout.

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PythonVersion {
    int major = 0, minor = 0, micro = 0;
    std::uint8_t release_level = 0xf;  // 0xa alpha, 0xb beta, 0xc candidate, 0xf final
    std::uint8_t serial = 0;
    std::string text() const;  // "3.11.2", "3.13.0rc1"
    static PythonVersion from_hex(std::uint32_t py_version_hex);
};

/// Whether heapsift can read this version.
bool is_supported(const PythonVersion& version);
/// Whether it is a CPython 3 that came after those: then the newest tables are worth a try.
bool is_newer_than_supported(const PythonVersion& version);
inline constexpr const char* supported_versions = "2.7 and 3.6 to 3.15";

/// The version and kind of build that a Layout describes.
struct LayoutVersion {
    int major = 0, minor = 0;
    bool free_threaded = false, debug = false;
    constexpr bool operator==(const LayoutVersion&) const = default;
};

/// In a range of minor versions: 2.7, which came before all of CPython 3.
inline constexpr int before_3 = -1;

constexpr bool is_python_2(const LayoutVersion& version) { return version.major == 2; }

/// The minor versions of CPython 3 that have something, and `before_3`. What only some builds of a version have is
/// never required. (What 2.7 requires, its table tells: layout_check.cpp.)
struct LayoutVersions {
    int first = before_3, last = 99;
    bool every_build = true;
    constexpr bool contain(const LayoutVersion& version) const {
        const int minor = is_python_2(version) ? before_3 : version.minor;
        return minor >= first && minor <= last;
    }
    constexpr bool require(const LayoutVersion& version) const {
        return every_build && !is_python_2(version) && contain(version);
    }
};

constexpr LayoutVersions since(int minor) { return {.first = minor}; }
constexpr LayoutVersions until(int minor) { return {.last = minor}; }
constexpr LayoutVersions within(int first, int last) { return {first, last}; }

/// Of which tables to try for a version, best first: its own, or those of the last few if it is newer than all; none if
/// it is not supported.
std::vector<LayoutVersion> layouts_to_try(const PythonVersion& version, bool free_threaded);

/// Whether it is 3.`minor`, or 2.7 if that is `before_3`.
constexpr bool is_minor(const LayoutVersion& version, int minor) {
    return (is_python_2(version) ? before_3 : version.minor) == minor;
}

}  // namespace heapsift
