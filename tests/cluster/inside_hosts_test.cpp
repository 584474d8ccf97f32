// Messages between the devices of a host: neither cluster.flow_limit nor the rules of TCP and Ethernet are theirs.
#include <memory>
#include <utility>

#include "catch.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "cluster/topologies/star.h"
#include "cluster/transfers.h"

namespace inside_hosts_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

constexpr double B = 1e9;           // of a NIC
constexpr double L = 10e-6;         // between hosts
constexpr double inside_B = 100e9;  // of a device
constexpr double inside_L = 4e-6;   // between the devices of a host
constexpr std::int64_t d = 1'000'000;
constexpr double M = 8e6;
constexpr int devices = 4, workers = 8;

auto nine(double x) { return Approx(x).epsilon(1e-9); }

template <class Kind>
Options on(Kind kind) {
  Options options;
  options.workers = workers;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  options.topology = base::Slot<Topology>(topologies(), std::make_unique<Kind>(std::move(kind)));
  return options;
}

Options star(double latency_s = inside_L) {
  Star star;
  star.devices_per_host = devices;
  star.device_bandwidth_bytes_per_s = inside_B;
  star.device_latency_s = latency_s;
  return on(std::move(star));
}

Options gpu_hosts(double latency_s = inside_L) {
  GpuHosts hosts;
  hosts.devices = devices;
  hosts.nvlink_bandwidth_bytes_per_s = inside_B;
  hosts.nvlink_latency_s = latency_s;
  return on(std::move(hosts));
}

Options pod() {
  Pod pod;
  pod.devices = devices;
  pod.nics = devices;
  pod.nvlink_bandwidth_bytes_per_s = inside_B;
  pod.nvlink_latency_s = inside_L;
  return on(std::move(pod));
}

/// Ends of messages by both networks: SimGrid's, and that of a program of many messages.
void check_ends(const Options& options, const std::vector<Transfer>& transfers, const std::vector<double>& expected) {
  for (const bool many_to_many : {false, true}) {
    CAPTURE(many_to_many, options.topology.kind());
    const std::vector<double> ends = transfer_ends(options, workers, transfers, many_to_many);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(ends[i] == nine(expected[i]));
  }
}

}  // namespace

TEST_CASE("the limit of a flow holds between hosts, not between the devices of a host") {
  for (Options options : {star(), gpu_hosts(), pod()}) {
    options.flow_limit_bytes_per_s = B / 8;
    check_ends(options, {{0, 1, d}}, {inside_L + M / inside_B});
    check_ends(options, {{0, 4, d}}, {L + M / (B / 8)});
    // Both at once, and two into one device.
    check_ends(options, {{0, 1, d}, {4, 0, d}}, {inside_L + M / inside_B, L + M / (B / 8)});
    check_ends(options, {{0, 3, d}, {1, 3, d}}, {inside_L + 2 * M / inside_B, inside_L + 2 * M / inside_B});
  }
}

TEST_CASE("tcp slows messages between hosts, not those between the devices of a host") {
  for (Options options : {star(), gpu_hosts(), pod()}) {
    options.network_model = NetworkModel::tcp;
    check_ends(options, {{0, 1, d}}, {inside_L + M / inside_B});
    check_ends(options, {{0, 4, d}}, {13.01 * L + M / (0.97 * B)});
    // Full duplex: no acknowledgements are on the way back.
    check_ends(options, {{0, 1, d}, {1, 0, d}}, {inside_L + M / inside_B, inside_L + M / inside_B});
    check_ends(options, {{0, 3, d}, {1, 3, d}}, {inside_L + 2 * M / inside_B, inside_L + 2 * M / inside_B});
  }
}

TEST_CASE("no window of tcp limits a flow between the devices of a host") {
  constexpr double slow_L = 1e-3;  // 4 MiB / 2 ms is 2.1 GB/s, a fiftieth of a device's bandwidth
  Options options = gpu_hosts(slow_L);
  options.network_model = NetworkModel::tcp;
  check_ends(options, {{0, 1, 100 * d}}, {slow_L + 100 * M / inside_B});
}

TEST_CASE("without devices in a host tcp still has acknowledgements on the way back") {
  Options options;
  options.workers = workers;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = L};
  options.network_model = NetworkModel::tcp;
  // Each direction carries a flow and a twentieth of the other.
  const double both = 13.01 * L + 1.05 * M / (0.97 * B);
  check_ends(options, {{0, 1, d}, {1, 0, d}}, {both, both});
}

TEST_CASE("ethernet takes the time of frames between hosts, not between the devices of a host") {
  for (Options options : {star(), gpu_hosts(), pod()}) {
    options.network_model = NetworkModel::ethernet;
    options.window_bytes = 1000;  // 50 MB/s between hosts
    check_ends(options, {{0, 1, d}}, {inside_L + M / inside_B});
    check_ends(options, {{0, 4, d}}, {L + M / (1000 / (2 * L))});
    options.window_bytes = 1e6;
    check_ends(options, {{0, 4, d}}, {L + M / (B * 1448 / 1538)});
  }
}

}  // namespace inside_hosts_test
