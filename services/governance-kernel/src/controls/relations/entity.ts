import type { PlainJson } from '@countersign/contracts';

export type Entity = { readonly type: string; readonly id: string };
export type KnownEntity = Entity & { readonly properties: Record<string, PlainJson> };

/** Splits the valid name of an entity at its first colon. */
export function entityOf(name: string): Entity {
  const at = name.indexOf(':');
  return { type: name.slice(0, at), id: name.slice(at + 1) };
}
