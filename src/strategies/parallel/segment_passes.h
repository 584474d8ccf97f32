/// The passes of a micro-batch through segments of a part, among the ranks that share its units.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "models/model_part.h"
#include "strategies/parallel/expert_tokens.h"
#include "strategies/parallel/part_units.h"
#include "strategies/parallel/sharing_ranks.h"
#include "strategies/parallel/slice_cache.h"
#include "strategies/strategy.h"
#include "training/part_passes.h"
#include "training/passes.h"

namespace simgrad::strategies {

/// A micro-batch that has gone forward through a chunk, and not back.
struct MicroBatchPass {
  training::PartPasses passes;
  Tensor w;                                         ///< the version of the weights that it sees, forward and back
  std::int64_t version = 0;                         ///< how many updates that version has seen
  std::vector<Tensor> in;                           ///< of each segment
  std::vector<std::vector<Tensor>> kept;            ///< likewise, the numbers of steps that the backward pass reads
  std::vector<Tensor> gradients;                    ///< likewise, once its backward pass is done
  std::map<std::size_t, ExpertTokens> tokens = {};  ///< of segments whose experts' work follows the router
};

class SegmentPasses {
 public:
  /// sharing: outlives this object.
  SegmentPasses(const Worker& worker, const SharingRanks& sharing);

  /// Returns what goes out of the segment.  Virtual time: of its layers, and of the collectives that its steps name.
  Tensor forward(int chunk, std::size_t segment, MicroBatchPass& micro);
  /// Returns the derivatives by what came in, and leaves the gradient in `micro`.
  Tensor backward(int chunk, std::size_t segment, MicroBatchPass& micro, const Tensor& d_out,
                  training::BackwardPiece piece);
  /// Parameters are the visitor's from now on, by unit; null: those of the micro-batch.
  void read_from(const training::UnitVisitor* visitor, const PartUnits& units) {
    visitor_ = visitor;
    units_ = &units;
  }
  /// Exchanges among tensor ranks go through the cache from now on. It outlives this object.
  void keep_in(SliceCache& cache) { cache_ = &cache; }
  /// Whether tensors have numbers, or are followed by their lineages; else only their lengths are seen.
  bool followed() const;

 private:
  /// A place in the model, and the micro-batch that is there.
  struct At {
    std::size_t chunk, segment;
    MicroBatchPass& micro;
    record::Work work;  ///< forward, backward, or forward a second time (recompute)
    const models::Segment& model_segment;
    training::BackwardPiece piece = training::BackwardPiece::whole;
    std::vector<Tensor> made = {};      ///< the numbers of the steps that are done
    std::size_t computed = 0;           ///< layers, in the order of the pass
    std::optional<int> gathering = {};  ///< the task whose result is `made[gathered]`
    std::size_t gathered = 0;

    bool backward() const { return work == record::Work::backward; }
    const std::vector<models::Step>& steps() const {
      return backward() ? model_segment.backward : model_segment.forward;
    }
  };
  At at(std::size_t chunk, std::size_t segment, MicroBatchPass& micro, record::Work work) const;
  Tensor numbers_of(const At& at, std::size_t step, const Tensor& d_out) const;
  Tensor lengths_of(const At& at, std::size_t step) const;
  bool assumes(const models::Step& step) const;
  Tensor assumed_lengths(const At& at, const models::Step& step) const;
  Tensor exchanged(const At& at, std::size_t step, const Tensor& numbers) const;
  Tensor beside(const At& at, const models::Step& step, const Tensor& numbers);
  bool goes_beside(const models::Step& step) const { return step.beside > 0.0 && sharing_.among(step.among); }
  void count_tokens(const At& at, const Tensor& counts) const;
  void compute_before(At& at, std::size_t step);
  void compute_until(At& at, std::size_t layers);
  void repeat_forward(const At& at);
  void finish_gathering(At& at);
  double work_beside(const std::vector<models::Step>& steps) const;
  Tensor parameters(const At& at) const;

  const Worker& worker_;
  const SharingRanks& sharing_;
  const training::UnitVisitor* visitor_ = nullptr;
  const PartUnits* units_ = nullptr;
  SliceCache* cache_ = nullptr;  ///< null: every exchange is waited for
  std::array<std::optional<cluster::SideStream>, models::kinds_of_shares> streams_;  ///< beside the rank's products
};

}  // namespace simgrad::strategies
