import type { Fact, RegistryFact } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { parseToolAddress, type ToolAddress } from '../registry/tool-definition.ts';
import { mcpServers, ownerOf, stateAt } from '../registry/mcp-servers.ts';
import { registry } from '../registry/registry.ts';
import type { KnownCall } from './known-call.ts';

/**
 * Combines the tool's state from before the batch with the registry rows of the batch, so a withdrawal of trust while
 * the call waited also affects this call. The schema and effect were read with the old pin, so they are unknown under
 * another pin.
 */
export function registryFact(batch: LedgerBatch, prepared: KnownCall & { nowMs: number }): Fact<RegistryFact> {
  const { learned } = prepared;
  if (learned.state !== 'known' || !mayPass(learned.value)) return learned;
  const address = registeredTool(prepared);
  const row = address === undefined ? null : batch.row(registry, address);
  if (row === null) return unavailable('The tool is not registered any more');
  const state = stateOf(batch, prepared, row.state);
  if (state !== 'approved') return { state: 'known', value: { ...learned.value, state } };
  const { tool } = learned.value;
  if (tool === null || row.pinnedHash !== tool.pinned_hash) return unavailable('The pin changed during the decision');
  const { knownDefinition = row.currentHash } = prepared.call;
  // The definition that the caller knows counts as the current one, so the gate compares it with the pin.
  if (knownDefinition !== row.currentHash)
    return { state: 'known', value: { ...learned.value, tool: { ...tool, current_hash: knownDefinition } } };
  if (row.currentHash === row.pinnedHash) return learned;
  // Another replica saw the tool change, so the definition that this one saw may be older.
  return { state: 'known', value: { ...learned.value, tool: { ...tool, current_hash: row.currentHash } } };
}

/**
 * The address of the tool whose rows the decision must read. `undefined` when the learned fact alone decides, whatever
 * the rows contain.
 */
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
 * The state of the tool's server, from the rows of the batch. Its approval may have ended, or the same batch may revoke
 * it.
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
