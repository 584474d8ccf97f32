// The transformer against PyTorch and central differences, its blocks of rows, its formats, its initial values.
#include "models/transformer.h"

#include <cmath>
#include <numeric>

#include "base/errors.h"
#include "catch.h"
#include "models/sample_data.h"
#include "values/rounding.h"

namespace transformer_test {

using namespace simgrad::models;
using simgrad::values::Format;
using Numbers = std::vector<double>;

namespace {

/// Rows of T tokens and the one behind them: x_it = (7 i + 5 t + (i t mod 3) + t^2) mod V.
struct Text {
  Problem problem;
  Numbers x, y;

  Samples all() const { return range(0, static_cast<std::int64_t>(y.size())); }
  Samples range(std::int64_t first, std::int64_t count) const {
    return {.features = x.data(), .targets = y.data(), .columns = problem.features, .first = first, .count = count};
  }
};

Text text(std::int64_t rows, std::int64_t T, std::int64_t V) {
  Text made{.problem = {.features = T, .vocabulary = V}, .x = {}, .y = {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t t = 0; t <= T; ++t)
      (t < T ? made.x : made.y).push_back(static_cast<double>((7 * i + 5 * t + (i * t) % 3 + t * t) % V));
  return made;
}

/// w_j = ((5 j) mod 9 - 4) / 8 + 0.03
Numbers parameters_of(const Transformer& model, const Problem& problem) {
  Numbers w = test::sample_parameters(model.parameters(problem));
  for (double& w_j : w) w_j += 0.03;
  return w;
}

Numbers gradient(const Transformer& model, const Text& data, const Samples& rows, const Numbers& w, double scale,
                 Format format = Format::float64) {
  Numbers g(w.size(), 7.0);
  model.gradient_in(format, data.problem, rows, w, scale, 1.0, g);
  return g;
}

double norm_of(const Numbers& x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); }

double distance(const Numbers& a, const Numbers& b) {
  REQUIRE(a.size() == b.size());
  Numbers difference;
  for (std::size_t j = 0; j < a.size(); ++j) difference.push_back(a[j] - b[j]);
  return norm_of(difference) / norm_of(b);
}

struct Shape {
  std::int64_t layers, hidden, heads, kv_heads, feed_forward;
  bool gated;
  std::int64_t sequence, vocabulary;
  bool tied, biases;
  Norm norm;
  Positions positions;
};

Transformer made(const Shape& shape) {
  Transformer model;
  TransformerOptions& options = model.options;
  options.layers = shape.layers;
  options.hidden = shape.hidden;
  options.heads = shape.heads;
  options.kv_heads = shape.kv_heads;
  options.feed_forward = shape.feed_forward;
  options.gated = shape.gated;
  options.sequence = shape.sequence;
  options.tied = shape.tied;
  options.biases = shape.biases;
  options.norm = shape.norm;
  options.positions = shape.positions;
  return model;
}

// Recorded from Debian's PyTorch 1.13.1 in float64: the number of parameters, the mean loss of three rows, the sum over
// rows of the share of tokens predicted right, and of the gradient of that loss the sum, the norm, the sum of j g_j
// with j from 1, the first and the last. The program:
//
//     import torch, math
//     torch.set_default_dtype(torch.float64)
//     def run(L,h,heads,kv,f,gated,T,V,tied,bias,norm,pos,B=3):
//         d=h//heads; names=[]
//         shapes=[("emb",(V,h))]
//         if pos=="learned": shapes.append(("pos",(T,h)))
//         def nrm(n):
//             shapes.append((n+"g",(h,)))
//             if norm=="layer_norm": shapes.append((n+"b",(h,)))
//         def lin(n,o,i):
//             shapes.append((n,(o,i)))
//             if bias: shapes.append((n+"b",(o,)))
//         for l in range(L):
//             lin(f"qkv{l}",h+2*kv*d,h); nrm(f"n1{l}"); lin(f"o{l}",h,h)
//             lin(f"u{l}",(2 if gated else 1)*f,h); nrm(f"n2{l}"); lin(f"v{l}",h,f)
//         if not tied: shapes.append(("head",(V,h)))
//         nrm("nf")
//         P={}; at=0
//         for n,s in shapes:
//             c=math.prod(s)
//             j=torch.arange(at,at+c,dtype=torch.float64)
//             P[n]=(((5*j)%9-4)/8+0.03).reshape(s).clone().requires_grad_(True)
//             at+=c
//         rows=torch.tensor([[(7*i+5*t+(i*t)%3+t*t)%V for t in range(T+1)] for i in range(B)])
//         def norm_of(n,x):
//             if norm=="layer_norm": return torch.nn.functional.layer_norm(x,(h,),P[n+"g"],P[n+"b"],1e-5)
//             return x/torch.sqrt((x*x).mean(-1,keepdim=True)+1e-5)*P[n+"g"]
//         def linear(n,x): return torch.nn.functional.linear(x,P[n],P.get(n+"b"))
//         def rot(x):
//             t=torch.arange(T,dtype=torch.float64)[:,None]; i=torch.arange(d//2,dtype=torch.float64)[None]
//             a=t*10000.0**(-2*i/d); c=torch.cos(torch.cat([a,a],1)); s=torch.sin(torch.cat([a,a],1))
//             return x*c+torch.cat([-x[...,d//2:],x[...,:d//2]],-1)*s
//         x=P["emb"][rows[:,:T]]
//         if pos=="learned": x=x+P["pos"]
//         for l in range(L):
//             q,k,v=linear(f"qkv{l}",norm_of(f"n1{l}",x)).split([h,kv*d,kv*d],-1)
//             q=q.view(B,T,heads,d).transpose(1,2)
//             k=k.view(B,T,kv,d).transpose(1,2)
//             v=v.view(B,T,kv,d).transpose(1,2)
//             if pos=="rotary": q=rot(q);k=rot(k)
//             k=k.repeat_interleave(heads//kv,1)
//             v=v.repeat_interleave(heads//kv,1)
//             s=q@k.transpose(-1,-2)/math.sqrt(d)
//             s=s.masked_fill(torch.triu(torch.ones(T,T,dtype=torch.bool),1),-math.inf)
//             x=x+linear(f"o{l}",(s.softmax(-1)@v).transpose(1,2).reshape(B,T,h))
//             u=linear(f"u{l}",norm_of(f"n2{l}",x))
//             u=torch.nn.functional.silu(u[...,:f])*u[...,f:] if gated else torch.nn.functional.gelu(u)
//             x=x+linear(f"v{l}",u)
//         z=norm_of("nf",x)@P["emb" if tied else "head"].T
//         y=rows[:,1:]
//         loss=torch.nn.functional.cross_entropy(z.reshape(-1,V),y.reshape(-1))
//         loss.backward()
//         g=torch.cat([P[n].grad.reshape(-1) for n,_ in shapes])
//         right=(z.argmax(-1)==y).sum().item()
//         w=(g*torch.arange(1,len(g)+1)).sum()
//         numbers=(len(g),loss.item(),right/T,g.sum().item(),g.norm().item(),w.item(),g[0].item(),g[-1].item())
//         print("{%s}"%", ".join([repr(v) for v in numbers]))
//     run(2,12,3,3,20,False,7,11,True,True,"layer_norm","learned")
//     run(2,12,3,1,16,True,7,11,False,False,"rms_norm","rotary")
//     run(1,16,4,2,24,False,5,9,False,True,"layer_norm","none")
//     run(3,8,2,2,10,True,9,13,True,True,"rms_norm","learned")
//     run(1,24,2,1,40,False,21,30,True,False,"layer_norm","rotary")
struct Recorded {
  Shape shape;
  std::int64_t parameters;
  double loss, metric, sum, norm, weighted, first, last;
};
constexpr auto layer_norm = Norm::layer_norm, rms_norm = Norm::rms_norm;
const Recorded recorded[] = {{{2, 12, 3, 3, 20, false, 7, 11, true, true, layer_norm, Positions::learned},
                              2608,
                              3.007343547998187,
                              0.14285714285714285,
                              1.1280430364512006,
                              1.3052207616924503,
                              1738.8944514726095,
                              0.005125565512217949,
                              -0.06180849945528824},
                             {{2, 12, 3, 1, 16, true, 7, 11, false, false, rms_norm, Positions::rotary},
                              2244,
                              2.500134607143192,
                              0.42857142857142855,
                              -0.027651651653443188,
                              0.5182936944545421,
                              -1473.3341399768192,
                              0.011419790910580332,
                              -0.05765771586322183},
                             {{1, 16, 4, 2, 24, false, 5, 9, false, true, layer_norm, Positions::none},
                              2008,
                              2.9325919738156494,
                              0.0,
                              -0.24836988311021857,
                              3.0430760780564126,
                              1008.1632066330819,
                              0.029767511825727698,
                              -0.32097031428778355},
                             {{3, 8, 2, 2, 10, true, 9, 13, true, true, rms_norm, Positions::learned},
                              1900,
                              2.600483637053413,
                              0.1111111111111111,
                              0.04758667311062261,
                              0.3598737562802733,
                              -303.5366953793089,
                              0.01723160963783782,
                              -0.2500836478778624},
                             {{1, 24, 2, 1, 40, false, 21, 30, true, false, layer_norm, Positions::rotary},
                              4512,
                              4.597003128603227,
                              0.14285714285714285,
                              -2.4195190655011576,
                              2.596166932581502,
                              -10548.071095082614,
                              0.0012578454867037835,
                              -0.30903233282013554}};

}  // namespace

TEST_CASE("loss, accuracy and gradient of transformers are PyTorch's to 1e-10") {
  for (const Recorded& r : recorded) {
    CAPTURE(r.parameters);
    const Transformer model = made(r.shape);
    const Text data = text(3, r.shape.sequence, r.shape.vocabulary);
    REQUIRE(model.refusal(data.problem).empty());
    const Numbers w = parameters_of(model, data.problem);
    CHECK(static_cast<std::int64_t>(w.size()) == r.parameters);
    const Score score = model.score(data.problem, data.all(), w);
    CHECK(score.loss / 3 == Approx(r.loss).epsilon(1e-12));
    CHECK(score.metric == Approx(r.metric).epsilon(1e-12));
    const Numbers g = gradient(model, data, data.all(), w, 1.0 / 3.0);
    double weighted = 0.0;
    for (std::size_t j = 0; j < g.size(); ++j) weighted += static_cast<double>(j + 1) * g[j];
    CHECK(std::accumulate(g.begin(), g.end(), 0.0) == Approx(r.sum).epsilon(1e-10));
    CHECK(norm_of(g) == Approx(r.norm).epsilon(1e-10));
    CHECK(weighted == Approx(r.weighted).epsilon(1e-10));
    CHECK(g.front() == Approx(r.first).epsilon(1e-10));
    CHECK(g.back() == Approx(r.last).epsilon(1e-10));
  }
}

TEST_CASE("the gradient of a transformer is the slope of its loss, whatever its options") {
  for (const bool gated : {false, true})
    for (const Norm norm : {layer_norm, rms_norm})
      for (const Positions positions : {Positions::learned, Positions::rotary, Positions::none})
        for (const bool tied : {false, true})
          for (const std::int64_t kv_heads : {1, 2}) {
            CAPTURE(gated, static_cast<int>(norm), static_cast<int>(positions), tied, kv_heads);
            const Transformer model = made({2, 4, 2, kv_heads, 5, gated, 4, 6, tied, kv_heads == 1, norm, positions});
            const Text data = text(3, 4, 6);
            Numbers w = parameters_of(model, data.problem);
            const Numbers g = gradient(model, data, data.range(1, 2), w, 0.2);
            double worst = 0.0;
            for (std::size_t j = 0; j < w.size(); ++j) {
              constexpr double h = 1e-5;
              const double kept = w[j];
              w[j] = kept + h;
              const double above = model.score(data.problem, data.range(1, 2), w).loss;
              w[j] = kept - h;
              const double below = model.score(data.problem, data.range(1, 2), w).loss;
              w[j] = kept;
              worst = std::max(worst, std::abs(0.2 * (above - below) / (2.0 * h) - g[j]));
            }
            // Rounding 1e-15 / 1e-5; truncation h^2 / 6 times a third derivative of some tens.
            CHECK(worst < 5e-9);
          }
}

TEST_CASE("a token is predicted from those up to itself alone") {
  const Transformer model = made({2, 8, 2, 2, 12, false, 6, 7, true, true, layer_norm, Positions::learned});
  Text data = text(1, 6, 7);
  const Numbers w = parameters_of(model, data.problem);
  // Where the last token is a target alone, its loss changes; the others' mean does not follow later tokens.
  Text cut = data;
  cut.problem.features = 3;
  cut.y = {data.x[3]};
  cut.x.resize(3);
  Transformer shorter = model;
  shorter.options.sequence = 3;
  // Without the vectors of places 3, 4 and 5.
  Numbers w_3 = w;
  w_3.erase(w_3.begin() + (7 + 3) * 8, w_3.begin() + (7 + 6) * 8);
  const double loss_3 = 3.0 * shorter.score(cut.problem, cut.all(), w_3).loss;
  double last_three = 0.0;
  for (std::int64_t T = 4; T <= 6; ++T) {
    Text part = data;
    part.problem.features = T;
    part.x.resize(static_cast<std::size_t>(T));
    if (T < 6) part.y = {data.x[static_cast<std::size_t>(T)]};
    Transformer of_part = model;
    of_part.options.sequence = T;
    Numbers w_T = w;
    w_T.erase(w_T.begin() + (7 + T) * 8, w_T.begin() + (7 + 6) * 8);
    const double all = static_cast<double>(T) * of_part.score(part.problem, part.all(), w_T).loss;
    last_three = all - loss_3;
    CHECK(last_three > 0.0);  // a cross-entropy is positive, so each further token adds to the sum
  }
  CHECK(6.0 * model.score(data.problem, data.all(), w).loss == Approx(loss_3 + last_three).epsilon(1e-12));
}

TEST_CASE("rows that are passed apart add up to the bits of all at once, whatever is passed at a time") {
  // 512 tokens are passed at a time: 100 rows of 16 tokens are four times.
  const Transformer model = made({1, 8, 2, 1, 12, true, 16, 9, true, false, rms_norm, Positions::rotary});
  const Text data = text(100, 16, 9);
  const Numbers w = parameters_of(model, data.problem);
  std::vector<std::int64_t> indices(100);
  std::iota(indices.begin(), indices.end(), 0);
  Samples listed = data.all();
  listed.indices = indices.data();
  CHECK(gradient(model, data, listed, w, 0.01) == gradient(model, data, data.all(), w, 0.01));
  const Numbers first = gradient(model, data, data.range(0, 37), w, 0.01);
  Numbers sum = gradient(model, data, data.range(37, 63), w, 0.01);
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += first[j];
  CHECK(distance(sum, gradient(model, data, data.all(), w, 0.01)) < 1e-13);
  CHECK(gradient(model, data, data.range(0, 0), w, 0.01) == Numbers(w.size(), 0.0));
  CHECK(model.score(data.problem, data.range(3, 0), w).loss == 0.0);
}

TEST_CASE(
    "in float32, float16 and bfloat16 the gradient differs from float64's by their digits, and is of the format") {
  const Transformer model = made({2, 32, 4, 2, 64, false, 16, 20, true, true, layer_norm, Positions::learned});
  const Text data = text(4, 16, 20);
  Numbers w(static_cast<std::size_t>(model.parameters(data.problem)));
  model.initial_values(data.problem, 3, w);
  const Numbers exact = gradient(model, data, data.all(), w, 0.25);
  struct Expected {
    Format format;
    double least, most;
  };
  // Half a unit in the last place is 2^-25, 2^-12 and 2^-9 of a number; some tens of roundings follow each other.
  for (const auto& [format, least, most] : {Expected{Format::float32, 0x1p-25, 0x1p-18},
                                            {Format::float16, 0x1p-13, 0x1p-6},
                                            {Format::bfloat16, 0x1p-10, 0x1p-3}}) {
    CAPTURE(static_cast<int>(format));
    const Numbers g = gradient(model, data, data.all(), w, 0.25, format);
    CHECK(distance(g, exact) > least);
    CHECK(distance(g, exact) < most);
    Numbers rounded(g.size());
    simgrad::values::round_numbers(format, g, rounded);
    CHECK(rounded == g);
    const double loss = model.score(data.problem, data.all(), w).loss;
    CHECK(model.score_in(format, data.problem, data.all(), w).loss == Approx(loss).epsilon(most));
    CHECK(model.score_in(format, data.problem, data.all(), w).loss != loss);
  }
}

TEST_CASE("a transformer's flops are counted by hand") {
  // h = 8, f = 12, s = 4, V = 10, two heads of 4 and one of k and v: qkv 16 x 8, out 8 x 8, in 24 x 8, out 8 x 12.
  const Transformer model = made({3, 8, 2, 1, 12, true, 4, 10, true, false, rms_norm, Positions::rotary});
  const double matrices = 16 * 8 + 8 * 8 + 24 * 8 + 8 * 12;
  const double attention = 2 * 2 * (2.0 * 4 * 4 * 4);  // two heads, q k^T and P v, s x s x 4
  const double forward = 3 * (2 * 4 * matrices + attention) + 2 * 4 * 8 * 10;
  CHECK(model.gradient_flops({.features = 4, .vocabulary = 10}, 5) == 5 * 3 * forward);
}

TEST_CASE("a transformer starts at matrices of deviation 0.02, gains 1 and biases 0, which the seed decides") {
  const Transformer model = made({4, 64, 4, 4, 256, false, 16, 50, true, true, layer_norm, Positions::learned});
  const Problem problem{.features = 16, .vocabulary = 50};
  Numbers w(static_cast<std::size_t>(model.parameters(problem)), 9.0), other = w;
  model.initial_values(problem, 5, w);
  const std::vector<Layer> layers = model.layers(problem);
  const auto deviation = [&](const Layer& layer) {
    const auto first = w.begin() + layer.first;
    return std::sqrt(std::inner_product(first, first + layer.rows * layer.columns, first, 0.0) /
                     static_cast<double>(layer.rows * layer.columns));
  };
  // An estimate from 4096 numbers is off by 1 / sqrt(2 4096) = 1.1 %.
  CHECK(deviation(layers[0]) == Approx(0.02).epsilon(0.05));
  CHECK(deviation(layers[1]) == Approx(0.02).epsilon(0.05));
  CHECK(deviation(layers[2]) == Approx(0.02 / std::sqrt(8.0)).epsilon(0.05));
  CHECK(deviation(layers[4]) == Approx(0.02 / std::sqrt(8.0)).epsilon(0.05));
  // Behind the first block's matrix (192 x 64): 192 biases, 64 gains, 64 biases of the norm.
  const auto behind = w.begin() + layers[1].first + 192 * 64;
  CHECK(Numbers(behind, behind + 192) == Numbers(192, 0.0));
  CHECK(Numbers(behind + 192, behind + 256) == Numbers(64, 1.0));
  CHECK(Numbers(behind + 256, behind + 320) == Numbers(64, 0.0));
  model.initial_values(problem, 6, other);
  CHECK(other != w);
  // All tokens are nearly alike at first: the loss is ln(vocabulary).
  const Text data = text(8, 16, 50);
  CHECK(model.score(data.problem, data.all(), w).loss / 8 == Approx(std::log(50.0)).epsilon(0.02));
}

TEST_CASE("a transformer refuses a vocabulary that is unknown or too small, and rows of another length") {
  Transformer model = made({1, 8, 2, 2, 12, false, 4, 0, true, true, layer_norm, Positions::learned});
  CHECK_THAT(model.refusal({.features = 4}), ContainsSubstring("give vocabulary"));
  CHECK_THAT(model.refusal({.features = 5, .vocabulary = 9}),
             ContainsSubstring("sequence = 4, but the rows of the data have 5"));
  model.options.vocabulary = 8;
  CHECK_THAT(model.refusal({.features = 4, .vocabulary = 9}), ContainsSubstring("vocabulary = 8, but the text has 9"));
  model.options.vocabulary = 12;
  CHECK(model.refusal({.features = 4, .vocabulary = 9}).empty());
  // A token that has no embedding: our mistake.
  Text data = text(1, 4, 6);
  data.x[2] = 12.0;
  const Numbers w(static_cast<std::size_t>(model.parameters(data.problem)), 0.1);
  CHECK_THROWS_AS(model.score(data.problem, data.all(), w), simgrad::base::InvariantError);
}

}  // namespace transformer_test
