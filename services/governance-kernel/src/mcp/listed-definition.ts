import type { Tool } from '@modelcontextprotocol/client';
import type { Permit } from '../boundary/dispatch.ts';
import { NotSent } from '../boundary/not-sent.ts';
import { definitionHash, parseToolAddress } from '../registry/tool-definition.ts';

/**
 * The definition that the call was judged by, if the server still lists it: the list may have changed in the meantime.
 *
 * Without a definition the SDK lists again when the server objects to a header, and sends the call a second time under one decision.
 * Without its output schema, because the SDK reports a result that does not match like a refusal, though the tool has run.
 */
export function listedDefinition(tools: readonly Tool[], permit: Permit): Tool {
  const name = parseToolAddress(permit.tool ?? '')?.toolName;
  const listed = tools.find((tool) => tool.name === name);
  if (listed === undefined) throw new NotSent('The MCP server does not list this tool any more');
  if (definitionHash(listed) !== permit.definitionHash)
    throw new NotSent('The definition of the tool changed after the call was decided');
  return { name: listed.name, inputSchema: listed.inputSchema };
}
