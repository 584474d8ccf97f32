#include "collectives/trees_at_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "collectives/lengths.h"
#include "collectives/two_trees.h"

namespace simgrad::collectives {

using cluster::AlphaBetaGamma;
using cluster::MemberTiming;
using values::Combination;
using values::Tensor;

namespace {

/// One tree with its part of the vector.
struct TreeOfPart {
  Parents parents;
  std::vector<std::vector<int>> children;
  std::vector<int> from_root;  ///< all members, each behind its parent
  Stretch part;
  int chunks = 1;

  Stretch chunk(int k) const { return Split(part.count, chunks).chunk(k); }
};

TreeOfPart tree_of(Parents parents, const Stretch& part, int chunks) {
  TreeOfPart tree{.parents = std::move(parents), .children = {}, .from_root = {}, .part = part, .chunks = chunks};
  tree.children.resize(tree.parents.size());
  for (std::size_t m = 0; m < tree.parents.size(); ++m) {
    if (tree.parents[m] < 0)
      tree.from_root.push_back(static_cast<int>(m));
    else
      tree.children[static_cast<std::size_t>(tree.parents[m])].push_back(static_cast<int>(m));
  }
  for (std::size_t at = 0; at < tree.from_root.size(); ++at)
    for (const int child : tree.children[static_cast<std::size_t>(tree.from_root[at])]) tree.from_root.push_back(child);
  return tree;
}

/// Hops of both trees, in both directions, on a link.
class SharedHops {
 public:
  SharedHops(const std::vector<TreeOfPart>& trees, const AlphaBetaGamma& costs) : costs_(costs) {
    for (const TreeOfPart& tree : trees)
      for (std::size_t m = 0; m < tree.parents.size(); ++m)
        if (const int parent = tree.parents[m]; parent >= 0) {
          add(static_cast<int>(m), parent);
          add(parent, static_cast<int>(m));
        }
  }

  double latency_s(int from, int to) const { return costs_.routes ? route(from, to).latency_s : costs_.latency_s; }
  /// The hop's even part of its narrowest link.
  double bandwidth(int from, int to) const {
    if (!costs_.routes) {
      const double hops = std::max(hops_on_.at(out_of(from)), hops_on_.at(into(to)));
      return std::min(costs_.bandwidth_bytes_per_s / hops, costs_.flow_limit_bytes_per_s);
    }
    double rate = route(from, to).alone_bytes_per_s();
    for (const int link : route(from, to).links)
      rate = std::min(rate, route(from, to).payload_part * costs_.routes->bandwidth(link) / hops_on_.at(link));
    return rate;
  }

 private:
  const cluster::MemberRoute& route(int from, int to) const { return costs_.routes->between(from, to); }
  static int out_of(int member) { return 2 * member; }
  static int into(int member) { return 2 * member + 1; }
  void add(int from, int to) {
    if (costs_.routes) {
      for (const int link : route(from, to).links) ++hops_on_[link];
    } else {
      ++hops_on_[out_of(from)];
      ++hops_on_[into(to)];
    }
  }

  const AlphaBetaGamma& costs_;
  std::map<int, int> hops_on_;  ///< where all routes are alike, the two directions of each member's NIC are the links
};

/// One direction of an edge of a tree: chunks follow each other.
struct Hop {
  double latency_s = 0.0;
  double bandwidth = 1.0;
  double free_s = 0.0;  ///< the chunk before has left

  /// A chunk that is there at that time; returns when it has come.
  double pass(double ready_s, double bytes) {
    free_s = std::max(ready_s, free_s) + bytes / bandwidth;
    return free_s + latency_s;
  }
};

/// A message on a hop.
struct Passage {
  int source = 0, target = 0;
  std::int64_t bytes = 0;
  double start_s = 0.0, end_s = 0.0;
};

/// The way of all chunks through one tree.
class TreeWalk {
 public:
  TreeWalk(const TreeOfPart& tree, const SharedHops& shared, const std::vector<double>& seconds_per_flop,
           std::span<const double> arrivals, const values::WireFormat& wire)
      : tree_(tree), seconds_per_flop_(seconds_per_flop), arrivals_(arrivals), wire_(wire) {
    const std::size_t P = arrivals.size();
    up_.resize(P);
    down_.resize(P);
    came_up_s_.resize(P);
    came_down_s_.resize(P);
    added_s_.assign(arrivals.begin(), arrivals.end());
    end_s_ = added_s_;
    for (std::size_t m = 0; m < P; ++m)
      if (const int parent = tree.parents[m]; parent >= 0) {
        const auto member = static_cast<int>(m);
        up_[m] = {shared.latency_s(member, parent), shared.bandwidth(member, parent)};
        down_[m] = {shared.latency_s(parent, member), shared.bandwidth(parent, member)};
      }
  }

  /// Calls visit(passage) for each message.
  template <class Visit>
  void walk(const Visit& visit) {
    for (int k = 0; k < tree_.chunks; ++k) {
      const Stretch chunk = tree_.chunk(k);
      for (auto at = tree_.from_root.rbegin(); at != tree_.from_root.rend(); ++at) go_up(*at, chunk, visit);
      for (const int member : tree_.from_root) go_down(member, chunk, visit);
    }
  }

  double end_s(std::size_t member) const { return end_s_[member]; }

 private:
  /// A member adds its children's chunks to its own, in their order, and passes the sum on.
  template <class Visit>
  void go_up(int number, const Stretch& chunk, const Visit& visit) {
    const auto m = static_cast<std::size_t>(number);
    for (const int child : tree_.children[m])
      added_s_[m] = std::max(added_s_[m], came_up_s_[static_cast<std::size_t>(child)]) +
                    static_cast<double>(chunk.count) * seconds_per_flop_[m];
    if (const int parent = tree_.parents[m]; parent < 0)
      came_down_s_[m] = added_s_[m];
    else
      came_up_s_[m] = pass(up_[m], number, parent, added_s_[m], chunk, visit);
  }

  template <class Visit>
  void go_down(int number, const Stretch& chunk, const Visit& visit) {
    const auto m = static_cast<std::size_t>(number);
    for (const int child : tree_.children[m]) {
      const auto c = static_cast<std::size_t>(child);
      came_down_s_[c] = pass(down_[c], number, child, came_down_s_[m], chunk, visit);
    }
    end_s_[m] = std::max(end_s_[m], came_down_s_[m]);
  }

  /// Both ends have come, and their members leave when it has passed.
  template <class Visit>
  double pass(Hop& hop, int source, int target, double ready_s, const Stretch& chunk, const Visit& visit) {
    const auto s = static_cast<std::size_t>(source), t = static_cast<std::size_t>(target);
    const std::int64_t bytes = wire_.bytes(chunk.count);
    const double from_s = std::max({ready_s, arrivals_[t], hop.free_s});
    const double come_s = hop.pass(from_s, static_cast<double>(bytes));
    end_s_[s] = std::max(end_s_[s], come_s);
    visit(Passage{source, target, bytes, from_s, come_s});
    return come_s;
  }

  const TreeOfPart& tree_;
  const std::vector<double>& seconds_per_flop_;
  std::span<const double> arrivals_;
  const values::WireFormat& wire_;
  std::vector<Hop> up_, down_;                   ///< by the lower member
  std::vector<double> came_up_s_, came_down_s_;  ///< by the member that the chunk comes from, or to
  std::vector<double> added_s_;                  ///< by member: the last chunk is added up
  std::vector<double> end_s_;                    ///< by member
};

class TreesTiming final : public cluster::CollectiveTiming {
 public:
  TreesTiming(std::vector<TreeOfPart> trees, const Extent& x, std::string_view name, Combination how)
      : trees_(std::move(trees)), x_(x), name_(name), how_(how) {}

  std::string_view name() const override { return name_; }
  std::string signature() const override {
    return fmt::format("{} {} of {} at once in {}", name_, x_.length, x_.wire.bytes_per_number, trees_.front().chunks);
  }
  /// Its links are divided among its own hops, and nothing else on them is seen.
  bool follows_links() const override { return false; }
  bool pays_by_hop() const override { return true; }

  /// From the last arrival on a member adds, or communicates.
  std::vector<MemberTiming> timings(const AlphaBetaGamma& costs, std::span<const double> arrivals,
                                    const cluster::Until& until) const override {
    std::vector<MemberTiming> all(arrivals.size());
    walk(
        costs, arrivals, [](const Passage&) {}, &all);
    const double last_s = std::ranges::max(arrivals);
    for (std::size_t m = 0; m < all.size(); ++m) {
      MemberTiming& timing = all[m];
      const double from_s = std::min(last_s, timing.end_s);
      const double counted_s = until.part_s(static_cast<int>(m), from_s, timing.end_s);
      timing.compute_s = std::min(counted_s, additions(m) * costs.seconds_per_flop[m]);
      timing.communicate_s = counted_s - timing.compute_s;
    }
    return all;
  }

  cluster::SentByPair sent(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until) const override {
    cluster::SentByPair all;
    walk(costs, arrivals, [&](const Passage& passage) {
      if (passage.start_s <= until) all[{passage.source, passage.target}] += {passage.bytes, 1};
    });
    return all;
  }

  double show(const AlphaBetaGamma& costs, std::span<const double> arrivals, double until,
              cluster::TimingObserver& observer) const override {
    walk(costs, arrivals, [&](const Passage& passage) {
      if (passage.start_s < until)
        observer.sends(passage.source, passage.target, passage.bytes, passage.start_s, std::min(passage.end_s, until));
    });
    const std::vector<MemberTiming> all = timings(costs, arrivals, until);
    const double last_s = std::ranges::max(arrivals);
    for (std::size_t m = 0; m < all.size(); ++m) {
      const double sums_s = last_s + all[m].compute_s, end_s = std::min(all[m].end_s, until);
      const int parent = trees_.front().parents[m];
      const auto member = static_cast<int>(m);
      if (last_s < sums_s) observer.computes(member, last_s, sums_s);
      if (sums_s < end_s)
        observer.communicates(member, parent < 0 ? trees_.back().parents[m] : parent, x_.wire.bytes(x_.length), sums_s,
                              end_s);
    }
    return until;
  }

  std::vector<Tensor> results(std::vector<Tensor> brought) const override {
    std::vector<Tensor> parts;
    for (const TreeOfPart& tree : trees_) parts.push_back(total(tree, tree.from_root.front(), brought));
    return std::vector(brought.size(), values::concatenate(parts));
  }

 private:
  template <class Visit>
  void walk(const AlphaBetaGamma& costs, std::span<const double> arrivals, const Visit& visit,
            std::vector<MemberTiming>* ends = nullptr) const {
    const SharedHops shared(trees_, costs);
    // Both trees add at the same time, and share a member's speed.
    std::vector<double> seconds_per_flop = costs.seconds_per_flop;
    for (double& seconds : seconds_per_flop) seconds *= static_cast<double>(trees_.size());
    for (const TreeOfPart& tree : trees_) {
      TreeWalk tree_walk(tree, shared, seconds_per_flop, arrivals, x_.wire);
      tree_walk.walk(visit);
      for (std::size_t m = 0; ends && m < ends->size(); ++m)
        (*ends)[m].end_s = std::max((*ends)[m].end_s, tree_walk.end_s(m));
    }
  }

  double additions(std::size_t member) const {
    double numbers = 0.0;
    for (const TreeOfPart& tree : trees_)
      numbers += static_cast<double>(tree.children[member].size()) * static_cast<double>(tree.part.count);
    return numbers;
  }

  /// A member's part with those of all below it, the children in their order.
  Tensor total(const TreeOfPart& tree, int member, const std::vector<Tensor>& x) const {
    Tensor sum = values::slice(x[static_cast<std::size_t>(member)], tree.part.first, tree.part.count);
    for (const int child : tree.children[static_cast<std::size_t>(member)])
      sum = values::combine(how_, sum, total(tree, child, x));
    return sum;
  }

  std::vector<TreeOfPart> trees_;
  Extent x_;
  std::string_view name_;
  Combination how_;
};

}  // namespace

std::vector<Parents> trees_of_hosts(const std::vector<std::vector<int>>& hosts) {
  std::size_t members = 0;
  for (const std::vector<int>& host : hosts) members += host.size();
  std::vector<Parents> trees(2, Parents(members, -1));
  const auto among = TwoTrees::of(static_cast<int>(hosts.size()));
  for (int tree = 0; tree < 2; ++tree) {
    Parents& parents = trees[static_cast<std::size_t>(tree)];
    const auto head = [&](int host) {
      const std::vector<int>& host_members = hosts[static_cast<std::size_t>(host)];
      return tree == 0 ? host_members.front() : host_members.back();
    };
    for (int h = 0; h < static_cast<int>(hosts.size()); ++h) {
      std::vector<int> chain = hosts[static_cast<std::size_t>(h)];
      if (tree == 1) std::reverse(chain.begin(), chain.end());
      for (std::size_t i = 1; i < chain.size(); ++i) parents[static_cast<std::size_t>(chain[i])] = chain[i - 1];
      const int parent = among->edge(tree, h).parent;
      parents[static_cast<std::size_t>(head(h))] = parent < 0 ? -1 : head(parent);
    }
  }
  return trees;
}

std::shared_ptr<const cluster::CollectiveTiming> timing_of_trees(std::vector<Parents> trees, const Extent& x,
                                                                 double chunk_bytes, std::string_view name,
                                                                 Combination how) {
  const Split halves(x, static_cast<int>(trees.size()));
  const auto bytes = static_cast<double>(x.wire.bytes(halves.largest().count));
  const int chunks = std::max(1, static_cast<int>(std::ceil(bytes / chunk_bytes)));
  std::vector<TreeOfPart> all;
  for (std::size_t tree = 0; tree < trees.size(); ++tree)
    all.push_back(tree_of(std::move(trees[tree]), halves.chunk(static_cast<int>(tree)), chunks));
  return std::make_shared<TreesTiming>(std::move(all), x, name, how);
}

}  // namespace simgrad::collectives
