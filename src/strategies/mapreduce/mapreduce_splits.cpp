/// Dynamic assignment: the first reducer is the master as well, and deals splits to workers as they ask for them.
///
/// Reports and orders are messages without bytes: a split costs 2 alpha more than its work. A result follows its
/// report's answer, and travels while its worker maps the next split. Splits of a worker that is lost are mapped again
/// by the others, where the training keeps going; a worker that has come back has its share of the next round.
#include <utility>
#include <vector>

#include "strategies/mapreduce/mapreduce.h"
#include "strategies/mapreduce/split_master.h"
#include "strategies/mapreduce/split_orders.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

double MapReduce::map_flops(const training::Learning& learning, int split, int all) const {
  return job == Job::gradient ? learning.gradient_flops(split, all) : learning.assignment_flops(split, all);
}

Tensor MapReduce::mapped(const Worker& worker, const Tensor& w, std::int64_t step, int split, int all) const {
  const training::Learning& learning = worker.learning();
  if (job != Job::gradient) return learning.assignments(w, {step, split, all});
  const Tensor g = learning.gradient(w, {step, split, all}, worker.loss_exponent());
  return worker.handed_over(g, step, learning.batches().count(split, all));
}

std::int64_t MapReduce::sum_size(const training::Learning& learning) const {
  const std::int64_t d = learning.problem().features;
  return job == Job::gradient ? learning.parameters() : learning.parameters() / d * (d + 1);
}

double MapReduce::split_flops(const Worker& worker, std::int64_t step, int split, int all) const {
  const training::Learning& learning = worker.learning();
  const auto work = [&](int part, int parts) {
    const double flops = map_flops(learning, part, parts);
    return job == Job::gradient ? worker.gradient_work(flops, learning.batches().count(part, parts))
                                : worker.work_of(flops);
  };
  return worker.stretched(work(split, all), work(worker.rank(), worker.workers()), step);
}

bool MapReduce::map_split(const Worker& worker, SplitOrders& master, int split, int all, std::int64_t rows) const {
  const training::Learning& learning = worker.learning();
  const std::int64_t written = number_bytes(learning) * numbers_sent(learning, sum_size(learning), rows);
  const double time_as_flops = split_flops(worker, master.step(), split, all);
  if (!master.read(split, all) || !master.compute(time_as_flops)) return false;
  worker.count_less(time_as_flops - map_flops(learning, split, all));
  return storage->in_memory() || master.use_disk(written);
}

void MapReduce::map_splits(Worker& worker) const {
  const training::Learning& learning = worker.learning();
  const int all = worker.workers() * static_cast<int>(splits);
  training::Encoder sum_code(*compression, worker);
  SplitOrders master(worker, *parameter_compression, speculative);
  for (;;) {  // the training ends it, while it waits for the next round
    const Tensor w = master.parameters();
    const std::int64_t step = master.step();
    while (const auto split = master.next_split()) {
      const std::int64_t rows = learning.batches().count(*split, all);
      if (!map_split(worker, master, *split, all, rows)) break;  // the next round has begun
      if (!master.accepts(*split)) continue;                     // another worker was faster
      worker.count_samples(rows);
      master.send(*split, sliced(worker, sum_code, mapped(worker, w, step, *split, all), rows));
    }
  }
}

void MapReduce::reduce_splits(Server& server) const {
  const int all = server.workers() * static_cast<int>(splits);
  const std::int64_t first = server.shards().first(server.shard());
  const training::Encoder sum_code(*compression, server);
  std::vector<std::int64_t> rows;
  for (int split = 0; split < all; ++split) rows.push_back(server.learning().batches().count(split, all));
  SplitMaster workers(server, all, speculative ? std::optional(slow_factor.value_or(1.5)) : std::nullopt,
                      *parameter_compression);
  State state = server.start();
  while (server.continues(state)) {
    std::vector<Tensor> results = workers.mapped(state);
    if (reduce->adds()) server.charge(static_cast<double>(all) * sum_code.add_flops(results.front().size(), first));
    finish_round(server, state,
                 reduce->adds() ? values::sum(std::move(results)) : reduced(server, reduce, std::move(results), rows),
                 sum_code, all);
  }
}

}  // namespace simgrad::strategies
