import { afterAll } from '@jest/globals';

/** Writes files whose names begin with `name`: a picture of a page, the log of a service. */
type TakeEvidence = (name: string) => Promise<void>;

const registry = globalThis as { countersignEvidence?: Set<TakeEvidence> };

/**
 * Until the end of this file, each failed test stores this evidence, if the run collects evidence
 * (tests/runner/evidence.mjs).
 */
export function onFailure(take: TakeEvidence): void {
  const takers = (registry.countersignEvidence ??= new Set());
  takers.add(take);
}

afterAll(() => registry.countersignEvidence?.clear());
