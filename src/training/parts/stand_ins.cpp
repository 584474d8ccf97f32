#include "training/parts/stand_ins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/computed/network_routes.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/ring_orders.h"
#include "cluster/ranks/world.h"

namespace simgrad::training {

namespace {

constexpr std::array tensor{Dimension::tensor};
constexpr std::array sharers{Dimension::context, Dimension::expert};  ///< they may sum gradients within a replica

bool contains(std::span<const Dimension> all, Dimension dimension) {
  return std::ranges::find(all, dimension) != all.end();
}

/// The dimensions along which a simulated rank stands for others: a sum that goes along context or expert, too, passes
/// through ranks that are no images of each other.
std::vector<Dimension> represented_along(std::span<const Dimension> sums_along) {
  std::vector<Dimension> all{Dimension::tensor};
  if (sums_along.size() == 1) all.push_back(Dimension::data);
  return all;
}

/// The ranks of each kind of message that use a link: by their places in tensor, data and pipeline; 0 for data where it
/// is not represented.
struct Users {
  std::optional<std::pair<int, int>> hops;    ///< between stages, along context and expert: tensor, data
  std::optional<std::pair<int, int>> sums;    ///< of gradients: tensor, pipeline
  std::optional<std::pair<int, int>> shares;  ///< among those that share products: data, pipeline

  /// Whether no two represented ranks use the link.
  bool agree() const {
    if (hops && sums && hops->first != sums->first) return false;
    return !hops || !shares || hops->second == shares->first;
  }
};

/// Looks for links that messages of two represented ranks can be on.
class LinksApart {
 public:
  LinksApart(const Mesh& mesh, const cluster::World& world, const MeetingPoints& sums)
      : mesh_(mesh),
        world_(world),
        sums_(sums),
        represented_(represented_along(sums.along)),
        numbers_(world.cluster()) {}

  bool apart() {
    for (int rank = 0; rank < mesh_.ranks(); ++rank) {
      const MeshPlace place = mesh_.place(rank);
      const int t = place[Dimension::tensor], p = place[Dimension::pipeline];
      const int d = contains(represented_, Dimension::data) ? place[Dimension::data] : 0;
      const bool alone = use(rank, Dimension::pipeline, 1, &Users::hops, {t, d}) &&
                         use(rank, Dimension::pipeline, -1, &Users::hops, {t, d}) &&
                         use(rank, Dimension::context, 1, &Users::hops, {t, d}) && exchanges(rank, {t, d}) &&
                         rings(rank, sharers, std::nullopt, &Users::hops, {t, d}) &&
                         rings(rank, sums_.along, sums_.rings, &Users::sums, {t, p}) && pairs(rank, {t, p}) &&
                         rings(rank, tensor, std::nullopt, &Users::shares, {d, p});
      if (!alone) return false;
    }
    return true;
  }

 private:
  /// The rank sends to all others along `expert`.
  bool exchanges(int rank, std::pair<int, int> user) {
    for (int step = 1; step < mesh_.size(Dimension::expert); ++step)
      if (!use(rank, Dimension::expert, step, &Users::hops, user)) return false;
    return true;
  }

  /// The rank sends to the workers whose numbers differ from its own in one bit.
  bool pairs(int rank, std::pair<int, int> user) {
    const std::vector<int> group = mesh_.group(rank, sums_.along);
    if (sums_.meets != cluster::Meets::alike || !std::has_single_bit(group.size())) return true;
    const auto own = static_cast<std::size_t>(std::ranges::lower_bound(group, rank) - group.begin());
    for (std::size_t bit = 1; bit < group.size(); bit *= 2)
      if (!use(rank, group[own ^ bit], sums_.along, &Users::sums, user)) return false;
    return true;
  }

  /// The rank sends to its right neighbour in a ring along some dimensions, or in each of several rings.
  bool rings(int rank, std::span<const Dimension> along, std::optional<std::int64_t> asked,
             std::optional<std::pair<int, int>> Users::*kind, std::pair<int, int> user) {
    const std::vector<int> group = mesh_.group(rank, along);
    const auto self = std::ranges::find(group, rank) - group.begin();
    if (group.size() == 1) return true;
    auto [hops, fresh] = hops_.try_emplace(group);
    if (fresh) {
      std::vector<int> hosts;
      for (const int member : group) hosts.push_back(world_.host(member));
      const cluster::LocalGroups local = cluster::local_groups(world_.cluster(), hosts);
      const int number = cluster::rings_in_rounds(local, asked);
      if (number > 1) hops->second = cluster::hops_of_rings(cluster::ring_orders(local, number));
    }
    if (hops->second.empty()) return use(rank, mesh_.shifted(rank, along, 1), along, kind, user);
    for (auto hop = hops->second.lower_bound({static_cast<int>(self), 0});
         hop != hops->second.end() && hop->first.first == self; ++hop)
      if (!use(rank, group[static_cast<std::size_t>(hop->first.second)], along, kind, user)) return false;
    return true;
  }

  /// The rank sends to one along a dimension, so many places on.
  bool use(int rank, Dimension along, int step, std::optional<std::pair<int, int>> Users::*kind,
           std::pair<int, int> user) {
    const int size = mesh_.size(along);
    if (size == 1) return true;
    MeshPlace place = mesh_.place(rank);
    place[along] = (place[along] + step + size) % size;
    return use(rank, mesh_.rank(place), {&along, 1}, kind, user);
  }

  bool use(int rank, int target, std::span<const Dimension> along, std::optional<std::pair<int, int>> Users::*kind,
           std::pair<int, int> user) {
    const cluster::MemberRoute route = cluster::route_of_ranks(world_, rank, target, numbers_);
    if (!as_represented(route, rank, target, along)) return false;
    for (const int link : route.links) {
      Users& users = users_[link];
      std::optional<std::pair<int, int>>& known_user = users.*kind;
      if (known_user && *known_user != user) return false;
      known_user = user;
      if (!users.agree()) return false;
    }
    return true;
  }

  /// Whether a message takes as long on this route as on that of the ranks which are simulated for these two.
  bool as_represented(const cluster::MemberRoute& route, int source, int target, std::span<const Dimension> along) {
    MeshPlace from = mesh_.place(source), to = mesh_.place(target);
    for (const Dimension each : represented_)
      if (!contains(along, each)) from[each] = to[each] = 0;
    const std::pair<int, int> simulated{mesh_.rank(from), mesh_.rank(to)};
    auto found = simulated_.find(simulated);
    if (found == simulated_.end())
      found =
          simulated_.emplace(simulated, cluster::route_of_ranks(world_, simulated.first, simulated.second, numbers_))
              .first;
    const cluster::MemberRoute& stand_in_route = found->second;
    return std::abs(route.latency_s - stand_in_route.latency_s) <= 1e-12 * stand_in_route.latency_s &&
           route.bandwidth_bytes_per_s == stand_in_route.bandwidth_bytes_per_s &&
           route.flow_limit_bytes_per_s == stand_in_route.flow_limit_bytes_per_s;
  }

  const Mesh& mesh_;
  const cluster::World& world_;
  MeetingPoints sums_;
  std::vector<Dimension> represented_;
  cluster::LinkNumbers numbers_;
  std::map<std::vector<int>, std::map<std::pair<int, int>, int>> hops_;  ///< of several rings, by group
  std::map<std::pair<int, int>, cluster::MemberRoute> simulated_;        ///< by source and target
  std::unordered_map<int, Users> users_;                                 ///< by the links that flows share
};

/// The pairs that send as a pair of simulated ranks does, or a pair of a group that one of them stands for.
void images(const Mesh& mesh, bool along_data, int source, int target, const std::function<void(int, int)>& visit) {
  const MeshPlace from = mesh.place(source), to = mesh.place(target);
  const bool among_tensor = from[Dimension::tensor] != to[Dimension::tensor];
  const bool among_data = from[Dimension::data] != to[Dimension::data];
  const int tensors = among_tensor ? 1 : mesh.size(Dimension::tensor),
            replicas = among_data || !along_data ? 1 : mesh.size(Dimension::data);
  for (int t = 0; t < tensors; ++t)
    for (int d = 0; d < replicas; ++d) {
      MeshPlace a = from, b = to;
      if (!among_tensor) a[Dimension::tensor] = b[Dimension::tensor] = t;
      if (!among_data && along_data) a[Dimension::data] = b[Dimension::data] = d;
      visit(mesh.rank(a), mesh.rank(b));
    }
}

}  // namespace

std::unique_ptr<const cluster::StandIns> stand_ins_of(const Mesh& mesh, const cluster::World& world,
                                                      const MeetingPoints& sums) {
  const std::vector<Dimension> represented = represented_along(sums.along);
  int times = 1;
  for (const Dimension each : represented) times *= mesh.size(each);
  if (times == 1 || !LinksApart(mesh, world, sums).apart()) return nullptr;
  auto all = std::make_unique<cluster::StandIns>();
  all->times = times;
  int simulated = 0;
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    MeshPlace place = mesh.place(rank);
    for (const Dimension each : represented) place[each] = 0;
    all->of.push_back(mesh.rank(place));
    all->place.push_back(all->of.back() == rank ? simulated++ : -1);
  }
  const bool along_data = contains(represented, Dimension::data);
  all->images = [mesh, along_data](int source, int target, const std::function<void(int, int)>& visit) {
    images(mesh, along_data, source, target, visit);
  };
  return all;
}

}  // namespace simgrad::training
