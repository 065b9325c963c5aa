import { describe, expect, it } from '@jest/globals';
import { ConformanceVector, VectorResult, type CallStep } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import {
  callFault,
  chosenVectors,
  conformanceAnswer,
  conformanceStatus,
  conformanceVerdict,
  describeConformance,
  parseKeySet,
} from '../src/index.ts';
import { resultFault } from '../src/conformance-rules.ts';
import { hashOf, idOf, jwkOf, logSigner } from './chain-fixture.ts';
import { proofOf, resultOf, seenOf, signers, vectors, type Result, type Telling } from './conformance-proof.ts';

const parsed = vectors.map((vector) => ConformanceVector.parse(vector));

function vectorOf(id: string): ConformanceVector {
  const vector = parsed.find((each) => each.id === id);
  if (vector === undefined) throw new Error(`there is no ${id}`);
  return vector;
}

describe('the vectors of a run', () => {
  it('are all vectors in their order, for a full run', () => {
    expect(chosenVectors(parsed, 'full')).toEqual(parsed);
  });

  it('are the in-process vectors and the short ones, for a short run', () => {
    expect(chosenVectors(parsed, 'short').map(({ id }) => id)).toEqual([
      'fault.pdp-throws',
      'fault.store-away',
      'door.no-rule',
    ]);
  });
});

describe('the verdict of a run', () => {
  it.each<['PASS' | 'FAIL', string, [Result['surface'], Result['outcome']][]]>([
    [
      'PASS',
      'a vector passed on each surface',
      [
        ['live', 'passed'],
        ['in_process', 'passed'],
      ],
    ],
    [
      'PASS',
      'a vector was skipped as well',
      [
        ['live', 'passed'],
        ['live', 'skipped'],
        ['in_process', 'passed'],
      ],
    ],
    [
      'FAIL',
      'a vector failed',
      [
        ['live', 'passed'],
        ['in_process', 'passed'],
        ['live', 'failed'],
      ],
    ],
    [
      'FAIL',
      'no vector was executed on the live surface',
      [
        ['live', 'skipped'],
        ['in_process', 'passed'],
      ],
    ],
    [
      'FAIL',
      'no vector was executed in process',
      [
        ['live', 'passed'],
        ['in_process', 'skipped'],
      ],
    ],
    ['FAIL', 'no vector was executed', []],
  ])('is %s if %s', (verdict, _where, messages) => {
    const results = messages.map(([surface, outcome]) =>
      VectorResult.parse({ ...resultOf({ id: 'door.no-rule', surface }), outcome }),
    );
    expect(conformanceVerdict(results)).toBe(verdict);
  });
});

describe('concurrent calls', () => {
  const statementOf = (
    status: number,
    verdict: string | null = null,
    reason_code: string | null = null,
    error?: string,
  ) => ({
    ...{ status, verdict, reason_code },
    ...(error === undefined ? {} : { error }),
  });
  const denied: CallStep['expect'] = { status: 200, verdict: 'DENY', reason_code: 'POLICY_DENIED' };
  const yes = statementOf(200, 'ALLOW', 'ALLOWED');
  const no = statementOf(200, 'DENY', 'BUDGET_EXCEEDED');
  const once: CallStep['expect'] = { status: 200, verdict: 'ALLOW', reason_code: 'ALLOWED', exactly: 1 };
  const rest = 'BUDGET_EXCEEDED';

  it.each<[string, CallStep['expect'], ReturnType<typeof statementOf>[]]>([
    [
      'each answer is the expected one',
      denied,
      [statementOf(200, 'DENY', 'POLICY_DENIED'), statementOf(200, 'DENY', 'POLICY_DENIED')],
    ],
    [
      'an endpoint adds its own error code to a verdict',
      denied,
      [statementOf(200, 'DENY', 'POLICY_DENIED', 'FORBIDDEN')],
    ],
    [
      'no decision is made, and the error is reported',
      { status: 401, error: 'UNKNOWN' },
      [statementOf(401, null, null, 'UNKNOWN')],
    ],
    ['no decision is made, and no error is reported', { status: 401 }, [statementOf(401)]],
    ['one is allowed, and the others are denied', { ...once, rest }, [no, yes, no]],
    ['none is allowed, and all are denied', { ...once, exactly: 0, rest }, [no, no]],
  ])('match: %s', (_where, expected, answers) => {
    expect(callFault({ expect: expected }, answers)).toBeNull();
  });

  const never: CallStep['expect'] = { ...once, rest };
  it.each<[string, CallStep['expect'], ReturnType<typeof statementOf>[], string]>([
    [
      'one answer that differs',
      denied,
      [statementOf(200, 'DENY', 'POLICY_DENIED'), yes],
      'expected all of the answers to be 200 DENY POLICY_DENIED, saw 200 DENY POLICY_DENIED and 200 ALLOW ALLOWED (1 as expected)',
    ],
    [
      'a different status',
      denied,
      [statementOf(403, 'DENY', 'POLICY_DENIED')],
      wrong('200 DENY', '403 DENY POLICY_DENIED'),
    ],
    [
      'a different verdict',
      denied,
      [statementOf(200, 'ALLOW', 'POLICY_DENIED')],
      wrong('200 DENY', '200 ALLOW POLICY_DENIED'),
    ],
    ['a different reason', denied, [no], wrong('200 DENY', '200 DENY BUDGET_EXCEEDED')],
    ['no verdict', denied, [statementOf(200)], wrong('200 DENY', '200 without a verdict')],
    ['an unexpected verdict', { status: 200 }, [yes], wrong('200 without a verdict', '200 ALLOW ALLOWED')],
    [
      'an unexpected error',
      { status: 401 },
      [statementOf(401, null, null, 'E')],
      wrong('401 without a verdict', '401 E'),
    ],
    ['a different error', { status: 401, error: 'E' }, [statementOf(401, null, null, 'F')], wrong('401 E', '401 F')],
    [
      'one allowed call too many',
      never,
      [yes, yes, no],
      'expected 1 of the answers to be 200 ALLOW ALLOWED, saw 200 ALLOW ALLOWED and 200 DENY BUDGET_EXCEEDED (2 as expected)',
    ],
    [
      'no allowed call',
      never,
      [no, no],
      'expected 1 of the answers to be 200 ALLOW ALLOWED, saw 200 DENY BUDGET_EXCEEDED (0 as expected)',
    ],
    [
      'a denied call with another reason',
      never,
      [no, yes, statementOf(200, 'DENY', 'POLICY_DENIED')],
      others('200 DENY POLICY_DENIED'),
    ],
    [
      'a different verdict for the rest',
      never,
      [yes, statementOf(200, 'ESCALATE', rest)],
      others(`200 ESCALATE ${rest}`),
    ],
    ['a different status for the rest', never, [yes, statementOf(500, 'DENY', rest)], others(`500 DENY ${rest}`)],
    [
      'a rest that no vector expects',
      once,
      [yes, no],
      'expected the others to be 200 DENY null, saw 200 DENY BUDGET_EXCEEDED',
    ],
  ])('do not match: %s', (_where, expected, answers, fault) => {
    expect(callFault({ expect: expected }, answers)).toBe(fault);
  });
});

/** The expected fault when there is only one answer. */
function wrong(wanted: string, saw: string): string {
  const whole = wanted === '200 DENY' ? '200 DENY POLICY_DENIED' : wanted;
  return `expected all of the answers to be ${whole}, saw ${saw} (0 as expected)`;
}

function others(saw: string): string {
  return `expected the others to be 200 DENY BUDGET_EXCEEDED, saw ${saw}`;
}

describe('a result', () => {
  const faultOf = (id: string, change: Partial<Result>) => {
    const vector = vectorOf(id);
    return resultFault(vector, VectorResult.parse({ ...resultOf(vector), ...change }));
  };
  const seenBy = (id: string) => resultOf(vectorOf(id)).seen;
  const race = seenBy('budget.race');
  const messages = seenBy('approval.told-again');
  const threw = seenBy('fault.pdp-throws');
  /** The answers with one of them changed. */
  const but = (seen: Result['seen'], at: number, change: Partial<Result['seen'][number]>) => ({
    seen: seen.map((each, index) => (index === at ? { ...each, ...change } : each)),
  });
  const notProven = 'an answer must have both a verdict and a receipt, or neither';

  it.each(parsed.map(({ id }) => id))('of %s matches the recorded answers', (id) => {
    expect(faultOf(id, {})).toBeNull();
  });

  it('that repeats a decision must have the receipt of the named step', () => {
    const call = vectorOf('approval.told-again');
    const [asks] = call.surface === 'live' ? call.steps : [];
    if (asks?.do !== 'call') throw new Error('the vector begins with a call');
    const steps = [asks, asks, { ...asks, expect: { ...asks.expect, repeats: 1 } }];
    const vector = ConformanceVector.parse({ ...call, steps });
    const [query] = messages;
    const seen = [1, 2, 2].map((number, step) => ({ ...query, step, receipt_id: idOf('rcp', number) }));
    const faultWith = (last: number) => {
      const all = seen.map((each, at) => (at === 2 ? { ...each, receipt_id: idOf('rcp', last) } : each));
      return resultFault(vector, VectorResult.parse({ ...resultOf(vector), seen: all }));
    };
    expect(faultWith(2)).toBeNull();
    expect(faultWith(1)).toBe('step 2: the decision differs from the decision of step 1');
  });

  it('of a failure needs only a reason', () => {
    expect(faultOf('budget.race', { outcome: 'failed', detail: 'no answer', seen: [] })).toBeNull();
  });

  it.each<[string, string, Partial<Result>, string]>([
    ['fault.pdp-throws', 'a different surface', { surface: 'live' }, 'it is not executed on the surface live'],
    ['budget.race', 'a failure without a detail', { outcome: 'failed' }, 'it failed without a detail that states why'],
    [
      'fault.pdp-throws',
      'a skip in process',
      { outcome: 'skipped', seen: [] },
      'it was skipped without a permitted reason',
    ],
    [
      'budget.race',
      'a skip of a vector without requirements',
      { outcome: 'skipped', seen: [] },
      'it was skipped without a permitted reason',
    ],
    ['door.chat', 'a skip with an answer', { seen: [seenOf(0)] }, 'it was skipped without a permitted reason'],
    ['budget.race', 'a pass with a detail', { detail: 'but' }, 'it passed, but its detail states a fault'],
    ['fault.pdp-throws', 'no recorded answer', { seen: [] }, 'DENY PDP_UNAVAILABLE was not seen'],
    ['fault.pdp-throws', 'two recorded answers', { seen: [...threw, ...threw] }, 'DENY PDP_UNAVAILABLE was not seen'],
    [
      'fault.pdp-throws',
      'a different verdict',
      but(threw, 0, { verdict: 'ALLOW' }),
      'DENY PDP_UNAVAILABLE was not seen',
    ],
    [
      'fault.pdp-throws',
      'a different reason',
      but(threw, 0, { reason_code: 'ALLOWED' }),
      'DENY PDP_UNAVAILABLE was not seen',
    ],
    ['fault.store-away', 'no recorded answer', { seen: [] }, 'null null was not seen'],
    ['fault.store-away', 'a verdict', { seen: [seenOf(0, { verdict: 'DENY' })] }, 'null null was not seen'],
    ['fault.store-away', 'a reason', { seen: [seenOf(0, { reason_code: 'ALLOWED' })] }, 'null null was not seen'],
    ['budget.race', 'an additional step', { seen: [...race, seenOf(2)] }, 'the vector has no step 2'],
    [
      'budget.race',
      'a missing call',
      { seen: race.slice(1) },
      'step 0: the step makes 3 calls, but the result has 2 answers',
    ],
    [
      'budget.race',
      'an additional call',
      { seen: [...race, seenOf(1, { status: 401 })] },
      'step 1: the step makes 1 calls, but the result has 2 answers',
    ],
    ['budget.race', 'a verdict without receipt', but(race, 0, { receipt_id: null }), `step 0: ${notProven}`],
    [
      'budget.race',
      'a receipt without verdict',
      { seen: [...race.slice(0, 3), seenOf(1, { status: 401 }, 6)] },
      `step 1: ${notProven}`,
    ],
    [
      'budget.race',
      'a different status',
      but(race, 3, { status: 403 }),
      'step 1: expected all of the answers to be 401 without a verdict, saw 403 without a verdict (0 as expected)',
    ],
    [
      'budget.race',
      'a different reason for the rest',
      but(race, 2, { reason_code: 'POLICY_DENIED' }),
      `step 0: ${others('200 DENY POLICY_DENIED')}`,
    ],
    ['approval.told-again', 'a different status', but(messages, 1, { status: 409 }), 'step 1: 200 was not seen'],
    [
      'approval.told-again',
      'no answer',
      { seen: messages.filter(({ step }) => step !== 2) },
      'step 2: 404 was not seen',
    ],
    [
      'approval.told-again',
      'two answers',
      { seen: [...messages, seenOf(2, { status: 404 })] },
      'step 2: 404 was not seen',
    ],
  ])('of %s does not match: %s', (id, _what, change, fault) => {
    expect(faultOf(id, change)).toBe(fault);
  });
});

const trust = parseKeySet({
  keys: [...Object.values(signers).map((signer) => jwkOf(signer, 'receipts')), jwkOf(logSigner, 'log')],
});
const answerTo = (telling: Telling = {}) => conformanceAnswer(proofOf(telling), { trust, provider: nodeProvider });
const failing: Telling = {
  results: ([first]) => first !== undefined && Object.assign(first, { outcome: 'failed', detail: 'it let it pass' }),
};
const strange: Telling = { shown: ({ signed }) => (signed.signature.key_id = '\u001B[2Jnobody') };

describe('an answer', () => {
  it('is VERIFIED with the verdict of the report, and only PASS exits 0', () => {
    expect(answerTo()).toMatchObject({ verdict: 'VERIFIED', fault: null, conformance: { verdict: 'PASS' } });
    expect(answerTo(failing)).toMatchObject({ verdict: 'VERIFIED', fault: null, conformance: { verdict: 'FAIL' } });
    expect([answerTo(), answerTo(failing)].map(conformanceStatus)).toEqual([0, 1]);
  });

  it('is NOT_VERIFIED with the fault, and exits 1', () => {
    const answer = answerTo({ reportHash: hashOf('another') });
    const fault = { code: 'HASH_MISMATCH', message: 'report_hash is not the hash of the report' };
    expect(answer).toEqual({ verdict: 'NOT_VERIFIED', fault, conformance: null });
    expect(conformanceStatus(answer)).toBe(1);
  });

  it('is UNDECIDABLE for an unknown key, and exits 4', () => {
    const answer = answerTo(strange);
    expect(answer).toMatchObject({ verdict: 'UNDECIDABLE', fault: { code: 'KEY_UNKNOWN' }, conformance: null });
    expect(conformanceStatus(answer)).toBe(4);
  });

  it('is not returned when the verifier itself fails', () => {
    const sha256Hex = () => {
      throw new TypeError('for a test');
    };
    const request = { trust, provider: { ...nodeProvider, sha256Hex } };
    expect(() => conformanceAnswer(proofOf(), request)).toThrow(new TypeError('for a test'));
  });

  it('is printed in lines that list what was proven', () => {
    const { report } = proofOf(failing).signed;
    expect(describeConformance(answerTo(failing))).toBe(
      [
        'VERIFIED: FAIL, full run: 4 passed, 1 failed, 1 skipped',
        `  report        ${report.report_id}, ${report.started_at} to ${report.ended_at}`,
        `  vectors       ${report.vectors_hash}`,
        '  decisions     5, each with its receipt and record',
        `  signer        ${signers.receipt.keyId}`,
        '  time          seen by the log at 2026-02-01T01:00:00.000Z',
        '',
      ].join('\n'),
    );
  });

  it('is printed in one line without control characters when nothing was proven', () => {
    expect(describeConformance(answerTo(strange))).toBe(
      'UNDECIDABLE: KEY_UNKNOWN: key \\u{1b}[2Jnobody is not trusted to sign receipts\n',
    );
  });
});
