// What ids allow and what they refuse. Whether something compiles is tested at compile time: each expression
// that is refused for two kinds is allowed for one.

#include "parsers/base/ids.h"

#include "tests/catch.h"

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

using namespace heapsift;

namespace {

struct Apple;
struct Pear;
using AppleId = Id<Apple>;
using PearId = Id<Pear>;

template <class A, class B>
concept Equal = requires(A a, B b) {
    a == b;
};
template <class A, class B>
concept Ordered = requires(A a, B b) {
    a < b;
};
template <class Values, class I>
concept Indexed = requires(Values values, I id) {
    values[id];
};

static_assert(sizeof(AppleId) == 4);
static_assert(std::is_trivially_copyable_v<AppleId>);

static_assert(std::is_assignable_v<AppleId&, AppleId> && !std::is_assignable_v<AppleId&, PearId>);
static_assert(std::is_constructible_v<AppleId, AppleId> && !std::is_constructible_v<AppleId, PearId>);
static_assert(std::is_constructible_v<AppleId, std::uint32_t> && std::is_constructible_v<AppleId, int>);
static_assert(!std::is_convertible_v<std::uint32_t, AppleId> && !std::is_convertible_v<int, AppleId>);
static_assert(!std::is_assignable_v<AppleId&, std::uint32_t>);
static_assert(std::is_convertible_v<AppleId, std::uint32_t>);
static_assert(!std::is_constructible_v<bool, AppleId>);
static_assert(Equal<AppleId, AppleId> && !Equal<AppleId, PearId>);
static_assert(Ordered<AppleId, AppleId> && !Ordered<AppleId, PearId>);
static_assert(Indexed<Column<AppleId, int>, AppleId> && !Indexed<Column<AppleId, int>, PearId>);
static_assert(Indexed<const Column<AppleId, int>, AppleId> && !Indexed<const Column<AppleId, int>, PearId>);
static_assert(!Indexed<Column<AppleId, int>, int> && !Indexed<Column<AppleId, int>, std::size_t>);

}  // namespace

TEST_CASE("ids: what none has been given stands for nothing, and comes last", "[base][ids]") {
    CHECK(AppleId() == AppleId(0xffffffffU));
    CHECK(AppleId(7) < AppleId());
    CHECK(AppleId(7) != AppleId(8));
}

TEST_CASE("ids: a range has each once, in order, and none of nothing", "[base][ids]") {
    std::vector<std::uint32_t> seen;
    for (const AppleId id : IdRange<AppleId>(4)) seen.push_back(id);
    CHECK(seen == std::vector<std::uint32_t>{0, 1, 2, 3});
    const IdRange<AppleId> nothing(0);
    CHECK(nothing.begin() == nothing.end());
    auto at = IdRange<AppleId>(4).begin();
    CHECK(*at++ == AppleId(0));
    CHECK(*at == AppleId(1));
}

TEST_CASE("ids: a column is read and written by its ids", "[base][ids]") {
    Column<AppleId, std::string> names(2, "Boskoop");
    names[AppleId(1)] = "Elstar";
    names.push_back("Jonagold");
    std::string all;
    for (const AppleId id : names.ids()) all += names[id] + " ";
    CHECK(all == "Boskoop Elstar Jonagold ");
    CHECK(names.size() == 3);
}
