// The frame of a chart of stacked bars: of the strategies at a grid point, of one at all grid points, or of its ranks.
import { card } from '../card';
import { list, place, segments } from '../controls';
import type { Chart, Report, Row } from '../data';
import { decal } from '../palette';
import { Plot, type Drawing } from '../plot';
import { change, onChange } from '../state';
import { variable } from '../theme';

export type View = 'strategies' | 'points' | 'ranks';
export interface Chosen { view: View; strategy: number }

export interface Stack<Bar> {
  id: string; title: string; data: Chart; file: string;
  chosen: Chosen; strategies: number[];
  points: boolean; ranks: boolean; ranksName?: string;  // the views that there are beside that of strategies
  rows: () => Row[];  // those that the view can draw
  bars: (point: number) => Bar[];
  draw: (bars: Bar[], wide: boolean) => Drawing;
  margin: number;  // height beside the bars, in pixels
  controls?: (redraw: () => void) => HTMLElement[];
  legend: HTMLElement;
  below?: HTMLElement;
}

/** One part of all bars. hatch: its number among the hatches. */
export const layer = (name: string, colour: string, hatch: number, data: number[]): object => ({
  type: 'bar', stack: 'all', name, id: name, data, barMaxWidth: 26, barMinWidth: 3, barCategoryGap: data.length > 24 ? '12%' : '34%',
  color: colour, itemStyle: { color: colour, decal: decal(hatch) ?? { symbol: 'none' }, borderColor: variable('surface'), borderWidth: data.length > 24 ? 0 : 0.5 },
});

export function stacked<Bar>(report: Report, stack: Stack<Bar>): HTMLElement {
  const { id, data, chosen, strategies } = stack;
  const at = place(report, stack.rows, data.about ?? null);
  const bars = (): Bar[] => stack.bars(at.point());
  const fit = (): void => {
    const rows = bars().length;
    plot.height = stack.margin + Math.max(rows, 1) * (rows > 40 ? 14 : rows > 16 ? 20 : 38);
  };
  const plot: Plot = new Plot(id, data.sentence, 200, () => { fit(); return stack.draw(bars(), plot.element.clientWidth > 640); });
  fit();
  const set = (what: Partial<Chosen>): void => { Object.assign(chosen, what); arrange(); plot.redraw(); };
  const strategy = list('Strategy', strategies.map((each) => [String(each), report.strategies[each].label]), String(chosen.strategy), (value) => set({ strategy: Number(value) }));
  const arrange = (): void => {
    strategy.element.hidden = chosen.view === 'strategies';
    if (at.element) at.element.hidden = chosen.view === 'points';
    at.show();
  };
  arrange();
  onChange(fit);
  const views: [View, string][] = [['strategies', 'Strategies'], ...(stack.points ? [['points', 'Grid points'] as [View, string]] : []), ...(stack.ranks ? [['ranks', stack.ranksName ?? 'Ranks'] as [View, string]] : [])];
  return card(id, stack.title, data, stack.file, [
    views.length > 1 ? segments('Compare', views, chosen.view, (view) => change(() => set({ view: view as View }))) : null, strategy.element, at.element,
    ...(stack.controls?.(() => plot.redraw()) ?? []),
  ], stack.legend, plot.element, stack.below ?? null);
}
