import type { Tool } from '@modelcontextprotocol/client';
import type { ObservedTool } from './mcp-registry.ts';
import { annotatedEffect, definitionHash, pinnedDefinition } from './tool-definition.ts';

/** The listed tools of a server in the form of the registry. */
export function observedTools(tools: readonly Tool[]): ObservedTool[] {
  return tools.map((tool) => {
    const definition = pinnedDefinition(tool);
    return { name: tool.name, hash: definitionHash(tool), definition, effectLevel: annotatedEffect(definition) };
  });
}
