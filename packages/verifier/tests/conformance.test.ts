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

/** The change of the trusted keys; `null` when there is no such key. */
type Trusted = Partial<Record<keyof typeof signers | 'log', Members | null>>;

function trustOf({ log = {}, ...changes }: Trusted = {}): AskedConformance['trust'] {
  const roles = ['report', 'receipt', 'decisions'] as const;
  const keys = roles.map((role) => {
    const change = changes[role] === undefined ? {} : changes[role];
    return change === null ? [] : [{ ...jwkOf(signers[role], 'receipts'), ...change }];
  });
  return parseKeySet({ keys: [...keys.flat(), ...(log === null ? [] : [{ ...jwkOf(logSigner, 'log'), ...log }])] });
}

type Spoilt = Telling & { trusted?: Trusted; asked?: Partial<AskedConformance> };

/** The code of the fault that is found. */
function codeOf({ trusted, asked, ...told }: Spoilt): string {
  const answer = conformanceAnswer(proofOf(told), { trust: trustOf(trusted), provider: nodeProvider, ...asked });
  return answer.fault?.code ?? 'VERIFIED';
}

const verified = (told: Telling) => verifyConformance(proofOf(told), { trust: trustOf(), provider: nodeProvider });
const listHash = digestOf(nodeProvider, canonicalBytes(parsePlainJson(vectors)));
const another = hashOf('another');

function found<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item {
  const item = items.find(matches);
  if (item === undefined) throw new Error('there is none');
  return item;
}
const vectorOf = (id: string) => found(vectors, (vector) => vector.id === id);
/** The vectors, of which this one says something else. */
const vectorsBut = (id: string, change: (vector: Vector) => unknown): Vector[] => {
  const changed = structuredClone(vectors);
  change(found(changed, (vector) => vector.id === id));
  return changed;
};

/** One of the results is otherwise. */
const but = (id: string, change: Partial<Result>): Telling => ({
  results: (results) =>
    Object.assign(
      found(results, ({ vector_id }) => vector_id === id),
      change,
    ),
});
/** Changes the results of one of them. */
const saw = (id: string, change: (seen: Result['seen']) => unknown): Telling => ({
  results: (results) => change(found(results, ({ vector_id }) => vector_id === id).seen),
});
/** One of the answers says something else. */
const says = (at: number, change: Partial<Result['seen'][number]>) => (seen: Result['seen']) => {
  const answer = seen[at];
  if (answer === undefined) throw new Error(`there is no answer ${at}`);
  Object.assign(answer, change);
};
const first = <Item>(items: readonly Item[]): Item => found(items, () => true);
const reports = (change: Partial<Report>): Telling => ({ report: (report) => Object.assign(report, change) });
const shows = (shown: (proof: Proof) => unknown): Telling => ({ shown });
/** Signs under the name of another. */
const inTheNameOf = ({ keyId }: typeof logSigner) => ({ ...logSigner, keyId });

describe('a conformance proof', () => {
  it('verifies, and says which vectors were executed, by whom, when, and what came of it', () => {
    expect(verified({})).toEqual({
      ...{ report_id: reportId, scope: 'full', verdict: 'PASS', passed: 5, failed: 0, skipped: 1, decisions: 5 },
      ...{ vectors_hash: listHash, started_at: startedAt, ended_at: endedAt },
      ...{ key_id: signers.receipt.keyId, witnessed: seenAt },
    });
  });

  it('of a short run needs what is in process and the short calls, and nothing else', () => {
    expect(verified({ scope: 'short' })).toMatchObject({ scope: 'short', verdict: 'PASS', passed: 3, decisions: 1 });
  });

  it('of a kernel that failed verifies as well, without the decisions of what failed', () => {
    const failed = but('budget.race', { outcome: 'failed', detail: 'saw another answer' });
    expect(verified(failed)).toMatchObject({ verdict: 'FAIL', passed: 4, failed: 1, skipped: 1, decisions: 2 });
  });

  it.each<[string, Spoilt]>([
    ['without a policy of the installation', reports({ policy_hash: null })],
    ['with others between the last checkpoint of the run and its receipt', reports({ tree_size: 0 })],
    ['of the vectors that the caller means', { asked: { vectorsHash: listHash } }],
    ['with a checkpoint whose clock is a minute late', { seenAt: startedAt }],
    ['of a key that signs receipts only since the run', { trusted: { receipt: { valid_from: endedAt } } }],
    ['of a key that signs reports only since the run', { trusted: { report: { valid_from: endedAt } } }],
    ['of keys that were revoked later', { trusted: { report: revoked(seenAt, 1), receipt: revoked(seenAt, 1) } }],
    ['with a vector that failed for some reason', but('door.chat', { outcome: 'failed', detail: 'no answer' })],
  ])('verifies %s', (_what, told) => {
    expect(codeOf(told)).toBe('VERIFIED');
  });
});

/** A key that was, so many milliseconds after. */
function revoked(instant: string, afterMs = 0): Members {
  return { revoked_at: new Date(Date.parse(instant) + afterMs).toISOString() };
}

/** The log saw it before its own time, so a key can be revoked between both. */
const betweenBoth = { seenAt: '2026-02-01T00:30:30.000Z', revokedAt: '2026-02-01T00:30:45.000Z' };

describe('a report is not believed with', () => {
  it.each<[string, string, Spoilt]>([
    ['a member too many', 'MALFORMED', shows((proof) => Object.assign(proof, { note: 'all is well' }))],
    ['vectors that it does not name', 'HASH_MISMATCH', shows(({ vectors: [some] }) => some && (some.title = 'Other'))],
    ['vectors that were not asked for', 'HASH_MISMATCH', { asked: { vectorsHash: another } }],
    ['a hash of another report', 'HASH_MISMATCH', { reportHash: another }],
    ['an unknown key', 'KEY_UNKNOWN', { trusted: { report: null } }],
    ['a key that signs other things', 'KEY_UNKNOWN', { signers: { report: logSigner } }],
    ['a signature of another key', 'SIGNATURE_INVALID', { signers: { report: inTheNameOf(signers.report) } }],
    ['a key of later', 'KEY_NOT_VALID_YET', { trusted: { report: { valid_from: '2026-02-01T00:31:00.001Z' } } }],
    ['a key that ended with the run', 'KEY_EXPIRED', { trusted: { report: { valid_until: endedAt } } }],
    ['a key that was revoked before the log saw it', 'KEY_REVOKED', { trusted: { report: revoked(seenAt) } }],
    [
      'a key that was revoked before it says to have ended',
      'KEY_REVOKED',
      { seenAt: betweenBoth.seenAt, trusted: { report: revoked(betweenBoth.revokedAt) } },
    ],
  ])('%s: %s', (_what, code, told) => {
    expect(codeOf(told)).toBe(code);
  });
});

describe('the receipt of a report does not count with', () => {
  it.each<[string, string, Spoilt]>([
    ['an unknown key', 'KEY_UNKNOWN', { trusted: { receipt: null } }],
    ['a signature of another key', 'SIGNATURE_INVALID', { signers: { receipt: inTheNameOf(signers.receipt) } }],
    ['a key of later', 'KEY_NOT_VALID_YET', { trusted: { receipt: { valid_from: '2026-02-01T00:31:00.001Z' } } }],
    ['a key that ended with the run', 'KEY_EXPIRED', { trusted: { receipt: { valid_until: endedAt } } }],
    ['a key that was revoked before the log saw it', 'KEY_REVOKED', { trusted: { receipt: revoked(seenAt) } }],
    [
      'a key that was revoked before it says to be issued',
      'KEY_REVOKED',
      { seenAt: betweenBoth.seenAt, trusted: { receipt: revoked(betweenBoth.revokedAt) } },
    ],
    ['a checkpoint from before it', 'TIME_MISMATCH', { seenAt: '2026-02-01T00:29:59.999Z' }],
    ['a checkpoint of an unknown key', 'KEY_UNKNOWN', { trusted: { log: null } }],
    ['a checkpoint of another log', 'CHECKPOINT_INVALID', { asked: { origin: 'log.example.org/another' } }],
    ['another place', 'INCLUSION_UNPROVEN', shows(({ evidence }) => (evidence.inclusion.log_index = 0))],
    ['another way up', 'INCLUSION_UNPROVEN', shows(({ evidence }) => (evidence.inclusion.hashes = []))],
    ['a record that was changed', 'RECORD_HASH_MISMATCH', shows(({ evidence }) => (evidence.record.policy_epoch = 2))],
    ['facts that no kernel keeps', 'MALFORMED', { facts: { note: 'all is well' } }],
    ['another kind', 'LINK_MISMATCH', { record: { kind: 'trust' } }],
    ['a tenant of its own', 'LINK_MISMATCH', { record: { tenant_id: 'acme' } }],
    ['another name', 'LINK_MISMATCH', shows(({ signed }) => (signed.receipt_id = idOf('rcp', 1)))],
    ['the hash of other arguments', 'LINK_MISMATCH', { intent: { args_hash: another } }],
    ['another time', 'LINK_MISMATCH', { record: { created_at: '2026-02-01T00:31:00.001Z' } }],
    ['another policy', 'LINK_MISMATCH', { record: { policy_hash: another } }],
    ['a place that the log had before the run ended', 'LINK_MISMATCH', reports({ tree_size: 2 })],
    ['the hash of another report among its facts', 'LINK_MISMATCH', { facts: { report_hash: another } }],
    ['the name of another report', 'LINK_MISMATCH', { facts: { report_id: idOf('cfr', 2) } }],
    ['another verdict', 'LINK_MISMATCH', { facts: { verdict: 'FAIL' } }],
    ['other vectors', 'LINK_MISMATCH', { facts: { vectors_hash: another } }],
  ])('%s: %s', (_what, code, told) => {
    expect(codeOf(told)).toBe(code);
  });
});

describe('results are not those of the vectors with', () => {
  const shortTwice = vectorsBut('budget.race', (vector) => (vector.id = 'door.no-rule'));

  it.each<[string, string, Spoilt]>([
    ['one of them missing', 'LINK_MISMATCH', { results: (results) => results.pop() }],
    ['one too many', 'LINK_MISMATCH', { results: (results) => results.push(first(results)) }],
    ['two exchanged', 'LINK_MISMATCH', { results: (results) => results.reverse() }],
    ['another name', 'LINK_MISMATCH', but('fault.pdp-throws', { vector_id: 'fault.store-away' })],
    ['one id of two vectors', 'LINK_MISMATCH', { vectors: [...vectors, vectorOf('fault.pdp-throws')] }],
    ['one id of two vectors, in a run of one', 'LINK_MISMATCH', { scope: 'short', vectors: shortTwice }],
    ['those of a full run in a short one', 'LINK_MISMATCH', reports({ scope: 'short' })],
    ['one that does not follow', 'VERDICT_MISMATCH', but('fault.pdp-throws', { detail: 'nothing' })],
    ['a skip of what needs nothing', 'VERDICT_MISMATCH', but('door.no-rule', { outcome: 'skipped', seen: [] })],
    ['an answer too few', 'VERDICT_MISMATCH', saw('budget.race', (seen) => seen.shift())],
    ['a skip that says nothing', 'VERDICT_MISMATCH', but('door.chat', { detail: null })],
    [
      'a step in process that is none',
      'VERDICT_MISMATCH',
      saw('fault.pdp-throws', ([only]) => only && (only.step = 7)),
    ],
    ['a status in process', 'VERDICT_MISMATCH', saw('fault.pdp-throws', ([only]) => only && (only.status = 200))],
    [
      'a verdict of what decides nothing',
      'VERDICT_MISMATCH',
      saw('approval.told-again', says(1, { verdict: 'ALLOW' })),
    ],
    [
      'a reason of what decides nothing',
      'VERDICT_MISMATCH',
      saw('approval.told-again', says(2, { reason_code: 'ALLOWED' })),
    ],
    ['a reason without a verdict', 'VERDICT_MISMATCH', saw('budget.race', says(3, { reason_code: 'ALLOWED' }))],
    ['one receipt of two calls', 'VERDICT_MISMATCH', saw('budget.race', says(2, { receipt_id: idOf('rcp', 2) }))],
    [
      'another decision than the one that is told again',
      'VERDICT_MISMATCH',
      saw('approval.told-again', says(3, { receipt_id: idOf('rcp', 6) })),
    ],
    ['one more passed', 'VERDICT_MISMATCH', reports({ passed: 6 })],
    ['one more failed', 'VERDICT_MISMATCH', reports({ failed: 1 })],
    ['one more skipped', 'VERDICT_MISMATCH', reports({ skipped: 2 })],
    ['FAIL, and none that failed', 'VERDICT_MISMATCH', reports({ verdict: 'FAIL' })],
    [
      'PASS, and one that failed',
      'VERDICT_MISMATCH',
      { ...but('door.no-rule', { outcome: 'failed', detail: 'seen' }), ...reports({ verdict: 'PASS' }) },
    ],
  ])('%s: %s', (_what, code, told) => {
    expect(codeOf(told)).toBe(code);
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
    ['one of them missing', 'LINK_MISMATCH', shows(({ decisions }) => decisions.shift())],
    [
      'one that nothing names in the place of one of them',
      'LINK_MISMATCH',
      shows(({ decisions }) => (decisions[0] = first(proofOf(saw('door.no-rule', namesAnother)).decisions))),
    ],
    ['one of them twice', 'LINK_MISMATCH', shows(({ decisions }) => decisions.push(first(decisions)))],
    [
      'one of what failed',
      'LINK_MISMATCH',
      {
        ...but('door.no-rule', { outcome: 'failed', detail: 'seen' }),
        ...shows(({ decisions }) => decisions.push(first(proofOf().decisions))),
      },
    ],
    ['an unknown key', 'KEY_UNKNOWN', { trusted: { decisions: null } }],
    ['a signature of another key', 'SIGNATURE_INVALID', { signers: { decisions: inTheNameOf(signers.decisions) } }],
    ['a key that was revoked whenever', 'KEY_REVOKED', { trusted: { decisions: revoked('2027-01-01T00:00:00.000Z') } }],
    [
      'a record that was changed',
      'RECORD_HASH_MISMATCH',
      shows(({ decisions }) => (first(decisions).record.policy_epoch = 2)),
    ],
    ['another kind', 'LINK_MISMATCH', { decided: { 1: { kind: 'trust', gates: [] } } }],
    [
      'another verdict',
      'LINK_MISMATCH',
      {
        vectors: vectorsBut('door.no-rule', escalates),
        ...saw('door.no-rule', (seen) => Object.assign(first(seen), inconsistent)),
        decided: { 1: ended('DENY', 'NO_MATCHING_RULE') },
      },
    ],
    ['another reason', 'LINK_MISMATCH', { decided: { 1: ended('DENY', 'POLICY_DENIED') } }],
    ['the tenant of another vector', 'LINK_MISMATCH', { decided: { 1: { tenant_id: 'conformance:budget.race' } } }],
    ['the session of another run', 'LINK_MISMATCH', { decided: { 1: { session_id: idOf('conformance', 2) } } }],
    ['a run that ended before it began', 'TIME_MISMATCH', reports({ started_at: '2026-02-01T00:31:00.001Z' })],
    ['one from before the run', 'TIME_MISMATCH', { decided: { 1: { created_at: '2026-02-01T00:29:59.999Z' } } }],
    ['one from after the run', 'TIME_MISMATCH', { decided: { 5: { created_at: '2026-02-01T00:31:00.001Z' } } }],
    [
      'one of a step that decides nothing',
      'VERDICT_MISMATCH',
      {
        ...saw('approval.told-again', ([, answer]) => answer && (answer.receipt_id = idOf('rcp', 6))),
        decided: { 6: ended('DENY', 'POLICY_DENIED') },
      },
    ],
  ])('%s: %s', (_what, code, told) => {
    expect(codeOf(told)).toBe(code);
  });
});
