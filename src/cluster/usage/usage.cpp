#include "cluster/usage/usage.h"

#include <string>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/traffic.h"

namespace simgrad::cluster {

record::Record usage_of(const World& world) {
  record::Record record;
  record.simulated_s = world.now() - world.start_s();
  add_ranks(record, world);
  add_links(record, world);
  add_link_bins(record, world);
  add_cabling(record, world);
  add_collisions(record, world);
  add_unfilled(record, world);
  add_hosts(record, world);
  return record;
}

void add_unfilled(record::Record& record, const World& world) {
  const Cluster& cluster = world.cluster();
  if (!cluster.options().platform.empty()) return;
  std::string note = cluster.options().topology->unfilled(cluster.hosts(), static_cast<int>(cluster.options().workers));
  if (!note.empty()) record.notes.push_back(std::move(note));
}

void add_ranks(record::Record& record, const World& world) {
  record.ranks.resize(static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank) {
    record::RankUse& use = record.ranks[static_cast<std::size_t>(rank)];
    use.role = rank < world.workers() ? "worker" : "server";
    use.host_class = world.cluster().host_class(world.host(rank));
    world.timekeeper().main(world.simulated(rank)).account().add_to(use);
  }
  for (const auto& [ranks, sent] : world.traffic().by_ranks()) {
    record.bytes += sent.bytes;
    record.messages += sent.messages;
    record.ranks[static_cast<std::size_t>(ranks.first)].bytes_sent += sent.bytes;
    record.ranks[static_cast<std::size_t>(ranks.second)].bytes_received += sent.bytes;
  }
}

}  // namespace simgrad::cluster
