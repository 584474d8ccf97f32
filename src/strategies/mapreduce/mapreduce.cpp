#include "strategies/mapreduce/mapreduce.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "collectives/flat.h"
#include "strategies/servers/parameter_store.h"
#include "strategies/single.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

void MapReduce::describe(base::Describer& d) {
  using base::Bounds;
  d.choice("job", job, jobs, "what is mapped and reduced");
  d.component("broadcast", broadcast, "how the parameters reach the workers");
  d.flag("combiner", combiner, "whether a worker adds its rows' gradients itself; false: each row's gradient travels");
  d.integer("reducers", reducers, "servers, each with a stretch of the parameters, which it reduces and broadcasts",
            Bounds::between(1, 10'000));
  d.integer(
      "splits", splits,
      "pieces a worker that a step's batch is cut into; more than one: a worker that is through with one asks for "
      "the next (every worker can read all rows, as from a replicated file system)",
      Bounds::between(1, 1000));
  d.flag("speculative", speculative,
         "whether workers without a split map copies of slow ones, longest first; the first result counts");
  d.number(
      "slow_factor", slow_factor,
      "speculative: a split is slow once it is mapped for longer than so many times the median of the round's splits "
      "that are done (default 1.5)",
      Bounds::between(1, 1000));
  d.component("storage", storage, "where rows and sums are kept from round to round");
  describe_compression(d, compression);
  describe_parameter_compression(d, "parameter_compression", parameter_compression,
                                 "what reducers send instead of parameters");
  if (!compression->exact() && !combiner)
    d.refuse("compression",
             "compression is of a worker's sum, but combiner = false sends every row's gradient; leave one of "
             "them out");
  if (!compression->exact() && job == Job::k_means)
    d.refuse("compression",
             "compression is of gradients, but job = \"k_means\" sends sums and numbers of rows; leave one of "
             "them out");
  if (job == Job::k_means && reducers > 1)
    d.refuse("reducers",
             fmt::format("job = \"k_means\" reduces a centre's sum and its number of rows together, but reducers "
                         "= {} hold stretches; set reducers = 1",
                         reducers));
  const bool flat = broadcast.kind() == collectives::FlatBroadcast::about.kind;
  if (!flat && reducers > 1)
    d.refuse("broadcast",
             fmt::format("broadcast = \"{}\" is one reducer's, but reducers = {} send their stretches at once; "
                         "leave broadcast out, or set reducers = 1",
                         broadcast.kind(), reducers));
  if (!flat && splits > 1)
    d.refuse("broadcast",
             fmt::format("broadcast = \"{}\" passes through workers, but with splits = {} they wait for orders; "
                         "leave broadcast out, or set splits = 1",
                         broadcast.kind(), splits));
  if (speculative && splits == 1)
    d.refuse("speculative",
             "speculative = true needs splits above 1: with one split a worker all begin and nobody is "
             "idle; give splits, or leave speculative out");
  if (slow_factor && !speculative)
    d.refuse("slow_factor",
             "slow_factor says which splits are copied, but speculative = false copies none; set speculative "
             "= true, or leave slow_factor out");
}

std::vector<cluster::Recovery> MapReduce::recoveries() const {
  return allowed(reducers == 1 && broadcast.kind() == collectives::FlatBroadcast::about.kind);
}

std::shared_ptr<const Strategy> MapReduce::alone() const {
  auto single = std::make_shared<Single>();
  single->job = job;
  return single;
}

std::optional<Strategy::Unfit> MapReduce::unfit(const Fit& fit) const {
  if (auto misfit = job_misfit(job, fit)) return misfit;
  if (reducers > fit.parameters)
    return Unfit{
        "reducers",
        fmt::format("reducers = {}, but the model has {} parameter{}; expected at most one reducer a parameter",
                    reducers, fit.parameters, fit.parameters == 1 ? "" : "s")};
  if (reducers > 1 && !fit.optimizer.elementwise())
    return Unfit{"reducers",
                 fmt::format("reducers = {}, but optimizer = \"{}\" needs all parameters at once; set reducers = "
                             "1, or another optimizer",
                             reducers, fit.optimizer_kind)};
  return compression_misfit(compression, fit);
}

std::int64_t MapReduce::numbers_sent(const training::Learning& learning, std::int64_t size, std::int64_t rows) const {
  if (combiner) return size;
  // A row's gradient is as long as a sum of them; to k-means a row gives itself, and that it is one row.
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
    packets.back().more_bytes = 8 * (numbers_sent(worker.training().learning(), size, rows) - size);
  }
  return packets;
}

double MapReduce::disk_flops(const training::Participant& self, double bytes) const {
  const cluster::World& world = self.training().world();
  const int rank = self.comm().world_rank(self.comm().rank());
  return storage->seconds(bytes) * world.cluster().speed(world.host(rank)) * world.ranks().relative_speed(rank);
}

void MapReduce::use_disk(const training::Participant& self, double bytes) const {
  self.training().world().ranks().compute(self.comm().world_rank(self.comm().rank()), disk_flops(self, bytes),
                                          record::Work::read);
}

void MapReduce::operator()(Worker& worker) const {
  if (deals_splits(worker.training())) return map_splits(worker);
  const training::Learning& learning = worker.training().learning();
  const int P = worker.workers();
  training::Encoder sum_code(*compression, worker);
  const training::Encoder parameter_code(*parameter_compression, worker);
  for (;;) {  // the training ends it, while it waits for the next broadcast
    const Tensor w = parameters(worker, parameter_code);
    const std::int64_t rows = learning.batches().count(worker.comm().rank(), P);
    use_disk(worker, static_cast<double>(rows * learning.row_bytes()));
    std::vector<Packet> slices =
        sliced(worker, sum_code, job == Job::gradient ? worker.gradient(w) : worker.assignments(w), rows);
    std::vector<Pending> sends;
    double bytes = 0.0;
    for (const Packet& slice : slices) bytes += static_cast<double>(slice.bytes());
    use_disk(worker, bytes);
    for (int j = 0; j < worker.servers(); ++j)
      sends.push_back(worker.comm().start_send(worker.server() + j, std::move(slices[static_cast<std::size_t>(j)])));
    for (Pending& send : sends) send.wait();
  }
}

Tensor MapReduce::parameters(Worker& worker, const training::Encoder& code) const {
  if (reducers == 1) {
    const std::int64_t length = worker.training().learning().parameters();
    return code.decoded(worker.comm(), (*broadcast)(worker.comm(), worker.server(), {}, length).tensor);
  }
  std::vector<Pending> receives;
  for (int j = 0; j < worker.servers(); ++j) receives.push_back(worker.comm().start_receive(worker.server() + j));
  std::vector<Tensor> slices;
  for (Pending& receive : receives) slices.push_back(code.decoded(worker.comm(), receive.wait().tensor));
  return worker.shards().whole(slices);
}

void MapReduce::operator()(Server& server) const {
  if (deals_splits(server.training())) return reduce_splits(server);
  const int P = server.workers();
  std::vector<int> members(static_cast<std::size_t>(P));
  std::iota(members.begin(), members.end(), 0);
  members.push_back(server.comm().rank());
  const cluster::Communicator group = server.comm().subgroup(members);
  const training::Encoder sum_code(*compression, server);
  training::Encoder parameter_code(*parameter_compression, server);
  const std::int64_t first = first_parameter(server.shards(), server.shard());
  State state = server.start();
  while (server.continues(state)) {
    (*broadcast)(group, P, parameter_code.once(group, state.w), state.w.size());
    collectives::FlatReduce reduce(group, P);
    const auto add_flops =
        job == Job::gradient ? std::optional(sum_code.add_flops(state.w.size(), first)) : std::nullopt;
    finish_round(server, state, reduce.sum(add_flops), sum_code, P);
  }
}

void MapReduce::finish_round(Server& server, State& state, const Tensor& codes_sum, const training::Encoder& code,
                             std::int64_t sums) const {
  const Tensor sum = code.compressor().concluded(values::decoded(codes_sum));
  code.charge_decoding(server.comm(), sum.size(), sums, first_parameter(server.shards(), server.shard()));
  const training::Learning& learning = server.training().learning();
  const std::int64_t combined = sums * sum.size();  // added already
  const std::int64_t received = combiner ? combined : numbers_sent(learning, sum.size(), learning.batches().batch());
  use_disk(server, 2.0 * 8.0 * static_cast<double>(received));
  if (received > combined) server.comm().charge_reduction(static_cast<double>(received - combined));
  if (job == Job::gradient)
    server.update(state, sum);
  else
    server.move_centres(state, sum);
  use_disk(server, static_cast<double>(state.w.size_bytes()));
}

}  // namespace simgrad::strategies
