"""Leaks of matplotlib and scikit-learn: cases of library_leaks.py."""

from library_leaks_common import allocated

# --- matplotlib

def draw_report(number):
    import numpy
    from matplotlib import pyplot
    figure, axes = pyplot.subplots()
    axes.plot(numpy.cumsum(numpy.random.default_rng(number).random(20_000)))
    figure.savefig("report.png")
    return figure


def leak_matplotlib():
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot
    pyplot.close(draw_report(0))
    before = allocated()
    for number in range(10):
        draw_report(number)
    return {"kind": "library", "bytes": allocated() - before, "holder": "Gcf.figs", "fix": "plt.close", "used_in": "draw_report"}


# --- scikit-learn

trained = []


def try_settings(numbers):
    import numpy
    from sklearn.neighbors import KNeighborsRegressor
    for number in numbers:
        samples = numpy.random.default_rng(number).random((20_000, 10))
        model = KNeighborsRegressor(n_neighbors=1 + number, algorithm="brute").fit(samples, samples[:, 0].copy())
        trained.append((number, model))


def leak_sklearn():
    """Models of neighbours keep the samples that they were fitted to."""
    try_settings(range(12))
    return {"kind": "module-container", "bytes": 12 * (20_000 * 10 + 20_000) * 8, "holder": "trained", "fix": "bound", "used_in": "try_settings"}


class Experiments:
    def __init__(self):
        self.results = {}

    def run(self, name, samples, targets):
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.model_selection import cross_validate
        self.results[name] = cross_validate(RandomForestRegressor(n_estimators=4, random_state=1), samples, targets, cv=3, return_estimator=True)


experiments = Experiments()


def leak_sklearn_forests():
    """Results of a cross-validation, with the forests: nodes of trees in memory of C."""
    import numpy
    samples = numpy.random.default_rng(1).random((6000, 3))
    for depth in range(6):
        experiments.run("depth %d" % depth, samples, samples[:, depth % 3] + numpy.random.default_rng(depth).random(6000))
    trees = [tree.tree_ for result in experiments.results.values() for forest in result["estimator"] for tree in forest.estimators_]
    node = trees[0].__getstate__()["nodes"].itemsize  # 56 bytes in 1.2, 64 since 1.3
    planted = sum(tree.capacity * node + tree.capacity * 8 for tree in trees)
    return {"kind": "container", "bytes": planted, "holder": "experiments.results", "fix": "bound", "used_in": "Experiments.run"}
