"""The arithmetic of the servers' benchmark: ratios, goals, panels; and that its experiments do what
their names say."""

import contextlib
import dataclasses
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run_servers_bench  # noqa: E402
from servers import cases, chart, goals  # noqa: E402


def point(pattern="cyclic_16", size=1000, **times):
    return {
        "title": pattern, "pattern": pattern, "clients": 4, "size": size, "axis": "accesses",
        "figures": [("write", "cyclic write")], "times": {"write": times, "read": {}},
    }  # fmt: skip


class Ratios(unittest.TestCase):
    def test_each_cycle_has_its_own_best(self):
        # Everything took ten times as long in the second cycle: the ratios don't show it.
        ratios = goals.ratios_to_best({"list": [1, 10, 1], "multiple": [4, 40, 4], "sieving": [2, 5, 2]})
        self.assertEqual(ratios, {"list": 1, "multiple": 4, "sieving": 2})

    def test_the_luckiest_of_equals_is_no_better(self):
        ratios = goals.ratios_to_best({"list": [1.0, 1.2, 1.0, 1.2, 1.0], "datatype": [1.2, 1.0, 1.2, 1.0, 1.2]})
        self.assertEqual(ratios["list"], 1)
        self.assertAlmostEqual(ratios["datatype"], 1.2)
        three = goals.ratios_to_best({name: [1.0 + (turn == i) for i in range(3)] for turn, name in enumerate("abc")})
        self.assertEqual(sorted(three.values()), [1, 1, 1])

    def test_a_method_that_failed_later_counts_for_the_cycles_that_all_have(self):
        self.assertEqual(goals.ratios_to_best({"list": [2, 1], "multiple": [6]}), {"list": 1, "multiple": 3})


class Goals(unittest.TestCase):
    def test_at_least_and_at_most(self):
        self.assertTrue(goals.Verdict("a", 1.0, 1.0).met())
        self.assertFalse(goals.Verdict("a", 0.9, 1.0).met())
        self.assertTrue(goals.Verdict("a", 2.0, 2.0, True).met())
        self.assertFalse(goals.Verdict("a", 2.1, 2.0, True).met())
        self.assertIn("MISSED", goals.Verdict("a", 2.1, 2.0, True).line())

    def test_the_table_has_a_line_for_each(self):
        head, *lines = goals.table([goals.Verdict("one", 1.0, 1.0), goals.Verdict("two", 12.5, 2.0, True)])
        self.assertEqual([line.split() for line in lines], [
            ["1", "at", "least", "1", "met", "one"], ["12.5", "at", "most", "2", "MISSED", "two"],
        ])  # fmt: skip
        self.assertEqual(head.index("what"), lines[0].index("one"))

    def test_hybrid_and_the_choice_beside_the_best(self):
        hybrid, automatic = goals.of_experiments([point(list=[1.0], hybrid=[1.2], automatic=[1.05])])
        self.assertAlmostEqual(hybrid.value, 1.2)
        self.assertFalse(hybrid.met())
        self.assertIn("automatic to the best", automatic.what)
        self.assertTrue(automatic.met())

    def test_lists_beside_a_request_for_each(self):
        (verdict,) = goals.of_experiments([point("cyclic_1", list=[0.01], multiple=[2.0], hybrid=[0.01])])
        self.assertAlmostEqual(verdict.value, 200)
        self.assertTrue(verdict.met())

    def test_flash_is_held_against_sieving(self):
        verdicts = goals.of_experiments([point("flash", **{"sieving": [1.0], "two-phase": [2.0], "hybrid": [1.0]})])
        self.assertEqual([verdict.met() for verdict in verdicts], [True, False])
        self.assertAlmostEqual(verdicts[1].value, 0.5)

    def test_only_the_direction_that_the_experiment_is_about(self):
        entry = point("display", list=[1.0], hybrid=[9.0])
        entry["figures"] = [("read", "tiled display, read")]
        self.assertEqual(goals.of_experiments([entry]), [])

    def test_a_point_without_times_has_no_verdict(self):
        self.assertEqual(goals.of_experiments([point()]), [])

    def test_processor_time_beside_a_plain_copy(self):
        figures = {"plain_cpu_s": [1, 2, 1], "rewrite_cpu_s": [2, 4, 1], "read_cpu_s": [1, 2, 1]}
        self.assertEqual([verdict.value for verdict in goals.of_copy(figures)], [0.5, 1])

    def test_latency_beside_an_echo(self):
        verdicts = goals.of_latency({"echo_s": [1e-5, 1e-5], "write_s": [3e-5, 3e-5], "read_s": [1e-5, 2e-5]})
        self.assertEqual([verdict.met() for verdict in verdicts], [False, True])

    def test_pieces_in_millions_a_second(self):
        figures = {f"{how}_{what}_s": [1e-7] for how in ("list", "type") for what in ("write", "read")}
        values = {verdict.what: verdict.value for verdict in goals.of_pieces(8, figures)}
        self.assertAlmostEqual(values["pieces of 8 B, write, list, million/s"], 10)
        self.assertAlmostEqual(values["pieces of 8 B, read, datatype against list"], 1)
        self.assertEqual(len(goals.of_pieces(512, figures)), 4)

    def test_descriptions_of_many_pieces_and_few(self):
        figures = {64: {"type_write_description_bytes": [1050.0]}, 4096: {"type_write_description_bytes": [1000.0]}}
        (verdict,) = goals.of_descriptions(figures)
        self.assertAlmostEqual(verdict.value, 1.05)
        self.assertEqual(goals.of_descriptions({64: figures[64]}), [])

    def test_the_fullest_server(self):
        (verdict,) = goals.of_first_server({"in turn": 1.5, "always the same": 8})
        self.assertEqual((verdict.value, verdict.met()), (1.5, False))


class Experiments(unittest.TestCase):
    def test_a_request_for_each_only_where_one_can_wait_for_it(self):
        case = cases.cyclic(8, 16, (10, 1000), 10)
        self.assertIn(cases.MULTIPLE, case.methods(10))
        self.assertNotIn(cases.MULTIPLE, case.methods(1000))

    def test_the_full_run_has_the_papers_clients(self):
        clients = {case.clients for case in cases.full() if case.name in ("1-D cyclic", "block-block")}
        self.assertEqual(clients, {4, 8, 9, 16})
        self.assertEqual({case.clients for case in cases.full() if case.pattern == "display"}, {6})

    def test_every_goal_of_the_experiments_has_its_point(self):
        points = [
            point(case.pattern, size, **{method.name: [1.0] for method in case.methods(size)})
            for case in cases.headline() for size in case.sizes
        ]  # fmt: skip
        told = [verdict.what for verdict in goals.of_experiments(points)]
        for wanted in ("list against multiple", "datatype or two-phase against sieving"):
            self.assertEqual(len([what for what in told if wanted in what]), 1, wanted)
        self.assertEqual({case.sizes for case in cases.headline() if case.pattern == cases.TINY}, {(100000,)})
        for method in ("hybrid", "automatic"):
            self.assertEqual(len([what for what in told if method in what]), len(points) - 1)

    def test_listing_measures_nothing(self):
        self.assertEqual(run_servers_bench.main(["--list"]), 0)
        self.assertEqual(run_servers_bench.main(["--list", "--rate", "100mbit"]), 0)

    def test_the_table_of_all_runs(self):
        with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()) as said:
            for name, verdict in (("servers", goals.Verdict("one", 1, 2)), ("servers_100mbit", goals.Verdict("two", 3, 2))):
                record = {"where": name, "seconds": 60, "verdicts": [dataclasses.asdict(verdict)]}
                with open(os.path.join(out, f"{name}.json"), "w", encoding="utf-8") as file:
                    json.dump(record, file)
            self.assertEqual(run_servers_bench.main(["--table", "--out", out]), 0)
        self.assertIn("1 of 2 goals missed", said.getvalue())


class Panels(unittest.TestCase):
    def test_every_method_has_a_colour(self):
        self.assertEqual({method.name for method in cases.METHODS}, set(chart.COLOURS))

    def test_one_panel_an_experiment_with_a_line_a_method(self):
        panels = chart.panels_of([point(size=10, list=[3, 1, 2]), point(size=100, list=[4], multiple=[9])])
        self.assertEqual(
            panels, [("cyclic write, 4 clients", "accesses", {"list": [(10, 2), (100, 4)], "multiple": [(100, 9)]})]
        )

    def test_what_was_not_measured_has_no_panel(self):
        self.assertEqual(chart.panels_of([point()]), [])


if __name__ == "__main__":
    unittest.main()
