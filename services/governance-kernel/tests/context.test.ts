import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import fc from 'fast-check';
import { assertNoAuthority, reservedContextKeys } from '../src/call/reserved-context.ts';
import { Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';

/** A careless policy, which trusts a value in `context`. */
const policy = `
format: countersign/policy.v1
name: careless
version: '1'
rules:
  - id: admins
    effect: allow
    match: { tool: [admin] }
    when: tenant == 'root' || principal == 'root' || (has(context.trust) && context.trust == 'high')
  - { id: channels, effect: allow, match: { tool: [post] }, when: "has(context.channel) && context.channel == 'web'" }
`;

let test: TestKernel;
let agent: Caller;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', policy);
  agent = new Caller(test);
});
afterAll(() => test.close());

const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const pascal = (key: string) => camel(key).replace(/^./, (letter) => letter.toUpperCase());
const fullWidth = (key: string) =>
  key.replace(/[a-z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0));

const spellings: ((key: string) => string)[] = [
  (key) => key,
  (key) => key.toUpperCase(),
  camel,
  pascal,
  (key) => key.replaceAll('_', '-'),
  (key) => key.replaceAll('_', '.'),
  (key) => key.replaceAll('_', ''),
  (key) => key.replaceAll('_', ' '),
  (key) => `x-gov-${key.replaceAll('_', '-')}`,
  (key) => `X-Gov-${pascal(key)}`,
  (key) => `gov_${key}`,
  (key) => `XGov${pascal(key)}`,
  (key) => ` ${key} `,
  (key) => `__${key}__`,
  (key) => key.replace(/^./, '$&\u200b'),
  (key) => key.replace(/[aeiou]/, '$&\u0301'),
  fullWidth,
];

describe('authority', () => {
  verifies(
    'kn.context',
    `cannot be claimed in context: ${reservedContextKeys.length} names in ${spellings.length} spellings are refused`,
    async () => {
      const taken = reservedContextKeys.flatMap((key) => spellings.map((spell) => spell(key)));
      const accepted = taken.filter((key) => {
        try {
          assertNoAuthority({ channel: 'web', [key]: 'root' });
          return true;
        } catch {
          return false;
        }
      });
      expect(accepted).toEqual([]);
    },
  );

  verifies('kn.context', 'cannot be claimed under any mixture of case and separators', () => {
    const letter = fc.tuple(fc.constantFrom('', '_', '-', '.', ' ', '\u200d', '\u00ad'), fc.boolean());
    const disguised = fc
      .constantFrom(...reservedContextKeys)
      .chain((key) =>
        fc
          .array(letter, { minLength: key.length, maxLength: key.length })
          .map((marks) =>
            [...key].map((char, at) => `${marks[at]?.[0] ?? ''}${marks[at]?.[1] ? char.toUpperCase() : char}`).join(''),
          ),
      );
    fc.assert(fc.property(disguised, (key) => expect(() => assertNoAuthority({ [key]: 1 })).toThrow('reserved')));
  });

  verifies(
    'kn.context',
    'in context is rejected with 400 and the name of the key, without a decision or a receipt',
    async () => {
      for (const key of ['tenant_id', 'roles', 'approvalId', 'X-Gov-Principal-Id', 'security_context_trusted']) {
        const session_id = newSession();
        const call = agent.decide({ tool: 'admin', session_id, context: { [key]: 'root' } });
        await expect(call).rejects.toMatchObject({ code: 'RESERVED_CONTEXT_KEY', param: `context.${key}` });
        expect(await ledgerOf(test, session_id)).toEqual([]);
      }
      expect(await refusal(agent.decide({ tool: 'post', context: { channel: 'web', tenant: 'root' } }))).toBe(
        'RESERVED_CONTEXT_KEY',
      );
      expect(answerOf(await agent.decide({ tool: 'post', context: { channel: 'web' } }))).toBe('ALLOW ALLOWED');
    },
  );

  verifies('kn.context', 'cannot be claimed in arguments, which are data under any name', async () => {
    const args = Object.fromEntries(reservedContextKeys.map((key) => [key, 'root']));
    const reply = await agent.decide({ tool: 'admin', args: args });
    expect(answerOf(reply)).toBe('DENY NO_MATCHING_RULE');
    expect(reply.receipt.payload).toMatchObject({ tenant_id: 'acme', principal_id: 'agent' });
  });

  verifies('kn.context', 'cannot be claimed in members of the body or in the query', async () => {
    for (const member of [
      'tenant_id',
      'principal_id',
      'roles',
      'verdict',
      'policy_hash',
      'approved',
      'dispatched_by',
      'caller',
      'facts',
    ]) {
      const { status, session } = await raw({ body: { [member]: 'root' } });
      expect([member, status, await ledgerOf(test, session)]).toEqual([member, 400, []]);
    }
    for (const query of ['?principal_id=root', '?roles=root', '?tenant_id=root', '?tenant_id=acme&tenant_id=root']) {
      const { status, session } = await raw({ query });
      expect([query, status, await ledgerOf(test, session)]).toEqual([query, 400, []]);
    }
  });

  verifies('kn.context', 'cannot be claimed in headers, except in those that identify the caller', async () => {
    const names = [
      ...reservedContextKeys.map((key) => `x-gov-${key.replaceAll('_', '-')}`),
      'x-tenant-id',
      'x-user-id',
      'x-forwarded-user',
      'x-roles',
    ];
    // Operators name the tenant and the principal in these two headers.
    const headers = Object.fromEntries(
      names.filter((name) => !['x-gov-tenant-id', 'x-gov-principal-id'].includes(name)).map((name) => [name, 'root']),
    );
    const { status, body, session } = await raw({ headers });
    expect([status, body['verdict'], body['reason_code']]).toEqual([200, 'DENY', 'NO_MATCHING_RULE']);
    expect((await ledgerOf(test, session))[0]?.payload).toMatchObject({
      tenant_id: 'acme',
      principal_id: 'agent',
      session_id: session,
    });
  });

  it('over a tenant must be proven: requests without a tenant or with a wrong credential are rejected', async () => {
    expect((await raw({ headers: { 'x-gov-tenant-id': '' } })).status).toBe(400);
    expect((await raw({ headers: { authorization: 'Bearer nonsense' } })).status).toBe(401);
    expect((await raw({ headers: { authorization: `Bearer ${test.env['GOV_SERVICE_API_KEY']}` } })).status).toBe(401);
  });
});

type Raw = { headers?: Record<string, string>; body?: object; query?: string };

async function raw({ headers = {}, body = {}, query = '' }: Raw) {
  const session = newSession();
  const response = await fetch(`${test.kernel.url}/api/v1/evaluate${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'acme',
      'x-gov-principal-id': 'agent',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ action: 'tool.call', tool: 'admin', session_id: session, ...body }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown>, session };
}
