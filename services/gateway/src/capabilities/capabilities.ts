import type { Capability, CapabilityState, EvalRecord } from '@countersign/contracts/gateway';
import { catalogue, catalogueRevisedAt, type CatalogueEntry } from './catalogue.ts';

const command = 'make test';

/** Each capability with its known state. `record` is a test run of this build, or `null`. */
export function capabilitiesOf(record: EvalRecord | null): Capability[] {
  return catalogue.map((entry) => capabilityOf(entry, record));
}

export function capabilityOf(entry: CatalogueEntry, record: EvalRecord | null): Capability {
  const { key, name, owner, promises } = entry;
  const evidence = record === null ? null : evidenceFor(entry, record);
  return {
    key,
    name,
    state: stateOf(entry, evidence),
    blockers: blockersOf(entry, evidence),
    owner,
    evalGate: { command, promises: [...promises] },
    evidence,
    updatedAt: evidence?.recordedAt ?? catalogueRevisedAt,
  };
}

function evidenceFor({ promises }: CatalogueEntry, record: EvalRecord): EvalRecord {
  const seen = promises.flatMap((id) => {
    const result = record.promises[id];
    return result === undefined ? [] : [[id, result] as const];
  });
  return { ...record, promises: Object.fromEntries(seen) };
}

function stateOf({ promises, unproven }: CatalogueEntry, evidence: EvalRecord | null): CapabilityState {
  if (evidence !== null && Object.values(evidence.promises).includes('failed')) return 'blocked';
  if (unproven.length === promises.length) return 'planned';
  if (unproven.length > 0) return 'prototype';
  const hasPassed = evidence !== null && promises.every((id) => evidence.promises[id] === 'passed');
  return hasPassed ? 'production_ready' : 'implemented';
}

function blockersOf({ promises, unproven }: CatalogueEntry, evidence: EvalRecord | null): string[] {
  const blockers = unproven.map((id) => `No test proves ${id} yet`);
  if (evidence === null) return [...blockers, `No run of \`${command}\` is recorded for this code`];
  for (const id of promises) {
    if (unproven.includes(id)) continue;
    if (evidence.promises[id] === 'failed') blockers.push(`${id} failed in the recorded run`);
    else if (evidence.promises[id] === undefined) blockers.push(`The recorded run did not try ${id}`);
  }
  return blockers;
}
