// Records of devices and data: the time of gradients by kind, the memory of devices, the least loss.
#include <array>
#include <numeric>

#include "catch.h"
#include "experiment/plan/proxy.h"
#include "experiment/refused.h"
#include "experiment/run/simulate_proxy.h"
#include "experiment/scenario.h"
#include "simulation.h"
#include "training/learning/layer_times.h"

namespace device_records_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// Two rows a worker of a transformer with a layer of each kind, on 4 workers, 3 steps.
std::string transformer(const std::string& cluster, const std::string& training, const std::string& strategy) {
  return "schema = 1\n[cluster]\nworkers = 4\n" + cluster +
         "[data]\nsource = \"markov\"\nsamples = 64\n[model]\nkind = \"transformer\"\nlayers = 2\nhidden = 256\nheads "
         "= "
         "4\nsequence = 128\nvocabulary = 64\n[training]\nnumbers = false\nprecision = \"float32\"\n"
         "batch_size_per_worker = 2\n" +
         training + "[stop]\nsteps = 3\n[[strategy]]\n" + strategy;
}

/// Each rank's compute_gradient and its three parts, and the limit of its memory; -1: none.  Then the run's three
/// parts.
std::vector<double> recorded(const std::string& text) {
  return tests::numbers_of_child([&] {
    const record::Record record = simulate(planned(text).runs.front(), nullptr, 0, nullptr);
    if (record.status == record::Status::failed) throw std::runtime_error(record.error);
    std::vector<double> all;
    const auto add = [&](const record::GradientTimes& gradient) {
      for (std::size_t k = 0; k < record::gradient_parts; ++k)
        all.push_back(gradient[static_cast<record::GradientPart>(k)].value_or(-1.0));
    };
    for (const record::RankUse& rank : record.ranks) {
      all.push_back(rank.parts[record::TimePart::compute_gradient]);
      add(rank.gradient);
      all.push_back(rank.memory_limit_bytes.value_or(-1.0));
    }
    add(record.gradient);
    return all;
  });
}

/// The seconds of a gradient of the scenario's model over so many rows on an A100, forwards so many times but in the
/// head, whose activations are there when the backward pass begins.
training::KindTimes by_kind(const std::string& text, double rows, int forwards) {
  const RunPlan run = planned(text).runs.front();
  const training::LayerTimes times(*run.settings->cluster.device_of(0), training::Precision::float32);
  training::KindTimes sum;
  const std::vector<models::Layer> layers = run.settings->model.model->layers(run.settings->problem());
  for (const models::Layer& layer : layers) {
    for (int pass = 0; pass < (layer.unit == layers.back().unit ? 1 : forwards); ++pass)
      sum += times.forward_by_kind(layer, rows);
    sum += times.backward_by_kind(layer, rows);
  }
  return sum;
}

const std::string a100 = "device = \"a100_80gb\"\n";

}  // namespace

TEST_CASE("the time of gradients on devices is recorded by kind, for whole gradients, in buckets and unit by unit") {
  for (const std::string strategy : {"kind = \"allreduce\"\n", "kind = \"allreduce\"\nbucket_size = \"100kB\"\n",
                                     "kind = \"zero\"\n", "kind = \"fsdp\"\n", "kind = \"parameter_server\"\n"}) {
    INFO(strategy);
    const std::string text = transformer(a100, "", strategy);
    const training::KindTimes once = by_kind(text, 2, 1);
    REQUIRE(std::min({once.products, once.attention, once.elementwise}) > 0.0);
    const std::vector<double> found = recorded(text);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      CHECK(found[5 * rank] == Approx(3 * once.sum()).epsilon(1e-9));
      CHECK(found[5 * rank + 1] == Approx(3 * once.products).epsilon(1e-9));
      CHECK(found[5 * rank + 2] == Approx(3 * once.attention).epsilon(1e-9));
      CHECK(found[5 * rank + 3] == Approx(3 * once.elementwise).epsilon(1e-9));
    }
    CHECK(found[found.size() - 3] == Approx(3 * once.products).epsilon(1e-9));  // the mean over the workers
  }
}

TEST_CASE("micro-batches count by their own rows, and recomputation is work of its kind") {
  const std::string parted = transformer(a100, "", "kind = \"fsdp\"\nmicro_batches = 2\n");
  const std::vector<double> found = recorded(parted);
  CHECK(found[1] == Approx(3 * 2 * by_kind(parted, 1, 1).products).epsilon(1e-9));
  CHECK(found[2] == Approx(3 * 2 * by_kind(parted, 1, 1).attention).epsilon(1e-9));
  const std::string again = transformer(a100, "recompute = \"full\"\n", "kind = \"allreduce\"\n");
  CHECK(recorded(again)[1] == Approx(3 * by_kind(again, 2, 2).products).epsilon(1e-9));
  CHECK(recorded(again)[3] == Approx(3 * by_kind(again, 2, 2).elementwise).epsilon(1e-9));
  // Selective recomputation has the attention's own products a second time, and its softmax of two numbers a score.
  for (const std::string strategy : {"kind = \"allreduce\"\n", "kind = \"zero\"\n", "kind = \"fsdp\"\n"}) {
    INFO(strategy);
    const std::vector<double> selective = recorded(transformer(a100, "recompute = \"selective\"\n", strategy));
    const training::KindTimes once = by_kind(parted, 2, 1);
    CHECK(selective[1] == Approx(3 * once.products).epsilon(1e-9));
    CHECK(selective[2] == Approx(3 * by_kind(parted, 2, 2).attention).epsilon(1e-9));
    const RunPlan run = planned(parted).runs.front();
    double softmax = 0.0;
    for (const models::Layer& layer : run.settings->model.model->layers(run.settings->problem()))
      softmax += layer.selective_elementwise;
    CHECK(softmax > 0.0);
    const double bandwidth = run.settings->cluster.device_of(0)->memory_bandwidth_bytes_per_s;
    CHECK(selective[3] == Approx(3 * (once.elementwise + 2 * softmax * 4.0 / bandwidth)).epsilon(1e-9));
  }
}

TEST_CASE("a slow rank's gradients are slow in all their parts") {
  const std::string text = transformer(a100 + "relative_speeds = [0.25]\n", "", "kind = \"allreduce\"\n");
  const training::KindTimes once = by_kind(text, 2, 1);
  const std::vector<double> found = recorded(text);
  CHECK(found[1] == Approx(4 * 3 * once.products).epsilon(1e-9));
  CHECK(found[3] == Approx(4 * 3 * once.elementwise).epsilon(1e-9));
  CHECK(found[5 + 1] == Approx(3 * once.products).epsilon(1e-9));
  CHECK(found[20] == Approx(3 * (4 + 3) / 4.0 * once.products).epsilon(1e-9));
}

TEST_CASE("without a device nothing is recorded by kind, and only cluster.memory limits a rank") {
  for (const auto& [cluster, limit_bytes] : {std::pair<std::string, double>{"", -1.0}, {"memory = \"3GB\"\n", 3e9}}) {
    const std::vector<double> found = recorded(transformer(cluster, "", "kind = \"allreduce\"\n"));
    REQUIRE(found.size() == 4 * 5 + 3);
    CHECK(found[1] == -1.0);
    CHECK(found[4] == limit_bytes);
    CHECK(found[20] == -1.0);
  }
}

TEST_CASE("a rank's limit is the memory of its own device, or that of the scenario") {
  const std::string classes = "device = \"a100_80gb\"\n[[cluster.hosts]]\nclass = \"old\"\ndevice = \"v100_32gb\"\n";
  const std::vector<double> found = recorded(transformer(classes, "", "kind = \"allreduce\"\n"));
  CHECK(found[4] == 32e9);
  CHECK(found[9] == 80e9);
  CHECK(recorded(transformer("memory = \"70GB\"\n" + a100, "", "kind = \"allreduce\"\n"))[4] == 70e9);
}

TEST_CASE("a run on data whose entropy is known has the least loss, a proxied one that of its own data") {
  const std::string model =
      "schema = 1\n[cluster]\nworkers = 2\n[data]\nsource = \"markov\"\nsamples = 64\nvocabulary = 8\n[model]\nkind = "
      "\"transformer\"\nlayers = 1\nhidden = 8\nheads = 2\nsequence = 8\n";
  const std::string rest = "[training]\nbatch_size_per_worker = 2\n[stop]\nsteps = 2\n";
  for (const bool proxied : {false, true}) {
    const Plan plan = planned(model + (proxied ? "timed_as = \"alexnet\"\n" : "") + rest + ring_allreduce);
    const std::vector<double> found = tests::numbers_of_child([&] {
      const RunPlan& run = plan.runs.front();
      const Data data = load_data(run);
      const record::Record record =
          proxied ? simulate_proxy(run, data, 0, nullptr, {}) : simulate(run, data, 0, nullptr);
      return std::vector{record.loss_floor.value(), data->train.loss_floor.value(), record.final_loss.value()};
    });
    CHECK(found[0] == found[1]);
    CHECK(found[0] > 0.0);
    CHECK(found[0] < found[2]);
  }
}

}  // namespace device_records_test
