/// One actor's time as it is recorded, span by span.
#pragma once

#include <cstdint>
#include <vector>

#include "record/timeline.h"

namespace simgrad::cluster {

class Recorder;

/// What an actor does, with whom.
struct Deed {
  record::Work work = record::Work::idle;
  int peer = -1;  ///< a rank of the world
  std::int64_t bytes = 0;
};

/// A stretch of time given to one deed.
struct Piece {
  record::Activity kind = record::Activity::wait;
  Deed deed;
  double from_s = 0.0;
  double to_s = 0.0;
};

/// It has a hand that moves on with the actor's account of time: what is told is what lies between the hand and now.
class Lane {
 public:
  /// step: the rank's, looked at whenever something is told.  main: of the rank itself; else an actor beside, which
  /// gets its number when it first works, and whose idle time is not told.
  Lane(Recorder& recorder, int rank, const std::int64_t* step, bool main, double now)
      : recorder_(recorder), rank_(rank), step_(step), main_(main), hand_s_(now) {}

  int rank() const { return rank_; }
  std::int64_t step() const { return *step_; }
  /// What the actor begins. Transfers within a named work are that work.
  void begin(Deed deed) { deed_ = deed; }
  void transfer(Deed deed) {
    deed_ = deed;
    if (within_ != record::Work::idle) deed_.work = within_;
  }
  const Deed& deed() const { return deed_; }
  void rest() { deed_ = {.work = within_}; }
  record::Work within() const { return within_; }
  void set_within(record::Work work) { within_ = work; }

  /// All time up to then went like this.
  void tell(record::Activity kind, double until_s) { tell({kind, deed_, hand_s_, until_s}); }
  /// It waited until a transfer started (negative: it never did), and communicated from then on.
  void tell_blocked(double until_s, double transfer_start_s);
  /// All pieces in the order of time; between two it waited for the next.
  void tell(const std::vector<Piece>& pieces);
  void tell(const Piece& piece);
  /// What is told already, ahead of time.
  void move_hand(double to_s) { hand_s_ = to_s; }

  /// While somebody follows this actor, what it tells is kept for them.
  void keep(bool on);
  const std::vector<Piece>& kept() const { return kept_; }

  /// The pieces of what is not told yet, up to `until_s`, without moving the hand.
  void untold(std::vector<Piece>& pieces, record::Activity kind, double until_s) const;
  void untold_blocked(std::vector<Piece>& pieces, double until_s, double transfer_start_s) const;
  void untold(std::vector<Piece>& pieces, const std::vector<Piece>& told) const;

 private:
  friend class Recorder;

  Recorder& recorder_;
  int rank_;
  const std::int64_t* step_;
  bool main_;
  int number_ = -1;  ///< of an actor beside, once it has worked
  Deed deed_;
  record::Work within_ = record::Work::idle;
  double hand_s_;
  bool keeps_ = false;
  std::vector<Piece> kept_;
};

}  // namespace simgrad::cluster
