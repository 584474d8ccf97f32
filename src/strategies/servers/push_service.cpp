#include "strategies/servers/push_service.h"

#include <algorithm>
#include <utility>

#include "strategies/notes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;

Answers::Answers(const Server& server, const training::Compressor& parameters, const Bucketing& bucketing)
    : server_(server),
      parameters_(parameters, server),
      bucketing_(bucketing),
      under_way_(static_cast<std::size_t>(server.workers())) {
  if (bucketing.of_answers())
    for (int worker = 0; worker < server.workers(); ++worker)
      streams_.emplace_back(server.comm(), bucketing.travel.credits);
}

void Answers::send_bucket(int worker, std::size_t bucket, const Tensor& w, std::int64_t version) {
  const std::int64_t first = server_.shards().stretch(server_.shard(), bucket).first;
  const Tensor code = parameters_.once(server_.comm(), w, first);
  streams_[static_cast<std::size_t>(worker)].ready(bucket, [worker, bucket, code, version](const Communicator& comm) {
    std::vector<Pending> message;
    message.push_back(comm.start_send(worker, Packet(code, BucketNote{static_cast<std::int64_t>(bucket), version})));
    return message;
  });
}

void Answers::send_bucket_to_all(std::size_t bucket, const Tensor& w, std::int64_t version) {
  for (int worker = 0; worker < server_.workers(); ++worker) send_bucket(worker, bucket, w, version);
}

void Answers::send(int worker, const State& state) {
  if (bucketing_.of_answers()) {
    for (std::size_t b = 0; b < bucketing_.buckets; ++b) {
      const training::Shards::Stretch place = server_.shards().in_part(server_.shard(), b);
      send_bucket(worker, b, values::slice(state.w, place.first, place.count), state.step);
    }
    return;
  }
  Pending& last = under_way_[static_cast<std::size_t>(worker)];
  if (last.under_way())
    last.wait_unless_lost();  // mostly over long since: a push comes after the answer to the one before
  last = server_.comm().start_send_unless_lost(worker, Packet(code(state), Version{state.step}));
}

void Answers::send_all(const State& state) {
  for (int worker = 0; worker < server_.workers(); ++worker) send(worker, state);
}

PushService::PushService(const Server& server, const training::Compressor& gradients,
                         const training::Compressor& parameters, cluster::Inbox::OnLoss losses,
                         const Bucketing& bucketing)
    : state(server.start()),
      server_(server),
      gradients_(gradients, server),
      bucketing_(bucketing),
      answers_(server, parameters, bucketing),
      pushes_(server.comm(), 0, server.workers(), losses, static_cast<int>(bucketing.travel.credits)),
      arriving_(static_cast<std::size_t>(server.workers()), std::vector<Tensor>(bucketing.buckets)) {
  answers_.send_all(state);
}

bool PushService::continues() {
  if (server_.continues(state)) return true;
  while (server_.keeps_going())  // the training ends it
    if (const auto push = pushes_.next(); !push.lost) answers_.send(push.source, state);
  return false;
}

BucketPush PushService::next_bucket() {
  auto [worker, packet, lost] = pushes_.next();
  const auto bucket = static_cast<std::size_t>(packet.note<BucketNote>().bucket);
  return {worker, bucket, std::move(packet.tensor)};
}

Push PushService::next_in_buckets() {
  for (;;) {
    auto [worker, packet, lost] = pushes_.next();
    const BucketNote note = packet.note<BucketNote>();
    std::vector<Tensor>& worker_codes = arriving_[static_cast<std::size_t>(worker)];
    worker_codes[static_cast<std::size_t>(note.bucket)] = std::move(packet.tensor);
    if (std::ranges::all_of(worker_codes, [](const Tensor& code) { return static_cast<bool>(code); }))
      return {worker, std::exchange(worker_codes, std::vector<Tensor>(bucketing_.buckets)), note.version};
  }
}

Push PushService::next() {
  if (bucketing_) return next_in_buckets();
  for (;;) {
    auto [worker, packet, lost] = pushes_.next();
    if (packet.tensor) {
      const Version* const version = packet.find_note<Version>();
      return {worker, {std::move(packet.tensor)}, version ? version->step : 0};
    }
    if (lost) {
      if (listener_) listener_->on_lost(worker);
      continue;
    }
    if (listener_) listener_->on_rejoin(worker);
    answer(worker);
  }
}

void PushService::answer(int worker) {
  if (answered_) answered_(worker);
  answers_.send(worker, state);
}

Tensor PushService::decoded(const Push& push) const {
  const training::Shards& shards = server_.shards();
  if (!bucketing_) return gradients_.decoded(server_.comm(), push.codes.front(), shards.first(server_.shard()));
  std::vector<Tensor> parts;
  for (const Tensor& code : push.codes)
    parts.push_back(gradients_.decoded(server_.comm(), code, shards.stretch(server_.shard(), parts.size()).first));
  return values::concatenate(parts);
}

Tensor PushService::sum(std::vector<Tensor> parts) const {
  const training::Shards& shards = server_.shards();
  double a_push = 0.0;
  if (!bucketing_) a_push = gradients_.add_flops(parts.front().size(), shards.first(server_.shard()));
  for (std::size_t b = 0; b < bucketing_.buckets; ++b) {
    const training::Shards::Stretch place = shards.stretch(server_.shard(), b);
    a_push += gradients_.add_flops(place.count, place.first);
  }
  server_.charge(a_push * static_cast<double>(parts.size()));
  return gradients_.compressor().concluded(values::sum(std::move(parts)));
}

}  // namespace simgrad::strategies
