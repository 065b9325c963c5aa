import { getSigningKey } from '@countersign/contracts/control-plane';
import { z } from 'zod';

const place = 'countersign-pinned-keys';

export type KeySet = { keys: { kid: string }[] };

/** What this browser has pinned; null: nothing, or nothing that can be read. */
export function readPinned(): KeySet | null {
  try {
    const parsed = getSigningKey.reply.safeParse(JSON.parse(localStorage.getItem(place) ?? 'null'));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The worker judges each key. A set may hold keys of other purposes, and members beside its keys. */
const AnyKeySet = z.object({ keys: z.array(z.looseObject({ kid: z.string() })).min(1) });

/** What a person pasted; null: it is no key set. */
export function keySetIn(text: string): KeySet | null {
  try {
    return AnyKeySet.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

export function pin(keys: KeySet): void {
  localStorage.setItem(place, JSON.stringify(keys));
}

/** Keys of `told` that `pinned` has not, by id and by value. */
export function newAmong(told: KeySet, pinned: KeySet): string[] {
  const known = new Set(pinned.keys.map((key) => JSON.stringify(key)));
  return told.keys.filter((key) => !known.has(JSON.stringify(key))).map(({ kid }) => kid);
}
