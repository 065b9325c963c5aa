import type { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { NewEvent } from '@countersign/messaging';
import type { GovernedCall } from '../../call/governed-call.ts';
import { isInForce, stopsEveryCall, type FenceRow } from '../fences/fence-row.ts';
import { toolAddress } from '../../registry/tool-definition.ts';
import { noAmounts, inWindow } from '../budgets/window.ts';
import { budgets } from '../budgets/budgets.ts';
import { budgetFact, spend } from '../budgets/reserve.ts';
import { budgetThresholdEvents } from '../../events.ts';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import type { EgressAccount } from './egress-proxy.ts';

/** Reads from the database what stops a server's traffic: fences and withdrawn tools. */
type Stops = {
  findFencesAround(of: { tenant: TenantId; principal: PrincipalId; tools: readonly string[] }): Promise<FenceRow[]>;
  isWithdrawnTool(of: { tenant: TenantId; tools: readonly string[] }): Promise<boolean>;
};

type EgressDeps = SettingDeps &
  Stops & { newEvent: NewEvent; boundary: { decide(call: GovernedCall): Promise<unknown> } };

/** The server of a sandbox, and the end of its grant. */
export type EgressOwner = { tenant: TenantId; serverId: string; expiresAtMs: number | null };

/**
 * Accounts for traffic of a tenant's server: bytes count in the budgets of the tenant, and refusals are decisions
 * denied by the gate `egress`.
 */
export function egressAccount(deps: EgressDeps, owner: EgressOwner): EgressAccount {
  return {
    take: (bytes) => take(deps, owner, bytes),
    isStopped: () => isStopped(deps, owner),
    refuse: (destination, detail) => refuse(deps, owner, { destination, detail }),
  };
}

async function take(deps: EgressDeps, { tenant, serverId, expiresAtMs }: EgressOwner, bytes: number): Promise<boolean> {
  const nowMs = deps.clock().getTime();
  if (expiresAtMs !== null && nowMs >= expiresAtMs) return false;
  const key = { tenant, subject: 'tenant' };
  const chain = { tenant, session: ownSession('budgets') };
  return await deps.ledger.submit({
    chain,
    wants: [wanted(budgets, key)],
    conclude: (batch) => {
      const before = batch
        .rows(budgets, key)
        .map((row) => inWindow(row, nowMs))
        .filter(({ limits }) => limits.egress_bytes !== null);
      const after = before.map((row) => spend(row, { ...noAmounts, egress_bytes: bytes }));
      // Transferred bytes are counted even beyond the limit. Further bytes are not sent.
      const isLeft = after.every((row) => (budgetFact(row).egress_remaining_bytes ?? 1) > 0);
      if (bytes === 0 || after.length === 0) return () => isLeft;
      const by = serverPrincipal(serverId);
      const setting = { egress_bytes: bytes, budgets: after.map(({ id }) => id) };
      const statement = {
        ...chain,
        by,
        nowMs,
        action: 'budget.usage',
        resource: `mcp_server:${serverId}`,
        setting,
      } as const;
      batch.seal(settingStatement(deps, statement), () => ({
        changes: after.map((row) => put(budgets, row)),
        events: budgetThresholdEvents(deps, { before, after, nowMs }),
      }));
      return () => isLeft;
    },
  });
}

/**
 * A fence on the server, the tenant or the installation stops its traffic. The revocation of the server, or a block of
 * it by the tenant, also does.
 */
async function isStopped(deps: EgressDeps, { tenant, serverId }: EgressOwner): Promise<boolean> {
  const tools = [toolAddress({ serverId, toolName: 'egress' })];
  const [around, isWithdrawn] = await Promise.all([
    deps.findFencesAround({ tenant, principal: serverPrincipal(serverId), tools }),
    deps.isWithdrawnTool({ tenant, tools }),
  ]);
  const nowMs = deps.clock().getTime();
  return isWithdrawn || around.some((fence) => stopsEveryCall(fence) && isInForce(fence, nowMs));
}

type Refusal = { destination: string; detail: string };

async function refuse({ boundary }: EgressDeps, owner: EgressOwner, { destination, detail }: Refusal): Promise<void> {
  await boundary.decide({
    ...{ kind: 'custom', action: 'data.egress', tool: null, resource: destination },
    caller: { tenant: owner.tenant, principal: serverPrincipal(owner.serverId), scopes: [] },
    session: `sandbox:${owner.serverId}` as SessionId, // within its schema
    ...{ args: {}, context: {}, mode: 'enforce', dispatchedBy: 'caller', asksNobody: true },
    blockedDestination: detail,
  });
}

function serverPrincipal(serverId: string): PrincipalId {
  return `mcp-server:${serverId}` as PrincipalId; // within its schema
}
