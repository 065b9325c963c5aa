import type { EffectLevel, PlainJson } from '@countersign/contracts';

/** One normalised call: what the boundary decides about. Hashes are made by the caller of decide(), which never sees keys or salts. */
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
  /** H(JCS{tenant, principal, session, action, tool, resource, args_hash}): who wants what. */
  intent_hash: string;
};
