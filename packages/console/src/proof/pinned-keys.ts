import { getSigningKey } from '@countersign/contracts/control-plane';
import { z } from 'zod';

const place = 'countersign-pinned-keys';

export type KeySet = { keys: { kid: string }[] };

/** A trust list that the person entered. It is trusted only through the root key that was entered with it. */
export type EnteredTrust = KeySet & { trust: unknown; root: string };

/** The pinned keys of this browser. `null` when there are none, or when they are unreadable. */
export function readPinned(): KeySet | null {
  try {
    const parsed = getSigningKey.reply.safeParse(JSON.parse(localStorage.getItem(place) ?? 'null'));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The worker validates each key. A set may contain keys for other purposes, and a key may have further members. */
const AnyKeySet = z.object({ keys: z.array(z.looseObject({ kid: z.string() })).min(1) });

const AnyTrustList = z.looseObject({ list: AnyKeySet });

/** The keys that a person pasted. `null` when the text is neither a key set nor a trust list. */
export function keySetIn(text: string, root: string): KeySet | EnteredTrust | null {
  try {
    const value: unknown = JSON.parse(text);
    const trust = AnyTrustList.safeParse(value).data;
    if (trust !== undefined) return { keys: trust.list.keys, trust: value, root };
    return AnyKeySet.safeParse(value).data ?? null;
  } catch {
    return null;
  }
}

export function pin(keys: KeySet): void {
  localStorage.setItem(place, JSON.stringify(keys));
}

/** The ids of the keys of `keySet` that are not in `pinned` with the same value. */
export function newAmong(keySet: KeySet, pinned: KeySet): string[] {
  const existing = new Set(pinned.keys.map((key) => JSON.stringify(key)));
  return keySet.keys.filter((key) => !existing.has(JSON.stringify(key))).map(({ kid }) => kid);
}
