import { matchingRules } from '../rule-index.ts';
import { isInRecord } from '../replay.ts';
import { boundedBefore } from '../work.ts';
import { knownPolicy, type Again } from './recorded-call.ts';

/**
 * The members that rules of the draft read for this call and that the record lacks. The recorded policy did not read
 * them, or they were too large to be stored. Relations are not listed, because their gate checks them. The time is not
 * listed, because every record contains it.
 */
export function missingReads(again: Again): string[] {
  const paths = matchingRules(again.draft.index, again.intent, boundedBefore()).flatMap(
    ({ when }) => when?.reads ?? [],
  );
  const wanted = paths.filter((path) => !isInRecord(path) && path !== 'now' && !path.startsWith('relations.'));
  return [...new Set(wanted)].filter((path) => !isHeld(again, path));
}

/** The members that the queries of relations need and that the record lacks. */
export function missingOfRelations(again: Again): string[] {
  const paths = [...again.draft.relations.values()].flatMap(({ reads }) => reads);
  const wanted = paths.filter((path) => !isInRecord(path) && !path.startsWith('relations.'));
  return [...new Set(wanted)].filter((path) => !isHeld(again, path));
}

/** An absent member is known to be absent only if the recorded policy read it. */
export function isHeld(again: Again, path: string): boolean {
  const capped = Object.keys(again.record.intent.capped_facts ?? {});
  if (capped.some((whole) => contains(whole, path) || contains(path, whole))) return false;
  return knownPolicy(again)?.readSet.some((read) => contains(read, path)) === true;
}

function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`);
}
