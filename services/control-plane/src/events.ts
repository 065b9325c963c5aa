import { PrincipalId, type EventOf, type SignInId, type UserId } from '@countersign/contracts';
import {
  incidentMoved,
  orgCreated,
  orgWorkspaceAdded,
  policyActivated,
  sessionEnded,
  type ListedOrg,
  type ListedOrgWorkspace,
} from '@countersign/contracts/control-plane';
import { recordEventsIn } from '@countersign/messaging';
import type { Context } from './context.ts';
import type { Tx } from './store/database.ts';
import type { StoredIncident } from './store/incidents.ts';
import type { StoredActivation } from './store/policy-activations.ts';

/* The events that the control plane publishes. Each event is written in the transaction that makes it true. */

export type EndReason = EventOf<typeof sessionEnded>['data']['reason'];
type Ended = { id: SignInId; userId: UserId; reason: EndReason };

export async function publishSessionEnded(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  { id, userId, reason }: Ended,
): Promise<void> {
  await recordEventsIn(tx, [newEvent(sessionEnded, { session_id: id, user_id: userId, reason })]);
}

/** Published once per epoch, by the first process that records that a policy is in force. */
export async function publishPolicyActivated(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  { workspaceId, policyHash, baseHash, reportHash, epoch }: StoredActivation,
): Promise<void> {
  const data = {
    workspace_id: workspaceId,
    policy_hash: policyHash,
    base_hash: baseHash,
    report_hash: reportHash,
    epoch,
  };
  await recordEventsIn(tx, [newEvent(policyActivated, data, { tenantid: workspaceId })]);
}

type Moved = { incident: StoredIncident; from: StoredIncident['state'] | null; by: StoredIncident['owner'] };

export async function publishIncidentMoved(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  { incident, from, by }: Moved,
): Promise<void> {
  const { id: incident_id, workspaceId, severity, category, state: to, recurrence } = incident;
  const of = { workspace_id: workspaceId, incident_id, severity, category };
  const data = { ...of, from, to, recurrence, by: by === null ? null : PrincipalId.parse(by) };
  await recordEventsIn(tx, [newEvent(incidentMoved, data, { tenantid: workspaceId })]);
}

export async function publishOrgCreated(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  org: ListedOrg,
): Promise<void> {
  await recordEventsIn(tx, [newEvent(orgCreated, org)]);
}

export async function publishOrgWorkspaceAdded(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  added: ListedOrgWorkspace,
): Promise<void> {
  await recordEventsIn(tx, [newEvent(orgWorkspaceAdded, added, { tenantid: added.workspace_id })]);
}
