import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Browser, BrowserContext, Page } from 'playwright-core';

/** The most rows on a page of the list; a list that is to be filled at once holds more. */
type Sizes = { newest: number; older: number };

/** The receipts of a workspace that has very many, as the kernel lists them: each is one that it sealed, at another place of the log. */
export class LongLedger {
  readonly #receipt: StoredReceipt;
  /** The places of the log are 0 to this one, without it. */
  size: number;
  sizes: Sizes = { newest: 50, older: 200 };
  /** How many are sealed each time the newest ones are asked for. */
  sealedBetween = 0;
  /** The cursors that were asked for; null: the newest page. */
  readonly asked: (string | null)[] = [];

  constructor(receipt: StoredReceipt, size: number) {
    this.#receipt = receipt;
    this.size = size;
  }

  /** Answers the pages of this browser, until it is closed. Chromium reads the large bodies itself, and not through its debugger. */
  async answerIn(context: BrowserContext): Promise<void> {
    const server = createServer((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://ledger').searchParams.get('cursor');
      this.asked.push(cursor);
      response.writeHead(200, { 'content-type': 'application/json' }).end(this.#page(cursor));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo; // a TCP server has this kind of address
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

/** A task of a thread, and where a frame begins, as Chromium traces them. Times are in microseconds; `tdur` is what the thread itself took. */
type Traced = { name: string; ph: string; pid: number; tid: number; ts: number; tdur?: number };

/**
 * The longest time that the page's thread was at work for one frame while something was done, in milliseconds. Time
 * that the machine gave to other processes is not included: on a busy one every frame takes long, also of an idle page.
 */
export async function longestFrameMs(
  browser: Browser,
  act: () => Promise<void>,
): Promise<{ frames: number; ms: number }> {
  const cdp = await browser.newBrowserCDPSession();
  const traced: Traced[] = [];
  cdp.on('Tracing.dataCollected', ({ value }) => traced.push(...(value as unknown as Traced[]))); // in Chromium's own form
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
    .toSorted((one, other) => one.ts - other.ts);
  const frames = [0];
  for (const { name, ph, tdur = 0 } of ofPage) {
    if (name === 'FireAnimationFrame') frames.push(0);
    if (name === 'ThreadControllerImpl::RunTask' && ph === 'X') frames.push((frames.pop() ?? 0) + tdur);
  }
  // Before the first and behind the last is what was not asked for.
  const between = frames.slice(1, -1);
  return { frames: between.length, ms: Math.max(...between) / 1_000 };
}

/**
 * The number of frames of a way through the list: each shows other rows than the one before. A person scrolls no
 * faster.
 */
const framesOfWay = 240;

/** Scrolls from the top to the end, and goes on until the list has grown by `grownPx`. */
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
