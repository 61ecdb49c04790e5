#pragma once

// Names without the numbers that differ from run to run.

#include <cstddef>
#include <string>
#include <string_view>

namespace heapsift {

/// `text` with "#" for each number of at least `digits` digits, and for each date, whatever is between its
/// parts: "job_#.py" of "job_20261127.py" and "job_2026-11-27.py"; "sha256.py" stays with `digits` of four. A
/// number ends at what is no digit of ASCII. So it is for what is made by chance: "job-#.py" of a UUID, and of a word of
/// at least twelve hexadecimal digits, some of them letters; "tmp#.py" of the names that `tempfile` gives. Of code that
/// came from no file ("<ipython-input-3-c329c7c45a3f>", "<doctest shop.cart[3]>") every number, which counts what came
/// before it, and digests of eight: "<ipython-input-#-#>"; what was typed at Python's prompt is "<stdin>" in all
/// versions.
std::string general_numbers(std::string_view text, std::size_t digits);

/// Of file names in signatures: "sha256.py" and "sha512.py" are two.
inline constexpr std::size_t digits_of_files = 4;

}  // namespace heapsift
