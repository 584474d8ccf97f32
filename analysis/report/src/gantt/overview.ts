// The overview of the whole time, with a brush: the window can be drawn, moved, and dragged at its ends.
import { h } from '../dom';
import { partColours } from '../palette';
import { variable } from '../theme';
import { slices, type Tracks } from './tracks';
import type { View } from './view';

const height = 40;

export class Overview {
  readonly canvas = h('canvas', { class: 'overview', style: `height:${height}px`, 'aria-hidden': 'true' });
  private drawn: { key: string; slices: Float64Array[][] } = { key: '', slices: [] };
  private grip: { kind: 'from' | 'to' | 'move' | 'new'; at: number; from: number; to: number } | null = null;

  constructor(private readonly view: View, private readonly runs: () => Tracks[], private readonly gutter: () => number) {
    this.canvas.addEventListener('pointerdown', (event) => this.take(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel'] as const) this.canvas.addEventListener(end, () => { this.grip = null; });
  }

  draw(dots: number): void {
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    this.canvas.width = width * dots;
    this.canvas.height = height * dots;
    const context = this.canvas.getContext('2d')!;
    context.setTransform(dots, 0, 0, dots, 0, 0);
    const [left, runs, [least, most]] = [this.gutter(), this.runs(), this.view.all];
    const count = Math.max(1, Math.floor((width - left) / 2));
    const key = `${count} ${least} ${most} ${runs.map(({ run }) => `${run.strategy} ${run.point} ${run.seed}`).join()}`;
    if (key !== this.drawn.key) this.drawn = { key, slices: runs.map((run) => slices(run, least, most, count)) };
    const colours = partColours();
    const band = (height - 4) / Math.max(runs.length, 1);
    const step = (width - left) / count;
    this.drawn.slices.forEach((kinds, r) => {
      const lanes = Math.max(runs[r].lanes.length, 1) * ((most - least) / count);
      let base = new Float64Array(count);
      kinds.forEach((of, kind) => {
        context.fillStyle = colours[kind];
        const next = new Float64Array(count);
        for (let i = 0; i < count; ++i) {
          next[i] = base[i] + of[i] / lanes;
          const tall = (next[i] - base[i]) * (band - 2);
          if (tall > 0) context.fillRect(left + i * step, 2 + (r + 1) * band - 1 - next[i] * (band - 2), step + 0.3, tall);
        }
        base = next;
      });
    });
    const [x, end] = [this.x(this.view.from), this.x(this.view.to)];
    context.fillStyle = variable('veil');
    context.fillRect(left, 0, x - left, height);
    context.fillRect(end, 0, width - end, height);
    context.strokeStyle = variable('ink');
    context.lineWidth = 1.5;
    context.strokeRect(x + 0.75, 0.75, Math.max(end - x - 1.5, 1), height - 1.5);
    context.fillStyle = variable('ink');
    for (const edge of [x, end - 4]) context.fillRect(edge, height / 2 - 7, 4, 14);
  }

  private x(t: number): number {
    const [least, most] = this.view.all;
    return this.gutter() + ((t - least) / (most - least)) * (this.canvas.clientWidth - this.gutter());
  }

  private time(event: PointerEvent): number {
    const [least, most] = this.view.all;
    return least + ((event.offsetX - this.gutter()) / (this.canvas.clientWidth - this.gutter())) * (most - least);
  }

  private take(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    const [x, end, at] = [this.x(this.view.from), this.x(this.view.to), event.offsetX];
    const [least, most] = this.view.all;
    const everything = this.view.to - this.view.from >= 0.999 * (most - least);
    const kind = !everything && Math.abs(at - x) < 8 ? 'from' : !everything && Math.abs(at - end) < 8 ? 'to' : !everything && at > x && at < end ? 'move' : 'new';
    this.grip = { kind, at: this.time(event), from: this.view.from, to: this.view.to };
  }

  private move(event: PointerEvent): void {
    if (!this.grip) return;
    const [t, { kind, at, from, to }] = [this.time(event), this.grip];
    if (kind === 'new') this.view.show(Math.min(at, t), Math.max(at, t));
    else if (kind === 'move') this.view.show(from + t - at, to + t - at);
    else if (kind === 'from') this.view.show(Math.min(t, to), to);
    else this.view.show(from, Math.max(t, from));
  }
}
