// Runs of models that are known by their layers, and runs with the numbers of one model and the times of another.
#include "catch.h"
#include "experiment/plan/proxy.h"
#include "experiment/refused.h"
#include "experiment/run/simulate_proxy.h"
#include "experiment/scenario.h"
#include "models/profiles/image_networks.h"
#include "simulation.h"

namespace profiled_runs_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

const std::string cluster = "[cluster]\nworkers = 4\nspeed = \"1TF\"\nbandwidth = \"8Gbps\"\nlatency = \"1ms\"\n";
const std::string rest =
    "[training]\nnumbers = false\nbatch_size_per_worker = 2\n[stop]\nsteps = 3\n[data]\nsamples = 1000\n";

std::string resnet(const std::string& strategy) { return cluster + rest + "[model]\nkind = \"resnet50\"\n" + strategy; }

const std::string at_once = "bucket_size = \"none\"\n";

/// Simulated seconds and bytes of the plan's first run.
std::vector<double> simulated(const Plan& plan) {
  return tests::numbers_of_child([&] {
    const record::Record record = simulate(plan.runs.front(), nullptr, 0, nullptr);
    if (record.status == record::Status::failed) throw std::runtime_error(record.error);
    return std::vector{record.simulated_s, static_cast<double>(record.bytes)};
  });
}

const std::string small_model =
    "[data]\nsource = \"blobs\"\nsamples = 200\nfeatures = 6\n[model]\nkind = \"softmax_regression\"\n";

/// A proxied run's losses, then its times; the times begin at half of the list.
std::vector<double> curve(const record::Record& record) {
  if (record.status == record::Status::failed) throw std::runtime_error(record.error);
  std::vector<double> all;
  for (const record::Evaluation& each : record.curve) all.push_back(each.loss.value_or(-1.0));
  for (const record::Evaluation& each : record.curve) all.push_back(each.simulated_s);
  return all;
}

}  // namespace

TEST_CASE("a run of times alone has the choices of experts that it assumes") {
  const auto choices = [](const std::string& options) {
    const Plan plan = planned(cluster + rest + "[model]\nkind = \"transformer\"\nvocabulary = 50\nexperts = 4\n" +
                              options + "[[strategy]]\nkind = \"allreduce\"\n");
    return tests::numbers_of_child([&] {
      const record::Record record = simulate(plan.runs.front(), nullptr, 0, nullptr);
      return std::vector{record.dropped_share.value(), record.expert_imbalance.value()};
    });
  };
  CHECK(choices("capacity_factor = 0.75\n") == std::vector{0.25, 1.0});
  const std::vector<double> skewed = choices("capacity_factor = 1.25\nexpert_skew = 4\n");  // all choose the first one
  CHECK(skewed[0] == Approx(1.0 - 1.25 / 4.0).epsilon(1e-9));
  CHECK(skewed[1] == Approx(4.0).epsilon(1e-9));
}

TEST_CASE("a run of times alone says which choices of experts its times assume where numbers would decide") {
  const auto says = [](const std::string& options, const std::string& parallel) {
    const Plan plan = planned(cluster + rest + "[model]\nkind = \"transformer\"\nvocabulary = 50\nexperts = 4\n" +
                              options + parallel + "[[strategy]]\nkind = \"allreduce\"\n");
    return tests::numbers_of_child([&] {
      const record::Record record = simulate(plan.runs.front(), nullptr, 0, nullptr);
      return std::vector{static_cast<double>(std::ranges::count(
          record.notes,
          "times assume that the busiest expert is chosen 2.00 times as often as the mean (expert_skew); in a run with "
          "numbers they follow the router's choices"))};
    });
  };
  const std::string shared = "[parallel]\nexpert = 2\n", skew = "expert_skew = 2\n";
  CHECK(says(skew, shared) == std::vector{1.0});
  CHECK(says(skew + "pad_experts = true\n", shared) == std::vector{0.0});
  CHECK(says(skew, "") == std::vector{0.0});
}

TEST_CASE("a step of a profiled model takes its flops and an allreduce of its parameters") {
  // Three steps on 4 workers: 2 images' flops / 1 TF, a ring of 25,557,032 numbers of 8 bytes, an update of 2 flops a
  // number.
  const models::LayerTotals sum = models::totals(models::ResNet50().profile());
  const double d = 25'557'032, M = 8.0 * d, beta = 1e-9, alpha = 1e-3, gamma = 1e-12 / 8.0;
  const double ring_s = 6.0 * alpha + 1.5 * M * beta + 0.75 * M * gamma;
  const double step_s = 2.0 * (sum.forward_flops + sum.backward_flops) / 1e12 + ring_s + 2.0 * d / 1e12;
  const std::vector<double> found = simulated(planned(resnet(ring_allreduce + at_once)));
  CHECK(found[0] == Approx(3.0 * step_s).epsilon(1e-9));
  CHECK(found[1] == 3.0 * 4.0 * 1.5 * M);
}

TEST_CASE("a profiled model needs no data but their number") {
  CHECK(known_rows(*planned(resnet(ring_allreduce)).runs.front().settings) == 1000);
  const std::string without = "[training]\nnumbers = false\n[stop]\nsteps = 1\n[model]\nkind = \"alexnet\"\n";
  CHECK(known_rows(*planned(cluster + without + ring_allreduce).runs.front().settings) == 1000);
  const std::string file = "[data]\nsource = \"csv\"\npath = \"none.csv\"\nsamples = 70\n";
  CHECK(known_rows(*planned(cluster + without + file + ring_allreduce).runs.front().settings) == 70);
}

TEST_CASE("numbers of a profiled model, and features that it does not have, are refused") {
  check_refused_text(
      cluster + "[stop]\nsteps = 1\n[model]\nkind = \"vgg16\"\n" + ring_allreduce,
      "x.toml:9:1: vgg16 is known by its layers alone, so that its runs are timed and compute no numbers; "
      "set training.numbers = false");
  check_refused_text(cluster + rest + "features = 5\n[model]\nkind = \"resnet50\"\n" + ring_allreduce,
                     "features = 5, but in a timing-only run resnet50 itself decides what a sample is; leave it out");
}

TEST_CASE("dlrm's rows are those of all tables or of each, and counted") {
  const std::string dlrm = cluster + rest + "[model]\nkind = \"dlrm\"\ntables = 3\n";
  check_refused_text(dlrm + "rows = [5, 6]\n" + ring_allreduce,
                     "2 numbers of rows for tables = 3; expected one for all tables, or one for each");
  check_refused_text(dlrm + "rows = [5.5]\n" + ring_allreduce, "rows are counted: expected whole numbers");
  check_refused_text(dlrm + "bottom = [2.5]\n" + ring_allreduce, "as in bottom = [512, 256]");
  check_refused_text(dlrm + "top = [2.5]\n" + ring_allreduce, "as in top = [512, 256]");
  // Bytes of a ring of 4 ranks: 18 rows of 1 number, 13-1 below, 1 + 6 numbers into 1 above.
  const std::string small = dlrm + "rows = [5, 6, 7]\nembedding = 1\nbottom = []\ntop = []\n";
  CHECK(simulated(planned(small + ring_allreduce))[1] == 3.0 * 4.0 * 1.5 * 8.0 * (18 + 14 + 8));
}

TEST_CASE("a table of layers counts by its contents, wherever it is") {
  const tests::Scratch scratch;
  const std::string table = "name,parameters,forward_flops,backward_flops\na,1000,1e9,2e9\n";
  scratch.write("one.csv", table);
  scratch.write("two.csv", table);
  scratch.write("other.csv", table + "b,5,1,1\n");
  const auto id = [&](const char* file) {
    const std::string text = cluster + rest + "[model]\nkind = \"profile\"\npath = \"" + file + "\"\n" + ring_allreduce;
    return make_plan(scratch.write("x.toml", text), {}).runs.front().id;
  };
  CHECK(id("one.csv") == id("two.csv"));
  CHECK(id("one.csv") != id("other.csv"));
}

TEST_CASE("a hop between two stages carries the bytes of the table's column, or else what the layer behind it keeps") {
  // Two stages, two micro-batches of two samples: 1F1B takes (m + p - 1) (F + B) + 2 hops, and every micro-batch makes
  // one hop forward and one back.
  const tests::Scratch scratch;
  for (const auto& [column, cell, bytes] : {std::tuple{",entrance_bytes", ",5e5", 5e5}, {"", "", 2e5}}) {
    scratch.write("layers.csv", std::string("name,parameters,forward_s,backward_s,activation_bytes") + column +
                                    "\na,1,0.1,0.2,1e5" + cell + "\nb,1,0.1,0.2,2e5" + cell + "\n");
    const std::string text =
        "[cluster]\nworkers = 2\nspeed = \"1TF\"\nbandwidth = \"8Gbps\"\nlatency = \"1ms\"\n[training]\nnumbers = "
        "false\n"
        "batch_size = 4\n[stop]\nsteps = 1\n[data]\nsamples = 1000\n[model]\nkind = \"profile\"\npath = "
        "\"layers.csv\"\n"
        "[parallel]\npipeline = 2\nmicro_batches = 2\n" +
        ring_allreduce;
    const double hop_s = 1e-3 + 2.0 * bytes / 1e9, forward_s = 2.0 * 0.1, backward_s = 2.0 * 0.2;
    const std::vector<double> found = simulated(make_plan(scratch.write("x.toml", text), {}));
    CHECK(found[0] == Approx(3.0 * (forward_s + backward_s) + 2.0 * hop_s).epsilon(1e-9));
    CHECK(found[1] == 4.0 * 2.0 * bytes);
  }
}

TEST_CASE("a stage with two pieces of the model holds the gradients of both until the update") {
  // Pieces of 10, 20, 30 and 40 parameters on two stages: the first one has 10 + 30, the second one 20 + 40. Each piece
  // keeps a byte of every sample.
  const tests::Scratch scratch;
  scratch.write("layers.csv",
                "name,parameters,forward_s,backward_s,activation_bytes\n"
                "a,10,1,2,1\nb,20,1,2,1\nc,30,1,2,1\nd,40,1,2,1\n");
  const std::string text =
      "[cluster]\nworkers = 2\nmemory = \"1GB\"\n[training]\nnumbers = false\nbatch_size = 4\n[stop]\nsteps = 1\n"
      "[data]\nsamples = 1000\n[model]\nkind = \"profile\"\npath = \"layers.csv\"\n"
      "[parallel]\npipeline = 2\nchunks = 2\nmicro_batches = 4\nschedule = \"interleaved_1f1b\"\n" +
      ring_allreduce;
  const Plan plan = make_plan(scratch.write("x.toml", text), {});
  const std::vector<double> held = tests::numbers_of_child([&] {
    const record::Record record = simulate(plan.runs.front(), nullptr, 0, nullptr);
    std::vector<double> all;
    for (const auto& rank : record.ranks)
      all.push_back(rank.memory[static_cast<std::size_t>(record::MemoryPart::gradients)].value());
    return all;
  });
  CHECK(held == std::vector<double>{8.0 * (10 + 30), 8.0 * (20 + 40)});
}

TEST_CASE("a proxied run has the losses of the small model and the times and bytes of the large one") {
  const std::string training = "[training]\nbatch_size_per_worker = 2\nlearning_rate = 0.1\n[stop]\nsteps = 3\n";
  const Plan proxied = planned(cluster + training + small_model + "timed_as = \"resnet50\"\n" + ring_allreduce);
  const Plan small = planned(cluster + training + small_model + ring_allreduce);
  const std::vector<double> both = tests::numbers_of_child([&] {
    const RunPlan& run = proxied.runs.front();
    const record::Record record = simulate_proxy(run, load_data(run), 0, nullptr, {});
    std::vector<double> all = curve(record);
    all.push_back(record.final_loss.value());
    all.push_back(static_cast<double>(record.bytes));
    const Settings& settings = *run.settings;
    const std::string note = note_on_proxy(settings, settings.model.model->parameters(settings.problem()));
    all.push_back(record.notes.front() == note ? 1.0 : 0.0);
    return all;
  });
  const std::vector<double> numbers = tests::numbers_of_child([&] {
    const RunPlan& run = small.runs.front();
    return curve(simulate(run, load_data(run), 0, nullptr));
  });
  const std::vector<double> times = simulated(planned(resnet(ring_allreduce)));
  REQUIRE(both.size() == 4 + 4 + 3);
  for (std::size_t i = 0; i < 4; ++i) CHECK(both[i] == numbers[i]);
  CHECK(both[7] == times[0]);  // the time of the last evaluation
  CHECK(both[8] == both[3]);
  CHECK(both[9] == times[1]);
  CHECK(both[10] == 1.0);
}

TEST_CASE("a proxied run ends where the small model reaches the target, at the large model's time") {
  const std::string training =
      "[training]\nbatch_size_per_worker = 2\nlearning_rate = 0.1\n[stop]\nloss = 0.55\nsteps = 100\n";
  const Plan proxied = planned(cluster + training + small_model + "timed_as = \"resnet50\"\n" + ring_allreduce);
  const std::vector<double> found = tests::numbers_of_child([&] {
    const RunPlan& run = proxied.runs.front();
    const record::Record record = simulate_proxy(run, load_data(run), 0, nullptr, {});
    return std::vector{record.status == record::Status::reached ? 1.0 : 0.0, static_cast<double>(record.steps),
                       record.time_to_target_s.value_or(-1.0), record.simulated_s};
  });
  CHECK(found[0] == 1.0);
  CHECK((found[1] > 0.0 && found[1] < 100.0));
  CHECK(found[2] == found[3]);
  // as many steps as three took
  CHECK(found[2] == Approx(found[1] / 3.0 * simulated(planned(resnet(ring_allreduce)))[0]).epsilon(1e-9));
}

TEST_CASE("a proxied run's clock is the large model's: the small model's may pass the watchdog's limit") {
  const tests::Scratch scratch;
  scratch.write("layers.csv", "name,parameters,forward_s,backward_s\na,1,0.1,0.2\n");
  const std::string slow_hosts =
      "[cluster]\nworkers = 1\nspeed = \"100F\"\ncharge_reductions = false\nwatchdog = { simulated = \"1s\" }\n";
  const std::string training = "[training]\nbatch_size = 1\n[stop]\nsteps = 3\n";
  const auto found = [&](const std::string& model) {
    const std::string text = slow_hosts + training + small_model + model + "[[strategy]]\nkind = \"single\"\n";
    const Plan plan = make_plan(scratch.write("x.toml", text), {});
    return tests::numbers_of_child([&] {
      const RunPlan& run = plan.runs.front();
      const bool proxied = run.settings->model.proxied();
      const record::Record record =
          proxied ? simulate_proxy(run, load_data(run), 0, nullptr, {}) : simulate(run, load_data(run), 0, nullptr);
      return std::vector{record.status == record::Status::failed ? 1.0 : 0.0, record.simulated_s,
                         record.curve.back().loss.value_or(-1.0)};
    });
  };
  CHECK(found("")[0] == 1.0);
  const std::vector<double> proxied = found("timed_as = { kind = \"profile\", path = \"layers.csv\" }\n");
  CHECK(proxied[0] == 0.0);
  CHECK(proxied[1] == Approx(3 * (0.1 + 0.2)).epsilon(1e-9));
  CHECK(proxied[2] > 0.0);
}

TEST_CASE("times of another model are refused where numbers depend on times") {
  const std::string training = "[training]\nbatch_size_per_worker = 2\n[stop]\nsteps = 3\n";
  const std::string asp = "[[strategy]]\nkind = \"parameter_server\"\nconsistency = \"asp\"\n";
  check_refused_text(
      cluster + training + small_model + "timed_as = \"resnet50\"\n" + asp,
      "parameter_server: timed_as takes numbers of one model and times of another, but here numbers depend "
      "on times: what a gradient is computed of depends on when messages arrive");
  check_refused_text(cluster + "[training]\nnumbers = false\n[stop]\nsteps = 3\n" + small_model +
                         "timed_as = \"resnet50\"\n" + ring_allreduce,
                     "timed_as with training.numbers = false, which computes no numbers; give that model as kind");
}

TEST_CASE("hfu counts the forward passes that are made again, and mfu does not") {
  const std::string text =
      "[cluster]\nworkers = 2\ndevice = \"a100_80gb\"\n[model]\nkind = \"transformer\"\nlayers = 2\nhidden = 256\n"
      "heads = 4\nsequence = 128\nvocabulary = 1000\n[data]\nsamples = 64\n[stop]\nsteps = 2\n" +
      ring_allreduce;
  // Two layers of 24 h^2 + 4 s h flops a token, and a head of 2 h V: forwards, twice that backwards. The head's
  // backward pass comes right behind its forward pass, which is not made again.
  const double h = 256, s = 128, V = 1000, blocks = s * 2 * (24 * h * h + 4 * s * h), forward = blocks + s * 2 * h * V;
  const auto rates = [&](const std::string& recompute) {
    const std::string training =
        "[training]\nnumbers = false\nbatch_size = 16\nprecision = \"bfloat16\"\nrecompute = \"" + recompute + "\"\n";
    const Plan plan = planned(training + text);
    return tests::numbers_of_child([&] {
      const record::Record record = simulate(plan.runs.front(), nullptr, 0, nullptr);
      if (record.status == record::Status::failed) throw std::runtime_error(record.error);
      const double all = record.simulated_s * 2 * 312e12;  // what two peaks could have done
      const double trillion_s = *record.throughput.days_per_trillion_tokens * 24 * 3600;
      return std::vector{*record.throughput.mfu * all, *record.throughput.hfu * all,
                         trillion_s / record.simulated_s * *record.throughput.tokens};
    });
  };
  const double samples = 32;
  for (const auto& [recompute, again] :
       {std::pair{"none", 0.0}, std::pair{"selective", s * 2 * 4 * s * h}, std::pair{"full", blocks}}) {
    CAPTURE(recompute);
    const std::vector<double> found = rates(recompute);
    CHECK(found[0] == Approx(samples * 3 * forward).epsilon(1e-9));
    CHECK(found[1] == Approx(samples * (3 * forward + again)).epsilon(1e-9));
    CHECK(found[2] == Approx(1e12).epsilon(1e-9));  // as many runs as make 10^12 tokens take as many days
  }
}

}  // namespace profiled_runs_test
