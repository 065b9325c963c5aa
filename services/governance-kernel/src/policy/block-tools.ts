import { toolOfFunctionName, type PrincipalId, type TenantId } from '@countersign/contracts';
import { meaningOf, meaningsOf } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import { risingMove } from './rising-version.ts';
import { settingStatement, type SettingParts } from './setting-statement.ts';
import { toolBlocks, type ToolBlocksRow } from './tool-blocks.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Blocks = { tenant: TenantId; version: number; tools: readonly string[]; by: PrincipalId };

/** Sets the whole list of a tenant and seals that, or confirms that it stands. Throws ILLEGAL_TRANSITION. */
export async function blockTools(parts: SettingParts, { tenant, version, tools, by }: Blocks): Promise<ToolBlocksRow> {
  const canonical = [...new Set(tools.map(toolOfFunctionName))].sort();
  const nowMs = parts.clock().getTime();
  const session = ownSession('policy');
  return await parts.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(toolBlocks, tenant)],
    conclude: (batch) => {
      const standing = batch.row(toolBlocks, tenant);
      const isSame = () => standing?.tools.join('\n') === canonical.join('\n');
      if (risingMove(standing, { version }, isSame) === 'confirm' && standing !== null) return () => standing;
      const row = { tenant, version, tools: canonical, updatedAtMs: nowMs };
      const setting = { version, tools: canonical };
      const resource = `tool_blocks:${tenant}`;
      const said = { tenant, session, by, nowMs, action: 'policy.block', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(toolBlocks, row)] }));
      return () => row;
    },
  });
}

/** In any spelling: what a model calls `files__read` is `files.read`, whether or not a server declares it, and so is `Files.Read`. */
export function isBlocked(batch: Pick<LedgerBatch, 'row'>, tenant: TenantId, tools: readonly string[]): boolean {
  const row = tools.length === 0 ? null : batch.row(toolBlocks, tenant);
  return row !== null && holdsOneOf(row, tools);
}

export function holdsOneOf(row: ToolBlocksRow, tools: readonly string[]): boolean {
  return tools.some((tool) => meaningsOf(tool).some((meaning) => blockedBy(row).has(meaning)));
}

/** A row is remembered until it changes, and each call looks at it. */
const meanings = new WeakMap<ToolBlocksRow, ReadonlySet<string>>();

function blockedBy(row: ToolBlocksRow): ReadonlySet<string> {
  const known = meanings.get(row) ?? new Set(row.tools.map(meaningOf));
  meanings.set(row, known);
  return known;
}
