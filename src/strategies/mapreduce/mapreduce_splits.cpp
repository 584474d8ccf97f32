/// Dynamic assignment: the first reducer is the master as well, and deals splits to workers as they ask for them.
///
/// Reports and orders are messages without bytes: a split costs 2 alpha more than its work. A result follows its
/// report's answer, and travels while its worker maps the next split. Splits of a worker that is lost are mapped again
/// by the others, where the training goes on in place; who is back has its share of the next round.
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cluster/ranks/inbox.h"
#include "strategies/mapreduce/job_tracker.h"
#include "strategies/mapreduce/mapreduce.h"
#include "strategies/servers/parameter_store.h"

namespace simgrad::strategies {

using cluster::Inbox;
using cluster::Packet;
using cluster::Pending;

namespace {

/// What stands beside a message's array: the round, a split or none, and whether a result is wanted.
struct Tag {
  std::int64_t step = 0;
  std::optional<int> split;
  bool accepted = false;

  std::int64_t packed(int splits) const {
    return (step * (splits + 1) + split.value_or(splits)) * 2 + (accepted ? 1 : 0);
  }
  static Tag unpacked(std::int64_t number, int splits) {
    const auto split = static_cast<int>(number / 2 % (splits + 1));
    return {.step = number / 2 / (splits + 1),
            .split = split < splits ? std::optional(split) : std::nullopt,
            .accepted = number % 2 == 1};
  }
};

Packet note(const Tag& tag, int splits) {
  Packet packet;
  packet.version = tag.packed(splits);
  return packet;
}

/// What a worker hears of reducers: the stretches of the parameters, and orders between them.
class News {
 public:
  News(Worker& worker, const training::Encoder& code)
      : worker_(worker),
        code_(code),
        inbox_(worker.comm(), worker.server(), worker.servers()),
        slices_(static_cast<std::size_t>(worker.servers())) {}

  /// Blocks until every reducer has sent its stretch of the next round's parameters; orders of the last are void.
  Tensor parameters() {
    while (came_ < worker_.servers()) next();
    came_ = 0;
    return worker_.shards().whole(slices_);
  }
  std::int64_t step() const { return step_; }

  /// Maps for that long, unless the next round begins meanwhile: then somebody else was faster. Whether it got through.
  bool compute(double flops) { return came_ == 0 && inbox_.compute(flops); }

  /// Blocks until the master has answered; nothing if the next round has begun.
  std::optional<Tag> order(int splits) {
    while (came_ == 0)
      if (const auto number = next())
        if (const Tag tag = Tag::unpacked(*number, splits); tag.step == step_) return tag;
    return {};
  }

 private:
  /// The number of an order; nothing if it was parameters.
  std::optional<std::int64_t> next() {
    auto [server, packet, lost] = inbox_.next();
    if (!packet.tensor) return packet.version;
    slices_[static_cast<std::size_t>(server - worker_.server())] = code_.decoded(worker_.comm(), packet.tensor);
    ++came_;
    step_ = packet.version;
    return {};
  }

  Worker& worker_;
  const training::Encoder& code_;
  Inbox inbox_;
  std::vector<Tensor> slices_;
  int came_ = 0;  ///< of the next round's
  std::int64_t step_ = -1;
};

/// Who is back asks with this for the present round's parameters, and an order.
constexpr std::int64_t asks = -1;

void finish(std::vector<Pending>& sends) {
  for (Pending& send : sends)
    if (send.under_way()) send.wait_unless_lost();
  sends.clear();
}

}  // namespace

double MapReduce::map_flops(const training::Learning& learning, int split, int all) const {
  return job == Job::gradient ? learning.gradient_flops(split, all) : learning.assignment_flops(split, all);
}

Tensor MapReduce::mapped(const training::Learning& learning, const Tensor& w, std::int64_t step, int split,
                         int all) const {
  return job == Job::gradient ? learning.gradient(w, step, split, all) : learning.assignments(w, step, split, all);
}

std::int64_t MapReduce::sum_size(const training::Learning& learning) const {
  const std::int64_t d = learning.problem().features;
  return job == Job::gradient ? learning.parameters() : learning.parameters() / d * (d + 1);
}

namespace {

/// The split of the next order that has one; nothing if the next round has begun.
std::optional<int> ordered(News& news, int splits) {
  for (;;) {
    const auto order = news.order(splits);
    if (!order) return {};
    if (order->split) return order->split;
  }
}

}  // namespace

void MapReduce::map_splits(Worker& worker) const {
  const training::Learning& learning = worker.training().learning();
  const int master = worker.server();
  const int all = worker.workers() * static_cast<int>(splits);
  const bool waits_for_orders = speculative || worker.training().keeps_going();
  training::Encoder sum_code(*compression, worker);
  const training::Encoder parameter_code(*parameter_compression, worker);
  News news(worker, parameter_code);
  std::vector<Pending> results;
  bool back = worker.rejoins();
  if (back) worker.comm().send(master, Packet(Tensor(), asks));
  for (;;) {
    const Tensor w = news.parameters();
    const std::int64_t step = news.step();
    std::optional<int> split = worker.comm().rank();
    if (std::exchange(back, false)) split = ordered(news, all);
    while (split) {
      const std::int64_t rows = learning.batches().count(*split, all);
      worker.read_rows(rows);
      const std::int64_t written = 8 * numbers_sent(learning, sum_size(learning), rows);
      const double disk = disk_flops(worker, static_cast<double>(rows * learning.row_bytes() + written));
      const double whole = map_flops(learning, worker.comm().rank(), worker.workers());
      if (!news.compute(worker.stretched(map_flops(learning, *split, all), whole, step) + disk)) break;
      worker.comm().send(master, note({.step = step, .split = split}, all));
      const auto order = news.order(all);
      if (!order) break;
      if (order->accepted) {
        finish(results);
        worker.training().add_samples(rows);
        std::vector<Packet> slices = sliced(worker, sum_code, mapped(learning, w, step, *split, all), rows);
        for (int j = 0; j < worker.servers(); ++j) {
          Packet& slice = slices[static_cast<std::size_t>(j)];
          slice.version = Tag{.step = step, .split = split}.packed(all);
          results.push_back(worker.comm().start_send(master + j, std::move(slice)));
        }
      }
      split = order->split;
      if (split || !waits_for_orders) continue;
      if (const auto copy = news.order(all)) split = copy->split;  // once another's is slow, or lost
    }
  }
}

void MapReduce::reduce_splits(Server& server) const {
  const int P = server.workers();
  const int all = P * static_cast<int>(splits);
  const training::Encoder sum_code(*compression, server);
  training::Encoder parameter_code(*parameter_compression, server);
  const std::int64_t first = first_parameter(server.shards(), server.shard());
  State state = server.start();
  Inbox mail(server.comm(), 0, P, Inbox::Losses::told);
  std::vector<Pending> sends;
  std::vector<bool> here(static_cast<std::size_t>(P), true);  // who has begun with the others, or asked
  while (server.continues(state)) {
    JobTracker tracker(P, all, speculative ? std::optional(slow_factor.value_or(1.5)) : std::nullopt, server.now());
    const auto parameters = [&](int worker) {
      sends.push_back(server.comm().start_send_unless_lost(
          worker, Packet(parameter_code.once(server.comm(), state.w), state.step)));
    };
    const auto answer = [&](int worker, const Tag& tag) {
      sends.push_back(server.comm().start_send_unless_lost(worker, note(tag, all)));
    };
    const auto lose = [&](int worker) {
      here[static_cast<std::size_t>(worker)] = false;
      for (const JobTracker::Copy& begun : tracker.lost(worker, server.now()))
        answer(begun.worker, {.step = state.step, .split = begun.split});
    };
    for (int worker = 0; worker < P; ++worker) {
      if (here[static_cast<std::size_t>(worker)] && server.comm().alive(worker))
        parameters(worker);
      else
        lose(worker);
    }
    std::vector<Tensor> sums(static_cast<std::size_t>(all));
    for (int missing = all; missing > 0;) {
      const auto copy_at = tracker.next_copy_at();
      auto arrival = copy_at ? mail.next_until(*copy_at) : mail.next();
      if (!arrival) {
        const JobTracker::Copy copy = tracker.start_copy(server.now());
        answer(copy.worker, {.step = state.step, .split = copy.split});
        continue;
      }
      auto& [worker, packet, lost] = *arrival;
      if (lost) {
        lose(worker);
        continue;
      }
      if (packet.version == asks) {
        here[static_cast<std::size_t>(worker)] = true;
        parameters(worker);
        answer(worker, {.step = state.step, .split = tracker.back(worker, server.now())});
        continue;
      }
      const Tag tag = Tag::unpacked(packet.version, all);
      if (packet.tensor) {
        base::check(tag.step == state.step && !sums[static_cast<std::size_t>(*tag.split)], "a split has one result");
        sums[static_cast<std::size_t>(*tag.split)] = std::move(packet.tensor);
        tracker.received(*tag.split);
        --missing;
      } else if (tag.step == state.step) {  // else a copy that came too late
        const JobTracker::Order order = tracker.finished(worker, server.now());
        answer(worker, {.step = tag.step, .split = order.split, .accepted = order.accepted});
      }
    }
    finish(sends);
    const Tensor g = values::sum(std::move(sums));
    server.comm().charge_reduction(static_cast<double>(all) * sum_code.add_flops(g.size(), first));
    finish_round(server, state, g, sum_code, all);
  }
}

}  // namespace simgrad::strategies
