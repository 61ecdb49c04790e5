// Which types are known; a name alone is not enough.

#include "parsers/cpython/known_types.h"

#include "parsers/cpython/types.h"
#include "tests/catch.h"

#include <vector>

using namespace heapsift;

namespace {

TypeInfo type_called(std::uint64_t address, const char* name) {
    TypeInfo type;
    type.address = Address(address);
    type.name = name;
    return type;
}

}  // namespace

TEST_CASE("known types: by the whole name alone", "[cpython][types]") {
    CHECK(known_type("NoneType") == KnownType::none);
    CHECK(known_type("array.array") == KnownType::array_array);
    CHECK(known_type("tuple") == KnownType::tuple);
    CHECK(known_type("tuple_iterator") == KnownType::other);
    CHECK(known_type("app.tuple") == KnownType::other);
    CHECK(known_type("tupl") == KnownType::other);
    CHECK(known_type("") == KnownType::other);
}

TEST_CASE("known types: the table tells types made by C, and no class of a program", "[cpython][types]") {
    TypeInfo imitation = type_called(0x300, "frame");
    imitation.python_class = true;
    TypeInfo nameless = type_called(0x400, "list");
    nameless.named = false;
    const TypeTable types({type_called(0x100, "frame"), type_called(0x200, "app.Node"), imitation, nameless});
    CHECK(types.is(TypeId(0), KnownType::frame));
    CHECK(types[TypeId(1)].known == KnownType::other);
    CHECK(types[TypeId(2)].known == KnownType::other);
    CHECK(types[TypeId(3)].known == KnownType::other);
    CHECK_FALSE(types.is(no_type, KnownType::frame));
    CHECK_FALSE(types.is(no_type, KnownType::other));
}

TEST_CASE("known types: a generator, a coroutine and an asynchronous generator have a frame of their own",
          "[cpython][types]") {
    CHECK(has_own_frame(KnownType::generator));
    CHECK(has_own_frame(KnownType::coroutine));
    CHECK(has_own_frame(KnownType::async_generator));
    CHECK_FALSE(has_own_frame(KnownType::frame));
}
