// An element that ECharts draws when it comes near the window, and again when theme, size, choice or paper change.
import { h } from './dom';
import { init, type ECharts, type Option } from './echarts';
import { later, never, now } from './queue';
import { onChange } from './state';
import { onTheme, printing, still, variable } from './theme';

export interface Drawn { id: string; draw(): void; option(): unknown; element: HTMLElement }
export const plots = new Map<string, Drawn>();

const waiting = new Map<Element, () => void>();
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.();
}, { rootMargin: '500px 0px' });

/** Calls draw once, when the element comes near the window. */
export function whenNear(element: HTMLElement, draw: () => void): void {
  waiting.set(element, () => { near.unobserve(element); waiting.delete(element); later(element, draw); });
  near.observe(element);
}

/** An option of ECharts. empty: the text that stands in place of a chart that has nothing to draw. */
export type Drawing = Option & { empty?: string | null };

export class Plot implements Drawn {
  readonly element: HTMLElement;
  private readonly host = h('div', { class: 'drawing' });
  private readonly note = h('p', { class: 'empty', hidden: true });
  private chart: ECharts | null = null;
  private readonly make: () => Drawing;
  private width = 0;

  /** label: the text for screen readers; make: returns the option for the present choices. */
  constructor(readonly id: string, label: string, height: number, make: () => Drawing) {
    this.make = make;
    this.element = h('div', { class: 'plot', role: 'img', 'aria-label': label, style: `height:${height}px` }, this.host, this.note);
    plots.set(id, this);
    whenNear(this.element, () => this.draw());
    onChange(() => this.redraw());
    // Paper needs more dots per inch, so printing draws again, and at once.
    onTheme(() => {
      const drawn = this.chart !== null;
      this.chart?.dispose();
      this.chart = null;
      if (printing()) this.draw();
      else if (drawn) later(this.element, () => this.draw());
    });
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  draw(): void {
    waiting.delete(this.element);
    never(this.element);
    this.width = this.element.clientWidth;
    this.chart ??= init(this.host, null, { renderer: 'canvas', devicePixelRatio: printing() ? 3 : Math.max(window.devicePixelRatio, 1) });
    const { empty, ...option } = this.make();
    this.note.hidden = !empty;
    this.note.textContent = empty ?? '';
    this.chart.setOption({ ...base(), ...(empty ? { series: [] } : option) }, { notMerge: true });
  }

  redraw(): void { if (this.chart) later(this.element, () => this.draw()); }

  set height(px: number) {
    if (this.element.style.height === `${px}px`) return;
    this.element.style.height = `${px}px`;
    this.chart?.resize();
  }

  option(): unknown { now(this.element); return this.chart?.getOption() ?? null; }
  instance(): ECharts | null { return this.chart; }

  private resize(): void {
    if (!this.chart || this.element.clientWidth === 0) return;
    this.chart.resize();
    if (this.element.clientWidth !== this.width) this.redraw();
  }
}

const base = (): Option => ({
  backgroundColor: 'transparent',
  animation: !still() && !printing(),
  animationDuration: 250,
  animationDurationUpdate: 200,
  textStyle: { fontFamily: variable('font'), color: variable('ink'), fontSize: 12 },
  color: [variable('quiet')],
});
