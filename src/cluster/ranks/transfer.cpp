#include "cluster/ranks/transfer.h"

#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/ranks/messenger.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// While it lives, the calling actor is blocked, and an end of a parcel knows on what; the actor may be killed.
class BlockedEnd {
 public:
  explicit BlockedEnd(sg4::Semaphore*& end) : end_(end) { end_ = semaphore_.get(); }
  ~BlockedEnd() { end_ = nullptr; }
  BlockedEnd(const BlockedEnd&) = delete;
  BlockedEnd& operator=(const BlockedEnd&) = delete;

  void block() { semaphore_->acquire(); }

 private:
  sg4::SemaphorePtr semaphore_ = sg4::Semaphore::create(0);
  sg4::Semaphore*& end_;
};

}  // namespace

void Parcel::wait(bool receives) {
  if (finish_s() < 0.0) BlockedEnd(receives ? receiver_ : sender_).block();
}

void Parcel::arrived() {
  if (under_way.list) under_way.list->remove(under_way);
  if (landing) *landing = message;
  if (receiver_) receiver_->release();
  // The training may have ended at this very instant, and what came in is gone.
  if (taker && message->channel) taker->arrived(taker_place, *message, start_s());
}

void Parcel::left() {
  if (sender_) sender_->release();
  release();
}

void Parcel::release() {
  if (--references_ == 0) pool_.give_back(*this);
}

Parcel& ParcelPool::make() {
  if (free_.empty()) return parcels_.emplace_back(*this);
  Parcel* const parcel = free_.back();
  free_.pop_back();
  return *parcel;
}

void ParcelPool::give_back(Parcel& parcel) {
  std::destroy_at(&parcel);
  std::construct_at(&parcel, *this);  // like new
  free_.push_back(&parcel);
}

Parcel* ParcelQueue::take(bool receives) {
  if (!first_ || receivers_ == receives) return nullptr;
  Parcel* const taken = std::exchange(first_, first_->next);
  taken->next = nullptr;
  return taken;
}

void ParcelQueue::put(Parcel& parcel, bool receives) {
  parcel.add_reference();
  receivers_ = receives;
  (first_ ? last_->next : first_) = &parcel;
  last_ = &parcel;
}

void ParcelQueue::clear() {
  while (first_) std::exchange(first_, first_->next)->release();
}

AnyTransfer::AnyTransfer(sg4::Comm& comm) : comm_(&comm) { intrusive_ptr_add_ref(comm_); }

AnyTransfer::AnyTransfer(const AnyTransfer& other) : comm_(other.comm_), parcel_(other.parcel_) {
  if (comm_) intrusive_ptr_add_ref(comm_);
  if (parcel_) parcel_->add_reference();
}

AnyTransfer::~AnyTransfer() {
  if (comm_) intrusive_ptr_release(comm_);
  if (parcel_) parcel_->release();
}

double AnyTransfer::start_s() const {
  if (parcel_) return parcel_->start_s();
  return comm_ ? comm_->get_start_time() : -1.0;
}

double AnyTransfer::finish_s() const { return parcel_ ? parcel_->finish_s() : comm_->get_finish_time(); }

// SimGrid's own question, whether bytes remain, is answered with none before a transfer has met its other end, too.
bool AnyTransfer::over() const { return finish_s() >= 0.0; }

void AnyTransfer::wait(bool receives) const {
  if (parcel_)
    parcel_->wait(receives);
  else
    comm_->wait();
}

}  // namespace simgrad::cluster
