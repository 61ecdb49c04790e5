// The tree of dominators as a person reads it: which levels are one line, and what stands for what is left out.

#include "analysis/dominators.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("dominators: what has nearly all of its dominator is no level; what is left out has a type",
          "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.class_with("Bus", {.attributes = {"subs"}});
    std::vector<Address> rows;
    for (int i = 0; i < 40; ++i) rows.push_back(program.list({program.heap.bytes(std::string(3000, 'x'))}));
    const Address paid = program.list(rows), subs = program.dict({{"paid", paid}}),
                  bus = program.instance_with(type, {subs});
    program.module("app", "/srv/app/app.py", {{"Bus", type}, {"BUS", bus}});
    const Analysed analysed(program);
    const DominatorsResult found =
        dominators(analysed.graph, analysed.sizes,
                   {.depth = 3, .limit = 20, .least = analysed.memory(paid) + 20 * 3000});
    const auto app = std::find_if(found.top.children.begin(), found.top.children.end(),
                                  [](const DominatorNode& node) { return node.group == "app"; });
    REQUIRE(app != found.top.children.end());
    const DominatorNode* node = &app->children.at(0);
    CHECK(node->object->address == bus);
    for (const Address below : {subs, paid}) {
        while (node->object->address != below) {
            REQUIRE(node->children.size() == 1);
            node = &node->children[0];
        }
    }
    CHECK(node->children.empty());
    CHECK(node->folded == 40);
    CHECK(node->folded_type_name == "list");
    CHECK(node->folded_of_type == 40);
    CHECK(node->folded_of_type_retained == node->folded_retained);
}
