import { createServer, type AddressInfo } from 'node:net';
import { patienceMs } from '@countersign/testkit/until';
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core';

/** A real Chromium with Chromium's virtual authenticator. */
export type Phone = { browser: Browser; context: BrowserContext; page: Page; cdp: CDPSession; authenticatorId: string };

const flags = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];

export async function openPhone(): Promise<Phone> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: flags,
    timeout: patienceMs,
  });
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  });
  return { browser, context, page, cdp, authenticatorId };
}

/** Finds an unused port, because tests need the address of a page before its server starts. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
}
