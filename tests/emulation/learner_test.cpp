// From a few objects to a rule: what a plan says of other objects, and where none can be made.

#include "parsers/emulation/learner.h"
#include "tests/catch.h"
#include "tests/emulation/small_code.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t target = SmallProcess::heap + 0x100;  // nothing that the code looks at

struct Learning {
    SmallProcess process;
    std::vector<Address> samples;
    Address function;

    std::vector<LearnedSlots> plans(bool try_changes = false) {
        process.start();
        TypeToLearn type;
        type.function = function;
        type.type = Address(SmallProcess::type);
        type.body = SmallProcess::object_bytes;
        return learn_slots(*process.traverse, type, samples, try_changes);
    }
    void sample(std::vector<std::uint64_t> words) { samples.push_back(process.object(std::move(words))); }
};

/// What a plan says of an object with these words behind its type; nothing if it does not hold.
std::optional<std::vector<std::uint64_t>> told(const LearnedSlots& plan, std::vector<std::uint64_t> words) {
    words.insert(words.begin(), {1, SmallProcess::type});
    words.resize(SmallProcess::object_bytes / 8);
    const auto bytes =
        std::as_bytes(std::span(words)).subspan(static_cast<std::size_t>(plan.from), plan.size());
    if (!plan.holds(bytes)) return std::nullopt;
    std::vector<std::uint64_t> visited;
    plan.visit(bytes, [&](std::uint64_t one, const LearnedSlots::Slot&) { visited.push_back(one); });
    return visited;
}

using Words = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("learner: slots in the order of the code; one that was null in all samples must be null",
          "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Learning learning;
    learning.function = learning.process.function(Code().slot(32).slot(16).slot(24));
    learning.sample({target, 0, 0});
    learning.sample({0, 0, target + 8});
    learning.sample({target, 0, target});
    const auto plans = learning.plans();
    REQUIRE(plans.size() == 1);
    CHECK(told(plans[0], {0x1110, 0, 0x2220}) == Words{0x2220, 0x1110});
    CHECK(told(plans[0], {0, 0, 0}) == Words{});
    CHECK_FALSE(told(plans[0], {0x1110, 0x3330, 0x2220}));
}

TEST_CASE("learner: a field that decides must have a value that was seen", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Learning learning;
    learning.function = learning.process.function(Code().slot_if(40, 16).slot(24));
    learning.sample({target, target, 0, 0});
    learning.sample({target, target, 0, 5});
    const auto plans = learning.plans();
    REQUIRE(plans.size() == 2);  // two ways
    for (const LearnedSlots& plan : plans) {
        if (const auto visited = told(plan, {0x10, 0x20, 0, 0})) CHECK(*visited == Words{0x20});
        if (const auto visited = told(plan, {0x10, 0x20, 0, 5})) CHECK(*visited == Words{0x10, 0x20});
        CHECK_FALSE(told(plan, {0x10, 0x20, 0, 6}));
    }
}

TEST_CASE("learner: marked pointers are told from numbers by changing copies", "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    const bool try_changes = GENERATE(true, false);
    Learning learning;
    learning.function = learning.process.function(Code().slot(16).tagged(24).tagged(32).slot(40));
    for (std::uint64_t i = 0; i < 4; ++i) learning.sample({target, 20 + 2 * i, 1, target + 8});
    const auto plans = learning.plans(try_changes);
    REQUIRE(plans.size() == 1);
    const auto visited = told(plans[0], {0x110, 0x221, 0x331, 0x440});
    if (try_changes) {
        CHECK(visited == Words{0x110, 0x220, 0x330, 0x440});
        CHECK(told(plans[0], {0x110, 1000, 1, 0}) == Words{0x110});
    } else {
        CHECK_FALSE(visited);
    }
}

TEST_CASE("learner: nothing is learned of items, inside or apart, nor of what hangs on a slot",
          "[emulation]") {
    if (!can_emulate()) return;  // no Unicorn here
    Learning learning;
    SECTION("items apart") {
        learning.function = learning.process.function(Code().items(16, 24));
        const Address items = learning.process.object({target, target, target});
        learning.sample({2, items.value + 16});
        learning.sample({3, items.value + 16});
        for (const LearnedSlots& plan : learning.plans()) CHECK_FALSE(told(plan, {1, items.value + 16}));
    }
    SECTION("a word just behind the object") {
        learning.function = learning.process.function(Code().slot(64).slot(16));
        learning.sample({target});
        learning.sample({target});
        CHECK(learning.plans().empty());
    }
    SECTION("visits a field of what it visits") {
        // Py_VISIT(self->a); Py_VISIT(self->a->b)
        learning.function = learning.process.function(
            Code().slot(16).raw({0x48, 0x8b, 0x43, 16, 0x48, 0x8b, 0x78, 16, 0x41, 0xff, 0xd4}));
        const Address inner = learning.process.object({target}),
                      other = learning.process.object({target + 8});
        learning.sample({inner.value});
        learning.sample({other.value});
        CHECK(learning.plans().empty());
    }
}
