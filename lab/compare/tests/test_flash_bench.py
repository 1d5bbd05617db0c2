#!/usr/bin/env python3
"""Checks the runner's arithmetic on made-up results: medians, ratios, normalising, goals, names,
and bad usage."""

import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, BENCH)
from flash_bench import cases, ratios, runs, table  # noqa: E402


def mode(name, rounds, useful_bytes=541_000_000, verified=True, kind="checkpoint"):
    """Returns one entry of a program's JSON."""
    ordered = sorted(rounds)
    middle = ordered[len(ordered) // 2]
    return {
        "name": name,
        "kind": kind,
        "useful_bytes": useful_bytes,
        "rounds_seconds": rounds,
        "verified": verified,
        "seconds": {"median": middle, "min": ordered[0], "max": ordered[-1]},
        "mbps": {"median": useful_bytes / 1e6 / middle},
    }


def program(*modes):
    """Returns a program's JSON."""
    return {"modes": list(modes)}


CASE = cases.large(4, "tmpfs")


class Summaries(unittest.TestCase):
    def test_joins_the_rounds_of_all_cycles(self):
        results = [("peers", program(mode("a", [1.0, 2.0, 9.0]))), ("peers", program(mode("a", [3.0, 4.0, 5.0])))]
        summary = ratios.summarise(results, 3)[("peers", "a")]
        self.assertEqual(summary.seconds(), [1.0, 2.0, 9.0, 3.0, 4.0, 5.0])
        self.assertAlmostEqual(summary.mbps()["max"], 541.0)
        self.assertEqual([round(rate, 2) for rate in summary.cycle_mbps()], [270.5, 135.25])

    def test_one_wrong_cycle_spoils_a_mode(self):
        results = [("peers", program(mode("a", [1.0], verified=good))) for good in (True, False, True)]
        self.assertIs(ratios.summarise(results, 1)[("peers", "a")].verified, False)

    def test_takes_programs_that_list_no_rounds_or_bytes(self):
        entry = mode("a", [1.0, 2.0, 3.0])
        del entry["rounds_seconds"], entry["useful_bytes"]
        summary = ratios.summarise([("stria", program(entry))], 5)[("stria", "a")]
        self.assertEqual(summary.seconds(), [1.0, 2.0, 3.0])
        self.assertEqual(summary.useful_bytes, 541_000_000)


class Ratios(unittest.TestCase):
    def test_compares_distances_from_the_common_limit(self):
        # Our process met a machine at half speed: 2 s for the limit instead of 1 s.
        results = [
            ("peers", program(mode("limit-pack", [1.0]), mode("hdf5-independent", [2.0]))),
            ("stria", program(mode("limit-pack", [2.0]), mode("stria-standard", [2.0]))),
        ]
        summaries = ratios.summarise(results, 1)
        self.assertAlmostEqual(ratios.ratio(summaries, ("stria", "stria-standard"), ("peers", "hdf5-independent")), 2.0)
        self.assertAlmostEqual(ratios.ratio(summaries, ("stria", "stria-standard"), ("stria", "limit-pack")), 1.0)

    def test_takes_the_median_of_the_cycles(self):
        results = []
        for seconds in (1.0, 2.0, 10.0):
            results += [("peers", program(mode("x", [10.0]))), ("stria", program(mode("stria-standard", [seconds])))]
        summaries = ratios.summarise(results, 1)
        self.assertAlmostEqual(ratios.ratio(summaries, ("stria", "stria-standard"), ("peers", "x")), 5.0)

    def test_the_best_peer_is_no_limit_and_not_prepacked(self):
        peers = program(
            mode("limit-contig", [0.1]),
            mode("hdf5-independent-prepacked", [0.2]),
            mode("mpiio-independent+pack", [0.3]),
            mode("hdf5-independent", [0.4]),
            mode("plot-hdf5-independent-libconv", [0.05], kind="plot"),
        )
        summaries = ratios.summarise([("peers", peers)], 1)
        self.assertEqual(ratios.best_peer(summaries, "checkpoint"), ("peers", "mpiio-independent+pack"))
        self.assertEqual(ratios.best_peer(summaries, "plot"), ("peers", "plot-hdf5-independent-libconv"))
        self.assertIsNone(ratios.best_peer(summaries, "read"))


class Goals(unittest.TestCase):
    def test_depend_on_size_ranks_and_syncing(self):
        self.assertEqual(ratios.limit_goal(CASE, 541e6), 0.95)
        self.assertEqual(ratios.limit_goal(cases.large(8, "tmpfs"), 541e6), 0.85)
        self.assertEqual(ratios.limit_goal(cases.small(4, "disk"), 32e6), 0.85)
        self.assertIsNone(ratios.limit_goal(CASE, 5e6))
        self.assertEqual(ratios.limit_goal(cases.large(4, "disk", sync=True), 541e6), 1.3)
        self.assertIsNone(ratios.limit_goal(cases.large(4, "tmpfs", sync=True), 541e6))
        self.assertEqual([ratios.plot_goal(size) for size in (34e6, 10e6, 1.5e6)], [1.5, None, 1.0])

    def test_of_restarts_and_memory(self):
        restart = {**mode("restart-stria", [1.0], kind="read"), "memory_growth_bytes": 40 << 20}
        results = [("stria", program(mode("restart-limit", [0.7], kind="read"), restart))]
        found = {item.against: item for item in ratios.compare(CASE, ratios.summarise(results, 1))}
        self.assertAlmostEqual(found["restart-limit"].ratio, 0.7)
        self.assertIs(found["restart-limit"].met(), False)
        self.assertAlmostEqual(found["memory: 48 MiB / used"].ratio, 1.2)
        self.assertIs(found["memory: 48 MiB / used"].met(), True)

    def test_are_judged_for_the_standard_layout(self):
        peers = program(mode("limit-pack", [1.0]), mode("hdf5-independent", [2.0]), mode("hdf5-collective", [1.5]))
        ours = program(mode("stria-standard", [1.0]), mode("stria-experimental", [1.0]))
        compared = ratios.compare(CASE, ratios.summarise([("peers", peers), ("stria", ours)], 1))
        verdicts = {(item.ours, item.against): item.met() for item in compared}
        self.assertIs(verdicts[("stria-standard", "limit-pack")], True)
        self.assertIs(verdicts[("stria-standard", "hdf5-independent")], True)
        self.assertIs(verdicts[("stria-standard", "hdf5-collective")], False)
        self.assertIs(verdicts[("stria-standard", "best peer (hdf5-collective)")], True)
        self.assertIsNone(verdicts[("stria-experimental", "hdf5-collective")])
        self.assertEqual(table.closing_line(compared), "3 of 4 goals met.")

    def test_of_netcdf_are_its_own(self):
        peers = program(mode("pnetcdf-blocking", [2.0]), mode("pnetcdf-nonblocking", [2.0]), mode("hdf5-collective", [0.1]))
        ours = program(mode("stria-standard", [0.9]), mode("stria-netcdf", [0.95]))
        compared = ratios.compare(CASE, ratios.summarise([("peers", peers), ("stria", ours)], 1))
        verdicts = {item.against: item.met() for item in compared if item.ours == "stria-netcdf"}
        self.assertIs(verdicts["pnetcdf-blocking"], False)
        self.assertIs(verdicts["pnetcdf-nonblocking"], True)
        self.assertIs(verdicts["stria-standard"], True)
        self.assertIsNone(verdicts["hdf5-collective"])

    def test_of_ways_are_their_own(self):
        peers = program(mode("limit-pack", [1.0]), mode("hdf5-collective-gzip", [13.0]), mode("limit-fpp+pack", [1.0]))
        ours = program(
            mode("limit-pack", [1.0]),
            mode("stria-standard", [0.4]),
            mode("stria-compressed", [1.0]),
            mode("stria-incompressible", [0.45]),
            mode("stria-subfiles", [1.1]),
            mode("stria-parts", [1.0]),
            mode("stria-parity-4+1", [1.35]),
            mode("stria-parity-8+2", [1.45]),
        )
        summaries = ratios.summarise([("peers", peers), ("stria", ours)], 1)
        found = {(item.ours, item.against): item for item in ratios.compare(cases.compressed(2, "tmpfs"), summaries)}
        self.assertAlmostEqual(found[("stria-compressed", "hdf5-collective-gzip")].ratio, 13.0)
        self.assertIs(found[("stria-compressed", "hdf5-collective-gzip")].met(), True)
        self.assertIs(found[("stria-compressed", "stria-standard")].met(), False)
        self.assertIs(found[("stria-incompressible", "stria-standard")].met(), True)
        self.assertIs(found[("stria-subfiles", "limit-fpp+pack")].met(), False)
        self.assertIs(found[("stria-parity-4+1", "stria-parts")].met(), True)
        self.assertIs(found[("stria-parity-8+2", "stria-parts")].met(), False)
        synced = ratios.compare(cases.compressed(4, "disk", sync=True), summaries)
        self.assertIn(("stria-standard", 1.5), [(item.against, item.goal) for item in synced])
        self.assertEqual(len({case.title() for case in cases.way_cases()}), len(cases.way_cases()))

    def test_sizes_of_compressed_files_are_compared(self):
        def sized(entry, file_bytes):
            return {**entry, "file_bytes": file_bytes}

        case = cases.compressed(2, "tmpfs")
        for ours_bytes, met in ((50_000_000, True), (100_000_000, True), (100_000_001, False), (None, None)):
            peers = program(sized(mode("hdf5-collective-gzip", [13.0]), 100_000_000))
            ours = program(sized(mode("stria-compressed", [1.0]), ours_bytes))
            summaries = ratios.summarise([("peers", peers), ("stria", ours)], 1)
            compared = ratios.compare(case, summaries)
            sizes = [item for item in compared if "how small" in item.against]
            self.assertEqual([item.met() for item in sizes], [] if met is None else [met])
            text = table.case_table(case, summaries, compared)
            self.assertIn("data / file", text)
            self.assertRegex(text, r"hdf5-collective-gzip .* 5\.41\n")
        self.assertNotIn("data / file", table.case_table(CASE, summaries, []))

    def test_nothing_is_judged_without_us(self):
        summaries = ratios.summarise([("peers", program(mode("limit-pack", [1.0])))], 1)
        self.assertEqual(ratios.compare(CASE, summaries), [])
        self.assertIn("limit-pack", table.case_table(CASE, summaries, []))


class Names(unittest.TestCase):
    def test_of_stria_modes(self):
        named = [
            runs.stria_mode_name({"name": name}, "standard")
            for name in ("checkpoint", "plotfile", "plotfile with corners", "restart", "limit-pack")
        ]
        self.assertEqual(named, ["stria-standard", "plot-stria", "corners-stria", "restart-stria", "limit-pack"])

    def test_of_all_modes_are_known_to_the_peers(self):
        peers = os.environ.get("BENCH_FLASH_PEERS")
        if not peers:
            self.skipTest("BENCH_FLASH_PEERS is not set")
        known = runs.peer_modes(peers)
        for case in cases.full_cases() + cases.default_cases() + cases.quick_cases():
            for mode_name in case.all_modes():
                has_family = any(
                    family in mode_name and family in other for family in cases.OPTIONAL_FAMILIES for other in known
                )
                if has_family or not cases.is_optional(mode_name):
                    self.assertIn(mode_name, known)

    def test_of_libraries_that_a_build_lacks_are_left_out(self):
        case = cases.large(4, "tmpfs", read=True)
        whole = set(case.all_modes())
        known = {name for name in whole if "adios2" not in name} - {"hdf5-collective"}
        left = case.without(known)
        self.assertEqual(left.left_out, {name for name in whole if "adios2" in name})
        self.assertIn("read-adios2-bp5", left.left_out)
        # A mode that every build has is not forgiven.
        self.assertIn("hdf5-collective", left.all_modes())


class Cases(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual(CASE.blocks, 172)
        self.assertEqual(CASE.useful_bytes(), 541065216)
        self.assertEqual(cases.small(4, "tmpfs").total_blocks(), 80 + 81 + 82 + 80)

    def test_titles_are_distinct(self):
        for name in ("quick", "default", "full"):
            titles = [case.title() for case in cases.profile(name).cases]
            self.assertEqual(len(titles), len(set(titles)))
            self.assertGreaterEqual(cases.profile(name).cycles * cases.profile(name).rounds, 5)


class Usage(unittest.TestCase):
    def run_bench(self, *arguments):
        command = [sys.executable, os.path.join(BENCH, "run_flash_bench.py"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_bad_usage_is_one_line_and_exit_code_2(self):
        with tempfile.TemporaryDirectory() as out:
            for arguments in (["--only", "no such case", "--out", out], ["--build", "/nonexistent", "--out", out]):
                done = self.run_bench(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        self.assertEqual(self.run_bench("--no-such-option").returncode, 2)

    def test_lists_its_cases(self):
        self.assertIn("tmpfs 4 ranks 16^3 24 vars 541 MB", self.run_bench("--quick", "--list").stdout)


if __name__ == "__main__":
    unittest.main()
