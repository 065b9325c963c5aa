import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { patienceMs } from '@countersign/testkit/until';
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

/** A person at the console in a real browser. */
export type Visitor = {
  page: Page;
  context: BrowserContext;
  /** Violations of the content security policy, script errors, and requests to other origins, as text. */
  faults: string[];
};

/**
 * Connects to the Chromium of this worker. A close ends everything that was opened through the connection, but not
 * Chromium.
 */
export async function openChromium(): Promise<Browser> {
  return await chromium.connect(await chromiumEndpoint(), { timeout: patienceMs });
}

export type Screen = { width?: number; colorScheme?: 'light' | 'dark' };

export async function openVisitor(browser: Browser, origin: string, screen: Screen = {}): Promise<Visitor> {
  const { width = 1280, colorScheme = 'light' } = screen;
  const context = await browser.newContext({ baseURL: origin, viewport: { width, height: 800 }, colorScheme });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const faults: string[] = [];
  // Chromium logs a rejected or impossible request as a failed load. Tests check how the page handles it.
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

/** The server of the console: a whole system, or a gateway with some services. */
type Served = { consoleUrl: string } | { gateway: { url: string } };

export type ConsoleOf<System> = {
  readonly system: System;
  readonly browser: Browser;
  readonly origin: string;
  /** Opens a new browser context without a page or a session. It is closed after the test. */
  visit(screen?: Screen): Promise<Visitor>;
  /** Opens a rendered page with a session of the person. A file has one session for each person. */
  visitAs(email: string, path: string, screen?: Screen): Promise<Visitor>;
};

/** A system and a browser for the tests of a file. Without `start` it is the shared system of the worker. */
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
  });
  beforeEach(() => void (opened = []));
  afterEach(async () => void (await Promise.all(opened.map((context) => context.close()))));
  afterAll(async () => {
    await started.browser?.close();
    await started.system?.stop?.();
  });
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

/**
 * Signs the person in through requests of the browser context, not through a page. Returns the cookies, which the
 * browser then has too.
 */
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

/** The element that every page shows to a signed-in person: the navigation, or on a narrow screen its button. */
function shellOf(page: Page): Locator {
  const navigation = page.getByRole('navigation', { name: 'Pages' });
  return navigation.or(page.getByRole('button', { name: 'Menu' })).first();
}

/** Adds an authenticator with user verification to the device of the page. */
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

/** Signs in by keyboard alone, starting in the focused form. Then the requested page is open. */
export async function signInByKeyboard(page: Page, email: string): Promise<void> {
  await typeInto(page.getByLabel('E-mail address'), email);
  await page.keyboard.press('Enter');
  const code = await page.getByLabel('Code for development').textContent();
  await typeInto(page.getByLabel('Code', { exact: true }), code ?? '');
  await page.keyboard.press('Enter');
  await shellOf(page).waitFor();
}

/** Calls the console's own origin with the browser's cookies, without the page. */
export async function askAs({ page, context }: Visitor, path: string, init: RequestInit = {}): Promise<Response> {
  const url = new URL(path, page.url());
  const kept = await context.cookies(url.href);
  const headers = { ...init.headers, cookie: kept.map(({ name, value }) => `${name}=${value}`).join('; ') };
  return await fetch(url, { ...init, headers });
}

/** Replaces the text of a field once it has the focus. A dialog sets the focus a moment after it is rendered. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  const page = field.page();
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

/** Presses Enter on the button that a dialog focuses, once it has the focus. */
export async function pressOnceFocused(button: Locator): Promise<void> {
  const page = button.page();
  await button.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
}

/** The minified axe, which has less than half the size of `axe.source`. Each document must load it. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Violations that axe finds on the page in its current state: WCAG 2.2 AA and axe's own best practices. */
export async function axeFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // The debugger loads axe, because it is exempt from the content security policy. A document keeps the loaded axe.
  if (!(await page.evaluate<boolean>(`typeof axe === 'object'`))) await page.evaluate(axeSource);
  const options = {
    // Axe then computes no selectors for the nodes that pass.
    resultTypes: ['violations'],
    ...(rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } }),
  };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Everything in the browser's storage that scripts of this origin can read. */
export async function keptByScripts(page: Page): Promise<string> {
  return await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
}
