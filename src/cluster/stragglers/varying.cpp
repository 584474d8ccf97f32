#include "cluster/stragglers/varying.h"

#include <cmath>
#include <utility>

#include "cluster/stragglers/speed_file.h"

namespace simgrad::cluster {

using base::Bounds;
using base::Stream;
using base::Unit;

namespace {

constexpr double shortest_s = 1e-6;  // faster variation amounts to a mean speed

class Chain final : public SpeedChanges {
 public:
  Chain(const Markov& options, const Stream& stream) : options_(options), stream_(stream) {}

  std::optional<SpeedChange> next() override {
    if (std::exchange(begun_, true))
      slow_ = !slow_;
    else
      slow_ = stream_.uniform() < options_.slow_s / (options_.slow_s + options_.nominal_s);
    const SpeedChange change{at_s_, slow_ ? options_.factor : 1.0};
    at_s_ += -(slow_ ? options_.slow_s : options_.nominal_s) * std::log(1.0 - stream_.uniform());
    return change;
  }

 private:
  Markov options_;
  Stream stream_;
  double at_s_ = 0.0;
  bool begun_ = false;
  bool slow_ = false;
};

class Beat final : public SpeedChanges {
 public:
  explicit Beat(const Periodic& options) : options_(options) {}

  std::optional<SpeedChange> next() override {
    const double begin = options_.offset_s + options_.period_s * static_cast<double>(count_ / 2);
    const bool slow = count_++ % 2 == 0;
    return SpeedChange{slow ? begin : begin + options_.duty * options_.period_s, slow ? options_.factor : 1.0};
  }

 private:
  Periodic options_;
  std::int64_t count_ = 0;
};

}  // namespace

void VaryingSpeed::describe_hosts(base::Describer& d) {
  describe_ranks(d);
  d.flag("servers", servers, "whether the hosts of servers are slow, too");
}

void Markov::describe(base::Describer& d) {
  d.quantity("nominal", nominal_s, Unit::seconds, "mean duration at nominal speed", Bounds::at_least(shortest_s));
  d.quantity("slow", slow_s, Unit::seconds, "mean duration at the lower speed", Bounds::at_least(shortest_s));
  d.number("factor", factor, "speed while slow, as a share of the nominal one; 0: the host stands still",
           Bounds::between(0, 1));
  describe_hosts(d);
}

std::unique_ptr<SpeedChanges> Markov::speed_changes(std::optional<int>, const Stream& stream) const {
  return std::make_unique<Chain>(*this, stream);
}

void Periodic::describe(base::Describer& d) {
  d.quantity("period", period_s, Unit::seconds, "the time from the start of one slow time to that of the next",
             Bounds::at_least(shortest_s));
  d.number("duty", duty, "share of the period that is slow", Bounds::between(0, 1));
  d.number("factor", factor, "speed while slow, as a share of the nominal one; 0: the host stands still",
           Bounds::between(0, 1));
  d.quantity("offset", offset_s, Unit::seconds, "start of the first slow time", Bounds::at_least(0));
  describe_hosts(d);
  if (factor == 0.0 && duty == 1.0)
    d.refuse("duty", "duty = 1 with factor = 0 are hosts that never compute; give a smaller duty or a larger factor");
}

std::unique_ptr<SpeedChanges> Periodic::speed_changes(std::optional<int>, const Stream&) const {
  return std::make_unique<Beat>(*this);
}

void SpeedTrace::describe(base::Describer& d) {
  d.path("file", file, "lines \"date factor\" with PERIODICITY or LOOPAFTER seconds; or CSV: date, factor[, rank]");
  describe_hosts(d);
  if (file.empty()) d.refuse("file", "kind = \"trace\" reads speeds from a file; give file = \"...\"");
}

std::unique_ptr<SpeedChanges> SpeedTrace::speed_changes(std::optional<int> worker, const Stream&) const {
  return read_speed_file(file).of_rank(worker);
}

}  // namespace simgrad::cluster
