import type { Digest, Instant, PrincipalId, TenantId } from '@countersign/contracts';

/** A statement that can be sealed once a test adds its ULID and its session. */
export const announced = {
  tenant: 'acme' as TenantId,
  principal: 'somebody' as PrincipalId, // plain strings instead of branded ones
  at: '2026-11-21T10:00:00.000Z' as Instant,
  kind: 'approval' as const,
  action: 'approval.approve',
  tool: null,
  resource: null,
  effectLevel: 'E1' as const,
  verdict: 'ALLOW' as const,
  reasonCode: 'ALLOWED' as const,
  argsHash: `sha256:${'0'.repeat(64)}` as Digest,
  policyHash: null,
  policyEpoch: 0,
  approvalId: null,
};
