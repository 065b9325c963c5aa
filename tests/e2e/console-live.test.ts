import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { Browser, Request } from 'playwright-core';
import { axeFindings, openChromium, openVisitor, signInByKeyboard, type Visitor } from './_console.ts';
import { addressBook, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const timeoutMs = 400_000;
const ofConsole = '**/ws/console';
const cutNotice = 'The live connection is cut';
/** A socket is tried again after up to 15 seconds, and a page without one asks as seldom: a busy machine may take several of them. */
const unhurried = { timeout: 90_000 };
let system: SharedSystem;
let browser: Browser;
let people = 0;

beforeAll(async () => {
  system = await sharedSystem();
  browser = await openChromium();
}, timeoutMs);

afterAll(async () => {
  await browser?.close();
}, timeoutMs);

type Watcher = Visitor & { ask(session: string): Promise<void> };

/** Somebody at the inbox, and an agent of theirs whose calls need leave. */
async function watcher(): Promise<Watcher> {
  const email = address(`watcher-${++people}`);
  const { client } = await signIn(system, email);
  const { key } = (await client.createApiKey({ body: { name: 'agent' } as never })).body; // its defaults are the schema's
  const visitor = await openVisitor(browser, system.consoleUrl);
  await visitor.page.goto('/console/inbox');
  await signInByKeyboard(visitor.page, email);
  const ask = async (session: string) => {
    const body = JSON.stringify({ action: 'tool.call', tool: 'mail.send', effect_level: 'E3', session_id: session });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const asked = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), { method: 'POST', headers, body });
    expect(await asked.json()).toMatchObject({ verdict: 'ESCALATE' });
  };
  return { ...visitor, ask };
}

describe('a page that is open', () => {
  it(
    'shows a call that waits because it is told of it, by a socket that the policy of contents lets it open',
    async () => {
      const { page, context, faults, ask } = await watcher();
      await page.getByText('Nothing waits').first().waitFor();
      // Nothing is asked by the clock: what appears was told.
      await page.waitForTimeout(1_000);
      await ask('first');
      await page.getByRole('article', { name: 'mail.send, pending' }).waitFor();
      expect(await page.getByText(cutNotice).count()).toBe(0);
      expect(faults).toEqual([]);
      await context.close();
    },
    timeoutMs,
  );

  verifies(
    'ui.truth',
    'reads everything again when a message did not arrive',
    async () => {
      const { page, context, ask } = await watcher();
      let dropped = 0;
      await context.routeWebSocket(ofConsole, (socket) => {
        const server = socket.connectToServer();
        server.onMessage((message) => {
          // The first that tells of an approval never arrives; what comes behind it is about something else.
          if (dropped < 2 && String(message).includes('"approval"')) dropped += 1;
          else socket.send(message);
        });
      });
      await page.reload();
      await page.getByText('Nothing waits').first().waitFor();
      await ask('lost');
      await page.getByRole('article', { name: 'mail.send, pending' }).waitFor({ state: 'attached' });
      // The page may have read before the message came: then it is still to be lost.
      while (dropped === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      await context.close();
    },
    timeoutMs,
  );

  verifies(
    'ui.truth',
    'says that its socket is cut, asks every 15 seconds instead, and says so no longer once it is open again',
    async () => {
      const { page, context, ask, faults } = await watcher();
      let isCut = true;
      await context.routeWebSocket(ofConsole, (socket) => {
        if (isCut) void socket.close();
        else socket.connectToServer();
      });
      await page.reload();
      await page.getByText(cutNotice).waitFor(unhurried);
      await page.getByText('Nothing waits').first().waitFor(unhurried);
      expect(await axeFindings(page)).toEqual([]);
      await ask('polled');
      await page.getByRole('article', { name: 'mail.send, pending' }).waitFor(unhurried);
      // Nothing changes any more, so only the clock has the list read again, and once more.
      const isOfList = (request: Request) => /\/approvals\?/.test(request.url());
      await page.waitForRequest(isOfList, unhurried);
      const before = Date.now();
      await page.waitForRequest(isOfList, unhurried);
      expect(Date.now() - before).toBeGreaterThan(10_000);
      isCut = false;
      await page.getByText(cutNotice).waitFor({ state: 'detached', ...unhurried });
      expect(faults.filter((fault) => !fault.includes('WebSocket'))).toEqual([]);
      await context.close();
    },
    timeoutMs,
  );
});
