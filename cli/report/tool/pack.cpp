// Packs files into a C++ source: pack OUTPUT FILE…. The files, each ended by a zero byte, as one frame of zstd. A part of the
// build, and not installed.

#include <zstd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    if (count < 3) return 2;
    std::string all;
    for (int i = 2; i < count; ++i) {
        std::ifstream file(arguments[i], std::ios::binary);
        if (!file) {
            std::cerr << "pack: " << arguments[i] << " cannot be read\n";
            return 1;
        }
        all.append(std::istreambuf_iterator<char>(file), {});
        all += '\0';
    }
    constexpr int hardest = 19;
    std::vector<unsigned char> packed(ZSTD_compressBound(all.size()));
    const std::size_t size = ZSTD_compress(packed.data(), packed.size(), all.data(), all.size(), hardest);
    if (ZSTD_isError(size)) return 1;
    std::ofstream out(arguments[1]);
    out << "#include <cstddef>\nnamespace heapsift {\nextern const unsigned char packed_page_assets[];\n"
           "extern const std::size_t packed_page_assets_size;\nconst unsigned char packed_page_assets[] = {";
    for (std::size_t i = 0; i < size; ++i)
        out << (i % 32 == 0 ? "\n" : "") << static_cast<unsigned>(packed[i]) << ',';
    out << "};\nconst std::size_t packed_page_assets_size = " << size << ";\n}\n";
    return out.flush() ? 0 : 1;
}
