/// Models that can be cut: between units, into the stages of a pipeline, and inside of units, among ranks that share
/// products (tensor parallelism), a sequence's tokens (context parallelism), or experts and tables (expert
/// parallelism). This header says which numbers a rank holds and computes; it knows neither messages nor time.
///
/// A chunk's layers stand in segments. At the borders of segments, ranks that share products hold the same numbers, or
/// equal parts of them by tokens (sequence parallelism); ranks along `context` hold the numbers of their own tokens,
/// and ranks along `expert` those of their own samples of a micro-batch. A pass through a segment is a list of steps: a
/// computation of each rank's own, and behind it a sum, a maximum, a gathering or an exchange among the ranks.
/// Source: M. Shoeybi et al., Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism,
/// 2019; V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, 2023; H. Liu, M.
/// Zaharia, P. Abbeel, Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023; D. Lepikhin et al.,
/// GShard: Scaling Giant Models with Conditional Computation and Automatic Sharding, 2020.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "models/model.h"
#include "values/wire_format.h"

namespace simgrad::models {

/// The ranks that have parts of one unit, and exchange numbers in it.
enum class Among : unsigned char {
  tensor,   ///< parts of its products
  context,  ///< equal stretches of each sequence's tokens, all parameters
  expert    ///< equal shares of its experts or tables; and equal shares of a micro-batch's samples
};
inline constexpr std::size_t kinds_of_shares = 3;

/// How many ranks share a unit.
struct Shares {
  int tensor = 1;
  bool sequence_parallel = false;  ///< norms and sums outside of products on 1/tensor of a rank's tokens
  int context = 1;
  int expert = 1;
  bool by_weights = false;  ///< tensor ranks have shares of unlike sizes: they need not divide what they share
};

/// Units as one rank holds them.
struct Chunk {
  std::int64_t first_unit = 0;
  std::int64_t end_unit = 0;  ///< the first unit behind the chunk
  int tensor = 1;             ///< the ranks that share it, and this one among them
  int tensor_rank = 0;
  bool sequence_parallel = false;
  int context = 1;
  int context_rank = 0;
  int expert = 1;
  int expert_rank = 0;
  std::vector<double> tensor_weights =
      {};  ///< of the tensor ranks, whose shares are in proportion; empty: equal shares
};

/// A stretch of w: a chunk's, or the whole model's.
struct ParameterStretch {
  std::int64_t first = 0, count = 0;
  bool operator==(const ParameterStretch&) const = default;
};

/// The parameters of both; of no length if there are none.
ParameterStretch common(const ParameterStretch& a, const ParameterStretch& b);

/// A tensor rank's stretch of so many units, such as rows of a matrix or heads: an equal share of what divides, or one
/// by largest remainders in proportion to the weights, with a unit at least if there are enough.
ParameterStretch tensor_share(const Chunk& chunk, std::int64_t units, int rank);
/// The chunk's own.
ParameterStretch tensor_share(const Chunk& chunk, std::int64_t units);

/// Things of one kind that tensor ranks share whole: "heads", 5.
struct SharedUnits {
  std::string name;
  std::int64_t count = 0;
};

/// Appends stretches, and joins those that stand one behind the other.
class JoinedStretches {
 public:
  void add(std::int64_t first, std::int64_t count);
  std::vector<ParameterStretch> all;
};

/// A computation of one rank, and what is done among n ranks with its numbers before the next step reads them.
struct Step {
  enum class Then {
    nothing,
    sum,              ///< all-reduce
    max,              ///< all-reduce by maxima
    gather,           ///< all-gather: of each sample, rank 0's numbers, then rank 1's, ...
    sum_shard,        ///< reduce-scatter: of each sample, rank r keeps part r of n equal parts of the sum
    all_to_all,       ///< of each own sample, part r of n equal parts goes to rank r; there come rank 0's samples, each
                      ///< with its part for this rank, then rank 1's, ...
    all_to_all_back,  ///< the way back: of n equal blocks block r goes to rank r; there come, of each own sample, rank
                      ///< 0's part, then rank 1's, ...
  };
  static constexpr std::size_t all_layers = std::numeric_limits<std::size_t>::max();

  Then then = Then::nothing;
  Among among = Among::tensor;
  double numbers = 0.0;    ///< of a sample, that the step makes (before `then`)
  bool gradients = false;  ///< behind these numbers stands the gradient of the segment's parameters, of the length of
                           ///< StepInputs::w, with zeros where another step makes it: the steps' gradients add up
  bool again = false;      ///< `then` repeats what the forward pass has gathered; it can run beside other work
  /// Layers of the segment, in the order of the pass, whose work is done before `then` begins; no fewer than in the
  /// step before.
  std::size_t layers = all_layers;
  /// `then` goes on beside so much of the work of the segment's first layer in this direction, as a share of it:
  /// attention's own, which needs the keys and values of one rank after the other. The work on one of n parts begins
  /// when all have come.
  double beside = 0.0;
  /// The numbers are, of each sample, how many of the rank's own tokens each expert takes.
  bool counts_tokens = false;
  /// The numbers stand at places of experts, in the order of samples and experts, so many places of so many numbers
  /// for each of both. Only those of tokens travel, which stand first; 0: all numbers do.
  std::int64_t places = 0;
  /// The numbers of a sample at the experts of each expert rank that a run of times alone assumes in such a step;
  /// empty: all numbers travel.
  std::vector<double> assumed = {};
  bool kept = false;               ///< forward: the backward steps read the numbers, after `then`
  std::vector<double> parts = {};  ///< gather: of a sample, the numbers of each rank, where they differ; empty: alike

  /// The numbers of a sample that travel in a run of times alone, as if all expert ranks had as many as the fullest
  /// one, or as the one with fewest.
  double most_assumed() const;
  double fewest_assumed() const;
};

/// Layers between two places where ranks that share products hold the same numbers: a transformer's attention or
/// feed-forward part, a dense layer.
struct Segment {
  std::size_t first_layer = 0, layers = 0;  ///< of CutModel::layers
  std::int64_t first = 0, count = 0;        ///< its parameters in the chunk's w
  /// Parameters of an earlier segment of this chunk that this one reads, too: a tied head's embedding. They stand
  /// behind the segment's own in StepInputs::w and in gradients, and their gradients add up.
  ParameterStretch shared = {};
  double entrance = 0.0;  ///< numbers of a sample that come in (a rank's own part); 0: the samples themselves
  double exit = 0.0;      ///< that go out; 0: the loss is here
  double entrance_bytes = 0.0, exit_bytes = 0.0;  ///< beside them, whatever the format is: of a table of layers
  std::vector<Step> forward = {};   ///< the last one's numbers, after `then`, go out; none in a segment with the loss
  std::vector<Step> backward = {};  ///< the last one's numbers, after `then`, are the derivatives by what came in
};

struct StepInputs {
  std::span<const double> w;           ///< the segment's parameters, then the shared ones
  Samples rows;                        ///< a micro-batch, in every chunk
  std::span<const double> in;          ///< (rows x entrance)
  std::span<const double> d_out = {};  ///< backward: (rows x exit), the loss's derivatives; empty where the loss is
  /// The numbers of this pass's earlier steps of the segment, after `then`, without gradients.
  std::span<const std::span<const double>> made = {};
  /// Backward: the numbers of the forward steps that are `kept`, after `then`, in their order.
  std::span<const std::span<const double>> kept = {};
  double scale = 1.0;  ///< of the sum of the rows' losses: read where the loss is, and by auxiliary losses
  /// The factor of the penalty's gradient, for the samples of all expert ranks; one rank adds it for each parameter.
  double penalty_scale = 0.0;
  values::Format format = values::Format::float64;
};

/// Numbers before a `sum` or `sum_shard` are not rounded to the format: the step behind it rounds the sum. All others
/// are, as Model::gradient_in does, so that an uncut model's numbers do not depend on cuts between units.
class CutModel {
 public:
  virtual ~CutModel() = default;

  /// The reason why units cannot be shared among so many ranks, with what would do; or empty.
  virtual std::string refusal(const Problem& problem, const Shares& shares) const = 0;
  /// A sentence on numbers that do not divide among tensor ranks, and are shared all the same; or empty.
  virtual std::string padding_note(const Problem& problem, std::int64_t tensor) const;
  /// The units that tensor ranks share whole, as many as this rank has; of a chunk with one tensor rank, all.
  virtual std::vector<SharedUnits> tensor_units(const Problem& problem, const Chunk& chunk) const;
  /// As Model::layers, of what this rank holds and computes. `first` and `unit` count from 0.
  virtual std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const = 0;
  /// In forward order. They cover the chunk's layers and its w.
  virtual std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const = 0;

  /// Where the chunk's w stands in the whole model's w, in the order of the chunk's.
  virtual std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const = 0;
  /// The stretches of the chunk's w that every rank among these holds: among tensor ranks norms and biases behind sums;
  /// among context ranks all; among expert ranks all but experts and tables. The others are its own.
  virtual std::vector<ParameterStretch> replicated(const Problem& problem, const Chunk& chunk, Among among) const = 0;
  /// The stretches whose gradient is a part on each of these ranks: sum it over them once a step. They are replicated;
  /// among context and expert ranks they are all that are.
  virtual std::vector<ParameterStretch> partial(const Problem& problem, const Chunk& chunk, Among among) const;
  /// The stretch whose gradient is to be summed with that of the other end of the pipeline: the embedding that the
  /// first chunk looks up and the last one multiplies by. Empty elsewhere, and where one chunk has both.
  virtual ParameterStretch tied(const Problem& problem, const Chunk& chunk) const;

  /// Computes a step. A pure function: a backward step computes again what it needs from `in`.
  /// result: (rows x the step's numbers), then the gradient (w) if the step has one.
  virtual void run(const Problem& problem, const Chunk& chunk, std::size_t segment, bool backward, std::size_t step,
                   const StepInputs& inputs, std::span<double> result) const = 0;
};

}  // namespace simgrad::models
