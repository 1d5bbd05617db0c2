#!/usr/bin/env python3
"""Runs the smallest case for real, with a stand-in for the Stria command that only writes the JSON
that the real one does."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASE = "tmpfs 2 ranks 8^3 24 vars 16 MB"

STAND_IN = """#!/usr/bin/env python3
import json, os, sys
if "--help" in sys.argv:
    print("--layout --limits --plotfile --json")
    sys.exit(0)
if os.environ.get("OMPI_COMM_WORLD_RANK", "0") != "0":
    sys.exit(0)
layout = sys.argv[sys.argv.index("--layout") + 1]
rounds = int(sys.argv[sys.argv.index("--rounds") + 1])
def mode(name, kind, seconds):
    return {"name": name, "kind": kind, "useful_bytes": 15826944, "rounds_seconds": [seconds] * rounds, "verified": True,
            "seconds": {"median": seconds, "min": seconds, "max": seconds}, "mbps": {"median": 15.826944 / seconds}}
modes = [mode("limit-pack", "checkpoint", 0.01), mode("checkpoint", "checkpoint", 0.008 if layout == "standard" else 0.02)]
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    json.dump({"ranks": 2, "modes": modes}, file)
"""


class WholeRun(unittest.TestCase):
    def run_bench(self, with_stria):
        peers = os.environ["BENCH_FLASH_PEERS"]
        with tempfile.TemporaryDirectory() as build:
            programs = os.path.join(build, "bin")
            os.mkdir(programs)
            os.symlink(peers, os.path.join(programs, "bench_flash_peers"))
            if with_stria:
                stand_in = os.path.join(programs, "stria")
                with open(stand_in, "w", encoding="utf-8") as file:
                    file.write(STAND_IN)
                os.chmod(stand_in, os.stat(stand_in).st_mode | stat.S_IXUSR)
            out = os.path.join(build, "out")
            done = subprocess.run(
                [
                    sys.executable,
                    os.path.join(BENCH, "run_flash_bench.py"),
                    "--quick",
                    "--only",
                    CASE,
                    "--build",
                    build,
                    "--out",
                    out,
                    "--tmpfs-dir",
                    build,
                ],
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual([name for name in os.listdir(build) if name.startswith("stria-bench-")], [])
            with open(os.path.join(out, "flash.json"), encoding="utf-8") as file:
                return json.load(file), done.stdout

    def test_with_stria(self):
        record, said = self.run_bench(True)
        case = record["cases"][0]
        found = {(mode["program"], mode["name"]): mode for mode in case["modes"]}
        self.assertIn(("stria", "stria-standard"), found)
        self.assertIn(("stria", "stria-experimental"), found)
        self.assertEqual(sum(map(len, found[("peers", "hdf5-independent")]["rounds_seconds"])), 6)
        self.assertTrue(all(mode["verified"] for mode in case["modes"]))
        packed = next(item for item in case["ratios"] if item["ours"] == "stria-standard" and item["against"] == "limit-pack")
        self.assertAlmostEqual(packed["ratio"], 1.25)
        self.assertTrue(packed["met"])
        self.assertIn("goals met", said)
        self.assertLessEqual({"HDF5", "PnetCDF"}, set(record["machine"]["peers"]))
        has_all = all(("peers", name) in found for name in ("adios2-bp5", "hdf5-multi"))
        self.assertEqual("left out: bench_flash_peers" in said, not has_all, said)
        self.assertIn(f"peers: HDF5 {record['machine']['peers']['HDF5']}", said)

    def test_without_stria(self):
        record, said = self.run_bench(False)
        self.assertEqual(record["cases"][0]["ratios"], [])
        self.assertIn("measuring the peers alone", said)


if __name__ == "__main__":
    unittest.main()
