"""A session that is never closed, in a loop: each round builds a graph and a session of `sessions_library.py` and drops both.

Beside them a graph that only the suspended generator of a context manager holds, and 3,072 jobs in two registries, which retain 3 MiB
together and nothing alone. In the current directory it writes truth.json: counts, bytes by sys.getsizeof, addresses, and the expressions that
lead to two of the tensors.

    case_sessions.py [--rounds N]     8
"""

import argparse
import sys

import sessions_library as library
import standstill

_OPERATIONS = 200
_TENSOR_BYTES = 16384
_JOBS = 3072
_JOB_BYTES = 1024 - sys.getsizeof(b"") - sys.getsizeof(library.Job(b""))  # with the Job itself 1 KiB


def build():
    graph = library.Graph()
    for number in range(_OPERATIONS):
        graph.add("op_%d" % number, _TENSOR_BYTES)
    return graph


def call():
    """What the user's program does, again and again."""
    library.Session(build())


def opened_scope():
    """Entered, and never left. Its maker tells the tensor's address: asking the generator's frame would add a holder."""
    graph = build()
    manager = library.name_scope(graph, "scope")
    manager.__enter__()
    return manager, standstill.address(graph.operations[5].outputs[0])


def stand_still():
    scope, tensor = opened_scope()
    standstill.write_and_rest("truth.json", truth(scope, tensor))


def truth(scope, tensor_of_scope):
    sessions = library._default_sessions.stack
    tensor_of_session = sessions[2].graph.operations[7].outputs[0]
    jobs = library.jobs_by_name
    return {
        "sessions": len(sessions), "graphs": len(sessions) + 1, "tensors": (len(sessions) + 1) * _OPERATIONS,
        "session": standstill.address(sessions[2]), "stack": standstill.address(sessions),
        "bytes_in_tensors_of_sessions": sum(sys.getsizeof(op.outputs[0].value) for one in sessions for op in one.graph.operations),
        "tensor_of_session": {"address": standstill.address(tensor_of_session), "ends": ".stack[2].graph.operations[7].outputs[0]"},
        "tensor_of_scope": {"address": tensor_of_scope, "ends": ".operations[5].outputs[0]",
                            "generator": standstill.address(scope.gen), "local": "graph"},
        "jobs": {"count": len(jobs), "registries": [standstill.address(jobs), standstill.address(library.jobs_by_number)],
                 "names": ["sessions_library.jobs_by_name", "sessions_library.jobs_by_number"],
                 "size": sum(sys.getsizeof(job) + sys.getsizeof(job.payload) for job in jobs.values()),
                 "keys_size": sum(map(sys.getsizeof, jobs)) + sum(map(sys.getsizeof, library.jobs_by_number)),
                 "registries_size": sys.getsizeof(jobs) + sys.getsizeof(library.jobs_by_number)}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=8)
    for _ in range(parser.parse_args().rounds):
        call()
    for number in range(_JOBS):
        library.register("job %d" % number, 1000000 + number, bytes(_JOB_BYTES))
    stand_still()


if __name__ == "__main__":
    main()
