import { text as textOf } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { readTrust, verifyText } from '@countersign/verifier';
import { useConsole } from './_console.ts';
import { addressBook, kernelClient, signIn } from './_system.ts';

const address = addressBook();
const desk = useConsole();

it('the keys j and k lead from a receipt to its neighbours, and its download verifies offline', async () => {
  const email = address('ada');
  const { client, workspaceId } = await signIn(desk.system, email);
  const kernel = kernelClient(desk.system, workspaceId);
  const { key } = (await client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const session = `walk-${workspaceId}`;
  const call = async (tool: string) => {
    const body = JSON.stringify({ action: 'tool.call', tool, effect_level: 'E1', session_id: session, args: {} });
    const answer = await fetch(new URL('/api/v1/evaluate', desk.system.gatewayUrl), {
      method: 'POST',
      headers,
      body,
    });
    return ((await answer.json()) as { receipt_id: string }).receipt_id;
  };
  const ids = [await call('crm.first'), await call('crm.second'), await call('crm.third')];
  const { page, faults } = await desk.visitAs(email, `/console/activity/${ids[1]}`);
  await page.getByText('Genuine and unchanged').waitFor();

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download receipt' }).press('Enter'),
  ]);
  expect(download.suggestedFilename()).toBe(`${ids[1]}.jsonl`);
  const text = await textOf(await download.createReadStream());
  const trust = readTrust((await kernel.listTrustKeys()).body, { provider: nodeProvider });
  const options = { trust, provider: nodeProvider, partial: true, require: ['integrity'] } as const;
  const report = verifyText(text, options);
  expect(report).toMatchObject({ verdict: 'VERIFIED', receipts: 1 });
  expect(text).toContain(ids[1]);
  expect(verifyText(text.replaceAll('crm.second', 'crm.altered'), options).verdict).not.toBe('VERIFIED');

  await page.locator('main').press('j');
  await page.getByRole('heading', { level: 1, name: /crm\.third/ }).waitFor();
  await page
    .getByRole('link', { name: /crm\.second/ })
    .first()
    .waitFor();
  await page.locator('main').press('k');
  await page.getByRole('heading', { level: 1, name: /crm\.second/ }).waitFor();
  expect(faults).toEqual([]);
});
