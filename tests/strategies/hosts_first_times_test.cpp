// hosts_first: the times of messages inside hosts, by closed forms and a recurrence.
#include <algorithm>
#include <cmath>
#include <vector>

#include "record/record.h"
#include "strategies/hosts_of_devices.h"
#include "strategies/timed_layers.h"

namespace hosts_first_times_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Allreduce;
using strategies::DataParallel;
using strategies::ParameterServer;

namespace {

constexpr int hosts = 2;

}  // namespace

TEST_CASE("the devices of a host share its disk as they read their rows") {
  for (const bool in_buckets : {false, true})
    for (const std::int64_t prefetch : {0, 2}) {
      CAPTURE(in_buckets, prefetch);
      const Case test_case = named<ParameterServer>("parameter_server", [&](ParameterServer& options) {
        if (in_buckets) options.bucket_bytes = 8.0;
      });
      constexpr std::int64_t updates = 3;
      Trial trial = on_devices(timed_layers(test_case.plain(), hosts, 1'000, 1, updates), test_case.on_hosts());
      trial.rows *= g;
      const double without_s = trial.run().record.simulated_s;
      trial.training.input.from = training::InputFrom::local;
      trial.training.input.bytes_per_sample = 1e6;
      trial.training.input.bandwidth_bytes_per_s = 1e9;
      trial.training.input.prefetch = prefetch;
      const double read_s = g * 2 * 1e6 / 1e9;  // two rows a device
      // The first device reads once it has sent the parameters on, with the second one: g - 2 hops before the last one.
      const double ahead_s = (g - 2) * (device_alpha + 8 * 1'000 / device_B);
      const double more_s = trial.run().record.simulated_s - without_s;
      CHECK(more_s <= updates * read_s * (1.0 + 1e-9));
      if (prefetch == 0) CHECK(more_s == Approx(updates * (read_s - ahead_s)).epsilon(1e-9));
    }
}

TEST_CASE("a step costs a chain around the host before the gradient, and one after it") {
  // 8 d bytes: below half a MiB one piece, then one each.
  for (const std::int64_t d : {1'000, 65'536, 200'000, 6'000'000}) {
    CAPTURE(d);
    const Case test_case = named<ParameterServer>("parameter_server");
    const Trial workers = timed_layers(test_case.plain(), hosts, d, 1, 3);
    Trial devices = on_devices(workers, test_case.on_hosts());
    devices.rows = g * workers.rows;  // each device has as many as a worker had
    const double M = 8.0 * static_cast<double>(d), c = std::clamp(std::ceil(M / (512.0 * 1024)), 1.0, 64.0);
    const double around_s = (g - 2 + c) * (device_alpha + M / c / device_B);
    const double alone_s = workers.run().record.simulated_s, step_s = devices.run().record.simulated_s - alone_s;
    CHECK(step_s == Approx(3 * 2 * around_s).epsilon(1e-9));
  }
}

TEST_CASE("rows that come with the parameters go from the first device to each of its host") {
  for (const bool in_buckets : {false, true}) {
    CAPTURE(in_buckets);
    const Case test_case = named<DataParallel>("data_parallel", [&](DataParallel& options) {
      if (in_buckets) options.bucket_bytes = 8.0;
    });
    constexpr std::int64_t d = 1'000, updates = 3;
    const Trial workers = timed_layers(test_case.plain(), hosts, d, 1, updates);
    Trial devices = on_devices(workers, test_case.on_hosts());
    devices.rows = g * workers.rows;            // each device has as many as a worker had
    const double a_device = 8.0 * (d + 1) * 2;  // bytes of its two rows, with their targets
    const double around_s = (g - 1) * (device_alpha + 8.0 * d / device_B);
    const double inside_s = device_alpha + (g - 1) * a_device / device_B, between_s = (g - 1) * a_device / B;
    const double difference_s = devices.run().record.simulated_s - workers.run().record.simulated_s;
    CHECK(difference_s == Approx(updates * (between_s + inside_s + 2 * around_s)).epsilon(1e-9));
  }
}

TEST_CASE("additions inside a host take the time of a pass over each piece") {
  constexpr std::int64_t d = 1'000;
  const Case test_case = named<ParameterServer>("parameter_server");
  Trial workers = timed_layers(test_case.plain(), hosts, d, 1, 3);
  workers.cluster.charge_reductions = true;
  Trial devices = on_devices(workers, test_case.on_hosts());
  devices.rows = g * workers.rows;
  const double around_s = (g - 1) * (2 * (device_alpha + 8.0 * d / device_B) + d / speed);
  CHECK(devices.run().record.simulated_s - workers.run().record.simulated_s == Approx(3 * around_s).epsilon(1e-9));
}

TEST_CASE("sums of layers inside a host are beside the backward pass") {
  constexpr int L = 4, steps_timed = 3;
  for (const std::int64_t layer_numbers : {2'000, 60'000, 655'360}) {
    CAPTURE(layer_numbers);
    const std::int64_t d = L * layer_numbers;
    const Case test_case = named<Allreduce>("allreduce", [](Allreduce& options) { options.bucket_bytes = 8.0; });
    Trial workers = timed_layers(test_case.plain(), hosts, d, L, steps_timed);
    Trial devices = on_devices(workers, test_case.on_hosts());
    devices.rows = g * workers.rows;
    const double m = 8.0 * static_cast<double>(layer_numbers);
    const auto pieces = [](double bytes) { return std::clamp(std::ceil(bytes / (512.0 * 1024)), 1.0, 64.0); };
    const auto piece_s = [&](double bytes) { return device_alpha + bytes / pieces(bytes) / device_B; };
    const auto around_s = [&](double bytes) { return (g - 2 + pieces(bytes)) * piece_s(bytes); };
    // The first device begins once it has sent all pieces; the last, where each sum begins, has them later. Half of a
    // gradient is its forward pass.
    const double first_s = pieces(L * m) * piece_s(L * m), last_s = around_s(L * m);
    const double t_c = 2 * 4e6 / speed, allreduce_s = 2 * (alpha + m / 2 / B);
    std::vector<double> through, summed;  // the ends of a layer's backward pass, and of its sum inside the host
    for (int i = 0; i < L; ++i) {
      through.push_back(first_s + t_c / 2 * (1.0 + (i + 1.0) / L));
      summed.push_back(through.back() - first_s + last_s + around_s(m));
    }
    double over_s = 0.0;
    for (std::size_t i = 0; i < L; ++i) {
      // The pass looks for sums that have come whenever it is through with a layer; at the end it waits for them.
      const auto look = std::find_if(through.begin(), through.end(), [&](double at) { return at >= summed[i]; });
      over_s = std::max(over_s, look == through.end() ? std::max(summed[i], through.back()) : *look) + allreduce_s;
    }
    CHECK(devices.run().record.simulated_s == Approx(steps_timed * over_s).epsilon(1e-9));
  }
}

TEST_CASE("parameters and sums go around a host once a step, whatever the micro-batches") {
  const auto simulated = [](std::int64_t micro_batches, bool no_sync, std::int64_t& bytes) {
    const Case test_case = named<Allreduce>("allreduce", [&](Allreduce& options) {
      options.micro_batches = micro_batches;
      options.no_sync = no_sync;
    });
    Trial workers = timed_layers(test_case.plain(), hosts, 60'000, 1, 3);
    workers.rows = 24;
    const record::Record record = on_devices(workers, test_case.on_hosts()).run().record;
    REQUIRE(record.error.empty());
    bytes = record.bytes;
    return record.simulated_s;
  };
  std::int64_t one_bytes = 0, three_bytes = 0, each_bytes = 0;
  const double one_s = simulated(1, false, one_bytes), three_s = simulated(3, true, three_bytes);
  CHECK(three_s == Approx(one_s).epsilon(1e-9));
  CHECK(three_bytes == one_bytes);
  // Without no_sync the first devices sum each micro-batch's gradient, and hosts still their own once.
  const double M = 8.0 * 60'000, allreduce_s = 2 * (alpha + M / 2 / B);
  // The other devices go on meanwhile, so that their sums are there when the first one's last pass is over.
  const double each_s = simulated(3, false, each_bytes);
  CHECK(each_s <= one_s + 3 * 2 * allreduce_s);
  CHECK(each_s > one_s + 3 * allreduce_s);
  CHECK(static_cast<double>(each_bytes - one_bytes) == 3 * 2 * 2 * M);
}

}  // namespace hosts_first_times_test
