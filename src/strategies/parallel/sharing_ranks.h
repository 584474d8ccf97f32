/// The ranks of a replica that share a rank's units, and what they exchange behind the steps of a model's passes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "models/cut_model.h"
#include "strategies/strategy.h"
#include "training/parts/mesh.h"

namespace simgrad::strategies {

training::Dimension dimension_of(models::Among among);

/// The ranks of this one's mesh that differ from it along that dimension alone.
cluster::Communicator along(const Worker& worker, training::Dimension dimension);

class SharingRanks {
 public:
  explicit SharingRanks(const Worker& worker);

  /// The communicator of the ranks of that kind; null where this rank has whole units.
  const cluster::Communicator* among(models::Among kind) const {
    const std::optional<cluster::Communicator>& comm = comms_[static_cast<std::size_t>(kind)];
    return comm ? &*comm : nullptr;
  }

 private:
  std::array<std::optional<cluster::Communicator>, models::kinds_of_shares> comms_;
};

/// An exchange of a step's numbers among ranks: they are put in order for a collective, sent, and put in the order that
/// the next step reads.
class Exchange {
 public:
  /// rows: samples that the step is about.
  Exchange(models::Step::Then then, std::int64_t rows) : then_(then), rows_(rows) {}
  Exchange(const models::Step& step, std::int64_t rows);

  /// Virtual time: of the collective.
  Tensor operator()(const cluster::Communicator& comm, const Tensor& numbers) const {
    return received(collective(comm, sent(numbers, comm.size())), comm.size());
  }
  // Its three parts; only the second one takes virtual time.
  Tensor sent(const Tensor& numbers, int members) const;
  Tensor collective(const cluster::Communicator& comm, const Tensor& numbers) const;
  Tensor received(const Tensor& numbers, int members) const;

 private:
  models::Step::Then then_;
  std::int64_t rows_;
  std::vector<std::int64_t> widths_ = {};  ///< numbers of a row on each rank, where they differ
};

}  // namespace simgrad::strategies
