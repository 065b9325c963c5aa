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

/** The published moves; there are no others. */
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
  /** The server of a tool shows something else than what was pinned. */
  'drift',
  /** A receipt does not hold what it says. */
  'verification',
  /** A service of ours was not heard from. */
  'heartbeat',
  /** The kernel has not confirmed a stop. */
  'unconfirmed_command',
  /** A person approved alone what a quorum or a time lock would have held. */
  'broken_glass',
  /** The conduct of an agent. */
  'conduct',
  'other',
]);
export type IncidentCategory = z.infer<typeof IncidentCategory>;

/** The key by which two reports are the same incident while it is not closed. */
const DedupKey = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be up to 256 visible letters of ASCII');

/** More of them are one report of many things; each is looked up. */
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
  /** How often it was seen; it only rises. */
  recurrence: z.int().min(1),
  /** The person who acknowledged it last. Null while it is open. */
  owner: PrincipalId.nullable(),
  /** Null: the control plane opened it by itself. */
  opened_by: PrincipalId.nullable(),
  opened_at: Instant,
  last_seen_at: Instant,
  updated_at: Instant,
};

export const IncidentSummary = z.strictObject(facts);
export type IncidentSummary = z.infer<typeof IncidentSummary>;

const entry = {
  at: Instant,
  /** Null: the control plane by itself. */
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
    /** Fences that were knowingly left standing. */
    standing: z.array(OpsTarget),
  }),
  z.strictObject({ kind: z.literal('commanded'), ...entry, command_id: CommandId }),
  z.strictObject({ kind: z.literal('planned'), ...entry, plan_id: PlanId }),
]);
export type IncidentEntry = z.infer<typeof IncidentEntry>;

/** The most entries that one page shows, the newest. */
export const incidentListsMax = { timeline: 500, commands: 100, plans: 20, receipts: 100 } as const;

export const Incident = z.strictObject({
  ...facts,
  /** Oldest first. */
  timeline: z.array(IncidentEntry).max(incidentListsMax.timeline),
  /** The first that were named; what is seen again and again has others. */
  receipts: z.array(ReceiptId).max(incidentListsMax.receipts),
  /** The commands for it, direct or by its plans, oldest first. */
  commands: z.array(OpsCommand).max(incidentListsMax.commands),
  /** Newest first, each as it stands now. */
  plans: z.array(Plan).max(incidentListsMax.plans),
  /** Stops that were given for it and stand, or that the kernel has not confirmed. It is not resolved before each is lifted or named. */
  standing: z.array(z.strictObject({ target: OpsTarget, kind: StopKind, command_id: CommandId })),
});
export type Incident = z.infer<typeof Incident>;

export const listIncidents = defineRoute({
  operation: 'list-incidents',
  summary: 'Incidents of the workspace, newest first.',
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
    'Open an incident, 201. One that has the same `dedup_key` and is not closed is seen again instead, 200: its recurrence rises, and a resolved one is open again.',
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
    /** Absent: it is like no other. */
    dedup_key: DedupKey.optional(),
    receipts: z
      .array(ReceiptId)
      .max(namedReceiptsMax)
      .refine((ids) => new Set(ids).size === ids.length, 'may name each receipt once')
      .default([]),
  }),
  reply: Incident,
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});

/** Loose on purpose: an id that cannot exist is answered like one that does not, with the same 404. */
const OfIncident = z.strictObject({ incident_id: z.string().min(1).max(128) });

export const getIncident = defineRoute({
  operation: 'get-incident',
  summary: 'One incident with its timeline, receipts, commands and plans, and the ETag that a move of it names.',
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
  /** Fences of its own that are to stay when it is resolved. */
  standing: z.array(OpsTarget).max(incidentListsMax.commands).default([]),
});

export const transitionIncident = defineRoute({
  operation: 'transition-incident',
  summary:
    'Move an incident with a note, under If-Match with the ETag that was read. It does not resolve while a fence of its own stands that `standing` does not name.',
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
