"""The application of `case_activations.py`: a TreeLSTM whose forward pass leaves its activations on the nodes of the data set.

Every node gets nine arrays (a leaf seven: it has nothing to forget), and nobody takes them off again. The trees live as long as
`train_data`, a global, so memory grows with every sample that was seen.
"""

import numpy as np

WIDTH = 10  # of the hidden layer: an array of 80 bytes


class Node:
    def __init__(self, word=None, left=None, right=None):
        self.word, self.left, self.right = word, left, right


class Sample:
    def __init__(self, arg1_tree, arg2_tree, label):
        self.arg1_tree, self.arg2_tree, self.label = arg1_tree, arg2_tree, label


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Model:
    def __init__(self, words):
        self.params = {name: np.random.randn(WIDTH, WIDTH) / WIDTH for name in (
            "W_i", "W_o", "W_u", "U_i_l", "U_i_r", "U_f_l", "U_f_r", "U_o_l", "U_o_r", "U_u_l", "U_u_r", "V")}
        self.params["L"] = np.random.randn(words, WIDTH)

    def forward(self, node):
        p = self.params
        node.mask = (np.random.rand(WIDTH) < 0.5).astype(float)
        if node.left is None:
            x = p["L"][node.word]
            node.i = sigmoid(p["W_i"].dot(x))
            node.o = sigmoid(p["W_o"].dot(x))
            node.u = np.tanh(p["W_u"].dot(x))
            node.c = node.i * node.u
        else:
            left, right = self.forward(node.left), self.forward(node.right)
            node.i = sigmoid(p["U_i_l"].dot(left) + p["U_i_r"].dot(right))
            node.f_l = sigmoid(p["U_f_l"].dot(left))
            node.f_r = sigmoid(p["U_f_r"].dot(right))
            node.o = sigmoid(p["U_o_l"].dot(left) + p["U_o_r"].dot(right))
            node.u = np.tanh(p["U_u_l"].dot(left) + p["U_u_r"].dot(right))
            node.c = node.i * node.u + node.f_l * node.left.c + node.f_r * node.right.c
        node.ct = np.tanh(node.c)
        node.hActs1 = node.o * node.ct
        return node.hActs1 * node.mask


def tree(leaves, words):
    """A binary tree, split at random."""
    if leaves == 1:
        return Node(word=int(np.random.randint(words)))
    cut = int(np.random.randint(1, leaves))
    return Node(left=tree(cut, words), right=tree(leaves - cut, words))


def sample(words):
    return Sample(tree(int(np.random.randint(4, 14)), words), tree(int(np.random.randint(4, 14)), words), int(np.random.randint(2)))


def run(samples, words=200):
    """One pass over the data set."""
    global train_data, model
    np.random.seed(5)
    model = Model(words)
    train_data = [sample(words) for _ in range(samples)]
    for one in train_data:
        model.forward(one.arg1_tree)
        model.forward(one.arg2_tree)
