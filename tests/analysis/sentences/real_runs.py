"""Small random scenarios, to be run by simgrad itself."""

from sentences.random_results import Dice

STRATEGIES = ['kind = "allreduce"', 'kind = "parameter_server"',
              'kind = "parameter_server"\nlabel = "async, one server"\n'
              'consistency = "asp"', 'kind = "gossip"', 'kind = "local_sgd"', 'kind = "easgd"']
LOCKSTEP = STRATEGIES[:2] + STRATEGIES[3:5]  # numbers of these do not depend on times
GRIDS = ['"cluster.workers" = [1, 2, 4]', '"cluster.latency" = ["1us", "1ms"]',
         '"training.learning_rate" = [0.02, 0.1, 3.0]',
         '"cluster.workers" = [2, 4]\n"cluster.bandwidth" = ["10Mbps", "1Gbps"]', '']


def scenario(number):
    """Returns the text of a scenario, and the words for the command line."""
    dice = Dice(number)
    lines = ["[cluster]", 'speed = "1GF"', f"workers = {dice.choice([2, 4])}"]
    if dice.chance(0.3):
        lines.append('stragglers = { kind = "log_normal", sigma = 0.5 }')
    lines += ["[data]", "samples = 400", "features = 5", "[model]", 'kind = "least_squares"', "[training]",
              "batch_size = 100",
              "[stop]", f"steps = {dice.choice([15, 40])}"]
    proxied = number % 3 == 0
    if proxied:
        lines[lines.index("[training]"):lines.index("[training]")] = ['timed_as = "alexnet"']
    if dice.chance(0.7):
        lines.append(f"loss = {dice.choice([0.08, 0.15, 0.3])}")
    if dice.chance(0.5):
        lines += ["[prices]", 'worker = "1$/h"']
    for strategy in dice.sample(LOCKSTEP if proxied else STRATEGIES, dice.choice([1, 2, 3])):
        lines += ["[[strategy]]", strategy]
    grid = dice.choice(GRIDS)
    if grid:
        lines += ["[grid]", grid]
    return "\n".join(lines) + "\n", ["--seeds", f"1..{dice.choice([1, 3, 4])}"]
