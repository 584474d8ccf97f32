/// The tokens that experts take of a micro-batch, as its numbers say, and the exchanges of what stands at their places.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "models/cut_model.h"
#include "values/tensor.h"

namespace simgrad::training {
class Learning;
}

namespace simgrad::strategies {

class ExpertTokens {
 public:
  /// learning: outlives this object.  own: (rows x experts), how many of the rank's tokens each expert takes.  members:
  /// ranks that share the experts. even: tokens that the rank sends where all experts take as many.
  ExpertTokens(const training::Learning& learning, values::Tensor own, std::int64_t rows, int members,
               std::int64_t even);

  /// Whether it is known how many tokens this rank's experts take; before the other ranks' tokens have come it is not.
  bool arrived() const { return static_cast<bool>(arrived_); }
  /// How many they are. Waits for numbers, in real time.
  double here() const;
  /// Does the step's `then` to its numbers, of which those of tokens travel (models::Step::places). The counts travel
  /// with the copies of tokens, and add no bytes.  Virtual time: of the collective.
  values::Tensor exchanged(const models::Step& step, const cluster::Communicator& comm, const values::Tensor& numbers);

 private:
  values::Tensor to_experts(const cluster::Communicator& comm, const values::Tensor& numbers, std::int64_t width);
  values::Tensor back(const cluster::Communicator& comm, const values::Tensor& numbers, std::int64_t width) const;
  values::Tensor sum(const cluster::Communicator& comm, const values::Tensor& numbers, std::int64_t places,
                     std::int64_t width) const;

  const training::Learning& learning_;
  values::Tensor own_;      ///< (rows x experts)
  values::Tensor arrived_;  ///< (members x rows x this rank's experts)
  std::int64_t rows_;
  int members_;
  std::int64_t even_;
};

/// The numbers of a step at places that travel in a run of times alone, for or from each of the ranks that share
/// experts.
std::vector<std::int64_t> assumed_numbers(const models::Step& step, std::int64_t rows);
/// How many a rank brings, whose experts are those of `expert_rank`.
std::int64_t assumed_length(const models::Step& step, std::int64_t rows, int expert_rank);
/// An all-to-all of these.
values::Tensor exchange_assumed(const models::Step& step, std::int64_t rows, const cluster::Communicator& comm,
                                const values::Tensor& numbers);

}  // namespace simgrad::strategies
