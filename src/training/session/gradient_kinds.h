/// The time of each rank's gradients on its device, by the kind of work.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "record/record.h"
#include "training/learning/layer_times.h"

namespace simgrad::training {

class RankWork;
class Session;

class GradientKinds {
 public:
  /// Counts a gradient over so many rows. device: of the rank's host.  work: of layers that stay where they are until
  /// the end of the training, for the times are remembered by their place.
  void add(int rank, const cluster::Device& device, const RankWork& work, std::int64_t rows);
  /// Counts a gradient of such times.
  void add(int rank, const KindTimes& times);
  /// Ranks that were not simulated have what their stand-ins have.  of: by rank.
  void repeat(const std::vector<int>& of);
  /// Divides the time that each rank has spent on gradients as the device's times are divided, so that whatever
  /// stretches a gradient stretches its parts alike. The record has its ranks and their times already.
  void fill(record::Record& record) const;

 private:
  using Key = std::tuple<const cluster::Device*, const models::Layer*, std::int64_t, double, bool>;
  std::map<Key, KindTimes> known_;  ///< by device, layers, rows and what passes do besides (ParameterPasses)
  std::vector<KindTimes> sums_;     ///< by rank
};

/// Counts a gradient of that rank over so many rows, if its host has a device.  work: of the layers of its learning.
void count_gradient(Session& session, int rank, const RankWork& work, std::int64_t rows);
/// Counts one of any layers.
void count_task_gradient(Session& session, int rank, const RankWork& work, std::int64_t rows);

}  // namespace simgrad::training
