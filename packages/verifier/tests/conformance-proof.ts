import type {
  ConformanceProof,
  ConformanceReport,
  ConformanceVector,
  VectorResult,
} from '@countersign/contracts/governance-kernel';
import {
  canonicalBytes,
  decodeHex,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
  parsePlainJson,
  rootOf,
} from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { intentHash } from '@countersign/receipts';
import {
  allowed,
  chainOf,
  chainOfRecords,
  hashOf,
  idOf,
  leafOf,
  noteOver,
  receiptHashOf,
  recordOf,
  seenAt,
  sign,
  strangeSigner,
  testSigner,
  traceOf,
  type Members,
  type Receipt,
} from './chain-fixture.ts';

type Written<Schema extends { _zod: { input: unknown } }> = Schema['_zod']['input'];
export type Proof = Written<typeof ConformanceProof>;
export type Report = Written<typeof ConformanceReport>;
export type Result = Written<typeof VectorResult>;
export type Vector = Written<typeof ConformanceVector>;
type Seen = Result['seen'][number];

/**
 * One key for each statement, so that a test can make one of them invalid. The last is the key of RFC 8032 §7.1, TEST
 * 1024.
 */
export const signers = {
  report: testSigner,
  receipt: strangeSigner,
  decisions: createSigner(decodeHex('f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5')),
};
export const startedAt = '2026-02-01T00:30:00.000Z';
export const endedAt = '2026-02-01T00:31:00.000Z';
export const reportId = idOf('cfr', 1);

const named = { title: 'A test', description: 'For a test.', gates: [] };
const live = { ...named, set: 'negative' as const, surface: 'live' as const, given: { rules: [] } };
const inProcess = { ...named, set: 'negative', surface: 'in_process' } as const;
const call = { do: 'call', door: 'evaluate', body: {} } as const;

/** The vectors in their published form, without members that have a default. */
export const vectors: Vector[] = [
  {
    ...inProcess,
    id: 'fault.pdp-throws',
    given: { tool: 'conformance.read', fault: { kind: 'evaluator', does: 'throws' } },
    expect: { verdict: 'DENY', reason_code: 'PDP_UNAVAILABLE', executed: false },
  },
  {
    ...inProcess,
    id: 'fault.store-away',
    given: { tool: 'conformance.read', fault: { kind: 'store_away' } },
    expect: { error: 'RECEIPT_STORE_UNAVAILABLE', executed: false },
  },
  {
    ...live,
    id: 'door.no-rule',
    short: true,
    steps: [{ ...call, expect: { status: 200, verdict: 'DENY', reason_code: 'NO_MATCHING_RULE' } }],
  },
  {
    ...live,
    id: 'budget.race',
    steps: [
      {
        ...call,
        times: 3,
        expect: { status: 200, verdict: 'ALLOW', reason_code: 'ALLOWED', exactly: 1, rest: 'BUDGET_EXCEEDED' },
      },
      { ...call, by: 'nobody', expect: { status: 401, error: 'UNAUTHENTICATED' } },
    ],
  },
  {
    ...live,
    id: 'approval.told-again',
    steps: [
      { ...call, expect: { status: 202, verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' } },
      { do: 'answer', of: 0, principal: 'olivia', action: 'approve', expect: { status: 200 } },
      { do: 'read', of: 0, expect: { status: 404 } },
      { ...call, expect: { status: 202, verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED', repeats: 0 } },
    ],
  },
  { ...live, id: 'door.chat', needs: 'model', steps: [{ ...call, door: 'chat', expect: { status: 200 } }] },
];

/** The answer to a step. `number` is the number of its receipt. */
export function seenOf(step: number, statement: Partial<Seen> = {}, number: number | null = null): Seen {
  const receipt_id = number === null ? null : idOf('rcp', number);
  return { step, status: null, verdict: null, reason_code: null, receipt_id, ...statement };
}

const request = { status: 202, verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' } as const;
const spent = { status: 200, verdict: 'DENY', reason_code: 'BUDGET_EXCEEDED' } as const;
const seen: Readonly<Record<string, Seen[]>> = {
  'fault.pdp-throws': [seenOf(0, { verdict: 'DENY', reason_code: 'PDP_UNAVAILABLE' })],
  'fault.store-away': [seenOf(0)],
  'door.no-rule': [seenOf(0, { status: 200, verdict: 'DENY', reason_code: 'NO_MATCHING_RULE' }, 1)],
  'budget.race': [
    seenOf(0, spent, 2),
    seenOf(0, { status: 200, verdict: 'ALLOW', reason_code: 'ALLOWED' }, 3),
    seenOf(0, spent, 4),
    seenOf(1, { status: 401 }),
  ],
  'approval.told-again': [
    seenOf(0, request, 5),
    seenOf(1, { status: 200 }),
    seenOf(2, { status: 404 }),
    seenOf(3, request, 5),
  ],
};

/** The first and the last decision are exactly at the limits of the run. */
const decidedAt: Readonly<Record<number, string>> = { 1: startedAt, 5: endedAt };

/** The result of a passed vector. The vector that needs a model was skipped. */
export function resultOf({ id, surface }: Pick<Vector, 'id' | 'surface'>): Result {
  const shown = seen[id];
  const statement = { vector_id: id, surface, duration_ms: 3 };
  if (shown === undefined)
    return { ...statement, outcome: 'skipped', detail: 'No model server is configured', seen: [] };
  return { ...statement, outcome: 'passed', detail: null, seen: structuredClone(shown) };
}

/** Changes to a valid proof. Everything that depends on a change is computed and signed again. */
export type Telling = {
  vectors?: Vector[];
  scope?: Report['scope'];
  results?: (results: Result[]) => unknown;
  /** Changes the whole report, before it is hashed. */
  report?: (report: Report) => unknown;
  /** Replaces all occurrences of the report hash. */
  reportHash?: string;
  /** Changes to the record for the receipt of the report, to the intent of this record, and to its facts. */
  record?: Members;
  intent?: Members;
  facts?: Members;
  /** Changes the records of decisions, by the number of their receipts. */
  decided?: Readonly<Record<number, Members>>;
  seenAt?: string;
  signers?: Partial<typeof signers>;
  /** Changes the proof without a new signature. */
  shown?: (proof: Proof) => unknown;
};

/** A complete proof, as a kernel makes it. */
export function proofOf(telling: Telling = {}): Proof {
  const by = { ...signers, ...telling.signers };
  const report = reportOf(telling);
  const reportBytes = parsePlainJson(report);
  const report_hash = telling.reportHash ?? hashOf(reportBytes);
  const record = announcementOf(report, report_hash, telling);
  const value = encodeBase64Url(by.report.sign(canonicalBytes(reportBytes)));
  const signature = { alg: 'Ed25519', key_id: by.report.keyId, value };
  const receipt = sealed(record, by.receipt);
  const proof = {
    format: 'countersign/conformance-proof.v1',
    signed: { report, report_hash, signature, receipt_id: record['receipt_id'] },
    vectors: telling.vectors ?? vectors,
    evidence: { receipt: stored(receipt, 1), record, inclusion: inclusionOf(receipt, telling) },
    decisions: decisionsOf(report, telling).map((decided, index) => ({
      receipt: stored(sealed(decided, by.decisions), 10 + index),
      record: decided,
    })),
  } as unknown as Proof; // the members of the fixture have no types, and the verifier validates them
  const shown = structuredClone(proof);
  telling.shown?.(shown);
  return shown;
}

function reportOf({ vectors: all = vectors, scope = 'full', results: change, report: changeReport }: Telling): Report {
  const isShort = (vector: Vector) => vector.surface === 'in_process' || vector.short === true;
  const results = all.filter((vector) => scope === 'full' || isShort(vector)).map(resultOf);
  change?.(results);
  const count = (wanted: Result['outcome']) => results.filter(({ outcome }) => outcome === wanted).length;
  const report: Report = {
    type: 'countersign.conformance-report.v1',
    report_id: reportId,
    scope,
    verdict: count('failed') === 0 ? 'PASS' : 'FAIL',
    ...{ passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    results,
    vectors_hash: hashOf(parsePlainJson(all)),
    gate_roster_hash: hashOf('gates'),
    policy_hash: hashOf('policy'),
    build: { version: '0.1.0', commit: 'unknown' },
    ...{ tree_size: 1, started_at: startedAt, ended_at: endedAt },
  };
  changeReport?.(report);
  return report;
}

function announcementOf(report: Report, report_hash: string, telling: Telling): Members {
  const { report_id, verdict, vectors_hash, ended_at, policy_hash } = report;
  const members = { kind: 'conformance', tenant_id: 'system', session_id: 'conformance', ...telling.record };
  const call = { action: 'conformance.run', tool: null, resource: `conformance:${report_id}`, args_hash: report_hash };
  const intent = { ...call, effect_level: 'E0', ...telling.intent };
  const { tenant_id: tenant, session_id: session } = members;
  const intent_hash = intentHash(nodeProvider, { tenant, session, principal: 'agent-1', ...intent } as never); // untyped members
  return recordOf(100, {
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [] },
    ...{ policy_hash, policy_epoch: 0, created_at: ended_at },
    ...members,
    intent: { ...intent, intent_hash, facts: { report_hash, report_id, verdict, vectors_hash, ...telling.facts } },
  });
}

/** The record of the decision for each receipt that a passed vector names. */
function decisionsOf({ results, report_id }: Report, { decided = {} }: Telling): Members[] {
  const byId = new Map<string, Members>();
  for (const { vector_id, outcome, seen: answers } of results)
    for (const { receipt_id: id, verdict, reason_code } of outcome === 'passed' ? answers : []) {
      if (id === null) continue;
      const number = Number(id.slice(-4));
      const where = { tenant_id: `conformance:${vector_id}`, session_id: report_id.replace('cfr_', 'conformance-') };
      const created_at = decidedAt[number] ?? '2026-02-01T00:30:30.000Z';
      const statement = { ...(verdict === 'ALLOW' ? allowed : ended(verdict, reason_code)), created_at };
      byId.set(id, recordOf(number, { ...where, ...statement, ...decided[number] }));
    }
  return [...byId.values()];
}

/** The members of a record that denies or escalates its call. */
export function ended(verdict: Seen['verdict'], code: Seen['reason_code']): Members {
  const isAsked = verdict === 'ESCALATE';
  const statement = { outcome: isAsked ? 'escalate' : 'deny', reason_code: code };
  return { verdict, reason_code: code, gates: traceOf(isAsked ? { approval: statement } : { rules: statement }) };
}

function sealed(record: Members, signer: typeof testSigner): Receipt {
  const [receipt] = chainOfRecords([record]).receipts;
  if (receipt === undefined) throw new Error('a chain of one record has one receipt');
  return sign(receipt.payload, signer);
}

function stored(receipt: Receipt, log_index: number) {
  return { ...receipt, receipt_hash: receiptHashOf(receipt), log_index };
}

/** A log of two receipts, the first of another tenant. */
function inclusionOf(receipt: Receipt, { seenAt: time = seenAt }: Telling): Members {
  const leaves = [...chainOf(1).receipts, receipt].map(leafOf);
  return {
    receipt_id: receipt.payload['receipt_id'] ?? null,
    ...{ log_index: 1, tree_size: 2, hashes: leaves.slice(0, 1).map(encodeBase64) },
    checkpoint: {
      ...{ checkpoint_id: idOf('chk', 1), tree_size: 2, receipt_count: 2, record_count: 2 },
      root_hash: `sha256:${encodeHex(rootOf(nodeProvider, leaves))}`,
      note: noteOver(leaves, { time }),
      ...{ previous_checkpoint_id: null, created_at: time },
    },
  };
}
