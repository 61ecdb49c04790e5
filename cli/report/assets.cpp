#include "cli/report/assets.h"

#include <zstd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace heapsift {

// Of the file that the build makes.
extern const unsigned char packed_page_assets[];
extern const std::size_t packed_page_assets_size;

namespace {

std::string unpacked_assets() {
    const unsigned long long size = ZSTD_getFrameContentSize(packed_page_assets, packed_page_assets_size);
    std::string all(static_cast<std::size_t>(size), '\0');
    if (const std::size_t done =
            ZSTD_decompress(all.data(), all.size(), packed_page_assets, packed_page_assets_size);
        ZSTD_isError(done) || done != all.size())
        throw std::logic_error("the page's parts do not unpack");
    return all;
}

}  // namespace

PageAssets page_assets() {
    const std::string all = unpacked_assets();
    PageAssets assets;
    std::string_view rest = all;
    for (std::string* part :
         {&assets.page, &assets.style, &assets.script, &assets.style_hash, &assets.script_hash}) {
        const std::size_t end = rest.find('\0');
        *part = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return assets;
}

std::string base64_of_hexadecimal(const std::string& digits) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto digit = [](char c) { return static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::string text;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 6) {
        std::uint32_t three = 0;
        std::size_t bytes = 0;
        for (; bytes < 3; ++bytes) {
            const std::size_t place = at + 2 * bytes;
            three <<= 8;
            if (place + 1 < digits.size())
                three |= digit(digits[place]) << 4 | digit(digits[place + 1]);
            else
                break;
        }
        three <<= 8 * (bytes < 3 ? 2 - bytes : 0);
        for (std::size_t i = 0; i < 4; ++i) text += i <= bytes ? letters[three >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

}  // namespace heapsift
