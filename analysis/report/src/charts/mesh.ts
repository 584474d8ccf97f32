// The mesh of a cut model: where each stage's step goes, by cause, and the links that the messages of each dimension cross.
import { axis, bars as named, frame, tip, tooltip } from '../axes';
import { distinct } from '../card';
import type { DimensionLinks, Mesh, N, Report } from '../data';
import { h } from '../dom';
import { bytes, percent, seconds, whole } from '../format';
import { t } from '../language';
import { detailColours } from '../palette';
import { detailKey } from '../parts';
import type { Drawing } from '../plot';
import { shown } from '../state';
import { variable } from '../theme';
import { meshPicture } from './mesh_picture';
import { layer, stacked, type Chosen } from './stacked';

interface Bar { name: string; step_s: number[]; memory: N }

const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);

function option(bars: Bar[], causes: Mesh['causes'], wide: boolean): Drawing {
  if (bars.length === 0) return { empty: t('All strategies are hidden.') };
  return {
    grid: frame({ top: 8, left: 8 }),
    xAxis: axis({ name: t('time of a step'), format: seconds, splits: wide ? 6 : 2 }, false),
    yAxis: named(bars.map(({ name }) => name), wide, bars.length <= 16),
    tooltip: tooltip('axis', (params: { dataIndex: number }[]) => {
      const bar = bars[params[0].dataIndex];
      const all = sum(bar.step_s);
      return tip(`${bar.name}: ${seconds(all)}`, [
        ...causes.map(({ name, part }, i) => ({ colour: detailColours()[part], name, value: `${seconds(bar.step_s[i])}  ${percent(bar.step_s[i] / (all || 1))}` })),
        ...(bar.memory !== null ? [{ name: t('memory at the peak'), value: bytes(bar.memory) }] : [])]);
    }, { axisPointer: { type: 'shadow', shadowStyle: { color: variable('hover') } } }),
    series: causes.map(({ name, part, of }, i) => layer(name, detailColours()[part], of, bars.map((bar) => bar.step_s[i]))),
  };
}

/** Returns the rows of the table of links. */
function linkRows(links: DimensionLinks[]): HTMLElement {
  const heads = ['dimension', 'class of links', 'links', 'bytes of a step', 'links in use, mean', 'the busiest link'];
  const cells = (use: DimensionLinks): string[] => [t(use.dimension), use.link_class, whole(use.links), bytes(use.bytes), percent(use.utilisation), percent(use.utilisation_max)];
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('Links of each dimension') },
    h('table', { class: 'dimensions' }, h('thead', {}, h('tr', {}, ...heads.map((head) => h('th', { scope: 'col' }, t(head))))),
      h('tbody', {}, ...links.map((use) => h('tr', {}, ...cells(use).map((text, i) => h('td', { class: i > 1 ? 'number' : null }, text)))))));
}

export function mesh(report: Report, data: Mesh, file: string): HTMLElement {
  const strategies = distinct(data.rows.map(({ strategy }) => strategy));
  const chosen: Chosen = { view: 'ranks', strategy: data.about?.strategy ?? strategies[0] };
  const picture = meshPicture();
  const table = h('div', {});
  const below = h('div', {}, picture.element, table);
  const mean = ({ strategy, stages }: Mesh['rows'][number]): Bar => ({
    name: report.strategies[strategy].label, step_s: data.causes.map((_, i) => sum(stages.map(({ step_s }) => step_s[i])) / stages.length),
    memory: stages.some(({ memory }) => memory !== null) ? Math.max(...stages.map(({ memory }) => memory ?? 0)) : null });
  const bars = (at: number): Bar[] => {
    const here = data.rows.filter(({ point }) => point === at);
    const mine = here.find(({ strategy }) => strategy === chosen.strategy);
    table.replaceChildren(...(chosen.view === 'ranks' && mine ? [linkRows(mine.links)] : []));
    picture.show(chosen.view === 'ranks' && mine ? { picture: data.pictures[mine.picture], links: mine.links } : null);
    return chosen.view === 'ranks' ? mine?.stages ?? [] : here.filter(({ strategy }) => shown(strategy)).map(mean);
  };
  return stacked(report, {
    id: 'mesh', title: 'Stages, and dimensions of the mesh', data, file, chosen, strategies, points: false, ranks: true, ranksName: 'Stages', bars, margin: 72, below,
    rows: () => (chosen.view === 'ranks' ? data.rows.filter(({ strategy }) => strategy === chosen.strategy) : data.rows),
    draw: (all, wide) => option(all, data.causes, wide),
    legend: detailKey(data.causes, ['solid', 'hatch', 'dots', 'rows']),
  });
}
