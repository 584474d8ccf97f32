/// The use of ranks, hosts and links in a run, read off the ledger and the accounts at the end.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "record/record.h"

namespace simgrad::cluster {

class World;

/// The seconds that all hosts of a world together have computed, and been down, until now.
struct HostSeconds {
  double busy_s = 0.0;
  double down_s = 0.0;
};
HostSeconds host_seconds(const World& world);

/// ranks, bytes, messages, links, link_bins, wires, hosts and simulated_s of the record, and notes on the topology.
record::Record usage_of(const World& world);

// Parts of it, each after those above.

void add_ranks(record::Record& record, const World& world);
/// Links in the order of the ranks that first use them.
void add_links(record::Record& record, const World& world);
void add_link_bins(record::Record& record, const World& world);
/// Where the ends of the used links meet.
void add_cabling(record::Record& record, const World& world);
/// A note: of the pairs of hosts whose way was chosen by a hash, how many met another pair on it; none without hashes.
void add_collisions(record::Record& record, const World& world);
/// A note on room that the topology has and the cluster leaves empty.
void add_unfilled(record::Record& record, const World& world);
void add_hosts(record::Record& record, const World& world);

/// Records the links of each dimension of a mesh: by dimension, then by class of link.  dimension_of: the number of the
/// name of the dimension along which two ranks exchange messages.
void add_dimensions(record::Record& record, const World& world, const std::vector<std::string>& names,
                    const std::function<std::size_t(int source, int target)>& dimension_of);

}  // namespace simgrad::cluster
