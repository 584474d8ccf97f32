// `validate --resolved`: the resolved scenario, which reads back to itself, and the runs.
#include <fmt/format.h>

#include "catch.h"
#include "cli/scenario.h"

namespace validate_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string two_hosts = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="2Gf"/>
    <link id="l" bandwidth="125MBps" latency="50us"/>
    <route src="a" dst="b"><link_ctn id="l"/></route>
  </zone>
</platform>
)";

/// Every compressor as it is, and those that keep some numbers by number and by share.
std::string every_compressor() {
  std::string text = with(small, "least_squares", "perceptron");
  const auto with_compression = [&text](std::string_view label, std::string_view compression) {
    text += fmt::format("label = \"{}\"\ncompression = {}\n[[strategy]]\nkind = \"allreduce\"\n", label, compression);
  };
  for (const char* kind :
       {"none", "float64", "float32", "float16", "bfloat16", "int8", "qsgd", "sign", "top_k", "random_k", "power_sgd"})
    with_compression(kind, fmt::format("\"{}\"", kind));
  for (const char* kind : {"top_k", "random_k"})
    for (const char* option : {"k = 2", "fraction = 0.5"})
      with_compression(fmt::format("{} {}", kind, option), fmt::format("{{ kind = \"{}\", {} }}", kind, option));
  return text;
}

/// A scenario of every sort.
const std::vector<std::string> scenarios = {
    small,
    every_compressor(),
    with_strategies(all_strategies),
    with(small, "title = \"small\"", "title = \"a \\\"quoted\\\" \\\\ title, ünïcode\\n and two lines\""),
    with(
        small, "learning_rate = 0.1",
        "learning_rate = 1e-3\nbatch_size_per_worker = 10\noptimizer = { kind = \"momentum\", momentum = 0.5 }\n"
        "schedule = { kind = \"inverse_time\", decay = 0.25 }\npartition = \"contiguous\"\ncheckpoint_every_steps = 3"),
    with(small, "[data]",
         "network_model = \"ethernet\"\nframe = \"jumbo\"\nwindow = \"64KiB\"\ninitial_window = 4\nidle_time = "
         "\"1s\"\n[data]"),
    with(small, "[data]",
         "relative_speeds = [1, 0.5]\nnetwork_model = \"tcp\"\n[[cluster.failures.crash]]\nrank = 1\nat = "
         "\"1ms\"\nrepair = "
         "\"10us\"\n[cluster.watchdog]\nreal = \"90s\"\n[data]"),
    with(with(small, "source = \"house_prices\"",
              "source = \"csv\"\npath = \"d.csv\"\ntarget = \"b\"\nseparator = \";\""),
         "samples = 200\nfeatures = 5\n", "test_fraction = 0.3\n[evaluate]\non = \"test\"\nevery_s = \"1us\"\n"),
    with(small, "speed = \"1GF\"\nbandwidth = \"1Gbps\"\nlatency = \"50us\"\n",
         "platform = \"p.xml\"\n[grid]\n\"cluster.workers\" = [1, 2]\n"),
    small +
        "[grid]\n\"cluster.workers\" = [1, 2]\n\"cluster.bandwidth\" = [\"1Gbps\", \"10Gbps\"]\nseed = [3, 4]\n"
        "\"training.optimizer\" = [\"sgd\", { kind = \"momentum\", momentum = 0.5 }]\n"
        "\"strategy.allreduce.label\" = [\"a\", \"b\"]\n",
    small +
        "[grid]\n\"cluster.workers\" = [1, 2]\n[[expect]]\nmetric = \"steps\"\nequals = 10\ntolerance = 0.1\n"
        "where = { \"cluster.workers\" = 2 }\n[[expect]]\nstrategy = \"allreduce\"\nmetric = \"final_loss\"\n"
        "at_most = 0.5\nat_least = 1e-9\n",
};

/// The lines that are no comments.
std::string toml_of(const std::string& text) {
  std::string kept;
  for (const std::string& line : lines_of(text))
    if (!line.starts_with("#")) kept += line + "\n";
  return kept;
}

/// The resolved scenario of one that gives a model, steps and gossip alone.
const char* const every_default =
    R"(schema = 1
title = ""
seed = 1
save_model = false

[cluster]
workers = 4
topology = { kind = "star", devices = 1 }
speed = "10GF"
device = "none"
bandwidth = "1Gbps"
latency = "50us"
efficiency = 1.0
slow_links = []
hosts = []
network_model = "ideal"
protocol = "none"
collectives = "auto"
relative_speeds = []
stragglers = "none"
faulty = "none"
jitter = "none"
background = []
overlap_slowdown = 0.0
link_bins = 0
sharing = "processor"
charge_reductions = true
failures = { crash = [], hosts = "none", repair = "never", market = "on_demand", )"
    R"(spot = { interruption = "4h", replacement = "2min", class = "" }, links = "none", )"
    R"(link_repair = { kind = "constant", time = "1min" }, )"
    R"(detection = "100ms", restart_time = "0s", spares = 0, recovery = "restart" }
watchdog = { simulated = "10000000s", real = "1d", events = 1000000 }

[data]
source = "house_prices"
noise = 0.1
correlation = 0.5
zero_weights = 0.25
samples = 1000
features = 10
test_fraction = 0.0
standardize = true
standardize_target = true

[model]
kind = "least_squares"
bias = false
l2 = 0.0
timed_as = "itself"

[training]
batch_size = "full"
optimizer = "sgd"
learning_rate = 0.1
learning_rate_scaling = "none"
schedule = "constant"
warmup_steps = 0
partition = { kind = "iid", shares = "equal" }
desynchronise = 0.05
input = { from = "memory", cache = false, flops_per_sample = 0.0 }
precision = "float64"
wire = "precision"
gradient_precision = "framework"
numbers = true
recompute = "none"
memory = "refuse"
checkpoint_every_steps = 0
checkpoint_async = false

[parallel]
automatic = false
tensor = 1
pipeline = 1
stage_replicas = []
context = 1
expert = 1
order = ["tensor", "context", "expert", "data", "pipeline"]
schedule = "1f1b"
chunks = 1
balance = "flops"
stages = []
sequence_parallel = false
scatter_gather = false
tensor_shares = "equal"
copies = "none"
refresh_every = 1
simulate = "one_of_alike"

[stop]
steps = 1

[evaluate]
every_steps = 1
on = "train"

[prices]
hosts = []
links = []
pue = 1.0

[[strategy]]
kind = "gossip"
graph = "ring"
hosts_first = false
update = "combine_then_adapt"
mixing = "metropolis"
lazy = false
overlap = false
compression = "none"
one_peer = false
bucket_size = "none"
recovery = "cluster"

)";

}  // namespace

TEST_CASE("the output of validate with --resolved reads back to the same text and the same runs") {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Scratch scratch;
    scratch.write("x.toml", scenarios[i]);
    scratch.write("d.csv", "a;b;c\n1;2;3\n2;3;4\n3;5;7\n4;4;4\n5;1;9\n6;2;1\n");
    scratch.write("p.xml", two_hosts);
    const Called first = program("validate --resolved x.toml", scratch);
    CAPTURE(i, first.err);
    REQUIRE(first.exit_code == 0);
    for (std::size_t at = first.err.find("simgrad: "); at != std::string::npos;
         at = first.err.find("simgrad: ", at + 1))
      CHECK(first.err.substr(at).starts_with("simgrad: note: "));
    scratch.write("y.toml", first.out);
    const Called second = program("validate --resolved y.toml", scratch);
    CAPTURE(second.err);
    CHECK(second.exit_code == 0);
    CHECK(second.out == first.out);
    CHECK_FALSE(fs::exists(scratch.path() + "/out"));
  }
}

TEST_CASE("the resolved scenario has every default, and only what holds") {
  const Scratch scratch;
  scratch.write("x.toml", "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n[[strategy]]\nkind = \"gossip\"\n");
  const Called called = program("validate --resolved x.toml", scratch);
  CHECK(toml_of(called.out) == every_default);
}

TEST_CASE("the runs are listed below the scenario, with what tells them apart") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("validate --resolved x.toml --grid cluster.workers=1,2 --seeds 5", scratch);
  const auto lines = lines_of(called.out);
  REQUIRE(lines.size() > 4);
  CHECK(lines[lines.size() - 4] == "# 2 runs, 1 baseline");
  CHECK(contains(lines[lines.size() - 2], "  allreduce  cluster.workers=1  seed=5"));
  const Called dry = program("run x.toml --dry-run --grid cluster.workers=1,2 --seeds 5", scratch);
  std::string listed;
  for (std::size_t i = lines.size() - 3; i < lines.size(); ++i) listed += lines[i].substr(2) + "\n";
  CHECK(listed == dry.out);
}

TEST_CASE("results.json has the resolved scenario that validate prints with --resolved") {
  const Scratch scratch;
  scratch.write("x.toml", small + "algorithm = \"ring\"\n[grid]\n\"cluster.workers\" = [2, 3]\n");
  REQUIRE(program("run x.toml", scratch).exit_code == 0);
  const Json scenario = results_in(scratch)["scenario"];
  CHECK(scenario["cluster"]["workers"] == 2);
  CHECK(scenario["cluster"]["latency"] == "50us");
  CHECK(scenario["grid"] == Json{{"cluster.workers", {2, 3}}});
  CHECK(scenario["strategy"] == Json::array({{{"kind", "allreduce"},
                                              {"algorithm", {{"kind", "ring"}, {"slices", 1}}},
                                              {"bucket_size", "25MB"},
                                              {"compression", "none"},
                                              {"codes", "gather"},
                                              {"micro_batches", 1},
                                              {"no_sync", false},
                                              {"hosts_first", false},
                                              {"recovery", "cluster"}}}));
  const std::string text = program("validate --resolved x.toml", scratch).out;
  for (const auto& [section, options] : scenario.items())
    if (options.is_object())
      for (const auto& [key, value] : options.items()) {
        INFO(section << "." << key);
        CHECK((contains(text, "\n" + key + " = ") || contains(text, "\n\"" + key + "\" = ")));
      }
}

TEST_CASE("the id of a run depends neither on where its files lie nor on the title") {
  const auto id = [](const std::string& directory, const std::string& text) {
    const Scratch scratch;
    fs::create_directories(scratch.path() + "/" + directory);
    scratch.write(directory + "/d.csv", "a,b\n1,2\n2,3\n3,5\n4,4\n");
    scratch.write("x.toml", with(text, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                                 "source = \"csv\"\npath = \"" + directory + "/d.csv\"\n"));
    const auto lines = lines_of(program("validate --resolved x.toml", scratch).out);
    REQUIRE(lines.back().size() > 18);
    return lines.back().substr(2, 16);
  };
  const std::string plain = id("a", small);
  CHECK(id("b", small) == plain);
  CHECK(id("a", with(small, "\"small\"", "\"other\"")) == plain);
  CHECK(id("a", with(small, "kind = \"allreduce\"", "kind = \"allreduce\"\nlabel = \"mine\"")) != plain);
  CHECK(id("a", with(small, "seed = 1", "seed = 2")) != plain);
  CHECK(id("a", with(small, "50us", "51us")) != plain);
  CHECK(id("a", with(small, "allreduce", "gossip")) != plain);
}

TEST_CASE("validate reads the data files that are there, as run does") {
  const Scratch scratch;
  scratch.write("d.csv", "a,b\n1,2\n2,3\n3,x\n4,4\n5,5\n");
  const std::string text =
      with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n", "source = \"csv\"\npath = \"d.csv\"\n");
  scratch.write("x.toml", text);
  for (const char* command : {"validate x.toml", "validate x.toml --data", "run x.toml"}) {
    const Called called = program(command, scratch);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "d.csv:4:"));
  }
  scratch.write("d.csv", "a,b\n1,2\n2,3\n3,3\n4,4\n5,5\n");
  // A graph that has no form of that many workers is refused before anything draws it.
  scratch.write("x.toml",
                with(with(text, "allreduce\"", "gossip\"\ngraph = \"hypercube\""), "workers = 4", "workers = 3"));
  for (const char* command : {"validate x.toml", "run x.toml"}) {
    const Called called = program(command, scratch);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "a hypercube has 2^k ranks, but there are 3 workers"));
  }
}

TEST_CASE("the last seed of all is a seed") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  CHECK(program("validate x.toml --seeds 18446744073709551615..18446744073709551615", scratch).exit_code == 0);
}

TEST_CASE("a platform whose links have no finite bandwidth is refused, and so is one without routes") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "workers = 4\nspeed = \"1GF\"\nbandwidth = \"1Gbps\"\nlatency = \"50us\"\n",
                               "workers = 2\nplatform = \"p.xml\"\n"));
  scratch.write("p.xml", with(two_hosts, "125MBps", "inf"));
  CHECK(contains(program("validate x.toml", scratch).err,
                 "link \"l\" has a bandwidth of inf B/s; expected a finite one above 0"));
  scratch.write("p.xml", with(two_hosts, "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route>", ""));
  const Called called = program("validate x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "route"));
  CHECK_FALSE(contains(called.err, "Segmentation"));
}

TEST_CASE("a standard error that takes nothing loses no result") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* lost : {"2>/dev/full", "2>&-"}) {
    CAPTURE(lost);
    fs::remove_all(scratch.path() + "/out");
    CHECK(program(std::string("run x.toml --out out ") + lost, scratch).exit_code == 0);
    CHECK(fs::exists(scratch.path() + "/out/results.json"));
  }
}

TEST_CASE("a label's control characters do not reach the terminal") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "kind = \"allreduce\"", "kind = \"allreduce\"\nlabel = \"a\\u001b[31mred\""));
  for (const char* command :
       {"validate x.toml", "validate x.toml --resolved", "run x.toml --dry-run", "run x.toml --events", "run x.toml"}) {
    INFO(command);
    const Called called = program(command, scratch);
    CHECK(called.exit_code == 0);
    CHECK(called.out.find('\x1b') == std::string::npos);
    CHECK(called.err.find('\x1b') == std::string::npos);
    CHECK(contains(called.out, "[31mred"));
  }
}

TEST_CASE("a simulation that no machine's memory holds is refused before it starts") {
  const Scratch scratch;
  const std::string large = with(small, "samples = 200\nfeatures = 5\n", "samples = 400000\nfeatures = 50\n");
  const std::string broadcast = with(large, "kind = \"allreduce\"", "kind = \"async_broadcast\"");
  scratch.write("x.toml", with(broadcast, "workers = 4", "workers = 131072"));
  const std::string err = program("validate x.toml", scratch).err;
  // 16,384 P + 1,024 P (P - 1)
  CHECK(contains(err,
                 "async_broadcast with 131072 workers takes some 17.59TB of memory (131072 actors, "
                 "17179738112 pairs of ranks that exchange messages), but "));
  CHECK(contains(err, " are available; take at most "));
  scratch.write("x.toml", with(broadcast, "workers = 4", "workers = 300"));
  CHECK(program("validate x.toml", scratch).err.empty());
}

}  // namespace validate_test
