import type { EffectLevel, PlainJson } from '@countersign/contracts';

/**
 * One normalised call, which the boundary decides. The caller of decide() computes the hashes, since decide() never
 * sees keys or salts.
 */
export type Intent = {
  tenant: string;
  principal: string;
  session: string;
  action: string;
  tool: string | null;
  resource: string | null;
  effect_level: EffectLevel;
  args: Record<string, PlainJson>;
  context: Record<string, PlainJson>;
  args_hash: string;
  /** H(JCS{tenant, principal, session, action, tool, resource, args_hash}): who calls what. */
  intent_hash: string;
};
