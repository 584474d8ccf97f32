#include "cluster/topologies/ring.h"

namespace simgrad::cluster {

std::vector<Cable> RingOfHosts::cables(const Blueprint& blueprint) const {
  const int P = blueprint.hosts;
  const int links = P == 2 ? 1 : P;  // between two hosts there is one cable
  std::vector<Cable> all;
  for (int host = 0; P > 1 && host < links; ++host)
    all.push_back(
        {host, (host + 1) % P, "ring", blueprint.host_spec.bandwidth_bytes_per_s, blueprint.host_spec.latency_s});
  return all;
}

std::vector<int> RingOfHosts::path(const Blueprint& blueprint, int from, int to) const {
  const int P = blueprint.hosts;
  const int upwards = (to - from + P) % P;
  const int step = 2 * upwards <= P ? 1 : P - 1;
  std::vector<int> nodes{from};
  while (nodes.back() != to) nodes.push_back((nodes.back() + step) % P);
  return nodes;
}

}  // namespace simgrad::cluster
