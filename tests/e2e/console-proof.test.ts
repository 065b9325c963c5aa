import { beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { axeFindings, useConsole, type Visitor } from './_console.ts';
import { everyLook, faultsOf } from './_faults-of-page.ts';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient, signIn } from './_system.ts';
import { codeOf, Tab } from './_tab.ts';

const address = addressBook();

const desk = useConsole();
let handle: string;
let original: string;
/** The id of a replay. */
let replayed: string;

type Members = Record<string, unknown>;

beforeAll(async () => {
  const { client, workspaceId } = await signIn(desk.system, address('ada'));
  const { key } = (await client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const evaluated = await fetch(new URL('/api/v1/evaluate', desk.system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'tool.call', tool: 'crm.read', effect_level: 'E1', session_id: 's', args: {} }),
  });
  const { receipt_id } = (await evaluated.json()) as { receipt_id: string };
  const tab = new Tab(desk.system.gatewayUrl);
  await tab.signIn(address('ada'));
  const body = { object_id: receipt_id, public: true };
  const headers = { 'x-workspace-id': workspaceId };
  handle = String((await tab.send('/api/audit/handles', { method: 'POST', body, headers })).body['handle']);
  const ask = (path: string, members: object) => tab.send(path, { method: 'POST', body: members, headers });
  const { replay_id } = (await ask('/api/v1/replays', { session_id: 's' })).body;
  // There is nothing to publish before the replay is done.
  replayed = await untilAnswered(async () => {
    const made = await ask('/api/audit/handles', { object_id: replay_id, public: true });
    return made.status === 201 && String(made.body['handle']);
  });
  const receipt = await kernelClient(desk.system, workspaceId).getReceipt({ params: { receipt_id } });
  original = JSON.stringify(receipt.body);
});

async function opened(): Promise<Visitor> {
  const visitor = await desk.visit();
  await visitor.page.goto(`/console/p/${handle}`);
  await visitor.page.getByRole('button', { name: 'Verify here' }).waitFor();
  await visitor.page.getByText('Keys in use').waitFor();
  return visitor;
}

const file = (text: string) => ({ name: 'receipt.json', mimeType: 'application/json', buffer: Buffer.from(text) });

describe('the page of a public proof', () => {
  verifies(
    'cp.public.browser',
    'proves by keyboard, without a session, that the receipt is in the signed log',
    async () => {
      const { page, context, faults } = await opened();
      await page.keyboard.press('v');
      await page.getByText('Verified in this browser').waitFor();
      expect(await page.getByText('this does not prove').isVisible()).toBe(true);
      expect(faults).toEqual([]);
      expect(await context.cookies()).toEqual([]);
    },
  );

  verifies(
    'cp.public.browser',
    'accepts the original, rejects a changed one, and sends no byte of either',
    async () => {
      const { page, context, faults } = await opened();
      const sent: string[] = [];
      context.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`));
      page.on('websocket', (socket) => sent.push(`socket ${socket.url()}`));
      const input = page.getByLabel('Drop the original receipt here');
      await input.setInputFiles(file(original));
      await page.getByText('The file is the original').waitFor();
      const { payload } = JSON.parse(original) as { payload: Members };
      const changed = original.replace(String(payload['args_hash']), `sha256:${'0'.repeat(64)}`);
      for (const text of [changed, original.slice(1), '{}']) {
        await input.setInputFiles(file(text));
        await page.getByText('It does not verify').waitFor();
        await input.setInputFiles(file(original));
        await page.getByText('The file is the original').waitFor();
      }
      const transfer = await page.evaluateHandle(
        `(() => { const t = new DataTransfer(); t.items.add(new File([${JSON.stringify(changed)}], 'r.json')); return t; })()`,
      );
      await page.locator('.drop').dispatchEvent('drop', { dataTransfer: transfer });
      await page.getByText('It does not verify').waitFor();
      expect(sent.filter((line) => !/^GET \S+\/console\/assets\/[\w.-]+ $/.test(line))).toEqual([]);
      expect(faults).toEqual([]);
    },
  );

  verifies(
    'cp.public.browser',
    'trusts the keys that it pinned at the first visit, even when the server later lists others',
    async () => {
      const { page, context } = await opened();
      const second = 'A'.repeat(43);
      await context.route('**/api/v1/signing-key', async (route) => {
        const { keys } = (await (await route.fetch()).json()) as { keys: Members[] };
        await route.fulfill({
          json: { keys: keys.map((key) => ({ ...key, x: second, kid: 'forged' + String(key['kid']) })) },
        });
      });
      await page.reload();
      await page.getByText('They are not used').waitFor();
      await page.keyboard.press('v');
      await page.getByText('Verified in this browser').waitFor();
      await page.getByRole('button', { name: 'Pin the current keys' }).click();
      await page.getByRole('button', { name: 'Verify here' }).click();
      await page.getByText('It does not verify').waitFor();
      // The page may be polling.
      await context.unrouteAll({ behavior: 'wait' });
    },
  );

  verifies('ui.pages', 'has no accessibility fault, in both themes and at both widths', async () => {
    const { page } = await opened();
    await page.keyboard.press('v');
    await page.getByText('Verified in this browser').waitFor();
    expect(await faultsOf(page, everyLook)).toEqual([]);
  });

  it('shows the findings of a replay, and not who called what', async () => {
    const { page, faults } = await desk.visit();
    await page.goto(`/console/p/${replayed}`);
    await page.getByText('What is published about this replay').waitFor();
    await page.getByText('ALLOW is now ALLOW').waitFor();
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).toContain('replay_hash');
    expect(text).not.toContain('crm.read');
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});

describe('handles', () => {
  const here = ({ workspaceId }: Person) => ({ 'x-workspace-id': workspaceId });
  const make = async (who: Person, body: Members) =>
    (await who.tab.send('/api/audit/handles', { method: 'POST', body, headers: here(who) })).body;
  const list = async (who: Person, query = '') => {
    const answer = await who.tab.send(`/api/audit/handles${query}`, { headers: here(who) });
    return { ...answer, body: answer.body as { data: Members[]; next_cursor: string | null } };
  };

  verifies('cp.public', 'are listed for their workspace alone, newest first, until they are revoked', async () => {
    const ada = await personAt(desk.system.gatewayUrl, address('ada'));
    const fay = await personAt(desk.system.gatewayUrl, address('fay'));
    expect((await list(fay)).body).toEqual({ data: [], next_cursor: null });
    expect((await list(ada)).body.data.map(({ handle: named }) => named)).toEqual([replayed, handle]);
    expect(codeOf(await list(fay, '?cursor=bm9uc2Vuc2U'))).toEqual([400, 'INVALID_REQUEST']);
    const { object_id } = (await list(ada)).body.data[1] ?? {};
    const kept = await make(ada, { object_id });
    const { data } = (await list(ada)).body;
    expect(data).toMatchObject([
      { handle: kept['handle'], public: false, url: null, object_id },
      { handle: replayed, public: true, kind: 'replay' },
      { handle, public: true, kind: 'receipt', object_id, url: `${desk.origin}/console/p/${handle}` },
    ]);
    const first = (await list(ada, '?limit=2')).body;
    const second = (await list(ada, `?limit=2&cursor=${String(first.next_cursor)}`)).body;
    expect([first.data, second.data, second.next_cursor]).toEqual([data.slice(0, 2), data.slice(2), null]);
    const taken = `/api/evidence/${String(kept['handle'])}`;
    expect((await fay.tab.send(taken, { method: 'DELETE', headers: here(fay) })).status).toBe(404);
    expect((await ada.tab.send(taken, { method: 'DELETE', headers: here(ada) })).status).toBe(200);
    expect((await list(ada)).body.data).toEqual(data.slice(1));
  });
});
