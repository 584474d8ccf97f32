#include "strategies/mapreduce/split_orders.h"

#include <utility>

#include "strategies/notes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;

SplitOrders::SplitOrders(Worker& worker, const training::Compressor& parameters, bool speculative)
    : worker_(worker),
      code_(parameters, worker),
      waits_(speculative || worker.keeps_going()),
      inbox_(worker.comm(), worker.server(), worker.servers()),
      slices_(static_cast<std::size_t>(worker.servers())),
      joins_(worker.rejoins()) {
  if (joins_) worker.comm().send(worker.server(), Packet({}, JoinRound()));
}

Tensor SplitOrders::parameters() {
  while (received_ < worker_.servers()) receive();
  received_ = 0;
  // A round's first splits are dealt by rank, without orders.
  order_ = SplitOrder{.step = step_, .number = worker_.rank()};
  if (std::exchange(joins_, false)) {
    order_ = order();
    while (order_ && !order_->split()) order_ = order();
  }
  return worker_.shards().whole(slices_);
}

std::optional<int> SplitOrders::next_split() {
  if (order_ && !order_->split() && waits_) order_ = order();  // once another's split is slow, or lost
  return order_ ? std::exchange(order_, SplitOrder{.step = step_})->split() : std::nullopt;
}

bool SplitOrders::read(int split, int all) { return received_ == 0 && worker_.read_split_unless(inbox_, split, all); }

bool SplitOrders::use_disk(std::int64_t bytes) { return received_ == 0 && inbox_.use_storage(worker_.disk(), bytes); }

bool SplitOrders::accepts(int split) {
  worker_.comm().send(worker_.server(), Packet({}, SplitReport{.step = step_, .split = split}));
  order_ = order();
  if (!order_ || !order_->accepted) return false;
  cluster::wait_for_sends(results_);
  return true;
}

void SplitOrders::send(int split, std::vector<Packet> slices) {
  for (int j = 0; j < worker_.servers(); ++j) {
    Packet& slice = slices[static_cast<std::size_t>(j)];
    slice.attached = SplitResult{.step = step_, .split = split};
    results_.push_back(worker_.comm().start_send(worker_.server() + j, std::move(slice)));
  }
}

std::optional<SplitOrder> SplitOrders::order() {
  while (received_ == 0)
    if (const auto order = receive(); order && order->step == step_) return order;
  return {};
}

std::optional<SplitOrder> SplitOrders::receive() {
  auto [server, packet, lost] = inbox_.next();
  if (!packet.tensor) return packet.note<SplitOrder>();
  slices_[static_cast<std::size_t>(server - worker_.server())] = code_.decoded(worker_.comm(), packet.tensor);
  ++received_;
  step_ = packet.note<Version>().step;
  return {};
}

}  // namespace simgrad::strategies
