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

describe('of all vectors', () => {
  it('a full run executes each, in their order', () => {
    expect(chosenVectors(parsed, 'full')).toEqual(parsed);
  });

  it('a short run executes what is in process and the short ones', () => {
    expect(chosenVectors(parsed, 'short').map(({ id }) => id)).toEqual([
      'fault.pdp-throws',
      'fault.store-away',
      'door.no-rule',
    ]);
  });
});

describe('a run', () => {
  it.each<['PASS' | 'FAIL', string, [Result['surface'], Result['outcome']][]]>([
    [
      'PASS',
      'both surfaces have shown something',
      [
        ['live', 'passed'],
        ['in_process', 'passed'],
      ],
    ],
    [
      'PASS',
      'something was skipped as well',
      [
        ['live', 'passed'],
        ['live', 'skipped'],
        ['in_process', 'passed'],
      ],
    ],
    [
      'FAIL',
      'something failed',
      [
        ['live', 'passed'],
        ['in_process', 'passed'],
        ['live', 'failed'],
      ],
    ],
    [
      'FAIL',
      'nothing live was executed',
      [
        ['live', 'skipped'],
        ['in_process', 'passed'],
      ],
    ],
    [
      'FAIL',
      'nothing was executed in process',
      [
        ['live', 'passed'],
        ['in_process', 'skipped'],
      ],
    ],
    ['FAIL', 'nothing was executed at all', []],
  ])('is %s where %s', (verdict, _where, told) => {
    const results = told.map(([surface, outcome]) =>
      VectorResult.parse({ ...resultOf({ id: 'door.no-rule', surface }), outcome }),
    );
    expect(conformanceVerdict(results)).toBe(verdict);
  });
});

describe('calls that were made at once', () => {
  const said = (status: number, verdict: string | null = null, reason_code: string | null = null, error?: string) => ({
    ...{ status, verdict, reason_code },
    ...(error === undefined ? {} : { error }),
  });
  const denied: CallStep['expect'] = { status: 200, verdict: 'DENY', reason_code: 'POLICY_DENIED' };
  const yes = said(200, 'ALLOW', 'ALLOWED');
  const no = said(200, 'DENY', 'BUDGET_EXCEEDED');
  const once: CallStep['expect'] = { status: 200, verdict: 'ALLOW', reason_code: 'ALLOWED', exactly: 1 };
  const rest = 'BUDGET_EXCEEDED';

  it.each<[string, CallStep['expect'], ReturnType<typeof said>[]]>([
    ['each says what it should', denied, [said(200, 'DENY', 'POLICY_DENIED'), said(200, 'DENY', 'POLICY_DENIED')]],
    ['the door spells a verdict in words of its own', denied, [said(200, 'DENY', 'POLICY_DENIED', 'FORBIDDEN')]],
    ['nothing is decided, and it is told why', { status: 401, error: 'UNKNOWN' }, [said(401, null, null, 'UNKNOWN')]],
    ['nothing is decided, and nothing is told', { status: 401 }, [said(401)]],
    ['one is allowed, and the others are denied', { ...once, rest }, [no, yes, no]],
    ['none is allowed, and all are denied', { ...once, exactly: 0, rest }, [no, no]],
  ])('are right where %s', (_where, expected, answers) => {
    expect(callFault({ expect: expected }, answers)).toBeNull();
  });

  const never: CallStep['expect'] = { ...once, rest };
  it.each<[string, CallStep['expect'], ReturnType<typeof said>[], string]>([
    [
      'two of them differ',
      denied,
      [said(200, 'DENY', 'POLICY_DENIED'), yes],
      'expected every answer to be 200 DENY POLICY_DENIED, saw 200 DENY POLICY_DENIED and 200 ALLOW ALLOWED (1 as expected)',
    ],
    ['another status', denied, [said(403, 'DENY', 'POLICY_DENIED')], wrong('200 DENY', '403 DENY POLICY_DENIED')],
    ['another verdict', denied, [said(200, 'ALLOW', 'POLICY_DENIED')], wrong('200 DENY', '200 ALLOW POLICY_DENIED')],
    ['another reason', denied, [no], wrong('200 DENY', '200 DENY BUDGET_EXCEEDED')],
    ['no verdict', denied, [said(200)], wrong('200 DENY', '200 without a verdict')],
    ['a verdict', { status: 200 }, [yes], wrong('200 without a verdict', '200 ALLOW ALLOWED')],
    ['an error', { status: 401 }, [said(401, null, null, 'E')], wrong('401 without a verdict', '401 E')],
    ['another error', { status: 401, error: 'E' }, [said(401, null, null, 'F')], wrong('401 E', '401 F')],
    [
      'two of one',
      never,
      [yes, yes, no],
      'expected 1 200 ALLOW ALLOWED, saw 200 ALLOW ALLOWED and 200 DENY BUDGET_EXCEEDED (2 as expected)',
    ],
    ['none of one', never, [no, no], 'expected 1 200 ALLOW ALLOWED, saw 200 DENY BUDGET_EXCEEDED (0 as expected)'],
    [
      'others of another reason',
      never,
      [no, yes, said(200, 'DENY', 'POLICY_DENIED')],
      others('200 DENY POLICY_DENIED'),
    ],
    ['others of another verdict', never, [yes, said(200, 'ESCALATE', rest)], others(`200 ESCALATE ${rest}`)],
    ['others of another status', never, [yes, said(500, 'DENY', rest)], others(`500 DENY ${rest}`)],
    ['others without a rest', once, [yes, no], 'expected the others to be 200 DENY null, saw 200 DENY BUDGET_EXCEEDED'],
  ])('are wrong where there is %s', (_where, expected, answers, fault) => {
    expect(callFault({ expect: expected }, answers)).toBe(fault);
  });
});

/** The fault of the only answer. */
function wrong(wanted: string, saw: string): string {
  const whole = wanted === '200 DENY' ? '200 DENY POLICY_DENIED' : wanted;
  return `expected every answer to be ${whole}, saw ${saw} (0 as expected)`;
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
  const told = seenBy('approval.told-again');
  const threw = seenBy('fault.pdp-throws');
  /** The answers with one change. */
  const but = (seen: Result['seen'], at: number, change: Partial<Result['seen'][number]>) => ({
    seen: seen.map((each, index) => (index === at ? { ...each, ...change } : each)),
  });
  const notProven = 'a verdict has a receipt, and nothing else has one';

  it.each(parsed.map(({ id }) => id))('of %s follows from what was seen', (id) => {
    expect(faultOf(id, {})).toBeNull();
  });

  it('that tells a decision again has that of the step that it names, not just any', () => {
    const call = vectorOf('approval.told-again');
    const [asks] = call.surface === 'live' ? call.steps : [];
    if (asks?.do !== 'call') throw new Error('the vector begins with a call');
    const steps = [asks, asks, { ...asks, expect: { ...asks.expect, repeats: 1 } }];
    const vector = ConformanceVector.parse({ ...call, steps });
    const [asked] = told;
    const seen = [1, 2, 2].map((number, step) => ({ ...asked, step, receipt_id: idOf('rcp', number) }));
    const faultWith = (last: number) => {
      const all = seen.map((each, at) => (at === 2 ? { ...each, receipt_id: idOf('rcp', last) } : each));
      return resultFault(vector, VectorResult.parse({ ...resultOf(vector), seen: all }));
    };
    expect(faultWith(2)).toBeNull();
    expect(faultWith(1)).toBe('step 2: not the decision of step 1');
  });

  it('of a failure says why, whatever was seen', () => {
    expect(faultOf('budget.race', { outcome: 'failed', detail: 'no answer', seen: [] })).toBeNull();
  });

  it.each<[string, string, Partial<Result>, string]>([
    ['fault.pdp-throws', 'another surface', { surface: 'live' }, 'it is not executed on the surface live'],
    ['budget.race', 'a failure without a word', { outcome: 'failed' }, 'it failed, and nothing says why'],
    ['fault.pdp-throws', 'a skip in process', { outcome: 'skipped', seen: [] }, 'nothing lets it be skipped'],
    ['budget.race', 'a skip that needs nothing', { outcome: 'skipped', seen: [] }, 'nothing lets it be skipped'],
    ['door.chat', 'a skip that saw something', { seen: [seenOf(0)] }, 'nothing lets it be skipped'],
    ['budget.race', 'a pass with a word against it', { detail: 'but' }, 'it passed, and something is said against it'],
    ['fault.pdp-throws', 'nothing seen', { seen: [] }, 'DENY PDP_UNAVAILABLE was not seen'],
    ['fault.pdp-throws', 'two seen', { seen: [...threw, ...threw] }, 'DENY PDP_UNAVAILABLE was not seen'],
    ['fault.pdp-throws', 'another verdict', but(threw, 0, { verdict: 'ALLOW' }), 'DENY PDP_UNAVAILABLE was not seen'],
    [
      'fault.pdp-throws',
      'another reason',
      but(threw, 0, { reason_code: 'ALLOWED' }),
      'DENY PDP_UNAVAILABLE was not seen',
    ],
    ['fault.store-away', 'nothing seen', { seen: [] }, 'null null was not seen'],
    ['fault.store-away', 'a verdict', { seen: [seenOf(0, { verdict: 'DENY' })] }, 'null null was not seen'],
    ['fault.store-away', 'a reason', { seen: [seenOf(0, { reason_code: 'ALLOWED' })] }, 'null null was not seen'],
    ['budget.race', 'a step more', { seen: [...race, seenOf(2)] }, 'there is no step 2'],
    ['budget.race', 'a call too few', { seen: race.slice(1) }, 'step 0: 3 calls are made, and 2 were answered'],
    [
      'budget.race',
      'a call too many',
      { seen: [...race, seenOf(1, { status: 401 })] },
      'step 1: 1 calls are made, and 2 were answered',
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
      'another status',
      but(race, 3, { status: 403 }),
      'step 1: expected every answer to be 401 without a verdict, saw 403 without a verdict (0 as expected)',
    ],
    [
      'budget.race',
      'another rest',
      but(race, 2, { reason_code: 'POLICY_DENIED' }),
      `step 0: ${others('200 DENY POLICY_DENIED')}`,
    ],
    ['approval.told-again', 'another status', but(told, 1, { status: 409 }), 'step 1: 200 was not seen'],
    ['approval.told-again', 'no answer', { seen: told.filter(({ step }) => step !== 2) }, 'step 2: 404 was not seen'],
    ['approval.told-again', 'two answers', { seen: [...told, seenOf(2, { status: 404 })] }, 'step 2: 404 was not seen'],
  ])('of %s does not follow: %s', (id, _what, change, fault) => {
    expect(faultOf(id, change)).toBe(fault);
  });
});

const trust = parseKeySet({
  keys: [...Object.values(signers).map((signer) => jwkOf(signer, 'receipts')), jwkOf(logSigner, 'log')],
});
const answerTo = (told: Telling = {}) => conformanceAnswer(proofOf(told), { trust, provider: nodeProvider });
const failing: Telling = {
  results: ([first]) => first !== undefined && Object.assign(first, { outcome: 'failed', detail: 'it let it pass' }),
};
const strange: Telling = { shown: ({ signed }) => (signed.signature.key_id = '\u001B[2Jnobody') };

describe('an answer', () => {
  it('is VERIFIED with what the report says, and 0 stands for PASS alone', () => {
    expect(answerTo()).toMatchObject({ verdict: 'VERIFIED', fault: null, conformance: { verdict: 'PASS' } });
    expect(answerTo(failing)).toMatchObject({ verdict: 'VERIFIED', fault: null, conformance: { verdict: 'FAIL' } });
    expect([answerTo(), answerTo(failing)].map(conformanceStatus)).toEqual([0, 1]);
  });

  it('is NOT_VERIFIED with what is wrong, which is 1', () => {
    const answer = answerTo({ reportHash: hashOf('another') });
    const fault = { code: 'HASH_MISMATCH', message: 'report_hash is not the hash of the report' };
    expect(answer).toEqual({ verdict: 'NOT_VERIFIED', fault, conformance: null });
    expect(conformanceStatus(answer)).toBe(1);
  });

  it('is UNDECIDABLE where a key is unknown, which is 4', () => {
    const answer = answerTo(strange);
    expect(answer).toMatchObject({ verdict: 'UNDECIDABLE', fault: { code: 'KEY_UNKNOWN' }, conformance: null });
    expect(conformanceStatus(answer)).toBe(4);
  });

  it('is not given where the verifier itself fails', () => {
    const sha256Hex = () => {
      throw new TypeError('for a test');
    };
    const asked = { trust, provider: { ...nodeProvider, sha256Hex } };
    expect(() => conformanceAnswer(proofOf(), asked)).toThrow(new TypeError('for a test'));
  });

  it('is told in lines that say what was proven', () => {
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

  it('is told in one line where nothing was proven, which no terminal takes for a command', () => {
    expect(describeConformance(answerTo(strange))).toBe(
      'UNDECIDABLE: KEY_UNKNOWN: key \\u{1b}[2Jnobody is not trusted to sign receipts\n',
    );
  });
});
