import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import { asAdministrator } from './_administrator.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { adminKey } from './_kernel.ts';
import { approve, receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const startedAtMs = Date.parse('2026-11-21T10:00:00.000Z');
let elapsedMs = 0;
let upstreams: Upstreams;
beforeEach(async () => {
  elapsedMs = 0;
  upstreams = await startUpstreams({}, [], { clock: () => new Date(startedAtMs + elapsedMs) });
});
afterEach(() => upstreams.close());

let sessions = 0;
const newSession = () => `execute-session-${(sessions += 1)}` as SessionId;
const path = '/mcp/v1/execute';
async function execute(body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${upstreams.test.kernel.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as ExecuteBody };
}
const write = (session: string, text = 'x') => ({
  tool: 'notes.write_note',
  args: { id: 'a', text },
  session_id: session,
});
type ExecuteBody = { decision?: { approval?: { approval_id: string } }; outcome_receipt_id?: string };
const writes = () => upstreams.notes.calls.filter(({ tool }) => tool === 'write_note').length;

describe('execute', () => {
  it('executes an allowed call and answers with decision, result and outcome receipt', async () => {
    const session = newSession();
    const { status, body, headers } = await execute(write(session));
    const [decision, outcome] = await receiptsOf(upstreams.test, session);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      is_error: false,
      decision: { verdict: 'ALLOW' },
      result: { content: [{ type: 'text', text: 'Wrote a' }] },
    });
    expect([headers.get('x-gov-receipt-id'), body.outcome_receipt_id]).toEqual([
      decision?.receipt_id,
      outcome?.receipt_id,
    ]);
  });

  it.each([
    ['notes.delete_note', { id: 'a' }, 'DENY', 'POLICY_DENIED'],
    ['notes.pay', { amount: 3 }, 'ESCALATE', 'APPROVAL_REQUIRED'],
  ])('answers 403 with the decision for %s and calls nothing', async (tool, args, verdict, reason) => {
    const called = upstreams.notes.calls.length;
    const { status, body } = await execute({ tool, args, session_id: newSession() });
    expect([status, body]).toMatchObject([403, { is_error: true, decision: { verdict, reason_code: reason } }]);
    expect(upstreams.notes.calls).toHaveLength(called);
  });

  it('withholds an answer that is too large, and seals the outcome as uncertain', async () => {
    const session = newSession();
    const { body } = await execute({ tool: 'notes.fill', args: { bytes: 9_000_000 }, session_id: session });
    expect(body).toMatchObject({ is_error: true, decision: { verdict: 'ALLOW' } });
    expect(JSON.stringify(body).length).toBeLessThan(10_000);
    const [, outcome] = await receiptsOf(upstreams.test, session);
    expect(outcome).toMatchObject({ kind: 'outcome', outcome: 'uncertain' });
  });

  it('executes once with the approval that was granted for exactly this call', async () => {
    const call = { tool: 'notes.pay', args: { amount: 4 }, session_id: newSession() };
    const waiting = await execute(call);
    const grant = waiting.body.decision?.approval?.approval_id ?? '';
    await approve(upstreams.test, grant);
    expect((await execute({ ...call, args: { amount: 5 }, approval_grant: grant })).body).toMatchObject({
      decision: { reason_code: 'APPROVAL_MISMATCH' },
    });
    expect(await execute({ ...call, approval_grant: grant })).toMatchObject({ status: 200, body: { is_error: false } });
    expect(await execute({ ...call, approval_grant: grant })).toMatchObject({
      status: 403,
      body: { decision: { reason_code: 'APPROVAL_CONSUMED' } },
    });
  });

  it('replays no answer of a server that was revoked in the meantime', async () => {
    const session = newSession();
    const key = { 'idempotency-key': 'execute-revoked' };
    const stateTo = (state: string) =>
      asAdministrator(upstreams.test, `UPDATE mcp_servers SET state = $1 WHERE server_id = 'notes'`, [state]);
    expect((await execute(write(session), key)).status).toBe(200);
    await stateTo('revoked');
    const { status, body } = await execute(write(session), key);
    await stateTo('approved');
    expect([status, body.decision]).toMatchObject([403, { verdict: 'DENY', reason_code: 'SERVER_REVOKED' }]);
    expect((await execute(write(session), key)).headers.get('idempotency-replayed')).toBe('true');
  });

  it('returns one answer per Idempotency-Key, dispatches once, and refuses the key for another call', async () => {
    const session = newSession();
    const key = { 'idempotency-key': 'execute-once' };
    const before = writes();
    const [first, second] = [await execute(write(session), key), await execute(write(session), key)];
    expect(second.body).toEqual(first.body);
    expect([second.status, second.headers.get('idempotency-replayed'), writes()]).toEqual([200, 'true', before + 1]);
    expect(await execute(write(session, 'other'), key)).toMatchObject({
      status: 422,
      body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } },
    });
  });

  it('dispatches once for many simultaneous requests with one key', async () => {
    const session = newSession();
    const before = writes();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => execute(write(session), { 'idempotency-key': 'execute-race' })),
    );
    expect(writes()).toBe(before + 1);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  });

  it('never executes a call whose kernel died after the decision: it is in flight first, then uncertain', async () => {
    const body = write(newSession());
    const fingerprint = createHash('sha256').update(`POST ${path}\n`).update(JSON.stringify(body)).digest('hex');
    const before = writes();
    // Writes the rows that a kernel leaves when it dies between commit and dispatch.
    const idempotency = { key: 'execute-crashed', route: 'execute-mcp', fingerprint: `sha256:${fingerprint}` };
    const call = spawnedAgent({
      principal: 'admin',
      session: body.session_id as SessionId,
      args: body.args,
      idempotency,
    });
    const { tool } = body;
    await decideAndDie(upstreams.test.kernel.context.boundary, { ...call, kind: 'tool', tool, resource: null });
    const key = { 'idempotency-key': 'execute-crashed' };
    // The lookup of an answer must not write, because it could replace an answer that is being stored.
    await asAdministrator(
      upstreams.test,
      `ALTER TABLE idempotency_keys ADD CONSTRAINT no_write CHECK (tenant_id <> '') NOT VALID`,
    );
    expect(await execute(body, key)).toMatchObject({ status: 409, body: { error: { code: 'IDEMPOTENCY_IN_FLIGHT' } } });
    await asAdministrator(upstreams.test, 'ALTER TABLE idempotency_keys DROP CONSTRAINT no_write');
    // The server has 10 s to answer, and the outcome 30 s to be sealed.
    elapsedMs += 30_000;
    expect(await execute(body, key)).toMatchObject({ status: 409, body: { error: { code: 'IDEMPOTENCY_IN_FLIGHT' } } });
    elapsedMs += 30_000;
    expect(await execute(body, key)).toMatchObject({
      status: 200,
      body: {
        is_error: true,
        decision: { verdict: 'ALLOW' },
        result: { isError: true, _meta: { 'countersign/outcome': 'uncertain' } },
      },
    });
    expect(writes()).toBe(before);
  });

  it('stores an answer under a key that is in use, and finds it only for the same request', async () => {
    const { answers } = upstreams.test.kernel.context;
    const claim = { key: 'execute-kept', fingerprint: 'sha256:same' };
    expect(await answers.find('scope', claim)).toBeNull();
    await answers.begin('scope', claim.key, claim.fingerprint);
    expect(await answers.find('scope', claim)).toBeNull();
    const kept = { status: 200, headers: { 'x-a': 'b' }, text: '"kept"' };
    await answers.keep('scope', claim, kept);
    await answers.abandon('scope', claim.key);
    expect(await answers.find('scope', claim)).toEqual(kept);
    expect(await answers.find('scope', { ...claim, fingerprint: 'sha256:other' })).toBeNull();
    elapsedMs += 86_400_001;
    expect(await answers.find('scope', claim)).toBeNull();
  });

  it('lists the tools that may be called, with effect levels and pins', async () => {
    const response = await upstreams.test.as('acme').listMcpCapabilities();
    const effects = Object.fromEntries(response.body.tools.map(({ name, effect_level }) => [name, effect_level]));
    expect(effects).toMatchObject({
      'notes.read_note': 'E1',
      'notes.write_note': 'E2',
      'notes.delete_note': 'E4',
      'notes.pay': 'E4',
    });
    expect(response.body.tools.every(({ definition_hash }) => /^sha256:[0-9a-f]{64}$/.test(definition_hash))).toBe(
      true,
    );
  });
});
