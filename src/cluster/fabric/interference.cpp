#include "cluster/fabric/interference.h"

#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/fabric/cluster.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;
using record::Work;

/// While it lives, an actor computes products on a host; the actor may be killed meanwhile.
class Interference::Products {
 public:
  Products(Interference& all, int host, sg4::Semaphore& woken) : all_(all), host_(host), woken_(woken) {
    all_.of(host_).computing.push_back(this);
    if (all_.of(host_).computing.size() == 1) all_.changed_(host_);
  }
  ~Products() {
    std::erase(all_.of(host_).computing, this);
    if (all_.of(host_).computing.empty()) all_.changed_(host_);
  }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  /// Messages begin on the host, or end.
  void tell() {
    ++told_;
    woken_.release();
  }
  /// Blocks for so long, or until somebody releases the semaphore. Returns whether the time is over.
  bool wait(double seconds) {
    if (woken_.acquire_timeout(seconds)) return true;
    ++taken_;
    return false;
  }
  /// Leaves the semaphore as it is without this.
  void settle() {
    for (; taken_ < told_; ++taken_) woken_.acquire();
    for (; taken_ > told_; --taken_) woken_.release();
  }

 private:
  Interference& all_;
  int host_;
  sg4::Semaphore& woken_;
  int told_ = 0, taken_ = 0;
};

Interference::Interference(const Cluster& cluster, double slowdown, std::function<void(int host)> changed)
    : cluster_(cluster),
      slowdown_(slowdown),
      changed_(std::move(changed)),
      hosts_(static_cast<std::size_t>(cluster.hosts())) {}

bool Interference::concerns(Work work) {
  return work == Work::gradient || work == Work::forward || work == Work::backward || work == Work::weights ||
         work == Work::recompute;
}

void Interference::add(int host, int messages) {
  Host& host_state = of(host);
  const bool before = host_state.messages > 0;
  host_state.messages += messages;
  if (before == (host_state.messages > 0)) return;
  for (Products* const each : host_state.computing) each->tell();
}

void Interference::begins(int source, int target) {
  add(source, 1);
  add(target, 1);
}

void Interference::ends(int source, int target) {
  add(source, -1);
  add(target, -1);
}

void Interference::compute(int host, double seconds) {
  const sg4::SemaphorePtr woken = sg4::Semaphore::create(0);
  compute_unless(host, seconds, *woken, [] { return false; });
}

bool Interference::compute_unless(int host, double seconds, sg4::Semaphore& woken, const std::function<bool()>& came) {
  if (came()) return false;
  Products products(*this, host, woken);
  constexpr double rounding = 1e-15;
  double left_s = seconds;
  bool over = false;
  while (!over && !came()) {
    const double since_s = cluster_.now(), speed = of(host).messages > 0 ? 1.0 - slowdown_ : 1.0;
    over = products.wait(left_s / speed);
    left_s -= speed * (cluster_.now() - since_s);
    over = over || left_s <= rounding * seconds;
  }
  products.settle();
  return over;
}

}  // namespace simgrad::cluster
