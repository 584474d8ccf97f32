/// Stragglers in time: a host's speed is a step function of virtual time, and all that is computed on it follows.
#pragma once

#include "cluster/stragglers/stragglers.h"

namespace simgrad::cluster {

struct VaryingSpeed : Stragglers {
  bool servers = false;  ///< whether servers' hosts change speed, too

  bool varies() const override { return true; }
  bool concerns_servers() const override { return servers; }

 protected:
  void describe_hosts(base::Describer& d);
};

struct Markov final : VaryingSpeed {
  static constexpr base::About about{
      .kind = "markov",
      .summary =
          "each host is slow now and then, by itself: two states with exponential durations, stationary at the start",
      .cost = "slow for slow / (slow + nominal) of the time; mean speed 1 - that share x (1 - factor)",
      .source =
          "E. N. Gilbert, \"Capacity of a Burst-Noise Channel\", Bell System Technical Journal 39, 1960 (the chain)"};
  double nominal_s = 9.0;  ///< mean duration at nominal speed
  double slow_s = 1.0;
  double factor = 0.5;  ///< speed while slow, as a share of the nominal one

  void describe(base::Describer& d) override;
  std::unique_ptr<SpeedChanges> speed_changes(std::optional<int> worker, const base::Stream& stream) const override;
};

struct Periodic final : VaryingSpeed {
  static constexpr base::About about{
      .kind = "periodic",
      .summary = "hosts are slow in the first part of every period: a backup, another tenant's job",
      .cost = "mean speed 1 - duty (1 - factor)",
      .source = ""};
  double period_s = 10.0;
  double duty = 0.1;  ///< share of the period that is slow
  double factor = 0.5;
  double offset_s = 0.0;  ///< the first period begins then

  void describe(base::Describer& d) override;
  std::unique_ptr<SpeedChanges> speed_changes(std::optional<int> worker, const base::Stream& stream) const override;
};

struct SpeedTrace final : VaryingSpeed {
  static constexpr base::About about{
      .kind = "trace",
      .summary = "speeds read from a file: SimGrid's profile format, or CSV with date, factor and perhaps rank",
      .cost = "the integral of the speed over a gradient's time is its flops",
      .source = "the SimGrid Team, \"SimGrid's profiles\", the SimGrid documentation"};
  std::string file;

  void describe(base::Describer& d) override;
  std::vector<std::string> files() const override { return {file}; }
  std::unique_ptr<SpeedChanges> speed_changes(std::optional<int> worker, const base::Stream& stream) const override;
};

}  // namespace simgrad::cluster
