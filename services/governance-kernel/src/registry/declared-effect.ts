import type { EffectLevel } from '@countersign/contracts';
import { effectDeclared, graverEffect, type CompiledPolicy } from '@countersign/policy';
import type { RegisteredTool } from './mcp-registry.ts';
import type { PinnedDefinition } from './tool-definition.ts';

/** The declarations of registry and bundle about a tool: neither lowers the other, and undeclared tools are E4. */
export function declaredEffect(
  tool: string,
  {
    byRegistry,
    policy,
    isOwn,
  }: { byRegistry: EffectLevel | null; policy: CompiledPolicy | null; /** The tool is its caller's. */ isOwn: boolean },
): EffectLevel {
  const byBundle = policy === null ? undefined : effectDeclared(policy.tools, { tool, isOwn });
  return byRegistry === null ? (byBundle ?? 'E4') : graverEffect(byRegistry, byBundle ?? 'E0');
}

/** The operator's declaration of a server's tools. */
type OperatorsWord = {
  tools: Readonly<Record<string, { effect_level: EffectLevel }>>;
  trust_annotations: boolean;
};

/** The members of a registered tool that affect its effect. */
export type Pinned = Pick<RegisteredTool, 'pinnedHash' | 'effectLevel'> & {
  definition: Pick<PinnedDefinition, 'annotations'>;
};

/**
 * The operator's word. Annotations are the server's: they lower an effect where the operator trusts them, and raise it
 * everywhere. `null` when it is not declared here. A definition without a pin has nothing to say about its own effect.
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
