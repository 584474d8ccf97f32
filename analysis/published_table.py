#!/usr/bin/env python3
"""Published measurements beside simulated ones: the tables of docs/published.md and docs/published.zh.md, from the scenarios
of scenarios/published.

    python3 analysis/published_table.py > docs/published.md
    python3 analysis/published_table.py --language zh > docs/published.zh.md
    python3 analysis/published_table.py --fit vtrain_a100

Each [[expect]] of such a scenario has a published number, and a comment that names it: `# fitted: NAME` where the number
decided about an option of the scenario, or `# predicted: NAME`. --fit gives the fitted rows to `simgrad calibrate --runs`
and prints the options that it finds. Needs Python 3.11 or later.
"""

import argparse
import csv
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "scenarios" / "published"

@dataclass
class Words:
    """The texts of a page."""

    head: str
    reasons: str  #: where errors come from, by scenario
    summary: str  #: the columns of the first table
    both: str
    rows: str  #: the columns of the second table
    fitted: str
    predicted: str
    images: str  #: samples a second
    sequences: str  #: of a language model


ENGLISH = Words(
    head="""# Published and simulated

[中文](published.zh.md)

Measurements that others have published, beside what simgrad computes for the same clusters. A scenario of
[scenarios/published](../scenarios/published) says which of its numbers are measured, fitted, assumed and computed;
`build/simgrad check scenarios/published/*.toml` tests all rows of this page. `python3 analysis/published_table.py` makes
the page.

A *fitted* row decided about an option of the scenario, such as the efficiency of a device: its error says how well the
formula describes the measurements. A *predicted* row had no part in that: its error is one of a prediction.

{summary}

{reasons}

{rows}
""",
    reasons="""* `zero_bubble`, `zero_bubble_interleaved`: the published bubbles were computed by the authors from the times that they
  measured. Those of 1F1B and ZB-H1 come out to the last printed digit. A step of `zb_h2` is the mean of twenty, of which
  the first one takes longer. For interleaved stages the authors' calculation leaves out some hops, so that its bubbles are
  smaller by 2 to 4 % of themselves.
* `korthikanti`: the GPU's efficiency, as a curve over the size of a product, is fitted to the models of 22 and 175 billion
  parameters; NVLink is as on the data sheet. The model of 530 billion is predicted within 3 %, that of a trillion 5 to 6 %
  too slow. Memory, with gradients of 4 bytes as in Megatron-LM, is at most 1 % too large. The published states are those of blocks;
  those of the embedding, on the first stage, are added by the same 18 bytes a parameter.
* `mpt_a100`, `mpt_h100`: the devices of the catalogue as they are. Two numbers of each,
  the efficiencies of large products and of attention, are fitted to three rows. The largest errors of the
  H100 are those of micro-batches of two sequences, in which products are small and starting kernels may count.
* `mpt_h100_float8`: the same H100, with nothing fitted to steps in float8. All steps are too fast, the longest sequences' in
  float8 the most. Tokens a second and GPU in float8 over those in bfloat16 are 1.00 to 1.35 as published, and 1.06 to 1.37
  as simulated: for six of the seven pairs within 6 %, and 9 % too many for 3B with recomputation.
* `onebit_adam`: the bandwidth of PCI Express is fitted to Adam on one host, and the passes over memory in which signs are
  encoded to 1-bit Adam on 8 to 32 GPUs over InfiniBand; the efficiency of the V100 comes from the row of one GPU over
  InfiniBand. All rows over TCP are predicted. Adam's steps on 32 GPUs were longer than those of a ring whose NICs give
  their whole bandwidth, by a fifth over InfiniBand and two fifths over TCP, and 1-bit Adam took longer on one host than on
  two, for reasons that the table does not tell.
* `tensorflow_k80`: pushes are hidden behind the backward pass, and the pulls, which begin once all parameters are updated,
  are not. On 16 GPUs the published steps of ResNet-50 are at most 0.7 % longer than on one host, so that these pulls were
  partly hidden there, too. On 32 and 64 GPUs at a batch of 64 they are 4 to 5 % longer than simulated, which the table does
  not explain (workers of unlike speed would do it).
* `vtrain_a100`: every other row of the table is fitted. Seven rows are off by more than 20 %, all but the first of them
  too fast:
  3.6B, 16 tensor x 4 data x 1 pipeline, micro-batches of 2;
  3.6B, 8 tensor x 8 data x 1 pipeline, micro-batches of 64;
  3.6B, 8 tensor x 8 data x 1 pipeline, micro-batches of 2;
  3.6B, 4 tensor x 16 data x 1 pipeline, micro-batches of 2;
  39.1B, 2 tensor x 32 data x 8 pipeline, micro-batches of 2;
  39.1B, 2 tensor x 16 data x 16 pipeline, micro-batches of 3;
  39.1B, 2 tensor x 16 data x 16 pipeline, micro-batches of 6.
  The second of them took nearly twice as long as the row with micro-batches of 16 beside it, for reasons that the table
  does not tell.
* `deepbench_pcie`, `deepbench_pcie_m40`, `deepbench_pcie_p100`, `deepbench_infiniband`, `deepbench_infiniband_m40`: two
  numbers of each system (one of the P100, which has one size) are fitted to the rows of the fewest GPUs, and predict the
  others with a median error below 3 % and at most 11 %. A ring has one bandwidth and one latency for all sizes: over
  InfiniBand the rows of 3 to 7 million floats are off the most, and within a host those of 100,000.
* `deepbench_knl`: a table of latencies and bandwidths by the size of a message describes the rows; why the longest messages
  are slower than those of a few megabytes is not modelled.""",
    summary="| scenario | fitted rows | predicted rows | median error | worst error |",
    both="Both errors are those of the predicted rows (of the fitted ones where no row is predicted), simulated / published - 1;\n"
         "for a bubble the difference simulated - published, in percentage points.",
    rows="| scenario | row | published | simulated | error | |", fitted="fitted", predicted="predicted", images="images/s",
    sequences="sequences/s")

CHINESE = Words(
    head="""# 公布的与模拟的

[English](published.md)

这里把他人公布的测量结果，与 simgrad 对同样的集群算出的结果放在一起。[scenarios/published](../scenarios/published) 里的每个场景都说明，其中哪些数是测量的、拟合的、假设的、计算的；`build/simgrad check scenarios/published/*.toml` 检验本页的所有行。本页由 `python3 analysis/published_table.py --language zh` 生成。

*拟合*的行用来确定场景的某个选项，例如设备的效率：其误差表明公式描述测量结果有多好。*预测*的行没有参与拟合：其误差是预测的误差。行名是场景文件里的注释。

{summary}

{reasons}

{rows}
""",
    reasons="""* `zero_bubble`、`zero_bubble_interleaved`：公布的气泡是作者由自己测得的时间算出的。1F1B 和 ZB-H1 的气泡算到最后一位印出的数字都相同。`zb_h2` 的一步是二十步的平均，其中第一步较长。对交错的阶段，作者的计算略去了一些跳，因此其气泡小 2 % 到 4 %（相对值）。
* `korthikanti`：GPU 的效率是乘积大小的一条曲线，拟合到 220 亿和 1750 亿参数的模型；NVLink 取数据手册上的值。5300 亿参数的模型预测误差在 3 % 以内，一万亿参数的模型预测得慢 5 % 到 6 %。内存最多偏大 1 %，梯度与 Megatron-LM 一样有 4 字节；公布的状态只算各个块，第一个阶段的词嵌入按同样的每参数 18 字节加上。
* `mpt_a100`、`mpt_h100`：设备取目录里的数，不作改动。每种设备有两个数（大乘积的效率和注意力的效率）拟合到三行。H100 误差最大的是微批次只有两个序列的行，那里乘积很小，核函数的启动可能起作用。
* `mpt_h100_float8`：同样的 H100，没有任何数拟合到 float8 的步。模拟的步都太快，float8 中序列最长的偏得最多。float8 与 bfloat16 的每 GPU 每秒词元数之比，公布的是 1.00 到 1.35，模拟的是 1.06 到 1.37：七对中有六对相差 6 % 以内，带重计算的 3B 多 9 %。
* `onebit_adam`：PCI Express 的带宽拟合到一台主机上的 Adam，符号编码经过内存的遍数拟合到 InfiniBand 上 8 到 32 个 GPU 的 1-bit Adam；V100 的效率来自 InfiniBand 上单个 GPU 的行。TCP 的所有行都是预测的。在 32 个 GPU 上，Adam 的一步比网卡给足带宽的环更长，InfiniBand 上长五分之一，TCP 上长五分之二；1-bit Adam 在一台主机上的一步比在两台上更长；原因在表中都看不出来。
* `tensorflow_k80`：推送被反向传播掩盖；拉取要等全部参数更新之后才开始，没有被掩盖。在 16 个 GPU 上，公布的 ResNet-50 的一步最多比单台主机长 0.7 %，可见那里的拉取也有一部分被掩盖；批量为 64 时，在 32 和 64 个 GPU 上的一步比模拟的长 4 % 到 5 %，表中看不出原因（各节点速度不同就会这样）。
* `vtrain_a100`：表中每隔一行用于拟合。有七行的误差超过 20 %，除第一行外模拟的都太快：3.6B, 16 tensor x 4 data x 1 pipeline, micro-batches of 2；3.6B, 8 tensor x 8 data x 1 pipeline, micro-batches of 64；3.6B, 8 tensor x 8 data x 1 pipeline, micro-batches of 2；3.6B, 4 tensor x 16 data x 1 pipeline, micro-batches of 2；39.1B, 2 tensor x 32 data x 8 pipeline, micro-batches of 2；39.1B, 2 tensor x 16 data x 16 pipeline, micro-batches of 3；39.1B, 2 tensor x 16 data x 16 pipeline, micro-batches of 6。其中第二行用的时间几乎是旁边微批次为 16 的那一行的两倍，原因在表中看不出来。
* `deepbench_pcie`、`deepbench_pcie_m40`、`deepbench_pcie_p100`、`deepbench_infiniband`、`deepbench_infiniband_m40`：每个系统有两个数（P100 只有一种大小，只有一个数）拟合到 GPU 最少的那些行，其余的行由此预测，误差的中位数低于 3 %，最大不超过 11 %。环对所有大小只有一个带宽和一个延迟：在 InfiniBand 上，3 百万到 7 百万个浮点数的行偏差最大，在一台主机内则是 100,000 个浮点数的行。
* `deepbench_knl`：一张按消息大小给出延迟和带宽的表描述这些行；最长的消息为什么比几兆字节的消息慢，没有模拟。""",
    summary="| 场景 | 拟合的行 | 预测的行 | 误差的中位数 | 最大误差 |",
    both="两个误差都是预测的行的误差（没有预测的行时，是拟合的行的误差）：模拟值 / 公布值 - 1；对气泡是差值：模拟值 - 公布值，以百分点计。",
    rows="| 场景 | 行 | 公布的 | 模拟的 | 误差 | |", fitted="拟合", predicted="预测", images="张图像/s", sequences="个序列/s")

LANGUAGES = {"en": ENGLISH, "zh": CHINESE}


@dataclass
class Fit:
    """A fit of options to rows: simgrad calibrate SCENARIO (options) --fit KEY ..."""

    keys: list
    options: list
    columns: dict  #: the grid's keys of the rows
    where: dict  #: the rows, by their place in the grid
    strategy: str = ""  #: the rows' label, where a scenario has several


#: What rows of MPT differ in.
MPT = ("model.layers", "model.hidden", "model.heads", "model.sequence", "cluster.workers", "training.batch_size",
       "strategy.fsdp.micro_batches", "training.recompute")

#: A run of onebit_adam over InfiniBand.
OVER_INFINIBAND = ["--set", "cluster.bandwidth=32Gbps", "--set", "cluster.latency=5us"]

#: The fits of each scenario. --set takes keys out of the grid, for `calibrate` wants one run.
FITS = {
    "vtrain_a100": [
        Fit(["cluster.device.efficiency", "cluster.device.half_size", "cluster.device.launch"], ["--tolerance", "0.03"],
            {key.rpartition(".")[2]: key for key in (
                "model.layers", "model.hidden", "model.heads", "cluster.workers", "training.batch_size", "parallel.tensor",
                "parallel.pipeline", "parallel.micro_batches", "cluster.bandwidth")}, {})],
    "korthikanti": [
        Fit(["cluster.device.efficiency", "cluster.device.half_size"], [],
            {key.rpartition(".")[2]: key for key in (
                "model.layers", "model.hidden", "model.heads", "cluster.workers", "parallel.pipeline", "parallel.schedule",
                "parallel.chunks", "parallel.micro_batches", "training.batch_size", "training.recompute",
                "parallel.sequence_parallel")}, {})],
    "mpt_a100": [
        Fit(["cluster.device.efficiency", "cluster.device.attention_efficiency"],
            ["--set", 'cluster.device={ kind = "a100_80gb", efficiency = 0.6, half_size = 130, attention_efficiency = 0.4 }'],
            {key.rpartition(".")[2]: key for key in MPT}, {})],
    "mpt_h100": [
        Fit(["cluster.device.efficiency", "cluster.device.attention_efficiency"],
            ["--set", 'cluster.device={ kind = "h100", efficiency = 0.5, half_size = 251, attention_efficiency = 0.2 }'],
            {key.rpartition(".")[2]: key for key in MPT}, {})],
    "onebit_adam": [
        Fit(["cluster.topology.nvlink_bandwidth"], [*OVER_INFINIBAND, "--set", "cluster.workers=4"], {},
            {"cluster.workers": 4}, "adam"),
        Fit(["strategy.1.compression.encode_passes"], OVER_INFINIBAND, {"workers": "cluster.workers"}, {}, "onebit")],
    "tensorflow_k80": [
        Fit(["cluster.device.efficiency"],
            ["--set", f"model.kind={kind}", "--set", f"training.batch_size_per_worker={batch}", "--set", "cluster.workers=1",
             "--set", "strategy.servers.servers=1", "--set", "cluster.device.efficiency=0.5"], {},
            {"model.kind": kind, "training.batch_size_per_worker": batch})
        for kind, batch in (("inception_v3", 512), ("resnet50", 512), ("resnet152", 256), ("inception_v3", 256),
                            ("resnet50", 256))],
    **{f"deepbench_pcie{gpu}": [
        Fit(keys, ["--set", "cluster.workers=2", "--set", "data.features=64500000"],
            {"ranks": "cluster.workers", "floats": "data.features"}, {})]
       for gpu, keys in (("", ["cluster.bandwidth", "training.input.latency"]),
                         ("_m40", ["cluster.bandwidth", "training.input.latency"]), ("_p100", ["cluster.bandwidth"]))},
    **{f"deepbench_infiniband{gpu}": [
        Fit(["cluster.bandwidth", "cluster.latency"],
            ["--set", "cluster.workers=16", "--set", "data.features=100000"],
            {"ranks": "cluster.workers", "floats": "data.features"}, {})]
       for gpu in ("", "_m40")},
}


#: Scenarios whose allreduces are fitted as messages: simgrad calibrate --network --protocol, by the collective.
NETWORK_FITS = {"deepbench_knl": "rabenseifner"}


class PublishedError(Exception):
    """A scenario or a result that does not have what the table needs."""


@dataclass
class Row:
    """A published number, and the simulated one once it is known."""

    scenario: str
    name: str
    fitted: bool
    metric: str
    strategy: str
    where: dict
    published: float
    tolerance: float
    simulated: float = 0.0
    compute_s: float = 0.0  #: the simulated run's, of an average rank

    @property
    def is_bubble(self):
        """Whether the time stands for the share of a step that a stage waits."""
        return self.name.startswith("bubble ")

    def bubble(self, time_s):
        return 1.0 - self.compute_s / time_s

    @property
    def error(self):
        """Relative; of a bubble the difference, which is a share itself."""
        if self.is_bubble:
            return self.bubble(self.simulated) - self.bubble(self.published)
        return self.simulated / self.published - 1.0


def rows_of(path):
    """The published numbers of a scenario, in their order, with the names that their comments give them."""
    text = path.read_text(encoding="utf-8")
    comments = re.findall(r"^\[\[expect\]\](.*)$", text, re.MULTILINE)
    expects = tomllib.loads(text).get("expect", [])
    rows = []
    for comment, expect in zip(comments, expects):
        named = re.fullmatch(r" +# (fitted|predicted): (.+)", comment)
        if not named or "equals" not in expect:
            raise PublishedError(f"{path}: [[expect]]{comment}: expected '# fitted: NAME' or '# predicted: NAME', and equals")
        rows.append(Row(path.stem, named[2], named[1] == "fitted", expect["metric"], expect.get("strategy", ""),
                        expect.get("where", {}), expect["equals"], expect["tolerance"]))
    if not rows:
        raise PublishedError(f"{path}: expected [[expect]] with published numbers, found none")
    return rows


def call(words):
    called = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if called.returncode != 0:
        raise PublishedError(called.stderr.strip() or f"{words[0]} ended with {called.returncode}")
    return called.stdout


def is_value(cell, value):
    """Whether a cell of runs.csv is this value of TOML."""
    if isinstance(value, bool):
        return cell == str(value).lower()
    return cell == value if isinstance(value, str) else float(cell) == value


def rows_of_runs(path, folder):
    """The rows of a scenario with their simulated numbers, from the results in that folder."""
    rows = rows_of(path)
    with open(Path(folder) / "runs.csv", encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    for row in rows:
        found = [run for run in runs if row.strategy in ("", run["label"])
                 and all(is_value(run[f"param.{key}"], value) for key, value in row.where.items())]
        if len(found) != 1:
            raise PublishedError(f"{path}: {row.name}: expected one run, found {len(found)}")
        row.simulated, row.compute_s = float(found[0][row.metric]), float(found[0]["compute_s"])
    return rows


def simulated_rows(program, path):
    """The rows of a scenario with their simulated numbers."""
    with tempfile.TemporaryDirectory(prefix="simgrad-published-") as out:
        call([program, "run", path, "--no-baseline", "--no-why", "--quiet", "--out", out])
        return rows_of_runs(path, out)


def number(row, value, words):
    if row.is_bubble:
        return f"{row.bubble(value):.2%}"
    if row.metric == "memory_bytes_max":
        return f"{value / 2 ** 30:.2f} GiB"
    if row.metric == "samples_per_s":
        return f"{value:.0f} {words.sequences if row.scenario == 'onebit_adam' else words.images}"
    return f"{value:#.4g} s" if value >= 1.0 else f"{1e3 * value:#.4g} ms"


def summary(by_scenario, words):
    lines = [words.summary, "|---|---|---|---|---|"]
    for name, rows in by_scenario.items():
        predicted = [row.error for row in rows if not row.fitted]
        errors = predicted or [row.error for row in rows]
        median = statistics.median(abs(error) for error in errors)
        lines.append(f"| [{name}](../scenarios/published/{name}.toml) | {len(rows) - len(predicted)} | {len(predicted)} | "
                     f"{median:.1%} | {max(errors, key=abs):+.1%} |")
    return "\n".join(lines) + "\n\n" + words.both


def page(by_scenario, words=ENGLISH):
    lines = [words.rows, "|---|---|---|---|---|---|"]
    for name, rows in by_scenario.items():
        lines += [f"| {name} | {row.name} | {number(row, row.published, words)} | {number(row, row.simulated, words)} | "
                  f"{row.error:+.1%} | {words.fitted if row.fitted else words.predicted} |" for row in rows]
    return words.head.format(summary=summary(by_scenario, words), reasons=words.reasons, rows="\n".join(lines))


def seconds_of_a_step(row, text):
    """The time of a step that the row says was measured."""
    if row.metric == "samples_per_s":
        batch = row.where.get("training.batch_size_per_worker", text["training"].get("batch_size_per_worker"))
        return row.where["cluster.workers"] * batch / row.published
    return row.published / text["stop"]["steps"]


def toml_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def point_of(row, text):
    """The row's grid point: the entry of each of the grid's zipped lists that has its values, and its own values."""
    point = dict(row.where)
    zips = text.get("grid", {}).get("zip", [])
    for lists in zips:
        entries = [dict(zip(lists, values)) for values in zip(*lists.values())]
        point |= next(entry for entry in entries if all(row.where.get(key, value) == value for key, value in entry.items()))
    return point


def grid_keys_of(fit, text):
    """Options that take the columns' keys out of a grid's zipped lists, with the first values of these."""
    zips = text.get("grid", {}).get("zip", [])
    return [word for lists in zips for key, values in lists.items() if key in fit.columns.values()
            for word in ("--set", f"{key}={toml_text(values[0])}")]


def fitted_network(program, path, collective):
    """What calibrate --network prints for the allreduces that the scenario calls fitted."""
    lines = ["bytes,seconds,collective,workers"]
    lines += [f"{4 * row.where['data.features']},{row.published!r},{collective},{row.where['cluster.workers']}"
              for row in rows_of(path) if row.fitted]
    with tempfile.TemporaryDirectory(prefix="simgrad-published-") as folder:
        table = Path(folder) / "measured.csv"
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return call([program, "calibrate", "--network", table, "--protocol"])


def with_what_it_extends(path):
    """A scenario's tables, each with the keys of those that it extends."""
    text = tomllib.loads(path.read_text(encoding="utf-8"))
    if "extends" not in text:
        return text
    base = with_what_it_extends(path.parent / text["extends"])
    tables = {key: base[key] | table for key, table in text.items() if isinstance(table, dict) and key in base}
    return base | text | tables


def fitted_options(program, name):
    """What calibrate prints for each fit of a scenario, from the rows that the scenario calls fitted."""
    path = FOLDER / f"{name}.toml"
    if name in NETWORK_FITS:
        return [fitted_network(program, path, NETWORK_FITS[name])]
    text = with_what_it_extends(path)
    printed = []
    for fit in FITS[name]:
        rows = [row for row in rows_of(path) if row.fitted and fit.where.items() <= row.where.items()
                and fit.strategy in ("", row.strategy)]
        points = [point_of(row, text) for row in rows]
        taken_out = grid_keys_of(fit, text)
        with tempfile.TemporaryDirectory(prefix="simgrad-published-") as folder:
            table = Path(folder) / "measured.csv"
            lines = [",".join(["step_s", *fit.columns])]
            lines += [",".join([repr(seconds_of_a_step(row, text)), *(toml_text(point[key]) for key in fit.columns.values())])
                      for row, point in zip(rows, points)]
            table.write_text("\n".join(lines) + "\n", encoding="utf-8")
            columns = [word for column, key in fit.columns.items() for word in ("--column", f"{column}={key}")]
            keys = [word for key in fit.keys for word in ("--fit", key)]
            keys += ["--strategy", fit.strategy] if fit.strategy else []
            printed.append(call([program, "calibrate", path, "--no-baseline", *fit.options, *taken_out, "--runs", table, *columns, *keys,
                                 "--folds", "0"]))
    return printed


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build" / "simgrad", help="default: build/simgrad")
    parser.add_argument("--fit", metavar="SCENARIO", choices=sorted([*FITS, *NETWORK_FITS]), help="prints the options that the fitted rows give")
    parser.add_argument("--language", choices=sorted(LANGUAGES), default="en", help="of the page; default: en")
    chosen = parser.parse_args(words)
    try:
        if chosen.fit:
            print("\n".join(fitted_options(chosen.program, chosen.fit)), end="")
        else:
            paths = sorted(FOLDER.glob("*.toml"))
            print(page({path.stem: simulated_rows(chosen.program, path) for path in paths},
                       LANGUAGES[chosen.language]), end="")
    except (PublishedError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
