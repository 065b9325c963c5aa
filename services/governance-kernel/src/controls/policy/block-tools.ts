import { toolOfFunctionName, type PrincipalId, type TenantId } from '@countersign/contracts';
import { meaningOf, meaningsOf } from '@countersign/policy';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import { risingMove } from './rising-version.ts';
import { settingStatement, type SettingDeps } from './setting-statement.ts';
import { toolBlocks, type ToolBlocksRow } from './tool-blocks.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Blocks = { tenant: TenantId; version: number; tools: readonly string[]; by: PrincipalId };

/** Replaces a tenant's list of blocked tools and seals it, or confirms an equal list. Throws ILLEGAL_TRANSITION. */
export async function blockTools(deps: SettingDeps, { tenant, version, tools, by }: Blocks): Promise<ToolBlocksRow> {
  const canonical = [...new Set(tools.map(toolOfFunctionName))].sort();
  const nowMs = deps.clock().getTime();
  const session = ownSession('policy');
  return await deps.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(toolBlocks, tenant)],
    conclude: (batch) => {
      const current = batch.row(toolBlocks, tenant);
      const isSame = () => current?.tools.join('\n') === canonical.join('\n');
      if (risingMove(current, { version }, isSame) === 'confirm' && current !== null) return () => current;
      const row = { tenant, version, tools: canonical, updatedAtMs: nowMs };
      const setting = { version, tools: canonical };
      const resource = `tool_blocks:${tenant}`;
      const statement = { tenant, session, by, nowMs, action: 'policy.block', resource, setting } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(toolBlocks, row)] }));
      return () => row;
    },
  });
}

/** Matches every spelling: `files__read` and `Files.Read` are `files.read`, whether or not a server declares it. */
export function isBlocked(batch: Pick<LedgerBatch, 'row'>, tenant: TenantId, tools: readonly string[]): boolean {
  const row = tools.length === 0 ? null : batch.row(toolBlocks, tenant);
  return row !== null && holdsOneOf(row, tools);
}

export function holdsOneOf(row: ToolBlocksRow, tools: readonly string[]): boolean {
  return tools.some((tool) => meaningsOf(tool).some((meaning) => blockedBy(row).has(meaning)));
}

/** The normalised names of each row, cached because every call needs them. A changed list is a new row object. */
const meanings = new WeakMap<ToolBlocksRow, ReadonlySet<string>>();

function blockedBy(row: ToolBlocksRow): ReadonlySet<string> {
  const existing = meanings.get(row) ?? new Set(row.tools.map(meaningOf));
  meanings.set(row, existing);
  return existing;
}
