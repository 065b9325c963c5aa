import { getSigningKey } from '@countersign/contracts/control-plane';
import { z } from 'zod';

const place = 'countersign-pinned-keys';

export type KeySet = { keys: { kid: string }[] };

/** A trust list as it was entered. It counts by the root key that the person entered beside it. */
export type EnteredTrust = KeySet & { trust: unknown; root: string };

/** The pinned keys of this browser; `null` when there are none, or they are unreadable. */
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

const AnyTrustList = z.looseObject({ list: AnyKeySet });

/** The keys that a person pasted. `null` when it is neither a key set nor a trust list. */
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

/** Keys of `told` that `pinned` has not, by id and by value. */
export function newAmong(told: KeySet, pinned: KeySet): string[] {
  const known = new Set(pinned.keys.map((key) => JSON.stringify(key)));
  return told.keys.filter((key) => !known.has(JSON.stringify(key))).map(({ kid }) => kid);
}
