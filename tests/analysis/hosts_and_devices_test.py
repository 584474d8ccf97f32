"""No sentence counts devices as hosts, or hosts as devices.

Experiments on hosts of eight devices are run, planned, validated and kept up as a fleet, in both languages, and every text
that the program then shows is read. In these experiments no number of hosts is a number of devices.
"""

import json
import re
import subprocess
import unittest

import support

PROGRAM = support.simgrad()
DEVICES, HOSTS = {16, 24, 48}, {2, 3, 6}
A_HOST, ONE = 8, 1

SCENARIO = """
seed = 1
[cluster]
topology = { kind = "gpu_hosts", devices = 8 }
workers = 24
device = "h100"
bandwidth = "25Gbps"
latency = "10us"
[model]
kind = "transformer"
layers = 4
hidden = 512
heads = 8
sequence = 256
vocabulary = 5000
[training]
precision = "bfloat16"
batch_size_per_worker = 8
numbers = false
[stop]
steps = 3
[[strategy]]
kind = "allreduce"
[[strategy]]
kind = "fsdp"
[[strategy]]
kind = "local_sgd"
"""
PRICES = {"device": '[prices]\ndevice = "2$/h"\nidle = "100W"\nbusy = "700W"\n', "host": '[prices]\nhost = "20$/h"\n',
          "none": ""}
GRID = '[grid]\n"cluster.workers" = [16, 24]\n'
PLAN = '[plan]\nobjective = "cheapest"\ntokens = 1e9\n[plan.space]\n"cluster.workers" = [16, 24, 48]\n'
FLEET = """
[capacity]
hosts = 3
spares = [0, 1]
workers_per_host = 8
horizon = "30d"
failures = { kind = "exponential", mtbf = "300h" }
repair = { kind = "constant", time = "2h" }
detection = "10min"
restart = "20min"
checkpoint_time = "2min"
[capacity.training]
hosts = 3
tokens = 1e11
"""

# A number, and the word for what it counts; the number of devices of one host follows its own word.
COUNTS = [("hosts", r"(?<![\w.,-])(\d[\d,]*) (?:(?:spare|whole|other|busy|idle) )?(?:hosts?|servers?|machines?)\b(?! of [a-z])"),
          ("hosts", r"(?<![\w.,-])(\d[\d,]*) hosts? of \d+ \w+"),
          ("a host", r"hosts? of (\d+) \w+"),
          ("devices", r"(?<![\w.,-])(\d[\d,]*) (?:(?:whole|other|equal|busy|idle) )?(?:devices?|workers?|GPUs?)\b"),
          ("ranks", r"(?<![\w.,-])(\d[\d,]*) ranks?\b"),
          ("hosts", r"(\d[\d,]*) ?台(?:备用)?(?:主机|服务器)"),
          ("a host", r"每台(?:主机)? ?(\d+) ?"),
          ("devices", r"(\d[\d,]*) ?个(?:设备|工作节点)"),
          ("ranks", r"(\d[\d,]*) ?个 ?rank")]
ALLOWED = {"hosts": HOSTS | {ONE}, "devices": DEVICES | {ONE}, "a host": {A_HOST},
           "ranks": DEVICES | HOSTS | {ONE, A_HOST}}  # a collective may be one of a host's devices, or of one device a host


def miscounts(text):
    """The counts of a text that are of the other thing, and how many counts it has."""
    wrong, found = [], 0
    for thing, pattern in COUNTS:
        for match in re.finditer(pattern, text):
            found += 1
            if int(match[1].replace(",", "")) not in ALLOWED[thing]:
                wrong.append(f"{match[0]!r} in {text[max(0, match.start() - 60):match.end() + 60]!r}")
    return wrong, found


def texts_of(data):
    """All texts of the page's data, wherever they stand."""
    if isinstance(data, str):
        return [data]
    if isinstance(data, dict):
        data = [*data, *data.values()]
    return [text for part in data for text in texts_of(part)] if isinstance(data, list) else []


class HostsAndDevices(support.Scratch):
    def said(self, words, text):
        """What the program says, its page too, with the lines joined that a terminal breaks."""
        number = len(list(self.path.iterdir()))
        file, out = self.write(f"{number}.toml", text), self.path / f"out {number}"
        writes = words[0] in ("run", "plan", "capacity")
        done = subprocess.run([PROGRAM, *words, str(file), *(["--out", str(out)] if writes else [])], capture_output=True,
                              text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        paragraphs = re.sub(r"\n  +(?=\S)", " ", done.stdout + done.stderr)
        page = out / "report.html"
        if not page.exists():
            return [paragraphs]
        found = re.search(r"<script[^>]*id=\"?simgrad-data\"?[^>]*>(.*?)</script>", page.read_text(encoding="utf-8"), re.S)
        return [paragraphs, *texts_of(json.loads(found[1]))]

    def check(self, texts, least):
        wrong, found = [], 0
        for text in texts:
            its_wrong, its_found = miscounts(text)
            wrong, found = wrong + its_wrong, found + its_found
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(found, least, texts[0])

    def in_both_languages(self, least, command, text):
        for language in ("en", "zh"):
            with self.subTest(language=language):
                self.check(self.said([command, "--language", language], text), least)

    def test_run_and_page(self):
        for price, table in PRICES.items():
            with self.subTest(price=price):
                self.in_both_languages(3, "run", SCENARIO + table + GRID)

    def test_plan(self):
        for price in ("device", "host"):
            with self.subTest(price=price):
                self.in_both_languages(6, "plan", SCENARIO + PRICES[price] + PLAN)

    def test_capacity(self):
        one_strategy = SCENARIO[:SCENARIO.index("[[strategy]]")] + '[[strategy]]\nkind = "fsdp"\n'
        for price in ("device", "host", "none"):
            with self.subTest(price=price):
                self.in_both_languages(2, "capacity", one_strategy + PRICES[price] + FLEET)

    def test_layouts_and_validate(self):
        self.check(self.said(["validate"], SCENARIO + PRICES["host"]), 0)
        self.check(self.said(["explain", "layouts"], SCENARIO + PRICES["device"]), 1)

    def test_the_reader_itself(self):
        for text in ("Rent 24 hosts and train", "24 servers fail", "3 devices compute", "6 workers", "hosts of 24 h100",
                     "租用 24 台主机", "3 个设备"):
            self.assertNotEqual(miscounts(text)[0], [], text)
        for text in ("Rent 3 hosts of 8 h100 (24 devices)", "one worker", "租用 3 台主机，每台 8 h100（24 个设备）", "1 host"):
            self.assertEqual(miscounts(text)[0], [], text)


if __name__ == "__main__":
    unittest.main()
