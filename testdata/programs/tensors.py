"""Tensors of torch as real programs keep them: a list of parameters, rows of large storages, a loss added up with its graphs, momentum buffers.

Writes down, for each name in STORE, the bytes of the storages that it alone keeps (untyped_storage().nbytes(), those of a graph found by what its nodes
saved); and of each tensor in STORE.described its dtype, shape, strides, and the address and size of its storage.
"""

import gc
import os

import numpy
import torch

import standstill


class Store:
    pass


def storage(tensor):
    """(address, bytes)"""
    untyped = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()
    return untyped.data_ptr(), untyped.nbytes()


def add(found, tensor):
    address, size = storage(tensor)
    if size:
        found[address] = size


def saved_by(tensor):
    """The storages that the graph behind a tensor keeps, by address."""
    found, met, waiting = {}, set(), [tensor.grad_fn]
    add(found, tensor)
    while waiting:
        node = waiting.pop()
        if node is None or node in met:
            continue
        met.add(node)
        waiting.extend(next_node for next_node, _ in node.next_functions)
        if hasattr(node, "variable"):
            add(found, node.variable)
        for name in dir(node):
            if name.startswith("_saved_"):
                value = getattr(node, name)
                for tensor in value if isinstance(value, (list, tuple)) else [value]:
                    if isinstance(tensor, torch.Tensor):
                        add(found, tensor)
    return found


def accumulate(model, shape, steps):
    """What a training loop keeps that writes `total = total + loss`."""
    total = torch.zeros(())
    for _ in range(steps):
        output = model(torch.randn(shape))
        total = total + (output ** 2).mean()
    return total


def main():
    torch.manual_seed(16)
    store, truth = Store(), {}
    store.model = torch.nn.Sequential(torch.nn.Linear(200, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))
    held = {}
    for parameter in store.model.parameters():
        add(held, parameter)
    store.total = accumulate(store.model, (256, 200), 60)
    truth["total"] = sum(size for address, size in saved_by(store.total).items() if address not in held)
    store.parameters = [torch.nn.Parameter(torch.randn(100 + i, 300)) for i in range(40)]
    truth["parameters"] = sum(storage(parameter)[1] for parameter in store.parameters)
    store.rows = [torch.randn(100, 3000)[i] for i in range(60)]
    truth["rows"] = sum(storage(row)[1] for row in store.rows)
    trained = torch.nn.Sequential(*(torch.nn.Linear(150, 150) for _ in range(20)))
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.01, momentum=0.9)
    for _ in range(3):
        optimizer.zero_grad()
        trained(torch.randn(16, 150)).sum().backward()
        optimizer.step()
    store.trained, store.optimizer = trained, optimizer
    buffers = {}
    for state in optimizer.state.values():
        add(buffers, state["momentum_buffer"])
    truth["optimizer"] = sum(buffers.values())
    both = dict(buffers)
    for parameter in trained.parameters():
        add(both, parameter)
        add(both, parameter.grad)
    truth["trained_and_optimizer"] = sum(both.values())
    store.pair = [torch.zeros(50_000)]
    store.pair.append(store.pair[0].view(100, 500).t()[3:7])
    truth["pair"] = storage(store.pair[0])[1]
    store.array = numpy.arange(40_000.0)
    store.described = [
        torch.arange(24, dtype=torch.int64).reshape(2, 3, 4).permute(2, 0, 1), torch.zeros(7, dtype=torch.bfloat16)[2:5], torch.tensor(2.5),
        torch.ones(2, 3, 4, 5, 2, 2, dtype=torch.uint8)[1], torch.zeros(0), torch.zeros(3, dtype=torch.complex64), torch.ones(5, 1, dtype=torch.bool).expand(5, 9),
        torch.from_numpy(store.array), torch.nn.Parameter(torch.randn(3, 3)), torch.zeros(6, dtype=torch.float16), torch.randn(4, 4, dtype=torch.float64)[:, 1],
        torch.empty(3, 2, device="meta"), torch.zeros(2, dtype=torch.int8), torch.zeros(2, dtype=torch.int16), torch.zeros(2, dtype=torch.int32),
        torch.randn(100, 50)[7], store.total]
    store.shown = store.described[0].numpy()
    saved = torch.randn(64, 50, requires_grad=True)
    store.last = [(saved * 2).exp()[5]]  # autograd saved all of what it is a row of
    gc.collect()
    truth["lent"] = hex(store.array.ctypes.data)
    truth["pinned"] = [[hex(storage(row)[0]), storage(row)[1], row.nelement() * row.element_size()] for row in store.rows]
    truth["whole"] = [hex(storage(tensor)[0]) for tensor in [*store.parameters, *store.pair, *store.last]]
    truth["described"] = [{"address": hex(id(tensor)), "dtype": str(tensor.dtype), "shape": list(tensor.shape), "strides": list(tensor.stride()),
                           "device": str(tensor.device), "data": hex(tensor.data_ptr()), "itemsize": tensor.element_size(),
                           "storage": [hex(storage(tensor)[0]), storage(tensor)[1]] if tensor.device.type == "cpu" else None}
                          for tensor in store.described]
    truth["version"] = torch.__version__
    return store, truth


torch.set_num_threads(2)
STORE, _truth = main()
standstill.write_and_rest(os.environ["HEAPSIFT_TRUTH"], _truth)
