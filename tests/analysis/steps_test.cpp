#include "analysis/steps.h"

#include "tests/catch.h"

using namespace heapsift;

namespace {

ShortValue str(const std::string& text) { return {ShortValue::Kind::literal, "'" + text + "'", text.size()}; }

ReferenceStep of_kind(ReferenceStep::Kind kind, std::string name) {
    ReferenceStep step;
    step.kind = kind;
    step.name = std::move(name);
    return step;
}

}  // namespace

TEST_CASE("steps: a field knows what it is, and whether Python has a name for it", "[analysis][steps]") {
    CHECK(field_step(".__dict__").is(Field::attributes));
    CHECK(field_step(".cell_contents").is(Field::cell_contents));
    CHECK(notation(field_step(".__dict__")) == ".__dict__");
    CHECK(has_no_name(field_step(".<cache>")));
    CHECK(notation(field_step(".<link>.key")) == ".<link>.key");
    CHECK_FALSE(has_no_name(field_step(".__code__")));
    CHECK(field_step("()").kind == ReferenceStep::Kind::name);
    CHECK_FALSE(field_step("").known());
}

TEST_CASE("steps: an item of a __dict__ is an attribute where its key is an identifier",
          "[analysis][steps]") {
    REQUIRE(as_attribute(item_step(str("rows"))));
    CHECK(notation(*as_attribute(item_step(str("rows")))) == ".rows");
    CHECK_FALSE(as_attribute(item_step(str("two words"))));
    CHECK_FALSE(as_attribute(item_step({ShortValue::Kind::literal, "3", 1})));
    CHECK_FALSE(as_attribute(key_step(str("rows"))));
    CHECK_FALSE(as_attribute(attribute_step("rows")));
}

TEST_CASE("steps: an attribute that is called like a field is not that field", "[analysis][steps]") {
    // `type.__dict__['cell_contents']` is a descriptor, not a way into a cell.
    CHECK_FALSE(stands_between(attribute_step("cell_contents"), false));
    CHECK(stands_between(field_step(".cell_contents"), true));
    CHECK(stands_between(field_step(".__dict__"), false));
    CHECK_FALSE(stands_between(field_step(".__dict__"), true));
}

TEST_CASE("steps: what can be typed", "[analysis][steps]") {
    using Kind = ReferenceStep::Kind;
    CHECK(can_be_typed(item_step(str("k"))));
    CHECK_FALSE(can_be_typed(item_step(str("kkk…"))));
    CHECK_FALSE(can_be_typed(item_step({ShortValue::Kind::literal, "nan", 3})));
    const ReferenceStep variable = item_step({ShortValue::Kind::name, "<ContextVar user>", 0});
    CHECK_FALSE(can_be_typed(variable));
    CHECK(can_be_typed_if_single(variable));
    CHECK(can_be_typed(item_step({ShortValue::Kind::name, "None", 0})));
    CHECK_FALSE(can_be_typed(key_step(str("k"))));
    CHECK_FALSE(can_be_typed_if_single(key_step(str("k"))));
    ReferenceStep cell = of_kind(Kind::cell, "x"), offset = of_kind(Kind::offset, "");
    cell.nameless = offset.nameless = true;
    offset.number = 24;
    CHECK(notation(cell) == ".<cell x>");
    CHECK_FALSE(can_be_typed(cell));
    CHECK(can_be_typed_if_single(cell));
    CHECK(notation(offset) == "<+24>");
    CHECK_FALSE(can_be_typed_if_single(offset));
}

TEST_CASE("steps: a local is written as such only of the frame itself", "[analysis][steps]") {
    ReferenceStep local = of_kind(ReferenceStep::Kind::local, "x");
    local.within = ".gi_frame.";
    CHECK(notation(local) == ".gi_frame.f_locals['x']");
    CHECK_FALSE(as_local(local));
    local.within = ".";
    local.own_frame = true;
    REQUIRE(as_local(local));
    CHECK(notation(*as_local(local)) == ".x");
    local.name = ".0";  // of a comprehension
    CHECK_FALSE(as_local(local));
}

TEST_CASE("steps: one for all of its like", "[analysis][steps]") {
    ReferenceStep index = of_kind(ReferenceStep::Kind::index, ""), item = item_step(str("k")),
                  key = key_step(str("k"));
    index.number = 3;
    CHECK(notation(index) == "[3]");
    index.any = item.any = key.any = true;
    CHECK(notation(index) == "[*]");
    CHECK(notation(item) == "['*']");
    CHECK(notation(key) == " key '*'");
    CHECK_FALSE(as_attribute(item));
    index.within = ".iters";
    CHECK(is_dotted(index));
    CHECK(notation(index) == ".iters[*]");
}
