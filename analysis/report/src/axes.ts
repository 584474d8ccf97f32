// Axes, grids and tooltips in the page's style.
import { h } from './dom';
import type { Option } from './echarts';
import { onAxis } from './format';
import { t } from './language';
import { measure } from './measure';
import { cutNames, twoLineNames } from './names';
import { variable } from './theme';

export interface AxisSettings {
  name: string; log?: boolean; format: (x: number) => string; categories?: string[];
  min?: number | 'dataMin'; max?: number | 'dataMax'; scale?: boolean; grid?: boolean; splits?: number; ticks?: number[]; extra?: Option;
}

const line = (): Option => ({ lineStyle: { color: variable('axis'), width: 1 } });

/** Returns an axis of numbers (linear or logarithmic) or of categories, with its name at its end, written horizontally. */
export function axis(settings: AxisSettings, vertical: boolean): Option {
  const { name, log, format, categories, min, max, scale, grid = true, splits, ticks } = settings;
  const { axisLabel, ...extra } = (settings.extra ?? {}) as { axisLabel?: Option };
  return {
    type: categories ? 'category' : log ? 'log' : 'value',
    ...(categories ? { data: categories } : { min, max, scale: scale ?? false, splitNumber: splits ?? (vertical ? 5 : 6) }),
    name: t(name),
    nameLocation: vertical ? 'end' : 'middle',
    nameGap: vertical ? 12 : 26,
    nameTextStyle: { color: variable('quiet'), fontSize: 12, align: vertical ? 'left' : 'center', padding: 0, ...(name.includes('\n') ? { lineHeight: 17 } : {}) },
    axisLine: { show: !vertical || !!categories, onZero: false, ...line() },
    axisTick: { show: !vertical && !categories, ...line(), ...(ticks ? { customValues: ticks } : {}) },
    axisLabel: { color: variable('quiet'), ...(axisLabel ? {} : { hideOverlap: true, textMargin: [0, 3] }), fontSize: 11.5, lineHeight: 14, ...(categories ? {} : { formatter: onAxis(format) }), ...(ticks ? { customValues: ticks } : {}), ...axisLabel },
    splitLine: { show: grid && !categories, lineStyle: { color: variable('rule'), width: 1 } },
    minorSplitLine: { show: false },
    axisPointer: { label: { show: false } },
    ...extra,
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

/** Returns the axis of horizontal bars: a name per bar, in the given order, cut so that different names stay different. tall: bars have room for two lines. size: of the letters. */
export function bars(names: string[], wide: boolean, tall: boolean, size = wide ? 12 : 11): Option {
  const shown = wide || !tall ? cutNames(names, measure(size), wide ? 240 : 125) : twoLineNames(names);
  return axis({ name: '', format: String, categories: names, grid: false, extra: { inverse: true, axisTick: { show: false },
    axisLabel: { color: variable('ink'), fontSize: size, lineHeight: 13, interval: 0, formatter: (_: string, i: number) => shown[i] ?? '' } } }, true);
}

/** Ctrl and the wheel zoom, and dragging pans. The wheel alone scrolls the page. */
export const zooms = (): boolean => !matchMedia('(pointer: coarse)').matches;
export const zoom = (): Option[] => !zooms() ? [] :
  [{ type: 'inside', xAxisIndex: 0, filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, moveOnMouseWheel: false }];
