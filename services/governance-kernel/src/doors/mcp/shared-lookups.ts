import type { ToolAddress } from '../../registry/tool-definition.ts';

type Find<Found> = (address: ToolAddress) => Promise<Found>;
type Lookups<Found> = { running: Promise<Found>; next: Promise<Found> | null };

type Memory<Found> = {
  /**
   * Whether a result may be reused for `ageMaxMs`. A result that refuses a call which may now pass must not be reused.
   */
  keeps(found: Found): boolean;
  ageMaxMs: number;
  now(): number;
};

/**
 * Looks a tool up once for all callers that arrive while a lookup is running. They share the next lookup and not the
 * running one, whose data may be older than their call. A result is reused for a while, since the decision compares it
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
    const existing = kept.get(key);
    if (existing === undefined || now() - existing.sinceMs < ageMaxMs) return existing ?? null;
    kept.delete(key);
    return null;
  };

  return (address) => {
    const key = `${address.serverId}\n${address.toolName}`;
    const existing = remembered(key);
    if (existing !== null) return Promise.resolve(existing.found);
    const lookups = byTool.get(key);
    if (lookups === undefined) return start(key, address);
    const again = () => start(key, address);
    lookups.next ??= lookups.running.then(again, again);
    return lookups.next;
  };
}
