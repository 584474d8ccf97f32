/// The notes of runs, by the texts that are recorded: {} stands for any letters.
#include <regex>
#include <vector>

#include "outputs/text/chinese.h"
#include "outputs/text/notes.h"

namespace simgrad::outputs {
namespace {

constexpr Translation note_texts[] = {
    {"a spare host took the place of rank {} at {} s", "{1} s 时一台备用主机顶替了 rank {0}"},
    {"{} of {} workers are faulty (cluster.faulty = \"{}\"): ranks {}",
     "{1} 个工作节点中有 {0} 个出错（cluster.faulty = \"{2}\"）：rank {3}"},
    {"none of {} workers is faulty (cluster.faulty)", "{} 个工作节点中没有出错的（cluster.faulty）"},
    {"reduce: trim = {} of {} gradients leaves none of them out, so that the trimmed mean is the mean",
     "reduce：{1} 个梯度的 trim = {0} 没有去掉任何一个，因此截尾均值就是均值"},
    {"compression: {} of codes come to each of {} ranks for a sum, and without compression {}; scattered codes (option "
     "codes) take {}",
     "压缩：每次求和，{1} 个 rank 各收到 {0} 的编码，而不压缩时为 {2}；分散的编码（选项 codes）则为 {3}"},
    {"rank {} crashed at {} s", "rank {} 在 {} s 时崩溃"},
    {"at the last evaluation {} % of the tokens' choices of an expert found no room; the busiest expert was chosen {} "
     "times "
     "as often as the mean",
     "在最后一次评估时，token 对专家的选择中有 {} % 没有位置；最忙的专家被选中的次数是平均值的 {} 倍"},
    {"times assume that the busiest expert is chosen {} times as often as the mean (expert_skew); in a run with "
     "numbers "
     "they follow the router's choices",
     "时间假定最忙的专家被选中的次数是平均值的 {} 倍（expert_skew）；在计算数值的运行中，时间由路由器的选择决定"},
    {"tensor_shares = \"speed\" changes nothing: the devices of every group of ranks that share products are alike",
     "tensor_shares = \"speed\" 不起作用：每一组共享乘积的节点的设备都相同"},
    {"the vocabulary of {} tokens is padded to {}, so that each of tensor = {} ranks has {}; the padding itself is "
     "neither stored nor computed",
     "{} 个词元的词表补齐到 {} 个，使 tensor = {} 个 rank 各有 {} 个；补齐的部分既不存储，也不计算"},
    {"source {}: loss {}, {} {} at the last evaluation", "来源 {}：最后一次评估时损失 {}，{} {}"},
    {"no model's expected loss is below {}, the entropy of the next token",
     "任何模型的期望损失都不低于 {}，即下一个 token 的熵"},
    {"losses are those of {} with {} parameters; times, messages and bytes are those of {} with {} parameters "
     "(model.timed_as)",
     "损失来自有 {1} 个参数的 {0}；时间、消息和字节数来自有 {3} 个参数的 {2}（model.timed_as）"},
    {"a full cache interrupted requests {} times; {} tokens passed again",
     "缓存已满，请求被中断 {} 次；{} 个词元重新通过"},
    {"resumed at {} s from step {} with {} worker{}", "{0} s 时从第 {1} 步起由 {2} 个工作节点继续"},
    {"rows by speed: {}; by nominal speeds the passes of a step take {}, and {} with equal rows",
     "按速度分配的行数：{}；按标称速度，一步的前向和反向计算用时 {}，行数相等时为 {}"},
    {"tensor shares by speed: {}; by nominal speeds the passes of a step take {}, and {} with equal shares",
     "按速度分配的张量份额：{}；按标称速度，一步的前向和反向计算用时 {}，份额相等时为 {}"},
    {"tensor shares by speed: {}; by nominal speeds the passes of a step take {}",
     "按速度分配的张量份额：{}；按标称速度，一步的前向和反向计算用时 {}"},
    {"memory bounds the share of class {}: {} rows in place of {} by speed",
     "内存限制了类别 {} 的份额：{} 行，而按速度应为 {} 行"},
    {"predicted step {}, simulated {} ({} % off)", "预测的一步为 {}，模拟的一步为 {}（相差 {} %）"},
    {"automatic layout, for {}: {}; a step of {} is predicted", "为 {} 自动找到的布局：{}；预测的一步为 {}"},
    {"automatic layout, for {}: {}; a step of {} is predicted, and {} with {}",
     "为 {0} 自动找到的布局：{1}；预测的一步为 {2}，而用 {4} 则为 {3}"},
    {"stages by predicted time, for {}: {}; a step of {} is predicted",
     "为 {} 按预测时间划分的阶段：{}；预测的一步为 {}"},
    {"{} of {} messages of a step share links with others; the placement's cost model gives each its whole path, and "
     "has a step of {} s in place of {} s",
     "一步的 {1} 个消息中有 {0} 个与其他消息共用链路；安排所用的代价模型假定每个消息独占整条路径，因此得出的一步为 {2} "
     "s，而不是 {3} s"},
    {"the exhaustive search ended before it was complete; the placement is the best one that it found",
     "穷举搜索没有完成就结束了；所用的是它找到的最好的安排"},
    {"{} of {} pairs of ranks share a link between switches with another pair (routing = \"ecmp\")",
     "{1} 对主机中有 {0} 对与另一对共用交换机之间的一条链路（routing = \"ecmp\"）"},
    {"the torus has {} nodes for {} hosts; nodes without a host only forward messages",
     "环面有 {} 个节点，供 {} 台主机使用；没有主机的节点只转发消息"},
    {"{} workers compute equally fast at all times; at this scale real trainings lose time to slow devices and to "
     "launches that drift apart, which cluster.stragglers models (kind = \"megascale\")",
     "{} 个工作节点始终以相同的速度计算；在这样的规模，真实的训练会因慢设备和逐渐错开的启动而损失时间，"
     "cluster.stragglers 可以模拟它们（kind = \"megascale\"）"},
    {"one server exchanges the parameters with the workers of {} hosts over its one link; servers = {} would give each "
     "host one, as deployments have it",
     "一个服务器通过它唯一的链路与 {} 台主机的工作节点交换参数；像实际部署那样，servers = {} 使每台主机有一个"},
    {"a model flops utilisation of {} % is seldom reached: large published trainings have at most some {} %; "
     "efficiency, half_size and launch of the device model what real kernels lose",
     "{} % 的模型浮点利用率（MFU）很少能达到：已发表的大规模训练最高约为 {} %；设备的 efficiency、half_size 和 launch "
     "模拟真实的内核所损失的部分"},
    {"the GPU host has {} devices for {} workers; the others are idle",
     "GPU 主机有 {} 个设备，而工作节点有 {} 个；其余设备空闲"},
    {"the last group has {} of {} hosts, and the spine links of a full group",
     "最后一组只有 {1} 台主机中的 {0} 台，却有一整组的 spine 链路"},
    {"and {} more crashes and resumptions", "另有 {} 次崩溃和恢复"},
    {"checkpoints every {} s ({}: MTBF of the job {} s, a checkpoint takes {} s)",
     "每 {} s 写一个检查点（{}：作业的 MTBF 为 {} s，写一个检查点要 {} s）"},
    {"the MTBF of the job, {} s, is shorter than writing a checkpoint, {} s: it will hardly progress",
     "作业的 MTBF 为 {} s，比写一个检查点的 {} s 还短：几乎不会有进展"},
    {"the curve has {} rows: the interval of its evaluations doubles, and again after every {} rows",
     "曲线已有 {} 行：评估的间隔加倍，此后每 {} 行再加倍一次"},
    {"diverged at step {}: the loss is not finite", "第 {} 步起发散：损失不是有限的数"},
    {"diverged at step {}: the loss, {} at first, has grown to {} before it is no longer finite",
     "第 {} 步起发散：损失起初为 {}，增长到 {}，然后不再是有限的数"},
    {"diverged at step {}: the loss has grown from {} to {} at the end", "第 {} 步起发散：损失从 {} 增长到最后的 {}"},
    {"float16: {} update{} whose gradient had overflowed {} left out; the loss scale is 2^{} at the end",
     "float16：有 {0} 次更新因梯度溢出而未执行；结束时损失缩放为 2^{3}"},
    {"stop.steps = {}: a step is {}", "stop.steps = {}：一步是{}"},
    {"one round, in which the server averages the models of the workers that train in it",
     "一轮：服务器对参加这一轮训练的工作节点的模型求平均"},
    {"one exchange of all workers with the centre, after {}", "所有工作节点与中心变量交换一次，此前各算 {}"},
    {"one exchange of one worker with the centre, after {} of that worker",
     "一个工作节点与中心变量交换一次，此前它算 {}"},
    {"period = {} gradient{}", "period = {0} 个梯度"},
    {"easgd with one worker is not the sequential algorithm: replica and centre pull at each other, and the centre is "
     "evaluated",
     "只有一个工作节点的 easgd 不是顺序算法：副本与中心变量互相牵引，而评估的是中心变量"},
    {"hogwild: every update moves all parameters, because of the optimizer or of l2; with sgd or adagrad, and without "
     "l2, it moves those of a batch's keys alone",
     "hogwild：由于优化器或 l2，每次更新都改动所有参数；用 sgd 或 adagrad 而且没有 l2 "
     "时，只改动一批样本的键所对应的参数"},
    {"hosts_first: the {} devices of a host are one worker of {}; they sum their gradients first, and one of "
     "them exchanges with the other hosts",
     "hosts_first：一台主机的 {} 个设备是 {} 个工作节点之一；它们把各自样本的结果相加，由第一个设备与其他主机交换"},
    {"bucket_size: the model has one layer, so that its gradient is one bucket, and nothing overlaps",
     "bucket_size：模型只有一层，梯度就是一个桶，没有什么可以重叠"},
    {"workers read their rows from disk before their first round (storage), and the baseline has them in memory; "
     "bandwidth = \"none\" has them in memory, too",
     "工作节点在第一轮之前从磁盘读取各自的行（storage），而基线的行已在内存中；设 bandwidth = "
     "\"none\"，则它们也已在内存中"},
    {"spectral_gap: none, because averages with one peer are exact every {} steps",
     "spectral_gap：没有，因为每次与一个邻居平均，每 {} 步就恰好达到平均"},
    {"spectral_gap: not computed: the matrix is large and either not symmetric or slow to mix",
     "spectral_gap：没有计算：矩阵很大，而且不对称，或者混合得很慢"},
    {"{} falls into {} parts of {} ranks, between which nothing travels: each converges to a mean of its own, the "
     "consensus distance stays, and the spectral gap is 0",
     "{}分成 {} 个部分，各有 {} 个 rank，部分之间没有任何传输：每一部分收敛到自己的平均值，共识距离不会消失，谱隙为 0"},
    {"{} has ranks from which there is no path back: their information is lost to the others; add edges back",
     "{}中有一些 rank 没有返回的路径：其他 rank 得不到它们的信息；请加上返回的边"},
    {"the graph", "图"},
    {"the graph, without the edges that the mixing matrix gives 0,", "图（去掉混合矩阵中为 0 的边以后）"},
    {"{} s beside the other jobs, {} s by itself: interference {}",
     "与其他作业同时运行时 {} s，单独运行时 {} s：干扰 {}"},
    {"no interruption occurred within {}: spot is untested; a longer run or other seeds may have some",
     "{} 内没有发生中断：抢占式主机没有受到检验；更长的运行或其他种子可能会有中断"},
    {"{} of {} ranks were simulated: each stands for itself and {} more, which share its products or have its part of "
     "the model, since all hosts are alike and no two of them send on one link (set parallel.simulate "
     "to "
     "all for the others)",
     "{1} 个 rank 中模拟了 {0} 个：每个代表它自己和另外 {2} "
     "个与它共分乘积、或持有同一部分模型的 rank，因为所有主机都相同，它们的消息也不会在任何链路上相遇（把 "
     "parallel.simulate 设为 all 即模拟其余的 rank）"},
    {"every rank was simulated: a vector does not divide into equal chunks among the ranks of a group, so that one of "
     "them cannot stand for the others to nine digits",
     "每个 rank 都被模拟：有向量不能在一组 rank 之间等分，因此其中一个不能以九位数字的精度代表其余的 rank"},
    {"algorithm = \"auto\": sums of {} to {} among {} ranks use {}",
     "algorithm = \"auto\"：{2} 个 rank 之间 {0} 到 {1} 的求和采用 {3}"},
    {"algorithm = \"auto\": sums of {} among {} ranks use {}",
     "algorithm = \"auto\"：{1} 个 rank 之间 {0} 的求和采用 {2}"},
    {"algorithm = \"auto\": {} more choices, for other sums", "algorithm = \"auto\"：其他求和另有 {} 个选择"},
    {"nccl chose {} for vectors of {} among {} ranks", "nccl 为 {2} 个 rank 之间 {1} 的向量选择了 {0}"},
    {"measured {} among {} ranks: vectors beyond the largest one measured take the latency and bandwidth of the two "
     "largest",
     "{1} 个 rank 之间测得的 {0}：比测过的最大向量更大的向量按最大两个的延迟和带宽计算"},
    {"measured {} among {} ranks: vectors below the smallest one measured take as long as it",
     "{1} 个 rank 之间测得的 {0}：比测过的最小向量更小的向量与它用时相同"},
    {"measured {}: {} ranks were not measured, and the time goes on as between {} and {} ranks",
     "测得的 {0}：没有测过 {1} 个 rank，时间按 {2} 个与 {3} 个 rank 之间的规律推算"},
    {"collectives were timed by formula, because their transfers never share a link",
     "集合通信按公式计时，因为其传输从不共享链路"},
    {"collectives were timed by formula; transfers on one link share it fairly",
     "集合通信按公式计时；同一条链路上的传输公平地共享带宽"},
    {"collectives were simulated message by message: several transfers may be on link {} at one time",
     "集合通信逐条消息地模拟：几个传输可能同时经过链路 {}"},
    {"collectives were simulated message by message: with {} they cannot be computed from their routes",
     "集合通信逐条消息地模拟：有 {} 时不能由路由算出"},
    {"messages of a rank were on a link of its collectives at the same time, or two of these, and neither makes the "
     "other slower here, so that the run may take up to {} more ({} %): cluster.collectives = \"messages\" takes that "
     "into account",
     "有 rank 的消息与它的集合通信、或它的两个集合通信同时经过同一条链路，这里两者互不减慢，因此运行最多可能再长 "
     "{}（{} "
     "%）："
     "cluster.collectives = \"messages\" 会计入这一点"},
    {"several ranks on one host", "多个 rank 在同一台主机上"},
    {"several jobs", "多个作业"},
};

/// A recorded text as a regular expression: each {} takes as few letters as possible, or none.
std::regex pattern_of(std::string_view text) {
  std::string pattern;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "{}") {
      pattern += "(.*?)";
      ++i;
    } else {
      if (std::string_view(".^$|()[]*+?\\{}").find(text[i]) != std::string_view::npos) pattern += '\\';
      pattern += text[i];
    }
  }
  return std::regex(pattern);
}

/// Puts the words in the places of a translation: {} is the next, {2} the third.
std::string filled(std::string_view translation, const std::vector<std::string>& words) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < translation.size(); ++i) {
    if (translation[i] != '{') {
      text += translation[i];
      continue;
    }
    const std::size_t end = translation.find('}', i);
    text += words.at(end == i + 1 ? next++ : static_cast<std::size_t>(translation[i + 1] - '0'));
    i = end;
  }
  return text;
}

}  // namespace

std::span<const Translation> notes_in_chinese() { return note_texts; }

std::string note_text(const std::string& recorded) {
  constexpr std::size_t longest = 1000;  // a regular expression's matching takes a stack as deep as the text is long
  if (language() == Language::english || recorded.size() > longest) return recorded;
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> all;
    for (const Translation& each : note_texts) all.push_back(pattern_of(each.english));
    return all;
  }();
  std::smatch match;
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    if (!std::regex_match(recorded, match, patterns[k])) continue;
    std::vector<std::string> words;
    for (std::size_t i = 1; i < match.size(); ++i) words.push_back(note_text(match[i].str()));
    return closed_up(filled(note_texts[k].chinese, words));
  }
  return recorded;
}

}  // namespace simgrad::outputs
