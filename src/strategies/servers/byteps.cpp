#include "strategies/servers/byteps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "strategies/buckets/buckets.h"
#include "strategies/servers/bucket_sums.h"
#include "strategies/servers/service_exchange.h"
#include "strategies/servers/summation_service.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Bounds;
using cluster::Communicator;
using cluster::Pending;

void BytePs::describe(base::Describer& d) {
  d.integer("spare_hosts", spare_hosts, "k: the number of hosts without a worker that sum gradients, too",
            Bounds::between(0, 10'000));
  d.integer("partitions", partitions,
            "c: the number of pieces into which the vector is cut, so that all but 1/c of the pushes and pulls overlap",
            Bounds::between(1, 10'000));
  describe_compression(d, compression);
  d.component(
      "answer_compression", answer_compression,
      "how sums are compressed before services send them; with error feedback in both directions (DoubleSqueeze)");
  describe_bucket_options(d,
                          "smallest bucket, in bytes on the wire; buckets of gradients are pushed while the backward "
                          "pass continues; \"none\": equal partitions after it");
  describe_pulls(d, pull, bucket_bytes);
  describe_hosts_first(d);
  if (bucket_bytes && partitions != default_partitions)
    d.refuse("partitions",
             "partitions cuts the whole vector, but with bucket_size every bucket is a piece; leave one of them out");
}

Traits BytePs::traits(int P) const {
  const int servers = P + static_cast<int>(spare_hosts);
  std::vector<int> hosts(static_cast<std::size_t>(P + servers));
  std::iota(hosts.begin(), hosts.begin() + P, 0);
  std::iota(hosts.begin() + P, hosts.end(), 0);  // P services beside the workers, the others on spare hosts
  return {.servers = servers,
          .hosts = std::move(hosts),
          .many_to_many = true,
          .pairs = 2LL * P * servers,
          .answering_actors = bucket_bytes ? P : 0,
          .taking_actors = bucket_bytes ? static_cast<std::int64_t>(P) * servers : 0,
          .passes = bucket_bytes ? Traits::Passes::units : Traits::Passes::whole};
}

std::optional<Refusal> BytePs::refusal(const Circumstances& circumstances) const {
  if (auto refusal = split_refusal(circumstances)) return refusal;
  if (by_layer())
    if (auto refusal = bucket_updates_refusal(circumstances))
      return Refusal{refusal->option, refusal->text + "; pull = \"at_once\" waits for the whole gradient"};
  auto refusal = compression_refusal(compression, circumstances);
  return refusal ? refusal : compression_refusal(answer_compression, circumstances, "answer_compression");
}

std::vector<SummedPiece> BytePs::pieces(const training::Learning& learning) const {
  return cut({0, learning.parameters()}, partitions);
}

UnitBuckets BytePs::buckets(const training::Learning& learning) const {
  return buckets_of_units(learning, *compression);
}

void BytePs::operator()(Worker& worker) const {
  training::Encoder gradients(*compression, worker);
  const training::Encoder sums(*answer_compression, worker);
  if (bucket_bytes) {
    const UnitBuckets all = buckets(worker.learning());
    if (worker.rank() == 0 && worker.begins_the_run() && worker.learning().units().size() == 1 && all.count() == 1)
      note_single_bucket(worker);
    return SummedBuckets(worker, all, {.credits = credits, .at_once = !by_layer()}, gradients, sums).train();
  }
  ServiceExchange services(worker, gradients, sums);
  State state = worker.start();
  const std::vector<SummedPiece> all = pieces(worker.learning());
  while (worker.continues(state)) {
    const Tensor g = worker.gradient(state.w);
    for (const SummedPiece& partition : all) services.push(g, partition);
    worker.update(state, services.sum());
  }
}

void BytePs::operator()(Server& server) const {
  if (bucket_bytes) {
    training::Encoder gradients(*compression, server), sums(*answer_compression, server);
    return sum_buckets(server, buckets(server.learning()), credits, gradients, sums);
  }
  const int n = server.workers();
  SummationService service(server, pieces(server.learning()), *compression, *answer_compression);
  if (!service.works()) return;  // spare hosts do everything
  std::vector<Pending> answers;
  auto pushes = service.expect(0);
  for (std::size_t q = 0;; q = service.after(q)) {  // the training ends it, while it waits for a push
    auto next = service.expect(service.after(q));   // they come in while this partition is summed and sent back
    const std::vector<Tensor> sums = service.summed(q, std::move(pushes));
    for (Pending& answer : answers) answer.wait();  // answers of the partition before
    answers.clear();
    for (const Tensor& sum : sums)
      for (int worker = 0; worker < n; ++worker) answers.push_back(server.comm().start_send(worker, sum));
    pushes = std::move(next);
  }
}

}  // namespace simgrad::strategies
