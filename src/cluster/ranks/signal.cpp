#include "cluster/ranks/signal.h"

#include <simgrid/s4u.hpp>

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

struct Signal::Parts {
  sg4::SemaphorePtr given = sg4::Semaphore::create(0);
};

Signal::Signal() : parts_(std::make_unique<Parts>()) {}
Signal::~Signal() = default;

void Signal::wait() { parts_->given->acquire(); }

void Signal::give() {
  if (parts_->given->get_capacity() == 0) parts_->given->release();
}

}  // namespace simgrad::cluster
