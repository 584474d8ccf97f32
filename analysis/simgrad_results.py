"""The results of simgrad as pandas frames, with speed-ups, Pareto fronts and confidence intervals.

Reads the CSV files that `simgrad run` writes into its directory and nothing else; needs pandas 1.5 or later.

    import simgrad_results as results
    runs = results.load_runs("out/house_prices")
    print(results.speedup(runs)[["label", "workers", "mean", "low", "high"]])

A *run* is one training: a strategy at a grid point with a seed. A *row* is a strategy at a grid point: the mean over
its seeds. Times are simulated seconds unless a name says otherwise.
"""

import csv
import io
import math
from pathlib import Path

import pandas as pd

#: Columns that every file has; others depend on the experiment.
COLUMNS = {
    "runs.csv": ["id", "strategy", "label", "seed", "status", "simulated_s", "steps", "samples", "epochs",
                 "final_loss", "time_to_target_s", "speedup_throughput", "efficiency", "compute_s", "communicate_s",
                 "wait_s", "down_s", "bytes", "messages", "cost_usd", "energy_j", "workers"],
    "curves.csv": ["run", "step", "simulated_s", "samples", "loss"],
    "ranks.csv": ["run", "rank", "role", "compute_s", "communicate_s", "wait_s", "down_s"],
    "links.csv": ["run", "link", "bytes", "utilisation"],
}

#: The parts of a rank's time; the four add up to the simulated time of the run.
PARTS = ["compute_s", "communicate_s", "wait_s", "down_s"]

#: Student's t, two-sided 95 %, for 1 to 30 degrees of freedom.
#: Source: Student, "The probable error of a mean", Biometrika 6, 1908; values as tabulated in textbooks.
STUDENT_T_95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


class ResultsError(Exception):
    """Results that are missing or invalid; the message names the file and says what to do."""


def _load(directory, name):
    path = Path(directory) / name
    if not path.is_file():
        raise ResultsError(f"{path}: there is no such file; give the directory that `simgrad run --out` has written")
    # Labels and values of a grid such as "NA" or "none" are texts, not missing numbers.
    texts = ["id", "run", "strategy", "label", "status", "link", "role", "options", "error", "notes"]
    try:
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n"):
            raise ResultsError(f"{path}: not a CSV file of simgrad, or cut short: its last line has no end")
        _check_cells(path, text)
        frame = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values={}, dtype=str)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path}: not a CSV file of simgrad, or cut short: {error}") from error
    missing = [column for column in COLUMNS[name] if column not in frame.columns]
    if missing:
        raise ResultsError(f"{path}: the column {missing[0]} is missing; is it a {name} of simgrad?")
    for column in frame.columns:
        if column in texts:
            continue
        numbers = [_number(text) for text in frame[column]]  # parsed by Python: pandas' parser may differ in the last bit
        if None not in numbers:
            frame[column] = pd.Series(numbers, dtype=float)
        elif column in COLUMNS[name]:
            at = numbers.index(None)
            raise ResultsError(f"{path}:{at + 2}: {column} must be a number, found {frame[column][at]!r}")
    return frame


def _check_cells(path, text):
    """Refuses a line with more or fewer cells than the header: pandas would fill up missing cells."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows, [])
        for row in rows:
            if len(row) != len(header):
                raise ResultsError(f"{path}:{rows.line_num}: {len(row)} cells, but the header has {len(header)}; the file "
                                   "was damaged or cut short")
    except csv.Error as error:
        raise ResultsError(f"{path}:{rows.line_num}: not a CSV file of simgrad, or cut short: {error}") from error


def _number(text):
    """Returns the number in a cell, NaN for an empty cell, None for a text."""
    try:
        return float(text) if text else math.nan
    except ValueError:
        return None


def load_runs(directory):
    """Reads runs.csv: a line per run. Empty cells are NaN (a target that was not reached, a price that is not given)."""
    return _load(directory, "runs.csv")


def parameters(runs):
    """Returns the columns of the grid, such as "param.cluster.workers", in their order."""
    return [column for column in runs.columns if column.startswith("param.")]


def row_keys(runs):
    """Returns the columns that identify a row: the label and the grid point."""
    return ["label"] + parameters(runs)


def groups(frame, keys):
    """Groups the lines with equal keys: (tuple of the values of the keys, frame), in the order of their first lines."""
    for values, group in frame.groupby(keys if len(keys) > 1 else keys[0], sort=False, dropna=False):
        yield (values if isinstance(values, tuple) else (values,)), group


def _with_runs(frame, runs, path):
    columns = ["id", "strategy", "label", "seed", "status", "workers"] + parameters(runs)
    joined = frame.merge(runs[columns], left_on="run", right_on="id", how="left", validate="many_to_one")
    if joined["id"].isna().any():
        run = frame["run"][joined["id"].isna().to_numpy().argmax()]
        raise ResultsError(f"{path}: the run {run} is not in runs.csv; the files are of different experiments")
    return joined.drop(columns="id")


def _with_all_rows(frame, path):
    if "quantile" in frame.columns:
        raise ResultsError(f"{path}: has quantiles for the runs' many rows; simgrad run --all-ranks writes all of them")
    return frame


def load_curves(directory):
    """Reads curves.csv: a line per evaluation, with the label, the seed and the grid point of its run."""
    return _with_runs(_load(directory, "curves.csv"), load_runs(directory), Path(directory) / "curves.csv")


def load_ranks(directory):
    """Reads ranks.csv: a line per rank, workers and servers, with the label, the seed and the grid point of its run."""
    path = Path(directory) / "ranks.csv"
    return _with_runs(_with_all_rows(_load(directory, "ranks.csv"), path), load_runs(directory), path)


def load_links(directory):
    """Reads links.csv: a line per link and direction, with the label, the seed and the grid point of its run."""
    path = Path(directory) / "links.csv"
    return _with_runs(_with_all_rows(_load(directory, "links.csv"), path), load_runs(directory), path)


def student_t(degrees):
    """Returns the factor of a two-sided 95 % confidence interval for this number of degrees of freedom.

    Beyond 30 by the Cornish-Fisher expansion around the normal quantile (M. Abramowitz, I. Stegun, Handbook of
    mathematical functions, 1964, 26.7.5), right to the table's three digits.
    """
    if degrees < 1:
        return math.nan
    if degrees <= len(STUDENT_T_95):
        return STUDENT_T_95[int(degrees) - 1]
    z = 1.959963984540054
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def confidence_interval(values):
    """Returns the mean of the values and its 95 % interval, as (mean, low, high); NaN are left out.

    The values are taken for independent draws of a normal distribution. One value has no interval: low and high are NaN.
    """
    sample = [float(value) for value in values if not pd.isna(value)]
    if not sample:
        return math.nan, math.nan, math.nan
    mean = sample[0] + math.fsum(value - sample[0] for value in sample) / len(sample)
    if len(sample) == 1:
        return mean, math.nan, math.nan
    largest = max(abs(value - mean) for value in sample)
    if largest == 0.0 or not math.isfinite(largest):
        return mean, mean - largest, mean + largest
    # Computed relative to the largest value: the square of a diverging loss would overflow.
    variance = math.fsum(((value - mean) / largest) ** 2 for value in sample) / (len(sample) - 1)
    half = student_t(len(sample) - 1) * largest * math.sqrt(variance / len(sample))
    return mean, mean - half, mean + half


def summary(runs, column):
    """Returns a line per row: label, grid point, workers, number of seeds, and the mean of the column with its interval.

    Failed runs are left out; `seeds` counts the runs that have the number, `of` all of them, so that a mean over those
    few that reached the target can be told.
    """
    if column not in runs.columns:
        raise ResultsError(f"runs.csv has no column {column}; it has {', '.join(runs.columns)}")
    lines = []
    for keys, group in groups(runs, row_keys(runs)):
        sound = group[group["status"] != "failed"][column]
        mean, low, high = confidence_interval(sound)
        lines.append(dict(zip(row_keys(runs), keys), workers=group["workers"].iloc[0], seeds=int(sound.notna().sum()),
                          of=len(group), mean=mean, low=low, high=high))
    return pd.DataFrame(lines)


def ratio_of_times(runs, measure):
    """Returns the baseline's mean time over the runs' mean time, and the ratio's 95 % interval, as (ratio, low, high)."""
    ratios = runs["speedup_" + measure]
    if measure == "throughput":
        seen = runs["samples_seen"].fillna(runs["samples"]) if "samples_seen" in runs.columns else runs["samples"]
        times = runs["simulated_s"] / seen
    else:
        times = runs["time_to_target_s"]
    known = ratios.notna() & times.notna()
    if not known.any():
        return math.nan, math.nan, math.nan
    alone, parallel = (ratios * times)[known], times[known]
    ratio = alone.mean() / parallel.mean()
    mean, low, high = confidence_interval(alone - ratio * parallel)
    return ratio, ratio + (low - mean) / parallel.mean(), ratio + (high - mean) / parallel.mean()


def speedup(runs, measure="throughput"):
    """Returns the speed-up of every row over one worker; rows without one are left out. The column `efficiency`, or
    `efficiency_to_target`, has that speed-up / workers.

    measure: "throughput" (samples a simulated second) or "time_to_target".

    Over seeds it is the baseline's mean time over the row's mean time, as in summary.csv. The interval is by the delta
    method, from the residuals of each seed's pair of times.
    """
    if measure not in ("throughput", "time_to_target"):
        raise ResultsError(f'the measure "{measure}" is neither "throughput" nor "time_to_target"')
    rows = summary(runs, "speedup_" + measure)
    rows[["mean", "low", "high"]] = [ratio_of_times(group[group["status"] != "failed"], measure)
                                     for _, group in groups(runs, row_keys(runs))]
    rows = rows[rows["mean"].notna()].reset_index(drop=True)
    rows["efficiency" if measure == "throughput" else "efficiency_to_target"] = rows["mean"] / rows["workers"]
    return rows


def slow_down(workers, speedups):
    """Returns why Amdahl's law says nothing about these speed-ups, as a clause; empty where it may be fitted.

    By the law a speed-up is never below 1, and never falls as workers are added. Half a per cent counts as equal.
    """
    points = sorted((p, s) for p, s in zip(workers, speedups) if s > 0)
    for (before, more), (p, s) in zip(points, points[1:]):
        if 1.005 * s < more:
            return f"its speed-up falls from {more:.3g} with {before:g} worker{'' if before == 1 else 's'} to {s:.3g} with {p:g}"
    slow = next(((p, s) for p, s in points if p > 1 and 1.005 * s < 1), None)
    return f"with {slow[0]:g} workers it is slower than one worker" if slow else ""


def amdahl(workers, speedups):
    """Returns the serial share s in 1 / S(P) = s + (1 - s) / P that fits best, by least squares; NaN with one worker only.

    Source: G. Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", 1967.
    """
    points = [(1 - 1 / p, 1 / s - 1 / p) for p, s in zip(workers, speedups) if p > 1 and s > 0]
    if not points:
        return math.nan
    serial = math.fsum(x * y for x, y in points) / math.fsum(x * x for x, _ in points)
    return min(max(serial, 0.0), 1.0)


def pareto(rows, columns):
    """Returns a Boolean series: the rows that no other row dominates, with at most as much in all columns and less in one.

    Rows in which a column is NaN are on no front and dominate nothing.
    """
    values = rows[list(columns)].to_numpy(dtype=float)
    complete = ~pd.isna(values).any(axis=1)
    front = []
    for own, whole in zip(values, complete):
        beaten = ((values[complete] <= own).all(axis=1) & (values[complete] < own).any(axis=1)).any() if whole else True
        front.append(bool(whole and not beaten))
    return pd.Series(front, index=rows.index, dtype=bool)


def mean_curves(curves, column="loss"):
    """Returns the curves of every row as means over its seeds, at the steps at which all were evaluated, until the last ends.

    A seed that has ended stays where it ended; where the first seed diverges, the mean ends. Has the label and the grid
    point, step, the means of simulated_s and samples, and `mean`, `low`, `high` of the column.
    """
    if column not in curves.columns:
        raise ResultsError(f"curves.csv has no column {column}; it has {', '.join(curves.columns)}")
    keys = row_keys(curves)
    lines = []
    for row, group in groups(curves[curves["status"] != "failed"], keys):
        seeds = [_Seed(own, column) for _, own in group.groupby("run", sort=False)]
        seeds = [seed for seed in seeds if seed.at]
        for step in sorted({step for seed in seeds for step in seed.at}):
            points = [seed.point(step) for seed in seeds]
            if any(point is None for point in points):
                continue
            times, samples, values = zip(*points)
            mean, low, high = confidence_interval(values)
            lines.append(dict(zip(keys, row), step=step, simulated_s=math.fsum(times) / len(times),
                              samples=math.fsum(samples) / len(samples), mean=mean, low=low, high=high))
    return pd.DataFrame(lines, columns=keys + ["step", "simulated_s", "samples", "mean", "low", "high"])


class _Seed:
    """Returns one curve: (simulated_s, samples, value) by step; of a repeated step the last one."""

    def __init__(self, own, column):
        values = zip(own["step"], own["simulated_s"], own["samples"], own[column])
        known = [each for each in values if math.isfinite(each[3])]
        self.at = {step: rest for step, *rest in known}
        self.last = max(self.at, default=math.inf)
        self.diverges = own["status"].iloc[0] == "diverged"

    def point(self, step):
        if step > self.last and not self.diverges:
            return self.at[self.last]
        return self.at.get(step)


def value_text(value):
    """Returns a value of the grid as it stands in a legend: whole numbers have no point."""
    return str(int(value)) if isinstance(value, float) and math.isfinite(value) and value == int(value) else str(value)


def point_text(row, keys=None):
    """Returns the grid point of a row for a legend: "workers=8, latency=1ms"; empty without a grid.

    keys: the columns that are named; all of the grid's if there are none.
    """
    names = [name for name in row.index if name.startswith("param.")] if keys is None else keys
    return ", ".join(f"{name.rsplit('.', 1)[-1]}={value_text(row[name])}" for name in names)


def varied(frame):
    """Returns the grid's columns that have more than one value in the frame: only these tell its rows apart."""
    return [name for name in parameters(frame) if frame[name].nunique(dropna=False) > 1]


def _same_value(value, wanted):
    """Returns whether a value of the grid is the wanted one; numbers are compared as numbers: 1.0 is 1."""
    number, other = _number(str(value)), _number(wanted)
    if number is not None and other is not None and wanted:
        return number == other
    return str(value) == wanted


def at_point(frame, conditions):
    """Returns the lines of a frame at some grid points: conditions are texts such as "cluster.workers=8"."""
    for condition in conditions or []:
        key, equals, wanted = condition.partition("=")
        column = "param." + key.strip()
        if not equals or column not in frame.columns:
            known = ", ".join(name[len("param."):] for name in parameters(frame)) or "none"
            raise ResultsError(f"--at {condition}: expected KEY=VALUE with a key of the grid; it has: {known}")
        same = frame[column].map(lambda value: _same_value(value, wanted.strip()))
        if not same.any():
            texts = dict.fromkeys(frame[column].map(value_text))
            raise ResultsError(f"--at {condition}: the grid takes {', '.join(texts)}")
        frame = frame[same]
    return frame


def of_strategies(frame, names):
    """Returns the lines of a frame of some strategies, called by their labels or their kinds; all if no name is given."""
    for name in names or []:
        if not ((frame["label"] == name) | (frame["strategy"] == name)).any():
            raise ResultsError(f"--only {name}: no strategy is called that; known: {', '.join(dict.fromkeys(frame['label']))}")
    return frame[frame["label"].isin(names) | frame["strategy"].isin(names)] if names else frame


def selected(frame, chosen):
    """Returns the lines of a frame that the command line of a figure selects: --at and --only."""
    return of_strategies(at_point(frame, chosen.at), chosen.only)
