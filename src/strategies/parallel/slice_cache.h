/// Asynchronous model slicing: the numbers of the other tensor ranks, as a rank keeps them from one refresh to the
/// next.
///
/// The ranks exchange the sums of a step's passes where they refresh: in every `refresh_every`-th step, and where rows
/// of the batch would have kept numbers that are older than `staleness` steps, or none. In between a rank takes its own
/// part as it is now and the others' parts of these rows as they were. So it waits for nobody. A refresh goes on beside
/// the passes, and is used once it has come; a rank waits for it where the numbers that it has are too old. With
/// staleness = refresh_every - 1 they always are: then every refresh is the synchronous exchange.
/// Parameters that all tensor ranks hold (biases behind sums) take the step of one gradient on all of them, that of the
/// last refresh which is staleness - refresh_every + 1 steps old or older, so that they stay equal.
/// Sources: M. Fey, J. E. Lenssen, F. Weichert, J. Leskovec, "GNNAutoScale: Scalable and Expressive Graph Neural
/// Networks via Historical Embeddings", ICML 2021 (kept activations); Q. Ho et al., "More Effective Distributed ML via
/// a Stale Synchronous Parallel Parameter Server", NIPS 2013 (the bound). Cost: a step without a refresh takes no
/// message, and a flop a number that is summed; a refresh that is waited for takes its exchanges, and one that is kept
/// a flop a number more. Memory: a rank keeps of each row the numbers behind each exchange, staleness / refresh_every +
/// 1 times.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "models/model_part.h"
#include "strategies/parallel/parallel.h"
#include "strategies/parallel/sharing_ranks.h"
#include "strategies/strategy.h"
#include "training/learning/batches.h"

namespace simgrad::strategies {

class SliceCache {
 public:
  /// One exchange of a pass.
  struct Place {
    std::size_t chunk = 0, segment = 0;
    bool backward = false;
    std::size_t step = 0;
    auto operator<=>(const Place&) const = default;
  };

  /// ranks: those that share products. Both outlive this object.
  SliceCache(const Worker& worker, const cluster::Communicator& ranks, const SliceOptions& options);

  /// A step's passes begin, over these rows; alike on all tensor ranks.
  void begin(std::int64_t step, const training::RowSet& rows);
  /// The numbers of all ranks for some of the step's rows, as Exchange has them: fresh, or the others' as they were.
  /// Virtual time: of the exchange where it is waited for, and of the additions.
  Tensor exchanged(const Place& place, models::Step::Then then, const training::RowSet& rows, const Tensor& numbers);
  /// One gradient on all ranks of parameters that all of them hold.  g: as this rank has it.  Virtual time: where the
  /// slack is above 0, of waiting for the mean of all ranks' gradients.
  Tensor agreed(const Place& place, const Tensor& g);
  /// The step's passes are over: counts the largest age of numbers that were used.
  void end();

 private:
  /// The numbers of one refresh.
  struct Round {
    std::int64_t step = 0;
    std::vector<std::int64_t> rows = {};
    Tensor own = {};       ///< as this rank had them
    Tensor all = {};       ///< with the others', once they have come
    Tensor others = {};    ///< of a sum: all - own, once it is read
    int task = -1;         ///< on the side stream
    std::size_t read = 0;  ///< rows that no later round has
  };
  using RoundPointer = std::shared_ptr<Round>;  ///< shared with the side actor, which may outlive this object
  /// The numbers that a rank keeps of one exchange.
  struct Kept {
    std::deque<RoundPointer> under_way = {};
    struct Row {
      RoundPointer round = {};
      std::int64_t at = 0;
    };
    std::unordered_map<std::int64_t, Row> rows = {};
    double bytes = 0.0;  ///< of a row
  };

  static std::vector<std::int64_t> row_numbers(const training::RowSet& rows);
  RoundPointer started(models::Step::Then then, std::vector<std::int64_t> rows, const Tensor& numbers);
  void wait_for(const Round& round);
  void take_in_next(Kept& kept);
  void drop_too_old(Kept& kept);
  std::int64_t oldest(const Kept& kept, const std::vector<std::int64_t>& rows) const;
  Tensor combined(models::Step::Then then, const Kept& kept, const std::vector<std::int64_t>& rows,
                  const Tensor& numbers);
  bool late() const { return options_.slack() > 0; }

  const Worker& worker_;
  const cluster::Communicator& ranks_;
  SliceOptions options_;
  cluster::Communicator own_channels_;
  cluster::SideStream stream_;  ///< for refreshes that may come late
  std::int64_t step_ = 0;
  bool refreshes_ = true;
  std::int64_t oldest_ = 0;  ///< the refresh of the oldest numbers that the step has used
  std::unordered_map<std::int64_t, std::int64_t> refreshed_;  ///< by row: the step of its last refresh
  std::map<Place, Kept> kept_;
  std::map<Place, std::deque<RoundPointer>> agreed_;
};

/// Bytes that a rank keeps of other ranks' numbers at most.  part: its own.  rows: of a step.
double bytes_kept(const models::ModelPart& part, const SliceOptions& slices, const training::MemoryTerms& terms,
                  std::int64_t rows);

}  // namespace simgrad::strategies
