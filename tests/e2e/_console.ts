import axe, { type AxeResults } from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';

const flags = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];
const waitMs = 60_000;

/** Somebody at the console, in a real browser, with all that a page must not do on the way. */
export type Visitor = {
  page: Page;
  context: BrowserContext;
  /** Violations of the policy of contents, errors of scripts, and requests to another origin, in words. */
  faults: string[];
};

export async function openChromium(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  return await chromium.launch({
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: flags,
    timeout: waitMs,
  });
}

type Screen = { width?: number; colorScheme?: 'light' | 'dark' };

export async function openVisitor(browser: Browser, origin: string, screen: Screen = {}): Promise<Visitor> {
  const { width = 1280, colorScheme = 'light' } = screen;
  const context = await browser.newContext({ baseURL: origin, viewport: { width, height: 800 }, colorScheme });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const faults: string[] = [];
  // A refusal, or a network that a test took away, is told as a resource that failed to load; what the page makes of it, the tests look at.
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

/** With nothing but the keyboard, from the form that has the focus. Whatever page was asked for is there afterwards. */
export async function signInByKeyboard(page: Page, email: string): Promise<void> {
  await typeInto(page.getByLabel('E-mail address'), email);
  await page.keyboard.press('Enter');
  const code = await page.getByLabel('Code for development').textContent();
  await typeInto(page.getByLabel('Code', { exact: true }), code ?? '');
  await page.keyboard.press('Enter');
  await page
    .getByRole('navigation', { name: 'Pages' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .first()
    .waitFor();
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

/** What axe finds on the page as it stands: WCAG 2.2 AA and its own best practices. */
export async function axeFindings(page: Page): Promise<string[]> {
  // By the protocol of the debugger, to which the policy of contents does not apply.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Everything that scripts of this origin could read of what the browser keeps. */
export async function keptByScripts(page: Page): Promise<string> {
  return await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
}
