"""Cost (or energy) against time, per strategy and grid point, with the Pareto front: no other row is better in both.

    python3 analysis/plot_pareto.py out/cheapest_for_a_deadline
"""

import sys

import figures
import simgrad_results as results

NAMES = {"cost_usd": "cost [$]", "cost_to_target_usd": "cost to the target [$]", "energy_j": "energy [J]"}


def best_strategies(rows, front, of):
    """Returns the labels that are shown: those with rows on the front before the others, the lowest price first."""
    labels = list(dict.fromkeys(rows["label"]))
    lowest = rows.groupby("label")["price"].min()
    on_front = set(front["label"])
    ranked = sorted(labels, key=lambda label: (label not in on_front, lowest[label]))
    shown = figures.best(labels, [ranked.index(label) for label in labels], f"the Pareto front, then {of}",
                         rest="are grey")
    return [labels[place] for place in shown]


def draw(chosen):
    runs = results.selected(results.load_runs(chosen.directory), chosen)
    reached = runs["time_to_target_s"].notna().any()
    time = "time_to_target_s" if reached else "simulated_s"
    rows = results.summary(runs, time).rename(columns={"mean": "time_s"})
    rows["price"] = results.summary(runs, chosen.of)["mean"]
    rows = rows[(rows["seeds"] == rows["of"]) & rows["price"].notna()]  # without rows that miss the target with some seed
    if rows.empty:
        raise results.ResultsError(f"{chosen.directory}/runs.csv: no run has a {chosen.of}; give the scenario [prices]")
    front = rows[results.pareto(rows, ["time_s", "price"])].sort_values("time_s")
    unit, scale = figures.time_unit(rows["time_s"].max())
    figure, axes = figures.plt.subplots()
    axes.plot(front["time_s"] / scale, front["price"], color="0.5", linewidth=1, drawstyle="steps-post", zorder=1,
              label="Pareto front")
    shown = best_strategies(rows, front, chosen.of)
    rest = rows[~rows["label"].isin(shown)]
    axes.scatter(rest["time_s"] / scale, rest["price"], color="0.75", marker=".", zorder=1.5)
    handles, labels, varied = [], [], results.varied(rows)
    for number, label in enumerate(shown):
        own = rows[rows["label"] == label]
        style = figures.style(number)
        handles.append(axes.scatter(own["time_s"] / scale, own["price"], color=style["color"], marker=style["marker"],
                                    label=figures.label(label), zorder=2))
        labels += [(row["time_s"] / scale, row["price"], figures.label(results.point_text(row, varied)))
                   for _, row in own.iterrows() if varied]
    axes.set_xlabel(("time to the target" if reached else "simulated time") + f" [{unit}]")
    axes.set_ylabel(NAMES.get(chosen.of, chosen.of))
    axes.margins(0.12)
    figures.legend(axes, handles)
    end = front.iloc[-1]
    figures.annotate_apart(axes, [(end["time_s"] / scale, end["price"], "Pareto front")] + labels)
    return figure


def arguments():
    parser = figures.arguments(__doc__.splitlines()[0], "pareto")
    parser.add_argument("--of", metavar="COLUMN", default="cost_usd",
                        help="a column of runs.csv: cost_usd, cost_to_target_usd, energy_j, co2e_g, bytes, ...")
    return parser


if __name__ == "__main__":
    sys.exit(figures.run(draw, arguments()))
