import { beforeAll, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { Authenticator } from '@countersign/testkit/authenticator';
import { beginVote, readVote } from '../src/controls/approvals/passkey-vote.ts';
import { challengeOf, type Challenge } from '../src/controls/passkeys/challenges.ts';
import type { PasskeyRow } from '../src/controls/passkeys/passkeys.ts';
import { publicKeyOf, verifyAttestation } from '../src/controls/passkeys/webauthn.ts';
import { digest, electorate, nowMs, rowWith } from './_approval-row.ts';
import { refusalTo, ulid } from './_ledger.ts';

const party = { id: 'kernel.example', origin: 'https://kernel.example' };
const authenticator = new Authenticator(party.origin);
let passkey: PasskeyRow;
beforeAll(async () => {
  const challenge = Buffer.alloc(32, 1).toString('base64url');
  const enrolled = await verifyAttestation(authenticator.create(challenge) as never, { challenge, party });
  const whose = { tenant: 'acme', principal: 'bob', transports: ['usb'], activatedAtMs: 1, revokedAtMs: null };
  passkey = { ...enrolled, ...whose } as never; // unbranded strings
});

const row = rowWith({ id: `apr_${ulid}`, quorum: 2, resource: 'mail:ada', approvers: ['ann', 'bob'] });
const question = {
  ...{
    electorate: electorate(),
    asserted: null,
    approval: row,
    by: 'bob',
    decision: 'approve',
    expectedCeremonyHash: row.ceremonyHash,
    ttlMs: 60_000,
  },
};
const place = { tenant: 'acme', principal: 'bob', purpose: 'approval', subject: row.id };

/** A kernel with one passkey and the challenges that it issued. */
function kernel(changes: object = {}) {
  const values: Challenge[] = [];
  const deps = {
    ...{ provider: nodeProvider, clock: () => new Date(nowMs), newUlid: () => ulid, party },
    challenges: {
      put: (challenge: Challenge) => Promise.resolve(void values.push(challenge)),
      take: (of: object) =>
        Promise.resolve(JSON.stringify(of) === JSON.stringify(place) ? (values.shift() ?? null) : null),
    },
    findPasskey: ({ tenant, id }: { tenant: string; id: string }) =>
      Promise.resolve(tenant === 'acme' && id === passkey.id ? passkey : null),
    listLiving: ({ tenant, principal }: { tenant: string; principal: string }) =>
      Promise.resolve(tenant === 'acme' && principal === 'bob' ? [passkey] : []),
    ...changes,
  } as never; // unbranded strings
  return { given: values, parts: deps };
}
const asking = (changes: object = {}, deps = kernel().parts) => beginVote(deps, { ...question, ...changes } as never); // unbranded

describe('a passkey challenge', () => {
  it.each([
    [60_000, '2026-03-01T12:01:00.000Z'],
    [300_000, '2026-03-01T12:05:00.000Z'],
    [600_000, '2026-03-01T12:05:00.000Z'],
  ])('with a TTL of %d ms states the whole decision and expires at %s', async (ttlMs, until) => {
    const { given, parts } = kernel();
    const answer = await asking({ ttlMs }, parts);
    const { nonce, ...statement } = answer.statement;
    expect(statement).toEqual({
      ...{ type: 'countersign.approval-ceremony.v1', approval_id: row.id, tenant_id: 'acme', approver_id: 'bob' },
      ...{ decision: 'approve', action: 'tool.call', tool: 'mail.send', resource: 'mail:ada', effect_level: 'E3' },
      ...{ intent_hash: digest('b'), judged_hash: digest('c'), policy_hash: digest('d') },
      ...{ ceremony_hash: row.ceremonyHash, approval_expires_at: '2026-03-01T12:00:01.000Z' },
      ...{ rp_id: party.id, origin: party.origin, expires_at: until },
    });
    expect(nonce).toMatch(/^[\w-]{43}$/);
    const { id, challenge, expiresAtMs } = answer;
    expect([id, answer.createdAtMs, expiresAtMs]).toEqual([`wch_${ulid}`, nowMs, Date.parse(until)]);
    expect(challenge).toBe(challengeOf(nodeProvider, answer.statement));
    expect(answer.options).toMatchObject({ challenge, rpId: party.id, allowCredentials: [{ id: passkey.id }] });
    expect(given).toEqual([{ ...place, id, challenge, statement: answer.statement, expiresAtMs }]);
  });

  it('contains the reason for a break-glass decision, but for no other decision', async () => {
    const { statement } = await asking({ decision: 'break_glass', reason: ' a fire ' });
    expect(statement).toMatchObject({ decision: 'break_glass', reason: 'a fire' });
    expect((await asking({ decision: 'deny', reason: 'no' })).statement).not.toHaveProperty('reason');
  });

  it.each<[string, object, object, object]>([
    ['for an outdated state', { expectedCeremonyHash: digest('f') }, {}, { code: 'PRECONDITION_FAILED' }],
    ['to a person who may not vote', { by: 'zoe' }, {}, { code: 'PERMISSION_DENIED' }],
    ['to a person without a passkey', { by: 'ann' }, {}, { code: 'PASSKEY_REQUIRED' }],
    ['without a reason', { decision: 'break_glass' }, {}, { code: 'INVALID_REQUEST', param: 'reason' }],
    ['if passkeys are unavailable', {}, { party: null }, { code: 'PASSKEYS_UNAVAILABLE' }],
    [
      'after the expiry of the approval',
      {},
      { clock: () => new Date(nowMs + 1000) },
      { code: 'ILLEGAL_TRANSITION', details: { state: 'expired', allowed: [] } },
    ],
  ])('is not issued %s', async (_what, changes, site, report) => {
    const { given, parts } = kernel(site);
    expect(await refusalTo(asking(changes, parts))).toMatchObject(report);
    expect(given).toEqual([]);
  });
});

describe('an answer with a passkey', () => {
  async function answered(changes: object = {}, site: object = {}) {
    const { given, parts } = kernel();
    const { id: challengeId, challenge, statement } = await asking({}, parts);
    const assertion = authenticator.get(challenge);
    const answer = { tenant: 'acme', by: 'bob', id: row.id, challengeId, assertion, ...changes };
    const read = readVote({ ...(parts as object), ...site } as never, answer as never); // unbranded strings
    return { given, statement, assertion, read };
  }

  it('contains the signed statement and all evidence to verify it again', async () => {
    const { given, statement, assertion, read } = await answered();
    const { id, publicKey } = passkey;
    expect(await read).toEqual({
      statement,
      use: { id, publicKey, counter: authenticator.counter, isBackedUp: false },
      evidence: {
        ...{ credential: 'passkey', credential_id: id, public_key: publicKeyOf(publicKey), statement },
        client_data_json: assertion.response.clientDataJSON,
        authenticator_data: assertion.response.authenticatorData,
        signature: assertion.response.signature,
      },
    });
    expect(given).toEqual([]);
  });

  const found = (changes: object | null) => ({
    findPasskey: () => Promise.resolve(changes === null ? null : { ...passkey, ...changes }),
  });
  it.each<[string, object, () => object]>([
    ['to another challenge', { challengeId: 'wch_other' }, () => ({})],
    ['for another approval', { id: 'apr_2' }, () => ({})],
    ['by a person without a challenge', { by: 'ann' }, () => found({ principal: 'ann' })],
    ['in another tenant', { tenant: 'globex' }, () => found({})],
    ['with the passkey of another person', {}, () => found({ principal: 'ann' })],
    ['with an unknown passkey', {}, () => found(null)],
    ['with another key', {}, () => found({ publicKey: passkey.publicKey.slice(0, -8) })],
    ['after the expiry of the challenge', {}, () => ({ clock: () => new Date(nowMs + 60_000) })],
  ])('is refused %s', async (_what, changes, site) => {
    const { read } = await answered(changes, site());
    expect(await refusalTo(read)).toMatchObject({ code: 'PASSKEY_REFUSED' });
  });

  it('is not read when passkeys are unavailable', async () => {
    const { given, read } = await answered({}, { party: null });
    expect(await refusalTo(read)).toMatchObject({ code: 'PASSKEYS_UNAVAILABLE' });
    expect(given).toHaveLength(1);
  });
});
