#include "cluster/recording/track.h"

#include <algorithm>

#include "cluster/recording/recorder.h"

namespace simgrad::cluster {

void Lane::tell(const Piece& piece) {
  const double from_s = std::max(piece.from_s, hand_s_);
  if (!(piece.to_s > from_s)) return;
  hand_s_ = piece.to_s;
  const Piece told{piece.kind, piece.deed, from_s, piece.to_s};
  if (keeps_) kept_.push_back(told);
  recorder_.take(*this, told);
}

void Lane::tell_blocked(double until_s, double transfer_start_s) {
  std::vector<Piece> pieces;
  untold_blocked(pieces, until_s, transfer_start_s);
  for (const Piece& piece : pieces) tell(piece);
}

void Lane::tell(const std::vector<Piece>& pieces) {
  std::vector<Piece> all;
  untold(all, pieces);
  for (const Piece& piece : all) tell(piece);
}

void Lane::keep(bool on) {
  keeps_ = on;
  kept_.clear();
}

void Lane::untold(std::vector<Piece>& pieces, record::Activity kind, double until_s) const {
  const double from_s = pieces.empty() ? hand_s_ : std::max(hand_s_, pieces.back().to_s);
  if (until_s > from_s) pieces.push_back({kind, deed_, from_s, until_s});
}

void Lane::untold_blocked(std::vector<Piece>& pieces, double until_s, double transfer_start_s) const {
  const double start_s = transfer_start_s < 0.0 ? until_s : std::min(transfer_start_s, until_s);
  untold(pieces, record::Activity::wait, start_s);
  untold(pieces, record::Activity::communicate, until_s);
}

void Lane::untold(std::vector<Piece>& pieces, const std::vector<Piece>& told) const {
  double hand_s = pieces.empty() ? hand_s_ : std::max(hand_s_, pieces.back().to_s);
  for (const Piece& piece : told) {
    if (!(piece.to_s > hand_s)) continue;
    if (piece.from_s > hand_s) pieces.push_back({record::Activity::wait, piece.deed, hand_s, piece.from_s});
    pieces.push_back({piece.kind, piece.deed, std::max(hand_s, piece.from_s), piece.to_s});
    hand_s = piece.to_s;
  }
}

}  // namespace simgrad::cluster
