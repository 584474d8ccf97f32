"""What holds of each run by itself: its parts of time, shares, intervals, curve and counts."""

import csv
import json
import math

from program import INSIDE, Fault, json_of

PARTS = ("compute_s", "communicate_s", "wait_s", "down_s")
# Ranks that pass messages on their own time take them in the order of their arrival, and times of computed collectives
# are equal to nine digits: ties among them may break the other way.
LOCKSTEP_TOLERANCE = 1e-6


def ratios(value, path=""):
    """All utilisations, shares and the goodput of a run, with the ends of their intervals and their names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            is_ratio = "utilisation" in key or "goodput" in key or key.split("_")[-1] == "share" or "_share_" in key
            if is_ratio and isinstance(inner, (int, float)):
                yield path + key, inner
            else:
                yield from ratios(inner, path + key + ".")
    elif isinstance(value, list):
        for inner in value:
            yield from ratios(inner, path)


def check_ratios(values, label):
    for name, value in ratios(values):
        if not -1e-9 <= value <= 1 + 1e-6:
            raise Fault(f"{label}: {name} = {value}")


def check_parts(run, row):
    whole = row.get("simulated_s", run["simulated_s"])
    parts = [row[part] for part in PARTS]
    if any(part < -1e-9 * max(whole, 1e-9) for part in parts):
        raise Fault(f"{run['label']}: a part of the time below 0: {parts}")
    if not math.isclose(sum(parts), whole, rel_tol=1e-6, abs_tol=1e-12):
        raise Fault(f"{run['label']}: parts of the time add up to {sum(parts)}, not {whole}: {parts}")
    for part in PARTS[:3]:  # each is divided by work or cause
        activity = part.removesuffix("_s")
        smaller = {key: number for key, number in row.items() if key.startswith(activity + "_") and key != part}
        if any(number is not None and number < 0 for number in smaller.values()):
            raise Fault(f"{run['label']}: a part of {part} below 0: {smaller}")
        if not math.isclose(sum(number or 0.0 for number in smaller.values()), row[part], rel_tol=1e-9, abs_tol=1e-12):
            raise Fault(f"{run['label']}: the parts of {part} = {row[part]} do not add up to it: {smaller}")


def check_collectives(run):
    for use in run.get("collectives") or []:
        most = (use["simulated_s"] + use["skew_s"]) * (1 + 1e-9) + clock_tolerance(run)
        if not 0 <= use["exposed_s"] <= use["duration_s"] * (1 + 1e-9) <= most:
            raise Fault(f"{run['label']}: {use['name']} is exposed for {use['exposed_s']} s of {use['duration_s']} s: "
                        f"{use}")


def check_lost(run, curve):
    """No more time is lost than was taken by what was computed again: the steps that a recovery lost, and for each
    crash the step that had begun."""
    if not run["lost_s"] or not run["samples"]:
        return
    # Evaluations by the clock see a step many times: a step takes from the first of them to the first of the next one.
    firsts = [point["simulated_s"] for point, before in zip(curve, [None, *curve])
              if not before or point["step"] != before["step"]]
    times = firsts + [run["simulated_s"]]
    longest = max(after - before for before, after in zip(times, times[1:]))
    # A step that counts takes its share of the samples that count.
    again = (run["samples"] - run["samples_seen"]) * run["steps"] / max(run["samples_seen"], 1) + run["crashes"]
    if run["lost_s"] > again * longest * (1 + 1e-9) + run["recovery_s"] * 1e-9:
        raise Fault(f"{run['label']}: {run['lost_s']} s are lost, but {again} steps of at most {longest} s were "
                    "computed again")


def check_run(run, has_curve=True):
    if run["status"] == "failed":
        if not run["error"]:
            raise Fault(f"{run['label']}: failed without an error")
        if INSIDE.search(run["error"]):
            raise Fault(f"{run['label']}: words of the inside: {run['error'][:400]}")
        if "watchdog" in run["error"] and "real" in run["error"]:
            raise Fault(f"{run['label']}: slow: {run['error'][:400]}")
        return
    check_parts(run, run)
    for rank in run.get("ranks", []):
        check_parts(run, rank)
    check_collectives(run)
    check_ratios(run, run["label"])
    if has_curve:
        check_curve(run, run.get("curve", []))
    for name in ("bytes", "messages", "samples", "wall_s"):
        if run[name] is not None and run[name] < 0:
            raise Fault(f"{run['label']}: {name} = {run[name]}")


def check_curve(run, curve):
    if not curve or curve[0]["step"] != 0:
        raise Fault(f"{run['label']}: the curve begins at {curve[0]['step'] if curve else 'nothing'}")
    steps = [point["step"] for point in curve]
    times = [point["simulated_s"] for point in curve]
    if times != sorted(times):
        raise Fault(f"{run['label']}: the curve goes back: {steps[:20]} {times[:20]}")
    check_lost(run, curve)
    if steps[-1] != run["steps"]:
        raise Fault(f"{run['label']}: the curve ends at step {steps[-1]}, the run at {run['steps']}")
    if times[-1] > run["simulated_s"] * (1 + 1e-9):
        raise Fault(f"{run['label']}: the curve ends at {times[-1]} s, the run at {run['simulated_s']} s")


def results(directory):
    return json_of((directory / "results.json").read_text(encoding="utf-8"))


def check_results(directory):
    found = results(directory)
    check_ratios(found["summary"], "summary")
    for run in found["runs"] + found["baselines"]:
        check_run(run, "serving" not in found["scenario"])  # servers answer, and learn nothing
    with open(directory / "runs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if [row["id"] for row in rows] != [run["id"] for run in found["runs"]]:
        raise Fault("runs.csv and results.json have other runs")
    return found


def clock_tolerance(run):
    """The rounding of a sum of durations: each is a difference of two dates, and a date has the clock's precision.
    A computation by itself takes SimGrid's 1e-12 s at least; within a computed collective it may take less."""
    return ((run["messages"] or 0) + run["steps"] + 1) * (1e-12 + 2 * math.ulp(run["simulated_s"]))


def close(a, b, abs_tol):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=LOCKSTEP_TOLERANCE, abs_tol=abs_tol)


def compare_by_messages(found, by_messages):
    """Computed collectives are as collectives by messages, to nine digits."""
    others = {(run["label"], json.dumps(run["parameters"])): run for run in by_messages["runs"]}
    for run in found["runs"]:
        other = others.get((run["label"], json.dumps(run["parameters"])))
        if other is None or "failed" in (run["status"], other["status"]):
            continue
        # Equal workers that are free at one date take copies of tasks in the order of SimGrid's events.
        if run["strategy"] == "mapreduce" and run["options"].get("speculative"):
            continue
        for name in ("simulated_s", "compute_s", "bytes", "messages", "steps", "final_loss"):
            if not close(run[name], other[name], clock_tolerance(other) if name.endswith("_s") else 1e-12):
                raise Fault(f"{run['label']}: {name} is {run[name]} with computed collectives, {other[name]} by "
                            "messages")
        uses = [{(use["name"], use["members"], use["bytes"], use["calls"]): use
                 for use in each.get("collectives") or []} for each in (run, other)]
        for key in uses[0].keys() & uses[1].keys():
            for name in ("duration_s", "exposed_s"):
                a, b = (each[key][name] for each in uses)
                if not close(a, b, clock_tolerance(other)):
                    raise Fault(f"{run['label']}: {name} of {key} is {a} s with computed collectives, {b} s by "
                                "messages")
