import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate, GateResult } from '../gate.ts';
import type { RegistryFact } from '../facts.ts';

export const registry: Gate = ({ facts }) => {
  if (facts.registry.state === 'not_applicable') return notApplicable;
  // Stryker disable next-line ConditionalExpression: Without a value the gate fails, and denies with the same code.
  if (facts.registry.state !== 'known') return unavailable('registry');
  const server = facts.registry.value;
  switch (server.state) {
    case 'approved':
      return judgeTool(server.tool);
    // An expired approval is withdrawn trust, so it denies like a revocation. A server that was never approved
    // escalates.
    case 'expired':
      return deny('SERVER_EXPIRED', 'The approval of the MCP server has expired.');
    case 'revoked':
      return deny('SERVER_REVOKED', 'The MCP server was revoked.');
    case 'discovered':
    case 'quarantined':
      return { outcome: 'escalate', code: 'SERVER_QUARANTINED', reason: 'The MCP server has not been approved.' };
    default:
      return unavailable('registry');
  }
};

function judgeTool(tool: RegistryFact['tool']): GateResult {
  if (tool === null) return deny('TOOL_UNKNOWN', 'The approved server lists no such tool.');
  if (tool.pinned_hash === null) return deny('SCHEMA_DRIFT', 'The tool has no approved pin.');
  if (tool.pinned_hash !== tool.current_hash)
    return deny('SCHEMA_DRIFT', 'The tool definition differs from its approved pin.');
  return pass;
}
