import type {
  CallStep,
  ConformanceReport,
  ConformanceScope,
  ConformanceVector,
  LiveVector,
  VectorResult,
} from '@countersign/contracts/governance-kernel';

/** The vectors that a run of this scope executes, in order. */
export function chosenVectors(all: readonly ConformanceVector[], scope: ConformanceScope): ConformanceVector[] {
  return all.filter((vector) => scope === 'full' || vector.surface === 'in_process' || vector.short);
}

/** PASS: no vector failed, and at least one passed on each surface. */
export function conformanceVerdict(results: readonly VectorResult[]): ConformanceReport['verdict'] {
  const isProven = (surface: VectorResult['surface']) =>
    results.some((result) => result.surface === surface && result.outcome === 'passed');
  const hasFailed = results.some(({ outcome }) => outcome === 'failed');
  return !hasFailed && isProven('live') && isProven('in_process') ? 'PASS' : 'FAIL';
}

/** The answer of a route. `error` is its error code when nothing was decided. Reports do not contain it. */
type Answered = {
  status: number | null;
  verdict: string | null;
  reason_code: string | null;
  error?: string | null;
};

/** The fault of simultaneous calls. `null` when they were answered as the vector requires. */
export function callFault({ expect }: Pick<CallStep, 'expect'>, answers: readonly Answered[]): string | null {
  const { status, verdict = null, reason_code = null, error, rest = null } = expect;
  const wanted = textOf({ status, verdict, reason_code, error: error ?? null });
  const otherwise = textOf({ status, verdict: 'DENY', reason_code: rest });
  const texts = answers.map(textOf);
  const matching = texts.filter((each) => each === wanted).length;
  if (matching !== (expect.exactly ?? answers.length))
    return `expected ${expect.exactly ?? 'all'} of the answers to be ${wanted}, saw ${[...new Set(texts)].join(' and ')} (${matching} as expected)`;
  const others = texts.filter((each) => each !== wanted && each !== otherwise);
  return others.length === 0 ? null : `expected the others to be ${otherwise}, saw ${others[0]}`;
}

/**
 * An answer with a verdict is described by its verdict and reason code. Its error only repeats them in the format of
 * the route.
 */
function textOf({ status, verdict, reason_code: code, error }: Answered): string {
  return verdict === null ? `${status} ${error ?? 'without a verdict'}` : `${status} ${verdict} ${code}`;
}

/** The fault of a reported result. `null` when the result follows from the reported observations. */
export function resultFault(vector: ConformanceVector, result: VectorResult): string | null {
  const { surface, outcome, detail, seen } = result;
  if (surface !== vector.surface) return `it is not executed on the surface ${surface}`;
  switch (outcome) {
    case 'failed':
      return detail === null ? 'it failed without a detail that states why' : null;
    case 'skipped':
      return vector.surface === 'live' && vector.needs !== null && seen.length === 0 && detail !== null
        ? null
        : 'it was skipped without a permitted reason';
    case 'passed':
      return detail === null ? seenFault(vector, seen) : 'it passed, but its detail states a fault';
  }
}

type Seen = VectorResult['seen'];

function seenFault(vector: ConformanceVector, seen: Seen): string | null {
  if (vector.surface === 'live') return stepsFault(vector, seen);
  const { verdict = null, reason_code = null } = vector.expect;
  const wanted = { step: 0, status: null, verdict, reason_code, receipt_id: null };
  return isOnly(wanted, seen) ? null : `${verdict} ${reason_code} was not seen`;
}

function stepsFault({ steps }: LiveVector, seen: Seen): string | null {
  const strange = seen.find(({ step }) => step >= steps.length);
  if (strange !== undefined) return `the vector has no step ${strange.step}`;
  for (const [index, step] of steps.entries()) {
    const answers = seen.filter((each) => each.step === index);
    const fault =
      step.do === 'call' ? callsFault(step, answers) : statusFault(index, { wanted: step.expect.status, answers });
    if (fault !== null) return `step ${index}: ${fault}`;
  }
  return receiptsFault(steps, seen);
}

/** The fault of the receipts of the steps. Each decision has its own receipt, except a replay of an earlier step. */
function receiptsFault(steps: LiveVector['steps'], seen: Seen): string | null {
  const named = new Set<string>();
  for (const { step: index, receipt_id: id } of seen) {
    const step = steps[index];
    const repeated = step?.do === 'call' ? step.expect.repeats : undefined;
    const first = seen.find((each) => each.step === repeated)?.receipt_id;
    if (repeated !== undefined && id !== first)
      return `step ${index}: the decision differs from the decision of step ${repeated}`;
    if (repeated === undefined && id !== null && named.has(id))
      return `step ${index}: an earlier step already names this decision`;
    if (id !== null) named.add(id);
  }
  return null;
}

function callsFault(step: CallStep, answers: Seen): string | null {
  if (answers.length !== step.times)
    return `the step makes ${step.times} calls, but the result has ${answers.length} answers`;
  const unproven = answers.find(({ verdict, receipt_id }) => (verdict === null) !== (receipt_id === null));
  if (unproven !== undefined) return 'an answer must have both a verdict and a receipt, or neither';
  const groundless = answers.find(({ verdict, reason_code }) => verdict === null && reason_code !== null);
  if (groundless !== undefined) return 'an answer has a reason code but no verdict';
  return callFault({ expect: { ...step.expect, error: undefined } }, answers);
}

/** The fault of a call without a decision, which is answered only by a status. */
function statusFault(step: number, { wanted, answers }: { wanted: number; answers: Seen }): string | null {
  const report = { step, status: wanted, verdict: null, reason_code: null, receipt_id: null };
  return isOnly(report, answers) ? null : `${wanted} was not seen`;
}

function isOnly(wanted: Seen[number], seen: Seen): boolean {
  const [only, ...more] = seen;
  if (only === undefined || more.length > 0) return false;
  return Object.entries(wanted).every(([name, value]) => only[name as keyof typeof wanted] === value); // its own names
}
