#include "strategies/buckets/bucketed_store.h"

#include <utility>

#include "strategies/notes.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using record::MemoryPart;

BucketHolders BucketHolders::servers(const Worker& worker) {
  return {.first = worker.server(), .count = worker.servers(), .stretch = [&worker](int server, std::size_t bucket) {
            const training::Shards::Stretch shard_stretch = worker.shards().stretch(server, bucket);
            return Stretch{shard_stretch.first, shard_stretch.count};
          }};
}

BucketedStore::BucketedStore(Worker& worker, const UnitBuckets& buckets, BucketHolders holders,
                             const BucketTravel& travel, const training::Compressor& gradients,
                             const training::Compressor& parameters)
    : worker_(worker),
      buckets_(buckets),
      holders_(std::move(holders)),
      pulls_whole_(travel.pulls_whole),
      gradients_(gradients, worker),
      parameters_(parameters, worker),
      answers_(static_cast<std::size_t>(holders_.count)),
      parts_(buckets.count(), std::vector<Tensor>(answers_.size())),
      pulled_(buckets.count()),
      versions_(answers_.size()),
      pushes_(worker.comm(), travel.credits) {
  worker.keep_gradients(false);
  expect_answers();
}

void BucketedStore::expect_answers() {
  for (std::size_t j = 0; j < answers_.size(); ++j)
    for (std::size_t answer = 0; answer < (pulls_whole_ ? 1 : buckets_.count()); ++answer)
      answers_[j].push_back(worker_.comm().start_receive(holders_.first + static_cast<int>(j)));
  pulled_.assign(buckets_.count(), {});
}

/// The holder's next answer, which is of any bucket.
void BucketedStore::take_answer(std::size_t holder) {
  Packet packet = answers_[holder].front().wait();
  answers_[holder].pop_front();
  if (pulls_whole_) return take_whole_answer(holder, packet);
  const BucketNote note = packet.note<BucketNote>();
  const auto bucket = static_cast<std::size_t>(note.bucket);
  const Stretch place = holders_.stretch(static_cast<int>(holder), bucket);
  parts_[bucket][holder] = parameters_.decoded(worker_.comm(), packet.tensor, place.first);
  versions_[holder] = note.version;
}

/// All buckets' stretches of that holder, one behind the other.
void BucketedStore::take_whole_answer(std::size_t holder, const Packet& packet) {
  const Tensor part =
      parameters_.decoded(worker_.comm(), packet.tensor, worker_.shards().first(static_cast<int>(holder)));
  std::int64_t first = 0;
  for (std::size_t b = 0; b < buckets_.count(); ++b) {
    const std::int64_t count = holders_.stretch(static_cast<int>(holder), b).count;
    parts_[b][holder] = values::slice(part, std::exchange(first, first + count), count);
  }
  versions_[holder] = packet.note<Version>().step;
}

void BucketedStore::await(std::size_t bucket) {
  if (pulled_[bucket]) return;
  for (std::size_t j = 0; j < answers_.size(); ++j)
    while (!parts_[bucket][j]) take_answer(j);
  pulled_[bucket] = values::concatenate(parts_[bucket]);
  parts_[bucket].assign(answers_.size(), {});
}

std::int64_t BucketedStore::begin() {
  visits_ = 0;
  worker_.memory().raise(MemoryPart::parameters,
                         worker_.number_bytes().parameter * static_cast<double>(worker_.learning().parameters()));
  await(0);
  return versions_.front();
}

/// The backward pass reads the parameters that the forward pass has waited for.
void BucketedStore::enter(std::size_t unit) {
  if (visits_++ >= worker_.learning().units().size()) return;
  const auto [first, end] = buckets_.of_unit(unit);
  for (std::size_t bucket = first; bucket < end; ++bucket) await(bucket);
}

Tensor BucketedStore::parameters(std::size_t unit) const {
  return buckets_.parameters(worker_.learning().units()[unit], unit,
                             [&](std::size_t bucket) { return pulled_[bucket]; });
}

void BucketedStore::make_gradient(std::size_t unit) { gradient_bytes_ += hold_gradient(worker_, unit); }

void BucketedStore::complete(std::size_t unit, const Tensor& g) {
  const auto [first, end] = buckets_.completed_by(unit);
  // A server may answer the first bucket before the last one is pushed.
  if (end == buckets_.count()) expect_answers();
  for (std::size_t bucket = first; bucket < end; ++bucket) push(bucket, g);
}

void BucketedStore::push(std::size_t bucket, const Tensor& g) {
  pushes_.ready(bucket, [this, bucket, g, versions = versions_](const Communicator& comm) {
    std::vector<Tensor> codes;
    for (std::size_t j = 0; j < versions.size(); ++j) {
      const Stretch place = holders_.stretch(static_cast<int>(j), bucket);
      codes.push_back(gradients_(comm, values::slice(g, place.first, place.count), place.first));
    }
    std::vector<Pending> messages;
    for (std::size_t j = 0; j < codes.size(); ++j)
      messages.push_back(comm.start_send(holders_.first + static_cast<int>(j),
                                         Packet(codes[j], BucketNote{static_cast<std::int64_t>(bucket), versions[j]})));
    return messages;
  });
}

void BucketedStore::end() { worker_.memory().release(MemoryPart::gradients, std::exchange(gradient_bytes_, 0.0)); }

}  // namespace simgrad::strategies
