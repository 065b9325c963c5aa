import { chainOfRecords, exportOf, idOf, strangeSigner, type Members } from './chain-fixture.ts';
import { enrolledKey, voteRecord } from './ceremony-fixture.ts';
import { approvedGates, approvalId, bundleOf, decision, packOf } from './approved-packs.ts';
import { packKeys } from './pack-fixture.ts';
import { invalid, valid, type ReceiptVector } from './receipt-vector.ts';

/** A passkey whose signatures are the same in each run. */
const passkey = { publicKey: enrolledKey, sign: (data: Uint8Array) => strangeSigner.sign(data) };
const two = bundleOf({ id: 'mail', effect: 'escalate', match: {}, approval: { quorum: 2 } });
const call = decision(9, two, { gates: approvedGates, approval_id: approvalId });

/** A vote by passkey on the call. */
function voteOn({ intent, judged_hash = null, policy_hash = null }: Members, by: string, shown: Members = {}) {
  const { intent_hash, resource, tool, effect_level } = intent as { [name: string]: string | null }; // the call has these
  const subject = { resource: resource ?? null, tool: tool ?? null, effect_level: effect_level ?? null };
  const number = by === 'ada' ? 1 : 2;
  const hashes = { approved_intent_hash: intent_hash, approved_judged_hash: judged_hash };
  return voteRecord({
    passkey,
    statement: { approver_id: by, ...subject, intent_hash, judged_hash, policy_hash, ...shown },
    evidence: { ...hashes, state: by === 'ada' ? 'pending' : 'approved' },
    intent: subject,
    record: {
      ...{ principal_id: by, policy_hash, record_id: idOf('rec', number) },
      ...{ decision_id: idOf('dec', number), receipt_id: idOf('rcp', number) },
    },
  });
}

/** Votes by passkey, which the passkey of the vector signs. */
export async function passkeyVectors(): Promise<Record<string, ReceiptVector>> {
  const chain = (...records: Members[]) => exportOf([chainOfRecords(records)]);
  const lasting = (approved_expires_at: string) => voteRecord({ passkey, evidence: { approved_expires_at } });
  const refused = { verdict: 'NOT_VERIFIED', code: 'APPROVAL_CONTRADICTED' } as const;
  const keys = packKeys();
  const shown = { action: 'files.list' };
  return {
    'valid/passkey-vote': valid('A vote by passkey.', await chain(lasting('2026-02-01T01:00:00.000Z'))),
    'invalid/passkey-vote-that-lasts': invalid(
      'A vote that approves for longer than its passkey signed.',
      'ASSERTION_MISMATCH',
      await chain(lasting('2026-02-01T01:00:00.001Z')),
      0,
    ),
    'invalid/passkey-one-key': {
      about: 'One passkey that votes for two people.',
      ...{ keys, export: await packOf(two, [voteOn(call, 'ada'), voteOn(call, 'bob'), call]), expect: refused },
    },
    'invalid/passkey-call-shown-otherwise': invalid(
      'A call with another action than the passkey signed.',
      'APPROVAL_CONTRADICTED',
      await chain(voteOn(call, 'bob', shown), call),
      1,
    ),
  };
}
