"""Activations left on the nodes of trees: one forward pass of `trees_app.py` over its data set, and then the process stands still.

In the current directory it writes truth.json: how many arrays hang on each attribute of a Node, their size by sys.getsizeof, and how many
bytes of that are elements; the addresses of the data set and of some arrays, each with the expression that leads to it.

    case_activations.py [--samples N]     1,000: about 300,000 arrays
"""

import argparse
import sys

import standstill
import trees_app

_ATTRIBUTES = ("i", "f_l", "f_r", "o", "u", "c", "ct", "hActs1", "mask")


def nodes_of(tree, path):
    """(node, its expression), without recursion, which would leave frames half full."""
    waiting = [(tree, path)]
    while waiting:
        node, path = waiting.pop()
        yield node, path
        if node.left is not None:
            waiting += [(node.left, path + ".left"), (node.right, path + ".right")]


def truth():
    attributes = {name: {"count": 0, "size": 0, "array_data": 0} for name in _ATTRIBUTES}
    nodes, examples = 0, []
    for index, sample in enumerate(trees_app.train_data):
        for tree in ("arg1_tree", "arg2_tree"):
            path = "trees_app.train_data[%d].%s" % (index, tree)
            for node, path in nodes_of(getattr(sample, tree), path):
                nodes += 1
                for name, row in attributes.items():
                    array = getattr(node, name, None)
                    if array is None:
                        continue
                    row["count"] += 1
                    row["size"] += sys.getsizeof(array)
                    row["array_data"] += array.nbytes
                    if index % 97 == 17 and len(examples) < 9 and nodes % 7 == 0 and name == _ATTRIBUTES[len(examples)]:
                        examples.append({"address": standstill.address(array), "expression": "%s.%s" % (path, name)})
    params = trees_app.model.params
    return {"samples": len(trees_app.train_data), "nodes": nodes, "attributes": attributes, "examples": examples,
            "train_data": standstill.address(trees_app.train_data),
            "params": {"count": len(params), "array_data": sum(array.nbytes for array in params.values())}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=1000)
    trees_app.run(parser.parse_args().samples)
    standstill.write_and_rest("truth.json", truth())


if __name__ == "__main__":
    main()
