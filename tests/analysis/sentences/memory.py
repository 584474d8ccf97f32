"""The sentences on memory, and on runs whose numbers are those of one model and whose times are those of another."""

from sentences.facts import mean

PARTS = {"parameters": "model parameters", "gradients": "gradients", "optimizer": "optimizer state",
         "activations": "activations", "gathered": "gathered units", "buckets": "buckets", "workspace": "workspace"}
# Published numbers of parameters, and those of the models of the small runs.
PARAMETERS = {"alexnet": 61_100_840, "resnet50": 25_557_032}


def ranks_of(case):
    """The memory of each rank: bytes by part, means over the seeds, and the memory of its device."""
    runs = [run for run in case.live if run["ranks"] and all("memory_bytes" in rank for rank in run["ranks"])]
    runs = [run for run in runs if len(run["ranks"]) == len(runs[0]["ranks"])]
    return [({part: mean(run["ranks"][r][f"memory_{part}_bytes"] for run in runs) for part in PARTS},
             runs[0]["ranks"][r].get("memory_limit_bytes")) for r in range(len(runs[0]["ranks"]) if runs else 0)]


def peak(case):
    return max(sum(parts.values()) for parts, _ in ranks_of(case))


def memory(reader, experiment, chart):
    cases = [case for case in experiment.cases if ranks_of(case) and peak(case) > 0]
    peaks = {case.name: peak(case) for case in cases}
    got = reader.need("<case c> holds (?P<most>the most memory: )?<bytes b> at the peak of a rank, <percent p> of it "
                      f"(?P<part>{'|'.join(PARTS.values())})")
    case = reader.names.case(got["c"])
    reader.number("bytes", "memory", got["b"], peaks[case.name])
    reader.claim("most memory", peaks[case.name] == max(peaks.values()), f"{peaks}")
    fullest = max((parts for parts, _ in ranks_of(case)), key=lambda parts: sum(parts.values()))
    part = next(part for part, words in PARTS.items() if words == got["part"])
    reader.claim("largest part", fullest[part] == max(fullest.values()), f"{fullest}")
    reader.number("percent", "share of the memory", got["p"], fullest[part] / sum(fullest.values()))
    alike = min(peaks.values()) >= (1 - 0.005) * max(peaks.values())
    if got["most"]:
        got = reader.need(r"\. <case c> holds the least: <bytes b>")
        least = reader.names.case(got["c"])
        reader.number("bytes", "memory", got["b"], peaks[least.name])
        reader.claim("least memory", peaks[least.name] == min(peaks.values()) and not alike, f"{peaks}")
    elif reader.take(", and every other case as much, within 0.5 %"):
        reader.claim("alike", alike and len(cases) > 1, f"{peaks}")
    else:
        reader.claim("count", len(cases) == 1, f"{len(cases)} cases")
    reader.need(r"\.")
    devices(reader, cases)
    got = reader.take(r" The <whole n> largest of <whole m> different ranks are shown\.")
    shown = {len(row["ranks"]) for row in chart["rows"]}
    reader.claim("ranks shown", int(got["n"]) in shown if got else max(shown) <= 2000, f"{shown}")


def devices(reader, cases):
    """Reads whether the cases fit into their devices."""
    known = all(limit is not None for case in cases for _, limit in ranks_of(case))
    over = sum(any(sum(parts.values()) > limit for parts, limit in ranks_of(case)) for case in cases) if known else 0
    if got := reader.take(r" Cases that hold more than a device has: <whole n> of <whole m>\."):
        reader.claim("count", known and (int(got["n"]), int(got["m"])) == (over, len(cases)), f"{over}")
        reader.claim("too large", over > 0, "every case fits")
    elif got := reader.take(r" The device has <bytes b>\."):
        reader.number("bytes", "memory of the device", got["b"], max(
            ranks_of(cases[0]), key=lambda rank: sum(rank[0].values()))[1])
        reader.claim("fits", known and len(cases) == 1 and over == 0, f"{over} do not")
    elif reader.take(r" Every case fits into its devices\."):
        reader.claim("fits", known and len(cases) > 1 and over == 0, f"{over} do not")
    else:
        reader.claim("known", not known, "the memory of the devices is known")


def proxy(reader, experiment):
    """Reads whose losses and whose times the runs have. Returns whether the text is about that."""
    got = reader.take("(?:This experiment combines|<whole n> of <whole m> runs combine) two models: ")
    if not got:
        return False
    runs = experiment.results["runs"]
    proxied = [run for run in runs if any(note.endswith("(model.timed_as)") for note in run["notes"])]
    reader.claim("count", (int(got["n"]), int(got["m"])) == (len(proxied), len(runs)) if got["n"]
                 else len(proxied) == len(runs), f"{len(proxied)} of {len(runs)}")
    models(reader, experiment)
    reader.need(r"\.")
    return True


def models(reader, experiment):
    """Reads "losses are those of A with 3 parameters; times, messages and bytes are those of B with 4 parameters"."""
    got = reader.need(r"losses are those of (?P<small>\w+) with <count n> parameters; times, messages and bytes are "
                      r"those of (?P<large>\w+) with <count m> parameters \(model\.timed_as\)")
    model = experiment.scenario["model"]
    reader.claim("models", (got["small"], got["large"]) == (model["kind"], model["timed_as"]["kind"]), f"{model}")
    data = experiment.scenario["data"]
    reader.number("count", "parameters", got["n"], data["features"] + (1 if data.get("bias") else 0))  # a linear model
    reader.number("count", "parameters", got["m"], PARAMETERS[got["large"]])
