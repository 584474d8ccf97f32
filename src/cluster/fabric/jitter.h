/// Network jitter: random differences between the times of equal messages.
#pragma once

#include <functional>

#include "base/describe.h"
#include "base/random.h"
#include "base/registry.h"

namespace simgrad::cluster {

class Jitter : public base::Described {
 public:
  double latency = 0.0;   ///< variation of the latency; 0: none
  double transfer = 0.0;  ///< variation of the time of the bytes

  void describe(base::Describer& d) override;
  /// Whether it makes equal messages differ.
  virtual bool disturbs() const { return true; }
  /// A multiple of a nominal time, for that much variation.
  virtual double multiple(double /*variation*/, base::Stream& /*stream*/) const { return 1.0; }
};

struct NoJitter final : Jitter {
  static constexpr base::About about{
      .kind = "none", .summary = "equal messages take equal times", .cost = "alpha + bytes / B", .source = ""};
  void describe(base::Describer&) override {}
  bool disturbs() const override { return false; }
};

struct LogNormalJitter final : Jitter {
  static constexpr base::About about{
      .kind = "log_normal",
      .summary =
          "a message's latency and the time of its bytes are log-normal multiples, of mean 1, of the nominal ones",
      .cost =
          "exp(s Z - s^2 / 2) alpha + exp(t Z' - t^2 / 2) bytes / B, Z and Z' standard normal; mean alpha + bytes / B",
      .source = ""};
  LogNormalJitter() { latency = 0.5; }
  double multiple(double variation, base::Stream& stream) const override;
};

struct ExponentialJitter final : Jitter {
  static constexpr base::About about{
      .kind = "exponential",
      .summary = "queues on the way: exponential times on top of the nominal ones",
      .cost = "(1 + Exp(s)) alpha + (1 + Exp(t)) bytes / B; mean (1 + s) alpha + (1 + t) bytes / B",
      .source = ""};
  ExponentialJitter() { latency = 1.0; }
  double multiple(double variation, base::Stream& stream) const override;
};

/// none, log_normal, exponential
const base::Registry<Jitter>& jitters();

}  // namespace simgrad::cluster
