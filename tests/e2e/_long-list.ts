import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * The maximum number of rows on the newest page and on older pages of the list. Large pages fill a long list quickly.
 */
type Sizes = { newest: number; older: number };

/**
 * The receipts of a workspace with very many receipts, as the kernel lists them. Each is a copy of a sealed receipt at
 * another place of the log.
 */
export class LongLedger {
  readonly #receipt: StoredReceipt;
  /** The number of receipts. Their places in the log are 0 to `size - 1`. */
  size: number;
  sizes: Sizes = { newest: 50, older: 200 };
  /** The number of receipts that are sealed before each request for the newest page. */
  sealedBetween = 0;
  /** The cursors of all requests. `null` for the newest page. */
  readonly cursors: (string | null)[] = [];

  constructor(receipt: StoredReceipt, size: number) {
    this.#receipt = receipt;
    this.size = size;
  }

  /**
   * Answers the page requests of this browser until it closes. Chromium reads the large bodies itself, and not through
   * its debugger.
   */
  async answerIn(context: BrowserContext): Promise<void> {
    const server = createServer((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://ledger').searchParams.get('cursor');
      this.cursors.push(cursor);
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.#page(cursor));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo; // a TCP server has this address type
    context.once('close', () => {
      server.close();
      server.closeAllConnections();
    });
    await context.route('**/api/v1/receipts?*', async (route) => {
      const { search } = new URL(route.request().url());
      await route.continue({ url: `http://127.0.0.1:${port}/api/v1/receipts${search}` });
    });
  }

  idAt(place: number): string {
    return `rcp_${String(place).padStart(26, '0')}`;
  }

  #page(cursor: string | null): string {
    if (cursor === null) this.size += this.sealedBetween;
    const from = cursor === null ? this.size : Number(cursor);
    const to = Math.max(0, from - (cursor === null ? this.sizes.newest : this.sizes.older));
    const data = Array.from({ length: from - to }, (_, at) => this.#receiptAt(from - 1 - at));
    return JSON.stringify({ data, next_cursor: to === 0 ? null : String(to) });
  }

  #receiptAt(place: number): object {
    const { payload, ...rest } = this.#receipt;
    const moved = { receipt_id: this.idAt(place), tool: `tool.of-${place}`, lamport_clock: place + 1 };
    return { ...rest, payload: { ...payload, ...moved }, log_index: place };
  }
}

/**
 * A task of a thread, or the begin of a frame, from Chromium's trace. Times are in microseconds. `tdur` is the CPU time
 * of the thread.
 */
type Traced = { name: string; ph: string; pid: number; tid: number; ts: number; tdur?: number };

/**
 * The longest work of the page's thread for one frame during `act`, in milliseconds. The time of other processes is not
 * included, since on a busy machine every frame takes long.
 */
export async function longestFrameMs(
  browser: Browser,
  act: () => Promise<void>,
): Promise<{ frames: number; ms: number }> {
  const cdp = await browser.newBrowserCDPSession();
  const traced: Traced[] = [];
  cdp.on('Tracing.dataCollected', ({ value }) => traced.push(...(value as unknown as Traced[]))); // Chromium's own type
  const traceConfig = { includedCategories: ['-*', 'toplevel', 'devtools.timeline'] };
  await cdp.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig });
  await act();
  const ended = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await ended;
  await cdp.detach();
  return longestOf(traced);
}

function longestOf(traced: readonly Traced[]): { frames: number; ms: number } {
  const [first] = traced.filter(({ name }) => name === 'FireAnimationFrame');
  if (first === undefined) throw new Error('No frame was traced');
  const ofPage = traced
    .filter(({ pid, tid }) => pid === first.pid && tid === first.tid)
    .toSorted((a, b) => a.ts - b.ts);
  const frames = [0];
  for (const { name, ph, tdur = 0 } of ofPage) {
    if (name === 'FireAnimationFrame') frames.push(0);
    if (name === 'ThreadControllerImpl::RunTask' && ph === 'X') frames.push((frames.pop() ?? 0) + tdur);
  }
  // The first and the last frame are not part of the action.
  const between = frames.slice(1, -1);
  return { frames: between.length, ms: Math.max(...between) / 1_000 };
}

/**
 * The number of frames of a scroll through the list. No frame shows the same rows as the previous one. No person
 * scrolls faster.
 */
const framesOfWay = 240;

/** Scrolls from the top to the end, and continues until the list has grown by `grownPx`. */
export async function scrollThrough(page: Page, box: string, grownPx: number): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const box = document.querySelector(${JSON.stringify(box)});
    box.scrollTop = 0;
    const whole = box.scrollHeight;
    let count = 0;
    const frame = () => {
      count += 1;
      if (count > ${framesOfWay} && box.scrollHeight >= whole + ${grownPx}) return done();
      box.scrollTop = (box.scrollHeight * Math.min(count, ${framesOfWay})) / ${framesOfWay};
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`);
}
