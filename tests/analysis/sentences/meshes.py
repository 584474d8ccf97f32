"""The sentence on the stages of cut models, and the rows of their chart."""

import math

from sentences.facts import mean


def cut(case):
    return [run for run in case.live if run["steps"] > 0 and run["ranks"] and "place_pipeline" in run["ranks"][0]]


def share(case, name):
    """Of the time of a rank: means over ranks and seeds; None where some rank has none of it."""
    shares = [mean(rank[name] for rank in run["ranks"]) / run["simulated_s"] for run in cut(case)
              if all(rank.get(name) is not None for rank in run["ranks"])]
    return mean(shares)


def mesh(reader, experiment, chart):
    cases = [case for case in experiment.cases if cut(case)]
    bubbles = {case.name: share(case, "bubble_s") for case in cases}
    got = reader.need("<case c> waits for other stages, which is the bubble, for <percent p> of its time")
    case = reader.names.case(got["c"])
    reader.number("percent", "bubble", got["p"], bubbles[case.name])
    reader.claim("largest bubble", bubbles[case.name] == max(bubbles.values()), f"{bubbles}")
    tensor = share(case, "tensor_s")
    got = reader.take(", and is in collectives of tensor ranks for <percent t>")
    reader.claim("tensor ranks", (got is not None) == (tensor is not None), f"{tensor}")
    if got:
        reader.number("percent", "tensor ranks", got["t"], tensor)
    data = share(case, "data_s")
    got = reader.take(", and in communication among replicas that no pass hides for <percent d>")
    reader.claim("among replicas", (got is not None) == (data is not None), f"{data}")
    if got:
        reader.number("percent", "among replicas", got["d"], data)
    if got := reader.take("; <case c> waits the least, for <percent p>"):
        least = reader.names.case(got["c"])
        reader.number("percent", "bubble", got["p"], bubbles[least.name])
        reader.claim("smallest bubble", bubbles[least.name] == min(bubbles.values()) and least != case, f"{bubbles}")
    else:
        reader.claim("alike", max(bubbles.values()) - min(bubbles.values()) < 0.011, f"{bubbles}")
    reader.need(r"\.")
    reader.claim("rows", len(chart["rows"]) == len(cases), f"{len(cases)} cases")
    among_replicas = any(rank.get("data_s") for each in cases for run in cut(each) for rank in run["ranks"])
    for row in chart["rows"]:
        stages(reader, row, experiment, among_replicas)
        picture(reader, chart["pictures"][row["picture"]], row, experiment)


def picture(reader, drawn, row, experiment):
    """The ranks that are drawn, and their places, are those of the first seed's run."""
    label = experiment.labels[row["strategy"]]
    case = next(case for case in experiment.cases if case.label == label and case.point == experiment.points[row["point"]])
    ranks = cut(case)[0]["ranks"]
    reader.claim("ranks in all", drawn["ranks_in_all"] == len(ranks), f"{drawn}")
    reader.claim("ranks drawn", len(drawn["ranks"]) == len(ranks) or len(drawn["ranks"]) <= 64 < len(ranks), f"{drawn}")
    for each in drawn["ranks"]:
        places = [ranks[each["rank"]][f"place_{dimension['name']}"] for dimension in drawn["dimensions"]]
        reader.claim("places", each["places"] == places and each["stage"] == ranks[each["rank"]]["place_pipeline"], f"{each}")


def stages(reader, row, experiment, among_replicas):
    """The causes of a stage add up to a step; the bubble, and the time among replicas, are those of its ranks."""
    label = experiment.labels[row["strategy"]]
    case = next(case for case in experiment.cases if case.label == label and case.point == experiment.points[row["point"]])
    for number, stage in enumerate(row["stages"]):
        ranks = [(rank, run) for run in cut(case) for rank in run["ranks"] if rank["place_pipeline"] == number]
        whole = mean(sum(rank[part] for part in ("compute_s", "communicate_s", "wait_s", "down_s")) / run["steps"]
                     for rank, run in ranks)
        bubble = mean(rank["bubble_s"] / run["steps"] for rank, run in ranks)
        reader.claim("causes add up", len(stage["step_s"]) == (7 if among_replicas else 6)
                     and math.isclose(sum(stage["step_s"]), whole, rel_tol=1e-6), f"{stage} {whole}")
        reader.claim("bubble of a stage", math.isclose(stage["step_s"][3], bubble, rel_tol=1e-9, abs_tol=1e-15),
                     f"{stage} {bubble}")
        if among_replicas:
            data = mean(rank.get("data_s", 0) / run["steps"] for rank, run in ranks)
            reader.claim("among replicas", math.isclose(stage["step_s"][4], data, rel_tol=1e-9, abs_tol=1e-15),
                         f"{stage} {data}")
