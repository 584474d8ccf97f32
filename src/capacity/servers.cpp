#include "capacity/servers.h"

#include "base/errors.h"

namespace simgrad::capacity {

Servers::Servers(int count, const Outages& outages) : outages_(outages), servers_(static_cast<std::size_t>(count)) {
  constexpr std::int64_t most_before = 1'000'000;
  std::int64_t before = 0;
  for (int server = 0; server < count; ++server) {
    Server& server_state = servers_[static_cast<std::size_t>(server)];
    plan(server, -outages_.warm_up_s);
    for (; server_state.up_again_s <= 0.0; plan(server, server_state.up_again_s))
      if (++before > most_before)
        throw base::ScenarioError(
            "servers fail more than 1,000,000 times before the beginning; shorten capacity.warm_up, or let "
            "them live longer");
    if (server_state.next_s > 0.0) {
      free_.insert(server);
      continue;
    }
    server_state.up = false;
    server_state.next_s = server_state.up_again_s;
    ++down_;
  }
}

void Servers::plan(int server, double up_since_s) {
  Server& server_state = servers_[static_cast<std::size_t>(server)];
  const base::Stream::Key draws{.seed = outages_.seed,
                                .purpose = base::Purpose::failure,
                                .step = static_cast<std::uint64_t>(server_state.failures),
                                .rank = static_cast<std::uint32_t>(server)};
  // The process counts from the server's first moment, which was a warm-up ago.
  const double shift_s = outages_.warm_up_s;
  const auto outage =
      outages_.failures.next(server, server_state.failures, up_since_s + shift_s, draws, outages_.repair);
  ++server_state.failures;
  server_state.next_s = outage ? outage->down_s - shift_s : never;
  server_state.up_again_s = outage && outage->up_s ? *outage->up_s - shift_s : never;
}

void Servers::change(int server) {
  Server& server_state = servers_[static_cast<std::size_t>(server)];
  server_state.up = !server_state.up;
  if (server_state.up) {
    --down_;
    free_.insert(server);
    plan(server, server_state.next_s);
  } else {
    ++down_;
    free_.erase(server);
    server_state.job = -1;
    server_state.next_s = server_state.up_again_s;
  }
}

std::optional<int> Servers::take(int job) {
  if (free_.empty()) return {};
  const int server = *free_.begin();
  free_.erase(free_.begin());
  servers_[static_cast<std::size_t>(server)].job = job;
  return server;
}

void Servers::release(int server) {
  servers_[static_cast<std::size_t>(server)].job = -1;
  free_.insert(server);
}

}  // namespace simgrad::capacity
