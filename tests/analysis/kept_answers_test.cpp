// What questions found, kept from one run to the next.

#include "analysis/kept_answers.h"

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace heapsift;
using heapsift::test::TemporaryDirectory;

namespace {

struct Numbers {
    std::vector<std::uint64_t> numbers;

    std::size_t rows() const { return numbers.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, int) {
        part.list(self.numbers, [](auto& number, Part& p) { p.number(number); });
    }
};

/// What of() gives, and how often it had to search.
struct Answered {
    std::vector<std::uint64_t> numbers;
    int searches = 0;
};

Answered ask(KeptAnswers& answers, const KeptQuestion& question, const std::vector<std::uint64_t>& found) {
    Answered asked;
    asked.numbers = answers
                        .of(question, 0,
                            [&] {
                                ++asked.searches;
                                return Numbers{found};
                            })
                        .numbers;
    return asked;
}

constexpr IndexKey core_key{1, 2};
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("kept answers: two searches of one run for the same are one part", "[analysis][index]") {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/core-0.index.answers";
    const KeptQuestion paths = KeptQuestion("paths").with_all(std::vector<std::uint32_t>{3, 4}),
                       others = KeptQuestion("paths").with_all(std::vector<std::uint32_t>{3, 5});
    {
        IndexFile file(path, core_key);
        KeptAnswers answers(&file);
        CHECK(ask(answers, paths, {10, 11}).searches == 1);
        CHECK(ask(answers, others, {12}).searches == 1);
        CHECK(ask(answers, paths, {10, 11}).numbers == std::vector<std::uint64_t>{10, 11});
        const std::vector<PartWriter> parts = answers.take_found();
        CHECK(parts.size() == 2);
        file.keep(parts, no_limit);
    }
    IndexFile file(path, core_key);
    KeptAnswers answers(&file);
    const Answered again = ask(answers, paths, {}), other = ask(answers, others, {});
    CHECK(again.searches + other.searches == 0);
    CHECK(again.numbers == std::vector<std::uint64_t>{10, 11});
    CHECK(other.numbers == std::vector<std::uint64_t>{12});
    CHECK(file.state() == IndexFile::State::usable);
    CHECK(ask(answers, KeptQuestion("paths").with(7), {1}).searches == 1);
}

TEST_CASE("kept answers: without a file, and too many rows", "[analysis][index]") {
    KeptAnswers none;
    CHECK(ask(none, KeptQuestion("objects"), {1}).searches == 1);
    CHECK(none.take_found().empty());

    const TemporaryDirectory directory;
    IndexFile file(directory.path() + "/core-0.index.answers", core_key);
    KeptAnswers answers(&file);
    ask(answers, KeptQuestion("objects"), std::vector<std::uint64_t>(KeptAnswers::most_rows + 1));
    CHECK(answers.take_found().empty());
    ask(answers, KeptQuestion("objects"), std::vector<std::uint64_t>(KeptAnswers::most_rows));
    CHECK(answers.take_found().size() == 1);
}
