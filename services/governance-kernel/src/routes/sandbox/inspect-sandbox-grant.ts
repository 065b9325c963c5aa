import { instantOrNull, AppError } from '@countersign/contracts';
import { inspectSandboxGrant, type SandboxSubject } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { grantInForce, type GrantInForce } from '../../controls/sandbox/grant-in-force.ts';
import { visibleServer } from '../../doors/server-registry/registry-desk.ts';
import { findGrants } from '../../store/sandbox-grant-store.ts';

export const inspectSandboxGrantRoute = ({ reader, provider, clock, registryDesk }: Context) =>
  handleTenant(inspectSandboxGrant)(async ({ query, caller: { tenant } }) => {
    const subject = subjectOf(query);
    const stored = 'tool' in subject ? null : await visibleServer(registryDesk, tenant, subject.server_id);
    const rows = await findGrants(reader, tenant);
    const input = { rows, tool: query.tool ?? null, nowMs: clock().getTime() };
    const grant =
      stored?.row.transport === 'http' ? null : grantInForce(provider, { ...input, server: stored?.row ?? null });
    return grant === null ? { subject, ...noGrant } : { subject, ...viewOf(grant) };
  });

const noGrant = {
  ...{ source: 'none' as const, grant_id: null, grant_hash: null, terms: null, expires_at: null },
  ...{ has_expired: false, overgrants: [] },
};

function viewOf({ source, id, hash, terms, expiresAtMs, hasExpired, overgrants }: GrantInForce) {
  return {
    ...{ source, grant_id: id, grant_hash: hash, terms },
    expires_at: instantOrNull(expiresAtMs),
    ...{ has_expired: hasExpired, overgrants: [...overgrants] },
  };
}

function subjectOf({ server_id: serverId, tool }: Partial<Record<'server_id' | 'tool', string>>): SandboxSubject {
  if (serverId !== undefined && tool === undefined) return { server_id: serverId };
  if (serverId === undefined && tool !== undefined) return { tool };
  throw new AppError('INVALID_REQUEST', 'Send either server_id or tool, and not both', { param: 'server_id' });
}
