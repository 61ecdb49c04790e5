// Runs a fuzzer's input without libFuzzer, in ordinary builds: regression tests of what fuzzing found, and a
// short walk around it.
//
//     fuzz_core_replay CORPUS [ROUNDS]     seeds, the files in CORPUS, and ROUNDS variations (2,000)
//     fuzz_core_replay --seeds FOLDER      writes the seeds there, for libFuzzer to start from
//     fuzz_core_replay FILE                one input
//
// Every run has the same variations: bytes and words overwritten with numbers that break things (0, -1,
// powers of two, words from elsewhere in the input), pieces cut, doubled and swapped.

#include "tests/fuzz/fuzzer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace {

using heapsift::test::fuzz_seeds;
namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void run(const std::string& input) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Variations {
public:
    explicit Variations(std::vector<std::string> inputs) : inputs_(std::move(inputs)) {}

    std::string next() {
        std::string bytes = inputs_[pick(inputs_.size())];
        for (std::size_t changes = 1 + pick(8); changes > 0 && !bytes.empty(); --changes) change(bytes);
        return bytes;
    }

private:
    std::size_t pick(std::size_t below) {
        return below == 0 ? 0 : static_cast<std::size_t>(random_() % below);
    }

    void change(std::string& bytes) {
        const std::size_t at = pick(bytes.size());
        switch (pick(6)) {
            case 0:
                bytes[at] = static_cast<char>(random_());
                break;
            case 1:
            case 2:
                overwrite(bytes, at / 8 * 8, odd_number(), 8);
                break;
            case 3:
                overwrite(bytes, at / 4 * 4, odd_number(), 4);
                break;
            case 4: {  // a word from elsewhere
                std::uint64_t word = 0;
                const std::size_t from = pick(bytes.size()) / 8 * 8;
                std::memcpy(&word, bytes.data() + from, std::min<std::size_t>(8, bytes.size() - from));
                overwrite(bytes, at / 8 * 8, word, 8);
                break;
            }
            default:
                if (pick(8) == 0) bytes.resize(at);
                break;
        }
    }
    std::uint64_t odd_number() {
        switch (pick(4)) {
            case 0:
                return random_();
            case 1:
                return pick(64);
            case 2:
                return std::uint64_t{1} << pick(64);
            default:
                return 0 - static_cast<std::uint64_t>(pick(64));
        }
    }
    static void overwrite(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
        std::memcpy(bytes.data() + at, &value, std::min(size, bytes.size() - at));
    }

    std::vector<std::string> inputs_;
    std::mt19937_64 random_{20};
};

int write_seeds(const fs::path& folder) {
    fs::create_directories(folder);
    const std::vector<std::string> seeds = fuzz_seeds();
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        std::ofstream out(folder / ("seed-" + std::to_string(i)), std::ios::binary);
        out.write(seeds[i].data(), static_cast<std::streamsize>(seeds[i].size()));
    }
    std::printf("%zu seeds\n", seeds.size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string(argv[1]) == "--seeds") return write_seeds(argv[2]);
    if (argc == 2 && fs::is_regular_file(argv[1])) {
        run(read_file(argv[1]));
        return 0;
    }
    std::vector<std::string> inputs = fuzz_seeds();
    const std::size_t seeds = inputs.size();
    if (argc > 1 && fs::is_directory(argv[1])) {
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(argv[1]))
            if (entry.is_regular_file()) files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) inputs.push_back(read_file(file));
    }
    for (const std::string& input : inputs) run(input);
    run("");
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 2000;
    Variations variations(inputs);
    for (int round = 0; round < rounds; ++round) run(variations.next());
    std::printf("%zu seeds, %zu inputs of the corpus, %d variations\n", seeds, inputs.size() - seeds, rounds);
    return 0;
}
