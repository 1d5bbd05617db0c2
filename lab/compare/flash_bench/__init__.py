"""The parts of run_flash_bench.py: cases, runs, ratios and goals, table, chart."""
