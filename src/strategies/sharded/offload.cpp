#include "strategies/sharded/offload.h"

#include <fmt/format.h>

#include <array>

#include "strategies/circumstances.h"
#include "training/learning/layer_times.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

namespace {

constexpr double default_bandwidth_bytes_per_s = 200e9;

constexpr std::array offloads{
    base::Choice{"none", "everything is in the device's memory"},
    base::Choice{"optimizer",
                 "the optimizer's vectors: the host gets the gradients, updates, and sends the parameters back"},
    base::Choice{"parameters", "also the shard of the parameters, which the device gets before each all-gather"}};

}  // namespace

void HostMemory::describe(base::Describer& d) {
  d.choice("offload", offload, offloads,
           "what is kept in the memory of the host, which the device reaches over its host link");
  d.quantity("host_bandwidth", bandwidth_bytes_per_s, base::Unit::bytes_per_second,
             "memory bandwidth of a device's share of its host, at which the host updates; default: 200 GB/s",
             base::Bounds::above_zero());
  if (bandwidth_bytes_per_s && offload == Offload::none)
    d.refuse("host_bandwidth",
             "host_bandwidth is for updates on the host, but offload = \"none\"; set offload, or leave it out");
}

std::optional<Refusal> HostMemory::refusal(const Circumstances& circumstances) const {
  if (offload == Offload::none) return {};
  for (int worker = 0; worker < circumstances.workers; ++worker) {
    const cluster::Device* const device = circumstances.cluster.device_of(worker);
    if (device && device->host_link_bytes_per_s) continue;
    return Refusal{
        "offload",
        fmt::format("offload needs a link between a device and its host, but {} of worker {} has none; take "
                    "a cluster.device with a host_link (a100_80gb, or custom with one), or offload = \"none\"",
                    device ? "the device" : "the host", worker)};
  }
  return {};
}

void HostMemory::update(Worker& worker, State& state, const Tensor& g, const Tensor& squares) const {
  if (offload == Offload::none) return worker.update(state, g, 1.0, squares);
  const training::NumberBytes bytes = worker.number_bytes();
  const auto numbers = static_cast<double>(state.w.size());
  const double over_link = bytes.gradient + (takes_parameters() ? 0.0 : bytes.parameter);
  const double on_host = training::update_bytes(worker.learning().precision(), state.optimizer.size());
  worker.update_on_host(state, g,
                        numbers * on_host / bandwidth_bytes_per_s.value_or(default_bandwidth_bytes_per_s) +
                            worker.host_link_s(numbers * over_link),
                        squares);
}

}  // namespace simgrad::strategies
