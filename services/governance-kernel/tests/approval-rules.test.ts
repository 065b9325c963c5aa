import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { usesOf, type ApprovalRequest } from '@countersign/policy';
import type { ApprovalRow } from '../src/controls/approvals/approval-row.ts';
import { argsCipher } from '../src/controls/approvals/args-cipher.ts';
import { expired, isExpired } from '../src/controls/approvals/expire.ts';
import { usedOnce, wantsNoLess } from '../src/controls/approvals/pending.ts';
import { lifetimeSeconds } from '../src/controls/approvals/scope.ts';
import { obstacleOf, transition, type ApprovalAction } from '../src/controls/approvals/transition.ts';
import { digest, electorate, nowMs, refusalOf, rowWith } from './_approval-row.ts';

const secret = 'a secret of thirty-two characters';

type Vote = { by?: string; atMs?: number; reason?: string; hash?: string; kind?: string; id?: string; who?: object };
function vote(row: ApprovalRow, action: ApprovalAction, options: Vote = {}) {
  const { by = 'alice', atMs = nowMs, reason, hash = row.ceremonyHash, kind = 'access_key', who = {} } = options;
  const voter = { by, credential: { kind, id: options.id ?? by }, asserted: null };
  const cast = { action, ...voter, nowMs: atMs, reason, expectedCeremonyHash: hash, electorate: electorate(who) };
  return transition(nodeProvider, row, cast as never).approval; // plain strings instead of branded ones
}

const actions = ['approve', 'deny', 'revoke', 'break_glass'] as const;
const moves = {
  pending: [...actions],
  approved: ['revoke', 'break_glass'],
  denied: [],
  expired: [],
  revoked: [],
  consumed: [],
};

describe('a vote', () => {
  it.each(Object.entries(moves))('on an approval that is %s may only be one of %j', (state, allowed: string[]) => {
    for (const action of actions) {
      const row = rowWith({ state, timelockUntilMs: state === 'approved' ? nowMs + 1 : null });
      if (allowed.includes(action)) expect(vote(row, action, { reason: 'a fire' }).updatedAtMs).toBe(nowMs);
      else
        expect(refusalOf(() => vote(row, action))).toMatchObject({
          code: 'ILLEGAL_TRANSITION',
          details: { state, allowed },
        });
      const gone = refusalOf(() => vote(row, action, { atMs: row.expiresAtMs }));
      const seen = state === 'pending' || state === 'approved' ? 'expired' : state;
      expect(gone).toMatchObject({ code: 'ILLEGAL_TRANSITION', details: { state: seen, allowed: [] } });
    }
    expect(vote(rowWith(), 'approve', { atMs: nowMs + 999 }).approvedBy).toEqual(['alice']);
    expect(vote(rowWith({ quorum: 1 }), 'approve').state).toBe('approved');
  });

  it('starts the time lock when it completes the quorum, and is refused if the lock would outlast the approval', () => {
    const waiting = rowWith({ timelockSeconds: 1, expiresAtMs: nowMs + 1001 });
    const first = vote(waiting, 'approve');
    expect(first).toMatchObject({ state: 'pending', timelockUntilMs: null });
    const second = vote(first, 'approve', { by: 'bob' });
    expect(second).toMatchObject({ state: 'approved', timelockUntilMs: nowMs + 1000 });
    expect(vote(second, 'revoke')).toMatchObject({ state: 'revoked' });
    for (const row of [waiting, first])
      expect(refusalOf(() => vote(row, 'approve', { by: 'carol', atMs: nowMs + 1 }))).toMatchObject({
        code: 'ILLEGAL_TRANSITION',
        details: { timelock_until: '2026-03-01T12:00:01.001Z', allowed: ['deny', 'revoke'] },
      });
    expect(vote(waiting, 'deny', { atMs: nowMs + 1 }).state).toBe('denied');
  });

  it('is refused to the requester, to unlisted people and to earlier voters; the requester may withdraw the approval', () => {
    const named = rowWith({ approvers: ['alice', 'bob'], approvedBy: ['bob'] });
    for (const action of ['approve', 'deny'] as const) {
      const codeOf = (row: ApprovalRow, by: string) => refusalOf(() => vote(row, action, { by }));
      expect(codeOf(rowWith(), 'agent')).toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(codeOf(named, 'carol')).toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(codeOf(named, 'bob')).toMatchObject({ code: 'ILLEGAL_TRANSITION', details: { allowed: [] } });
    }
    expect(vote(rowWith(), 'revoke', { by: 'agent' }).state).toBe('revoked');
    expect(vote(named, 'approve')).toMatchObject({ state: 'approved', approvedBy: ['bob', 'alice'] });
  });

  it('is refused under a name that looks like that of an earlier voter or of the requester', () => {
    const voted = rowWith({ approvedBy: ['bob'] });
    const unseen = ['\u200d', '\u06dd', '\u0085', '\u2800', '\ufff9'].map((one) => `bo${one}b`);
    for (const by of ['BOB', 'ｂob', ...unseen])
      expect(refusalOf(() => vote(voted, 'approve', { by }))).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    const asker = 'ag\u009bent';
    expect(refusalOf(() => vote(rowWith(), 'approve', { by: asker }))).toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it.each([
    ['access_key', 'key_1', {}],
    ['ed25519', 'key_1', {}],
    ['passkey', 'cred', {}],
    ['operator_bearer', 'any', {}],
  ])('with one credential of the kind %s counts once towards the quorum, under any name', (kind, id, who) => {
    const first = vote(rowWith({ quorum: 3 }), 'approve', { kind, id, who });
    expect(refusalOf(() => vote(first, 'approve', { by: 'bob', kind, id, who }))).toMatchObject({
      code: 'ILLEGAL_TRANSITION',
      details: { allowed: [] },
    });
    expect(vote(first, 'deny', { by: 'bob', kind, id, who }).state).toBe('denied');
  });

  it('is refused when its ceremony hash is not that of the current state', () => {
    expect(refusalOf(() => vote(rowWith(), 'approve', { hash: digest('e') }))).toMatchObject({
      code: 'PRECONDITION_FAILED',
      param: 'expected_ceremony_hash',
    });
    const first = vote(rowWith(), 'approve');
    expect(refusalOf(() => vote(first, 'approve', { by: 'bob', hash: rowWith().ceremonyHash }))).toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
  });

  it('approves at the quorum, and keeps the arguments until the approval is decided', () => {
    const first = vote(rowWith(), 'approve', { kind: 'passkey' });
    expect(first).toMatchObject({ state: 'pending', approvedBy: ['alice'], argsEncrypted: 'AA==' });
    const second = vote(first, 'approve', { by: 'bob' });
    expect(second).toMatchObject({ state: 'approved', approvedBy: ['alice', 'bob'], argsEncrypted: null });
    expect(second.approvedWith).toEqual(['passkey', 'bearer']);
    expect(second.approvedAs).toEqual(['operator', 'operator']);
    expect(second.approvedCredentials).toEqual(['passkey:alice', 'access_key:bob']);
    for (const [action, state] of [
      ['deny', 'denied'],
      ['revoke', 'revoked'],
    ] as const) {
      const statement = { state, rejectionReason: 'not today', argsEncrypted: null };
      expect(vote(rowWith(), action, { reason: ' not today ' })).toMatchObject(statement);
      for (const reason of [undefined, ' '])
        expect(vote(rowWith(), action, { ...(reason && { reason }) })).toMatchObject({ state, rejectionReason: null });
    }
  });

  it('by break glass permits one use within 15 minutes, requires a reason, and needs a quorum or a time lock', () => {
    const wide = { scope: 'uses:5', usesRemaining: 5, expiresAtMs: nowMs + 1_000_000 };
    const breaks = (row: ApprovalRow, { by = 'alice', reason = ' a fire ' } = {}) =>
      vote(row, 'break_glass', { by, reason });
    const broken = { state: 'approved', scope: 'once', usesRemaining: 1, timelockUntilMs: null, argsEncrypted: null };
    const glass = { brokenBy: 'alice', brokenReason: 'a fire', brokenAtMs: nowMs, expiresAtMs: nowMs + 900_000 };
    expect(breaks(rowWith(wide))).toMatchObject({ ...broken, ...glass, brokenWith: 'bearer', approvedBy: [] });
    expect(breaks(rowWith()).expiresAtMs).toBe(nowMs + 1000);
    const locked = { ...wide, state: 'approved', timelockUntilMs: nowMs + 1, approvedBy: ['alice', 'bob'] };
    expect(breaks(rowWith(locked))).toMatchObject({ ...broken, ...glass, approvedBy: ['alice', 'bob'] });
    expect(breaks(rowWith({ quorum: 1, timelockSeconds: 1 }))).toMatchObject(broken);
    const codeOf = (row: ApprovalRow, changes = {}) => refusalOf(() => breaks(row, changes));
    expect(codeOf(rowWith({ quorum: 1 }))).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(codeOf(rowWith({ ...locked, timelockUntilMs: nowMs }))).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(codeOf(breaks(rowWith(wide)), { by: 'bob' })).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(codeOf(rowWith(), { by: 'Agent' })).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(codeOf(rowWith({ approvers: ['bob'] }))).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(codeOf(rowWith(), { reason: ' ' })).toMatchObject({ code: 'INVALID_REQUEST', param: 'reason' });
  });

  it('has its obstacles reported beforehand as text', () => {
    const obstacle = (row: ApprovalRow, by: string) =>
      obstacleOf(nodeProvider, row, {
        ...{ action: 'approve', by, nowMs, electorate: electorate() },
        ...{ credential: { kind: 'access_key', id: by }, asserted: null },
      } as never); // plain strings instead of branded ones
    expect(obstacle(rowWith(), 'alice')).toBeNull();
    expect(obstacle(rowWith(), 'agent')).toMatch(/requester of an approval/);
    // An error in our own code is thrown, and not shown to people.
    expect(() => obstacle({ ...rowWith(), approvers: null } as never, 'alice')).toThrow(TypeError);
  });
});

describe('the ceremony hash', () => {
  it('changes with everything that an approver sees, and with nothing else', () => {
    const seen = {
      ...{ id: 'apr_2', tenant: 'globex', state: 'approved', intentHash: digest('e'), judgedHash: digest('e') },
      ...{ policyHash: null, reason: 'other', quorum: 3, approvers: ['bob'], approvedBy: ['bob'], scope: 'session' },
      preconditions: { tool_definition_hash: digest('e'), budgets: null },
      ...{ usesRemaining: 2, timelockSeconds: 1, timelockUntilMs: nowMs, expiresAtMs: nowMs },
    };
    const hashes = Object.entries(seen).map(([name, value]) => rowWith({ [name]: value }).ceremonyHash);
    expect(new Set([rowWith().ceremonyHash, ...hashes]).size).toBe(hashes.length + 1);
    expect(rowWith({ updatedAtMs: 1, argsEncrypted: null }).ceremonyHash).toBe(rowWith().ceremonyHash);
  });
});

describe('an approval', () => {
  it('expires at the end of its lifetime if it has no decision, and then has no arguments', () => {
    const row = rowWith();
    expect([isExpired(row, nowMs + 999), isExpired(row, nowMs + 1000)]).toEqual([false, true]);
    expect(isExpired(rowWith({ state: 'approved' }), nowMs + 1000)).toBe(false);
    const gone = expired(nodeProvider, row, nowMs + 1000);
    expect(gone).toMatchObject({ state: 'expired', argsEncrypted: null, updatedAtMs: nowMs + 1000 });
    expect(gone.ceremonyHash).not.toBe(row.ceremonyHash);
    expect(lifetimeSeconds(row)).toBe(2);
  });

  it('is consumed by its last use', () => {
    const twice = rowWith({ state: 'approved', usesRemaining: 2 });
    const once = usedOnce(nodeProvider, twice, nowMs);
    expect(once).toMatchObject({ state: 'approved', usesRemaining: 1, updatedAtMs: nowMs });
    expect(once.ceremonyHash).not.toBe(twice.ceremonyHash);
    expect(usedOnce(nodeProvider, once, nowMs)).toMatchObject({ state: 'consumed', usesRemaining: 0 });
  });

  it.each([
    ['once', 1],
    ['uses:1', 1],
    ['uses:9999', 9999],
    ['session', 1_000_000],
    ['until', 1_000_000],
  ])('of the scope %s may be used %i times', (scope, uses) => {
    expect(usesOf(scope)).toBe(uses);
  });
});

describe('a pending approval', () => {
  const approvalRequest: ApprovalRequest = { quorum: 2, approvers: [], timeout: 2, scope: 'once' };
  it.each<[string, object, Partial<ApprovalRequest>, boolean]>([
    ['the same terms', {}, {}, true],
    ['a larger quorum', { quorum: 3 }, {}, true],
    ['a smaller quorum', { quorum: 1 }, {}, false],
    ['any approver, when the request names one', {}, { approvers: ['bob'] }, false],
    ['an approver whom the request names', { approvers: ['bob'] }, { approvers: ['bob', 'carol'] }, true],
    [
      'an approver whom the request does not name',
      { approvers: ['bob', 'dave'] },
      { approvers: ['bob', 'carol'] },
      false,
    ],
    ['named approvers, when the request accepts any', { approvers: ['bob'] }, {}, true],
    ['more uses', { scope: 'uses:2' }, {}, false],
    ['a longer lifetime', { expiresAtMs: nowMs + 1001 }, {}, false],
    ['no time lock, when the request has one', {}, { timelock: 1 }, false],
    ['no preconditions, when the request requires unchanged budgets', {}, { unchanged: ['budgets'] }, false],
    [
      'unchanged budgets',
      { preconditions: { tool_definition_hash: null, budgets: [] } },
      { unchanged: ['budgets'] },
      true,
    ],
    ['a longer time lock', { timelockSeconds: 2 }, { timelock: 1 }, true],
  ])('is reused only if it demands no less than the new request: %s', (_what, open, candidate, answers) => {
    expect(wantsNoLess(rowWith(open), { ...approvalRequest, ...candidate })).toBe(answers);
  });
});

describe('the arguments of a call that waits', () => {
  const cipher = argsCipher(secret);
  const place = rowWith();
  const args = { to: 'ada@example.org', amount: 5 };

  it('can be decrypted only for their own approval and with the current secret', () => {
    const text = cipher.encrypt(place, args);
    expect(cipher.decrypt(place, text)).toEqual(args);
    expect(cipher.encrypt(place, args)).not.toBe(text);
    expect(Buffer.from(text, 'base64').toString('latin1')).not.toContain('ada');
    for (const changes of [{ tenant: 'globex' }, { id: 'apr_2' }, { argsHash: digest('e') }])
      expect(cipher.decrypt(rowWith(changes), text)).toBeNull();
    expect(argsCipher(`${secret}.`).decrypt(place, text)).toBeNull();
  });

  it('are unreadable after any change of the stored text', () => {
    const bytes = Buffer.from(cipher.encrypt(place, args), 'base64');
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte)));
      expect(cipher.decrypt(place, changed.toString('base64'))).toBeNull();
    }
    for (const length of [0, 11, 12, 27, bytes.length - 1])
      expect(cipher.decrypt(place, bytes.subarray(0, length).toString('base64'))).toBeNull();
  });

  it('that an earlier kernel stored are still readable', () => {
    const kept = 'dwmLroFyAh9bFFW3c0seEUFh33NZ458vqiT0iRMixNpecMPC9QClMNnf4LhcHh1IRXap4mqID617G8br6G0m';
    expect(cipher.decrypt(place, kept)).toEqual(args);
  });

  it('are limited to the length that a person can read', () => {
    const ofCharacters = (count: number) => ({ a: 'x'.repeat(count - '{"a":""}'.length) });
    expect(cipher.decrypt(place, cipher.encrypt(place, ofCharacters(262_144)))).toEqual(ofCharacters(262_144));
    expect(refusalOf(() => cipher.encrypt(place, ofCharacters(262_145)))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});
