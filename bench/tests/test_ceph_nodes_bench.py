#!/usr/bin/env python3
"""Checks the comparison beside CephFS on made-up programs: ratios, programs that fail, cases."""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)
import run_ceph_nodes_bench as bench  # noqa: E402

SPEEDS = {"ompio": [10, 30], "romio": [20, 20], "two-phase": [40, 45], "delegates": [20, 60], "servers": [10, 15]}


class FakeCluster:
    @contextlib.contextmanager
    def place(self, way):
        yield way.name


class Ratios(unittest.TestCase):
    def compared(self, gone=()):
        left = {name: list(values) for name, values in SPEEDS.items()}

        def measure(way, place):
            self.assertEqual(place, way.name)
            return (None, "no reason") if way.name in gone else ({"write": left[way.name].pop(0)}, None)

        with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()) as said:
            options = argparse.Namespace(cycles=2, rounds=1, rate="", out=out)
            run = bench.Bench(options, FakeCluster())
            run.compare("a case", bench.OF_PATTERNS, measure)
            with open(os.path.join(out, "nodes_ceph.json"), encoding="utf-8") as file:
                record = json.load(file)
        return run, record["cases"][0], said.getvalue()

    def test_are_to_the_better_native_one_of_the_cycle(self):
        _, case, said = self.compared()
        ratios = {name: round(ratio, 3) for name, ratio in case["ratios"]["write"].items()}
        self.assertEqual(ratios, {"ompio": 0.75, "romio": 0.833, "two-phase": 1.75, "delegates": 1.5, "servers": 0.5})
        self.assertIn("two-phase 42.5 (1.75 x)", said)

    def test_leave_out_what_fails(self):
        run, case, _ = self.compared(gone=("romio", "servers"))
        self.assertEqual(list(case["ratios"]["write"]), ["ompio", "two-phase", "delegates"])
        self.assertEqual(case["ratios"]["write"]["ompio"], 1.0)
        self.assertEqual(run.problems, ["a case, romio: no reason", "a case, servers: no reason"])

    def test_need_a_native_one(self):
        _, case, said = self.compared(gone=("ompio", "romio"))
        self.assertEqual(case["ratios"]["write"], {})
        self.assertIn("servers 12.5", said)


class Cases(unittest.TestCase):
    def test_small_ones_are_of_the_same_patterns(self):
        def names(small):
            chosen = bench.chosen_cases(argparse.Namespace(small=small, only=""))
            return {getattr(case, "pattern", "flash") for case in chosen}

        self.assertEqual(names(False), {*bench.CHOSEN_PATTERNS, "flash"} | names(True))
        self.assertEqual(names(False) - names(True), {"ior"})


if __name__ == "__main__":
    unittest.main()
