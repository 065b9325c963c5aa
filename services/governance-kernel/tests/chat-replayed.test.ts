import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { asAdministrator } from './_administrator.ts';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const everything = 'format: countersign/policy.v1\nname: open\nversion: "1"\nrules: [{ id: all, effect: allow }]\n';
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
  await upstreams.test.activate('*', everything, 2);
});
afterAll(() => upstreams.close());

type Asking = { tenant: string; key: string };
let tenants = 0;
/** A new key with its own session and tenant. */
const newAsking = (): Asking => ({ tenant: `replayed-${(tenants += 1)}`, key: newSession() });

type Message = {
  content: string | null;
  refusal?: string;
  tool_calls?: { id: string }[];
  function_call?: object;
  countersign: { decisions: { tool: string; verdict: string; reason_code: string; receipt_id: string }[] };
};
type Choice = { finish_reason: string; logprobs: object | null; message: Message };

const called = (name: string, id = name) => ({ id, type: 'function', function: { name, arguments: '{"id":"q"}' } });
const proposing = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });

function answerWith(...messages: object[]): void {
  const choices = messages.map((message, index) => ({ index, message, logprobs: {}, finish_reason: 'tool_calls' }));
  const text = JSON.stringify({ id: 'x', choices, usage: { prompt_tokens: 1, completion_tokens: 1 } });
  upstreams.model.follow(() => (res) => void res.writeHead(200, { 'content-type': 'application/json' }).end(text));
}

async function ask({ tenant, key }: Asking, { bearer = adminKey, n = 1 } = {}) {
  const named = { 'x-gov-tenant-id': tenant, 'x-gov-principal-id': 'agent' };
  const session = { 'x-gov-session-id': key, 'idempotency-key': key };
  const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...named, ...session },
    body: JSON.stringify({ model: 'scripted', n, messages: [{ role: 'user', content: key }] }),
  });
  const text = await response.text();
  const { choices } = JSON.parse(text) as { choices: Choice[] };
  const header = (name: string) => response.headers.get(name) ?? '';
  const isReplayed = header('idempotency-replayed') === 'true';
  return { status: response.status, text, choices, isReplayed, toolCalls: header('x-gov-tool-calls') };
}

const timesAsked = (key: string) => upstreams.model.requests.filter(({ body }) => body.includes(key)).length;
const setFence = (scope: string, kind: 'quarantine' | 'open') => upstreams.test.setFence(scope, kind);
const block = (tenant: string, version: number, tools: string[]) =>
  upstreams.test.system.putToolBlocks({ params: { tenant }, body: { version, tools } });
const turnNotes = (state: string) =>
  asAdministrator(upstreams.test, `UPDATE mcp_servers SET state = $1 WHERE server_id = 'notes'`, [state]);

type Stop = { tool: string; stop: (tenant: string) => Promise<unknown>; lift: (tenant: string) => Promise<unknown> };
const fencedBy = (tool: string, scopeOf: (tenant: string) => string): Stop => ({
  tool,
  stop: (tenant) => setFence(scopeOf(tenant), 'quarantine'),
  lift: (tenant) => setFence(scopeOf(tenant), 'open'),
});
const turned = (state: string): Stop => ({
  tool: 'notes__read_note',
  stop: () => turnNotes(state),
  lift: () => turnNotes('approved'),
});

describe('a call that was released under an idempotency key', () => {
  it.each<[string, string, Stop]>([
    ['its tool is fenced', 'DENY TOOL_QUARANTINED', fencedBy('lookup', (tenant) => `tool:${tenant}/lookup`)],
    ['its tool is fenced for all tenants', 'DENY TOOL_QUARANTINED', fencedBy('all_of', () => 'tool:*/All_Of')],
    ['the server of its name is fenced', 'DENY TOOL_QUARANTINED', fencedBy('crm__find', (of) => `server:${of}/crm`)],
    [
      'the server of its name is fenced for all tenants',
      'DENY TOOL_QUARANTINED',
      fencedBy('erp__find', () => 'server:erp'),
    ],
    [
      'its workspace blocks its tool',
      'DENY TOOL_BLOCKED',
      { tool: 'crm__find', stop: (of) => block(of, 1, ['Crm.Find']), lift: (of) => block(of, 2, []) },
    ],
    ['its server was revoked', 'DENY SERVER_REVOKED', turned('revoked')],
    ['its server is in quarantine', 'ESCALATE SERVER_QUARANTINED', turned('quarantined')],
  ])('is withheld from the repeated answer when %s, and returned afterwards', async (_case, text, stopped) => {
    const asking = newAsking();
    const { tenant, key } = asking;
    answerWith(proposing(called(stopped.tool)));
    const first = await ask(asking);
    expect(first.choices[0]?.message.tool_calls).toHaveLength(1);

    await stopped.stop(tenant);
    const [again, fresh] = [await ask(asking), await ask({ tenant, key: newSession() })];
    await stopped.lift(tenant);

    expect([again.status, again.isReplayed, fresh.isReplayed]).toEqual([200, true, false]);
    const [choice] = again.choices;
    expect(choice).toMatchObject({ finish_reason: 'stop', logprobs: null });
    expect(Object.keys(choice?.message ?? {})).toEqual(Object.keys(fresh.choices[0]?.message ?? {}));
    expect(choice?.message).not.toHaveProperty('tool_calls');
    expect(choice?.message.content).toContain(`was not executed: ${text}`);
    // The new refusal is sealed after the three receipts of the first answer.
    const [sealed] = (await receiptsOf(upstreams.test, key)).slice(3);
    expect(`${sealed?.verdict} ${sealed?.reason_code}`).toBe(text);
    const [verdict, reason_code] = text.split(' ');
    const { receipt_id } = sealed ?? {};
    expect(choice?.message.countersign.decisions).toMatchObject([{ verdict, reason_code, receipt_id }]);
    expect(again.toolCalls).toBe(`${sealed?.tool};${verdict};${reason_code};${receipt_id}`);

    expect(await ask(asking)).toEqual({ ...first, isReplayed: true });
    expect(timesAsked(key)).toBe(1);
  });

  it('is withheld from an access key without the tool, and returned to a key with the tool', async () => {
    const asking = newAsking();
    const keyFor = async (tools?: string[]) => {
      const body = { kind: 'agent', principal_id: 'agent', tools } as never; // the kernel fills in the defaults
      return { bearer: (await upstreams.test.as(asking.tenant).createAccessKey({ body })).body.key };
    };
    answerWith(proposing(called('lookup')));
    const [all, same, few] = [await keyFor(), await keyFor(['lookup']), await keyFor(['other'])];
    const first = await ask(asking, all);
    const refused = await ask(asking, few);
    expect(refused.choices[0]?.message).not.toHaveProperty('tool_calls');
    expect(refused.choices[0]?.message.content).toContain('DENY INSUFFICIENT_SCOPE');
    expect(await ask(asking, same)).toEqual({ ...first, isReplayed: true });
  });

  it.each<[string, object]>([
    ['as the legacy function call', { role: 'assistant', content: 'Hm.', function_call: called('lookup').function }],
    ['as a custom call', proposing({ id: 'c', type: 'custom', custom: { name: 'lookup', input: 'q' } })],
  ])('is withheld from the repeated answer %s as well', async (_case, message) => {
    const asking = newAsking();
    answerWith(message);
    const first = await ask(asking);
    await setFence(`tool:${asking.tenant}/lookup`, 'quarantine');
    const again = await ask(asking);
    expect(first.text).toMatch(/"(tool_calls|function_call)":/);
    expect(again.text).not.toMatch(/"(tool_calls|function_call)":/);
    expect(again.choices[0]?.message.content).toContain('DENY TOOL_QUARANTINED');
  });

  it('is withheld alone: the other calls and choices are replayed', async () => {
    const asking = newAsking();
    const malformed = { ...called('find', 'c0'), function: { name: 'find', arguments: '[' } };
    answerWith(
      proposing(malformed, called('lookup', 'c1'), called('sum', 'c2'), called('lookup', 'c3')),
      proposing(called('sum', 'c4')),
    );
    const first = await ask(asking, { n: 2 });
    await setFence(`tool:${asking.tenant}/lookup`, 'quarantine');
    const again = await ask(asking, { n: 2 });
    const [mixed, untouched] = again.choices;
    expect(mixed?.message.tool_calls?.map(({ id }) => id)).toEqual(['c2']);
    expect(mixed?.finish_reason).toBe('tool_calls');
    expect(mixed?.message.content).toContain(first.choices[0]?.message.content);
    expect(mixed?.message.countersign.decisions.map(({ reason_code }) => reason_code)).toEqual([
      ...['MALFORMED_ARGUMENTS', 'TOOL_QUARANTINED', 'ALLOWED', 'TOOL_QUARANTINED'],
    ]);
    expect(untouched).toEqual(first.choices[1]);
    const sealed = (await receiptsOf(upstreams.test, asking.key)).slice(7);
    expect(sealed.map(({ tool, verdict }) => [tool, verdict])).toEqual([
      ['lookup', 'DENY'],
      ['lookup', 'DENY'],
    ]);
  });
});

describe('an answer without a stopped call', () => {
  verifies('kn.chat.once', 'is repeated unchanged, whatever else is fenced, and uses nothing twice', async () => {
    const asking = newAsking();
    const { tenant, key } = asking;
    const budget = { subject: 'tool:lookup', window: 'total', tool_call_limit: 1 } as never; // branded by the schema
    await upstreams.test.as(tenant).putBudget({ params: { budget_id: 'once' }, body: budget });
    answerWith(proposing(called('lookup')));
    const first = await ask(asking);
    expect(first.choices[0]?.message.tool_calls).toHaveLength(1);
    await setFence(`tool:${tenant}/other`, 'quarantine');
    await block(tenant, 1, ['other']);
    for (let repeat = 0; repeat < 2; repeat += 1) expect(await ask(asking)).toEqual({ ...first, isReplayed: true });
    expect((await upstreams.test.as(tenant).listBudgets()).body.data[0]?.used.tool_calls).toBe(1);
    expect(await receiptsOf(upstreams.test, key)).toHaveLength(3);
  });

  it('is repeated unchanged when it is text, whatever tools are fenced', async () => {
    await setFence('tool:*/nobodys', 'quarantine');
    answerWith({ role: 'assistant', content: 'nobodys' });
    const asking = newAsking();
    const first = await ask(asking);
    expect(await ask(asking)).toEqual({ ...first, isReplayed: true });
  });

  it('is repeated when it is a fault of the model server, whatever tools are fenced', async () => {
    await setFence('tool:*/nobodys', 'quarantine');
    upstreams.model.follow(() => (res) => void res.destroy());
    const asking = newAsking();
    await ask(asking);
    expect(await ask(asking)).toMatchObject({ status: 409, isReplayed: true });
  });
});
