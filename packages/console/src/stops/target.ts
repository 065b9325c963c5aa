import { OpsTarget } from '@countersign/contracts/control-plane';

/** The kinds of targets of a stop (`OpsTarget`), in words for people. */
export const targetKinds = [
  { id: 'workspace', name: 'The whole workspace', asks: null },
  { id: 'agent', name: 'one agent', asks: 'Name of the agent' },
  { id: 'tool', name: 'one tool', asks: 'Name of the tool' },
  { id: 'connector', name: 'one MCP server', asks: 'Id of the server' },
] as const;
export type TargetKind = (typeof targetKinds)[number]['id'];

/** The target of this kind with this name. `null` when no target of this kind can have the name. */
export function targetOf(kind: TargetKind, name: string): OpsTarget | null {
  return OpsTarget.safeParse(`${kind}:${name}`).data ?? null;
}
