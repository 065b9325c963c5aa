import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCountersign } from '@countersign/cli';
import { verifies } from '@countersign/testkit/verifies';
import type { Page } from 'playwright-core';
import { useConsole, type Visitor } from './_console.ts';
import { everyLook, faultsOf } from './_faults-of-page.ts';
import { addressBook, signIn } from './_system.ts';

const address = addressBook();
const desk = useConsole();
const dir = mkdtempSync(join(tmpdir(), 'countersign-report-'));
const at = (name: string) => join(dir, name);
const reportUrl = pathToFileURL(at('report.html')).href;
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs a command without a server, unless `env` names one. */
async function run(argv: string[], env: Record<string, string> = {}) {
  const [out, output]: [string[], string[]] = [[], []];
  const status = await runCountersign(argv, {
    ...{ write: (text: string) => void out.push(text), tell: (text: string) => void output.push(text), env },
    stdin: (async function* () {
      // Standard input is empty.
    })(),
    signal: new AbortController().signal,
  });
  return { status, out: out.join(''), told: output.join('') };
}

beforeAll(async () => {
  const { client } = await signIn(desk.system, address('ada'));
  const { key } = (await client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (const call of [
    { tool: 'crm.read', effect_level: 'E1' },
    { tool: 'mail.send', effect_level: 'E3' },
    { tool: 'unknown.tool', effect_level: 'E4' },
  ]) {
    const body = JSON.stringify({ action: 'tool.call', session_id: 's', args: { note: '</script>' }, ...call });
    await fetch(new URL('/api/v1/evaluate', desk.system.gatewayUrl), { method: 'POST', headers, body });
  }
  const env = { COUNTERSIGN_URL: desk.system.gatewayUrl, COUNTERSIGN_TOKEN: key, COUNTERSIGN_CONFIG_DIR: dir };
  for (const name of ['pack.jsonl', 'again.jsonl']) {
    const { status, told } = await run(['evidence', 'export', '--session', 's', '--file', at(name)], env);
    if (status !== 0) throw new Error(told);
  }
  const keys = await fetch(new URL('/api/v1/trust/keys', desk.system.kernelUrl));
  writeFileSync(at('keys.json'), await keys.text());
  for (const name of ['report.html', 'again.html']) {
    const { status, told } = await run([
      'evidence',
      'report',
      at('pack.jsonl'),
      '--keys',
      at('keys.json'),
      '--file',
      at(name),
    ]);
    if (status !== 0) throw new Error(told);
  }
});

/** Opens the report in a browser without a network. */
async function opened(): Promise<Visitor> {
  const visitor = await desk.visit();
  await visitor.context.setOffline(true);
  await visitor.page.goto(reportUrl);
  await visitor.page.getByRole('heading', { name: 'Evidence report' }).waitFor();
  return visitor;
}

async function answersOf(page: Page): Promise<(string | null)[][]> {
  const marks = await page.locator('[data-answer]').all();
  return await Promise.all(
    marks.map(async (mark) => [await mark.getAttribute('data-answer'), await mark.textContent()]),
  );
}
const jsonOf = (page: Page) => page.locator('#report-json').textContent();

describe('the report of an evidence pack', () => {
  verifies('kn.evidence.export', 'is the same in the command and in an offline browser', async () => {
    expect(readFileSync(at('again.jsonl'), 'utf8')).toBe(readFileSync(at('pack.jsonl'), 'utf8'));
    const { status, out } = await run(['evidence', 'verify', at('pack.jsonl'), '--keys', at('keys.json'), '--json']);
    expect(status).toBe(0);
    const { page } = await opened();
    expect(`${await jsonOf(page)}\n`).toBe(out);
  });

  verifies(
    'cp.report.html',
    'shows four results without a network, and fails visibly when its button changes one byte',
    async () => {
      const { page, faults } = await opened();
      const good = [
        ['integrity', 'Verified'],
        ['completeness', 'Complete'],
        ['signer', 'Trusted'],
        ['time', 'Logged'],
      ];
      expect(await answersOf(page)).toEqual(good);
      expect(await page.locator('#verdict').getAttribute('class')).toBe('good');
      expect(await page.locator('#timeline tbody tr').count()).toBeGreaterThanOrEqual(3);
      expect(await page.locator('#policies').textContent()).toContain('countersign/policy.v1');
      expect(await faultsOf(page, everyLook)).toEqual([]);
      await page.getByRole('button', { name: 'Change one byte' }).press('Enter');
      await page.locator('#verdict.bad').waitFor();
      expect(await page.locator('#fault').textContent()).toMatch(/^Line \d+, receipt rcp_/);
      expect(await page.locator('.unverified').count()).toBe(1);
      await page.getByRole('button', { name: 'Restore the pack' }).press('Enter');
      await page.locator('#verdict.good').waitFor();
      expect(await answersOf(page)).toEqual(good);
      expect(await page.locator('.unverified').count()).toBe(0);
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save the pack' }).press('Enter');
      await (await saving).saveAs(at('saved.jsonl'));
      expect(readFileSync(at('saved.jsonl'), 'utf8')).toBe(readFileSync(at('pack.jsonl'), 'utf8'));
      expect(faults).toEqual([`asked ${reportUrl}`]);
    },
  );

  verifies('cp.report.html', "has the same bytes when it is made twice, with the CSP default-src 'none'", () => {
    const html = readFileSync(at('report.html'), 'utf8');
    expect(readFileSync(at('again.html'), 'utf8')).toBe(html);
    expect(html).toContain(`content="default-src 'none'; script-src 'sha256-`);
    expect(html).not.toMatch(/unsafe-|https?:\/\/(?!json-schema)[a-z.]*countersign/);
  });

  it('can be verified with keys that its reader provides', async () => {
    const { page } = await opened();
    const second = JSON.stringify({ keys: [] });
    const file = { name: 'mine.json', mimeType: 'application/json', buffer: Buffer.from(second) };
    await page.getByLabel('Verify with your own key set or trust list').setInputFiles(file);
    await page.locator('#verdict.open').waitFor();
    expect(await answersOf(page)).toContainEqual(['signer', 'Unknown']);
  });
});
