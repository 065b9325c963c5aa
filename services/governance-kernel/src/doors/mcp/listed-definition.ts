import type { Tool } from '@modelcontextprotocol/client';
import type { Permit } from '../../decision/dispatch.ts';
import { NotSent } from '../../decision/not-sent.ts';
import { definitionHash, parseToolAddress } from '../../registry/tool-definition.ts';

/**
 * The definition that the call was judged by. Throws NotSent when the server no longer lists the tool, or lists it with
 * a different definition. Without a definition, the SDK lists the tools again when the server objects to a header. It
 * then sends the call a second time under one decision. The output schema is omitted, because the SDK reports a
 * mismatching result like a refusal, although the tool has run.
 */
export function listedDefinition(tools: readonly Tool[], permit: Permit): Tool {
  const name = parseToolAddress(permit.tool ?? '')?.toolName;
  const listed = tools.find((tool) => tool.name === name);
  if (listed === undefined) throw new NotSent('The MCP server does not list this tool any more');
  if (definitionHash(listed) !== permit.definitionHash)
    throw new NotSent('The definition of the tool changed after the call was decided');
  return { name: listed.name, inputSchema: listed.inputSchema };
}
