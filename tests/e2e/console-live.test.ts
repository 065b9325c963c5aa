import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { Page } from 'playwright-core';
import { untilAnswered } from '@countersign/testkit/until';
import { axeFindings, useConsole, type Visitor } from './_console.ts';
import { addressBook, signIn } from './_system.ts';

const address = addressBook();

const ofConsole = '**/ws/console';
const cutNotice = 'Live updates are interrupted';
const desk = useConsole();
let people = 0;

type Watcher = Visitor & { ask(session: string): Promise<void> };

/**
 * A person on a page that needs no approvals, with a clock that the test controls, and with an agent whose calls need
 * approval.
 */
async function watcher(): Promise<Watcher> {
  const email = address(`watcher-${++people}`);
  const { client } = await signIn(desk.system, email);
  const { key } = (await client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const visitor = await desk.visitAs(email, '/console/you');
  await visitor.page.clock.install();
  const ask = async (session: string) => {
    const body = JSON.stringify({ action: 'tool.call', tool: 'mail.send', effect_level: 'E3', session_id: session });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(new URL('/api/v1/evaluate', desk.system.gatewayUrl), { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ verdict: 'ESCALATE' });
  };
  return { ...visitor, ask };
}

/** The clock must stop at a time in the future, so it jumps ahead by more than the time that the jump takes. */
const jumpMs = 60_000;

/**
 * Stops the timers of the page, after each timer that is due within the jump has run once. Afterwards only `passUntil`
 * advances the time of the page.
 */
async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + jumpMs);
}

/** Advances the time of the page in steps until the state is reached. Returns the advanced time. */
async function passUntil(page: Page, stepMs: number, isThere: () => boolean | Promise<boolean>): Promise<number> {
  let passedMs = 0;
  await untilAnswered(async () => {
    if (await isThere()) return true;
    await page.clock.runFor(stepMs);
    passedMs += stepMs;
    return false;
  });
  return passedMs;
}

const card = (page: Page) => page.getByRole('article', { name: 'mail.send, pending' });

/**
 * Records the times at which the page requests the list of approvals, from its next load on. Times are from the page's
 * clock.
 */
async function keepReads(page: Page): Promise<() => Promise<number[]>> {
  await page.addInitScript(`
    const { fetch } = window;
    window.readsOfList = [];
    window.fetch = (input, init) => {
      if (/\\/approvals\\?/.test(input instanceof Request ? input.url : input)) window.readsOfList.push(Date.now());
      return fetch(input, init);
    };`);
  return () => page.evaluate<number[]>('readsOfList');
}

describe('an open page', () => {
  it('shows a pending call because its socket reports it, and the content security policy allows that socket', async () => {
    const { page, faults, ask } = await watcher();
    const isLive = page.waitForEvent('websocket').then((socket) => socket.waitForEvent('framereceived'));
    await page.goto('/console/inbox');
    await page.getByText('Nothing is waiting').first().waitFor();
    await isLive;
    await stopClock(page);
    await ask('first');
    // The shortest timer of the page is 5 seconds.
    expect(await passUntil(page, 1, () => card(page).isVisible())).toBeLessThan(4_000);
    expect(await page.getByText(cutNotice).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  verifies('ui.truth', 'reads everything again after a lost message', async () => {
    const { page, context, ask } = await watcher();
    let dropped = 0;
    await context.routeWebSocket(ofConsole, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        // The first two messages about an approval are lost. Later messages are about something else.
        if (dropped < 2 && String(message).includes('"approval"')) dropped += 1;
        else socket.send(message);
      });
    });
    await page.goto('/console/inbox');
    await page.getByText('Nothing is waiting').first().waitFor();
    await stopClock(page);
    await ask('lost');
    await passUntil(page, 500, async () => (await card(page).count()) > 0);
    // The page may have read the list before the message was due. The message is lost only afterwards.
    await untilAnswered(() => Promise.resolve(dropped > 0));
  });

  verifies(
    'ui.truth',
    'reports that its socket is closed, polls every 15 seconds instead, and removes the notice once the socket is open again',
    async () => {
      const { page, context, ask, faults } = await watcher();
      let isCut = true;
      await context.routeWebSocket(ofConsole, (socket) => {
        if (isCut) void socket.close();
        else socket.connectToServer();
      });
      const reads = await keepReads(page);
      await page.goto('/console/inbox');
      await page.getByText(cutNotice).waitFor();
      await page.getByText('Nothing is waiting').first().waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await stopClock(page);
      await ask('polled');
      await passUntil(page, 500, () => card(page).isVisible());
      // Nothing changes any more, so only the clock causes the next two reads.
      const before = (await reads()).length;
      await passUntil(page, 500, async () => (await reads()).length >= before + 2);
      const [last = 0, secondLast = 0] = (await reads()).toReversed();
      expect(last - secondLast).toBeGreaterThan(10_000);
      isCut = false;
      await passUntil(page, 500, async () => (await page.getByText(cutNotice).count()) === 0);
      expect(faults.filter((fault) => !fault.includes('WebSocket'))).toEqual([]);
    },
  );
});
