import type { ToolAddress } from '../registry/tool-definition.ts';

type Find<Found> = (address: ToolAddress) => Promise<Found>;
type Lookups<Found> = { running: Promise<Found>; next: Promise<Found> | null };

/**
 * Looks a tool up once for all who ask while a look-up of it is on its way. They share the next one, not the one that runs: what it
 * reads may be older than their question.
 */
export function sharedLookups<Found>(find: Find<Found>): Find<Found> {
  const byTool = new Map<string, Lookups<Found>>();

  const start = (key: string, address: ToolAddress): Promise<Found> => {
    const lookups: Lookups<Found> = { running: find(address), next: null };
    byTool.set(key, lookups);
    const forget = () => void (lookups.next === null && byTool.delete(key));
    lookups.running.then(forget, forget);
    return lookups.running;
  };

  return (address) => {
    const key = `${address.serverId}\n${address.toolName}`;
    const lookups = byTool.get(key);
    if (lookups === undefined) return start(key, address);
    const again = () => start(key, address);
    lookups.next ??= lookups.running.then(again, again);
    return lookups.next;
  };
}
