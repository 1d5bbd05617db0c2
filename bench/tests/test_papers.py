"""The papers' runner: its list, its page, and what counts as the same."""

import contextlib
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run_papers  # noqa: E402
from papers import draw, page, runs  # noqa: E402
from papers.outcome import Figure, Outcome, Row  # noqa: E402


def document(seconds):
    return {"write": {"seconds": {"median": seconds}}}


class Ratios(unittest.TestCase):
    def test_a_ratio_is_that_within_a_cycle(self):
        documents = {"slow": [document(4), document(40), document(3)], "fast": [document(2), document(10), document(1)]}
        self.assertEqual(runs.ratio(documents, "slow", "fast", "write"), 3)

    def test_variants_take_turns(self):
        order = []
        turns = runs.Runs("", 2).in_turn({name: lambda name=name: order.append(name) for name in "ab"})
        self.assertEqual(order, ["a", "b", "a", "b"])
        self.assertEqual({name: len(many) for name, many in turns.items()}, {"a": 2, "b": 2})


class Page(unittest.TestCase):
    def test_it_has_every_row_and_no_outside_address(self):
        experiment = run_papers.EXPERIMENTS[0]
        outcome = Outcome(
            [Row("a <count>", 12, 12, True), Row("other", 30, 31, True), Row("r", None, 0.5)], [], ["why"], ["run"]
        )
        text = page.page([(experiment, outcome)])
        for part in ("a &lt;count&gt;", "the same", "another", "0.5", "why", experiment.title):
            self.assertIn(part, text)
        self.assertNotIn("http", text)

    def test_a_figure_is_drawn_for_light_and_dark(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        figure = Figure("a figure", "accesses", {"list": [(10, 2.0), (100, 4.0)]})
        light, dark = (draw.svg(figure, theme) for theme in ("light", "dark"))
        self.assertTrue(light.startswith(b"<?xml") and light != dark)
        self.assertIn("data:image/svg+xml;base64,", page.picture(figure))

    def test_numbers_as_papers_print_them(self):
        self.assertEqual([page.number(value) for value in (983040, 1.536, None, 30)], ["983,040", "1.54", "-", "30"])


class Command(unittest.TestCase):
    def test_each_experiment_has_its_own_name(self):
        keys = [experiment.key for experiment in run_papers.EXPERIMENTS]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(run_papers.main(["list"]), 0)

    def test_an_unknown_experiment_is_refused(self):
        said = io.StringIO()
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(said):
            run_papers.main(["run", "X99-1"])
        self.assertIn("X99-1", said.getvalue())


if __name__ == "__main__":
    unittest.main()
