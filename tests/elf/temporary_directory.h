#pragma once

// A separate directory for each test that needs files; removed at the end of the test.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace heapsift::test {

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string pattern = (std::filesystem::temp_directory_path() / "heapsift-elf-XXXXXX").string();
        if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make a temporary directory");
        path_ = pattern;
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    /// The path of `name` below the directory; makes the folders on the way.
    std::string below(const std::string& name) const {
        const std::filesystem::path path = std::filesystem::path(path_) / name;
        std::filesystem::create_directories(path.parent_path());
        return path.string();
    }
    std::string write(const std::string& name, const std::string& bytes) const {
        const std::string path = below(name);
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

private:
    std::string path_;
};

}  // namespace heapsift::test
