import type { Fact, RegistryFact } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { parseToolAddress, type ToolAddress } from '../registry/tool-definition.ts';
import { mcpServers, ownerOf, stateAt } from '../registry/mcp-servers.ts';
import { registry } from '../registry/registry.ts';
import type { KnownCall } from './known-call.ts';

/**
 * The tool's state from before the batch, compared with the registry's rows of the batch: trust that was withdrawn
 * while the call waited is withdrawn for it too. The schema and the effect were read with the old pin, so under another
 * pin nothing is known.
 */
export function registryFact(batch: LedgerBatch, known: KnownCall & { nowMs: number }): Fact<RegistryFact> {
  const { learned } = known;
  if (learned.state !== 'known' || !mayPass(learned.value)) return learned;
  const address = registeredTool(known);
  const row = address === undefined ? null : batch.row(registry, address);
  if (row === null) return unavailable('The tool is not registered any more');
  const state = stateOf(batch, known, row.state);
  if (state !== 'approved') return { state: 'known', value: { ...learned.value, state } };
  const { tool } = learned.value;
  if (tool === null || row.pinnedHash !== tool.pinned_hash) return unavailable('The pin changed during the decision');
  const { knownDefinition = row.currentHash } = known.call;
  // The caller would send it by another definition than the pinned one.
  if (knownDefinition !== row.currentHash)
    return { state: 'known', value: { ...learned.value, tool: { ...tool, current_hash: knownDefinition } } };
  if (row.currentHash === row.pinnedHash) return learned;
  // Another replica saw the tool change: what this one saw of it may be older.
  return { state: 'known', value: { ...learned.value, tool: { ...tool, current_hash: row.currentHash } } };
}

/** The tool whose rows the decision needs to see. Any other fact refuses the call, whatever the rows say now. */
export function registeredTool({
  intent: { tool },
  learned,
  serverKey,
}: Pick<KnownCall, 'intent' | 'learned' | 'serverKey'>): ToolAddress | undefined {
  if (tool === null || learned.state !== 'known' || !mayPass(learned.value)) return undefined;
  const address = parseToolAddress(tool);
  return address === null ? undefined : { ...address, serverId: serverKey ?? address.serverId };
}

/**
 * Read from the rows of the batch: an approval may have ended, or the server may have been revoked in the same batch.
 */
function stateOf(
  batch: LedgerBatch,
  { serverKey, nowMs }: Pick<KnownCall, 'serverKey'> & { nowMs: number },
  state: RegistryFact['state'],
): RegistryFact['state'] {
  if (serverKey === null || state !== 'approved') return state;
  const server = batch.rows(mcpServers, ownerOf(serverKey)).find(({ key }) => key === serverKey);
  return server === undefined ? 'revoked' : stateAt(server, nowMs);
}

function mayPass({ state, tool }: RegistryFact): boolean {
  return state === 'approved' && tool !== null;
}

function unavailable(detail: string): Fact<RegistryFact> {
  return { state: 'unavailable', detail };
}
