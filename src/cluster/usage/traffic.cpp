#include "cluster/usage/traffic.h"

#include "cluster/fabric/cluster.h"
#include "cluster/stand_ins.h"

namespace simgrad::cluster {

Traffic::Traffic(const Cluster& cluster) : cluster_(cluster) {
  if (const std::int64_t bins = cluster.options().link_bins) bins_ = std::make_unique<LinkBins>(bins);
  begin();
}

void Traffic::begin() {
  if (cluster_.background()) background_before_ = cluster_.background()->carried();
  background_read_s_ = cluster_.now();
}

void Traffic::post(int source, int target, const Sent& sent) {
  by_ranks_.try_emplace(by_ranks_.end(), std::pair(source, target))->second += sent;  // most come in their order
}

void Traffic::repeat(const StandIns& stand_ins) {
  SentByPair all;
  for (const auto& [ranks, sent] : by_ranks_)
    stand_ins.images(ranks.first, ranks.second, [&all, &sent](int source, int target) {
      all[{source, target}] += sent;
    });
  by_ranks_ = std::move(all);
}

void Traffic::spread(LinkBins::Ends hosts, double start_s, double end_s, std::int64_t bytes) {
  bins_->add(hosts, start_s, end_s, static_cast<double>(bytes));
  read_background();
}

void Traffic::read_background() {
  if (!cluster_.background()) return;
  const double now = cluster_.now();
  for (const auto& [hosts, total] : cluster_.background()->carried()) {
    const double bytes = total - background_before_[hosts];
    const double before = std::exchange(background_[hosts], bytes);
    if (bins_) bins_->add(hosts, background_read_s_, now, bytes - before);
  }
  background_read_s_ = now;
}

}  // namespace simgrad::cluster
