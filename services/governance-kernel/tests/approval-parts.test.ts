import { describe, expect, it } from '@jest/globals';
import { canonicalBytes, encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { approvalView, approvalWithArgs } from '../src/controls/approvals/approval-view.ts';
import { approvals } from '../src/controls/approvals/approvals.ts';
import { readApproverKeys, requireSameSubject, verifyStatement } from '../src/controls/approvals/approver-keys.ts';
import { argsCipher } from '../src/controls/approvals/args-cipher.ts';
import { brokenGlass, requireHeld } from '../src/controls/approvals/break-glass.ts';
import { requireSameCeremony } from '../src/controls/approvals/ceremony.ts';
import { approvalHandle, pendingApproval } from '../src/controls/approvals/pending.ts';
import { preconditionsOf } from '../src/controls/approvals/preconditions.ts';
import { usesOf } from '@countersign/policy';
import { lockedUntil, lockFrom } from '../src/controls/approvals/timelock.ts';
import { digest, nowMs, refusalOf, rowWith } from './_approval-row.ts';
import { newBudget } from './_budget-row.ts';

const cipher = argsCipher('a secret of thirty-two characters');
const args = { to: 'ada@example.org' };
const encrypted = (changes: object = {}) => {
  const row = rowWith(changes);
  return { ...row, argsEncrypted: cipher.encrypt(row, args) };
};
const nowText = '2026-03-01T12:00:00.000Z';
const laterText = '2026-03-01T12:00:01.000Z';

describe('an approval as callers see it', () => {
  const shown = {
    ...{ approval_id: 'apr_1', state: 'pending', tenant_id: 'acme', requested_by: 'agent', session_id: 's1' },
    ...{
      action: 'tool.call',
      tool: 'mail.send',
      resource: null,
      effect_level: 'E3',
      facts: {},
      args: null,
    },
    demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 1 },
    ...{ intent_hash: digest('b'), judged_hash: digest('c'), policy_hash: digest('d'), receipt_id: null },
    preconditions: { tool_definition_hash: null, budgets: null },
    ...{ reason: 'Mail goes out.', quorum: 2, approvers: ['alice', 'bob'], approved_by: ['bob'] },
    ...{ scope: 'once', uses_remaining: 1, rejection_reason: null, timelock_seconds: 0, timelock_until: null },
    ...{ break_glass: null, expires_at: laterText },
    ...{ created_at: '2026-03-01T11:59:59.000Z', updated_at: '2026-03-01T11:59:59.000Z' },
  };

  it('has all of its members, and no arguments', () => {
    const row = rowWith({ approvers: ['alice', 'bob'], approvedBy: ['bob'] });
    expect(approvalView(row, nowMs)).toEqual({ ...shown, ceremony_hash: row.ceremonyHash });
  });

  it('shows its time lock, its break glass and its capped facts', () => {
    const glass = { brokenBy: 'ann', brokenReason: 'a fire', brokenAtMs: nowMs };
    const row = rowWith({ timelockUntilMs: nowMs, cappedFacts: { shared: [] }, ...glass });
    expect(approvalView(row, nowMs)).toMatchObject({
      timelock_until: nowText,
      capped_facts: { shared: [] },
      break_glass: { by: 'ann', reason: 'a fire', at: nowText },
    });
    expect(approvalView(rowWith({ cappedFacts: null }), nowMs)).not.toHaveProperty('capped_facts');
    for (const missing of Object.keys(glass)) expect(brokenGlass(rowWith({ ...glass, [missing]: null }))).toBeNull();
  });

  it('shows its arguments only while it is pending', () => {
    const row = encrypted();
    const shownAt = (of: typeof row, atMs: number) =>
      approvalWithArgs(of, { nowMs: atMs, argsCipher: cipher, policy: null });
    expect(shownAt(row, nowMs)).toEqual({ ...approvalView(row, nowMs), args });
    expect(shownAt(row, row.expiresAtMs)).toMatchObject({ state: 'expired', args: null });
    expect(shownAt(encrypted({ state: 'approved' }), nowMs)).toMatchObject({ state: 'approved', args: null });
    const without = { ...row, argsEncrypted: null } as never; // a row without arguments
    expect(shownAt(without, nowMs)).toEqual(approvalView(row, nowMs));
  });

  it('has a handle with its ID, its expiry and its URL', () => {
    expect(approvalHandle(rowWith(), { publicUrl: 'https://kernel.example', consoleUrl: null })).toEqual({
      approval_id: 'apr_1',
      expires_at: laterText,
      approve_url: 'https://kernel.example/approvals/apr_1',
    });
  });

  it('of a workspace is decided in the console, if a console is configured', () => {
    const pages = { publicUrl: 'https://kernel.example', consoleUrl: 'https://console.example' };
    const urlFor = (tenant: string, more = {}) =>
      approvalHandle(rowWith({ tenant: tenant as never }), { ...pages, ...more }).approve_url;
    const workspace = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV';
    expect(urlFor(workspace)).toBe('https://console.example/console/inbox/apr_1');
    expect(urlFor(workspace, { consoleUrl: null })).toBe('https://kernel.example/approvals/apr_1');
    expect(urlFor('acme')).toBe('https://kernel.example/approvals/apr_1');
  });
});

describe('an approval in the ledger', () => {
  const place = { tenant: 'acme', session: 's1' } as never; // plain strings instead of branded ones
  const byId = 'id\napr_1';
  const byIntent = `intent\n${digest('b')}`;
  const afterChain = (set: string) => set.split('\n').slice(-2).join('\n');

  it.each([
    ['pending', true],
    ['approved', true],
    ['denied', true],
    ['expired', false],
    ['revoked', false],
    ['consumed', false],
  ])('that is %s can be found by its intent: %p', (state, stands) => {
    expect(approvals.setsOf(rowWith({ state })).map(afterChain)).toEqual(stands ? [byId, byIntent] : [byId]);
  });

  it('is found by its id or by its intent, each in its session', () => {
    const [ofId, ofIntent] = [
      { ...(place as object), id: 'apr_1' } as never,
      { ...(place as object), intentHash: digest('b') } as never,
    ];
    expect([ofId, ofIntent].map((key) => approvals.keyValues(key))).toEqual([
      ['acme', 's1', null, 'apr_1'],
      ['acme', 's1', digest('b'), null],
    ]);
    expect([ofId, ofIntent].map((key) => approvals.keyText(key))).toEqual(approvals.setsOf(rowWith()));
    expect(approvals.idOf(rowWith())).toBe(approvals.keyText(ofId));
    // A quiet session has no approval that an intent can find. An approval that has ended can still be found by its ID.
    expect([ofId, ofIntent].map((key) => approvals.quiet?.covers(key))).toEqual([false, true]);
    expect(approvals.quiet?.chainOf(rowWith())).toEqual({ tenant: 'acme', session: 's1' });
  });

  it('is written under the names of its columns, and read back unchanged', () => {
    const row = rowWith({
      ...{ cappedFacts: {}, resource: 'r', receiptId: 'rcp_1', rejectionReason: 'no', brokenWith: 'bearer' },
      ...{ timelockUntilMs: nowMs, brokenBy: 'ann', brokenReason: 'a fire', brokenAtMs: nowMs },
    });
    const stored = approvals.stored?.(row) ?? {};
    expect(stored).toMatchObject({
      ...{ tool: 'mail.send', resource: 'r', capped_facts: {}, args_encrypted: 'AA==', policy_hash: digest('d') },
      ...{ receipt_id: 'rcp_1', rejection_reason: 'no', timelock_until: nowText },
      ...{ broken_by: 'ann', broken_reason: 'a fire', broken_at: nowText, broken_with: 'bearer' },
    });
    expect(Object.keys(stored)).toHaveLength(Object.keys(row).length);
    expect(approvals.rowOf(stored)).toEqual(row);
  });
});

describe('a key of an approver who signs', () => {
  const signer = createSigner(generateSigningKey().privateKeyPem);
  const second = createSigner(generateSigningKey().privateKeyPem);
  const entry = (changes: object = {}) => ({
    ...{ tenant_id: 'acme', principal_id: 'alice', key_id: 'k1', public_key: encodeBase64Url(signer.publicKey) },
    ...changes,
  });
  const readAll = (...entries: object[]) => readApproverKeys(JSON.stringify(entries));
  const otherKey = { public_key: encodeBase64Url(second.publicKey) };

  it('is read with its owner, and the same names may be used in another tenant', () => {
    const keys = readAll(entry(), entry({ tenant_id: 'globex' }), entry({ ...otherKey, key_id: 'k'.repeat(128) }));
    expect(keys).toEqual([
      { tenant: 'acme', principal: 'alice', keyId: 'k1', publicKey: signer.publicKey },
      { tenant: 'globex', principal: 'alice', keyId: 'k1', publicKey: signer.publicKey },
      { tenant: 'acme', principal: 'alice', keyId: 'k'.repeat(128), publicKey: second.publicKey },
    ]);
    expect(readAll()).toEqual([]);
  });

  const text = encodeBase64Url(signer.publicKey);
  it.each<[string, object]>([
    ['without a name', { key_id: '' }],
    ['with a name that is too long', { key_id: 'k'.repeat(129) }],
    ['with a character before it', { public_key: `A${text}` }],
    ['with a character after it', { public_key: `${text}A` }],
    ['without its first character', { public_key: text.slice(1) }],
    ['in another alphabet', { public_key: '+'.repeat(43) }],
    ['with an unknown member', { role: 'owner' }],
  ])('is refused %s, and the fault states why', (_what, changes) => {
    expect(() => readAll(entry(changes))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('it must be'), cause: expect.any(Error) }),
    );
  });

  it('is refused when one of several keys is unsafe or repeated', () => {
    const unsafe = entry({ key_id: 'k2', public_key: encodeBase64Url(new Uint8Array(32)) });
    expect(() => readAll(entry(), unsafe)).toThrow('not a safe Ed25519');
    for (const twice of [entry({ key_id: 'k2' }), entry(otherKey)])
      expect(() => readAll(entry(), twice)).toThrow('twice');
  });

  const row = rowWith();
  const subject = {
    ...{ type: 'countersign.approval.v1', approval_id: row.id, tenant_id: row.tenant, intent_hash: row.intentHash },
    ...{ judged_hash: row.judgedHash, policy_hash: row.policyHash, ceremony_hash: row.ceremonyHash },
    ...{ approver_id: 'alice', decision: 'approve' },
  };
  const signed = (changes: object = {}, by = signer) => {
    const statement = { ...subject, ...changes };
    return { statement, key_id: 'k1', signature: encodeBase64Url(by.sign(canonicalBytes(statement))) } as never;
  };

  it('signs for its owner in its tenant only', () => {
    const keys = readAll(entry({ ...otherKey, tenant_id: 'globex' }), entry({ ...otherKey, key_id: 'k0' }), entry());
    const verify = (input: never) => verifyStatement(nodeProvider, keys, input);
    expect(() => verify(signed())).not.toThrow();
    const refused = [
      signed({}, second),
      signed({ approver_id: 'bob' }),
      signed({ tenant_id: 'globex' }),
      signed({ tenant_id: 'nowhere' }),
      { ...(signed() as object), key_id: 'k0' } as never,
      { ...(signed() as object), key_id: 'k9' } as never,
      { ...(signed() as object), statement: { ...subject, decision: 'deny' } } as never,
    ];
    for (const values of refused) expect(refusalOf(() => verify(values))).toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it.each(['approval_id', 'tenant_id', 'intent_hash', 'judged_hash', 'policy_hash'])(
    'signs for one approval: a statement with another %s is refused',
    (member) => {
      expect(() => requireSameSubject(row, signed())).not.toThrow();
      expect(refusalOf(() => requireSameSubject(row, signed({ [member]: 'other' })))).toMatchObject({
        code: 'PRECONDITION_FAILED',
        param: 'statement',
      });
    },
  );
});

describe('the ceremony hash that a caller expects', () => {
  const [now, old] = [digest('1'), digest('2')] as never[];
  it.each([
    [null, undefined, false],
    [[now], undefined, true],
    [[old, now], undefined, true],
    [null, now, true],
    [[now], now, true],
  ])('is accepted in If-Match %j and body %j; the request contains it: %p', (tags, expected, named) => {
    expect(requireSameCeremony(tags as never, expected, now as never)).toBe(named);
  });
  it.each([
    [[], undefined],
    [[old], undefined],
    [null, old],
    [[now], old],
    [[old], now],
  ])('is refused when If-Match %j or body %j differs from the current one', (tags, expected) => {
    expect(refusalOf(() => requireSameCeremony(tags as never, expected, now as never))).toMatchObject({
      code: 'PRECONDITION_FAILED',
      param: 'If-Match',
    });
  });
});

describe('an approval request of a rule', () => {
  const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  const request = { quorum: 2, approvers: ['bob'], timeout: 900, timelock: 60, scope: 'uses:3' };
  const call = { caller: { tenant: 'acme', principal: 'agent' }, session: 's1' };
  const intent = {
    ...{ action: 'tool.call', tool: 'mail.send', resource: 'r', effect_level: 'E3', args },
    ...{ args_hash: digest('a'), intent_hash: digest('b') },
  };
  const judged = { recorded: { writes: 1 }, read: { facts: { a: 1 } }, hash: digest('c') };
  const deps = { provider: nodeProvider, argsCipher: cipher };
  const ask = (changes: object = {}) =>
    pendingApproval(deps, {
      ...{ ulid, nowMs, call, intent, judged, policy: { hash: digest('d'), epoch: 7 }, request },
      ...{
        decision: { reason: 'Mail goes out.' },
        gathered: { facts: { registry: null }, budgets: [], sponsor: null },
      },
      ...changes,
    } as never); // plain strings instead of branded ones

  it('covers the judged values until it expires', () => {
    const { argsEncrypted, ceremonyHash, ...row } = ask();
    expect(row).toEqual({
      ...{ id: `apr_${ulid}`, tenant: 'acme', requestedBy: 'agent', session: 's1', action: 'tool.call' },
      ...{ tool: 'mail.send', resource: 'r', effectLevel: 'E3', demand: { writes: 1 }, facts: { a: 1 } },
      ...{ cappedFacts: null, argsHash: digest('a'), intentHash: digest('b'), judgedHash: digest('c') },
      ...{ state: 'pending', policyHash: digest('d'), policyEpoch: 7, receiptId: `rcp_${ulid}` },
      preconditions: { tool_definition_hash: null, budgets: null },
      ...{ reason: 'Mail goes out.', quorum: 2, approvers: ['bob'], sponsor: null },
      ...{ approvedBy: [], approvedWith: [], approvedAs: [], approvedCredentials: [] },
      ...{ scope: 'uses:3', usesRemaining: 3, rejectionReason: null, timelockSeconds: 60, timelockUntilMs: null },
      ...{ brokenBy: null, brokenReason: null, brokenAtMs: null, brokenWith: null },
      ...{ expiresAtMs: nowMs + 900_000, createdAtMs: nowMs, updatedAtMs: nowMs },
    });
    expect(cipher.decrypt(ask(), argsEncrypted ?? '')).toEqual(args);
    expect(ceremonyHash).toBe(ask().ceremonyHash);
  });

  it('contains the remainder of its budgets, if the rule requires them unchanged', () => {
    const budget = newBudget({ id: 'daily' });
    const remaining = { ...request, unchanged: ['budgets'] };
    expect(
      ask({ request: remaining, gathered: { facts: { registry: null }, budgets: [budget], sponsor: null } })
        .preconditions,
    ).toEqual({
      tool_definition_hash: null,
      budgets: [expect.objectContaining({ budget_id: 'daily', tool_calls_remaining: 20 })],
    });
  });

  it('may have no policy, no time lock, and capped facts', () => {
    const { timelock: _, ...atOnce } = request;
    const cut = { ...judged, read: { facts: {}, capped_facts: { shared: [] } } };
    expect(ask({ policy: null, request: atOnce, judged: cut })).toMatchObject({
      ...{ policyHash: null, policyEpoch: 0, timelockSeconds: 0, cappedFacts: { shared: [] } },
    });
  });

  it('depends on the pin of its tool, if the pin is known', () => {
    const pinned = (registry: unknown) =>
      preconditionsOf(registry as never, { request: {}, budgets: [] }).tool_definition_hash;
    const tool = { pinned_hash: digest('f'), current_hash: digest('e'), input_schema: {} };
    expect(pinned({ state: 'known', value: { tool } })).toBe(digest('f'));
    expect(pinned({ state: 'unavailable', value: { tool } })).toBeNull();
    expect(pinned({ state: 'unavailable' })).toBeNull();
    expect(pinned({ state: 'known', value: { tool: null } })).toBeNull();
    expect(pinned(null)).toBeNull();
  });
});

describe('the approval of a waiting call', () => {
  it.each([
    ['uses:10x', 1_000_000],
    ['xuses:10', 1_000_000],
    ['uses:', 1_000_000],
  ])('with the malformed scope %s has %i uses', (scope, uses) => {
    expect(usesOf(scope)).toBe(uses);
  });

  it('is locked until the end of its time lock', () => {
    const until = (timelockUntilMs: number | null, atMs = nowMs) => lockedUntil({ timelockUntilMs }, atMs);
    expect([until(null), until(null, -1), until(nowMs), until(nowMs + 1000)]).toEqual([null, null, null, laterText]);
    expect([lockFrom({ timelockSeconds: 0 }, nowMs), lockFrom({ timelockSeconds: 2 }, nowMs)]).toEqual([
      null,
      nowMs + 2000,
    ]);
  });

  it('permits no break glass without a quorum or time lock, and states the possible moves', () => {
    const reservedBy = (changes: object) => refusalOf(() => requireHeld(rowWith({ quorum: 1, ...changes }), nowMs));
    expect(reservedBy({})).toMatchObject({
      code: 'ILLEGAL_TRANSITION',
      details: { state: 'pending', allowed: ['approve', 'deny', 'revoke'] },
    });
    expect(reservedBy({ state: 'approved' })).toMatchObject({ details: { state: 'approved', allowed: ['revoke'] } });
  });
});
