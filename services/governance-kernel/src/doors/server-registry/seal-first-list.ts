import type { Digest } from '@countersign/contracts';
import { receiptIdOf } from '@countersign/receipts';
import type { Hasher } from '../../call/normalise.ts';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession, systemTenant } from '../../ledger/own-sessions.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import type { ObservedTool } from '../../registry/mcp-registry.ts';
import { mcpServers, pinOf, type McpServerRow } from '../../registry/mcp-servers.ts';
import { declarationOf, operator } from './declare-servers.ts';
import { definitionsHash } from './definitions-hash.ts';

/** A tool that was pinned for the server that had the name of this one before. */
export type EndedPin = { name: string; hash: Digest };

export type FirstListDeps = SettingDeps & {
  hasher: Hasher;
  /** The ended pins of a declared server that awaits its first list. `null` for any other server. */
  findEndedPins(key: string): Promise<EndedPin[] | null>;
};

type Listed = { config: McpServerConfig; tools: readonly ObservedTool[] };

/** Names in a receipt are bounded, since the server chooses them. The counts are complete. */
const namesMax = 100;

/**
 * Pins the first list of a declared server and seals the pins, with the changes since the pins that its declaration
 * ended. The list of another declaration, or a later list, is not pinned. Several kernels may do this at once.
 */
export async function sealFirstList(deps: FirstListDeps, { config, tools }: Listed): Promise<void> {
  const ended = await deps.findEndedPins(config.server_id);
  if (ended === null) return;
  const { serverId, configHash } = declarationOf(deps.hasher, config);
  const chain = { tenant: systemTenant, session: ownSession('mcp-registry') };
  const beganMs = deps.clock().getTime();
  await deps.ledger.submit({
    chain,
    wants: [wanted(mcpServers, '')],
    conclude: (batch) => {
      const server = batch.rows(mcpServers, '').find((row) => row.key === serverId);
      if (server === undefined || !awaits(server, configHash)) return () => undefined;
      const nowMs = batch.issuedMs(chain, beganMs);
      const setting = {
        ...{ server_id: serverId, state: server.state, config_hash: configHash, tools: tools.length },
        definitions_hash: definitionsHash(deps.provider, { serverId, configHash, tools }),
        declaration_receipt_id: server.approvalReceiptId,
        ...changesSince(ended, tools),
      };
      const statement = settingStatement(deps, {
        ...{ ...chain, by: operator, nowMs, setting, kind: 'registry', action: 'mcp.server.pin' },
        resource: `mcp_server:${serverId}`,
      });
      const approval = { approvedBy: operator, approvedAtMs: nowMs, approvalReceiptId: receiptIdOf(statement.ulid) };
      const row = { ...server, ...approval, updatedAtMs: nowMs, firstListedAtMs: nowMs };
      batch.seal(statement, () => ({
        changes: [put(mcpServers, { ...row, pins: tools.map(pinOf), keepsEndedPins: true })],
      }));
      return () => undefined;
    },
  });
}

/** A revoked server is approved by people again, and their approval pins its tools. */
function awaits({ firstListedAtMs, state, configHash }: McpServerRow, listedUnder: Digest): boolean {
  return firstListedAtMs === null && state === 'approved' && configHash === listedUnder;
}

function changesSince(ended: readonly EndedPin[], tools: readonly ObservedTool[]) {
  const before = new Map(ended.map(({ name, hash }) => [name, hash]));
  const now = new Set(tools.map(({ name }) => name));
  const added = ended.length === 0 ? [] : tools.filter(({ name }) => !before.has(name));
  const changed = tools.filter(({ name, hash }) => before.has(name) && before.get(name) !== hash);
  const removed = ended.filter(({ name }) => !now.has(name));
  const names = (of: readonly { name: string }[]) => ({
    count: of.length,
    names: of
      .map(({ name }) => name)
      .sort()
      .slice(0, namesMax),
  });
  return { added: names(added), changed: names(changed), removed: names(removed) };
}
