"""Describes what people see: a table per case, and the goals beneath it."""

COMMON = "limit-pack"
COMPRESSING = ("compressed", "incompressible")  # ways of cases.WAYS
VERDICTS = {True: "met", False: "MISSED", None: ""}
VERIFIED = {True: "yes", False: "NO", None: "-"}


def case_table(case, summaries, comparisons):
    """Returns the figures of one case as lines of text."""
    head = f"  {'mode':<36}{'MB/s':>8}{'min':>8}{'max':>8}{'/ limit-pack':>14}{'right':>7}"
    lines = [case.title(), head + (f"{'data / file':>14}" if case.way in COMPRESSING else "")]
    for (program, name), summary in summaries.items():
        if program == "stria" and "limit" in name:
            name = f"{name} (in our process)"
        rates = summary.mbps()
        share = share_of_limit(summaries, program, summary)
        lines.append(
            f"  {name:<36}{rates['median']:>8.0f}{rates['min']:>8.0f}{rates['max']:>8.0f}"
            f"{share:>14}{VERIFIED[summary.verified]:>7}{size_ratio(case, summary)}"
        )
    return "\n".join(lines + comparison_lines(comparisons))


def size_ratio(case, summary):
    """Returns how much smaller the file is than its values, where a case is about that."""
    value = summary.size_ratio()
    return f"{value:>14.2f}" if case.way in COMPRESSING and value else ""


def share_of_limit(summaries, program, summary):
    """A checkpoint's speed as a share of the packed limit of its own process (or the peers')."""
    limit = summaries.get((program, COMMON)) or summaries.get(("peers", COMMON))
    if limit is None or summary.kind != "checkpoint":
        return ""
    return f"{summary.mbps()['median'] / limit.mbps()['median']:.2f}"


def comparison_lines(comparisons):
    """Returns one line a ratio, with its goal and whether that is met."""
    if not comparisons:
        return []
    lines = ["", f"  {'Stria':<24}{'against':<48}{'ratio':>8}{'goal':>8}"]
    for item in comparisons:
        goal = "" if item.goal is None else f"{item.goal:.2f}"
        lines.append(f"  {item.ours:<24}{item.against:<48}{item.ratio:>8.2f}{goal:>8}  {VERDICTS[item.met()]}".rstrip())
    return lines


def closing_line(all_comparisons):
    """Returns how many goals were met in all cases together."""
    verdicts = [item.met() for item in all_comparisons if item.goal is not None]
    if not verdicts:
        return "No goal was measured: Stria was not run."
    return f"{sum(verdicts)} of {len(verdicts)} goals met."
