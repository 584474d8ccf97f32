#include "strategies/servers/bucket_sums.h"

#include <utility>

#include "strategies/servers/bucket_service.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using record::MemoryPart;

BucketMessages::BucketMessages(const UnitBuckets& buckets, int workers, int services)
    : totals_(static_cast<std::size_t>(services)) {
  for (const Stretch& bucket : buckets.stretches()) {
    std::vector<Message>& bucket_messages = of_bucket_.emplace_back();
    std::vector<std::size_t>& counts = counts_.emplace_back();
    for (const SummationShare& share : summation_shares(workers, services - workers, bucket.count)) {
      const std::vector<SummedPiece> messages = messages_of({bucket.first, bucket.count}, share);
      const std::size_t service = counts.size();
      for (const SummedPiece& message : messages) bucket_messages.push_back({static_cast<int>(service), message});
      counts.push_back(messages.size());
      totals_[service] += messages.size();
    }
  }
}

SummedBuckets::SummedBuckets(Worker& worker, const UnitBuckets& buckets, const Options& options,
                             training::Encoder& gradients, const training::Encoder& sums)
    : worker_(worker),
      buckets_(buckets),
      messages_(buckets, worker.workers(), worker.servers()),
      options_(options),
      gradients_(gradients),
      sums_(sums),
      state_(worker.start()),
      answers_(static_cast<std::size_t>(worker.servers())),
      parts_(buckets.count()),
      waiting_(buckets.count()),
      under_way_(buckets.count()),
      pushes_(worker.comm(), options.credits) {
  worker.keep_gradients(false);
  if (!options.at_once) pieces_.emplace(state_, lengths_of(buckets.stretches()));
}

void SummedBuckets::train() {
  try {
    for (report();;) {
      visits_ = 0;
      worker_.gradient(*this, training::MicroBatch());
      if (options_.at_once || worker_.ends_after(state_.step + 1))  // no forward pass waits for buckets
        for (std::size_t b = 0; b < buckets_.count(); ++b) conclude(b);
    }
  } catch (const TrainingIsOver&) {
  }
}

void SummedBuckets::report() {
  if (!worker_.continues(state_)) throw TrainingIsOver();
}

void SummedBuckets::enter(std::size_t unit) {
  if (visits_++ >= worker_.learning().units().size()) return;
  const auto [first, end] = buckets_.of_unit(unit);
  for (std::size_t bucket = first; bucket < end; ++bucket) conclude(bucket);
}

Tensor SummedBuckets::parameters(std::size_t unit) const {
  const training::ModelUnit& model_unit = worker_.learning().units()[unit];
  if (!pieces_) return values::slice(state_.w, model_unit.first, model_unit.count);
  return buckets_.parameters(model_unit, unit, [&](std::size_t bucket) { return (*pieces_)[bucket].w; });
}

void SummedBuckets::make_gradient(std::size_t unit) { gradient_bytes_ += hold_gradient(worker_, unit); }

void SummedBuckets::complete(std::size_t unit, const Tensor& g) {
  const auto [first, end] = buckets_.completed_by(unit);
  if (end == buckets_.count()) expect_sums();
  for (std::size_t bucket = first; bucket < end; ++bucket) push(bucket, g);
}

/// A service may answer the first bucket before the last one is pushed.
void SummedBuckets::expect_sums() {
  for (std::size_t j = 0; j < answers_.size(); ++j)
    for (std::size_t i = messages_.of_service(static_cast<int>(j)); i-- > 0;)
      answers_[j].push_back(worker_.comm().start_receive(worker_.server() + static_cast<int>(j)));
  for (std::size_t b = 0; b < parts_.size(); ++b) parts_[b].assign(messages_[b].size(), {});
  under_way_.assign(under_way_.size(), true);
  left_ = under_way_.size();
}

void SummedBuckets::push(std::size_t bucket, const Tensor& g) {
  pushes_.ready(bucket, [this, bucket, g](const Communicator& comm) {
    std::vector<Pending> sends;
    for (const BucketMessages::Message& message : messages_[bucket]) {
      const Tensor part = values::slice(g, message.piece.first, message.piece.count);
      const SumNote note{static_cast<std::int32_t>(bucket), static_cast<std::int32_t>(sends.size())};
      sends.push_back(comm.start_send(worker_.server() + message.service,
                                      Packet(gradients_(comm, part, message.piece.first), note)));
    }
    return sends;
  });
}

/// The service's next answer, which is of any bucket.
void SummedBuckets::take_sum(std::size_t service) {
  const Packet packet = answers_[service].front().wait();
  answers_[service].pop_front();
  const SumNote note = packet.note<SumNote>();
  const auto bucket = static_cast<std::size_t>(note.bucket), message = static_cast<std::size_t>(note.message);
  parts_[bucket][message] = sums_.decoded(worker_.comm(), packet.tensor, messages_[bucket][message].piece.first);
}

void SummedBuckets::conclude(std::size_t bucket) {
  if (!under_way_[bucket]) return;
  for (std::size_t m = 0; m < messages_[bucket].size(); ++m)
    while (!parts_[bucket][m]) take_sum(static_cast<std::size_t>(messages_[bucket][m].service));
  under_way_[bucket] = false;
  --left_;
  update(bucket, values::concatenate(std::exchange(parts_[bucket], {})));
  if (left_ == 0) report();
}

void SummedBuckets::update(std::size_t bucket, const Tensor& sum) {
  if (pieces_) {
    worker_.update((*pieces_)[bucket], sum);
    gradient_bytes_ -= worker_.number_bytes().kept_gradient * static_cast<double>(buckets_[bucket].count);
    worker_.memory().set(MemoryPart::gradients, gradient_bytes_);
    if (left_ == 0) state_ = pieces_->joined();
    return;
  }
  waiting_[bucket] = sum;
  if (left_ > 0) return;
  worker_.update(state_, values::concatenate(waiting_));
  waiting_.assign(waiting_.size(), {});
  gradient_bytes_ = 0.0;
}

}  // namespace simgrad::strategies
