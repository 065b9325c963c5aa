import { chainOfRecords, exportOf, hashOf, recordOf } from './chain-fixture.ts';
import type { Members } from './chain-fixture.ts';
import { invalid, valid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const hash = hashOf('salt and a long text');
const capped_facts = { 'args.text': { hash, bytes: 4097 } };

/**
 * Cases of facts that are too large to be stored. Their hashes are stored apart from the other facts, in one format
 * only.
 */
export async function makeCappedVectors(): Promise<Record<string, ReceiptVector>> {
  const exported = async (intent: Members, changes: Members = {}) =>
    await exportOf([chainOfRecords([recordOf(1, { intent, ...changes })])]);
  const refused = async (about: string, intent: Members, changes: Members = {}) =>
    invalid(about, 'MALFORMED', await exported(intent, changes), 0);
  const { judged_hash = null } = recordOf(1, { intent: { capped_facts } });
  const second = { 'args.text': { hash: hashOf('another text'), bytes: 4097 } };
  return {
    'valid/capped-fact': valid('A fact of which hash and length are kept.', await exported({ capped_facts })),
    'valid/argument-like-a-capped-fact': valid(
      'An argument that has the form of a capped fact is a fact like any other.',
      await exported({ facts: capped_facts }),
    ),
    'invalid/judged-with-another-capped-fact': invalid(
      'A record whose policy read another long text than its judged_hash covers.',
      'JUDGED_HASH_MISMATCH',
      await exported({ capped_facts: second }, { judged_hash }),
    ),
    'invalid/capped-fact-within-the-cap': await refused('A fact that is small enough to be kept, and is not.', {
      capped_facts: { 'args.text': { hash, bytes: 4096 } },
    }),
    'invalid/capped-fact-beside-itself': await refused('A fact that is kept and capped.', {
      facts: { 'args.text': 'short' },
      capped_facts,
    }),
    'invalid/capped-facts-empty': await refused('A second form of having no capped facts.', { capped_facts: {} }),
    'invalid/capped-fact-with-more': await refused('A capped fact with a member that is not defined.', {
      capped_facts: { 'args.text': { hash, bytes: 4097, value: 'x' } },
    }),
    'invalid/announcement-with-capped-fact': await refused(
      'An announcement that hides what it announces.',
      { facts: {}, capped_facts },
      { kind: 'approval', verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [] },
    ),
  };
}
