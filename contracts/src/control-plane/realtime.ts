import { z } from 'zod';
import { BoundaryStatus } from '../governance-kernel/standing.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, ReceiptId, WorkspaceId } from '../scalars.ts';

/** The kind of object that changed. A page that shows such objects reads them again. */
export const HintType = z.enum([
  'approval',
  'audit',
  'budget',
  'fence',
  'identity',
  'incident',
  'members',
  'policy',
  'run',
  'task',
  'violation',
]);
export type HintType = z.infer<typeof HintType>;

const seq = z.int().min(0);

/** All that a socket ever says: that something changed, and where to look. The routes return the new state. */
export const Hint = z.strictObject({
  v: z.literal(1),
  /** The place in what is told of the workspace. Each is one above the last; after a gap everything is to be read again. */
  seq,
  /** `ready`: the socket is open, and this is the place that it begins behind. */
  type: z.enum(['ready', ...HintType.options]),
  workspace_id: WorkspaceId,
  /** The id of what changed; null where there is one of its kind. */
  ref: z.string().max(512).nullable(),
  /** The version of the changed object, if it has one. */
  version: z.int().nullable(),
});
export type Hint = z.infer<typeof Hint>;

/** Numbers only, and no text of any caller. */
export const TelemetryNumbers = z.strictObject({
  v: z.literal(1),
  /** One above the last of this socket. */
  seq,
  changes_last_minute: z.int().min(0),
  unconfirmed_commands: z.int().min(0),
});
export type TelemetryNumbers = z.infer<typeof TelemetryNumbers>;

/** The protocols of the sockets. A client names one of them, and beside it `ticket.` with its ticket. */
export const socketProtocols = { console: 'countersign.console.v1', telemetry: 'countersign.telemetry.v1' } as const;
export const ticketProtocolPrefix = 'ticket.';

/** Why the server closes a socket (RFC 6455 §7.4.2: 4000 to 4999 are ours). */
export const socketEndCodes = {
  /** The session is over: sign in again. */
  sessionOver: 4401,
  /** The members of the workspace changed: a current member asks for a new ticket. */
  membersChanged: 4403,
} as const;

/** The time from a page's ticket to its socket. */
export const ticketSeconds = 30;

export const createSessionTicket = defineRoute({
  operation: 'create-session-ticket',
  summary:
    'A ticket for one socket of this browser in one workspace, good once and for half a minute: a socket sends no header by which a page could be told from another.',
  method: 'POST',
  path: '/api/session/ticket',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'secret' },
  leastRole: 'member',
  right: 'event.follow',
  reply: z.strictObject({ ticket: z.string(), expires_at: Instant }),
});

const socket = {
  method: 'GET',
  auth: 'session',
  provenBy: 'browser_session',
  media: 'socket',
  status: 101,
} as const;

export const openConsoleSocket = defineRoute({
  ...socket,
  operation: 'open-console-socket',
  summary: 'A WebSocket that tells what changes in the workspace of its ticket, in references alone.',
  path: '/ws/console',
  forward: { answer: 'stream' },
  reply: Hint,
  errors: ['UPGRADE_REQUIRED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED'],
});

export const openTelemetrySocket = defineRoute({
  ...socket,
  operation: 'open-telemetry-socket',
  summary: 'A WebSocket that tells how much changes in the workspace of its ticket, in numbers alone.',
  path: '/ws/telemetry',
  forward: { answer: 'stream' },
  reply: TelemetryNumbers,
  errors: ['UPGRADE_REQUIRED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED'],
});

/** A count that stops where its list does. */
const Count = z.int().min(0);

export const Snapshot = z.strictObject({
  v: z.literal(1),
  workspace_id: WorkspaceId,
  /** The place in what sockets tell that this is not older than. */
  seq,
  kernel: z.enum(['ok', 'unreachable']),
  /** The state of the kernel; `null` while it is away, since it is unknown then. */
  boundary: z
    .strictObject({
      status: BoundaryStatus.shape.status,
      policy: BoundaryStatus.shape.policy.pick({ state: true, owner: true, policy_hash: true, policy_epoch: true }),
      last_proven_fail_closed: Instant.nullable(),
      counts: z.strictObject({
        pending_approvals: Count,
        /** Those that the calling person may approve, among the newest 200 that are pending. */
        waiting_for_you: Count,
        open_dispatches: Count,
        fences: Count,
      }),
      /** The hash of all fences with their epochs; it changes with each of them. */
      fences_hash: Digest,
      last_receipt_id: ReceiptId.nullable(),
    })
    .nullable(),
  counts: z.strictObject({ unconfirmed_commands: Count }),
  /** Where the audit logs of the workspace end: the gateway's, and the one of the control plane. */
  heads: z.strictObject({ gateway_audit_seq: seq, audit_seq: seq }),
});
export type Snapshot = z.infer<typeof Snapshot>;

export const getSnapshot = defineRoute({
  operation: 'get-snapshot',
  summary:
    'The current state of the workspace in counts, heads and versions, under an ETag that changes with any of them. It replaces messages that a socket missed.',
  method: 'GET',
  path: '/api/snapshot',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'workspace.read',
  alsoStatus: [304],
  reply: Snapshot,
  errors: ['GATEWAY_UNAVAILABLE'],
});
