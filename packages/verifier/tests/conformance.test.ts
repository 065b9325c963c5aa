import { describe, expect, it } from '@jest/globals';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { conformanceAnswer, parseKeySet } from '../src/index.ts';
import { verifyConformance, type AskedConformance } from '../src/verify-conformance.ts';
import { hashOf, idOf, jwkOf, logSigner, seenAt, type Members } from './chain-fixture.ts';
import {
  ended,
  endedAt,
  proofOf,
  reportId,
  signers,
  startedAt,
  vectors,
  type Proof,
  type Report,
  type Result,
  type Telling,
  type Vector,
} from './conformance-proof.ts';

/** Changes to the trusted keys. `null` removes a key. */
type Trusted = Partial<Record<keyof typeof signers | 'log', Members | null>>;

function trustOf({ log = {}, ...changes }: Trusted = {}): AskedConformance['trust'] {
  const roles = ['report', 'receipt', 'decisions'] as const;
  const keys = roles.map((role) => {
    const change = changes[role] === undefined ? {} : changes[role];
    return change === null ? [] : [{ ...jwkOf(signers[role], 'receipts'), ...change }];
  });
  return parseKeySet({ keys: [...keys.flat(), ...(log === null ? [] : [{ ...jwkOf(logSigner, 'log'), ...log }])] });
}

type Spoilt = Telling & { trusted?: Trusted; request?: Partial<AskedConformance> };

/** The code of the first fault. */
function codeOf({ trusted, request, ...telling }: Spoilt): string {
  const answer = conformanceAnswer(proofOf(telling), { trust: trustOf(trusted), provider: nodeProvider, ...request });
  return answer.fault?.code ?? 'VERIFIED';
}

const verified = (telling: Telling) =>
  verifyConformance(proofOf(telling), { trust: trustOf(), provider: nodeProvider });
const listHash = digestOf(nodeProvider, canonicalBytes(parsePlainJson(vectors)));
const another = hashOf('another');

function found<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item {
  const item = items.find(matches);
  if (item === undefined) throw new Error('there is none');
  return item;
}
const vectorOf = (id: string) => found(vectors, (vector) => vector.id === id);
/** The vectors, with one of them changed. */
const vectorsBut = (id: string, change: (vector: Vector) => unknown): Vector[] => {
  const changed = structuredClone(vectors);
  change(found(changed, (vector) => vector.id === id));
  return changed;
};

/** Changes the result of one vector. */
const but = (id: string, change: Partial<Result>): Telling => ({
  results: (results) =>
    Object.assign(
      found(results, ({ vector_id }) => vector_id === id),
      change,
    ),
});
/** Changes the answers of one vector. */
const saw = (id: string, change: (seen: Result['seen']) => unknown): Telling => ({
  results: (results) => change(found(results, ({ vector_id }) => vector_id === id).seen),
});
/** Changes one answer. */
const says = (at: number, change: Partial<Result['seen'][number]>) => (seen: Result['seen']) => {
  const answer = seen[at];
  if (answer === undefined) throw new Error(`there is no answer ${at}`);
  Object.assign(answer, change);
};
const first = <Item>(items: readonly Item[]): Item => found(items, () => true);
const reports = (change: Partial<Report>): Telling => ({ report: (report) => Object.assign(report, change) });
const shows = (shown: (proof: Proof) => unknown): Telling => ({ shown });
/** A signer with the key id of another one. */
const inTheNameOf = ({ keyId }: typeof logSigner) => ({ ...logSigner, keyId });

describe('a conformance proof', () => {
  it('verifies, and reports the executed vectors, the signer, the time and the result', () => {
    expect(verified({})).toEqual({
      ...{ report_id: reportId, scope: 'full', verdict: 'PASS', passed: 5, failed: 0, skipped: 1, decisions: 5 },
      ...{ vectors_hash: listHash, started_at: startedAt, ended_at: endedAt },
      ...{ key_id: signers.receipt.keyId, witnessed: seenAt },
    });
  });

  it('of a short run needs only the in-process vectors and the short calls', () => {
    expect(verified({ scope: 'short' })).toMatchObject({ scope: 'short', verdict: 'PASS', passed: 3, decisions: 1 });
  });

  it('of a failed kernel also verifies, without the decisions of failed vectors', () => {
    const failed = but('budget.race', { outcome: 'failed', detail: 'saw another answer' });
    expect(verified(failed)).toMatchObject({ verdict: 'FAIL', passed: 4, failed: 1, skipped: 1, decisions: 2 });
  });

  it.each<[string, Spoilt]>([
    ['without a policy of the installation', reports({ policy_hash: null })],
    ['with other receipts between the last checkpoint of the run and its own receipt', reports({ tree_size: 0 })],
    ['with the vectors that the caller expects', { request: { vectorsHash: listHash } }],
    ['with a checkpoint whose clock is a minute late', { seenAt: startedAt }],
    ['with a receipt key that is valid since the end of the run', { trusted: { receipt: { valid_from: endedAt } } }],
    ['with a report key that is valid since the end of the run', { trusted: { report: { valid_from: endedAt } } }],
    ['with keys that were revoked later', { trusted: { report: revoked(seenAt, 1), receipt: revoked(seenAt, 1) } }],
    ['with a failed vector', but('door.chat', { outcome: 'failed', detail: 'no answer' })],
  ])('verifies %s', (_what, report) => {
    expect(codeOf(report)).toBe('VERIFIED');
  });
});

/** A key that was revoked this number of milliseconds after the instant. */
function revoked(instant: string, afterMs = 0): Members {
  return { revoked_at: new Date(Date.parse(instant) + afterMs).toISOString() };
}

/**
 * The checkpoint is older than the receipt that it contains, within the clock tolerance, so a key can be revoked
 * between the two.
 */
const betweenBoth = { seenAt: '2026-02-01T00:30:30.000Z', revokedAt: '2026-02-01T00:30:45.000Z' };

describe('a report is refused with', () => {
  it.each<[string, string, Spoilt]>([
    ['an unknown member', 'MALFORMED', shows((proof) => Object.assign(proof, { note: 'all is well' }))],
    ['changed vectors', 'HASH_MISMATCH', shows(({ vectors: [some] }) => some && (some.title = 'Other'))],
    ['vectors that the caller does not expect', 'HASH_MISMATCH', { request: { vectorsHash: another } }],
    ['the hash of another report', 'HASH_MISMATCH', { reportHash: another }],
    ['an unknown key', 'KEY_UNKNOWN', { trusted: { report: null } }],
    ['a key for another purpose', 'KEY_UNKNOWN', { signers: { report: logSigner } }],
    ['a signature of another key', 'SIGNATURE_INVALID', { signers: { report: inTheNameOf(signers.report) } }],
    [
      'a key that is not valid yet',
      'KEY_NOT_VALID_YET',
      { trusted: { report: { valid_from: '2026-02-01T00:31:00.001Z' } } },
    ],
    ['a key that expired at the end of the run', 'KEY_EXPIRED', { trusted: { report: { valid_until: endedAt } } }],
    ['a key that was revoked before the checkpoint', 'KEY_REVOKED', { trusted: { report: revoked(seenAt) } }],
    [
      'a key that was revoked before the stated end of the run',
      'KEY_REVOKED',
      { seenAt: betweenBoth.seenAt, trusted: { report: revoked(betweenBoth.revokedAt) } },
    ],
  ])('%s: %s', (_what, code, report) => {
    expect(codeOf(report)).toBe(code);
  });
});

describe('the receipt of a report is refused with', () => {
  it.each<[string, string, Spoilt]>([
    ['an unknown key', 'KEY_UNKNOWN', { trusted: { receipt: null } }],
    ['a signature of another key', 'SIGNATURE_INVALID', { signers: { receipt: inTheNameOf(signers.receipt) } }],
    [
      'a key that is not valid yet',
      'KEY_NOT_VALID_YET',
      { trusted: { receipt: { valid_from: '2026-02-01T00:31:00.001Z' } } },
    ],
    ['a key that expired at the end of the run', 'KEY_EXPIRED', { trusted: { receipt: { valid_until: endedAt } } }],
    ['a key that was revoked before the checkpoint', 'KEY_REVOKED', { trusted: { receipt: revoked(seenAt) } }],
    [
      'a key that was revoked before the stated time of the receipt',
      'KEY_REVOKED',
      { seenAt: betweenBoth.seenAt, trusted: { receipt: revoked(betweenBoth.revokedAt) } },
    ],
    ['a checkpoint from before the receipt', 'TIME_MISMATCH', { seenAt: '2026-02-01T00:29:59.999Z' }],
    ['a checkpoint of an unknown key', 'KEY_UNKNOWN', { trusted: { log: null } }],
    ['a checkpoint of another log', 'CHECKPOINT_INVALID', { request: { origin: 'log.example.org/another' } }],
    ['a different index in the log', 'INCLUSION_UNPROVEN', shows(({ evidence }) => (evidence.inclusion.log_index = 0))],
    [
      'other hashes in the inclusion proof',
      'INCLUSION_UNPROVEN',
      shows(({ evidence }) => (evidence.inclusion.hashes = [])),
    ],
    ['a record that was changed', 'RECORD_HASH_MISMATCH', shows(({ evidence }) => (evidence.record.policy_epoch = 2))],
    ['unknown facts', 'MALFORMED', { facts: { note: 'all is well' } }],
    ['a different kind', 'LINK_MISMATCH', { record: { kind: 'trust' } }],
    ['a different tenant', 'LINK_MISMATCH', { record: { tenant_id: 'acme' } }],
    ['a different receipt ID', 'LINK_MISMATCH', shows(({ signed }) => (signed.receipt_id = idOf('rcp', 1)))],
    ['the hash of other arguments', 'LINK_MISMATCH', { intent: { args_hash: another } }],
    ['a different time', 'LINK_MISMATCH', { record: { created_at: '2026-02-01T00:31:00.001Z' } }],
    ['a different policy', 'LINK_MISMATCH', { record: { policy_hash: another } }],
    ['an index from before the end of the run', 'LINK_MISMATCH', reports({ tree_size: 2 })],
    ['the hash of another report among its facts', 'LINK_MISMATCH', { facts: { report_hash: another } }],
    ['the ID of another report', 'LINK_MISMATCH', { facts: { report_id: idOf('cfr', 2) } }],
    ['a different verdict', 'LINK_MISMATCH', { facts: { verdict: 'FAIL' } }],
    ['other vectors', 'LINK_MISMATCH', { facts: { vectors_hash: another } }],
  ])('%s: %s', (_what, code, report) => {
    expect(codeOf(report)).toBe(code);
  });
});

describe('results do not match their vectors with', () => {
  const shortTwice = vectorsBut('budget.race', (vector) => (vector.id = 'door.no-rule'));

  it.each<[string, string, Spoilt]>([
    ['a missing result', 'LINK_MISMATCH', { results: (results) => results.pop() }],
    ['an additional result', 'LINK_MISMATCH', { results: (results) => results.push(first(results)) }],
    ['results in another order', 'LINK_MISMATCH', { results: (results) => results.reverse() }],
    ['a different vector ID', 'LINK_MISMATCH', but('fault.pdp-throws', { vector_id: 'fault.store-away' })],
    ['one ID for two vectors', 'LINK_MISMATCH', { vectors: [...vectors, vectorOf('fault.pdp-throws')] }],
    ['one ID for two vectors, in a short run', 'LINK_MISMATCH', { scope: 'short', vectors: shortTwice }],
    ['the results of a full run in a short run', 'LINK_MISMATCH', reports({ scope: 'short' })],
    [
      'a result that does not follow from its answers',
      'VERDICT_MISMATCH',
      but('fault.pdp-throws', { detail: 'nothing' }),
    ],
    [
      'a skip of a vector without requirements',
      'VERDICT_MISMATCH',
      but('door.no-rule', { outcome: 'skipped', seen: [] }),
    ],
    ['a missing answer', 'VERDICT_MISMATCH', saw('budget.race', (seen) => seen.shift())],
    ['a skip without a detail', 'VERDICT_MISMATCH', but('door.chat', { detail: null })],
    ['an unknown step in process', 'VERDICT_MISMATCH', saw('fault.pdp-throws', ([only]) => only && (only.step = 7))],
    [
      'a status of a call in process',
      'VERDICT_MISMATCH',
      saw('fault.pdp-throws', ([only]) => only && (only.status = 200)),
    ],
    [
      'a verdict of a step without a decision',
      'VERDICT_MISMATCH',
      saw('approval.told-again', says(1, { verdict: 'ALLOW' })),
    ],
    [
      'a reason of a step without a decision',
      'VERDICT_MISMATCH',
      saw('approval.told-again', says(2, { reason_code: 'ALLOWED' })),
    ],
    ['a reason without a verdict', 'VERDICT_MISMATCH', saw('budget.race', says(3, { reason_code: 'ALLOWED' }))],
    ['one receipt for two calls', 'VERDICT_MISMATCH', saw('budget.race', says(2, { receipt_id: idOf('rcp', 2) }))],
    [
      'a decision other than the repeated one',
      'VERDICT_MISMATCH',
      saw('approval.told-again', says(3, { receipt_id: idOf('rcp', 6) })),
    ],
    ['one passed vector too many', 'VERDICT_MISMATCH', reports({ passed: 6 })],
    ['one failed vector too many', 'VERDICT_MISMATCH', reports({ failed: 1 })],
    ['one skipped vector too many', 'VERDICT_MISMATCH', reports({ skipped: 2 })],
    ['FAIL without a failed vector', 'VERDICT_MISMATCH', reports({ verdict: 'FAIL' })],
    [
      'PASS with a failed vector',
      'VERDICT_MISMATCH',
      { ...but('door.no-rule', { outcome: 'failed', detail: 'seen' }), ...reports({ verdict: 'PASS' }) },
    ],
  ])('%s: %s', (_what, code, report) => {
    expect(codeOf(report)).toBe(code);
  });
});

describe('the decisions of a report do not prove it with', () => {
  const namesAnother = (seen: Result['seen']) => (first(seen).receipt_id = idOf('rcp', 6));
  const inconsistent = { verdict: 'ESCALATE', reason_code: 'NO_MATCHING_RULE' } as const;
  const escalates = (vector: Vector) => {
    const [step] = vector.surface === 'live' ? vector.steps : [];
    if (step?.do === 'call') Object.assign(step.expect, inconsistent);
  };

  it.each<[string, string, Spoilt]>([
    ['a missing decision', 'LINK_MISMATCH', shows(({ decisions }) => decisions.shift())],
    [
      'a decision that no result names',
      'LINK_MISMATCH',
      shows(({ decisions }) => (decisions[0] = first(proofOf(saw('door.no-rule', namesAnother)).decisions))),
    ],
    ['a repeated decision', 'LINK_MISMATCH', shows(({ decisions }) => decisions.push(first(decisions)))],
    [
      'a decision of a failed vector',
      'LINK_MISMATCH',
      {
        ...but('door.no-rule', { outcome: 'failed', detail: 'seen' }),
        ...shows(({ decisions }) => decisions.push(first(proofOf().decisions))),
      },
    ],
    ['an unknown key', 'KEY_UNKNOWN', { trusted: { decisions: null } }],
    ['a signature of another key', 'SIGNATURE_INVALID', { signers: { decisions: inTheNameOf(signers.decisions) } }],
    [
      'a key that was revoked at any time',
      'KEY_REVOKED',
      { trusted: { decisions: revoked('2027-01-01T00:00:00.000Z') } },
    ],
    [
      'a record that was changed',
      'RECORD_HASH_MISMATCH',
      shows(({ decisions }) => (first(decisions).record.policy_epoch = 2)),
    ],
    ['a different kind', 'LINK_MISMATCH', { decided: { 1: { kind: 'trust', gates: [] } } }],
    [
      'a different verdict',
      'LINK_MISMATCH',
      {
        vectors: vectorsBut('door.no-rule', escalates),
        ...saw('door.no-rule', (seen) => Object.assign(first(seen), inconsistent)),
        decided: { 1: ended('DENY', 'NO_MATCHING_RULE') },
      },
    ],
    ['a different reason', 'LINK_MISMATCH', { decided: { 1: ended('DENY', 'POLICY_DENIED') } }],
    ['the tenant of another vector', 'LINK_MISMATCH', { decided: { 1: { tenant_id: 'conformance:budget.race' } } }],
    ['the session of another run', 'LINK_MISMATCH', { decided: { 1: { session_id: idOf('conformance', 2) } } }],
    ['a run that ended before it began', 'TIME_MISMATCH', reports({ started_at: '2026-02-01T00:31:00.001Z' })],
    ['a decision from before the run', 'TIME_MISMATCH', { decided: { 1: { created_at: '2026-02-01T00:29:59.999Z' } } }],
    ['a decision from after the run', 'TIME_MISMATCH', { decided: { 5: { created_at: '2026-02-01T00:31:00.001Z' } } }],
    [
      'a decision of a step that makes none',
      'VERDICT_MISMATCH',
      {
        ...saw('approval.told-again', ([, answer]) => answer && (answer.receipt_id = idOf('rcp', 6))),
        decided: { 6: ended('DENY', 'POLICY_DENIED') },
      },
    ],
  ])('%s: %s', (_what, code, report) => {
    expect(codeOf(report)).toBe(code);
  });
});
