"""A run of the standard library's test suites, or of similar tests kept here if Python comes without its own; the core is taken in the
middle of it."""

import gc
import importlib
import json
import re
import sys
import unittest

import twin

SUITES = ("test.test_json", "test.test_dataclasses", "test.test_collections", "test.test_contextlib", "test.test_generators",
          "test.test_weakref", "test.test_functools", "test.test_enum", "test.test_argparse")
ENOUGH, TOO_MANY = 400, 2000
YOUNG = 300  # objects that came and did not go: some tests collect, and after these there is no garbage


class Ordinary(unittest.TestCase):
    """About a hundred tests with errors, closures and objects that refer to each other."""

    def work(self, number):
        class Made:
            def __init__(self):
                self.callbacks = [self.called]

            def called(self):
                return number

        made = Made()
        text = json.dumps({"number": number, "called": made.called()})
        with self.assertRaises(ValueError) as caught:
            json.loads(text[:-1])
        self.caught = caught.exception
        self.assertEqual(re.sub(r"\D", "", text), "%d%d" % (number, number))


for index in range(2000):
    setattr(Ordinary, "test_%04d" % index, lambda self, index=index: self.work(index))


class StopsInTheMiddle(unittest.TestResult):
    def stopTest(self, test):
        super().stopTest(test)
        if (self.testsRun >= ENOUGH and gc.get_count()[0] > YOUNG) or self.testsRun >= TOO_MANY:
            twin.record("found.json", work="%d tests run" % self.testsRun)


def main():
    suite = unittest.TestSuite()
    for name in SUITES:
        try:
            suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name)))
        except Exception:
            pass
    suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(Ordinary))
    suite.run(StopsInTheMiddle())
    sys.exit("fewer tests than %d" % ENOUGH)


main()
