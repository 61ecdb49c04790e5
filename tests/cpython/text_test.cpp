// str in all its forms, bytes and bytearray: sizes as from sys.getsizeof, values as from repr, and separate
// buffers.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A str whose characters are in a separate block, as in subclasses of str and, up to 3.11, in what the old C
/// interface made.
Address separate_str(PythonHeapBuilder& heap, const std::string& text, Address& data) {
    const Layout& l = heap.layout();
    const Address at = heap.object("str");
    data = heap.allocate(text.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) heap.put(data + i, text[i]);
    heap.set(at, l.ascii.length, static_cast<std::int64_t>(text.size()));
    heap.set_bits(at, l.ascii.state_kind, 1);
    heap.set_bits(at, l.ascii.state_ascii, 1);
    heap.set_bits(at, l.ascii.state_ready, 1);
    heap.set(at, l.compact_unicode.utf8, data);  // ASCII shares its characters with its UTF-8 form
    heap.set(at, l.compact_unicode.utf8_length, text.size());
    heap.set(at, l.unicode.data, data);
    return at;
}

}  // namespace

TEST_CASE("str: a header, and one, two or four bytes a character with one more at the end",
          "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    // sys.getsizeof('') is 49 up to 3.11 and 41 since then, without the field wstr.
    const std::uint64_t ascii = heap.minor() >= 12 ? 40 : 48;
    const std::uint64_t wide = heap.minor() >= 12 ? 56 : 72;
    CHECK(size_of(heap, heap.str("")) == ascii + 1);
    CHECK(size_of(heap, heap.str("abc")) == ascii + 4);
    CHECK(size_of(heap, heap.str32(U"é")) == wide + 2);
    CHECK(size_of(heap, heap.str32(U"€uro")) == wide + 2 * 5);
    CHECK(size_of(heap, heap.str32(U"😀")) == wide + 4 * 2);
    CHECK(buffers(heap, heap.str("abc")).empty());
    CHECK(references(heap, heap.str("abc")).empty());
}

TEST_CASE("str: every width is decoded", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    auto read = [&](Address str) { return heap.heap().unicode_text(str).value_or("?"); };
    CHECK(read(heap.str("")).empty());
    CHECK(read(heap.str("plain")) == "plain");
    CHECK(read(heap.str32(U"naïve")) == "naïve");
    CHECK(read(heap.str32(U"5 €")) == "5 €");
    CHECK(read(heap.str32(U"a😀b")) == "a😀b");
    const Address wide = heap.str32(U"a😀b");
    const auto facts = heap.heap().unicode(wide);
    REQUIRE(facts);
    CHECK(facts->length == 3);
    CHECK(facts->kind == 4);
    CHECK_FALSE(facts->ascii);
    CHECK(facts->compact);
    CHECK(heap.heap().unicode_text(wide, 2) == "a😀");
    CHECK_FALSE(heap.heap().unicode_equals(wide, "a"));
    const Address plain = heap.str("plain");
    CHECK(heap.heap().unicode_equals(plain, "plain"));
    CHECK_FALSE(heap.heap().unicode_equals(plain, "plaim"));
    CHECK_FALSE(heap.heap().unicode_equals(plain, "plain "));
}

TEST_CASE("str: characters apart from the header are a buffer", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    Address data;
    const Address str = separate_str(heap, "hello", data);
    CHECK(text_of(heap, str) == "'hello'");
    CHECK(size_of(heap, str) == *layout->unicode.size + 6);
    CHECK(buffers(heap, str) == std::vector<SeenBuffer>{{data, 6, false}});
    CHECK(plausible(heap, str));
}

TEST_CASE("str: a UTF-8 copy counts, unless it shares the characters", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address str = heap.str32(U"é");
    const std::uint64_t before = size_of(heap, str);
    const Address copy = heap.allocate(3);
    heap.set(str, layout->compact_unicode.utf8, copy);
    heap.set(str, layout->compact_unicode.utf8_length, std::uint64_t{2});
    CHECK(size_of(heap, str) == before + 3);
    CHECK(buffers(heap, str) == std::vector<SeenBuffer>{{copy, 3, false}});
}

TEST_CASE("str: the wchar_t copy of 3.11 and older counts four bytes a character", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (!layout->ascii.wstr.present()) return;
    const Address str = heap.str("abc");
    const Address copy = heap.allocate(16);
    heap.set(str, layout->ascii.wstr, copy);
    CHECK(size_of(heap, str) == 48 + 4 + 4 * 4);
    CHECK(buffers(heap, str) == std::vector<SeenBuffer>{{copy, 16, false}});
}

TEST_CASE("str: a legacy str that was never made ready has only its wchar_t copy", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (!layout->ascii.wstr.present()) return;
    const Address str = heap.object("str");
    const Address copy = heap.allocate(16);
    heap.set(str, layout->ascii.wstr, copy);
    heap.set(str, layout->compact_unicode.wstr_length, std::uint64_t{3});
    CHECK(size_of(heap, str) == *layout->unicode.size + 16);
    CHECK(buffers(heap, str) == std::vector<SeenBuffer>{{copy, 16, false}});
}

TEST_CASE("str: its value is what repr prints", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.str("")) == "''");
    CHECK(text_of(heap, heap.str("plain")) == "'plain'");
    CHECK(text_of(heap, heap.str("it's")) == "\"it's\"");
    CHECK(text_of(heap, heap.str("say \"hi\"")) == "'say \"hi\"'");
    CHECK(text_of(heap, heap.str("it's \"both\"")) == "'it\\'s \"both\"'");
    CHECK(text_of(heap, heap.str("back\\slash")) == "'back\\\\slash'");
    CHECK(text_of(heap, heap.str("a\nb\tc\rd")) == "'a\\nb\\tc\\rd'");
    CHECK(text_of(heap, heap.str(std::string_view("\0\x1b\x7f", 3))) == "'\\x00\\x1b\\x7f'");
    CHECK(text_of(heap, heap.str32(U"grüße €")) == "'grüße €'");
    const std::u32string lone = {0xd800, U'a', 0xdfff, 0xd7ff};
    CHECK(text_of(heap, heap.str32(lone)) == "'\\ud800a\\udfff\xed\x9f\xbf'");
    CHECK(value_of(heap, heap.str("plain")).kind == ShortValue::Kind::literal);
}

TEST_CASE("str: a long value is cut at the limit, in characters, and its length is kept", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.str("abcde"), 5) == "'abcde'");
    CHECK(text_of(heap, heap.str("abcdef"), 5) == "'abcde…'");
    CHECK(text_of(heap, heap.str32(U"éééé"), 2) == "'éé…'");
    const ShortValue value = value_of(heap, heap.str(std::string(100000, 'x')), 10);
    CHECK(value.text == "'xxxxxxxxxx…'");
    CHECK(value.length == 100000);
}

TEST_CASE("str: one that is being written has anything behind what was written", "[cpython][str]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address str = heap.str("written, and the rest");
    heap.set(str, layout->ascii.hash, std::int64_t{-1});
    heap.put(str + *layout->ascii.size + 7, std::uint8_t{0xcd});
    CHECK(plausible(heap, str));
    SECTION("nobody makes a key of it") { heap.set(str, layout->ascii.hash, std::int64_t{77}); }
    SECTION("one holds it") { heap.put(str, std::int64_t{2}); }
    SECTION("something was written") { heap.put(str + *layout->ascii.size, std::uint8_t{0xcd}); }
    CHECK_FALSE(plausible(heap, str));
}

TEST_CASE("str: what cannot be a str is not read as one", "[cpython][str][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address str = heap.str("abc");
    CHECK(plausible(heap, str));
    SECTION("a negative length") { heap.set(str, layout->ascii.length, std::int64_t{-1}); }
    SECTION("a length beyond all memory") { heap.set(str, layout->ascii.length, std::int64_t{1} << 50); }
    SECTION("a width of three bytes") { heap.set_bits(str, layout->ascii.state_kind, 3); }
    SECTION("ASCII of two bytes a character") { heap.set_bits(str, layout->ascii.state_kind, 2); }
    CHECK_FALSE(heap.heap().unicode(str));
    CHECK_FALSE(heap.heap().unicode_text(str));
    CHECK_FALSE(plausible(heap, str));
    CHECK(text_of(heap, str).empty());
    ask_everything(heap, str);
}

TEST_CASE("str: a length that runs out of memory gives no text", "[cpython][str][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address str = heap.str("abc");
    heap.set(str, layout->ascii.length, std::int64_t{1} << 40);
    CHECK_FALSE(plausible(heap, str));
    ask_everything(heap, str);
    const Address other = heap.str("xyz");
    heap.put(other + *layout->ascii.size, std::uint8_t{0xff});  // "ASCII"
    CHECK_FALSE(plausible(heap, other));
    const Address endless = heap.str("xyz");
    heap.put(endless + *layout->ascii.size + 3, std::uint8_t{'!'});  // no NUL after the last character
    CHECK_FALSE(plausible(heap, endless));
}

TEST_CASE("bytes: 33 bytes and one a byte", "[cpython][bytes]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(size_of(heap, heap.bytes("")) == 33);
    CHECK(size_of(heap, heap.bytes("abc")) == 36);
    CHECK(plausible(heap, heap.bytes("abc")));
}

TEST_CASE("bytes: the value is what repr prints", "[cpython][bytes]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.bytes("")) == "b''");
    CHECK(text_of(heap, heap.bytes("abc")) == "b'abc'");
    CHECK(text_of(heap, heap.bytes("it's")) == "b\"it's\"");
    CHECK(text_of(heap, heap.bytes("'\"")) == "b'\\'\"'");
    CHECK(text_of(heap, heap.bytes("\\\n\t\r")) == "b'\\\\\\n\\t\\r'");
    CHECK(text_of(heap, heap.bytes(std::string("\0\x7f\xff", 3))) == "b'\\x00\\x7f\\xff'");
    CHECK(text_of(heap, heap.bytes("abcdef"), 3) == "b'abc…'");
    CHECK(value_of(heap, heap.bytes("abcdef"), 3).length == 6);
}

TEST_CASE("bytes: a length that is not followed by that many bytes and a NUL is implausible",
          "[cpython][bytes][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address bytes = heap.bytes("abc");
    for (const std::int64_t length :
         {std::int64_t{2}, std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
        heap.put(bytes + *layout->var_object.ob_size, length);
        CHECK_FALSE(plausible(heap, bytes));
        ask_everything(heap, bytes);
    }
}

TEST_CASE("bytearray: what it has allocated counts, what it shows may begin further on",
          "[cpython][bytearray]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address at = heap.object("bytearray");
    const bool has_bytes = layout->bytearray.ob_bytes_object.present();  // since 3.15
    const std::uint64_t header = has_bytes ? 64 : 56;
    CHECK(size_of(heap, at) == header);
    CHECK(buffers(heap, at).empty());
    const Address bytes = heap.bytes("0123456789");
    const Address data = has_bytes ? bytes + *layout->bytes.ob_sval : heap.allocate(10);
    for (int i = 0; i < 6; ++i) heap.put(data + static_cast<std::uint64_t>(i), static_cast<char>('a' + i));
    heap.put(at + *layout->var_object.ob_size, std::int64_t{4});
    heap.set(at, layout->bytearray.ob_alloc, std::uint64_t{10});
    heap.set(at, layout->bytearray.ob_bytes, data);
    heap.set(at, layout->bytearray.ob_start, data + 2);  // after del b[:2]
    heap.set(at, layout->bytearray.ob_bytes_object, bytes);
    CHECK(size_of(heap, at) == header + 10 + (has_bytes ? *layout->bytes.ob_sval + 1 : 0));
    if (has_bytes)
        CHECK(reference(heap, at, ".<bytes>") == Seen{bytes, ".<bytes>", ReferenceKind::hidden});
    else
        CHECK(buffers(heap, at) == std::vector<SeenBuffer>{{data, 10, false}});
    CHECK(text_of(heap, at) == "bytearray(b'cdef')");
}
