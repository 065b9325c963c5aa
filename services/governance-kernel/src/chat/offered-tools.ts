import { ToolName } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { isJsonObject } from './passive-members.ts';

type OfferedTools = {
  /** Functions and custom tools by their names, one for each: their callers run them, and each call is decided. */
  named: string[];
  /** The types of all others: they run at the provider. */
  hosted: string[];
};

const atCaller: ReadonlySet<unknown> = new Set(['function', 'custom']);

export function runsAtCaller({ type }: { type: unknown }): boolean {
  return atCaller.has(type);
}

/** `any` is what Mistral calls `required`. */
const plainChoices: ReadonlySet<unknown> = new Set(['none', 'auto', 'required', 'any']);

/** All tools that a request offers to its model, or asks it to choose. */
export function offeredTools({ tools, functions, tool_choice: choice }: ChatCompletionRequest): OfferedTools {
  const offered = tools ?? [];
  const called = offered.flatMap((tool) => (runsAtCaller(tool) ? (tool.function ?? tool.custom ?? []) : []));
  return {
    named: [...called, ...(functions ?? [])].map(({ name }) => name),
    hosted: [...offered, ...chosenTools(choice)].map(typeOf).filter((type) => !atCaller.has(type)),
  };
}

/** A caller that chooses a tool outside the list may get it from a provider that has it. */
function chosenTools(choice: unknown): unknown[] {
  if (choice === undefined || choice === null || plainChoices.has(choice)) return [];
  if (!isJsonObject(choice) || choice['type'] !== 'allowed_tools') return [choice];
  const allowed = isJsonObject(choice['allowed_tools']) ? choice['allowed_tools']['tools'] : null;
  return Array.isArray(allowed) ? allowed : [choice];
}

/** A tool without a readable type is no function. */
function typeOf(tool: unknown): string {
  const type = ToolName.safeParse(isJsonObject(tool) ? tool['type'] : null);
  return type.success ? type.data : 'unreadable';
}
