#include "cluster/ranks/gang_schedule.h"

#include <simgrid/s4u.hpp>

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// The ranks of one job, waiting for their turn.
struct GangSchedule::Gate {
  sg4::SemaphorePtr open = sg4::Semaphore::create(0);
  int waiting = 0;
  int came = 0;  ///< ranks that have reached the end of the quantum
  bool over = false;
};

GangSchedule::GangSchedule(int jobs, std::int64_t quantum_steps) : quantum_steps_(quantum_steps) {
  for (int job = 0; job < jobs; ++job) gates_.push_back(std::make_unique<Gate>());
}

GangSchedule::~GangSchedule() = default;

void GangSchedule::come(int job, std::int64_t step, int ranks) {
  if (step % quantum_steps_ != 0) return;
  Gate& gate = *gates_[job];
  ++gate.waiting;
  if (++gate.came == ranks) {
    gate.came = 0;
    if (holder_ == job || holder_ < 0) pass_on();
  }
  gate.open->acquire();
}

/// To the next job after the holder whose ranks have all come.
void GangSchedule::pass_on() {
  const int jobs = gates_.size();
  const int before = holder_;
  holder_ = -1;
  for (int i = 1; i <= jobs; ++i) {
    const int next = (before + i + jobs) % jobs;
    Gate& gate = *gates_[next];
    if (gate.over || gate.waiting == 0 || gate.came > 0) continue;
    holder_ = next;
    for (; gate.waiting > 0; --gate.waiting) gate.open->release();
    return;
  }
}

void GangSchedule::leave(int job) {
  gates_[job]->over = true;
  if (holder_ == job || holder_ < 0) pass_on();
}

}  // namespace simgrad::cluster
