#include "strategies/mapreduce/mapreduce.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "cluster/ranks/storage.h"
#include "collectives/flat.h"
#include "strategies/single.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

Traits MapReduce::traits(int P) const {
  const bool one_by_one = reducers == 1 && broadcast.kind() == collectives::FlatBroadcast::about.kind;
  return {.holder = Holder::servers,
          .servers = static_cast<int>(reducers),
          .sharding = Sharding::range,
          .dealt_in_pieces = dealt_in_buckets(),
          .gradients_held = gradients_held(reduce, P * splits),
          .many_to_many = reducers > 1,
          .answering_actors = bucket_bytes ? P + reducers * P : 0,
          .taking_actors = bucket_bytes ? reducers * P : 0,
          .recoveries = one_by_one && !bucket_bytes ? training::every_recovery() : training::recoveries_by_generation(),
          .optimizes = job == Job::gradient,
          .free_workers_take = splits > 1 ? fmt::format("splits = {}", splits) : "",
          .passes = job != Job::gradient ? Traits::Passes::assignments
                    : bucket_bytes       ? Traits::Passes::units
                                         : Traits::Passes::whole,
          .disk = storage->disk()};
}

std::shared_ptr<const Strategy> MapReduce::alone() const {
  auto single = std::make_shared<Single>();
  single->job = job;
  return single;
}

bool MapReduce::deals_splits(const training::Participant& self) const { return splits > 1 || self.keeps_going(); }

std::int64_t MapReduce::number_bytes(const training::Learning& learning) {
  return std::llround(learning.number_bytes().wire);
}

std::int64_t MapReduce::numbers_sent(const training::Learning& learning, std::int64_t size, std::int64_t rows) const {
  if (combiner) return size;
  // A row's gradient is as long as a sum of them; in k-means a row is sent as it is, with the number 1.
  return rows * (job == Job::gradient ? size : learning.problem().features + 1);
}

std::vector<Packet> MapReduce::sliced(const Worker& worker, training::Encoder& code, const Tensor& x,
                                      std::int64_t rows) const {
  std::vector<Packet> packets;
  std::int64_t first = 0;
  for (const Tensor& slice : job == Job::gradient ? worker.shards().split(x) : std::vector{x}) {
    const std::int64_t size = slice.size();
    packets.emplace_back(code(worker.comm(), slice, first));
    first += size;
    packets.back().extra_bytes = number_bytes(worker.learning()) * (numbers_sent(worker.learning(), size, rows) - size);
  }
  return packets;
}

void MapReduce::use_disk(const training::Participant& self, std::int64_t bytes) const {
  if (!storage->in_memory()) self.disk().write(self.comm(), bytes);
}

void MapReduce::operator()(Worker& worker) const {
  if (bucket_bytes) return map_in_buckets(worker);
  if (deals_splits(worker)) return map_splits(worker);
  training::Encoder sum_code(*compression, worker);
  const training::Encoder parameter_code(*parameter_compression, worker);
  for (;;) {  // the training ends it, while it waits for the next broadcast
    const Tensor w = parameters(worker, parameter_code);
    const std::int64_t rows = worker.rows();
    std::vector<Packet> slices =
        sliced(worker, sum_code, job == Job::gradient ? worker.gradient(w) : worker.assignments(w), rows);
    std::vector<Pending> sends;
    std::int64_t bytes = 0;
    for (const Packet& slice : slices) bytes += slice.bytes();
    use_disk(worker, bytes);
    for (int j = 0; j < worker.servers(); ++j)
      sends.push_back(worker.comm().start_send(worker.server() + j, std::move(slices[static_cast<std::size_t>(j)])));
    for (Pending& send : sends) send.wait();
  }
}

Tensor MapReduce::parameters(Worker& worker, const training::Encoder& code) const {
  if (reducers == 1) {
    const std::int64_t length = worker.learning().parameters();
    return code.decoded(worker.comm(), (*broadcast)(worker.comm(), worker.server(), {}, length).tensor);
  }
  std::vector<Pending> receives;
  for (int j = 0; j < worker.servers(); ++j) receives.push_back(worker.comm().start_receive(worker.server() + j));
  std::vector<Tensor> slices;
  for (Pending& receive : receives) slices.push_back(code.decoded(worker.comm(), receive.wait().tensor));
  return worker.shards().whole(slices);
}

void MapReduce::operator()(Server& server) const {
  if (bucket_bytes) return reduce_in_buckets(server);
  if (deals_splits(server)) return reduce_splits(server);
  const int P = server.workers();
  std::vector<int> members(static_cast<std::size_t>(P));
  std::iota(members.begin(), members.end(), 0);
  members.push_back(server.rank());
  const cluster::Communicator group = server.comm().subgroup(members);
  const training::Encoder sum_code(*compression, server);
  training::Encoder parameter_code(*parameter_compression, server);
  const std::int64_t first = server.shards().first(server.shard());
  State state = server.start();
  while (server.continues(state)) {
    (*broadcast)(group, P, parameter_code.once(group, state.w), state.w.size());
    collectives::FlatReduce results(group, P);
    const auto add_flops =
        job == Job::gradient ? std::optional(sum_code.add_flops(state.w.size(), first)) : std::nullopt;
    finish_round(
        server, state,
        reduce->adds() ? results.sum(add_flops) : reduced(server, reduce, results.terms(), rows_of_workers(server)),
        sum_code, P);
  }
}

void MapReduce::finish_round(Server& server, State& state, const Tensor& codes_sum, const training::Encoder& code,
                             std::int64_t sums) const {
  const Tensor sum = code.compressor().concluded(values::decoded(codes_sum));
  code.charge_decoding(server.comm(), sum.size(), sums, server.shards().first(server.shard()));
  const training::Learning& learning = server.learning();
  const std::int64_t combined = sums * sum.size();  // added already
  const std::int64_t received = combiner ? combined : numbers_sent(learning, sum.size(), learning.batches().batch());
  use_disk(server, 2 * number_bytes(learning) * received);
  if (received > combined) server.charge(static_cast<double>(received - combined));
  if (job == Job::gradient)
    server.update(state, sum);
  else
    server.move_centres(state, sum);
  use_disk(server, state.w.size_bytes());
}

}  // namespace simgrad::strategies
