import type {
  CallStep,
  ConformanceReport,
  ConformanceScope,
  ConformanceVector,
  LiveVector,
  VectorResult,
} from '@countersign/contracts/governance-kernel';

/** Which of the vectors a run of this scope executes, in their order. */
export function chosenVectors(all: readonly ConformanceVector[], scope: ConformanceScope): ConformanceVector[] {
  return all.filter((vector) => scope === 'full' || vector.surface === 'in_process' || vector.short);
}

/** PASS: nothing failed, and each surface has shown something. */
export function conformanceVerdict(results: readonly VectorResult[]): ConformanceReport['verdict'] {
  const isProven = (surface: VectorResult['surface']) =>
    results.some((result) => result.surface === surface && result.outcome === 'passed');
  const hasFailed = results.some(({ outcome }) => outcome === 'failed');
  return !hasFailed && isProven('live') && isProven('in_process') ? 'PASS' : 'FAIL';
}

/**
 * The answer of a door. `error` is its own code, where nothing was decided; a report does not keep it. `error` is its
 * own word, where nothing was decided; a report does not keep it.
 */
type Answered = {
  status: number | null;
  verdict: string | null;
  reason_code: string | null;
  error?: string | null;
};

/** The fault of simultaneous calls. Null: they were answered as the vector says. */
export function callFault({ expect }: Pick<CallStep, 'expect'>, answers: readonly Answered[]): string | null {
  const { status, verdict = null, reason_code = null, error, rest = null } = expect;
  const wanted = told({ status, verdict, reason_code, error: error ?? null });
  const otherwise = told({ status, verdict: 'DENY', reason_code: rest });
  const said = answers.map(told);
  const matching = said.filter((each) => each === wanted).length;
  if (matching !== (expect.exactly ?? answers.length))
    return `expected ${expect.exactly ?? 'every answer to be'} ${wanted}, saw ${[...new Set(said)].join(' and ')} (${matching} as expected)`;
  const others = said.filter((each) => each !== wanted && each !== otherwise);
  return others.length === 0 ? null : `expected the others to be ${otherwise}, saw ${others[0]}`;
}

/** The error of an answer that carries a verdict is the door's own spelling of it. */
function told({ status, verdict, reason_code: code, error }: Answered): string {
  return verdict === null ? `${status} ${error ?? 'without a verdict'}` : `${status} ${verdict} ${code}`;
}

/** Null: what a report says of a vector follows from what it says was seen. */
export function resultFault(vector: ConformanceVector, result: VectorResult): string | null {
  const { surface, outcome, detail, seen } = result;
  if (surface !== vector.surface) return `it is not executed on the surface ${surface}`;
  switch (outcome) {
    case 'failed':
      return detail === null ? 'it failed, and nothing says why' : null;
    case 'skipped':
      return vector.surface === 'live' && vector.needs !== null && seen.length === 0 && detail !== null
        ? null
        : 'nothing lets it be skipped';
    case 'passed':
      return detail === null ? seenFault(vector, seen) : 'it passed, and something is said against it';
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
  if (strange !== undefined) return `there is no step ${strange.step}`;
  for (const [index, step] of steps.entries()) {
    const answers = seen.filter((each) => each.step === index);
    const fault =
      step.do === 'call' ? callsFault(step, answers) : statusFault(index, { wanted: step.expect.status, answers });
    if (fault !== null) return `step ${index}: ${fault}`;
  }
  return receiptsFault(steps, seen);
}

/** Each decision has a receipt of its own, but for the very one of an earlier step that is told again. */
function receiptsFault(steps: LiveVector['steps'], seen: Seen): string | null {
  const named = new Set<string>();
  for (const { step: index, receipt_id: id } of seen) {
    const step = steps[index];
    const repeated = step?.do === 'call' ? step.expect.repeats : undefined;
    const first = seen.find((each) => each.step === repeated)?.receipt_id;
    if (repeated !== undefined && id !== first) return `step ${index}: not the decision of step ${repeated}`;
    if (repeated === undefined && id !== null && named.has(id)) return `step ${index}: a decision that was told before`;
    if (id !== null) named.add(id);
  }
  return null;
}

function callsFault(step: CallStep, answers: Seen): string | null {
  if (answers.length !== step.times) return `${step.times} calls are made, and ${answers.length} were answered`;
  const unproven = answers.find(({ verdict, receipt_id }) => (verdict === null) !== (receipt_id === null));
  if (unproven !== undefined) return 'a verdict has a receipt, and nothing else has one';
  const groundless = answers.find(({ verdict, reason_code }) => verdict === null && reason_code !== null);
  if (groundless !== undefined) return 'a reason is that of a verdict';
  return callFault({ expect: { ...step.expect, error: undefined } }, answers);
}

/** A call without a decision is answered only by a status. */
function statusFault(step: number, { wanted, answers }: { wanted: number; answers: Seen }): string | null {
  const told = { step, status: wanted, verdict: null, reason_code: null, receipt_id: null };
  return isOnly(told, answers) ? null : `${wanted} was not seen`;
}

function isOnly(wanted: Seen[number], seen: Seen): boolean {
  const [only, ...more] = seen;
  if (only === undefined || more.length > 0) return false;
  return Object.entries(wanted).every(([name, value]) => only[name as keyof typeof wanted] === value); // of its own members
}
