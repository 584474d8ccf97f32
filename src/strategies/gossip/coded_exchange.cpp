#include "strategies/gossip/coded_exchange.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

namespace {

/// The rank's rows of the matrices of all turns.
std::vector<const MixingRow*> rows_of(const MixingTurns& W, const Worker& worker) {
  std::vector<const MixingRow*> rows;
  for (const MixingMatrix& turn : W) rows.push_back(&turn.rows[static_cast<std::size_t>(worker.rank())]);
  return rows;
}

}  // namespace

CodedExchange::CodedExchange(Worker& worker, std::shared_ptr<const MixingTurns> W,
                             const training::Compressor& compressor, Payload payload, double consensus_step)
    : worker_(worker),
      W_(std::move(W)),
      row_(W_->front().rows[static_cast<std::size_t>(worker.rank())]),
      neighbours_(worker, rows_of(*W_, worker)),
      encoder_(compressor, worker),
      payload_(payload),
      consensus_step_(consensus_step),
      own_copy_(worker.learning().initial_values()),
      copies_(row_.neighbours.size(), own_copy_) {}

Tensor CodedExchange::code_of(const Tensor& x) {
  if (x.size() == 0) return x;  // of a stage without parameters
  const std::int64_t d = worker_.learning().parameters();
  std::vector<Tensor> codes;
  for (std::int64_t first = 0; first < x.size(); first += d)
    codes.push_back(encoder_(worker_.comm(), values::slice(x, first, d), first));
  return values::concatenate(codes);
}

CodedExchange::Sent CodedExchange::start(const Tensor& x, std::int64_t step) {
  Tensor code = x;
  if (!alone()) {
    if (payload_ == Payload::differences) worker_.charge(static_cast<double>(x.size()));
    code = code_of(payload_ == Payload::differences ? x - own_copy_ : x);
  }
  return {x, code, neighbours_.start(code, step)};
}

Tensor CodedExchange::finish(Sent sent) {
  const training::Compressor& compressor = encoder_.compressor();
  if (compressor.exact() || alone()) return neighbours_.combine(sent.x, std::move(sent.exchange));
  if (payload_ == Payload::differences) return towards_copies(std::move(sent));
  return mixed(worker_.comm(), std::move(sent), 0);
}

Tensor CodedExchange::mixed(const cluster::Communicator& comm, Sent sent, std::int64_t first) {
  const auto codes = static_cast<std::int64_t>(sent.exchange.sources.size());
  const Tensor own = values::decoded(sent.code);
  const Tensor mean = neighbours_.combine(comm, own, std::move(sent.exchange), encoder_.add_flops(own.size(), first));
  encoder_.charge_decoding(comm, own.size(), codes, first);
  if (payload_ == Payload::gradients) return encoder_.compressor().concluded(mean);
  comm.charge_reduction(2.0 * static_cast<double>(own.size()), record::Work::average);
  return sent.x + (mean - own);
}

Tensor CodedExchange::combine_beside(const cluster::Communicator& comm, const Tensor& x, std::int64_t first,
                                     std::int64_t step) {
  if (alone()) return x;
  const Tensor code = encoder_(comm, x, first);
  Sent sent{x, code, neighbours_.start(comm, code, step)};
  if (encoder_.compressor().exact()) return neighbours_.combine(comm, x, std::move(sent.exchange));
  return mixed(comm, std::move(sent), first);
}

Tensor CodedExchange::towards_copies(Sent sent) {
  const auto degree = static_cast<std::int64_t>(row_.neighbours.size());
  const std::int64_t d = sent.x.size();
  const auto received = neighbours_.finish(std::move(sent.exchange));
  base::check(static_cast<std::int64_t>(received.size()) == degree, "copies of replicas that say nothing");
  own_copy_ += values::decoded(sent.code);
  for (std::size_t j = 0; j < received.size(); ++j) {
    const cluster::Packet came = received[j];
    copies_[j] += values::decoded(came.tensor);
  }
  encoder_.charge_decoding(worker_.comm(), d, degree);
  worker_.charge(static_cast<double>(degree + 1) * encoder_.add_flops(d) +
                 static_cast<double>(2 * degree + 1 + 2) * static_cast<double>(d));
  // Row i's weights stand in the order of ranks, with i among its neighbours.
  std::vector<Tensor> all = copies_;
  const auto own = std::ranges::lower_bound(row_.neighbours, worker_.rank()) - row_.neighbours.begin();
  all.insert(all.begin() + own, own_copy_);
  const Tensor mixed = values::weighted_sum(all, row_.weights);
  return values::add_scaled(sent.x, consensus_step_, mixed - own_copy_);
}

}  // namespace simgrad::strategies
