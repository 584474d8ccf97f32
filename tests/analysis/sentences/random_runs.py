"""Random runs: times, losses, traffic and prices that agree with each other."""

import math

BANDWIDTH = 1.25e8
ACTIVITIES = ["idle", "gradient", "update", "push", "pull", "allreduce", "crash"]
MEMORY_PARTS = ["parameters", "gradients", "optimizer", "activations", "gathered", "buckets", "workspace"]
CHANGES = {"bandwidth": "cluster.bandwidth=20Gbps", "latency": "cluster.latency=25us",
           "worker_speed": "cluster.speed=2GF",
           "stragglers": "cluster.stragglers=none", "server_speed": "cluster.server_speed=2GF"}


class Settings:
    """What all runs of an experiment share."""

    def __init__(self, dice, scenario, target):
        self.scenario, self.target = scenario, target
        self.step_s = dice.choice([0.01, 1e-5, 30.0, dice.spread(-4, 5)])
        self.samples_a_step = dice.choice([32, 100, 4096])
        self.steps = dice.choice([8, 40, 40, 1000])
        self.usd_per_h = dice.choice([None, None, 1.0, 30.0])
        self.watts = dice.choice([None, None, (100.0, 300.0)])
        self.with_links = dice.chance(0.9)
        self.failures = dice.choice([0.0, 0.0, 0.0, 0.05, 0.3, 1.0 if dice.chance(0.1) else 0.0])
        self.divergences = dice.choice([0.0, 0.0, 0.0, 0.05, 0.3, 1.0 if dice.chance(0.15) else 0.0])
        self.crashes = scenario["cluster"]["failures"]["hosts"] != "none"
        self.metric = dice.chance(0.7)
        self.timing_only = target is None and dice.chance(0.1)
        self.unreachable = dice.chance(0.15)  # the target
        self.no_step = dice.chance(0.02)
        self.fresh = dice.chance(0.1)  # no gradient is stale
        self.alone_known = dice.chance(0.7)


class CaseTraits:
    """What the seeds of a strategy at a grid point share."""

    def __init__(self, dice, settings, strategy, scenario):
        cluster = scenario["cluster"]
        self.strategy, self.scenario = strategy, scenario
        self.workers = cluster["workers"]
        self.by_chance = (cluster["jitter"] != "none" or cluster["stragglers"] != "none" or bool(cluster["background"])
                          or settings.crashes)
        serial = strategy.serial or dice.choice([0.01, 0.1, 0.5])
        self.step_s = settings.step_s * strategy.factor * (serial + (1 - serial) / self.workers)
        if strategy.serial is None and dice.chance(0.2):
            self.step_s *= self.workers ** 1.3  # more workers are slower
        self.parts = [dice.random() ** dice.choice([0.2, 1, 4]) for _ in range(3)]
        if self.workers == 1 or dice.chance(0.1):
            self.parts = [1.0, 0.0, 0.0]
        self.uneven = dice.choice([0.0, 0.0, 0.05, 0.6])
        self.load = dice.choice([0.0, 0.02, 0.3, 0.9, 1.0])  # of the links
        self.loss = dice.spread(-3, 0)
        self.gap = dice.uniform(0.01, 1) if strategy.kind == "gossip" and self.workers > 1 else None
        self.apart = dice.choice([0.0, 1e-4, 0.3])
        self.stale = dice.choice([0, 1, 3, 10])
        self.waits_for_one = self.workers > 1 and dice.chance(0.1)
        self.shared_host = dice.chance(0.1)
        self.levels = dice.chance(0.4)


def parts_of(dice, case, worker, simulated_s, down_s):
    """A worker's time by activity."""
    if case.waits_for_one and down_s == 0.0:
        compute = 0.7 * simulated_s * (1.0 if worker == 0 else 0.1)
        return [compute, 0.3 * simulated_s, 0.7 * simulated_s - compute, 0.0]
    compute, communicate, wait = case.parts
    slow = 1 + case.uneven * dice.random()
    parts = [compute * slow, communicate * (1 + case.uneven * dice.random()), wait * (1.3 - 0.6 * dice.random())]
    scale = (simulated_s - down_s) / (sum(parts) or 1.0)
    return [part * scale for part in parts] + [down_s]


def ranks_of(dice, settings, case, simulated_s):
    ranks = []
    down = dice.choice([0.0, 0.0, 0.2]) if settings.crashes else 0.0
    hosts = case.workers if case.shared_host else case.workers + case.strategy.servers
    server_load = case.load * (1.0 if case.strategy.servers else 0.7)
    for i in range(case.workers + case.strategy.servers):
        works = i < case.workers
        compute, communicate, wait, down_s = parts_of(dice, case, i, simulated_s, down * simulated_s if works else 0.0)
        if not works:
            compute, communicate, wait = simulated_s * 0.1, simulated_s * 0.3, simulated_s * 0.6
        serves = not works or not case.strategy.servers  # carries what others send, too
        load = server_load if serves else case.load / case.workers
        load *= 0.5 if case.shared_host else 1.0
        sent, received = (round(load * dice.uniform(0.8, 1) * simulated_s * BANDWIDTH) for _ in range(2))
        ranks.append({"rank": i, "role": "worker" if works else "server", "compute_s": compute,
                      "communicate_s": communicate, "wait_s": wait, "down_s": down_s, "bytes_sent": sent,
                      "bytes_received": received, "host_class": "host", "host": i % hosts})
    return ranks


def links_of(case, ranks, simulated_s):
    """One full-duplex link a host, and what its ranks sent and received."""
    links, wires = [], []
    for host in sorted({rank["host"] for rank in ranks}):
        for end, what in (("UP", "bytes_sent"), ("DOWN", "bytes_received")):
            size = sum(rank[what] for rank in ranks if rank["host"] == host)
            link = {"link": f"nic-{host}_{end}", "bytes": size, "link_class": "nic",
                    "utilisation": size / (BANDWIDTH * simulated_s) if simulated_s > 0 else 0.0}
            if case.scenario["cluster"]["background"]:
                link["background_bytes"] = 1000 if host < 2 else 0
            links.append(link)
            places = [f"host-{host}", "switch-0"]
            wires.append(dict(zip(("link", "from", "to"), [link["link"], *(places if end == "UP" else places[::-1])])))
    return links, wires


def curve_of(dice, settings, case, outcome, steps, simulated_s, final):
    """Evaluations from the first step to the last: losses fall, and level off in some."""
    length = min(steps, dice.choice([2, 5, 12, 30])) + 1
    curve = []
    for i in range(length):
        x = i / (length - 1) if length > 1 else 0.0
        step = round(steps * x)
        y = min(1.0, x / 0.6) if case.levels else x
        loss = final * (1.2 / final) ** (1 - y) if final is not None else 1.2 * 1e3 ** x
        if settings.timing_only or (outcome == "lost" and i + 1 == length):
            loss = None
        curve.append({"step": step, "simulated_s": simulated_s * step / steps if steps else 0.0,
                      "samples": step * settings.samples_a_step, "loss": loss,
                      "metric": 1 - loss / 2 if settings.metric and loss is not None else None,
                      "consensus_distance": case.apart * (1.5 - x) if case.gap is not None else None})
    if curve and final is not None and not settings.timing_only:
        curve[-1]["loss"] = final
    return curve


def outcome_of(dice, settings, case):
    """Returns the status, the last loss, and whether that loss is not finite."""
    if dice.chance(settings.failures):
        return "failed", None, "failed"
    if dice.chance(settings.divergences):
        return ("diverged", 1.2e4, "") if dice.chance(0.5) else ("diverged", None, "lost")
    if settings.target is None:
        return "stopped", case.loss * dice.uniform(0.9, 1.1), ""
    if settings.unreachable or dice.chance(case.strategy.misses):
        return "stopped", settings.target * dice.uniform(1.01, 3), ""
    return "reached", settings.target * dice.uniform(0.8, 1), ""


def bill(settings, ranks, hosts, simulated_s, reached):
    names = ["cost_usd", "cost_compute_usd", "cost_communicate_usd", "cost_wait_usd", "cost_down_usd",
             "cost_egress_usd",
             "cost_storage_usd", "cost_to_target_usd", "energy_j", "energy_idle_j", "energy_busy_j", "energy_links_j",
             "energy_overhead_j", "co2e_g"]
    of = dict.fromkeys(names)
    if settings.usd_per_h is not None:
        of["cost_usd"] = len(hosts) * settings.usd_per_h * simulated_s / 3600
        of["cost_to_target_usd"] = of["cost_usd"] if reached else None
    if settings.watts is not None:
        idle, busy = settings.watts
        of["energy_idle_j"] = idle * simulated_s * len(hosts)
        of["energy_busy_j"] = (busy - idle) * sum(host["busy_s"] for host in hosts)
        of["energy_j"] = of["energy_idle_j"] + of["energy_busy_j"]
    return of


def hosts_of(settings, ranks):
    return [{"host_class": "host", "busy_s": sum(rank["compute_s"] for rank in ranks if rank["host"] == host),
             "down_s": 0.0, "serves": all(rank["role"] != "worker" for rank in ranks if rank["host"] == host),
             "spot": False, "price_usd_per_h": None, "idle_w": None, "busy_w": None}
            for host in sorted({rank["host"] for rank in ranks})]


def mean_parts(ranks):
    workers = [rank for rank in ranks if rank["role"] == "worker"]
    return {part: sum(rank[part] for rank in workers) / len(workers)
            for part in ("compute_s", "communicate_s", "wait_s", "down_s")}


def run_of(dice, settings, case, name, point, seed):
    strategy = case.strategy
    status, final, outcome = outcome_of(dice, settings, case)
    steps = 0 if settings.no_step else max(1, round(settings.steps * strategy.work
                                                    * (dice.uniform(0.8, 1.2) if status == "reached" else 1)))
    noise = math.exp(strategy.noise * dice.gauss(0, 1)) if case.by_chance or strategy.noise == 0.4 else 1.0
    simulated_s = case.step_s * max(steps, 1) * noise
    samples = steps * settings.samples_a_step
    ranks = ranks_of(dice, settings, case, simulated_s)
    hosts = hosts_of(settings, ranks)
    links, wires = links_of(case, ranks, simulated_s) if settings.with_links and case.workers > 1 else ([], [])
    crashes = dice.randint(0, 4) if settings.crashes else None
    share = [dice.choice([0.0, 0.05, 0.3]) if crashes else 0.0 for _ in range(3)]
    counts = []
    if strategy.kind in ("hogwild", "parameter_server") and case.stale:
        counts = [[age, dice.randint(1, 400)] for age in range(dice.randint(0, 1), case.stale + 1)]
    if strategy.kind == "parameter_server" and settings.fresh and steps:
        counts = [[0, steps]]
    total = sum(count for _, count in counts)
    run = {"id": name, "strategy": strategy.kind, "label": strategy.label, "options": {}, "parameters": point,
           "seed": seed,
           "status": status, "simulated_s": simulated_s, "steps": steps, "samples": samples, "epochs": samples / 1000,
           "final_loss": None if settings.timing_only else final,
           "time_to_target_s": simulated_s if status == "reached" else None, "speedup_throughput": None,
           "speedup_time_to_target": None, "efficiency": None, **mean_parts(ranks),
           "bytes": sum(rank["bytes_sent"] for rank in ranks),
           "messages": steps * case.workers * dice.choice([1, 2, 30]),
           "staleness_mean": sum(age * count for age, count in counts) / total if counts else None,
           "staleness_max": counts[-1][0] if counts else None, "wall_s": 0.1,
           "error": "rank 3 was lost" if status == "failed" else None, "workers": case.workers,
           "metric_name": "r2" if settings.metric else None, "spectral_gap": case.gap, "crashes": crashes,
           "lost_s": simulated_s * share[0] if settings.crashes else None,
           "recovery_s": simulated_s * share[1] if settings.crashes else None,
           "checkpoint_s": simulated_s * share[2] if settings.crashes else None,
           "goodput": 1 - sum(share) if settings.crashes else None, "samples_seen": round(samples * (1 - share[0])),
           "network_model": "ideal", "notes": []}
    if "job" in settings.scenario and settings.alone_known:
        run["interference"] = dice.choice([1.0, 1.2, 3.5, 17.0]) * dice.uniform(1, 1.1)
    if counts:
        run["staleness_counts"] = counts
    none = dict.fromkeys(bill(settings, [], [], 0.0, False))
    run |= none if status == "failed" else bill(settings, ranks, hosts, simulated_s, status == "reached")
    run["curve"] = [] if status == "failed" else curve_of(dice, settings, case, outcome, steps, simulated_s, final)
    if status == "diverged" and seed != 2:  # else the file is of an older release
        of_use = sum(each["loss"] is not None and each["loss"] <= 100 for each in run["curve"])
        run["diverged_step"] = run["curve"][min(of_use, len(run["curve"]) - 1)]["step"]
    last = run["curve"][-1] if run["curve"] else {"metric": None, "consensus_distance": None}
    run |= {"final_metric": last["metric"], "consensus_distance": last["consensus_distance"], "ranks": ranks,
            "hosts": hosts,
            "stored_bytes": 0, "links": links, "wires": wires}
    if strategy.kind == "allreduce" and case.workers > 1:
        run["collectives"] = collectives(dice, case, simulated_s, steps)
    return run


def collectives(dice, case, simulated_s, steps):
    made = []
    for name in dice.sample(["ring", "tree", "recursive_halving_doubling"], dice.choice([1, 1, 2])):
        predicted_s = simulated_s / max(steps, 1) * 0.2
        late = dice.choice([0.0, 0.0, 0.001, 0.3, 2.0])
        duration_s = predicted_s * (1 + late)
        made.append({"name": name, "members": case.workers, "bytes": dice.choice([800, 4_000_000]),
                     "calls": max(steps, 1),
                     "predicted_s": predicted_s,
                     "simulated_s": predicted_s * dice.choice([1, 1, 1.3, 4, 0.7] if late else [1, 1, 1.3, 4]),
                     "skew_s": predicted_s * late,
                     "duration_s": duration_s,
                     "exposed_s": duration_s * dice.choice([1, 1, 0.999, 0.4, 0])})
    return made


def baseline(dice, settings, name, seed):
    from sentences.random_results import Strategy
    strategy = Strategy(dice, "single", "baseline", None)
    strategy.misses = 0.0
    scenario = {**settings.scenario, "cluster": {**settings.scenario["cluster"], "workers": 1, "background": []}}
    case = CaseTraits(dice, settings, strategy, scenario)
    case.step_s, case.gap = settings.step_s, None
    failures, settings.failures = settings.failures, 0.0
    crashes, settings.crashes = settings.crashes, False
    run = run_of(dice, settings, case, name, {}, seed)
    settings.failures, settings.crashes = failures, crashes
    return run


def add_memory(dice, runs):
    """Memory of all ranks at their peaks, in some experiments with devices that have enough of it or not."""
    limit = dice.choice([None, 1e9, 80e9])
    sizes = {}
    for run in runs:
        key = (run["label"], str(run["parameters"]))
        own = sizes.setdefault(key, [0.0 if dice.chance(0.3) else dice.spread(6, 9.5) for _ in MEMORY_PARTS])
        uneven = dice.chance(0.2)
        for rank in run["ranks"]:
            parts = [1000.0, *own[1:]] if uneven and rank["rank"] == 0 else own
            rank["memory_bytes"] = sum(parts)
            rank |= {f"memory_{part}_bytes": size for part, size in zip(MEMORY_PARTS, parts)}
            if limit is not None:
                rank["memory_limit_bytes"] = limit
        run["memory_bytes_max"] = max(rank["memory_bytes"] for rank in run["ranks"])


MESH_CHANGES = {"micro_batches": "parallel.micro_batches=8", "schedule": "parallel.schedule=zb_h1",
                "tensor_place": 'parallel.order=["tensor","data","pipeline"]', "recompute": "training.recompute=none"}


def add_mesh(dice, runs, tried):
    """Stages of all ranks, in some experiments with tensor ranks; changes of the mesh among those that were tried."""
    tensor = dice.choice([1, 2])
    replicas = dice.choice([1, 2])
    for run in runs:
        shares = [dice.uniform(0, 0.3), dice.uniform(0, 0.1), dice.uniform(0, 0.2), dice.uniform(0, 0.4)]
        for rank in run["ranks"]:
            of_stages = rank["wait_s"] + rank["communicate_s"]
            rank |= {"place_tensor": rank["rank"] % tensor, "place_data": rank["rank"] // tensor % replicas,
                     "place_pipeline": rank["rank"] // tensor // replicas, "bubble_s": shares[0] * of_stages, "hop_s": shares[1] * of_stages}
            if tensor > 1:
                rank["tensor_s"] = shares[2] * of_stages
            if replicas > 1:
                rank["data_s"] = shares[3] * of_stages
        if run["ranks"]:
            run["bubble_s"] = sum(rank["bubble_s"] for rank in run["ranks"]) / len(run["ranks"])
            run["bubble_share"] = run["bubble_s"] / run["simulated_s"]
    for each in tried or []:
        for change, name in zip(each["changes"], dice.sample(sorted(MESH_CHANGES), 4)):
            if [other["name"] for other in each["changes"]] != ["failures"]:
                change |= {"name": name, "sets": [MESH_CHANGES[name]]}


def add_proxy(dice, scenario, runs):
    """The numbers of one model and the times of another, in all runs or in some."""
    scenario["data"]["features"] = 10
    scenario["model"] = {"kind": "least_squares", "timed_as": {"kind": "resnet50"}}
    for run in runs if dice.chance(0.5) else runs[::2]:
        run["notes"].append("losses are those of least_squares with 10 parameters; times, messages and bytes are those "
                            "of resnet50 with 25.6 M parameters (model.timed_as)")


def rate(run):
    return run["samples_seen"] / run["simulated_s"]


def compare(runs, baselines):
    """Speed-ups, as simgrad defines them."""
    alone = {run["seed"]: run for run in baselines}
    for run in runs:
        one = alone[run["seed"]]
        if "failed" in (run["status"], one["status"]) or run["status"] == "diverged":
            continue
        if rate(run) > 0 and rate(one) > 0:
            run["speedup_throughput"] = rate(run) / rate(one)
            run["efficiency"] = run["speedup_throughput"] / run["workers"]
        if run["time_to_target_s"] and one["time_to_target_s"]:
            run["speedup_time_to_target"] = one["time_to_target_s"] / run["time_to_target_s"]


def timeline(dice, run):
    """Bars of all ranks over the beginning of a run, or over all of it."""
    names = ["rank", "lane", "kind", "name", "step", "peer", "bytes", "from_s", "to_s"]
    spans = {name: [] for name in names}
    whole = dice.chance(0.5)
    window_s = run["simulated_s"] * (1 if whole else 0.1)
    bars = dice.randint(1, 40)
    for rank in run["ranks"]:
        clock = 0.0
        for i in range(bars):
            took = (0.4 + 0.6 * dice.random()) * window_s / bars
            kind = 3 if i % 11 == 10 else dice.randint(0, 2)
            bar = [rank["rank"], 1 if dice.chance(0.05) else 0, kind, [1, 5, 0, 6][kind], i // 3, -1, 0, clock,
                   clock + took]
            for name, value in zip(names, bar):
                spans[name].append(value)
            clock += took
    workers = run["workers"]
    ranks = [rank["rank"] for rank in run["ranks"]]
    return {"schema": 1, "run": run["id"], "from_s": 0, "to_s": window_s, "whole": whole, "names": ACTIVITIES,
            "ranks": ranks,
            "rank_names": [f"rank {i} (host-{i})" if i < workers else f"server {i - workers} (host-{i})"
                           for i in ranks],
            "spans": spans, "messages": {name: [] for name in ("source", "target", "bytes", "step", "name", "start_s",
                                                               "end_s")}}


def counterfactuals(dice, runs):
    tried = []
    for run in runs:
        if run["seed"] != 1 or run["status"] == "failed" or not run["samples_seen"] or dice.chance(0.4):
            continue
        whole = dice.chance(0.5)
        steps = run["steps"] if whole else max(1, run["steps"] // 3)
        simulated_s = run["simulated_s"] * steps / run["steps"]
        samples = max(1, run["samples_seen"] * steps // run["steps"])
        changes = []
        for name in dice.sample(sorted(CHANGES), dice.randint(0, 4)):
            gain = dice.choice([1.0, 1.01, 1.019, 1.05, 1.9, dice.uniform(0.9, 3)])
            changed_s = simulated_s / gain
            changes.append({"name": name, "sets": [CHANGES[name]], "simulated_s": changed_s, "samples": samples,
                            "gain": (samples / changed_s) / (samples / simulated_s)})
        changes.sort(key=lambda change: -change["gain"])
        tried.append({"id": run["id"], "steps": steps, "whole": whole, "simulated_s": simulated_s, "samples": samples,
                      "changes": changes, "asynchronous": bool(run["staleness_mean"])})
        if dice.chance(0.3):
            tried[-1]["assumed"] = [{"name": name, "sets": ["cluster.latency=1us"], "simulated_s": simulated_s / gain,
                                     "samples": samples, "gain": (samples * gain / simulated_s) / (samples / simulated_s)}
                                    for kind in ("efficiency", "bandwidth", "latency")
                                    for name, gain in ((kind + "_worse", dice.uniform(0.9, 1.0)),
                                                       (kind + "_better", dice.uniform(1.0, 1.1)))]
    return tried
