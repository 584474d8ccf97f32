#include "values/dispatcher.h"

#include <pthread.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "base/errors.h"
#include "catch.h"
#include "values/kernels.h"

namespace simgrad::values {

namespace {

/// A random operation on random members; everything of one size.
Tensor random_operation(Dispatcher& dispatcher, const std::vector<Tensor>& members, std::mt19937& random) {
  const auto any = [&] { return members[random() % members.size()]; };
  const double scale = static_cast<double>(random() % 5) / 8.0 - 0.25;
  const std::vector<Tensor> some{any(), any(), any()};
  const std::vector<double> scales{scale, 0.3, -0.7};
  switch (random() % 8) {
    case 0:
      return some[0] + some[1];
    case 1:
      return some[0] - some[1];
    case 2:
      return scale * some[0];
    case 3:
      return add_scaled(some[0], scale, some[1]);
    case 4:
      return weighted_sum(some, scales);
    case 5:
      return 0.25 * sum(some);
    case 6: {
      const std::int64_t half = some[0].size() / 2;
      const std::vector<Tensor> parts{slice(some[0], half, some[0].size() - half), slice(some[1], 0, half)};
      return concatenate(parts);
    }
    default:
      return dispatcher.dispatch({.name = "mixed", .seconds = long_s}, some[0].size(), some,
                                 [](auto inputs, std::span<double> result) {
                                   for (std::size_t i = 0; i < result.size(); ++i)
                                     result[i] = 0.5 * inputs[0][i] - inputs[1][result.size() - 1 - i] * inputs[2][0];
                                 });
  }
}

/// The numbers that the members hold after many operations that replace members, some of them read on the way.
std::vector<double> random_graph(Dispatcher::Options options, unsigned seed, int operations) {
  Dispatcher dispatcher(options);
  std::mt19937 random(seed);
  std::vector<Tensor> members;
  for (int k = 0; k < 12; ++k) {
    std::vector<double> numbers(37);
    for (double& x : numbers) x = static_cast<double>(random()) / 4e9;
    members.push_back(dispatcher.constant(numbers));
  }
  for (int k = 0; k < operations; ++k) {
    const Tensor result = random_operation(dispatcher, members, random);
    members[random() % members.size()] = result;
    if (random() % 97 == 0) (void)members[random() % members.size()].value();
  }
  std::vector<double> all;
  for (const Tensor& member : members) all.insert(all.end(), member.value().begin(), member.value().end());
  return all;
}

std::size_t process_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

TEST_CASE("a random graph has the same bits with any number of threads") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const auto expected = random_graph({.threads = 0}, seed, 2000);
    for (const int threads : {1, 2, 4}) {
      CHECK(same_bits(random_graph({.threads = threads}, seed, 2000), expected));
      CHECK(same_bits(random_graph({.threads = threads, .inline_below_s = 0.0}, seed, 2000), expected));
    }
  }
}

TEST_CASE("no limit, however small, makes the timeline wait for itself") {
  const auto expected = random_graph({.threads = 0}, 7, 500);
  for (const int threads : {1, 2, 4})
    for (const std::int64_t pending : {1, 2, 3, 4})
      for (const std::int64_t unread : {0, 8, 37 * 8, 37 * 8 * 4})
        CHECK(same_bits(
            random_graph(
                {.threads = threads, .inline_below_s = 0.0, .pending_limit = pending, .unread_bytes_limit = unread}, 7,
                500),
            expected));
}

TEST_CASE("N threads run N pieces of work at once, whatever the machine has") {
  for (const int threads : {1, 2, 4}) {
    Dispatcher dispatcher({.threads = threads});
    const auto arrived = std::make_shared<std::atomic<int>>(0);
    std::vector<Tensor> met;
    for (int k = 0; k < threads; ++k)
      met.push_back(dispatcher.dispatch({.name = "meet", .seconds = long_s, .numbered = false}, 1, {},
                                        [arrived, threads](auto, std::span<double> result) {
                                          ++*arrived;
                                          result[0] = eventually([&] { return *arrived == threads; }) ? 1.0 : 0.0;
                                        }));
    CHECK(sum(met).value()[0] == threads);
  }
}

TEST_CASE("without threads no thread is started") {
  const std::size_t before = process_threads();
  Dispatcher dispatcher({.threads = 0});
  Tensor w = dispatcher.zeros(10);
  for (int k = 0; k < 100; ++k) w += w;
  (void)w.value();
  CHECK(process_threads() == before);
}

TEST_CASE("short work with ready inputs runs in the caller, all other work elsewhere") {
  Dispatcher dispatcher({.threads = 1, .inline_below_s = 1e-3});
  const auto ran_here = [&](double seconds, std::vector<Tensor> inputs, Gate* gate) {
    const auto thread = std::make_shared<std::thread::id>();
    const Tensor done = dispatcher.dispatch({.name = "where", .seconds = seconds, .numbered = false}, 1, inputs,
                                            [thread](auto, auto) { *thread = std::this_thread::get_id(); });
    if (gate) gate->open();
    (void)done.value();
    return *thread == std::this_thread::get_id();
  };
  CHECK(ran_here(0.9e-3, {}, nullptr));
  CHECK(dispatcher.statistics().inlined == 1);
  CHECK_FALSE(ran_here(1e-3, {}, nullptr));
  Gate gate(dispatcher);
  CHECK_FALSE(ran_here(0.9e-3, {gate.tensor}, &gate));
  CHECK(dispatcher.statistics().inlined == 1);
}

TEST_CASE("an error is thrown at the read, with the operation, the rank and the step that asked") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads, .label = [] { return Label{.rank = 3, .step = 17}; }});
    const auto throwing = [&](const char* name, const char* what) {
      return dispatcher.dispatch({.name = name, .seconds = long_s}, 1, {},
                                 [what](auto, auto) { throw std::runtime_error(what); });
    };
    const Tensor gradient = throwing("gradient", "the matrix is singular");
    for (int read = 0; read < 2; ++read) CHECK_THROWS_AS(gradient.value(), ValueError);
    CHECK_THROWS_WITH(gradient.value(), "gradient (rank 3, step 17): the matrix is singular");

    const auto calls = std::make_shared<std::atomic<int>>(0);
    const std::vector<Tensor> inputs{dispatcher.zeros(1), slice(throwing("hessian", "too large"), 0, 1), gradient};
    const Tensor dependent =
        dispatcher.dispatch({.name = "update", .seconds = long_s}, 1, inputs, [calls](auto, auto) { ++*calls; });
    CHECK_THROWS_WITH((2.0 * dependent).value(), "hessian (rank 3, step 17): too large");
    CHECK(*calls == 0);
  }
}

TEST_CASE("an error nobody in particular asked for names the operation alone") {
  Dispatcher dispatcher({});
  const Tensor odd = dispatcher.dispatch({.name = "odd"}, 1, {}, [](auto, auto) { throw 5; });
  CHECK_THROWS_WITH(odd.value(), "odd: threw something that is not a std::exception");
}

TEST_CASE("a timing-only dispatcher calls no kernel, keeps no closure, and numbers values all the same") {
  Dispatcher dispatcher({.threads = 2, .numbers = false});
  const auto token = std::make_shared<int>(0);
  const auto ask = [&] {
    return dispatcher.dispatch({.name = "gradient", .seconds = long_s}, 10, {}, [token](auto, auto) { ++*token; });
  };
  const Tensor a = ask();
  CHECK(ask().identity() == a.identity());
  CHECK(token.use_count() == 1);
  CHECK(a.size() == 10);
  CHECK(a.timing_only());
  const std::vector<Tensor> halves{slice(a, 0, 5), slice(a, 5, 5)};
  CHECK(concatenate(halves).identity() == a.identity());
  CHECK_THROWS_AS((a + dispatcher.constant(std::vector<double>(10))).value(), base::InvariantError);
  CHECK(*token == 0);
  CHECK(dispatcher.statistics().live_bytes == 0);
}

TEST_CASE("finished numbers outlive their dispatcher, unfinished work says that it was dropped") {
  Tensor finished, held, dependent;
  {
    Dispatcher dispatcher({.threads = 1, .unread_bytes_limit = 0});
    const Log log;
    finished = logged(dispatcher, log, "finished");
    REQUIRE(eventually([&] { return log.names().size() == 1; }));
    held = logged(dispatcher, log, "held");  // behind the unread bytes
    wait_a_while();
    dependent = dispatcher.constant({1.0});
  }
  CHECK(finished.value()[0] == 1.0);
  CHECK_THROWS_WITH(held.value(), "logged: dropped, as the dispatcher ended before it had run");
  CHECK(dependent.value()[0] == 1.0);
  CHECK_THROWS_AS(dependent + dependent, base::InvariantError);
}

TEST_CASE("reading, dispatching and failing fit on an actor's stack of 64 KB") {
  Dispatcher dispatcher({.threads = 2, .pending_limit = 8});
  struct Actor {
    static void* run(void* argument) {
      auto& d = *static_cast<Dispatcher*>(argument);
      Tensor w = d.zeros(16);
      for (int k = 0; k < 1000; ++k) {
        const Tensor inputs[] = {w};
        w = d.dispatch({.name = "step", .seconds = k % 2 == 0 ? 0.0 : long_s}, 16, inputs,
                       [](auto in, auto out) { std::copy(in[0].begin(), in[0].end(), out.begin()); });
        if (k % 100 == 0) w = 2.0 * w + slice(d.constant(std::vector<double>(20, 1.0)), 2, 16);
      }
      const Tensor bad = d.dispatch({.name = "bad"}, 1, {}, [](auto, auto) { throw std::runtime_error("no"); });
      try {
        (void)bad.value();
      } catch (const ValueError&) {
        return w.value()[0] == 1023.0 ? argument : nullptr;
      }
      return nullptr;
    }
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
  pthread_t actor;
  REQUIRE(pthread_create(&actor, &attributes, Actor::run, &dispatcher) == 0);
  void* passed = nullptr;
  pthread_join(actor, &passed);
  CHECK(passed != nullptr);
}

}  // namespace simgrad::values
