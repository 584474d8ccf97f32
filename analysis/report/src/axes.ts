// Axes, grids and tooltips in the page's style.
import { h } from './dom';
import type { Option } from './echarts';
import { variable } from './theme';

export interface AxisSettings {
  name: string; log?: boolean; format: (x: number) => string; categories?: string[];
  min?: number | 'dataMin'; max?: number | 'dataMax'; scale?: boolean; grid?: boolean; splits?: number; ticks?: number[]; extra?: Option;
}

const line = (): Option => ({ lineStyle: { color: variable('axis'), width: 1 } });

/** Returns round numbers for a logarithmic axis from least to most: 1, 2, 5, 10, ... for few decades, else powers of ten. */
export function logTicks(least: number, most: number): number[] {
  const decades = Math.log10(most / least);
  const all: number[] = [];
  const step = Math.max(1, Math.ceil(decades / 8));
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); ++power)
    for (const lead of decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades < 3.2 ? [1, 2, 5] : [1])
      if (power % step === 0 || decades < 3.2) all.push(lead * 10 ** power);
  return all.filter((tick) => tick >= least * 0.999 && tick <= most * 1.001);
}

/** Returns an axis of numbers (linear or logarithmic) or of categories, with its name at its end, written horizontally. */
export function axis(settings: AxisSettings, vertical: boolean): Option {
  const { name, log, format, categories, min, max, scale, grid = true, splits, ticks } = settings;
  return {
    type: categories ? 'category' : log ? 'log' : 'value',
    ...(categories ? { data: categories } : { min, max, scale: scale ?? false, splitNumber: splits ?? (vertical ? 5 : 6) }),
    name,
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 12 : 26,
    nameTextStyle: { color: variable('quiet'), fontSize: 12, align: vertical ? 'left' : 'center', padding: 0 },
    axisLine: { show: !vertical || !!categories, onZero: false, ...line() },
    axisTick: { show: !vertical && !categories, ...line(), ...(ticks ? { customValues: ticks } : {}) },
    axisLabel: { color: variable('quiet'), hideOverlap: true, textMargin: [0, 3], fontSize: 11.5, ...(categories ? {} : { formatter: (x: number) => format(x) }), ...(ticks ? { customValues: ticks } : {}) },
    splitLine: { show: grid && !categories, lineStyle: { color: variable('rule'), width: 1 } },
    minorSplitLine: { show: false },
    axisPointer: { label: { show: false } },
    ...settings.extra,
  };
}

export const frame = (more: Option = {}): Option => ({ left: 4, right: 18, top: 8, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'all', ...more });

/** Returns a tooltip whose contents are elements, so that markup in a label stays text. */
export function tooltip(trigger: 'axis' | 'item', formatter: (params: never) => HTMLElement | string, more: Option = {}): Option {
  return {
    trigger, formatter, confine: true, enterable: false, transitionDuration: 0,
    backgroundColor: variable('raised'), borderColor: variable('axis'), borderWidth: 1, padding: [8, 10],
    textStyle: { color: variable('ink'), fontSize: 12, fontFamily: variable('font') },
    extraCssText: 'box-shadow:0 4px 18px rgba(0,0,0,.16);border-radius:6px;max-width:min(90vw,30rem);white-space:normal',
    ...more,
  };
}

/** Returns the contents of a tooltip: a head, and lines of colour, name and value. */
export function tip(head: string, lines: { colour?: string; name: string; value: string }[], foot = ''): HTMLElement {
  return h('div', { class: 'tip' }, h('strong', {}, head),
    ...lines.map(({ colour, name, value }) => h('div', { class: 'line' },
      colour ? h('i', { style: `background:${colour}` }) : h('i', {}), h('span', {}, name), h('b', {}, value))),
    foot ? h('p', {}, foot) : null);
}

/** Ctrl and the wheel zoom, and dragging pans. The wheel alone scrolls the page. */
export const zooms = (): boolean => !matchMedia('(pointer: coarse)').matches;
export const zoom = (): Option[] => !zooms() ? [] :
  [{ type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, moveOnMouseWheel: false }];
