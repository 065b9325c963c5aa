import { nodeProvider } from '@countersign/crypto/node';
import { intentHash } from '@countersign/receipts';
import { allowed, hashOf, idOf, recordOf, traceOf, type Members } from './chain-fixture.ts';
import { activation, packOf as packOfItems, policyLine } from './pack-fixture.ts';

export type Bundle = Members & { rules: Members[] };

export function bundleOf(...rules: Members[]): Bundle {
  return { format: 'countersign/policy.v1', name: 'p', version: '1', rules, tests: [] };
}

/** A record that decides no call. */
export function announcement(number: number, { intent = {}, ...changes }: Members = {}): Members {
  const named = { action: 'tool.call', tool: 'mail.send', resource: null, args_hash: hashOf(['args', number]) };
  const call = { ...named, ...(intent as Members) }; // every caller passes an object
  const { principal_id: principal = 'ada', session_id: session = 'session-1' } = changes;
  const { action, tool, resource, args_hash } = call;
  const hashed = { tenant: 'acme', principal, session, action, tool, resource, args_hash };
  return recordOf(number, {
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [], principal_id: 'ada', ...changes },
    intent: { facts: {}, ...call, intent_hash: intentHash(nodeProvider, hashed as never) }, // args_hash is a digest
  });
}

/** A decision under the policy with this bundle, which lets the call go. */
export function decision(number: number, bundle: Bundle, changes: Members = {}): Members {
  return recordOf(number, { ...allowed, dispatched_by: 'caller', policy_hash: hashOf(bundle), ...changes });
}

export const approvalId = idOf('apr', 7);
export const approvedGates = traceOf({
  rules: { outcome: 'escalate', reason_code: 'APPROVAL_REQUIRED' },
  approval: { outcome: 'pass' },
});

/** The lines of a pack of the whole log of acme. The policy with this bundle is activated first. */
export async function packOf(policy: Bundle, records: Members[]): Promise<string[]> {
  const first = records.findIndex(({ kind }) => kind === 'decision');
  const items = records.flatMap((record, at) => (at === first ? [policyLine({ policy }), { record }] : [{ record }]));
  return await packOfItems([activation(900, { policy }), ...items]);
}
