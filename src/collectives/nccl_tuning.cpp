#include "collectives/nccl_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace simgrad::collectives {

namespace {

constexpr double us = 1e-6, gb_per_s = 1e9;

/// LL, LL128 and Simple.
using ByProtocol = std::array<double, 3>;
/// On one host, on two, on more.
using ByHosts = std::array<double, 3>;

struct Latencies {
  ByProtocol tree, ring;
};

constexpr Latencies of_call{.tree = {6.8, 14.0, 0.0}, .ring = {6.6, 14.0, 8.4}};     // us
constexpr Latencies of_nvlink{.tree = {0.6, 1.25, 28.0}, .ring = {0.6, 1.9, 3.4}};   // us a hop
constexpr Latencies of_pcie{.tree = {1.0, 1.9, 28.0}, .ring = {1.0, 2.5, 5.7}};      // us a hop
constexpr Latencies of_network{.tree = {5.0, 8.5, 28.0}, .ring = {2.7, 4.0, 14.0}};  // us a hop
constexpr ByProtocol post_overhead{1.0, 1.0, 3.0};                                   // us a hop beside a network

// GB/s, by generation.
constexpr std::array<double, 3> ll_of_one_host{39.0, 87.7, 87.7};
constexpr ByHosts ll_of_hosts{0.0, 39.0, 20.4};
constexpr std::array<ByHosts, 3> ring_ll128_of_channel{{{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}}};
constexpr std::array<ByHosts, 3> tree_ll128_of_channel{{{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}}};
constexpr std::array<ByHosts, 3> tree_of_channel{{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}}};

/// The part of a tree's bandwidth that is left where trees enter and leave a host at one device.
constexpr double kept_by_chained_trees = 0.85;
/// The part of a tree's bandwidth that vectors of 2^(6+i) bytes get.
using ByLength = std::array<double, 23>;
constexpr std::array<ByLength, 3> tree_corrections{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

std::size_t lg(double x) { return x < 2.0 ? 0 : static_cast<std::size_t>(std::ilogb(x)); }

double latency_s(const NcclFabric& fabric, bool tree, NcclProtocol protocol) {
  const auto p = static_cast<std::size_t>(protocol);
  const Latencies& of_inside = fabric.inside == NcclInside::nvlink ? of_nvlink : of_pcie;
  const auto of = [&](const Latencies& all) { return (tree ? all.tree : all.ring)[p]; };
  if (tree) {
    const double inside_hops = std::floor(static_cast<double>(fabric.ranks / fabric.hosts)) - 1.0;
    const auto levels = static_cast<double>(lg(fabric.hosts));
    return us * (of(of_call) + 2.0 * (inside_hops * of(of_inside) + levels * of(of_network)));
  }
  const double steps = 2.0 * (fabric.ranks - 1), crossings = fabric.hosts > 1 ? 2.0 * fabric.hosts : 0.0;
  const double inside = std::max(of(of_inside), fabric.hosts > 1 ? post_overhead[p] : 0.0);
  return us * (of(of_call) + (steps - crossings) * inside + crossings * of(of_network));
}

/// Bytes of the vector a second.
double bandwidth(const NcclFabric& fabric, bool tree, NcclProtocol protocol) {
  const auto generation = static_cast<std::size_t>(fabric.generation);
  const std::size_t hosts = static_cast<std::size_t>(std::clamp(fabric.hosts, 1, 3)) - 1;
  const double most_of_ll = hosts == 0 ? ll_of_one_host[generation] : ll_of_hosts[hosts];
  double bus = fabric.bus_bytes_per_s(tree) / gb_per_s;
  if (tree) bus = std::min(0.92 * bus, fabric.channels * tree_of_channel[generation][hosts]);
  if (protocol == NcclProtocol::ll) bus = std::min(bus / (tree ? 3.8 : 4.0), most_of_ll);
  if (protocol == NcclProtocol::ll128) {
    const double kept = tree ? (hosts == 0 ? 7.0 / 9.0 : 120.0 / 128.0) : fabric.ranks < 2 * fabric.hosts ? 0.7 : 0.92;
    const auto& of_channel = tree ? tree_ll128_of_channel : ring_ll128_of_channel;
    bus = std::min(kept * bus, fabric.channels * of_channel[generation][hosts]);
  }
  if (tree && fabric.chained_trees()) bus *= kept_by_chained_trees;
  return gb_per_s * bus * (tree ? 0.5 : fabric.ranks / (2.0 * (fabric.ranks - 1)));
}

}  // namespace

double nccl_seconds(const NcclFabric& fabric, bool tree, NcclProtocol protocol, double bytes) {
  if (protocol == NcclProtocol::ll128 && fabric.inside == NcclInside::pcie)
    return std::numeric_limits<double>::infinity();
  double rate = bandwidth(fabric, tree, protocol), latency = latency_s(fabric, tree, protocol);
  const std::size_t length = lg(bytes / 64.0);
  const ByLength& corrections = tree_corrections[static_cast<std::size_t>(protocol)];
  if (tree && length < corrections.size()) rate *= corrections[length];
  const bool long_chunks = bytes / (static_cast<double>(fabric.channels) * fabric.ranks) >= 64.0;
  if (!tree && protocol == NcclProtocol::simple && fabric.hosts > 1 && long_chunks)
    latency *= fabric.generation == NcclGeneration::volta ? 1.9 : 1.4;
  return latency + bytes / rate;
}

NcclChoice nccl_choice(const NcclFabric& fabric, double bytes) {
  NcclChoice best{.seconds = std::numeric_limits<double>::infinity()};
  for (const bool tree : {true, false})
    for (const auto protocol : {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple})
      if (const double seconds = nccl_seconds(fabric, tree, protocol, bytes); seconds < best.seconds)
        best = {.tree = tree,
                .protocol = protocol,
                .seconds = seconds,
                .call_s = us * (tree ? of_call.tree : of_call.ring)[static_cast<std::size_t>(protocol)]};
  return best;
}

std::string_view NcclChoice::name() const {
  constexpr std::array<std::string_view, 3> rings{"nccl ring LL", "nccl ring LL128", "nccl ring Simple"};
  constexpr std::array<std::string_view, 3> trees{"nccl tree LL", "nccl tree LL128", "nccl tree Simple"};
  return (tree ? trees : rings)[static_cast<std::size_t>(protocol)];
}

}  // namespace simgrad::collectives
