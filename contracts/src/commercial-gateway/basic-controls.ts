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
  summary:
    "List the approvals of the workspace, as in the console's inbox. API keys can list approvals but not resolve " +
    'them.',
  method: 'GET',
  path: '/api/basic/approvals',
  query: shapeOf(listInboxApprovals.query),
  reply: listInboxApprovals.reply,
});

export const resolveBasicApproval = defineRoute({
  ...gatesOf(resolveApproval),
  operation: 'resolve-basic-approval',
  summary:
    "Approve or deny a request with a passkey. Before the workspace's first passkey, use If-Match with the " +
    '`ceremony_hash` instead.',
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
  summary:
    'List the active evidence handles of the workspace, newest first. Each handle points to a receipt, an ' +
    'approval or a replay.',
  method: 'GET',
  path: '/api/basic/evidence',
  query: shapeOf(listEvidenceHandles.query),
  reply: listEvidenceHandles.reply,
});

export const createBasicEvidence = defineRoute({
  ...gatesOf(createEvidenceHandle),
  operation: 'create-basic-evidence',
  summary: 'Create an evidence handle. Publishing with `public` needs an ALLOW of `evidence.publish` from the kernel.',
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
    'List the incidents of the workspace, newest first. With `incident_id`, returns only that incident, and the ' +
    'ETag that a transition needs.',
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
      message: 'must be sent without state and cursor',
    }),
  reply: page(IncidentSummary),
});

export const createBasicIncident = defineRoute({
  ...gatesOf(createIncident),
  operation: 'create-basic-incident',
  summary:
    'Open an incident (201). If an incident with the same `dedup_key` is not closed, its recurrence is counted ' +
    'instead (200).',
  method: 'POST',
  idempotency: 'key',
  path: '/api/basic/incidents',
  body: shapeOf(createIncident.body),
  reply: createIncident.reply,
});

export const transitionBasicIncident = defineRoute({
  ...gatesOf(transitionIncident),
  operation: 'transition-basic-incident',
  summary: 'Change the state of an incident, with a note. Requires If-Match with its current ETag.',
  method: 'POST',
  idempotency: { exempt: 'precondition' },
  path: '/api/basic/incidents/transition',
  body: IncidentMove.extend({ incident_id: z.string().min(1).max(128) }),
  reply: transitionIncident.reply,
});

export const listBasicPlans = defineRoute({
  ...gatesOf(listPlans),
  operation: 'list-basic-plans',
  summary: 'List the plans of the workspace with their current state, newest first.',
  method: 'GET',
  path: '/api/basic/plans',
  query: shapeOf(listPlans.query),
  reply: listPlans.reply,
});

export const createBasicPlan = defineRoute({
  ...gatesOf(createPlan),
  operation: 'create-basic-plan',
  summary: 'Create a draft plan of stops that are committed together. A dry run computes their blast radius.',
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
  summary: "Request the kernel's decision on the commit of a plan. API keys cannot do this.",
  method: 'POST',
  idempotency: { exempt: 'repeatable' },
  path: '/api/basic/plans/approve',
  body: NamedPlan,
  reply: approvePlan.reply,
});

export const commitBasicPlan = defineRoute({
  ...gatesOf(commitPlan),
  operation: 'commit-basic-plan',
  summary: 'Commit all stops of an approved plan together. Requires a person with a recent proof of presence.',
  method: 'POST',
  idempotency: { exempt: 'repeatable' },
  path: '/api/basic/plans/commit',
  body: NamedPlan,
  reply: commitPlan.reply,
});

export const createBasicBlastRadius = defineRoute({
  ...gatesOf(createBlastRadius),
  operation: 'create-basic-blast-radius',
  summary: 'Compute the blast radius of stops from the receipts of the last seven days. Nothing is changed.',
  method: 'POST',
  idempotency: { exempt: 'reads' },
  path: '/api/basic/blastradius',
  body: shapeOf(createBlastRadius.body),
  reply: createBlastRadius.reply,
});
