/// The services of BytePS that sum buckets.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "cluster/ranks/inbox.h"
#include "strategies/servers/bucket_sums.h"

namespace simgrad::strategies {

using cluster::Inbox;
using cluster::Packet;
using cluster::Pending;

namespace {

class BucketSummer {
 public:
  BucketSummer(Server& service, BucketMessages messages, std::int64_t credits, training::Encoder& gradients,
               training::Encoder& sums)
      : service_(service),
        messages_(std::move(messages)),
        credits_(static_cast<std::size_t>(credits)),
        gradients_(gradients),
        sums_(sums),
        pushes_(service.comm(), 0, service.workers(), Inbox::OnLoss::silent, receives_ahead(service, credits)),
        gathered_(messages_.buckets()) {}

  void run() {
    for (;;) {
      take(pushes_.next());
      while (!ready_.empty()) {
        await_credit();
        while (auto more = pushes_.next_until(service_.now())) take(std::move(*more));
        answer_most_urgent();
      }
    }
  }

 private:
  /// The messages of a worker that are under way at a time.
  int receives_ahead(const Server& service, std::int64_t credits) const {
    std::size_t most = 0;
    for (std::size_t b = 0; b < messages_.buckets(); ++b)
      most = std::max(most, messages_.of_service(service.shard(), b));
    return static_cast<int>(most) * static_cast<int>(credits);
  }

  /// The codes of a bucket that have come.
  struct Gathered {
    std::map<std::int32_t, std::vector<Tensor>> codes;  ///< by message, by worker
    std::size_t arrived = 0;
  };
  /// A bucket's sum, message by message.
  using Sums = std::vector<std::pair<SumNote, Tensor>>;

  void take(Inbox::Arrival arrival) {
    const SumNote note = arrival.packet.note<SumNote>();
    const auto bucket = static_cast<std::size_t>(note.bucket), workers = static_cast<std::size_t>(service_.workers());
    Gathered& gathered = gathered_[bucket];
    std::vector<Tensor>& codes = gathered.codes[note.message];
    codes.resize(workers);
    codes[static_cast<std::size_t>(arrival.source)] = std::move(arrival.packet.tensor);
    if (++gathered.arrived == workers * messages_.of_service(service_.shard(), bucket))
      ready_.emplace(bucket, sums(note.bucket, std::exchange(gathered, {})));
  }

  Sums sums(std::int32_t bucket, Gathered gathered) {
    Sums all;
    for (auto& [message, codes] : gathered.codes) {
      const SummedPiece& piece = messages_[static_cast<std::size_t>(bucket)][static_cast<std::size_t>(message)].piece;
      const int n = service_.workers();
      gradients_.charge_decoding(service_.comm(), piece.count, n, piece.first);
      service_.charge(static_cast<double>(n) * gradients_.add_flops(piece.count, piece.first));
      const Tensor sum = gradients_.compressor().concluded(values::decoded(values::sum(std::move(codes))));
      all.emplace_back(SumNote{bucket, message}, sums_(service_.comm(), sum, piece.first));
    }
    return all;
  }

  void await_credit() {
    for (; answers_.size() >= credits_; answers_.pop_front())
      for (Pending& answer : answers_.front()) answer.wait();
  }

  void answer_most_urgent() {
    const Sums sums = ready_.extract(ready_.begin()).mapped();
    std::vector<Pending>& answers = answers_.emplace_back();
    for (const auto& [note, sum] : sums)
      for (int worker = 0; worker < service_.workers(); ++worker)
        answers.push_back(service_.comm().start_send(worker, Packet(sum, note)));
  }

  Server& service_;
  BucketMessages messages_;
  std::size_t credits_;
  training::Encoder& gradients_;
  training::Encoder& sums_;
  Inbox pushes_;
  std::vector<Gathered> gathered_;            ///< by bucket
  std::map<std::size_t, Sums> ready_;         ///< to answer, by bucket
  std::deque<std::vector<Pending>> answers_;  ///< under way, each to all workers
};

}  // namespace

void sum_buckets(Server& service, const UnitBuckets& buckets, std::int64_t credits, training::Encoder& gradients,
                 training::Encoder& sums) {
  BucketMessages messages(buckets, service.workers(), service.servers());
  if (messages.of_service(service.shard()) == 0) return;  // other services do everything
  BucketSummer(service, std::move(messages), credits, gradients, sums).run();
}

}  // namespace simgrad::strategies
