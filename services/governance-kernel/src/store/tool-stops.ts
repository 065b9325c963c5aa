import type { FenceScope } from '@countersign/contracts/governance-kernel';
import { fenceScopesOfTool } from '@countersign/policy';
import type { Caller } from '../call/governed-call.ts';
import type { FenceRow } from '../controls/fences/fence-row.ts';
import type { ToolStops } from '../doors/mcp/callable-tools.ts';
import { toolBlocks } from '../controls/policy/tool-blocks.ts';
import { findAccessKeyById } from './access-key-store.ts';
import type { Reader } from './database.ts';
import { findFences } from './fence-store.ts';
import { asStored } from './stored-row.ts';

/** The number of scopes per statement, which may have 32,767 values. */
const scopesPerStatement = 10_000;

/** The stops of tools for this caller, in a few statements for all tools together. */
export async function findToolStops(
  reader: Reader,
  { tenant, accessKey }: Caller,
  tools: readonly string[],
): Promise<ToolStops> {
  const [blocks, key, fences] = await Promise.all([
    reader.toolBlocks.findUnique({ where: { tenant_id: tenant } }),
    accessKey === undefined ? null : findAccessKeyById(reader, accessKey),
    findFencesOf(reader, [...new Set(tools.flatMap((tool) => fenceScopesOfTool(tenant, tool)))]),
  ]);
  return { blocks: blocks === null ? null : toolBlocks.rowOf(asStored(blocks)), key, fences };
}

async function findFencesOf(reader: Reader, scopes: readonly FenceScope[]): Promise<FenceRow[]> {
  const found: FenceRow[] = [];
  for (let at = 0; at < scopes.length; at += scopesPerStatement)
    found.push(...(await findFences(reader, scopes.slice(at, at + scopesPerStatement))));
  return found;
}
