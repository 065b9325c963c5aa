import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  CommandId,
  IncidentId,
  Instant,
  PlanId,
  PrincipalId,
  ReceiptId,
  storableText,
  WorkspaceId,
} from '../scalars.ts';
import { OpsCommand, OpsTarget, StopKind } from './ops.ts';
import { Plan } from './plans.ts';

export const IncidentState = z.enum(['open', 'acked', 'mitigating', 'resolved', 'closed']);
export type IncidentState = z.infer<typeof IncidentState>;

/** All permitted state changes. */
export const incidentMoves: Readonly<Record<IncidentState, readonly IncidentState[]>> = {
  open: ['acked'],
  acked: ['mitigating'],
  mitigating: ['resolved'],
  // A repeated report reopens the same incident, until a person has closed it.
  resolved: ['closed', 'open'],
  closed: [],
};

export const IncidentSeverity = z.enum(['low', 'medium', 'high', 'critical']);
export type IncidentSeverity = z.infer<typeof IncidentSeverity>;

export const IncidentCategory = z.enum([
  /** A tool definition differs from its pin. */
  'drift',
  /** A receipt does not verify. */
  'verification',
  /** A service of this installation does not respond. */
  'heartbeat',
  /** The kernel has not confirmed a stop. */
  'unconfirmed_command',
  /** One person approved alone although a quorum or a time lock was required. */
  'broken_glass',
  /** An agent behaves in an unexpected way. */
  'conduct',
  'other',
]);
export type IncidentCategory = z.infer<typeof IncidentCategory>;

/** Two reports with the same key are one incident, until it is closed. */
const DedupKey = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be at most 256 visible ASCII characters');

/** The most receipts that one report can name. Each of them is looked up. */
const namedReceiptsMax = 20;

const Note = storableText({ min: 1, max: 2_000 });

const facts = {
  incident_id: IncidentId,
  workspace_id: WorkspaceId,
  title: z.string(),
  severity: IncidentSeverity,
  category: IncidentCategory,
  dedup_key: DedupKey,
  state: IncidentState,
  /** How often the incident was seen. The number only rises. */
  recurrence: z.int().min(1),
  /** The person who acknowledged the incident last. `null` while it is open. */
  owner: PrincipalId.nullable(),
  /** `null` when the control plane opened it by itself. */
  opened_by: PrincipalId.nullable(),
  opened_at: Instant,
  last_seen_at: Instant,
  updated_at: Instant,
};

export const IncidentSummary = z.strictObject(facts);
export type IncidentSummary = z.infer<typeof IncidentSummary>;

const entry = {
  at: Instant,
  /** `null` when the control plane acted by itself. */
  by: PrincipalId.nullable(),
  note: z.string(),
};

/** An event of an incident, or a note by a person. */
export const IncidentEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('opened'), ...entry }),
  z.strictObject({ kind: z.literal('seen_again'), ...entry, recurrence: z.int().min(2) }),
  z.strictObject({
    kind: z.literal('moved'),
    ...entry,
    from: IncidentState,
    to: IncidentState,
    /** Fences that were deliberately not lifted. */
    standing: z.array(OpsTarget),
  }),
  z.strictObject({ kind: z.literal('commanded'), ...entry, command_id: CommandId }),
  z.strictObject({ kind: z.literal('planned'), ...entry, plan_id: PlanId }),
]);
export type IncidentEntry = z.infer<typeof IncidentEntry>;

/** The most entries of each list of an incident. The newest entries of `timeline`, `commands` and `plans` are shown. */
export const incidentListsMax = { timeline: 500, commands: 100, plans: 20, receipts: 100 } as const;

export const Incident = z.strictObject({
  ...facts,
  /** Oldest first. */
  timeline: z.array(IncidentEntry).max(incidentListsMax.timeline),
  /** The first receipts that were reported. Later recurrences can have others. */
  receipts: z.array(ReceiptId).max(incidentListsMax.receipts),
  /** The commands for the incident, direct or by its plans, oldest first. */
  commands: z.array(OpsCommand).max(incidentListsMax.commands),
  /** Newest first, each with its current state. */
  plans: z.array(Plan).max(incidentListsMax.plans),
  /**
   * Stops of this incident that are in force or not yet confirmed by the kernel. Lift or name each of them to resolve
   * the incident.
   */
  standing: z.array(z.strictObject({ target: OpsTarget, kind: StopKind, command_id: CommandId })),
});
export type Incident = z.infer<typeof Incident>;

export const listIncidents = defineRoute({
  operation: 'list-incidents',
  summary: 'List the incidents of the workspace, newest first.',
  method: 'GET',
  path: '/api/ops/incidents',
  auth: 'session',
  forward: {},
  opensToPrograms: true,
  leastRole: 'member',
  right: 'incident.read',
  keyScopes: ['basic:read'],
  query: z.strictObject({ ...PageQuery, state: IncidentState.optional() }),
  reply: page(IncidentSummary),
  errors: ['INVALID_REQUEST'],
});

export const createIncident = defineRoute({
  operation: 'create-incident',
  summary:
    'Open an incident (201). If an incident with the same `dedup_key` is not closed, its recurrence is counted ' +
    'instead (200). A resolved incident is reopened.',
  method: 'POST',
  path: '/api/ops/incidents',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  leastRole: 'partner',
  right: 'incident.manage',
  keyScopes: ['basic:write'],
  status: 201,
  alsoStatus: [200],
  bodyBytesMax: 20_000,
  body: z.strictObject({
    title: storableText({ min: 1, max: 200 }),
    severity: IncidentSeverity,
    category: IncidentCategory,
    note: Note,
    /** Without a key, the incident is never merged with another. */
    dedup_key: DedupKey.optional(),
    receipts: z
      .array(ReceiptId)
      .max(namedReceiptsMax)
      .refine((ids) => new Set(ids).size === ids.length, 'must name each receipt once')
      .default([]),
  }),
  reply: Incident,
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});

/** Accepts any text, so that an impossible id gets the same 404 as an unknown one. */
const OfIncident = z.strictObject({ incident_id: z.string().min(1).max(128) });

export const getIncident = defineRoute({
  operation: 'get-incident',
  summary: 'Get an incident with its timeline, receipts, commands and plans, and the ETag that a transition needs.',
  method: 'GET',
  path: '/api/ops/incidents/{incident_id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'incident.read',
  keyScopes: ['basic:read'],
  params: OfIncident,
  reply: Incident,
  errors: ['NOT_FOUND'],
});

export const IncidentMove = z.strictObject({
  to: IncidentState,
  note: Note,
  /** Fences of this incident that stay in force when it is resolved. */
  standing: z.array(OpsTarget).max(incidentListsMax.commands).default([]),
});

export const transitionIncident = defineRoute({
  operation: 'transition-incident',
  summary:
    'Change the state of an incident, with a note and If-Match. Before you resolve it, lift each of its stops or ' +
    'name the stop in `standing`.',
  method: 'POST',
  path: '/api/ops/incidents/{incident_id}/transition',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  leastRole: 'partner',
  right: 'incident.manage',
  keyScopes: ['basic:write'],
  params: OfIncident,
  bodyBytesMax: 50_000,
  body: IncidentMove,
  reply: Incident,
  errors: ['NOT_FOUND', 'PRECONDITION_REQUIRED', 'PRECONDITION_FAILED', 'ILLEGAL_TRANSITION'],
});
