import type { ToolAddress } from '../registry/tool-definition.ts';

type Find<Found> = (address: ToolAddress) => Promise<Found>;
type Lookups<Found> = { running: Promise<Found>; next: Promise<Found> | null };

type Memory<Found> = {
  /** Whether a result may be reused for `ageMaxMs`: not one that would refuse a call which may pass by now. */
  keeps(found: Found): boolean;
  ageMaxMs: number;
  now(): number;
};

/**
 * Looks a tool up once for all who ask while a look-up of it is on its way. They share the next one, not the one that
 * runs: what it reads may be older than their question. A result is reused for a while, since the decision compares it
 * with the rows of its own commit.
 */
export function sharedLookups<Found>(find: Find<Found>, { keeps, ageMaxMs, now }: Memory<Found>): Find<Found> {
  const byTool = new Map<string, Lookups<Found>>();
  const kept = new Map<string, { found: Found; sinceMs: number }>();

  const start = (key: string, address: ToolAddress): Promise<Found> => {
    const sinceMs = now();
    const lookups: Lookups<Found> = { running: find(address), next: null };
    byTool.set(key, lookups);
    const forget = () => void (lookups.next === null && byTool.delete(key));
    const keep = (found: Found) => {
      if (keeps(found)) kept.set(key, { found, sinceMs });
      forget();
    };
    lookups.running.then(keep, forget);
    return lookups.running;
  };

  const remembered = (key: string): { found: Found } | null => {
    const known = kept.get(key);
    if (known === undefined || now() - known.sinceMs < ageMaxMs) return known ?? null;
    kept.delete(key);
    return null;
  };

  return (address) => {
    const key = `${address.serverId}\n${address.toolName}`;
    const known = remembered(key);
    if (known !== null) return Promise.resolve(known.found);
    const lookups = byTool.get(key);
    if (lookups === undefined) return start(key, address);
    const again = () => start(key, address);
    lookups.next ??= lookups.running.then(again, again);
    return lookups.next;
  };
}
