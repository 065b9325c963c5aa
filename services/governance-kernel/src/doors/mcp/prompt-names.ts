import { toolOfFunctionName } from '@countersign/contracts';
import { operationOf, promptTool } from './operations.ts';
import { parseToolAddress, toolAddress } from '../../registry/tool-definition.ts';

/** `files__summarise` for the operation `files.prompts/summarise`. */
export function publishedPrompt(tool: string): string {
  const address = parseToolAddress(tool);
  const operation = operationOf(address?.toolName ?? '');
  return address === null || operation.kind !== 'prompt' ? tool : `${address.serverId}__${operation.prompt}`;
}

/**
 * The operation that a caller means by `files__summarise`, `files.summarise` or, if it fits exactly one of the prompts,
 * `files_summarise`. `null` when the name is ambiguous or cannot be a prompt of a server.
 */
export function addressOfPrompt(name: string, prompts: readonly string[]): string | null {
  const existing = prompts.filter((tool) => namesOf(tool).includes(name));
  if (existing.length > 0) return existing.length === 1 ? (existing[0] ?? null) : null;
  const address = parseToolAddress(toolOfFunctionName(name));
  return address === null ? null : toolAddress({ ...address, toolName: promptTool(address.toolName) });
}

function namesOf(tool: string): string[] {
  const address = parseToolAddress(tool);
  const operation = operationOf(address?.toolName ?? '');
  if (address === null || operation.kind !== 'prompt') return [];
  return ['__', '.', '_'].map((separator) => `${address.serverId}${separator}${operation.prompt}`);
}
