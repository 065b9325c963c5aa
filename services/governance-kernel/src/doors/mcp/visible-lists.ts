import { sha256Of } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import type { Caller } from '../../call/governed-call.ts';
import type { Lists } from '../mcp-session/stream-states.ts';
import { callableTools, type CallableToolsDeps } from './callable-tools.ts';
import type { ListedTool, McpGateway } from './gateway.ts';
import type { Offered } from './offered-resources.ts';
import { operationOf } from './operations.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';

type VisibleDeps = { mcp: Pick<McpGateway, 'listing' | 'offered'>; callable: CallableToolsDeps };

/** The lists that one caller sees now, as digests, and the servers whose resources it may read. */
type Visible = { lists: Lists; readableServers: ReadonlySet<string> };

/** Reads the lists of a caller with the same filters as `tools/list`, `prompts/list` and `resources/list`. */
export async function visibleLists({ mcp, callable }: VisibleDeps, caller: Caller): Promise<Visible> {
  const { tools } = await mcp.listing(caller.tenant);
  const { listed } = await callableTools(callable, caller, tools);
  const ofKind = (kind: string) => listed.filter(({ tool }) => kindOf(tool) === kind);
  const readers = ofKind('read');
  const resources = await Promise.all(
    readers.map(async ({ serverId }) => [serverId, offeredDigest(await mcp.offered(caller.tenant, serverId))]),
  );
  return {
    lists: {
      tools: digest(ofKind('tool').map(pinOf)),
      prompts: digest(ofKind('prompt').map(pinOf)),
      resources: digest(resources),
    },
    readableServers: new Set(readers.map(({ serverId }) => serverId)),
  };
}

function kindOf(tool: string): string {
  return operationOf(parseToolAddress(tool)?.toolName ?? '').kind;
}

function pinOf({ tool, definitionHash, effectLevel }: ListedTool): string[] {
  return [tool, definitionHash, effectLevel];
}

/** A list is cached until the next query of the server, and each open stream reads it. */
const digests = new WeakMap<Offered, string>();

function offeredDigest(offered: Offered | null): string {
  if (offered === null) return 'none';
  const existing = digests.get(offered) ?? digest(offered);
  digests.set(offered, existing);
  return existing;
}

function digest(value: unknown): string {
  return sha256Of(nodeProvider, Buffer.from(JSON.stringify(value)));
}
