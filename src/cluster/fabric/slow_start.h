/// TCP's slow start under `ethernet`: the time by which a small window makes a message longer.
///
/// There is one connection from each host to each other one. Its window begins with the initial window, and grows by
/// the bytes that are acknowledged. After the idle time it is the initial window again. A sender sends a window a round
/// trip, each twice as long as the one before, until a window is as long as the bytes that are under way at the route's
/// bandwidth: from then on bytes stream. So m bytes on an idle path of latency alpha, round trip R and bandwidth B take
///
///   alpha + n R + (m - w (2^n - 1)) / B
///
/// of which n windows w, 2 w, 4 w ... are sent before the rest: n is the least number with m <= w (2^(n+1) - 1) or
/// w 2^n >= B R. The n round trips but for the n windows' own time are a latency of the message, which is known when it
/// begins; afterwards it has its fair share of the links, as all messages have.
///
/// Source: M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009 (section 3.1, slow start; section 4.1, idle connections);
/// J. Chu et al., RFC 6928, 2013 (the initial window).
#pragma once

#include "cluster/fabric/network_model.h"

namespace simgrad::cluster {

class Cluster;
struct Options;

/// Whether messages begin slowly on a route of that latency: under `ethernet`, unless initial_window is 0, where a
/// round trip takes at least a millisecond. In less, a window has opened within a fraction of the idle time.
bool starts_slowly(const Options& options, double latency_s);

/// The time by which messages of so many bytes that begin with that window are longer than latency + bytes / bandwidth.
double slow_start_s(double bytes, double window_bytes, double round_trip_s, double bytes_per_s);

/// The idle time of a connection: the option, or the retransmission timeout, which is the round trip and a term for its
/// variance, which Linux sets to at least 200 ms (RFC 6298, section 2, has a whole timeout of at least a second).
double idle_time_s(const Options& options, double round_trip_s);

/// The multiple of its latency that a message's latency and slow start take. It keeps the connections' windows.
/// by_size: the multiple without slow start; none: 1.
FlowMultiple slow_start_latency(const Cluster& cluster, const FlowMultiple& by_size);

}  // namespace simgrad::cluster
