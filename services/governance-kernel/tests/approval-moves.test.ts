import { describe, expect, it } from '@jest/globals';
import { accessKeys } from '../src/controls/access-keys/access-keys.ts';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import { approvals } from '../src/controls/approvals/approvals.ts';
import { expireApproval, withdrawApproval } from '../src/controls/approvals/end-approval.ts';
import { moveApproval } from '../src/controls/approvals/move-approval.ts';
import { policyReplaced } from '../src/controls/approvals/expire.ts';
import { identities } from '../src/controls/identities/identities.ts';
import { put, type Change } from '../src/ledger/control.ts';
import { approvalTerms } from '../src/controls/voting/approval-terms.ts';
import { passkeys } from '../src/controls/passkeys/passkeys.ts';
import { policyHeads } from '../src/controls/policy/policy-heads.ts';
import { digest, nowMs, rowWith } from './_approval-row.ts';
import { ledgerOver, refusalTo, ulid, type Written } from './_ledger.ts';

const nowText = '2026-03-01T12:00:00.000Z';
const laterText = '2026-03-01T12:00:01.000Z';
const names = { id: `apr_${ulid}`, session: 's1', resource: 'mail:ada' };
const question = (changes: object = {}) => rowWith({ ...names, quorum: 1, ...changes });
const glassTerms = { tenant: 'acme', version: 1, signaturesOnly: false, breakGlass: true, passkeysSinceMs: null };
const mayBreak = put(approvalTerms, { ...glassTerms, updatedAtMs: 0 } as never); // strings without brands
const revoked = (principal: string) =>
  put(identities, { tenant: 'acme', kind: 'operator', principal, revokedAtMs: 1 } as never);

/** The result of a vote on this approval. */
async function voted(row: ApprovalRow, move: object = {}, ...more: Change[]) {
  const { parts, written } = ledgerOver(nowMs, put(approvals, row), ...more);
  const { tenant, id, session, ceremonyHash: expectedCeremonyHash } = row;
  const vote = { tenant, id, session, expectedCeremonyHash, by: 'bob', action: 'approve', asserted: null };
  const credential = { kind: 'access_key', id: 'ak_1' };
  const request = { ...vote, credential, approvedBy: row.approvedBy, evidence: { credential: 'access_key' }, ...move };
  const answer = await moveApproval(parts, request as never).then(
    (moved) => ({ moved }),
    (error: unknown) => ({ refused: refusalTo(Promise.reject(error as Error)) }),
  );
  const refused = 'refused' in answer ? await answer.refused : null;
  return { moved: 'moved' in answer ? answer.moved : null, refused, written: written()[0] as Written };
}

/** The members of `row` that every vote on it seals. */
const sealedOf = (row: ApprovalRow) => ({
  ...{ tenant_id: 'acme', session_id: 's1', approval_id: row.id, created_at: nowText, receipt_id: `rcp_${ulid}` },
  ...{ policy_hash: digest('d'), policy_epoch: 1 },
});
const aboutOf = (row: ApprovalRow) => ({
  approved_intent_hash: row.intentHash,
  approved_judged_hash: row.judgedHash,
  approved_preconditions: row.preconditions,
  approved_scope: row.scope,
  approved_expires_at: new Date(row.expiresAtMs).toISOString(),
});

type Statement = {
  kind?: string;
  verdict: string;
  reason_code: string;
  facts: object;
  state: string;
  events: string[];
};
const [resolved, glass] = ['kernel.approval.resolved.v1', 'kernel.approval.glass-broken.v1'];
const allowed = { verdict: 'ALLOW', reason_code: 'ALLOWED' };
const rejected = { verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' };

describe('a decision on an approval', () => {
  it.each<[string, object, object, Statement]>([
    ['approve', {}, {}, { ...allowed, facts: {}, state: 'approved', events: [resolved] }],
    [
      'approve',
      {},
      { reason: ' ok ' },
      { ...allowed, facts: { reason: ' ok ' }, state: 'approved', events: [resolved] },
    ],
    ['approve', { quorum: 2 }, {}, { ...allowed, facts: {}, state: 'pending', events: [] }],
    [
      'approve',
      { timelockSeconds: 1, expiresAtMs: nowMs + 9000 },
      {},
      { ...allowed, facts: { timelock_until: laterText }, state: 'approved', events: [resolved] },
    ],
    ['deny', {}, { reason: ' no ' }, { ...rejected, facts: { reason: ' no ' }, state: 'denied', events: [resolved] }],
    ['revoke', { state: 'approved' }, {}, { ...rejected, facts: {}, state: 'revoked', events: [resolved] }],
    [
      'break_glass',
      { quorum: 2 },
      { reason: ' a fire ' },
      {
        ...{ kind: 'break_glass', ...allowed, state: 'approved', events: [glass, resolved] },
        facts: { reason: 'a fire', expires_at: laterText },
      },
    ],
  ])(
    'to %s it (approval %j, vote %j) is sealed, and is published when it resolves the approval',
    async (action, changes, move, statement) => {
      const row = question(changes);
      const { moved, written } = await voted(row, { action, ...move }, mayBreak);
      const { kind = 'approval', verdict, reason_code, facts, state, events } = statement;
      expect(moved).toMatchObject({ state, updatedAtMs: nowMs });
      const { records, rows } = written;
      expect(rows).toEqual([['approvals', moved]]);
      expect(records).toMatchObject([{ ...sealedOf(row), kind, verdict, reason_code, principal_id: 'bob' }]);
      expect(records[0]?.intent).toEqual({
        ...{ action: `approval.${action}`, tool: 'mail.send', resource: 'mail:ada', effect_level: 'E3' },
        ...{ args_hash: digest('a'), intent_hash: expect.any(String) },
        facts: {
          credential: 'access_key',
          role: 'operator',
          ceremony_hash: row.ceremonyHash,
          ...aboutOf(moved ?? row),
          state,
          ...facts,
        },
      });
      expect(written.events.map(([type]) => type)).toEqual(events);
      for (const [type, data] of written.events)
        if (type === resolved) expect(data).toMatchObject({ resolved_by: 'bob' });
    },
  );

  it('that comes too late expires the approval: the kernel seals the expiry, and the caller is refused', async () => {
    const row = question({ expiresAtMs: nowMs, approvedBy: ['ann'], approvedWith: ['bearer'] });
    const { refused, written } = await voted(row);
    expect(refused).toMatchObject({
      ...{ code: 'ILLEGAL_TRANSITION', message: 'The approval has expired' },
      details: { state: 'expired', allowed: [] },
    });
    expect(written.rows).toEqual([['approvals', expect.objectContaining({ state: 'expired', argsEncrypted: null })]]);
    const [record] = written.records;
    expect(record).toMatchObject({ ...sealedOf(row), kind: 'approval', principal_id: 'kernel' });
    expect(record).toMatchObject({ verdict: 'DENY', reason_code: 'APPROVAL_EXPIRED' });
    expect(record?.intent).toMatchObject({ action: 'approval.expire' });
    expect(record?.intent.facts).toEqual({ ...aboutOf(row), state: 'expired' });
    expect(written.events).toEqual([[resolved, expect.objectContaining({ state: 'expired', resolved_by: null })]]);
  });

  const changed = { code: 'PRECONDITION_FAILED', param: 'expected_ceremony_hash' };
  const key = { id: 'ak_1', tenant: 'acme', principal: 'bob', kind: 'approver', revokedAtMs: null };
  const keyUntil = (expiresAtMs: number) => put(accessKeys, { ...key, expiresAtMs } as never);
  const withKey = { accessKey: 'ak_1' };
  const half = { quorum: 3, approvedBy: ['ann', 'cem'], approvedWith: ['bearer', 'bearer'] };
  it.each<[string, object, object, Change[], object]>([
    ['for an outdated state', {}, { expectedCeremonyHash: digest('f') }, [], changed],
    ['by an approver who did not read one of the votes', half, { approvedBy: ['ann'] }, [], changed],
    ['by an approver who read no vote', half, { approvedBy: [] }, [], changed],
    ['by a revoked approver', {}, {}, [revoked('bob')], { code: 'PERMISSION_DENIED' }],
    ['with a deleted key', {}, withKey, [], { code: 'CREDENTIALS_INVALID' }],
    ['with an expired key', {}, withKey, [keyUntil(nowMs)], { code: 'CREDENTIALS_INVALID' }],
    [
      'with a deleted passkey',
      {},
      { passkey: { id: 'p' }, credential: { kind: 'passkey', id: 'p' } },
      [],
      { code: 'PASSKEY_REFUSED' },
    ],
    [
      'as break glass that the tenant has not enabled',
      {},
      { action: 'break_glass' },
      [],
      { code: 'PERMISSION_DENIED' },
    ],
  ])('is refused %s, and nothing is written', async (_what, changes, move, more, report) => {
    const { refused, written } = await voted(question(changes), move, ...more);
    expect(refused).toMatchObject(report);
    expect(written).toEqual({ records: [], rows: [], events: [] });
  });

  it('is refused when its approver did not read all votes, even with the current ceremony hash', async () => {
    const { refused } = await voted(question(half), { approvedBy: ['cem'] });
    expect(refused).toMatchObject({ ...changed, message: 'The approval changed after you read it. Read it again' });
    expect((await voted(question(half), { approvedBy: ['cem', 'dora', 'ann'] })).moved?.approvedBy).toHaveLength(3);
  });

  it('excludes voters who were revoked in the meantime, and records the use of its passkey', async () => {
    const row = question({ ...half, quorum: 2 });
    const { moved } = await voted(row, withKey, revoked('cem'), keyUntil(nowMs + 1));
    expect(moved).toMatchObject({ state: 'approved', approvedBy: ['ann', 'bob'] });
    const whose = { tenant: 'acme', id: 'p', principal: 'bob', publicKey: 'k', activatedAtMs: 1, revokedAtMs: null };
    const passkey = { ...whose, counter: 4, isBackedUp: false, lastUsedAtMs: null } as never; // strings without brands
    const use = { id: 'p', publicKey: 'k', counter: 5, isBackedUp: true };
    const signed = { passkey: use, credential: { kind: 'passkey', id: 'p' } };
    const counted = await voted(question(), signed, put(passkeys, passkey));
    expect(counted.written.rows).toEqual([
      ['passkeys', { ...(passkey as object), counter: 5, isBackedUp: true, lastUsedAtMs: nowMs }],
      ['approvals', counted.moved],
    ]);
  });

  it('has its signature verified for the stored approval', async () => {
    const row = question();
    const seen: ApprovalRow[] = [];
    await voted(row, { verify: (approval: ApprovalRow) => seen.push(approval) });
    expect(seen).toEqual([row]);
  });
});

describe('the requester of an approval', () => {
  const withdraw = async (row: ApprovalRow, changes: object = {}, ...more: Change[]) => {
    const { parts, written } = ledgerOver(nowMs, put(approvals, row), ...more);
    const { tenant, session, id, requestedBy: by } = row;
    const evidence = { credential: 'assertion', role: 'agent' };
    const move = { tenant, session, id, by, reason: 'The run ended', isProven: true, evidence, ...changes };
    return { answer: withdrawApproval(parts, move), written: () => written()[0] as Written }; // the only batch
  };

  it.each([{}, { state: 'approved', argsEncrypted: null }])('withdraws it while it is unused: %j', async (changes) => {
    const row = question(changes);
    const { answer, written } = await withdraw(row);
    expect(await answer).toMatchObject({ state: 'revoked', argsEncrypted: null, rejectionReason: 'The run ended' });
    const { records, rows, events } = written();
    expect(rows).toEqual([['approvals', await answer]]);
    expect(records).toMatchObject([{ ...sealedOf(row), ...rejected, kind: 'approval', principal_id: row.requestedBy }]);
    expect(records[0]?.intent).toMatchObject({
      action: 'approval.revoke',
      facts: { credential: 'assertion', role: 'agent', reason: 'The run ended', state: 'revoked' },
    });
    expect(events).toMatchObject([[resolved, { state: 'revoked', resolved_by: row.requestedBy }]]);
  });

  it.each(['denied', 'expired', 'revoked', 'consumed'])('cannot change it when it is %s', async (state) => {
    const row = question({ state, argsEncrypted: null });
    const { answer, written } = await withdraw(row);
    expect(await answer).toEqual(row);
    expect(written()).toEqual({ records: [], rows: [], events: [] });
  });

  const withPasskeys = put(approvalTerms, { ...glassTerms, passkeysSinceMs: 1, updatedAtMs: 0 } as never); // plain strings

  it('is the only one who can withdraw it, and must be proven once the tenant has passkeys', async () => {
    const second = await withdraw(question(), { by: 'bob' });
    expect(await refusalTo(second.answer)).toMatchObject({ code: 'PERMISSION_DENIED' });
    const claimed = await withdraw(question(), { isProven: false }, withPasskeys);
    expect(await refusalTo(claimed.answer)).toMatchObject({ code: 'PASSKEY_REQUIRED' });
    for (const refused of [second, claimed]) expect(refused.written()).toEqual({ records: [], rows: [], events: [] });
    expect(await (await withdraw(question(), {}, withPasskeys)).answer).toMatchObject({ state: 'revoked' });
  });
});

describe('an approval whose policy was replaced', () => {
  const head = { tenant: 'acme', epoch: 2, confirmedAtMs: nowMs, keyId: 'k', signature: 's' };
  const active = (hash: string) => put(policyHeads, { ...head, hash } as never); // strings without brands
  const replaced = { state: 'expired', argsEncrypted: null, rejectionReason: policyReplaced };

  it('expires at a vote, which does not count and is refused with that reason', async () => {
    const row = question();
    const { refused, written } = await voted(row, {}, active(digest('e')));
    expect(refused).toMatchObject({ code: 'ILLEGAL_TRANSITION', message: policyReplaced });
    expect(written.rows).toEqual([['approvals', expect.objectContaining(replaced)]]);
    expect(written.records).toMatchObject([{ reason_code: 'APPROVAL_EXPIRED', principal_id: 'kernel' }]);
    expect(written.records[0]?.intent.facts).toMatchObject({ reason: policyReplaced, state: 'expired' });
    expect(written.events).toMatchObject([[resolved, { state: 'expired', rejection_reason: policyReplaced }]]);
  });

  it.each(['pending', 'approved'])('expires without a vote while it is %s', async (state) => {
    const row = question({ state });
    const { parts, written } = ledgerOver(nowMs, put(approvals, row), active(digest('e')));
    const { tenant, session, id } = row;
    await expireApproval(parts, { tenant, session, id });
    expect(written()[0]).toMatchObject({ rows: [['approvals', replaced]] });
  });

  it('does not expire under its own policy, without a policy, or after a denial', async () => {
    for (const [row, head] of [
      [question(), 'd'],
      [question({ policyHash: null }), 'e'],
    ] as const)
      expect((await voted(row, {}, active(digest(head)))).moved).toMatchObject({ state: 'approved' });
    const { parts, written } = ledgerOver(nowMs, put(approvals, question({ state: 'denied' })), active(digest('e')));
    const { tenant, session, id } = question();
    await expireApproval(parts, { tenant, session, id });
    expect(written()).toEqual([{ records: [], rows: [], events: [] }]);
  });
});

describe('an approval without a decision', () => {
  const expire = async (row: ApprovalRow, id = row.id) => {
    const { parts, written } = ledgerOver(nowMs, put(approvals, row));
    const { tenant, session } = row;
    const answer = expireApproval(parts, { tenant, session, id });
    return { answer, written };
  };

  it('expires at its time', async () => {
    const { answer, written } = await expire(question({ expiresAtMs: nowMs }));
    expect(await answer).toBeUndefined();
    expect(written()).toMatchObject([
      { rows: [['approvals', { state: 'expired', updatedAtMs: nowMs }]], records: [{ principal_id: 'kernel' }] },
    ]);
  });

  it.each([{ expiresAtMs: nowMs + 1 }, { expiresAtMs: nowMs, state: 'approved' }])(
    'does not expire with %j',
    async (changes) => {
      const { answer, written } = await expire(question(changes));
      expect(await answer).toBeUndefined();
      expect(written()).toEqual([{ records: [], rows: [], events: [] }]);
    },
  );

  it('is not found under a different ID', async () => {
    const report = { code: 'NOT_FOUND', message: 'The tenant has no approval with this ID' };
    const second = 'apr_other' as ApprovalRow['id']; // plain strings instead of branded ones
    expect(await refusalTo((await expire(question(), second)).answer)).toMatchObject(report);
    expect((await voted(question(), { id: second })).refused).toMatchObject(report);
  });
});
