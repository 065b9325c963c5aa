import { ToolName } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { isJsonObject } from './passive-members.ts';

type OfferedTools = {
  /** Names of functions and custom tools. Their callers run them, and each call is decided. */
  named: string[];
  /** The types of all other tools, which run at the provider. */
  hosted: string[];
};

const atCaller: ReadonlySet<unknown> = new Set(['function', 'custom']);

export function runsAtCaller({ type }: { type: unknown }): boolean {
  return atCaller.has(type);
}

/** Mistral uses `any` for `required`. */
const plainChoices: ReadonlySet<unknown> = new Set(['none', 'auto', 'required', 'any']);

/** All tools that a request offers to its model, or lets it choose. */
export function offeredTools({ tools, functions, tool_choice: choice }: ChatCompletionRequest): OfferedTools {
  const offered = tools ?? [];
  const called = offered.flatMap((tool) => (runsAtCaller(tool) ? (tool.function ?? tool.custom ?? []) : []));
  return {
    named: [...called, ...(functions ?? [])].map(({ name }) => name),
    hosted: [...offered, ...chosenTools(choice)].map(typeOf).filter((type) => !atCaller.has(type)),
  };
}

/**
 * The tools that `tool_choice` names. A provider that has such a tool may run it even if the list does not contain it.
 */
function chosenTools(choice: unknown): unknown[] {
  if (choice === undefined || choice === null || plainChoices.has(choice)) return [];
  if (!isJsonObject(choice) || choice['type'] !== 'allowed_tools') return [choice];
  const allowed = isJsonObject(choice['allowed_tools']) ? choice['allowed_tools']['tools'] : null;
  return Array.isArray(allowed) ? allowed : [choice];
}

/** The type of a tool. A tool without a readable type does not count as a function. */
function typeOf(tool: unknown): string {
  const type = ToolName.safeParse(isJsonObject(tool) ? tool['type'] : null);
  return type.success ? type.data : 'unreadable';
}
