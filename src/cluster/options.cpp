#include "cluster/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cluster/collective_ways.h"

namespace simgrad::cluster {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array network_models{
    Choice{"ideal", "latency + bytes / bandwidth exactly; flows share links max-min fairly"},
    Choice{"tcp",
           "SimGrid's LV08: latency x 13.01, bandwidth x 0.97, shares by round-trip time, acknowledgements; between "
           "the devices of a host as ideal. Every message takes 13.01 x the latency, so that messages below 1 MB take "
           "2 to 7 times as long as with the factors by size that SimGrid's SMPI has by default"},
    Choice{
        "infiniband",
        "SimGrid's IB: latency + bytes / (0.96 bandwidth) alone; the k flows that a card sends at once have at most "
        "1/(0.925 k) of it each, 1/(1.35 x 0.925 k) once one of them goes to a card that receives three or more, which "
        "is less than an even share; the k that a card receives at most 1/(0.965 k) (J. Vienne, Prediction de "
        "performances d'applications de calcul haute performance sur reseau Infiniband, 2010)"},
    Choice{"ethernet",
           "ideal, but between hosts a link carries goodput x bandwidth of messages, 1448/1538 in standard frames and "
           "8948/9038 in jumbo ones (cluster.frame), and one flow gets at most window / round-trip time "
           "(cluster.window) and 1 / cluster.processor_time; where a round trip takes 1 ms or more, a message on a "
           "connection that was idle begins with TCP's slow start (cluster.initial_window, cluster.idle_time)"}};

constexpr std::array frames{
    Choice{"standard", "packets of 1500 bytes: 1448 of 1538 bytes on the wire are the message's"},
    Choice{"jumbo", "packets of 9000 bytes: 8948 of 9038 bytes on the wire are the message's"}};

constexpr std::array collectives_choices{
    Choice{"auto",
           "by formula, from the routes of their transfers, when the last member has arrived; transfers share links "
           "fairly. Collectives are simulated message by message where that does not hold: under other network models "
           "than \"ideal\" and \"ethernet\", on links that vary, and with other traffic, jitter, a platform file or "
           "failures after which the others go on. The run's notes say which way was taken"},
    Choice{"messages",
           "always message by message: the same times to nine digits (or to the 1e-12 s of each event), but a slower "
           "simulation"}};

constexpr std::array sharings{
    Choice{"processor", "ranks of different jobs share a host's speed fairly"},
    Choice{
        "gang",
        "jobs take turns, each on all of its hosts, as Pathways schedules them; time until a turn counts as waiting"}};

/// The options beside the kind of `collectives`.
struct CollectiveOptions : base::Described {
  CollectiveOptions(std::string& file, std::optional<std::int64_t>& ranks_of_file)
      : measured(file), ranks(ranks_of_file) {}

  void describe(base::Describer& d) override {
    if (listed || d.given("measured") || !measured.empty())  // without a file the echo is the kind's name alone
      d.path("measured", measured,
             "a file of measured times, which collectives then take: CSV of ranks, bytes, seconds and perhaps "
             "collective (allreduce, reduce_scatter, all_gather), or the output of nccl-tests or of OSU's "
             "micro-benchmarks; other collectives are simulated");
    d.integer("ranks", ranks, "the number of ranks of a measured file that does not have it, such as OSU's output",
              Bounds::between(2, most_ranks));
    if (ranks && measured.empty())
      d.refuse("ranks", "\"ranks\" are those of a file of measured times; give \"measured\", or leave it out");
  }

  std::string& measured;
  std::optional<std::int64_t>& ranks;
  bool listed = false;
};

/// Where there are defaults alone, for listings.
struct CollectiveDefaults : base::Described {
  void describe(base::Describer& d) override {
    CollectiveOptions options(measured, ranks);
    options.listed = true;
    options.describe(d);
  }

  std::string measured;
  std::optional<std::int64_t> ranks;
};

/// The way of collectives as a component: a name, or a table with the file of measured times.
class CollectiveSlot final : public base::AnySlot {
 public:
  explicit CollectiveSlot(Options& options) : options_(options), object_(options.measured, options.measured_ranks) {}

  std::vector<base::About> kinds() const override { return collective_ways(); }
  std::string_view kind() const override {
    return collectives_choices.at(static_cast<std::size_t>(options_.collectives)).name;
  }
  bool choose(std::string_view kind) override {
    const auto* const found = std::ranges::find(collectives_choices, kind, &Choice::name);
    if (found == collectives_choices.end()) return false;
    options_.collectives = static_cast<Collectives>(found - collectives_choices.begin());
    options_.measured.clear();
    options_.measured_ranks.reset();
    return true;
  }
  base::Described* object() override { return &object_; }
  std::unique_ptr<base::Described> example(std::string_view) const override { return collective_way_options(); }

 private:
  Options& options_;
  CollectiveOptions object_;
};

/// Measured times know nothing of a rank that is lost, and of no part of a call.
void check_measured(base::Describer& d, const Options& options) {
  if (options.measured.empty()) return;
  if (options.failures.any())
    d.refuse("collectives",
             "\"collectives.measured\" says how long calls take that end, but ranks are lost under \"failures\"; leave "
             "one of them out");
  if (options.link_bins != 0)
    d.refuse("link_bins",
             "\"link_bins\" are intervals of each link's use, but \"collectives.measured\" does not say when in a call "
             "its bytes are sent; leave one of them out");
}

void check_jitter(base::Describer& d, const Options& options) {
  if (!options.jitter || !options.jitter->disturbs()) return;
  if (options.network_model != NetworkModel::ideal)
    d.refuse("jitter",
             fmt::format("jitter varies what network_model = \"ideal\" says, but it is \"{}\"; set one of them "
                         "otherwise",
                         name(options.network_model)));
  if (options.platform.empty() && options.host_spec.latency_s == 0.0 && options.jitter->transfer == 0.0)
    d.refuse("jitter", "multiples of latency = \"0s\" are all the same; set latency, or the jitter's transfer");
}

void check_protocol(base::Describer& d, const Options& options) {
  if (!options.protocol || !options.protocol->there()) return;
  const auto refuse = [&](std::string_view with) {
    d.refuse("protocol", fmt::format("protocol = \"{}\" has factors for each message, which are not simulated with {}; "
                                     "leave one of them out",
                                     options.protocol.kind(), with));
  };
  if (!options.shares_fairly())
    refuse(fmt::format("network_model = \"{}\", whose factors are its own", name(options.network_model)));
  if (options.overlap_slowdown > 0.0) refuse("overlap_slowdown");
  if (options.platform.empty() && options.topology.kind() == "shared_memory")
    refuse("topology = \"shared_memory\", which is one host");
  if (options.jitter && options.jitter->disturbs()) refuse("jitter");
  if (options.failures.links && options.failures.links->happens()) refuse("links that fail (failures.links)");
}

void check_ethernet(base::Describer& d, const Options& options) {
  if (options.network_model != NetworkModel::ethernet) {
    for (const char* const key : {"frame", "window", "processor_time", "initial_window", "idle_time"})
      if (d.given(key))
        d.refuse(key, fmt::format("\"{}\" belongs to network_model = \"ethernet\"; set that, or leave it out", key));
    return;
  }
  // A window of the default size is accepted, for the echo of a scenario gives it; without latency it limits nothing.
  const bool other_window = d.given("window") && options.window_bytes != Options().window_bytes;
  if (other_window && options.platform.empty() && options.host_spec.latency_s == 0.0)
    d.refuse(
        "window",
        "a window limits a flow to window / round-trip time, but latency = \"0s\"; set latency, or leave \"window\" "
        "out");
  if (options.failures.links && options.failures.links->happens())
    d.refuse("network_model",
             "links that fail (failures.links) are not simulated under \"ethernet\"; choose \"ideal\" or \"tcp\", or "
             "leave them out");
}

}  // namespace

std::vector<base::About> collective_ways() {
  std::vector<base::About> all;
  for (const Choice& choice : collectives_choices)
    all.push_back({.kind = choice.name, .summary = choice.meaning, .cost = {}, .source = {}});
  return all;
}

std::unique_ptr<base::Described> collective_way_options() { return std::make_unique<CollectiveDefaults>(); }

/// A frame of Ethernet has 38 bytes on the wire beside its packet: preamble 8, header 14, check sequence 4, gap 12. The
/// packet has headers of 20 bytes (IP) and 32 (TCP with time stamps).
double goodput(Frame frame) {
  const double packet_bytes = frame == Frame::standard ? 1500.0 : 9000.0;
  return (packet_bytes - 52.0) / (packet_bytes + 38.0);
}

std::string_view name(NetworkModel model) { return network_models.at(static_cast<std::size_t>(model)).name; }

std::span<const base::Choice> network_model_choices() { return network_models; }

void Watchdog::describe(base::Describer& d) {
  d.quantity("simulated", simulated_s, Unit::seconds, "a run longer than this on the simulated clock fails",
             Bounds::above_zero());
  d.quantity("real", real_s, Unit::seconds, "a run that takes longer than this to simulate fails",
             Bounds::above_zero());
  d.integer(
      "events", events,
      "the most bursts of background flows, failures and changes of speed between two steps; a run with more fails",
      Bounds::at_least(1));
}

void SlowLink::describe(base::Describer& d) {
  d.text("link", link, "the link's name in links.csv without _UP or _DOWN, as in \"nic-3\"; both directions are slow");
  d.number("factor", factor, "the share of its bandwidth that is left",
           Bounds{.least = 0.0, .most = 1.0, .positive = true});
}

namespace {

void describe_links(base::Describer& d, Options& options) {
  d.number("efficiency", options.efficiency,
           "the usable share of a link's bandwidth (the rest is headers and protocol); of platforms' links, too",
           Bounds{.least = 0.0, .most = 1.0, .positive = true});
  d.quantity("flow_limit", options.flow_limit_bytes_per_s, Unit::bytes_per_second,
             "the most bandwidth that one flow between two hosts gets, as of one connection or one core; it does not "
             "hold between the devices of a host; default: no limit",
             Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.list("slow_links", options.slow_links, "links that are slower than the rest: { link, factor }");
  d.list("hosts", options.host_classes, "classes of hosts: { class, count, speed, ... }; workers take them in order");
  d.choice("network_model", options.network_model, network_models, "how the time of a message follows from its bytes");
  d.component("protocol", options.protocol,
              "factors of the bandwidth and of the latency from host to host by the size of a message, under "
              "network_model = \"ideal\" or \"ethernet\"");
  d.choice("frame", options.frame, frames, "network_model = \"ethernet\": the frames that carry messages");
  d.quantity(
      "window", options.window_bytes, Unit::bytes,
      "network_model = \"ethernet\": the bytes that a flow may send before they are acknowledged, a round trip of "
      "twice the latency later",
      Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.quantity(
      "processor_time", options.processor_s_a_byte, Unit::seconds,
      "network_model = \"ethernet\": the time that the core which sends or receives a flow spends on each of its "
      "bytes, so that a flow gets at most 1 / processor_time bytes a second; computing is not slowed down by it",
      Bounds::between(0, 1e-3));
  d.integer("initial_window", options.initial_window,
            "network_model = \"ethernet\": packets of 1460 bytes with which TCP's slow start begins on a route whose "
            "round trip takes 1 ms or more: this number in the first round trip, twice as many in each further one, "
            "until bandwidth x round trip are under way; 10 is the value of RFC 6928; 0: no slow start",
            Bounds::between(0, 1e6));
  d.quantity(
      "idle_time", options.idle_time_s, Unit::seconds,
      "network_model = \"ethernet\": a connection from host to host on which no message was under way for longer "
      "begins again with initial_window (RFC 5681); default: its round trip and 200ms, Linux's retransmission timeout",
      Bounds::at_least(0));
}

void describe_overlap(base::Describer& d, Options& options) {
  d.number("overlap_slowdown", options.overlap_slowdown,
           "the part of its speed that a host's gradient work loses while a message to or from the host is under way, "
           "and the part of a link's bandwidth that its messages lose while it does that work: measure a step's "
           "products with and without messages at the same time, for example by profiling DistributedDataParallel "
           "inside and outside of no_sync(). On A100, H100, MI210 and MI250 computing was slowed down by 18.9 % on "
           "average and 40.0 % at most (S. Lee et al., Characterizing Compute-Communication Overlap in GPU-Accelerated "
           "Distributed Deep Learning, 2025), which are 0.16 and 0.29 of the speed; 0: neither slows the other",
           Bounds::between(0, 1));
}

/// Work and messages slow each other down on a cluster's own network only.
void check_overlap(base::Describer& d, const Options& options) {
  if (!(options.overlap_slowdown > 0.0) || !options.jitter || !options.stragglers) return;
  if (options.overlap_slowdown >= 1.0)
    d.refuse("overlap_slowdown", "overlap_slowdown = 1 leaves no speed while a message is under way; expected less");
  if (!options.constant_network())
    d.refuse("overlap_slowdown",
             "overlap_slowdown is simulated where network_model = \"ideal\", without platform, background, jitter or "
             "failures; leave it out, or these");
  if (options.stragglers->varies())
    d.refuse(
        "overlap_slowdown",
        "overlap_slowdown changes a host's speed with its messages, and these stragglers change it with time; leave "
        "one of them out");
}

/// Ranks that stragglers or faulty workers name.
void check_named_ranks(base::Describer& d, const Options& options) {
  if (options.stragglers)
    if (const std::string why = options.stragglers->refusal(options.workers); !why.empty()) d.refuse("stragglers", why);
  if (options.faulty)
    if (const std::string why = options.faulty->refusal(options.workers); !why.empty()) d.refuse("faulty", why);
}

/// Options that a platform or a device says.
void refuse_contradictions(base::Describer& d, const Options& options) {
  if (!options.platform.empty())
    for (const std::string_view key : said_by_platform)
      if (d.given(key))
        d.refuse(key, fmt::format("\"{}\" contradicts \"platform\", whose file says it; leave one of them out", key));
  if (options.device && options.device->there() && d.given("speed"))
    d.refuse("speed",
             "\"speed\" contradicts \"device\", whose peaks and memory bandwidth say it; leave one of them out");
}

}  // namespace

void Options::describe(base::Describer& d) {
  d.integer("workers", workers, "number of workers P; servers are additional", Bounds::between(1, most_ranks));
  d.component("topology", topology, "how hosts are connected");
  d.path("platform", platform,
         "a SimGrid XML platform instead of a topology; its hosts take ranks in the file's order");
  d.quantity("speed", host_spec.speed_flops_per_s, Unit::flops_per_second, "sustained speed of one host",
             Bounds{.least = 0.0, .most = 1e21, .positive = true});
  d.component("device", device, "the device of every host, whose peaks and memory say how long work takes");
  d.quantity("bandwidth", host_spec.bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of each host's NIC, each direction (full duplex)",
             Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.quantity("latency", host_spec.latency_s, Unit::seconds, "latency from host to host, one way",
             Bounds::between(0, 1e6));
  describe_links(d, *this);
  CollectiveSlot of_collectives(*this);
  d.component("collectives", of_collectives, "how an allreduce and other collectives are simulated");
  d.numbers("relative_speeds", relative_speeds,
            "speed of ranks 0, 1, ... relative to `speed`; ranks not listed run at 1", Bounds::above_zero());
  d.component("stragglers", stragglers, "the ranks or hosts that are slow, and when");
  d.component("faulty", faulty,
              "the workers that send other gradients than they have computed, and which gradients they send");
  d.component("jitter", jitter, "how much equal messages differ");
  d.list("background", background, "other traffic on the links: { from, to, rate, on, off, ... }");
  describe_overlap(d, *this);
  d.integer("link_bins", link_bins, "the most intervals of link_utilisation.csv; 0: no such file",
            Bounds::between(0, 50));
  d.choice("sharing", sharing, sharings, "how several [[job]]s share hosts");
  d.integer("quantum", quantum, "sharing = \"gang\": the steps of a job's turn", Bounds::at_least(1));
  d.flag("charge_reductions", charge_reductions, "whether sums and updates take time for their flops");
  d.quantity("memory", memory_bytes, Unit::bytes,
             "memory of each worker's and server's device: runs that need more are refused, unless training.memory = "
             "\"ignore\"; default: the memory of the device; without a device anything fits",
             Bounds::above_zero());
  d.quantity("storage_bandwidth", storage_bandwidth_bytes_per_s, Unit::bytes_per_second,
             "the bandwidth at which each rank writes and reads its checkpoints; default: they take no time",
             Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.quantity("host_memory_bandwidth", host_memory_bandwidth_bytes_per_s, Unit::bytes_per_second,
             "the bandwidth at which each rank copies a checkpoint to the memory of its host "
             "(training.checkpoint_async); default: the device's host_link; without one copying takes no time",
             Bounds{.least = 0.0, .most = 1e15, .positive = true});
  d.section("failures", failures, "hosts that crash, and how the training recovers");
  d.section("watchdog", watchdog, "limits after which a run is given up");
  refuse_contradictions(d, *this);
  if (platform.empty() && topology)
    if (std::string why = topology->workers_refusal(workers);
        !why.empty() || !(why = topology->refusal(host_spec, workers)).empty())
      d.refuse("topology", why);
  if (relative_speeds.size() > static_cast<std::size_t>(workers))
    d.refuse("relative_speeds", fmt::format("{} relative speeds for {} workers; give at most one a worker",
                                            relative_speeds.size(), workers));
  check_host_classes(d, host_classes, workers);
  check_measured(d, *this);
  check_jitter(d, *this);
  check_ethernet(d, *this);
  check_protocol(d, *this);
  check_overlap(d, *this);
  if (sharing != Sharing::gang && d.given("quantum"))
    d.refuse("quantum", "\"quantum\" is how long a turn is under sharing = \"gang\"; set that, or leave it out");
  check_named_ranks(d, *this);
}

}  // namespace simgrad::cluster
