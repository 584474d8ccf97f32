#include "planner/kinds.h"

#include <fmt/format.h>

#include <set>

namespace simgrad::planner {

namespace {

std::string hosts_kind(const Candidate& candidate) {
  std::set<std::string> classes;
  for (const record::HostUse& host : candidate.hosts) classes.insert(host.host_class + (host.spot ? " on spot" : ""));
  std::string text(candidate.settings->cluster.device.kind());
  for (const std::string& each : classes) text += ", " + each;
  return text + ", " + std::string(candidate.settings->cluster.topology.kind());
}

std::string mesh_kind(const Candidate& candidate) {
  const strategies::Parallel& parallel = candidate.settings->parallel;
  if (!parallel.cuts()) return "";
  return fmt::format("{} x {} x {} x {}", parallel.tensor, parallel.pipeline, parallel.context, parallel.expert);
}

}  // namespace

Kinds kinds_of(const Candidate& candidate) {
  return {candidate.run.kind, hosts_kind(candidate), mesh_kind(candidate), candidate.run.label,
          candidate.parameters.dump()};
}

std::size_t distinction(const Candidate& a, const Candidate& b) {
  const Kinds of_a = kinds_of(a), of_b = kinds_of(b);
  for (std::size_t k = 0; k < of_a.size(); ++k)
    if (of_a[k] != of_b[k]) return k;
  return of_a.size();
}

}  // namespace simgrad::planner
