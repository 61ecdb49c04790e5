// The words of numbered steps: many of one source are found in one look.

#include "analysis/step_examples.h"

#include "parsers/cpython/object_kind.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

#include <fmt/format.h>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("step examples: each number has the words of its own example, also one that came later",
          "[analysis][holders]") {
    HandmadeHeap made;
    const auto add = [&](std::uint64_t place, const char* type) -> HandmadeObject& {
        HandmadeObject& object = made.objects.emplace_back();
        object.address = Address(0x10000 + 16 * place);
        object.type = type;
        object.facts = facts(16, 16);
        return object;
    };
    for (std::uint64_t i = 1; i <= 100; ++i) add(i, "int");
    HandmadeObject& source = add(0, "app.Metrics");
    for (std::uint64_t i = 1; i <= 100; ++i)
        source.references.push_back(reference(0x10000 + 16 * i, fmt::format(".attribute_{}", i)));
    const HandmadeReader heap = made.build();
    const auto object = [&](std::uint64_t i) { return heap.snapshot().find(Address(0x10000 + 16 * i)); };
    StepNumbers numbers;
    StepExamples examples(heap, numbers);
    const auto number = [&](std::uint64_t i) {
        return numbers.number(object(0), object(i),
                              {ReferenceName::Form::attribute, {}, 0, Address(0x90000 + i)}, false);
    };
    std::vector<std::uint32_t> found;
    for (std::uint64_t i = 1; i <= 99; ++i) found.push_back(number(i));
    for (std::uint64_t i = 1; i <= 99; ++i)
        CHECK(notation(examples.step(found[i - 1])) == fmt::format(".attribute_{}", i));
    CHECK(notation(examples.step(number(100))) == ".attribute_100");
    // No reference leads from 1 to 2: no words.
    const std::uint32_t nowhere = numbers.number(
        object(1), object(2), {ReferenceName::Form::attribute, {}, 0, Address(0x99999)}, false);
    CHECK_FALSE(examples.step(nowhere).known());
}
