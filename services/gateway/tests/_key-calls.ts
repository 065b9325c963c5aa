import { randomUUID } from 'node:crypto';
import type { ApprovalId } from '@countersign/contracts';
import type { ApiKey, WorkspaceApproval } from '@countersign/contracts/gateway';
import { kernelApprovalRequested, kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { rowsOf, type Person } from './_gateway.ts';

export type KeyOfPerson = Pick<ApiKey, 'id'> & { key: string };

export async function makeKey({ client }: Person, name = 'crawler'): Promise<KeyOfPerson> {
  return (await client.createApiKey({ body: { name, role: 'member', scopes: ['agent'], expiresInDays: 1 } })).body;
}

type Decided = { verdict: string; decision_id: string; approval?: { approval_id: ApprovalId } };

/** Sends a call of an agent on another host, which has only an address and a key. */
export async function callAt(
  { url }: Pick<StartedGateway, 'url'>,
  { key }: Pick<KeyOfPerson, 'key'>,
  { session_id = 'job-7', args = { path: 'a' } }: { session_id?: string; args?: object } = {},
): Promise<{ status: number; decision: Decided }> {
  const response = await fetch(new URL('/mcp/v1/execute', url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      // Each call needs a new key, because the stub replays answers like the kernel.
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ tool: 'files.write', args, session_id }),
  });
  const { decision } = (await response.json()) as { decision: Decided };
  return { status: response.status, decision };
}

type Statement = { approvalId: string; principal: string; workspaceId: string; sessionId?: string };

/** Publishes the kernel's event about a requested approval. */
export async function kernelAsks(
  gateway: StartedGateway,
  { approvalId, principal, workspaceId, sessionId = 'job-7' }: Statement,
): Promise<void> {
  const data = {
    ...{ approval_id: approvalId, tenant_id: workspaceId, session_id: sessionId, requested_by: principal },
    ...{ action: 'tool.call', tool: 'files.write', effect_level: 'E2', reason: 'x', quorum: 1, approvers: [] },
    ...{ expires_at: new Date().toISOString(), requested_at: new Date().toISOString() },
  } as never; // checked by the definition of the event
  await publish(gateway, gateway.context.newEvent(kernelApprovalRequested, data).event);
}

type Resolved = Pick<WorkspaceApproval, 'kernelApprovalId' | 'workspaceId' | 'sessionId' | 'requestedBy'>;

/** Publishes the kernel's event about the end of a pending approval. Returns the message ID. */
export async function kernelDecides(gateway: StartedGateway, approval: Resolved, changes: object): Promise<string> {
  const data = {
    ...{ approval_id: approval.kernelApprovalId, tenant_id: approval.workspaceId, session_id: approval.sessionId },
    ...{ requested_by: approval.requestedBy, state: 'denied', resolved_by: 'carol', rejection_reason: null },
    resolved_at: new Date().toISOString(),
    ...changes,
  } as never; // checked by the definition of the event
  const { event } = gateway.context.newEvent(kernelApprovalResolved, data);
  await publish(gateway, event);
  return event.id;
}

/** Waits until a message was handled: it is deleted from its queue, or hidden for less than the lease of a handler. */
export function messageHandled(database: TestDatabase, messageId: string): Promise<void> {
  const unhandled = `message_id = $1 AND (attempts = 0 OR available_at > now() + interval '15 seconds')`;
  const find = () => rowsOf(database, `SELECT FROM deliveries WHERE ${unhandled}`, [messageId]);
  return until(async () => (await find()).length === 0);
}

export async function publish({ context }: StartedGateway, event: { id: string; type: string }): Promise<void> {
  const { id, type } = event;
  await context.bus.publish([{ id, type, body: JSON.stringify(event), needsConsumer: false }]);
}
