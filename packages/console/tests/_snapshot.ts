import { Snapshot } from '@countersign/contracts/control-plane';
import { at, workspaceId } from './_dom.tsx';

const hash = `sha256:${'0'.repeat(64)}`;
const idle = { pending_approvals: 0, waiting_for_you: 0, open_dispatches: 0, fences: 0, unapproved_tools: 0 };
type PolicyState = NonNullable<Snapshot['boundary']>['policy']['state'];
export type SnapshotFacts = {
  counts?: Partial<typeof idle>;
  status?: 'ready' | 'closed';
  policy?: PolicyState;
  unconfirmed?: number;
  openIncidents?: number;
  isAway?: boolean;
};

/** A snapshot of a workspace. Nothing needs attention by default. */
export function snapshot({
  counts = {},
  status = 'ready',
  policy = 'fresh',
  unconfirmed = 0,
  openIncidents = 0,
  isAway = false,
}: SnapshotFacts = {}): Snapshot {
  const boundary = {
    ...{ status, last_proven_fail_closed: at, fences_hash: hash, last_receipt_id: null },
    policy: { state: policy, owner: 'workspace', policy_hash: hash, policy_epoch: 1 },
    counts: { ...idle, ...counts },
  };
  return Snapshot.parse({
    ...{ v: 1, workspace_id: workspaceId, seq: 1, kernel: isAway ? 'unreachable' : 'ok' },
    boundary: isAway ? null : boundary,
    counts: { unconfirmed_commands: unconfirmed, open_incidents: openIncidents },
    heads: { gateway_audit_seq: 1, audit_seq: 1 },
  });
}
