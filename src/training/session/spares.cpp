#include "training/session/spares.h"

namespace simgrad::training {

Spares::Spares(int places, int spares)
    : place_of_(static_cast<std::size_t>(places + spares)), server_of_(static_cast<std::size_t>(places)) {
  for (int place = 0; place < places; ++place)
    place_of_[static_cast<std::size_t>(place)] = server_of_[static_cast<std::size_t>(place)] = place;
  for (int server = places; server < servers(); ++server) free_.insert(server);
}

std::optional<int> Spares::server_in(int place) const { return server_of_[static_cast<std::size_t>(place)]; }

std::optional<int> Spares::down(int server, bool back) {
  if (back) ++in_repair_;
  free_.erase(server);
  const std::optional<int> place = place_of_[static_cast<std::size_t>(server)];
  if (!place) return {};
  place_of_[static_cast<std::size_t>(server)].reset();
  server_of_[static_cast<std::size_t>(*place)].reset();
  lacking_.insert(*place);
  return place;
}

void Spares::repaired(int server) {
  --in_repair_;
  free_.insert(server);
}

std::vector<int> Spares::fill() {
  std::vector<int> filled;
  while (!free_.empty() && !lacking_.empty()) {
    const int server = *free_.begin(), place = *lacking_.begin();
    free_.erase(free_.begin());
    lacking_.erase(lacking_.begin());
    place_of_[static_cast<std::size_t>(server)] = place;
    server_of_[static_cast<std::size_t>(place)] = server;
    filled.push_back(place);
  }
  return filled;
}

}  // namespace simgrad::training
