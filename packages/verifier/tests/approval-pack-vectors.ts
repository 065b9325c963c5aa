import { hashOf, traceOf, type Members } from './chain-fixture.ts';
import { announcement, approvalId, approvedGates, bundleOf, decision, packOf, type Bundle } from './approved-packs.ts';
import { packKeys } from './pack-fixture.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const mail = bundleOf({ id: 'mail', effect: 'allow', match: {} });
const lasting = { quorum: 1, approvers: [], timeout: 900, scope: 'once' };
const asking = (approval: Members): Bundle =>
  bundleOf({ id: 'mail', effect: 'escalate', match: {}, approval: { ...lasting, ...approval } });
const two = asking({ quorum: 2 });

/** A call at second `number` that used the approval. */
const used = (bundle: Bundle, number = 9, changes: Members = {}) =>
  decision(number, bundle, { gates: approvedGates, approval_id: approvalId, ...changes });
const again = (call: Members, number: number, bundle: Bundle) =>
  used(bundle, number, { intent: call['intent'] ?? null });

type Move = { by?: string; action?: string; kind?: string; facts?: Members; intent?: Members; changes?: Members };

/** A move of the approval of a call. */
function moveOf(
  number: number,
  call: Members,
  { by = 'ada', facts = {}, intent = {}, changes = {}, ...move }: Move = {},
) {
  const { action = 'approval.approve', kind = 'approval' } = move;
  const { judged_hash: approved_judged_hash = null, policy_hash = null } = call;
  const isVote = action === 'approval.approve' || kind === 'break_glass';
  return announcement(number, {
    ...{ kind, principal_id: by, approval_id: approvalId, policy_hash, ...changes },
    ...(isVote ? {} : { verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' }),
    intent: {
      action,
      ...intent,
      facts: { state: 'approved', approved_judged_hash, credential: 'access_key', ...facts },
    },
  });
}

const pending = { state: 'pending' };
const glass = { kind: 'break_glass', action: 'approval.break_glass' };
const fire = { reason: 'a fire', expires_at: '2026-02-01T00:15:00.000Z' };
const fence = (number: number, facts: Members, changes: Members = {}) =>
  announcement(number, {
    ...{ kind: 'policy', session_id: 'fences', policy_hash: null, policy_epoch: 0, ...changes },
    intent: { action: 'fence.set', tool: null, resource: 'fence:tenant:acme', facts: { expires_at: null, ...facts } },
  });

const valid = async (about: string, bundle: Bundle, records: Members[]): Promise<ReceiptVector> => ({
  ...{ about, keys: packKeys(), export: await packOf(bundle, records), expect: { verdict: 'VERIFIED' } },
});
const refused = (code: string) => async (about: string, bundle: Bundle, records: Members[]) => ({
  ...(await valid(about, bundle, records)),
  expect: { verdict: 'NOT_VERIFIED' as const, code },
});

/** Packs whose calls are compared with the policy, the votes and the fences in the same pack. */
export async function approvalPackVectors(): Promise<Record<string, ReceiptVector>> {
  return { ...(await quorums()), ...(await termsOfRules()), ...(await rulesOfPolicies()), ...(await fencesOfPacks()) };
}

async function quorums(): Promise<Record<string, ReceiptVector>> {
  const lie = refused('APPROVAL_CONTRADICTED');
  const call = used(two);
  const named = asking({ quorum: 2, approvers: ['grace', 'linus'] });
  const emergency = used(named);
  const votes = (facts: Members) => [moveOf(1, call, { facts: pending }), moveOf(2, call, { by: 'bob', facts })];
  const secondCall = used(two, 10, { session_id: 'session-2' });
  return {
    'valid/pack-quorum': await valid('A call with the votes of two people.', two, [...votes({}), call]),
    'invalid/pack-quorum-short': await lie('A call with one vote of two.', two, [moveOf(1, call), call]),
    'invalid/pack-quorum-of-two-calls': await lie('A vote for another call, which does not count.', two, [
      moveOf(1, call, { facts: { ...pending, approved_judged_hash: hashOf('another call') } }),
      moveOf(2, call, { by: 'bob' }),
      call,
    ]),
    'invalid/pack-vote-about-another-tool': await lie('Votes about another tool.', two, [
      moveOf(1, call, { facts: pending, intent: { tool: 'files.read' } }),
      moveOf(2, call, { by: 'bob', intent: { tool: 'files.read' } }),
      call,
    ]),
    'invalid/pack-vote-under-another-policy': await lie('Votes under another policy.', two, [
      moveOf(1, call, { facts: pending, changes: { policy_hash: hashOf('other') } }),
      moveOf(2, call, { by: 'bob', changes: { policy_hash: hashOf('other') } }),
      call,
    ]),
    'invalid/pack-move-after-denial': await lie('An approval that was denied, and then approved.', two, [
      moveOf(1, call, { action: 'approval.deny', facts: { state: 'denied' } }),
      ...[moveOf(2, call, { facts: pending }), moveOf(3, call, { by: 'bob' }), call],
    ]),
    'invalid/pack-move-after-glass': await lie('An approval by broken glass, and then by a vote.', two, [
      moveOf(1, call, { ...glass, facts: fire }),
      ...[moveOf(2, call, { by: 'bob' }), call],
    ]),
    'invalid/pack-glass-by-another': await lie('Glass that a person broke whom the rule does not name.', named, [
      moveOf(1, emergency, { ...glass, facts: fire }),
      emergency,
    ]),
    'valid/pack-glass-by-an-approver': await valid('Glass that a person broke whom the rule names.', named, [
      moveOf(1, emergency, { ...glass, by: 'grace', facts: fire }),
      emergency,
    ]),
    'invalid/pack-approval-in-two-sessions': await lie('One approval of two sessions.', two, [
      ...[...votes({ approved_scope: 'once' }), call],
      moveOf(3, secondCall, { changes: { session_id: 'session-2' }, facts: pending }),
    ]),
  };
}

async function termsOfRules(): Promise<Record<string, ReceiptVector>> {
  const lie = refused('APPROVAL_CONTRADICTED');
  const [once, locked] = [asking({}), asking({ timelock: 5 })];
  const [call, later] = [used(once), used(locked)];
  const short = asking({ timeout: 8 });
  const late = used(short);
  return {
    'invalid/pack-terms-scope': await lie('A call whose approval has more uses than its rule permits.', once, [
      moveOf(1, call, { facts: { approved_scope: 'uses:9' } }),
      call,
    ]),
    'invalid/pack-terms-scope-unstated': await lie('Two calls under a rule for one, without a stated scope.', once, [
      ...[moveOf(1, call), call, again(call, 10, once)],
    ]),
    'invalid/pack-terms-timeout': await lie('A call after the lifetime that its rule permits.', short, [
      moveOf(1, late),
      late,
    ]),
    'invalid/pack-terms-timelock': await lie('A call within the time lock of its rule.', locked, [
      moveOf(5, later),
      later,
    ]),
    'valid/pack-terms-kept': await valid('A call at the end of the time lock of its rule.', locked, [
      moveOf(4, later, { facts: { approved_scope: 'once' } }),
      later,
    ]),
  };
}

async function rulesOfPolicies(): Promise<Record<string, ReceiptVector>> {
  const lie = refused('POLICY_MISMATCH');
  const denied = bundleOf({ id: 'mail', effect: 'deny', match: {} });
  const gates = traceOf();
  return {
    'valid/pack-rule': await valid('A call that a rule of its policy allows.', mail, [decision(1, mail)]),
    'invalid/pack-rule-denies': await lie('A call that a rule of its policy denies.', denied, [decision(1, denied)]),
    'invalid/pack-rule-unknown': await lie('A call by a rule that its policy lacks.', mail, [
      decision(1, mail, { matched_rules: ['ghost'] }),
    ]),
    'invalid/pack-rule-unnamed': await lie('A call that names no rule.', two, [
      ...[moveOf(1, used(two)), used(two, 9, { matched_rules: [] })],
    ]),
    'invalid/pack-rule-twice': await lie('A call that names a rule twice.', mail, [
      decision(1, mail, { matched_rules: ['mail', 'mail'] }),
    ]),
    'invalid/pack-rule-escalates': await lie('A call without approval, by a rule that escalates.', two, [
      decision(1, two, { gates }),
    ]),
    'invalid/pack-bundle-without-format': await lie('A policy that is no bundle.', { rules: [] }, [
      decision(1, { rules: [] }),
    ]),
    'invalid/pack-bundle-with-a-rule-twice': await lie(
      'A policy with two rules of one id.',
      bundleOf(...mail.rules, ...mail.rules),
      [decision(1, bundleOf(...mail.rules, ...mail.rules))],
    ),
  };
}

async function fencesOfPacks(): Promise<Record<string, ReceiptVector>> {
  const lie = refused('CONTROL_CONTRADICTED');
  const freeze = fence(1, { kind: 'freeze', epoch: 2 });
  const refusal = { verdict: 'DENY', reason_code: 'POLICY_DENIED' };
  const call = decision(9, mail);
  return {
    'valid/pack-fence-lifted': await valid('A freeze that a later change lifts.', mail, [
      ...[freeze, fence(2, { kind: 'none', epoch: 3 }), call],
    ]),
    'invalid/pack-fence-of-an-earlier-epoch': await lie('A freeze that an earlier change lifts.', mail, [
      ...[freeze, fence(2, { kind: 'none', epoch: 1 }), call],
    ]),
    'invalid/pack-fence-lifted-by-a-denial': await lie('A freeze that a refused change lifts.', mail, [
      ...[freeze, fence(2, { kind: 'none', epoch: 3 }, refusal), call],
    ]),
  };
}
