// The lanes of one run: the canvas, and the window of time as set by pointer and keys.
import { tip } from '../axes';
import { parts, passNames, passWords, waits, type GanttRun } from '../data';
import { h } from '../dom';
import { t } from '../language';
import { bytes, seconds, whole } from '../format';
import { printing } from '../theme';
import { axisHeight, barColour, draw, geometry, toTime, type Geometry } from './draw';
import { Raster } from './raster';
import { barAt, type Tracks } from './tracks';
import type { View } from './view';

export class Panel {
  readonly canvas = h('canvas', { class: 'lanes', tabindex: 0, role: 'img' });
  private readonly bubble = h('div', { class: 'bubble', hidden: true });
  readonly element = h('div', { class: 'panel' }, this.canvas, this.bubble);
  private readonly raster = new Raster();
  shape: Geometry = geometry(0, 0, 1);
  seen = 0;
  private marked = -1;
  private readonly pointers = new Map<number, number>();

  constructor(private readonly view: View, private readonly of: () => Tracks | null, private readonly redraw: () => void) {
    this.canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener('pointerdown', (event) => this.down(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const end of ['pointerup', 'pointercancel'] as const) this.canvas.addEventListener(end, (event) => { this.pointers.delete(event.pointerId); });
    this.canvas.addEventListener('pointerleave', () => this.mark(-1));
    this.canvas.addEventListener('dblclick', (event) => this.view.zoom(0.4, toTime(this.view, this.shape, event.offsetX)));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
  }

  draw(): void {
    const run = this.of();
    this.element.hidden = run === null;
    if (!run || this.element.clientWidth === 0) return;
    const dots = printing() ? 3 : window.devicePixelRatio;
    this.shape = geometry(this.element.clientWidth, run.lanes.length, dots);
    const [width, height] = [Math.round(this.shape.width * dots), Math.round(this.shape.height * dots)];
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.canvas.style.height = `${this.shape.height}px`;
    this.seen = draw(this.canvas, this.raster, run, this.view, this.shape, this.marked);
  }

  /** Shows another run; no bar is marked any more. */
  forget(): void { this.mark(-1); }

  private mark(bar: number): void {
    if (bar === -1) this.bubble.hidden = true;
    if (bar === this.marked) return;
    this.marked = bar;
    this.redraw();
  }

  private point(event: PointerEvent): void {
    const run = this.of();
    const lane = Math.floor((event.offsetY - axisHeight) / this.shape.row);
    if (!run || lane < 0 || lane >= run.lanes.length || event.offsetX < this.shape.gutter) return this.mark(-1);
    const slack = (3 * (this.view.to - this.view.from)) / (this.shape.width - this.shape.gutter);
    const bar = barAt(run, lane, toTime(this.view, this.shape, event.offsetX), slack);
    this.mark(bar);
    if (bar < 0) return;
    this.bubble.replaceChildren(describe(run, bar));
    this.bubble.hidden = false;
    const [x, y] = [event.offsetX + 16, event.offsetY + 14];
    this.bubble.style.left = `${Math.max(0, Math.min(x, this.shape.width - this.bubble.offsetWidth - 4))}px`;
    this.bubble.style.top = `${y}px`;
  }

  private wheel(event: WheelEvent): void {
    const close = event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
    const perPixel = (this.view.to - this.view.from) / (this.shape.width - this.shape.gutter);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) this.view.pan((event.deltaX || event.deltaY) * perPixel);
    else if (close) this.view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), toTime(this.view, this.shape, event.offsetX));
    else return;
    event.preventDefault();
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event.offsetX);
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return this.point(event);
    const perPixel = (this.view.to - this.view.from) / (this.shape.width - this.shape.gutter);
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)![1];
      const [was, is] = [Math.abs(before - other), Math.abs(event.offsetX - other)];
      if (was > 4 && is > 4) this.view.zoom(was / is, toTime(this.view, this.shape, other));
    } else {
      this.view.pan((before - event.offsetX) * perPixel);
    }
    this.pointers.set(event.pointerId, event.offsetX);
    this.mark(-1);
  }

  private key(event: KeyboardEvent): void {
    const tenth = (this.view.to - this.view.from) / 10;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.view.pan(-tenth), ArrowRight: () => this.view.pan(tenth),
      ArrowUp: () => this.view.zoom(0.8), ArrowDown: () => this.view.zoom(1.25),
      '+': () => this.view.zoom(0.8), '=': () => this.view.zoom(0.8), '-': () => this.view.zoom(1.25),
      Home: () => this.view.fit(), '0': () => this.view.fit(), Escape: () => this.canvas.blur(),
    };
    const action = event.ctrlKey || event.metaKey ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/** Returns the peer's lane without its host: "server 0"; ranks that were not recorded have their number only. */
function peerName({ lanes, ranks }: GanttRun, peer: number): string {
  const lane = ranks?.indexOf(peer) ?? -1;
  return lane >= 0 ? lanes[lane].replace(/ \(.*/, '') : t('rank {0}', peer);
}

/** Returns the words of a bar's colour. */
const colourWords = ({ run, stores, passes, causes }: Tracks, bar: number): string =>
  passes[bar] >= 0 ? passWords[passNames[passes[bar]]] : stores[bar] ? 'storage' : causes[bar] >= 0 ? waits[causes[bar]] : parts[run.kind[bar]];

function describe(all: Tracks, bar: number): HTMLElement {
  const { run } = all;
  const name = run.names[run.name[bar]];
  const micro = run.micro?.[bar] ?? null;
  const peer = run.peer[bar];
  const lines = [
    { colour: barColour(all, bar), name: t(colourWords(all, bar)), value: seconds(run.to[bar] - run.from[bar]) },
    { name: t('from'), value: seconds(run.from[bar], 6) }, { name: t('to'), value: seconds(run.to[bar], 6) },
    ...(run.step[bar] !== null ? [{ name: t('step'), value: whole(run.step[bar]) }] : []),
    ...(micro !== null ? [{ name: t('micro-batch'), value: whole(micro) }] : []),
    ...(run.bytes[bar] !== null ? [{ name: t('bytes'), value: bytes(run.bytes[bar]) }] : []),
    ...(peer !== null ? [{ name: t('peer'), value: peerName(run, peer) }] : []),
  ];
  return tip(`${run.lanes[run.lane[bar]]}: ${name}`, lines);
}
