import { afterAll } from '@jest/globals';

/** Writes files whose names begin with `name`: a picture of a page, the log of a service. */
type TakeEvidence = (name: string) => Promise<void>;

const registry = globalThis as { countersignEvidence?: Set<TakeEvidence> };

/** From now until the end of this file each failed test leaves this evidence, where a run keeps any (tests/runner/evidence.mjs). */
export function onFailure(take: TakeEvidence): void {
  const takers = (registry.countersignEvidence ??= new Set());
  takers.add(take);
}

afterAll(() => registry.countersignEvidence?.clear());
