// Answers: the share of requests that have their first token, each later one, or the last one within a time.
import { card } from '../card';
import { segments } from '../controls';
import type { Answers, AnswersRow, Report } from '../data';
import { percent, seconds } from '../format';
import { t } from '../language';
import { Plot } from '../plot';
import { shown } from '../state';
import { lines, sized, zoomHint } from './lines';

type Of = 'ttft_s' | 'tpot_s' | 'latency_s';

const names: Record<Of, string> = { ttft_s: 'time to the first token', tpot_s: 'time of each token after the first', latency_s: 'time to the last token' };

export function answers(report: Report, data: Answers, file: string): HTMLElement {
  const chosen: { of: Of } = { of: 'ttft_s' };
  const labels = new Set(report.strategies.map(({ label }) => label)).size > 1;
  const text = ({ strategy, point }: AnswersRow): string =>
    [labels || !report.points[point].text ? report.strategies[strategy].label : '', report.points[point].text].filter(Boolean).join(', ');
  const plot: Plot = new Plot('answers', data.sentence, 360, () => lines({
    // Cases of one strategy at several grid points are told apart by colour, too.
    lines: data.rows.flatMap((row, i) => (shown(row.strategy) && row[chosen.of].length > 0
      ? [{ strategy: i, text: text(row), x: row[chosen.of], y: row[chosen.of].map((_, k, all) => k / (all.length - 1)) }] : [])),
    x: { name: names[chosen.of], format: seconds, log: true }, y: { name: t('share of requests'), format: percent, min: 0, max: 1 },
    size: sized(plot), named: true, band: false,
  }));
  const choices = (Object.keys(names) as Of[]).filter((of) => data.rows.some((row) => row[of].length > 0)).map((of): [string, string] => [of, t(names[of])]);
  return card('answers', t('Answers to requests'), data, file,
    [segments(t('Show'), choices, chosen.of, (of) => { chosen.of = of as Of; plot.redraw(); })], plot.element, zoomHint());
}
