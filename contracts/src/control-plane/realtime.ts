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

/** The message of a console socket. It names a changed object. The routes return the new state. */
export const Hint = z.strictObject({
  v: z.literal(1),
  /** The position in the stream of the workspace. It rises by one. After a gap, read everything again. */
  seq,
  /** `ready`: the socket is open, and messages with a higher `seq` follow. */
  type: z.enum(['ready', ...HintType.options]),
  workspace_id: WorkspaceId,
  /** The id of the changed object. `null` when there is only one of its kind. */
  ref: z.string().max(512).nullable(),
  /** The version of the changed object, if it has one. */
  version: z.int().nullable(),
});
export type Hint = z.infer<typeof Hint>;

/** The message of a telemetry socket. It contains only numbers and no text of callers. */
export const TelemetryNumbers = z.strictObject({
  v: z.literal(1),
  /** One more than in the previous message of this socket. */
  seq,
  changes_last_minute: z.int().min(0),
  unconfirmed_commands: z.int().min(0),
});
export type TelemetryNumbers = z.infer<typeof TelemetryNumbers>;

/** The subprotocols of the sockets. A client sends one of them and a second one, `ticket.` followed by its ticket. */
export const socketProtocols = { console: 'countersign.console.v1', telemetry: 'countersign.telemetry.v1' } as const;
export const ticketProtocolPrefix = 'ticket.';

/** Why the server closes a socket (RFC 6455 §7.4.2: 4000 to 4999 are ours). */
export const socketEndCodes = {
  /** The session is over: sign in again. */
  sessionOver: 4401,
  /** The members of the workspace changed. A current member requests a new ticket. */
  membersChanged: 4403,
} as const;

/** The time for opening a socket with a ticket. */
export const ticketSeconds = 30;

export const createSessionTicket = defineRoute({
  operation: 'create-session-ticket',
  summary:
    'Create a ticket that opens one WebSocket of this browser in one workspace. It is valid once, for 30 seconds.',
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
  summary:
    "Open a WebSocket that sends references to changed objects in the ticket's workspace, without their contents.",
  path: '/ws/console',
  forward: { answer: 'stream' },
  reply: Hint,
  errors: ['UPGRADE_REQUIRED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED'],
});

export const openTelemetrySocket = defineRoute({
  ...socket,
  operation: 'open-telemetry-socket',
  summary: "Open a WebSocket that sends the number of changes in the ticket's workspace.",
  path: '/ws/telemetry',
  forward: { answer: 'stream' },
  reply: TelemetryNumbers,
  errors: ['UPGRADE_REQUIRED', 'ORIGIN_NOT_ALLOWED', 'RATE_LIMITED'],
});

/** The number of items in a list. A list that has a limit is counted only up to that limit. */
const Count = z.int().min(0);

export const Snapshot = z.strictObject({
  v: z.literal(1),
  workspace_id: WorkspaceId,
  /** The `seq` of the newest message that this snapshot includes. */
  seq,
  kernel: z.enum(['ok', 'unreachable']),
  /** The state of the kernel. `null` while the kernel is unreachable. */
  boundary: z
    .strictObject({
      status: BoundaryStatus.shape.status,
      policy: BoundaryStatus.shape.policy.pick({ state: true, owner: true, policy_hash: true, policy_epoch: true }),
      last_proven_fail_closed: Instant.nullable(),
      counts: z.strictObject({
        pending_approvals: Count,
        /** Pending approvals that the calling person may approve, among the newest 200. */
        waiting_for_you: Count,
        open_dispatches: Count,
        fences: Count,
        /** Tools that a server offers now and that are new, changed or quarantined. */
        unapproved_tools: Count,
      }),
      /** The hash of all fences with their epochs. It changes whenever a fence changes. */
      fences_hash: Digest,
      last_receipt_id: ReceiptId.nullable(),
    })
    .nullable(),
  /** `open_incidents`: incidents that no person has acknowledged. */
  counts: z.strictObject({ unconfirmed_commands: Count, open_incidents: Count }),
  /** The positions of the last entries in the audit logs of the gateway and the control plane. */
  heads: z.strictObject({ gateway_audit_seq: seq, audit_seq: seq }),
});
export type Snapshot = z.infer<typeof Snapshot>;

export const getSnapshot = defineRoute({
  operation: 'get-snapshot',
  summary:
    'Get the current counts, log positions and versions of the workspace. The ETag changes with each of them. Use ' +
    'it after missed WebSocket messages.',
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
