// The claims of the scenarios about allreduces.
#include "house/results.h"

namespace allreduce_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

double step_s(const outputs::Run& run) { return run.record.simulated_s / static_cast<double>(run.record.steps); }

}  // namespace

TEST_CASE("which_allreduce: rounds decide for short vectors, bytes for long ones") {
  const auto results = results_of("which_allreduce.toml");
  const auto takes = [&](const std::string& label, int features) {
    return run_of(*results, label, R"({"data.features":)" + std::to_string(features) + "}").record.simulated_s;
  };
  CHECK(takes("naive", 100) < takes("recursive_doubling", 100));
  CHECK(takes("recursive_doubling", 100) < takes("rabenseifner", 100));
  CHECK(takes("rabenseifner", 100) < takes("ring", 100));
  for (const char* thrifty : {"ring", "rabenseifner", "bcube"}) {
    CHECK(takes(thrifty, 1'000'000) < takes("double_binary_tree", 1'000'000));
    CHECK(takes("double_binary_tree", 1'000'000) < takes("recursive_doubling", 1'000'000));
  }
  CHECK(takes("double_binary_tree", 100) < takes("ring", 100));
  CHECK(takes("naive", 1'000'000) > 10 * takes("ring", 1'000'000));
  const auto sent = [&](const std::string& label) {
    return run_of(*results, label, R"({"data.features":1000000})").record.bytes;
  };
  CHECK(sent("recursive_doubling") > 2 * sent("ring"));
}

TEST_CASE("buckets: a master device is the slowest, buckets of a layer the fastest") {
  const auto results = results_of("buckets.toml");
  const auto takes = [&](const std::string& label) { return step_s(run_of(*results, label)); };
  CHECK(takes("buckets of a layer") < takes("buckets of two layers"));
  CHECK(takes("buckets of two layers") < takes("one allreduce"));
  CHECK(takes("one allreduce") < 0.5 * takes("data_parallel"));
}

TEST_CASE("hosts_of_devices: summing inside the hosts first spares the cards") {
  const auto results = results_of("hosts_of_devices.toml");
  CHECK(step_s(run_of(*results, "hierarchical")) < 0.5 * step_s(run_of(*results, "ring")));
}

TEST_CASE("ring_and_workers: a worker's bytes do not grow with the workers, the latency does") {
  const auto results = results_of("ring_and_workers.toml");
  const auto at = [&](int features, int workers) -> const outputs::Run& {
    return run_of(
        *results, "allreduce",
        R"({"data.features":)" + std::to_string(features) + R"(,"cluster.workers":)" + std::to_string(workers) + "}");
  };
  for (const int workers : {2, 4, 8, 16, 32}) {
    const auto sent = static_cast<double>(at(1'000'000, workers).record.ranks[0].bytes_sent);
    CHECK(sent / 10 == Approx(2.0 * (workers - 1) / workers * 8e6).epsilon(1e-6));
    const double latency_s = 2.0 * (workers - 1) * 20e-6;
    CHECK(mean_communicate_s(at(10, workers)) / 10 == Approx(latency_s).epsilon(0.01));
  }
  CHECK(mean_communicate_s(at(1'000'000, 32)) < 2.2 * mean_communicate_s(at(1'000'000, 2)));
  CHECK(mean_communicate_s(at(10, 32)) > 30 * mean_communicate_s(at(10, 2)));
}

}  // namespace allreduce_scenarios_test
