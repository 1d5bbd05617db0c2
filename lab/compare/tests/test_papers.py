"""The papers' runner: its list, its page, and what counts as the same."""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "papers"))
import run_papers  # noqa: E402
from papers import draw, page, runs, thakur  # noqa: E402
from papers.outcome import Experiment, Failure, Figure, Outcome, Row, compared, plain, tally  # noqa: E402
from program_output import output_of, run_to_end  # noqa: E402


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


class Programs(unittest.TestCase):
    def test_a_program_has_its_time(self):
        told = output_of([sys.executable, "-c", "import os; print(os.environ['GIVEN'])"], 30, environment={"GIVEN": "it"})
        self.assertEqual(told, ("it\n", None))
        slow = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"]
        begin_s = time.monotonic()
        self.assertEqual(output_of(slow, 1), (None, "no end after 1 s"))
        self.assertLess(time.monotonic() - begin_s, 50)

    def test_a_run_returns_what_it_printed(self):
        self.assertEqual(runs.run([sys.executable, "-c", "print('it')"], "told"), "it\n")

    def test_a_failed_run_keeps_its_output(self):
        failing = [sys.executable, "-c", "import sys; print('a'); print('b'); print('c'); sys.exit(3)"]
        with self.assertRaises(runs.Failed) as caught:
            runs.run(failing, "told")
        self.assertEqual((str(caught.exception), caught.exception.output), ("told: b | c", "a\nb\nc\n"))

    def test_a_run_without_an_end_keeps_its_output(self):
        slow = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"]
        ended = run_to_end(slow, 1)
        self.assertEqual((ended.out, ended.why), ("begun\n", "no end after 1 s"))


class Measured(unittest.TestCase):
    """An experiment that fails is a row that says so; the others stay."""

    def measured(self, measure):
        experiment = Experiment("X1-1", "paper", "title", "asked", "scaled", measure)
        options = types.SimpleNamespace(out="", cycles=1, quick=True)
        with contextlib.redirect_stdout(io.StringIO()):
            return run_papers.measure(experiment, options, run_papers.Places("", ""))

    def test_a_program_that_fails(self):
        def fails(*_):
            raise runs.Failed("told: why", "all of it")

        outcome = self.measured(fails)
        self.assertEqual((outcome.why, outcome.output), ("told: why", "all of it"))
        self.assertFalse(run_papers.is_right(outcome))

    def test_an_experiment_that_trips_over_itself(self):
        outcome = self.measured(lambda *_: None.stdout)
        self.assertIn("AttributeError", outcome.why)
        self.assertIn("in measure", outcome.output)

    def test_the_record_has_both(self):
        fine = Experiment("X1-2", "paper", "title", "asked", "scaled", None)
        with tempfile.TemporaryDirectory() as out:
            run_papers.write([(fine, Outcome([Row("r", 2, 3)], [], [])), (run_papers.EXPERIMENTS[0], Failure("why"))], out)
            with open(os.path.join(out, "papers.json"), encoding="utf-8") as file:
                record = json.load(file)
        self.assertEqual(record["X1-2"][0]["ours"], 3)
        self.assertEqual(record[run_papers.EXPERIMENTS[0].key]["failed"], "why")


class Thakur(unittest.TestCase):
    REPORT = {"ranks": 32, "blocks": [8, 4], "write_sizes": {"24": 2, "10240": 5, "65536": 10, "1048576": 10}}
    COUNTS = {"open": 11, "close": 10, "write": 27, thakur.CALL: 1756, thakur.COMMUNICATION: 5640}

    def stats(self, **counts):
        counts = {**self.COUNTS, **counts}
        return {"operations": [{"operation": name, "count": n, "percent_of_program": 1} for name, n in counts.items()]}

    def test_the_tables_are_the_papers(self):
        rows = thakur.table(self.REPORT, self.stats(), thakur.PAPERS[32])
        self.assertEqual([row.agrees() for row in rows].count(False), 0)
        rows = thakur.table(self.REPORT, self.stats(write=28), thakur.PAPERS[32])
        self.assertEqual([row.what for row in rows if row.agrees() is False], ["32 processes: writes"])

    def test_the_missing_calls_are_told(self):
        self.assertIn(
            "3 an output and process are missing, 60 in all", thakur.calls_remark(self.REPORT, self.stats(), thakur.PAPERS[32])
        )

    def test_the_formula_fits_both_numbers_of_processes(self):
        for ranks, rows in ((32, 4), (128, 8)):
            self.assertEqual(thakur.PAPERS[ranks]["calls"], 48 * ranks + 5 * 14 * rows)
            self.assertEqual(thakur.PAPERS[ranks]["communications"], 170 * ranks + 5 * 10 * rows)

    def test_what_is_not_run_follows_from_the_rules(self):
        self.assertEqual([row.agrees() for row in thakur.by_rules(128)], [True, None])
        self.assertIn("The same rule gives what", thakur.rules_remark(self.REPORT, self.stats(), 128))
        other = self.stats(**{thakur.CALL: 1755})
        self.assertIn("does not give", thakur.rules_remark(self.REPORT, other, 128))


class Words(unittest.TestCase):
    def test_a_sentence_says_which_way_a_ratio_goes(self):
        self.assertIn("the other way round", compared(0.5, 2, "x"))
        self.assertIn("but less", compared(1.5, 2, "x"))
        self.assertEqual(compared(3, 2, "x"), "x: 3 here, 2 in the paper.")

    def test_verdicts(self):
        for ours, paper, verdict in (
            (2.0, 2.5, "as in the paper"), (9.0, 2.5, "the same way, more"), (1.2, 2.5, "the same way, less"),
            (1.02, 2.5, "no difference here"), (0.4, 2.5, "the other way round"), (2.0, None, ""),
        ):  # fmt: skip
            self.assertEqual(Row("r", paper, ours).verdict(), verdict)
        self.assertEqual(Row("r", 30, 31, True).verdict(), "another")
        self.assertEqual(Row("r", 50.0, 5.0, unit="%").verdict(), "")
        rows = [Row("a", 3, 3, True), Row("b", 3, 4, True), Row("c", 2, 2.1), Row("d", 2, 0.5)]
        text = "1 of 2 counts are the paper's; 1 as in the paper; 1 the other way round"
        self.assertEqual((tally(rows), tally([])), (text, ""))

    def test_commands_show_no_place_of_this_machine(self):
        words = ["stria://127.0.0.1:7/x", "/dev/shm/a", "LD_PRELOAD=/a/b.so", "--rounds", "hint=3"]
        self.assertEqual(
            [runs.shown(word) for word in words], ["stria://SERVER", "DIR", "LD_PRELOAD=b.so", "--rounds", "hint=3"]
        )


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
        self.assertNotIn(b"mathdefault", light)  # A power of ten would be written with it.
        self.assertIn("data:image/svg+xml;base64,", page.pictures(Outcome([Row("r", 2, 3)], [figure], [])))

    def test_both_sides_share_an_axis(self):
        """What both have is 1 at its shortest, on either side; what only we have may be shorter."""
        figure = Figure(
            "f", "", {"a": [("a", 4.0)], "b": [("b", 2.0)], "c": [("c", 1.0)]}, {"a": [("a", 30)], "b": [("b", 10)]}
        )
        found = {(name, is_paper): points[0][1] for name, is_paper, points in draw.multiples(figure)}
        self.assertEqual(found, {("a", False): 2, ("b", False): 1, ("c", False): 0.5, ("a", True): 3, ("b", True): 1})

    def test_a_measured_quantity_keeps_its_values(self):
        figure = Figure("f", "servers", {"a": [(1, 40.0), (2, 80.0)]}, {"a": [(1, 30.0)]}, "MB/s")
        self.assertEqual(draw.lines_of(figure), [("a", False, [(1, 40.0), (2, 80.0)]), ("a", True, [(1, 30.0)])])

    def test_what_is_simulated_stands_apart(self):
        real, model = (Experiment(key, "paper", "title of " + key, "asked", "scaled", None) for key in ("X1-1", "X1-1-sim"))
        outcome = Outcome([Row("r", 2, 3)], [], [])
        text = page.page([(real, outcome), (model, outcome)])
        self.assertLess(text.index("Run on this machine"), text.index("Simulated, on machines"))
        parts = [text.split(f'<section id="{key}">')[1].split("</section>")[0] for key in ("X1-1", "X1-1-sim")]
        self.assertIn("<th>here</th>", parts[0])
        self.assertIn("<th>simulated</th>", parts[1])
        self.assertNotIn("Simulated, on machines", page.page([(real, outcome)]))

    def test_simulated_experiments_want_no_other_program_than_the_command(self):
        model = Experiment("X1-1-sim", "paper", "title", "asked", "scaled", None)
        real = Experiment("X1-1", "paper", "title", "asked", "scaled", None)
        with (
            tempfile.NamedTemporaryFile() as program,
            mock.patch.multiple(run_papers, STRIA=program.name, DROP_IN="/nonexistent/drop-in"),
        ):
            self.assertIsNone(run_papers.what_is_missing([model]))
            self.assertIn("/nonexistent/drop-in", run_papers.what_is_missing([model, real]))

    def test_a_failure_says_so_and_the_others_stay(self):
        fine, failed = run_papers.EXPERIMENTS[:2]
        text = page.page([(fine, Outcome([Row("r", 2, 3)], [], [])), (failed, Failure("why <it>", "printed"))])
        for part in (fine.title, "<strong>failed</strong>", "why &lt;it&gt;", ">printed</pre>"):
            self.assertIn(part, text)

    def test_numbers_as_papers_print_them(self):
        self.assertEqual([page.number(value) for value in (983040, 1.536, None, 30)], ["983,040", "1.54", "-", "30"])
        # Never as a power of ten.
        self.assertEqual([page.number(value) for value in (1234.5, 0.000123)], ["1,230", "0.000123"])
        self.assertEqual([plain(value) for value in (550.4, 0.254, 2, 1e6)], ["550", "0.25", "2", "1,000,000"])


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
