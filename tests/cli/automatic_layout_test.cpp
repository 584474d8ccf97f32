// [parallel] automatic: predicted steps are the simulated ones, and what is found is the fastest of all, simulated.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "catch.h"
#include "cli/scenario.h"

namespace automatic_layout_test {

using namespace simgrad::tests;

namespace {

/// Two hosts of eight devices; all else of [parallel] and the strategy follow.
const std::string two_hosts = R"([cluster]
workers = 16
topology = { kind = "gpu_hosts", devices = 8, nics = 8 }
device = { kind = "a100_80gb", efficiency = 0.75 }
latency = "10us"

[data]
samples = 1000

[model]
kind = "transformer"
layers = 6
hidden = 1024
heads = 16
sequence = 1024
vocabulary = 5120

[training]
batch_size = 32
optimizer = "adam"
precision = "bfloat16"
numbers = false

[stop]
steps = 2

[parallel]
automatic = true
)";

Json runs_of(const std::string& text, const std::string& options = "") {
  const Json results = results_of(text, "--no-baseline --no-why " + options);
  return results.at("runs");
}

const std::string at_once = "bucket_size = \"none\"\n";
std::string allreduce(const std::string& options = "") {
  const bool in_buckets = options.find("bucket_size") != std::string::npos;
  return "[[strategy]]\nkind = \"allreduce\"\nlabel = \"allreduce\"\nalgorithm = \"ring\"\n" + options +
         (in_buckets ? "" : at_once);
}

}  // namespace

TEST_CASE("the predicted step of a layout is the simulated one") {
  struct Case {
    std::string parallel, sets, strategy;
    double within = 1e-9;
  };
  // Where more than 1e-9 is allowed, hops between stages share a NIC with sums of tensor ranks, which the prediction
  // leaves out.
  const std::vector<Case> cases{
      {"tensor = 4\npipeline = 2\nmicro_batches = 4\nsequence_parallel = true\n", "", allreduce()},
      {"tensor = 4\npipeline = 2\nmicro_batches = 4\n", "--set training.recompute='\"full\"'", allreduce()},
      {"tensor = 2\npipeline = 2\nmicro_batches = 4\nsequence_parallel = true\n",
       "--set training.recompute='\"selective\"'", allreduce()},
      {"tensor = 2\npipeline = 2\ncontext = 2\nmicro_batches = 4\n", "", allreduce()},
      {"tensor = 1\npipeline = 4\nmicro_batches = 8\n", "", allreduce()},
      {"tensor = 16\npipeline = 1\nmicro_batches = 4\n", "", allreduce()},
      {"tensor = 2\npipeline = 1\ncontext = 1\nmicro_batches = 4\n", "", allreduce()},
      {"tensor = 1\npipeline = 1\ncontext = 4\nmicro_batches = 4\n", "", allreduce()},
      {"tensor = 2\npipeline = 4\nmicro_batches = 8\nschedule = \"zb_h1\"\n", "", allreduce(), 2e-3},
      {"tensor = 2\npipeline = 4\nmicro_batches = 8\nschedule = \"gpipe\"\n", "", allreduce(), 2.5e-3},
      {"tensor = 2\npipeline = 2\nmicro_batches = 4\n", "", "[[strategy]]\nkind = \"zero\"\n" + at_once},
      {"tensor = 2\npipeline = 1\ncontext = 2\nmicro_batches = 2\n", "", allreduce()},
      {"tensor = 2\npipeline = 2\nexpert = 2\nmicro_batches = 4\n", "--set model.experts=4 --set model.top_k=2",
       allreduce()},
      {"tensor = 2\npipeline = 4\nmicro_batches = 8\n", "--set cluster.topology='\"star\"'", allreduce(), 0.04},
      {"tensor = 2\npipeline = 4\nmicro_batches = 8\n", "--set cluster.relative_speeds=[1,1,1,1,0.5]", allreduce(),
       7e-4},
      {"tensor = 2\npipeline = 1\nmicro_batches = 4\n",
       "--set cluster.topology='{kind=\"gpu_hosts\",devices=8,nics=1}'", allreduce()},
      {"tensor = 2\npipeline = 4\nmicro_batches = 8\n", "--set cluster.device='\"none\"' --set cluster.speed='\"1TF\"'",
       allreduce(), 2e-5},
  };
  for (const Case& test_case : cases) {
    const Json runs = runs_of(two_hosts + test_case.parallel + test_case.strategy, test_case.sets);
    CAPTURE(test_case.parallel, test_case.sets, test_case.strategy);
    REQUIRE(runs.size() == 1);
    CHECK(std::abs(runs[0].at("prediction_error").get<double>()) < test_case.within);
  }
}

TEST_CASE("of steps whose sums overlap with passes the prediction is near") {
  for (const std::string& strategy :
       {allreduce("bucket_size = \"1MB\"\n"), std::string("[[strategy]]\nkind = \"fsdp\"\n"),
        std::string("[[strategy]]\nkind = \"zero\"\nstage = 3\n")}) {
    const Json runs = runs_of(two_hosts + "tensor = 2\npipeline = 2\nmicro_batches = 4\n" + strategy);
    CAPTURE(strategy);
    CHECK(std::abs(runs[0].at("prediction_error").get<double>()) < 0.05);
  }
}

TEST_CASE("the automatic layout is the fastest of all that are simulated one by one") {
  std::string tensor, pipeline, micro_batches;
  for (const int t : {1, 2, 4, 8, 16})
    for (const int p : {1, 2, 4, 8})
      for (const int m : {1, 2, 4, 8, 16, 32}) {
        if (t * p > 16 || 32 % (16 / (t * p) * m) != 0 || t * p * m == 1) continue;
        tensor += std::to_string(t) + ", ";
        pipeline += std::to_string(p) + ", ";
        micro_batches += std::to_string(m) + ", ";
      }
  const std::string one_context = two_hosts + "context = 1\nexpert = 1\n";
  const Json all =
      runs_of(one_context + allreduce() + "[[grid.zip]]\n\"parallel.tensor\" = [" + tensor +
              "]\n\"parallel.pipeline\" = [" + pipeline + "]\n\"parallel.micro_batches\" = [" + micro_batches + "]\n");
  const Json found = runs_of(one_context + allreduce());
  CHECK(all.size() > 40);
  // Replicas, which have no gradient in four bytes that micro-batches add to.
  const std::string uncut = "tensor = 1\npipeline = 1\nmicro_batches = 1\n";
  double least = runs_of(one_context + uncut + allreduce())[0].at("simulated_s").get<double>();
  for (const Json& run : all) least = std::min(least, run.at("simulated_s").get<double>());
  CHECK(found[0].at("simulated_s").get<double>() <= least * (1.0 + 1e-9));
  CHECK(found[0].at("simulated_s").get<double>() >= least * (1.0 - 1e-9));
}

TEST_CASE("the automatic stages on unlike devices are the fastest of all cuts that are simulated one by one") {
  const std::string unlike =
      with(two_hosts, "latency = \"10us\"\n", "latency = \"10us\"\nrelative_speeds = [1, 0.9, 0.5, 0.3]\n") +
      "tensor = 1\npipeline = 4\ncontext = 1\nexpert = 1\ndata = 1\nmicro_batches = 8\n";
  const std::string four = with(unlike, "workers = 16", "workers = 4");
  std::string cuts;
  for (int a = 1; a <= 5; ++a)
    for (int b = 1; a + b <= 6; ++b)
      for (int c = 1; a + b + c <= 7; ++c)
        cuts += "[" + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(c) + ", " +
                std::to_string(8 - a - b - c) + "], ";
  const Json all = runs_of(four + allreduce() + "[grid]\n\"parallel.stages\" = [" + cuts + "]\n");
  const Json found = runs_of(four + allreduce());
  CHECK(all.size() == 35);
  double least = 1e300, most = 0.0;
  for (const Json& run : all) {
    least = std::min(least, run.at("simulated_s").get<double>());
    most = std::max(most, run.at("simulated_s").get<double>());
  }
  CHECK(most > 1.5 * least);
  CHECK(found[0].at("simulated_s").get<double>() == Approx(least).epsilon(1e-9));
}

TEST_CASE("explain layouts shows the best ones, and the place of the scenario's own") {
  const Scratch scratch;
  scratch.write("x.toml", with(two_hosts, "automatic = true\n", "pipeline = 2\nmicro_batches = 4\n") + allreduce());
  const Called called = program("explain layouts x.toml", scratch);
  CAPTURE(called.out, called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(called.out.find("layouts of transformer on 16 workers are predicted, for strategy allreduce") !=
        std::string::npos);
  CHECK(called.out.find("the scenario's own sizes are number ") != std::string::npos);
  // As many under automatic, however the layout is that was taken.
  const auto count = [&](const std::string& file, const std::string& text) {
    scratch.write(file, text);
    const std::string out = program("explain layouts " + file, scratch).out;
    return out.substr(0, out.find(' '));
  };
  CHECK(count("z.toml", two_hosts + allreduce()) == called.out.substr(0, called.out.find(' ')));
  // A written option is kept under automatic: one row.
  scratch.write("y.toml",
                two_hosts + "tensor = 2\npipeline = 2\ncontext = 1\nexpert = 1\nmicro_batches = 4\n" + allreduce());
  const Called one = program("explain layouts y.toml", scratch);
  CHECK(one.out.find("1 layout of transformer on 16 workers is predicted") != std::string::npos);
  const Called none = program("explain layouts", scratch);
  CHECK(none.exit_code == 2);
  CHECK(none.err.find("name the scenario") != std::string::npos);
}

TEST_CASE("explain layouts answers for a model that does not fit as the scenario has it") {
  const Scratch scratch;
  // Some 80 M parameters and their activations; no device has room for all of them.
  const std::string tight = with(two_hosts, "latency = \"10us\"\n", "latency = \"10us\"\nmemory = \"1.5GB\"\n");
  scratch.write("x.toml", with(tight, "[parallel]\nautomatic = true\n", "") + allreduce());
  const Called run = program("run x.toml", scratch);
  REQUIRE(run.exit_code == 2);
  REQUIRE(contains(run.err, "but its device has 1.50 GB"));
  const Called called = program("explain layouts x.toml", scratch);
  CAPTURE(called.out, called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(contains(called.out, "not possible: memory of the devices: "));
  CHECK(contains(called.out, "the scenario's own layout does not fit: allreduce: a worker needs 2.05 GB"));
  // The first one that is shown fits.
  const std::vector<std::string> lines = lines_of(called.out);
  REQUIRE(lines.size() > 3);
  const std::string best = lines[3];
  std::istringstream words(best);
  std::string tensor, pipeline, context, expert, data, micro_batches;
  words >> tensor >> pipeline >> context >> expert >> data >> micro_batches;
  CAPTURE(best);
  CHECK(program("validate x.toml --set parallel.tensor=" + tensor + " --set parallel.pipeline=" + pipeline +
                    " --set parallel.context=" + context + " --set parallel.micro_batches=" + micro_batches,
                scratch)
            .exit_code == 0);
  // With too little memory for any, all layouts are among those that do not fit.
  const Called none = program("explain layouts x.toml --set cluster.memory=1MB", scratch);
  CHECK(none.exit_code == 0);
  CHECK(contains(none.out, "none of them fits"));
  // Other faults are faults.
  const Called other = program("explain layouts x.toml --set training.batch_size=0", scratch);
  CHECK(other.exit_code == 2);
  CHECK(contains(other.err, "batch_size"));
}

TEST_CASE("a layout is predicted for the first strategy, and told for all, cut or not") {
  const Json two = runs_of(two_hosts + "tensor = 2\npipeline = 2\n" + allreduce() +
                           "[[strategy]]\nkind = \"local_sgd\"\nlocal_steps = 2\n");
  REQUIRE(two.size() == 2);
  CHECK(two[0].at("predicted_step_s").is_number());
  CHECK_FALSE(two[1].contains("predicted_step_s"));
  const auto tells = [](const Json& run) {
    const Json& notes = run.at("notes");
    return std::ranges::any_of(notes, [](const Json& note) {
      return note.get<std::string>().starts_with("automatic layout, for allreduce: tensor ");
    });
  };
  CHECK(tells(two[0]));
  CHECK(tells(two[1]));
  const Json uncut =
      runs_of(two_hosts + "tensor = 1\npipeline = 1\ncontext = 1\nexpert = 1\nmicro_batches = 1\n" + allreduce());
  CHECK(tells(uncut[0]));
  CHECK(std::abs(uncut[0].at("prediction_error").get<double>()) < 1e-9);
}

TEST_CASE("a layout that a later check refuses is left out, and the resolved scenario gives the run again") {
  // Ranks that share products cannot use lamb with sequence_parallel; one rank can.
  const std::string untied = with(two_hosts, "kind = \"transformer\"", "kind = \"transformer\"\ntied = false");
  const std::string lamb = with(untied, "\"adam\"", "\"lamb\"") + "sequence_parallel = true\n" + allreduce();
  const Scratch scratch;
  scratch.write("x.toml", lamb);
  const Called resolved = program("validate x.toml --resolved", scratch);
  CAPTURE(resolved.err);
  REQUIRE(resolved.exit_code == 0);
  CHECK(resolved.out.find("\ntensor = 1\n") != std::string::npos);
  scratch.write("y.toml", resolved.out);
  const Called again = program("validate y.toml --resolved", scratch);
  CHECK(again.exit_code == 0);
  const auto ids = [](const std::string& text) { return text.substr(text.find("\n# ")); };
  CHECK(ids(again.out) == ids(resolved.out));
}

TEST_CASE("single uses all ranks of its one replica") {
  const Json runs = runs_of(two_hosts + "[[strategy]]\nkind = \"single\"\n");
  CHECK(runs[0].at("workers") == 16);
}

}  // namespace automatic_layout_test
