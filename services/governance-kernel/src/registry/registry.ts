import type { RegistryFact } from '@countersign/policy';
import { columnsOf, keys, nullable, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';
import type { ToolAddress } from './tool-definition.ts';

/**
 * The registry's entry of a tool: its server's state, its pin if it has one, and the last definition that any replica
 * saw.
 */
type RegisteredTool = ToolAddress & {
  readonly state: RegistryFact['state'];
  readonly pinnedHash: string | null;
  readonly currentHash: string;
};

const toolName = ({ serverId, toolName: tool }: ToolAddress) => `${serverId}\n${tool}`;

export const registry: Control<ToolAddress, RegisteredTool> = {
  name: 'registry',
  guard: 'epoch',
  keyColumns: 2,
  select: (parameter) =>
    `SELECT s.server_id, t.tool_name, s.state, t.pinned_hash, t.current_hash FROM ${keys(parameter, 2)} AS wanted(server_id, tool_name)
       JOIN mcp_servers s USING (server_id) JOIN mcp_tools t USING (server_id, tool_name)`,
  rowOf: columnsOf<RegisteredTool>({
    serverId: text('server_id'),
    toolName: text('tool_name'),
    state: text('state'),
    pinnedHash: nullable(text('pinned_hash')),
    currentHash: text('current_hash'),
  }).rowOf,
  epochTables: ['mcp_servers', 'mcp_tools'],
  keyValues: ({ serverId, toolName: tool }) => [serverId, tool],
  keyText: toolName,
  idOf: toolName,
  setsOf: (row) => [toolName(row)],
};
