import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApprovalId, Instant, ReceiptId, UserId } from '../scalars.ts';
import { PublicApproval, PublicReceipt } from './public-proof.ts';
import { PublicReplay, ReplayId } from './replays.ts';

/** 128 random bits, base64url, so that it cannot be guessed. */
export const HandleId = z
  .string()
  .regex(/^hdl_[A-Za-z0-9_-]{22}$/, 'must look like hdl_ and 22 letters of base64url')
  .brand<'HandleId'>();
export type HandleId = z.infer<typeof HandleId>;

const daySeconds = 86_400;
/** The longest lifetime of a publication. It can be published again. */
const lifetimeSecondsMax = 366 * daySeconds;

const named = {
  public: z.boolean(),
  /** The public address. `null` when the evidence is not public. */
  url: z.string().nullable(),
  created_by: UserId,
  created_at: Instant,
  expires_at: Instant,
  /** The decision that allowed the publication. `null` when the evidence is not public. */
  receipt_id: ReceiptId.nullable(),
};

/** The object that a handle refers to. */
export const NamedId = z.union([ReceiptId, ApprovalId, ReplayId]);
export type NamedId = z.infer<typeof NamedId>;

export const NamedKind = z.enum(['receipt', 'approval', 'replay']);

/** A handle of one receipt, approval or replay. It expires, and can be revoked. It reveals only `shown`. */
export const EvidenceHandle = z.discriminatedUnion('kind', [
  z.strictObject({ handle: HandleId, kind: z.literal('receipt'), ...named, shown: PublicReceipt }),
  z.strictObject({ handle: HandleId, kind: z.literal('approval'), ...named, shown: PublicApproval }),
  z.strictObject({ handle: HandleId, kind: z.literal('replay'), ...named, shown: PublicReplay }),
]);
export type EvidenceHandle = z.infer<typeof EvidenceHandle>;

export const createEvidenceHandle = defineRoute({
  operation: 'create-evidence-handle',
  summary:
    'Create a handle for a receipt, an approval or a replay. Publishing with `public` needs an ALLOW of ' +
    '`evidence.publish` from the kernel.',
  method: 'POST',
  path: '/api/audit/handles',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  needsPresence: true,
  leastRole: 'owner',
  right: 'evidence.publish',
  status: 201,
  bodyBytesMax: 10_000,
  body: z.strictObject({
    object_id: NamedId,
    public: z.boolean().default(false),
    expires_in_seconds: z
      .int()
      .min(60)
      .max(lifetimeSecondsMax)
      .default(30 * daySeconds),
  }),
  reply: EvidenceHandle,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'POLICY_DENIED', 'APPROVAL_NEEDED', 'GOVERNANCE_UNAVAILABLE'],
});

const HandleSummary = z.strictObject({
  handle: HandleId,
  kind: NamedKind,
  object_id: NamedId,
  ...named,
});
export type HandleSummary = z.infer<typeof HandleSummary>;

export const listEvidenceHandles = defineRoute({
  operation: 'list-evidence-handles',
  summary: 'List the active evidence handles of the workspace, newest first.',
  method: 'GET',
  path: '/api/audit/handles',
  auth: 'session',
  forward: {},
  opensToPrograms: true,
  leastRole: 'member',
  right: 'evidence.read',
  keyScopes: ['basic:read'],
  query: z.strictObject(PageQuery),
  reply: page(HandleSummary),
  errors: ['INVALID_REQUEST'],
});

/** Accepts any text, so that an impossible handle gets the same 404 as an unknown one. */
const OfHandle = z.strictObject({ handle: z.string().min(1).max(128) });

export const getEvidenceHandle = defineRoute({
  operation: 'get-evidence-handle',
  summary: 'Get an evidence handle of the workspace with its object. Expired and revoked handles return 404.',
  method: 'GET',
  path: '/api/evidence/{handle}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'evidence.read',
  params: OfHandle,
  reply: EvidenceHandle,
  errors: ['NOT_FOUND'],
});

export const revokeEvidenceHandle = defineRoute({
  operation: 'revoke-evidence-handle',
  summary: 'Revoke an evidence handle. It takes effect on the next request.',
  method: 'DELETE',
  path: '/api/evidence/{handle}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'partner',
  right: 'evidence.unpublish',
  params: OfHandle,
  reply: z.strictObject({ revoked: z.literal(true) }),
  errors: ['NOT_FOUND'],
});
