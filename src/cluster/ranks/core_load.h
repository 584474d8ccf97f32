/// The load of the cores of a host that several ranks share.
#pragma once

#include <algorithm>

namespace simgrad::cluster {

/// The integral of min(ranks that compute, cores) / cores over virtual time.
class CoreLoad {
 public:
  explicit CoreLoad(int cores) : cores_(cores) {}

  void begin(double now) { change(now, 1); }
  void end(double now) { change(now, -1); }
  double busy_s(double now) const { return busy_s_ + rate() * (now - since_s_); }

 private:
  double rate() const { return static_cast<double>(std::min(computing_, cores_)) / cores_; }
  void change(double now, int by) {
    busy_s_ = busy_s(now);
    since_s_ = now;
    computing_ += by;
  }

  int cores_;
  int computing_ = 0;
  double since_s_ = 0.0;
  double busy_s_ = 0.0;
};

}  // namespace simgrad::cluster
