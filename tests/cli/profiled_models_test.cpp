// Models that are known by their layers, as a user meets them: explained, in a file, and as the times of another model.
#include "catch.h"
#include "cli/scenario.h"

namespace profiled_models_test {

using namespace simgrad::tests;

namespace {

const std::string timing_only = R"([cluster]
workers = 4
[training]
numbers = false
[stop]
steps = 2
[[strategy]]
kind = "allreduce"
[model]
)";

}  // namespace

TEST_CASE("a profiled model is explained with the totals of its layers") {
  const Scratch scratch;
  CHECK(contains(
      program("explain resnet50", scratch).out,
      "\n  by default: 25.6 M parameters in 54 layers; a sample 8.18 G flop forward, 16.1 G backward; keeps "));
  CHECK_FALSE(contains(program("explain least_squares", scratch).out, "by default: "));
}

TEST_CASE("explain layers shows a scenario's layers, alike units once") {
  const Scratch scratch;
  scratch.write(
      "layers.csv",
      "name,parameters,forward_flops,backward_flops,activation_bytes\n"
      "embedding,1000,0,0,8\nblock,20,2e9,4e9,64\nblock,20,2e9,4e9,64\nblock,20,2e9,4e9,64\nhead,5,1e6,2e6,16\n");
  scratch.write("x.toml", timing_only + "kind = \"profile\"\npath = \"layers.csv\"\n");
  const Called shown = program("explain layers x.toml", scratch);
  CHECK(shown.exit_code == 0);
  CHECK(contains(shown.out,
                 "profile: 1.06 k parameters in 5 layers; a sample 6.00 G flop forward, 12.0 G backward; keeps "
                 "0 numbers and 216 B a sample\n"));
  CHECK(contains(shown.out,
                 "\nblock                             3          20      2.00 G      4.00 G           0       64 B"));
  CHECK(contains(shown.out,
                 "\nhead                              1           5      1.00 M      2.00 M           0       16 B"));
  const Called other = program("explain layers x.toml --set model.kind=alexnet --set model.path=", scratch);
  CHECK(other.exit_code == 2);  // alexnet has no path
  const Called none = program("explain layers", scratch);
  CHECK(none.exit_code == 2);
  CHECK(contains(none.err, "explain layers: shows the layers of a scenario's model; name the scenario"));
}

TEST_CASE("explain layers shows the layers of both models of a run that is timed as another one") {
  const Scratch scratch;
  scratch.write("x.toml",
                "[cluster]\nworkers = 2\n[data]\nsamples = 64\nfeatures = 4\n[stop]\nsteps = 2\n[[strategy]]\nkind = "
                "\"allreduce\"\n[model]\nkind = \"least_squares\"\ntimed_as = \"alexnet\"\n");
  const Called shown = program("explain layers x.toml", scratch);
  CHECK(shown.exit_code == 0);
  CHECK(contains(shown.out, "least_squares: 4 parameters in 1 layer;"));
  CHECK(
      contains(shown.out, "\nTimes, bytes and memory are those of the model that timed_as names:\n\nalexnet: 61.1 M "));
  CHECK_FALSE(contains(program("explain layers x.toml --set model.timed_as=itself", scratch).out, "timed_as names"));
}

TEST_CASE("explain layers says what a device's passes do for parameters beside products") {
  const Scratch scratch;
  scratch.write("x.toml", R"(
[cluster]
workers = 2
device = "h100"
[data]
samples = 100
[model]
kind = "transformer"
vocabulary = 64
experts = 2
[training]
batch_size = 8
precision = "bfloat16"
numbers = false
[stop]
steps = 1
[parallel]
tensor = 2
[[strategy]]
kind = "allreduce"
)");
  const auto shown = [&](const std::string& options) {
    return program("explain layers x.toml " + options, scratch).out;
  };
  const std::string added =
      "\nA backward pass adds the gradient of each parameter to a buffer: 8 B of the device's "
      "memory are read and written for it, within the product that makes the gradient if there is one.\n";
  CHECK(contains(shown(""), added));
  CHECK(contains(shown("--set parallel.tensor=1 --set training.gradient_precision=float32"), added));
  for (const char* const options : {"--set parallel.tensor=1", "--set training.gradient_precision=precision",
                                    "--set cluster.device=none --set cluster.speed=1TF"})
    CHECK_FALSE(contains(shown(options), "buffer"));
  CHECK_FALSE(contains(shown(""), "float8"));
  CHECK(contains(shown("--set training.precision=float8"),
                 "\nProducts by parameters are of float8 numbers, but those of bfloat16 in router, head.\n"));
}

TEST_CASE("explain origins says of each number whether it is published, assumed, measured or computed") {
  const Scratch scratch;
  scratch.write("layers.csv", "name,parameters,forward_s,backward_s\nblock,20,2e-3,4e-3\nhead,5,1e-3,2e-3\n");
  scratch.write("x.toml", timing_only + "kind = \"profile\"\npath = \"layers.csv\"\n");
  const auto origin = [&](const std::string& options, const std::string& number) {
    const std::string text = program("explain origins x.toml " + options, scratch).out;
    const std::size_t at = text.find("\n" + number + "  ");
    if (at == std::string::npos) return std::string("none");
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    return line.substr(line.rfind("  ") + 2);
  };
  CHECK(origin("", "cluster.speed") == "assumed");
  CHECK(origin("", "cluster.latency") == "assumed");
  CHECK(origin("", "parameters") == "computed");
  CHECK(origin("", "a sample's forward pass") == "measured");
  const std::string on_a100 = "--set cluster.device=a100_80gb --set cluster.topology=pod";
  CHECK(origin(on_a100, "cluster.device.float16") == "published");
  CHECK(origin(on_a100, "cluster.device.memory") == "published");
  CHECK(origin(on_a100, "cluster.device.memory_bandwidth") == "assumed");
  const std::string fitted = "fitted to MosaicML, llm-foundry: three rows of FSDP on A100 of 80 GB";
  for (const char* const share : {"efficiency", "attention_efficiency"}) {
    const std::string name = std::string("cluster.device.") + share;
    CHECK(origin(on_a100, name) == fitted);
    CHECK(origin(on_a100 + " --set cluster.device.efficiency=0.5", name) ==
          (name.ends_with("attention_efficiency") ? "none" : "assumed"));
  }
  CHECK(origin("--set 'cluster.device={ kind = \"a100_80gb\", efficiency = \"peak_product\" }'",
               "cluster.device.efficiency") == "published");
  CHECK(origin("--set cluster.device=l40s", "cluster.device.efficiency") == "assumed");
  CHECK(origin("--set cluster.device=h100", "cluster.device.float8_efficiency") ==
        "efficiency, by the largest measured products");
  CHECK(origin("--set 'cluster.device={ kind = \"h100\", float8_efficiency = 0.4 }'",
               "cluster.device.float8_efficiency") == "assumed");
  const auto passes = [&](const std::string& compression) {
    return origin(on_a100 + " --set 'strategy.allreduce.compression=" + compression + "'",
                  "strategy.allreduce.compression.encode_passes");
  };
  CHECK(passes("sign").starts_with("fitted to Microsoft, DeepSpeed with 1-bit Adam, 2020"));
  CHECK(passes("{ kind = \"sign\", encode_passes = 3 }") == "assumed");
  CHECK(passes("int8") == "assumed");
  CHECK(origin(on_a100, "cluster.topology.nvlink_bandwidth") == "assumed");
  CHECK(origin(on_a100, "cluster.speed") == "none");
  const std::string own =
      "--set 'cluster.device={ kind = \"custom\", float64 = \"1TF\", memory_bandwidth = \"1TBps\" }'";
  CHECK(origin(own, "cluster.device.float64") == "assumed");
  scratch.write("x.toml", timing_only + "kind = \"resnet50\"\n");
  CHECK(origin("", "a sample's forward pass") == "computed");
  // Times of a run that is timed as another model rest on that model's work.
  scratch.write("y.toml",
                "[cluster]\nworkers = 2\n[data]\nsamples = 64\nfeatures = 4\n[stop]\nsteps = 2\n[[strategy]]\nkind = "
                "\"allreduce\"\n[model]\nkind = \"least_squares\"\ntimed_as = \"alexnet\"\n");
  CHECK(contains(program("explain origins y.toml", scratch).out, "61.1 M  computed"));
  CHECK(
      contains(program("explain origins", scratch).err, "explain origins: shows the origins of a scenario's numbers"));
}

TEST_CASE("a table of layers with a negative number is refused at its place, and one that is not there ends with 5") {
  const Scratch scratch;
  scratch.write("layers.csv", "name,parameters,forward_s,backward_s\na,10,1,-2\n");
  scratch.write("x.toml", timing_only + "kind = \"profile\"\npath = \"layers.csv\"\n");
  const Called refused = program("validate x.toml", scratch);
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "x.toml:11:1: "));
  CHECK(contains(refused.err, "layers.csv:2:8: backward_s must be a number of at least 0, found \"-2\"\n"));
  scratch.write("x.toml", timing_only + "kind = \"profile\"\npath = \"no.csv\"\n");
  CHECK(program("validate x.toml", scratch).exit_code == 5);
}

TEST_CASE(
    "table and results tell that numbers are of one model and times of another, and the report has the scenario") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "\"least_squares\"\n", "\"least_squares\"\ntimed_as = \"alexnet\"\n"));
  const Called run = program("run x.toml --jobs 1", scratch);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Json results = results_in(scratch);
  const std::string told = "times, messages and bytes are those of alexnet with 61.1 M parameters (model.timed_as)";
  for (const Json& one : results["runs"]) {
    CHECK(contains(one["notes"].dump(), told));
    CHECK(one["final_loss"].is_number());
    CHECK(one["bytes"].get<double>() > 8.0 * 61'100'840);
  }
  CHECK(contains(contents(scratch.path() + "/out/x/report.html"), "timed_as = { kind = \\\"alexnet\\\""));
  std::string flat = run.out;
  for (char& c : flat) c = c == '\n' ? ' ' : c;
  CHECK(contains(flat, "alexnet with 61.1 M"));
}

}  // namespace profiled_models_test
