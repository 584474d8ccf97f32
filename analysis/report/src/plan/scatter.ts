// The candidates by two of time, money and energy, with the Pareto front and the winner.
import { axis, frame, tip, tooltip } from '../axes';
import { beside } from '../charts/beside';
import { keys, list, toggle } from '../controls';
import type { Report } from '../data';
import { h } from '../dom';
import type { Option } from '../echarts';
import { t } from '../language';
import { shortNames } from '../names';
import { colour, symbol } from '../palette';
import { Plot } from '../plot';
import { variable } from '../theme';
import { logRange, strangeRange } from '../ticks';
import { Candidates, measureTexts, type Measure } from './candidates';

const star = 'path://M0-10L2.6-3.4L9.5-3.1L4.1 1.3L5.9 8.1L0 4.3L-5.9 8.1L-4.1 1.3L-9.5-3.1L-2.6-3.4Z';
const mostLabels = 12;  // of candidates on the front
const manyPoints = 1500;  // of one strategy: these are drawn without edges

interface Chosen { x: Measure; y: Measure; log: boolean }

/** Returns the style of each label: that of the strategy of the other charts, or one that none of them has. */
function stylesOf(report: Report, labels: string[]): number[] {
  let next = report.strategies.length;
  return labels.map((label) => {
    const strategy = report.strategies.findIndex((each) => each.label === label);
    return strategy >= 0 ? strategy : next++;
  });
}

/** Returns those of the candidates that no other is better than in both measures, by x. */
export function frontLine(candidates: Candidates, x: Measure, y: Measure): [number, number][] {
  const points = [...candidates.front].map((i) => [candidates.value(x, i), candidates.value(y, i)])
    .filter((point): point is [number, number] => point.every((each) => each !== null)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let least = Infinity;
  return points.filter(([, value]) => {
    if (value >= least) return false;
    least = value;
    return true;
  });
}

/** Whether a logarithmic axis suits the values better. */
function farApart(values: number[]): boolean {
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  return least > 0 && values.reduce((a, b) => Math.max(a, b), 0) > 20 * least;
}

/** The limits that an axis can show. */
function boundOf({ plan }: Candidates, measure: Measure): number | null {
  const name = measure === 'time_s' ? 'deadline' : measure === 'cost_usd' ? 'budget' : null;
  return plan.bounds.find(({ limit }) => limit === name)?.at_most ?? null;
}

class Scatter {
  readonly chosen: Chosen;
  private readonly styles: number[];
  private readonly short: string[];
  readonly plot: Plot;

  constructor(report: Report, private readonly all: Candidates) {
    const [time, ...paid] = all.measures;
    this.chosen = { x: paid[0], y: time, log: false };
    this.chosen.log = [this.chosen.x, this.chosen.y].some((measure) => farApart(this.values(measure)));
    const { texts } = all.plan.candidates.label;
    this.styles = stylesOf(report, texts);
    this.short = shortNames(texts);
    this.plot = new Plot('plan', all.plan.sentence, 420, () => this.option());
  }

  legend(): HTMLElement {
    return keys(this.all.plan.candidates.label.texts.map((text, i) => ({ style: this.styles[i], text })));
  }

  /** The bounds that are within the chart, in words. */
  boundTexts(): string[] {
    const [deadline, budget] = [this.boundWithin('time_s'), this.boundWithin('cost_usd')];
    return [deadline === null ? '' : t('Dots: the deadline, {0}.', measureTexts.time_s.format(deadline)),
      budget === null ? '' : t('Dots: the budget, {0}.', measureTexts.cost_usd.format(budget))].filter(Boolean);
  }

  private values(measure: Measure): number[] {
    return this.all.known.map((i) => this.all.value(measure, i)).filter((x): x is number => x !== null);
  }

  private boundWithin(measure: Measure): number | null {
    const bound = boundOf(this.all, measure);
    return bound !== null && [this.chosen.x, this.chosen.y].includes(measure) && this.values(measure).some((x) => x >= bound) ? bound : null;
  }

  private styleOf(i: number): number { return this.styles[this.all.plan.candidates.label.places[i]]; }

  private point(i: number): [number, number, number] | null {
    const [x, y] = [this.all.value(this.chosen.x, i), this.all.value(this.chosen.y, i)];
    return x === null || y === null ? null : [x, y, i];
  }

  private isLog(measure: Measure): boolean { return this.chosen.log && this.values(measure).every((x) => x > 0); }

  private axis(measure: Measure, vertical: boolean, most: number): Option {
    const { name, format } = measureTexts[measure];
    const [values, log] = [this.values(measure), this.isLog(measure)];
    const range = log ? logRange(values) : strangeRange(values, most, false);
    const thin = range ? { ...range, ticks: range.ticks.filter((_, i) => i % Math.ceil(range.ticks.length / most) === 0) } : {};
    return axis({ name: t(name), format, log, scale: !log, ...(vertical ? {} : { splits: most > 4 ? 6 : 3 }), ...thin }, vertical);
  }

  /** The points of each strategy that are not marked. */
  private plain(): Option[] {
    const { places, texts } = this.all.plan.candidates.label;
    const others = this.all.known.filter((i) => i !== this.all.winner && !this.all.front.has(i));
    return texts.map((_, label) => {
      const data = others.filter((i) => places[i] === label).map((i) => this.point(i)).filter((point) => point !== null);
      return { type: 'scatter', id: `others-${label}`, name: texts[label], z: 2, data, symbol: data.length > manyPoints ? 'rect' : symbol(this.styles[label]),
        symbolSize: data.length > manyPoints ? 3 : 9, large: data.length > manyPoints, largeThreshold: manyPoints,
        itemStyle: { color: colour(this.styles[label]), opacity: 0.55, ...(data.length > manyPoints ? {} : { borderColor: variable('surface'), borderWidth: 0.5 }) } };
    }).filter(({ data }) => data.length > 0);
  }

  private marked(): number[] {
    const { front, known, winner } = this.all;
    // The winner comes last, and so above those that take exactly as much.
    return [...known.filter((i) => i !== winner && front.has(i)), ...known.filter((i) => i === winner)].filter((i) => this.point(i) !== null);
  }

  /** Whether the winner, which is drawn last, covers the candidate. */
  private isAtWinner(i: number): boolean {
    const { winner } = this.all;
    return winner !== null && [this.chosen.x, this.chosen.y].every((measure) => this.all.value(measure, i) === this.all.value(measure, winner));
  }

  private dot(i: number, marked: number[], wide: boolean): Option {
    const won = i === this.all.winner;
    const { places } = this.all.plan.candidates.label;
    const below = !won && this.isAtWinner(i);
    const brief = [this.short[places[i]], this.all.parameters(i, marked)].filter(Boolean).join('\n');
    const label = won ? [t('winner'), ...(wide ? [brief] : [])].join('\n') : brief;
    return {
      value: this.point(i), symbol: won ? star : symbol(this.styleOf(i)), symbolSize: won ? 22 : 13,
      itemStyle: { color: colour(this.styleOf(i)), borderColor: variable('ink'), borderWidth: won ? 1.6 : 1.2 },
      label: { show: won || (wide && !below && marked.length <= mostLabels), position: 'right', distance: 8, formatter: () => label, color: variable('ink'), fontSize: 11, lineHeight: 13,
        fontWeight: won ? 600 : 400, textBorderColor: variable('surface'), textBorderWidth: 3, width: wide ? 220 : 110, overflow: 'break' },
    };
  }

  private bounds(): Option {
    const line = (measure: Measure, of: 'xAxis' | 'yAxis'): Option[] => {
      const bound = this.boundWithin(measure);
      return bound === null ? [] : [{ [of]: bound }];
    };
    return { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: variable('ink'), type: [2, 3], width: 1.2, opacity: 0.7 },
      animation: false, data: [...line(this.chosen.x, 'xAxis'), ...line(this.chosen.y, 'yAxis')] };
  }

  private tell(i: number): HTMLElement {
    const marks = [i === this.all.winner ? t('winner') : '', this.all.ties.has(i) ? t('tied with the winner') : '', this.all.front.has(i) ? t('on the Pareto front') : '', this.all.state(i)];
    return tip(this.all.text(i), this.all.measures.map((measure) => ({ name: t(measureTexts[measure].name), value: measureTexts[measure].format(this.all.value(measure, i)) })),
      marks.filter(Boolean).join(t('; ')));
  }

  private option(): Option {
    const wide = this.plot.element.clientWidth > 640;
    const marked = this.marked();
    const others = this.plain();
    if (marked.length + others.length === 0) return { empty: t('No candidate has these numbers yet.') };
    return {
      grid: frame({ right: 30, top: 24 }),
      xAxis: this.axis(this.chosen.x, false, wide ? 8 : 3),
      yAxis: this.axis(this.chosen.y, true, 8),
      tooltip: tooltip('item', ({ value }: { value: number[] }) => this.tell(value[2])),
      series: [
        { type: 'line', id: 'front', name: t('front'), data: frontLine(this.all, this.chosen.x, this.chosen.y), step: 'end', symbol: 'none', silent: true, z: 1,
          tooltip: { show: false }, lineStyle: { color: variable('quiet'), width: 1.5, type: [5, 4] } },
        ...others,
        { type: 'scatter', id: 'marked', name: t('on the Pareto front'), z: 4, data: marked.map((i) => this.dot(i, marked, wide)), labelLayout: beside(this.plot.element), markLine: this.bounds() },
      ],
    };
  }
}

/** Returns the chart with its controls and its words; nothing where the candidates have fewer than two numbers. */
export function scatter(report: Report, all: Candidates): { controls: (HTMLElement | null)[]; body: HTMLElement[] } | null {
  if (all.measures.length < 2) return null;
  const chart = new Scatter(report, all);
  const { chosen, plot } = chart;
  const hint = h('p', { class: 'hint' });
  const choices = all.measures.map((measure): [string, string] => [measure, t(measureTexts[measure].name)]);
  const chooser = (of: 'x' | 'y', other: 'x' | 'y', name: string) => list(name, choices, chosen[of], (value) => {
    if (chosen[other] === value) chosen[other] = chosen[of];
    chosen[of] = value as Measure;
    changed();
  });
  const [x, y] = [chooser('x', 'y', t('x axis')), chooser('y', 'x', t('y axis'))];
  const changed = (): void => {
    [x.select.value, y.select.value] = [chosen.x, chosen.y];
    hint.textContent = [t('Each point is a candidate, with the numbers of the first seed. Edged: on the Pareto front, for no other candidate is better in everything; dashes join these. Star: the winner.'), ...chart.boundTexts()].reduce((a, b) => t('{0} {1}', a, b));
    plot.redraw();
  };
  changed();
  return { controls: [x.element, y.element, toggle(t('Logarithmic'), chosen.log, (log) => { chosen.log = log; changed(); })], body: [chart.legend(), plot.element, hint] };
}
