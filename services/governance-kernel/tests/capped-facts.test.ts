import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAppError } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { restoreIntent } from '@countersign/policy';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { verifies } from '@countersign/testkit/verifies';
import { send, Caller, ledgerOf, newSession, answerOf, type Call } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: reads much
version: '1'
rules:
  - { id: any, effect: allow, match: { action: [tool.call], tool: [x.y] }, when: "size(args) >= 0 && size(context) >= 0" }
  - { id: one, effect: allow, match: { action: [tool.call], tool: [x.y] } }
  - id: asks
    effect: escalate
    match: { action: [tool.call], tool: [ask.person] }
    when: has(args.text) && args.text.size() > 0
tools:
  x.y: { effect_level: E1 }
  ask.person: { effect_level: E1 }
`;
const narrow = policy.replace(
  'size(args) >= 0 && size(context) >= 0',
  'has(args.text) && has(context.note) && has(args.a.b)',
);

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', policy);
  await test.activate('narrow', narrow);
});
afterAll(() => test.close());

const long = (end: string) => `${'the same beginning '.repeat(300)}${end}`;

async function verdictOfExport(session_id: string, tenant = 'acme') {
  const { body } = await test.as(tenant).exportReceipts({ query: { session_id: session_id } });
  const trust = parseKeySet((await test.as(tenant).listTrustKeys()).body);
  const lines = body.map((line) => JSON.stringify(line));
  return verifyExport(lines, { trust, provider: nodeProvider });
}

describe('a fact above the cap', () => {
  it('is in the record by hash and length, and its export verifies', async () => {
    const call = {
      tool: 'x.y',
      session_id: newSession(),
      args: { text: long('one'), a: { b: 1 } },
      context: { note: 'short' },
    };
    expect(answerOf(await new Caller(test, 'narrow').decide(call))).toBe('ALLOW ALLOWED');
    const [sealed] = await ledgerOf(test, call.session_id);
    expect(sealed?.record?.intent.facts).toMatchObject({ 'args.a.b': 1, 'context.note': 'short' });
    expect(sealed?.record?.intent.facts).not.toHaveProperty(['args.text']);
    const hash: unknown = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
    expect(sealed?.record?.intent.capped_facts).toEqual({ 'args.text': { hash, bytes: long('one').length + 2 } });
    expect(await verdictOfExport(call.session_id, 'narrow')).toMatchObject({ verdict: 'VERIFIED' });
    if (!sealed?.record) throw new Error('it has a record');
    expect(restoreIntent(sealed.record)).toMatchObject({ kind: 'UNREPLAYABLE', missing: ['args.text'] });
  });

  it('has a different hash for each tenant, so it cannot be guessed from a known text', async () => {
    const hashes: unknown[] = [];
    for (const tenant of ['acme', 'globex', 'acme']) {
      const call = { tool: 'ask.person', session_id: newSession(), args: { text: long('one') } };
      await new Caller(test, tenant).decide(call);
      const [sealed] = await ledgerOf(test, call.session_id);
      hashes.push(Object.values(sealed?.record?.intent.capped_facts ?? {})[0]?.hash);
    }
    expect(new Set(hashes).size).toBe(2);
    expect(hashes[0]).toBe(hashes[2]);
  });

  it('is not confused with an argument that looks like a hash, which is a fact in full', async () => {
    const like = { hash: `sha256:${'0'.repeat(64)}`, bytes: 5000 };
    const call = { tool: 'x.y', session_id: newSession(), args: { text: like, a: { b: 1 } }, context: { note: 1 } };
    await new Caller(test, 'narrow').decide(call);
    const [sealed] = await ledgerOf(test, call.session_id);
    expect(sealed?.record?.intent.facts['args.text']).toEqual(like);
    expect(sealed?.record?.intent).not.toHaveProperty('capped_facts');
  });
});

describe('an approval of a call with a fact above the cap', () => {
  const question = (args: object, context = {}) => ({ tool: 'ask.person', session_id, args, context }) as Call;
  let session_id = newSession();

  verifies('kn.approve.loop', 'covers the whole value: a different ending needs its own approval', async () => {
    session_id = newSession();
    const [agent, alice] = [new Caller(test), new Caller(test, 'acme', 'alice')];
    const approval = send(await agent.decide(question({ text: long('pay alice') })));
    await alice.move('approve', approval);
    expect(answerOf(await agent.decide(question({ text: long('pay mallory') })))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(answerOf(await agent.decide(question({ text: long('pay alice') })))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.approve.loop', 'shows hash and length, and the arguments while it is pending', async () => {
    session_id = newSession();
    const approval = send(await new Caller(test).decide(question({ text: long('x') })));
    const shown: Approval = await new Caller(test, 'acme', 'alice').approval(approval);
    const [sealed] = await ledgerOf(test, session_id);
    expect(shown.capped_facts).toEqual(sealed?.record?.intent.capped_facts);
    expect(shown.judged_hash).toBe(sealed?.record?.judged_hash);
    expect(JSON.stringify(shown.facts)).not.toContain('the same beginning');
    expect(shown.args).toEqual({ text: long('x') });
  });

  verifies('kn.approve.loop', 'may be requested beforehand, and covers the context above the cap as well', async () => {
    await test.activate('beforehand', policy.replace('has(args.text) && args.text.size() > 0', 'has(context.note)'));
    session_id = newSession();
    const [agent, alice] = [new Caller(test, 'beforehand'), new Caller(test, 'beforehand', 'alice')];
    const question = {
      action: 'tool.call',
      tool: 'ask.person',
      session_id,
      context: { note: long('one') },
      reason: 'r',
    };
    const { body } = await agent.client.createApproval({ body: question as never }); // the kernel fills in the defaults
    await alice.move('approve', body.approval_id);
    const call = (note: string) => ({ tool: 'ask.person', session_id, context: { note } }) as Call;
    expect(answerOf(await agent.decide(call(long('two'))))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(answerOf(await agent.decide(call(long('one'))))).toBe('ALLOW ALLOWED');
  });
});

it('the facts in the record of any accepted call have at most 4096 bytes each, and its export verifies', async () => {
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
    fc.constantFrom('x', '"', '☃', '\u0001', '😀').chain((unit) => fc.nat(150_000).map((times) => unit.repeat(times))),
    fc.constantFrom(680, 681, 682, 683, 4094, 4095).map((length) => 'é'.repeat(length)),
  );
  const value = fc.oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.jsonValue({ maxDepth: 3 }),
    fc.array(text, { maxLength: 3 }),
  );
  const members = fc.dictionary(fc.constantFrom('text', 'a', 'b', 'note', 'long name'), value, { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(members, members, fc.constantFrom('acme', 'narrow'), async (args, context, tenant) => {
      const session_id = newSession();
      const call = { tool: 'x.y', session_id, args, context } as Call;
      try {
        await new Caller(test, tenant).decide(call);
      } catch (error) {
        if (!isAppError(error) || !notTaken.has(error.code)) throw error;
        const bytes = Buffer.byteLength(JSON.stringify({ action: 'tool.call', ...call }));
        expect(error.code === 'PAYLOAD_TOO_LARGE' ? bytes > 1_000_000 : true).toBe(true);
        return;
      }
      expect(await verdictOfExport(session_id, tenant)).toMatchObject({ verdict: 'VERIFIED', receipts: 1 });
      const [sealed] = await ledgerOf(test, session_id);
      for (const fact of Object.values(sealed?.record?.intent.facts ?? {}))
        expect(Buffer.byteLength(JSON.stringify(fact))).toBeLessThanOrEqual(4096);
    }),
    { numRuns: 40 },
  );
});

/**
 * Error codes of bodies that the route rejects before a decision: too large, or with values that it does not accept.
 */
const notTaken = new Set(['PAYLOAD_TOO_LARGE', 'LONE_SURROGATE', 'UNKNOWN_MEMBER', 'NUMBER_OUT_OF_RANGE']);
