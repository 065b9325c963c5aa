import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type CDPSession,
  type Cookie,
  type Locator,
  type Page,
} from 'playwright-core';
import { chromiumEndpoint, sharedSystem, type SharedSystem } from './_shared-parts.ts';

/** Bounds a wait of Playwright on a busy machine; the state that it waits for ends it. */
const waitMs = 60_000;
/** The same for the start of a whole system. */
const startMs = 240_000;

/** A person at the console in a real browser. */
export type Visitor = {
  page: Page;
  context: BrowserContext;
  /** Violations of the content security policy, script errors, and requests to another origin, in words. */
  faults: string[];
};

/** A connection to the Chromium of this worker. Closing it closes what was opened through it, and leaves Chromium running. */
export async function openChromium(): Promise<Browser> {
  return await chromium.connect(await chromiumEndpoint(), { timeout: waitMs });
}

export type Screen = { width?: number; colorScheme?: 'light' | 'dark' };

export async function openVisitor(browser: Browser, origin: string, screen: Screen = {}): Promise<Visitor> {
  const { width = 1280, colorScheme = 'light' } = screen;
  const context = await browser.newContext({ baseURL: origin, viewport: { width, height: 800 }, colorScheme });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const faults: string[] = [];
  // Chromium logs a refused or impossible request as a resource that failed to load. Tests check what the page makes of it.
  const isRefusal = (text: string) =>
    text.startsWith('Failed to load resource') ||
    /^WebSocket connection to .* failed: (HTTP|.* net::ERR_INTERNET_DISCONNECTED)/.test(text);
  page.on('console', (message) => {
    if (message.type() === 'error' && !isRefusal(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:'))
      faults.push(`asked ${request.url()}`);
  });
  return { page, context, faults };
}

/** The server of the console: a whole system, or a gateway with some services behind it. */
type Served = { consoleUrl: string } | { gateway: { url: string } };

export type ConsoleOf<System> = {
  readonly system: System;
  readonly browser: Browser;
  readonly origin: string;
  /** Opens a browser context at no page, without a session. It is closed after the test that opened it. */
  visit(screen?: Screen): Promise<Visitor>;
  /** The same with a session of the person, at a page that is drawn. A file has one session for each person. */
  visitAs(email: string, path: string, screen?: Screen): Promise<Visitor>;
};

/** Gives the tests of a file a system and a browser. Without `start`, it is the shared system of the worker. */
export function useConsole(): ConsoleOf<SharedSystem>;
export function useConsole<System extends Served & { stop(): Promise<unknown> }>(
  start: () => Promise<System>,
): ConsoleOf<System>;
export function useConsole(start: () => Promise<Served & { stop?(): Promise<unknown> }> = sharedSystem) {
  const started: { system?: Served & { stop?(): Promise<unknown> }; browser?: Browser } = {};
  let opened: BrowserContext[] = [];
  const sessions = new Map<string, Cookie[]>();
  beforeAll(async () => {
    started.browser = await openChromium();
    started.system = await start();
  }, startMs);
  beforeEach(() => void (opened = []));
  afterEach(async () => void (await Promise.all(opened.map((context) => context.close()))), startMs);
  afterAll(async () => {
    await started.browser?.close();
    await started.system?.stop?.();
  }, startMs);
  const visit = async (screen?: Screen) => {
    const visitor = await openVisitor(present(started.browser), originOf(present(started.system)), screen);
    opened.push(visitor.context);
    return visitor;
  };
  return {
    get system() {
      return present(started.system);
    },
    get browser() {
      return present(started.browser);
    },
    get origin() {
      return originOf(present(started.system));
    },
    visit,
    visitAs: async (email: string, path: string, screen?: Screen) => {
      const visitor = await visit(screen);
      const { context } = visitor;
      const session = sessions.get(email);
      if (session === undefined) sessions.set(email, await takeSession(context, email));
      else await context.addCookies(session);
      await visitor.page.goto(path);
      await shellOf(visitor.page).waitFor();
      return visitor;
    },
  };
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('The system and the browser exist from the first beforeAll on');
  return value;
}

function originOf(system: Served): string {
  return 'consoleUrl' in system ? system.consoleUrl : system.gateway.url;
}

/** Signs the person in beside the pages of the browser. Returns the cookies, which the browser has from then on. */
async function takeSession(context: BrowserContext, email: string): Promise<Cookie[]> {
  const send = async (step: string, data: object): Promise<Record<string, string>> => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const answer = await context.request.post(`/api/auth/login/${step}`, { data, headers });
    if (!answer.ok()) throw new Error(`${email} could not sign in: ${answer.status()} ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const { login_id, code } = await send('begin', { email });
  await send('finish', { login_id, code });
  return await context.cookies();
}

/** The part of each page that shows a signed-in person: the navigation, or on a narrow screen its button. */
function shellOf(page: Page): Locator {
  const navigation = page.getByRole('navigation', { name: 'Pages' });
  return navigation.or(page.getByRole('button', { name: 'Menu' })).first();
}

/** Gives the device of the page an authenticator with user verification. */
export async function addAuthenticator({ page, context }: Visitor): Promise<{
  cdp: CDPSession;
  authenticatorId: string;
  setVerified(isUserVerified: boolean): Promise<void>;
}> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const options = {
    ...({ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true } as const),
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  };
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  const setVerified = async (isUserVerified: boolean) =>
    void (await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }));
  return { cdp, authenticatorId, setVerified };
}

/** Signs in with the keyboard alone, from the form that has the focus. The page that was requested is open afterwards. */
export async function signInByKeyboard(page: Page, email: string): Promise<void> {
  await typeInto(page.getByLabel('E-mail address'), email);
  await page.keyboard.press('Enter');
  const code = await page.getByLabel('Code for development').textContent();
  await typeInto(page.getByLabel('Code', { exact: true }), code ?? '');
  await page.keyboard.press('Enter');
  await shellOf(page).waitFor();
}

/** Asks the console's own origin with what the browser keeps of the session, beside the page. */
export async function askAs({ page, context }: Visitor, path: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(path, page.url());
  const kept = await context.cookies(url.href);
  const headers = { ...init.headers, cookie: kept.map(({ name, value }) => `${name}=${value}`).join('; ') };
  return await fetch(url, { ...init, headers });
}

/** Once the field has the focus, which a dialog gives it a moment after it is drawn; in place of what stands there. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  const page = field.page();
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Enter on what a dialog gives the focus, once it has it. */
export async function pressOnceFocused(button: Locator): Promise<void> {
  const page = button.page();
  await button.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
}

/** Less than half of what `axe.source` has, which each document would have to take in. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Violations that axe finds on the page as it is: WCAG 2.2 AA and axe's own best practices. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // The protocol of the debugger is exempt from the content security policy. A document that has axe keeps it.
  if (!(await page.evaluate<boolean>(`typeof axe === 'object'`))) await page.evaluate(axeSource);
  const options = {
    // Nodes that pass need no selector.
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } }),
  };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Everything that scripts of this origin could read of what the browser keeps. */
export async function keptByScripts(page: Page): Promise<string> {
  return await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
}
