import { nodeProvider } from '@countersign/crypto/node';
import { intentHash } from '@countersign/receipts';
import { allowed, chainOfRecords, exportOf, hashOf, idOf, recordOf, traceOf } from './chain-fixture.ts';
import type { Members } from './chain-fixture.ts';
import { invalid, valid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const approval_id = idOf('apr', 7);
const pin = hashOf('definition');
const gates = traceOf({
  rules: { outcome: 'escalate', reason_code: 'APPROVAL_REQUIRED' },
  approval: { outcome: 'pass' },
});
const call = { ...allowed, gates, approval_id, tool_definition_hash: pin };

type Move = { action?: string; kind?: string; by?: string };

/** A vote on the approval that the call of the next record uses, or a change of its state. */
function moveOf(number: number, facts: Members, move: Move = {}): Members {
  const { action = 'approval.approve', kind = 'approval', by = 'alice' } = move;
  const lets = ['approval.approve', 'approval.break_glass'].includes(action);
  const verdict = lets
    ? { verdict: 'ALLOW', reason_code: 'ALLOWED' }
    : { verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' };
  const args_hash = hashOf(['args', number]);
  const named = { tenant: 'acme', principal: by, session: 'session-1', action, resource: null, args_hash };
  const intent_hash = intentHash(nodeProvider, { ...named, tool: 'mail.send' } as never); // args_hash is a digest
  const values = { state: 'approved', approved_preconditions: { tool_definition_hash: pin, budgets: null }, ...facts };
  return recordOf(number, {
    ...{ kind, ...verdict, gates: [], matched_rules: [], approval_id, principal_id: by },
    intent: { action, intent_hash, facts: { approved_judged_hash: judgedOf(2), ...values } },
  });
}

const judgedOf = (number: number) => recordOf(number, call)['judged_hash'] as string; // the record is a decision

/** Cases of a call that uses an approval, with the votes before it. */
export async function usedApprovals(): Promise<Record<string, ReceiptVector>> {
  const chain = (...records: Members[]) => exportOf([chainOfRecords(records)]);
  const refused = async (what: string, records: Members[], index = 1) =>
    invalid(what, 'APPROVAL_CONTRADICTED', await chain(...records), index);
  const used = recordOf(2, call);
  const usedAgain = recordOf(3, { ...call, intent: used['intent'] ?? null });
  const glass = { kind: 'break_glass', action: 'approval.break_glass' };
  const broken = { credential: 'access_key', reason: 'a fire', approved_judged_hash: judgedOf(2) };
  return {
    'valid/approval-used': valid('A call that uses an approval which was given.', await chain(moveOf(1, {}), used)),
    'valid/approval-used-after-its-lock': valid(
      'A call that uses an approval at the moment from which on it may.',
      await chain(moveOf(1, { timelock_until: '2026-02-01T00:00:02.000Z' }), used),
    ),
    'valid/broken-glass-used': valid(
      'A call that one person let go alone.',
      await chain(moveOf(1, { ...broken, expires_at: '2026-02-01T00:15:01.000Z' }, glass), used),
    ),
    'valid/approval-of-a-proposal': valid(
      'A call that was only proposed, as it had been approved: it uses nothing and names no approval.',
      await chain(moveOf(1, {}), recordOf(2, { ...call, approval_id: null, dispatched_by: 'nobody' })),
    ),
    'valid/approval-of-a-trial': valid(
      'A shadow decision about a call that had been approved: it uses nothing and names no approval.',
      await exportOf([
        chainOfRecords([moveOf(1, {}), recordOf(2, { ...call, approval_id: null })], { 2: { shadow: true } }),
      ]),
    ),
    'invalid/approval-unnamed': await refused('A call that uses an approval and does not say which.', [
      moveOf(1, {}),
      recordOf(2, { ...call, approval_id: null }),
    ]),
    'invalid/approval-without-an-ask': await refused('A call that names an approval for which nothing asked.', [
      moveOf(1, {}),
      recordOf(2, { ...call, gates: allowed.gates }),
    ]),
    'invalid/approval-of-a-proposal-used': await refused('A call that was only proposed and uses an approval.', [
      moveOf(1, {}),
      recordOf(2, { ...call, dispatched_by: 'nobody' }),
    ]),
    'invalid/approval-by-whoever-asked': await refused('A call that uses an approval which its own caller gave.', [
      moveOf(1, {}, { by: 'agent-1' }),
      used,
    ]),
    'invalid/approval-by-whoever-asked-first': await refused(
      'A call that uses an approval of two votes, one of which is its own caller under another spelling.',
      [
        moveOf(1, { state: 'pending', approved_judged_hash: judgedOf(3) }, { by: 'Agent-1' }),
        moveOf(2, { approved_judged_hash: judgedOf(3) }),
        recordOf(3, call),
      ],
      2,
    ),
    'invalid/approval-never-given': await refused('A call that uses an approval which no vote gave.', [
      recordOf(1),
      used,
    ]),
    'invalid/approval-still-pending': await refused('A call that uses an approval which wants more votes.', [
      moveOf(1, { state: 'pending' }),
      used,
    ]),
    'invalid/approval-withdrawn': await refused(
      'A call that uses an approval after it was withdrawn.',
      [
        moveOf(1, { approved_judged_hash: judgedOf(3) }),
        moveOf(2, { state: 'revoked', approved_judged_hash: judgedOf(3) }, { action: 'approval.revoke' }),
        recordOf(3, call),
      ],
      2,
    ),
    'invalid/approval-denied-and-given': invalid(
      'A vote that denies, and says that it leaves the approval given.',
      'APPROVAL_CONTRADICTED',
      await chain(moveOf(1, {}, { action: 'approval.deny' }), used),
      0,
    ),
    'invalid/approval-of-another-call': await refused('A call that uses the approval of another one.', [
      moveOf(1, { approved_judged_hash: hashOf('another call') }),
      used,
    ]),
    'invalid/approval-used-twice': await refused(
      'Two calls that use an approval for one.',
      [moveOf(1, { approved_scope: 'once' }), used, usedAgain],
      2,
    ),
    'valid/approval-used-within-its-uses': valid(
      'Two calls that use an approval for two.',
      await chain(moveOf(1, { approved_scope: 'uses:2' }), used, usedAgain),
    ),
    'invalid/approval-after-its-end': await refused('A call that uses an approval at the moment of its end.', [
      moveOf(1, { approved_expires_at: '2026-02-01T00:00:02.000Z' }),
      used,
    ]),
    'invalid/approval-before-its-moment': await refused('A call that uses an approval while its time lock runs.', [
      moveOf(1, { timelock_until: '2026-02-01T00:00:02.001Z' }),
      used,
    ]),
    'invalid/approval-under-another-pin': await refused('A call whose tool was pinned again after it was approved.', [
      moveOf(1, { approved_preconditions: { tool_definition_hash: hashOf('before'), budgets: null } }),
      used,
    ]),
    'invalid/broken-glass-too-late': await refused('A call that was let go alone, after that had ended.', [
      moveOf(1, { ...broken, expires_at: '2026-02-01T00:00:02.000Z' }, glass),
      used,
    ]),
    'invalid/broken-glass-for-hours': invalid(
      'Glass that was broken for longer than a quarter of an hour.',
      'APPROVAL_CONTRADICTED',
      await chain(moveOf(1, { ...broken, expires_at: '2026-02-01T00:15:01.001Z' }, glass), used),
      0,
    ),
    'invalid/broken-glass-without-reason': invalid(
      'Glass that was broken for no reason.',
      'MALFORMED',
      await chain(moveOf(1, { ...broken, reason: ' ', expires_at: '2026-02-01T00:15:01.000Z' }, glass), used),
      0,
    ),
    'invalid/broken-glass-by-the-operator-key': invalid(
      'Glass that was broken by a key which proves no person.',
      'MALFORMED',
      await chain(
        moveOf(1, { ...broken, credential: 'operator_bearer', expires_at: '2026-02-01T00:15:01.000Z' }, glass),
        used,
      ),
      0,
    ),
  };
}
