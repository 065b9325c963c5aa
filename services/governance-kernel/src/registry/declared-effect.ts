import type { EffectLevel } from '@countersign/contracts';
import { effectDeclared, graverEffect, type CompiledPolicy } from '@countersign/policy';
import type { RegisteredTool } from './mcp-registry.ts';
import type { PinnedDefinition } from './tool-definition.ts';

/** The graver of the effects that registry and bundle declare for a tool. A tool that neither declares has E4. */
export function declaredEffect(
  tool: string,
  {
    byRegistry,
    policy,
    isOwn,
  }: {
    byRegistry: EffectLevel | null;
    policy: CompiledPolicy | null;
    /** Whether the tool belongs to the caller. */
    isOwn: boolean;
  },
): EffectLevel {
  const byBundle = policy === null ? undefined : effectDeclared(policy.tools, { tool, isOwn });
  return byRegistry === null ? (byBundle ?? 'E4') : graverEffect(byRegistry, byBundle ?? 'E0');
}

/** The operator's declaration of a server's tools. */
type OperatorsWord = {
  tools: Readonly<Record<string, { effect_level: EffectLevel }>>;
  trust_annotations: boolean;
};

/** The members of a registered tool that determine its effect. */
export type Pinned = Pick<RegisteredTool, 'pinnedHash' | 'effectLevel'> & {
  definition: Pick<PinnedDefinition, 'annotations'>;
};

/**
 * The operator's declaration, if there is one. Without it, a tool without a pin has E4, and a tool of a server with
 * trusted annotations has its annotated effect. Untrusted annotations can only raise the effect to E4. `null` when the
 * registry declares no effect.
 */
export function registeredEffect(
  { tools, trust_annotations: isTrusted }: OperatorsWord,
  toolName: string,
  registered: Pinned | null,
): EffectLevel | null {
  const declared = Object.hasOwn(tools, toolName) ? tools[toolName]?.effect_level : undefined;
  if (declared !== undefined) return declared;
  if (registered === null || registered.pinnedHash === null) return 'E4';
  if (isTrusted) return registered.effectLevel;
  return registered.definition.annotations?.destructiveHint === true ? 'E4' : null;
}
