import { z } from 'zod';
import { listInboxApprovals, resolveApproval } from '../control-plane/approvals.ts';
import { createBlastRadius } from '../control-plane/blast-radius.ts';
import { createEvidenceHandle, listEvidenceHandles } from '../control-plane/evidence-handles.ts';
import {
  createIncident,
  getIncident,
  IncidentMove,
  IncidentState,
  IncidentSummary,
  listIncidents,
  transitionIncident,
} from '../control-plane/incidents.ts';
import { approvePlan, commitPlan, createPlan, listPlans } from '../control-plane/plans.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApprovalId, Digest } from '../scalars.ts';
import { gatesOf, shapeOf } from './second-door.ts';

export const listBasicApprovals = defineRoute({
  ...gatesOf(listInboxApprovals),
  operation: 'list-basic-approvals',
  summary: 'Approvals of the workspace, as the inbox of the console lists them. A key never decides.',
  method: 'GET',
  path: '/api/basic/approvals',
  query: shapeOf(listInboxApprovals.query),
  reply: listInboxApprovals.reply,
});

export const resolveBasicApproval = defineRoute({
  ...gatesOf(resolveApproval),
  operation: 'resolve-basic-approval',
  summary:
    'Decide on an approval by the ceremony of the console: with a passkey, or before the first passkey by If-Match with the ceremony_hash.',
  method: 'POST',
  idempotency: { exempt: 'precondition' },
  path: '/api/basic/approvals/{approval_id}/resolve',
  params: z.strictObject({ approval_id: ApprovalId }),
  body: shapeOf(resolveApproval.body),
  reply: resolveApproval.reply,
});

export const listBasicEvidence = defineRoute({
  ...gatesOf(listEvidenceHandles),
  operation: 'list-basic-evidence',
  summary: 'Live evidence handles of the workspace, newest first. Each names a receipt, an approval or a replay.',
  method: 'GET',
  path: '/api/basic/evidence',
  query: shapeOf(listEvidenceHandles.query),
  reply: listEvidenceHandles.reply,
});

export const createBasicEvidence = defineRoute({
  ...gatesOf(createEvidenceHandle),
  operation: 'create-basic-evidence',
  summary: 'Create an evidence handle. With `public`, the kernel decides first, as `evidence.publish`.',
  method: 'POST',
  idempotency: 'key',
  path: '/api/basic/evidence',
  body: shapeOf(createEvidenceHandle.body),
  reply: createEvidenceHandle.reply,
});

export const listBasicIncidents = defineRoute({
  ...gatesOf(listIncidents),
  operation: 'list-basic-incidents',
  summary:
    'Incidents of the workspace, newest first. With `incident_id`, that one alone and the ETag that a transition names.',
  method: 'GET',
  path: '/api/basic/incidents',
  alsoCalls: [getIncident.operation],
  query: z
    .strictObject({
      ...PageQuery,
      state: IncidentState.optional(),
      incident_id: z.string().min(1).max(128).optional(),
    })
    .refine(({ state, cursor, incident_id }) => incident_id === undefined || (state ?? cursor) === undefined, {
      path: ['incident_id'],
      message: 'must come without state and cursor',
    }),
  reply: page(IncidentSummary),
});

export const createBasicIncident = defineRoute({
  ...gatesOf(createIncident),
  operation: 'create-basic-incident',
  summary: 'Open an incident, 201. One with the same `dedup_key` that is not closed is seen again instead, 200.',
  method: 'POST',
  idempotency: 'key',
  path: '/api/basic/incidents',
  body: shapeOf(createIncident.body),
  reply: createIncident.reply,
});

export const transitionBasicIncident = defineRoute({
  ...gatesOf(transitionIncident),
  operation: 'transition-basic-incident',
  summary: 'Move an incident with a note, under If-Match with the ETag that was read.',
  method: 'POST',
  idempotency: { exempt: 'precondition' },
  path: '/api/basic/incidents/transition',
  body: IncidentMove.extend({ incident_id: z.string().min(1).max(128) }),
  reply: transitionIncident.reply,
});

export const listBasicPlans = defineRoute({
  ...gatesOf(listPlans),
  operation: 'list-basic-plans',
  summary: 'Plans of the workspace as they are now, newest first.',
  method: 'GET',
  path: '/api/basic/plans',
  query: shapeOf(listPlans.query),
  reply: listPlans.reply,
});

export const createBasicPlan = defineRoute({
  ...gatesOf(createPlan),
  operation: 'create-basic-plan',
  summary: 'Draft stops that are committed together, after a dry run that lists what they reach.',
  method: 'POST',
  idempotency: 'key',
  path: '/api/basic/plans',
  body: shapeOf(createPlan.body),
  reply: createPlan.reply,
});

const NamedPlan = z.strictObject({ plan_id: z.string().min(1).max(128), plan_hash: Digest });

export const approveBasicPlan = defineRoute({
  ...gatesOf(approvePlan),
  operation: 'approve-basic-plan',
  summary: 'Have the kernel decide whether this plan may be committed. A person does this.',
  method: 'POST',
  idempotency: { exempt: 'repeatable' },
  path: '/api/basic/plans/approve',
  body: NamedPlan,
  reply: approvePlan.reply,
});

export const commitBasicPlan = defineRoute({
  ...gatesOf(commitPlan),
  operation: 'commit-basic-plan',
  summary: 'Commit all stops of an approved plan at once. A person does this, with a fresh proof of presence.',
  method: 'POST',
  idempotency: { exempt: 'repeatable' },
  path: '/api/basic/plans/commit',
  body: NamedPlan,
  reply: commitPlan.reply,
});

export const createBasicBlastRadius = defineRoute({
  ...gatesOf(createBlastRadius),
  operation: 'create-basic-blast-radius',
  summary: 'The reach of stops, from the receipts of the last seven days. It changes nothing.',
  method: 'POST',
  idempotency: { exempt: 'reads' },
  path: '/api/basic/blastradius',
  body: shapeOf(createBlastRadius.body),
  reply: createBlastRadius.reply,
});
