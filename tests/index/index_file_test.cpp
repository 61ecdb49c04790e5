// The file that keeps columns: whatever happens to it, what is read is what was written, or nothing.

#include "parsers/index/index_file.h"

#include "parsers/elf/cached_mapping.h"
#include "tests/catch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <thread>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

constexpr IndexKey key{0x1234, 0x5678}, other_key{0x1234, 0x5679};
constexpr std::uint64_t no_limit = ~std::uint64_t{0};

/// A folder of its own, removed at the end.
struct Folder {
    Folder() {
        std::string name = (fs::temp_directory_path() / "heapsift-index-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        path = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code error;
        fs::remove_all(path, error);
    }
    std::string file() const { return (path / "core-0.index").string(); }
    fs::path path;
};

/// Something with all kinds of fields: numbers below `count`, in a column.
struct Sample {
    std::string name;
    bool flag = false;
    std::vector<std::string> words;
    Stored<std::uint32_t> numbers;

    template <class Self, class Part>
    static void fields(Self& self, Part& part) {
        part.text(self.name);
        part.number(self.flag);
        part.list(self.words, [](auto& word, Part& p) { p.text(word); });
        std::uint64_t count = self.numbers.size();
        part.number(count);
        part.column(self.numbers, [&](std::uint32_t number) { return number < count; });
        part.require(self.numbers.size() == count, "numbers are missing");
    }
    static Sample of(const std::string& name, std::uint32_t count) {
        Sample sample;
        sample.name = name;
        sample.flag = count % 2 == 1;
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(count - 1 - i);
        for (std::uint32_t i = 0; i < count % 7; ++i) sample.words.push_back(fmt::format("word {}", i));
        sample.numbers = std::move(numbers);
        return sample;
    }
    bool operator==(const Sample& other) const {
        return name == other.name && flag == other.flag && words == other.words &&
               std::equal(numbers.begin(), numbers.end(), other.numbers.begin(), other.numbers.end());
    }
};

std::vector<PartWriter> parts_of(const std::vector<const Sample*>& samples) {
    std::vector<PartWriter> parts;
    for (const Sample* sample : samples) {
        parts.emplace_back(sample->name);
        Sample::fields(*sample, parts.back());
    }
    return parts;
}

bool read(IndexFile& index, const std::string& name, Sample& sample) {
    return index.read(name, [&](PartReader& part) { Sample::fields(sample, part); });
}

IndexFile::Kept keep(const std::string& file, const std::vector<const Sample*>& samples,
                     const IndexKey& of = key, std::uint64_t limit = no_limit) {
    return IndexFile(file, of).keep(parts_of(samples), limit).kept;
}

std::string bytes_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& file, const std::string& bytes) {
    fs::remove(file);
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(descriptor >= 0);
    REQUIRE(::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    ::close(descriptor);
}

using State = IndexFile::State;
using Kept = IndexFile::Kept;

}  // namespace

TEST_CASE("index: of two parts with one name the first is kept", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 30);
    const Sample again = Sample::of("one", 20), two = Sample::of("two", 5);
    REQUIRE(keep(folder.file(), {&one, &again}) == Kept::kept);
    const Sample twice = Sample::of("two", 6);
    REQUIRE(keep(folder.file(), {&two, &again, &twice}) == Kept::kept);
    IndexFile index(folder.file(), key);
    Sample read_one, read_two;
    REQUIRE(read(index, "one", read_one));
    REQUIRE(read(index, "two", read_two));
    CHECK(read_one == one);
    CHECK(read_two == two);
}

TEST_CASE("index: what was kept is read where it lies", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 1000), two = Sample::of("two", 5), empty = Sample::of("empty", 0);
    CHECK(IndexFile(folder.file(), key).state() == State::absent);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    IndexFile before(folder.file(), key);
    REQUIRE(before.state() == State::usable);
    CHECK(before.has("one"));
    CHECK_FALSE(before.has("two"));

    REQUIRE(keep(folder.file(), {&one, &two, &empty}) == Kept::kept);
    CHECK(keep(folder.file(), {&two, &one}) == Kept::nothing_new);
    IndexFile after(folder.file(), key);
    for (const Sample* sample : {&one, &two, &empty}) {
        Sample there;
        REQUIRE(read(after, sample->name, there));
        CHECK(there == *sample);
        CHECK(there.numbers.memory_bytes() == 0);
    }
    Sample there, none;
    REQUIRE(read(before, "one", there));  // opened before the file grew
    CHECK(there == one);
    CHECK_FALSE(read(after, "three", none));
    CHECK(after.state() == State::usable);

    struct stat status {};
    REQUIRE(::stat(folder.file().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    for (const auto& entry : fs::directory_iterator(folder.path)) CHECK(entry.path() == folder.file());
}

TEST_CASE("index: columns outlive the file they were read from", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 100'000);
    Sample there;
    {
        REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
        IndexFile index(folder.file(), key);
        REQUIRE(read(index, "one", there));
    }
    fs::remove(folder.file());
    CHECK(there == one);
}

TEST_CASE("index: a bus error in it is told from one elsewhere, and removes it", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 100'000);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    Sample there;
    {
        IndexFile index(folder.file(), key);
        REQUIRE(read(index, "one", there));
    }
    CHECK(remove_cached_file_at(&folder) == CachedKind::none);
    CHECK(remove_cached_file_at(nullptr) == CachedKind::none);
    CHECK(fs::exists(folder.file()));
    CHECK(remove_cached_file_at(&there.numbers[99'999]) == CachedKind::index);
    CHECK_FALSE(fs::exists(folder.file()));
    const void* const was_at = &there.numbers[0];
    there = {};
    CHECK(remove_cached_file_at(was_at) == CachedKind::none);
}

TEST_CASE("index: more of them than a handler can know are read all the same", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 100);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    std::vector<std::unique_ptr<IndexFile>> many;
    for (int i = 0; i < 10; ++i) {
        Sample there;
        REQUIRE(read(*many.emplace_back(std::make_unique<IndexFile>(folder.file(), key)), "one", there));
        CHECK(there == one);
    }
}

TEST_CASE("index: one of another core or build is not used, and is replaced", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 10), two = Sample::of("two", 20);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    IndexFile other(folder.file(), other_key);
    CHECK(other.state() == State::foreign);
    CHECK_FALSE(other.has("one"));
    REQUIRE(other.keep(parts_of({&two}), no_limit).kept == Kept::kept);
    CHECK(IndexFile(folder.file(), key).state() == State::foreign);
    IndexFile again(folder.file(), other_key);
    CHECK_FALSE(again.has("one"));
    CHECK(again.has("two"));
}

TEST_CASE("index: a file that others could have written is not used", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 10);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    REQUIRE(::chmod(folder.file().c_str(), 0620) == 0);
    IndexFile writable(folder.file(), key);
    CHECK(writable.state() == State::refused);
    CHECK_FALSE(writable.why().empty());
    CHECK(writable.keep(parts_of({&one}), no_limit).kept == Kept::cannot_write);
    REQUIRE(::chmod(folder.file().c_str(), 0600) == 0);
    CHECK(IndexFile(folder.file(), key).state() == State::usable);

    const std::string link = (folder.path / "link.index").string(), pipe = (folder.path / "pipe").string();
    fs::create_symlink(folder.file(), link);
    CHECK(IndexFile(link, key).state() == State::refused);
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(IndexFile(pipe, key).state() == State::refused);  // and does not wait for a writer
    CHECK(IndexFile(folder.path.string(), key).state() == State::refused);
}

TEST_CASE("index: cut at every length", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 40), two = Sample::of("two", 13);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    REQUIRE(keep(folder.file(), {&two}) == Kept::kept);
    const std::string whole = bytes_of(folder.file());
    std::size_t right = 0;
    for (std::size_t length = 0; length < whole.size(); ++length) {
        write_file(folder.file(), whole.substr(0, length));
        IndexFile index(folder.file(), key);
        Sample there;
        if (!read(index, "one", there)) continue;
        REQUIRE(there == one);  // the slot from before the second part
        ++right;
    }
    CHECK(right > 0);
    CHECK(right < whole.size() / 2);
}

TEST_CASE("index: ten thousand flipped bits", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 60), two = Sample::of("two", 13);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    REQUIRE(keep(folder.file(), {&two}) == Kept::kept);
    const std::string whole = bytes_of(folder.file());
    std::mt19937 random(7);
    std::size_t unusable = 0, used = 0;
    for (int i = 0; i < 10'000; ++i) {
        std::string flipped = whole;
        // Half of them where the slots and the blobs are: most of the first two pages is unused.
        const std::size_t place =
            i % 2 ? random() % whole.size()
                  : std::array<std::size_t, 3>{random() % 512, 4096 + random() % 512,
                                               8192 + random() % (whole.size() - 8192)}[random() % 3];
        flipped[place] = static_cast<char>(flipped[place] ^ 1 << random() % 8);
        write_file(folder.file(), flipped);
        IndexFile index(folder.file(), key);
        for (const Sample* sample : {&one, &two}) {
            Sample there;
            if (read(index, sample->name, there)) {
                REQUIRE(there == *sample);
                ++used;
            } else {
                ++unusable;
            }
        }
    }
    CHECK(used > 1000);
    CHECK(unusable > 1000);
}

TEST_CASE("index: values out of range are damage, whatever the checksum says", "[index]") {
    const Folder folder;
    PartWriter part("one");
    Sample bad = Sample::of("one", 3);
    bad.numbers = std::vector<std::uint32_t>{0, 3, 1};
    Sample::fields(bad, part);
    std::vector<PartWriter> parts;
    parts.push_back(std::move(part));
    REQUIRE(IndexFile(folder.file(), key).keep(parts, no_limit).kept == Kept::kept);
    IndexFile index(folder.file(), key);
    Sample there;
    CHECK_FALSE(read(index, "one", there));
    CHECK(index.state() == State::damaged);
    CHECK_FALSE(index.why().empty());
}

TEST_CASE("index: fields that do not end where the part does", "[index]") {
    const Folder folder;
    const auto written = [&](auto&& fill) {
        std::vector<PartWriter> parts;
        fill(parts.emplace_back("one"));
        fs::remove(folder.file());
        REQUIRE(IndexFile(folder.file(), key).keep(parts, no_limit).kept == Kept::kept);
        IndexFile index(folder.file(), key);
        Sample there;
        CHECK_FALSE(read(index, "one", there));
        CHECK(index.state() == State::damaged);
    };
    const Sample sample = Sample::of("one", 3);
    const Stored<std::uint32_t> no_numbers;
    const Stored<std::uint8_t> three_bytes(std::vector<std::uint8_t>{1, 2, 3});
    written([](PartWriter&) {});
    written([&](PartWriter& part) { part.text("one"); });
    written([&](PartWriter& part) {
        Sample::fields(sample, part);
        part.number(std::uint32_t{1});
    });
    written([&](PartWriter& part) {
        Sample::fields(sample, part);
        part.column(sample.numbers, any_value);
    });
    written([&](PartWriter& part) {
        part.number(~std::uint64_t{0});  // the length of a text
        part.number(std::uint64_t{0});
    });
    written([&](PartWriter& part) {
        part.text("one");
        part.number(std::uint8_t{2});  // neither true nor false
        part.number(std::uint64_t{0});
        part.number(std::uint64_t{0});
        part.column(no_numbers, any_value);
    });
    written([&](PartWriter& part) {
        part.text("one");
        part.number(true);
        part.number(~std::uint64_t{0} / 16);  // words
        part.number(std::uint64_t{0});
    });
    written([&](PartWriter& part) {
        part.text("one");
        part.number(true);
        part.number(std::uint64_t{0});
        part.number(std::uint64_t{1});
        part.column(three_bytes, any_value);  // no whole number
    });
}

TEST_CASE("index: what was found right is remembered until the file changes", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 1000), two = Sample::of("two", 500);
    REQUIRE(keep(folder.file(), {&one, &two}) == Kept::kept);
    const std::string checked = folder.file() + ".checked";
    const auto look = [&](const char* name) {
        IndexFile index(folder.file(), key);
        Sample there;
        const bool right = read(index, name, there);
        index.remember_checked();
        return right;
    };
    REQUIRE(look("one"));
    if (fs::exists(checked)) FAIL("a file that may still change within this step of time was trusted");
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    REQUIRE(look("one"));
    REQUIRE(fs::exists(checked));
    const std::string first = bytes_of(checked);
    CHECK(first.find("\none\n") != std::string::npos);
    REQUIRE(look("one"));
    CHECK(bytes_of(checked) == first);
    REQUIRE(look("two"));
    CHECK(bytes_of(checked) == first + "two\n");

    // One bit, by a program that sets the time back afterwards.
    struct stat status {};
    REQUIRE(::stat(folder.file().c_str(), &status) == 0);
    {
        std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(-8, std::ios::end);
        const char byte = static_cast<char>(file.get());
        file.seekp(-8, std::ios::end);
        file.put(static_cast<char>(byte ^ 4));
    }
    const timespec times[2] = {status.st_atim, status.st_mtim};
    REQUIRE(::utimensat(AT_FDCWD, folder.file().c_str(), times, 0) == 0);
    CHECK(look("one"));
    CHECK_FALSE(look("two"));
}

TEST_CASE("index: what was opened right after a change is not trusted later", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 1000);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    IndexFile index(folder.file(), key);
    Sample there;
    REQUIRE(read(index, "one", there));
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    index.remember_checked();
    CHECK_FALSE(fs::exists(folder.file() + ".checked"));
}

TEST_CASE("index: more parts than there are places", "[index]") {
    const Folder folder;
    constexpr int most = 41;  // two blobs each
    for (int i = 0; i < most; ++i) {
        const Sample sample = Sample::of(fmt::format("part {}", i), 10);
        REQUIRE(keep(folder.file(), {&sample}) == Kept::kept);
    }
    const std::string before = bytes_of(folder.file());
    const Sample late = Sample::of("late", 10);
    CHECK(keep(folder.file(), {&late}) == Kept::nothing_new);
    if (bytes_of(folder.file()) != before) FAIL("it was written although nothing was added");
    IndexFile index(folder.file(), key);
    Sample there;
    CHECK(read(index, "part 40", there));
    CHECK_FALSE(index.has("late"));
}

TEST_CASE("index: two writers", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 100), two = Sample::of("two", 100), three = Sample::of("three", 9);
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    IndexFile first(folder.file(), key), second(folder.file(), key);
    const int lock = ::open(folder.file().c_str(), O_RDWR);
    REQUIRE(::flock(lock, LOCK_EX) == 0);
    CHECK(first.keep(parts_of({&two}), no_limit).kept == Kept::being_written);
    ::close(lock);
    CHECK(first.keep(parts_of({&two}), no_limit).kept == Kept::kept);
    CHECK(second.keep(parts_of({&two, &three}), no_limit).kept == Kept::kept);  // only the third is new
    IndexFile all(folder.file(), key);
    for (const Sample* sample : {&one, &two, &three}) {
        Sample there;
        REQUIRE(read(all, sample->name, there));
        CHECK(there == *sample);
    }
    // Replaced while it was open: left alone.
    fs::remove(folder.file());
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    CHECK(second.keep(parts_of({&two}), no_limit).kept == Kept::being_written);
}

TEST_CASE("index: no room, and nowhere to write", "[index]") {
    const Folder folder;
    const Sample one = Sample::of("one", 100), large = Sample::of("large", 1'000'000);
    CHECK(keep(folder.file(), {&one}, key, 100) == Kept::no_room);
    CHECK_FALSE(fs::exists(folder.file()));
    REQUIRE(keep(folder.file(), {&one}) == Kept::kept);
    CHECK(keep(folder.file(), {&large}, key, 100'000) == Kept::no_room);
    CHECK(keep((folder.path / "no" / "core.index").string(), {&one}) == Kept::cannot_write);

    // A full disk, as a limit on the size of files: half of a part was written then.
    const std::string before = bytes_of(folder.file());
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100'000, 100'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const bool right = keep(folder.file(), {&large}) == Kept::no_room &&
                           keep((folder.path / "new.index").string(), {&large}) == Kept::no_room;
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(bytes_of(folder.file()) == before);
    for (const auto& entry : fs::directory_iterator(folder.path)) CHECK(entry.path() == folder.file());
}

TEST_CASE("index: a writer killed at a hundred moments", "[index]") {
    const Folder folder;
    const Sample small = Sample::of("small", 100), large = Sample::of("large", 400'000),
                 more = Sample::of("more", 200'000);
    std::mt19937 random(11);
    std::size_t whole = 0, without = 0;
    for (int i = 0; i < 100; ++i) {
        fs::remove(folder.file());
        if (i % 2) REQUIRE(keep(folder.file(), {&small}) == Kept::kept);
        const pid_t child = ::fork();
        if (child == 0) {
            keep(folder.file(), {&small, &large});
            keep(folder.file(), {&more});
            ::_exit(0);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        IndexFile index(folder.file(), key);
        REQUIRE((index.state() == State::usable || index.state() == State::absent));
        for (const Sample* sample : {&small, &large, &more}) {
            if (!index.has(sample->name)) {
                ++without;
                continue;
            }
            Sample there;
            REQUIRE(read(index, sample->name, there));
            REQUIRE(there == *sample);
            ++whole;
        }
        // The next writer completes it.
        REQUIRE((keep(folder.file(), {&small, &large, &more}) == Kept::kept || index.has("more")));
        IndexFile completed(folder.file(), key);
        for (const Sample* sample : {&small, &large, &more}) {
            Sample there;
            REQUIRE(read(completed, sample->name, there));
            REQUIRE(there == *sample);
        }
    }
    CHECK(whole > 0);
    CHECK(without > 0);
}

}  // namespace heapsift
