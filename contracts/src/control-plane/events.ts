import { z } from 'zod';
import { defineEvent } from '../event.ts';
import { ListedOrg, ListedOrgWorkspace } from './orgs.ts';
import { Digest, IncidentId, PrincipalId, SignInId, UserId, WorkspaceId } from '../scalars.ts';
import { IncidentCategory, IncidentSeverity, IncidentState } from './incidents.ts';

/** A session of a browser or a program ended. Services close everything that is open for it. */
export const sessionEnded = defineEvent({
  type: 'session.ended.v1',
  data: z.strictObject({
    session_id: SignInId,
    user_id: UserId,
    reason: z.enum(['signed_out', 'signed_in_again', 'refresh_reused', 'ended_by_owner', 'access_ended']),
  }),
  forOthers: 'systems of the operator that watch sign-ins',
});

/** The active bundle of a workspace changed. It applies from the next decision on. */
export const policyActivated = defineEvent({
  type: 'policy.activated.v1',
  data: z.strictObject({
    workspace_id: WorkspaceId,
    policy_hash: Digest,
    /** The policy that was in force before. */
    base_hash: Digest,
    /** The report on which the activation is based. */
    report_hash: Digest,
    epoch: z.int().min(1),
  }),
  forOthers: 'systems of the operator that keep a register of policies',
});

/** An incident was opened, seen again, or changed its state. */
export const incidentMoved = defineEvent({
  type: 'incident.moved.v1',
  data: z.strictObject({
    workspace_id: WorkspaceId,
    incident_id: IncidentId,
    severity: IncidentSeverity,
    category: IncidentCategory,
    /** `null` when the incident is new. */
    from: IncidentState.nullable(),
    to: IncidentState,
    recurrence: z.int().min(1),
    /** `null` when the control plane acted by itself. */
    by: PrincipalId.nullable(),
  }),
});

/** An organisation was created. */
export const orgCreated = defineEvent({ type: 'org.created.v1', data: ListedOrg });

/** A workspace joined an organisation. It never leaves it. */
export const orgWorkspaceAdded = defineEvent({ type: 'org.workspace-added.v1', data: ListedOrgWorkspace });
