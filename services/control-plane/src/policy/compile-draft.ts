import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserId, WorkspaceId } from '@countersign/contracts';
import type { PolicyDiagnostic } from '@countersign/contracts/control-plane';
import type { PolicyBundle, PolicyInForce } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import {
  canonicalRule,
  compileInTurns,
  failedTestsInTurns,
  linesOf,
  missingCeiling,
  PolicyError,
  type CompiledPolicy,
} from '@countersign/policy';
import { isLockedOut } from './locked-out.ts';
import { parseDraft } from './parse-draft.ts';

/** A diagnostic before its line number is known. */
type Found = Omit<PolicyDiagnostic, 'line'>;
/** The longest text whose diagnostics get line numbers. A longer one would block other requests for too long. */
const placedTextMax = 65_536;

type Compiled = {
  /** `null` when the text has errors. */
  policy: CompiledPolicy | null;
  diagnostics: PolicyDiagnostic[];
  tests: { total: number; failed: number };
};
type Input = {
  workspaceId: WorkspaceId;
  owners: readonly UserId[];
  now: Date;
  inForce: PolicyInForce;
  signal: AbortSignal;
};

const turns = { nextTurn: () => nextTurn(), monotonicMs: () => performance.now() };

/**
 * Compiles a text as the kernel does, and finds other obstacles to its activation. Never throws for the content. Throws
 * the reason of `signal` when it aborts.
 */
export async function compileDraft(text: string, input: Input): Promise<Compiled> {
  const { diagnostics, ...compiled } = await diagnose(text, input);
  return { ...compiled, diagnostics: placedIn(text, diagnostics) };
}

function placedIn(text: string, found: readonly Found[]): PolicyDiagnostic[] {
  const isPlaced = found.length > 0 && text.length <= placedTextMax;
  const lineOf = isPlaced ? linesOf(text) : () => null;
  return found.map((each) => ({ ...each, line: lineOf(each.path) }));
}

async function diagnose(text: string, input: Input): Promise<Omit<Compiled, 'diagnostics'> & { diagnostics: Found[] }> {
  try {
    const bundle = parseDraft(text);
    const untested = await compileAgain({ ...bundle, tests: [] }, input.signal);
    const failed = await failedTestsInTurns(untested, bundle.tests, { ...turns, signal: input.signal });
    const found = [...failed.map(diagnosticOf), ...faultsOf(untested, input)];
    const tests = { total: bundle.tests.length, failed: failed.length };
    if (found.length > 0) return { policy: null, diagnostics: found, tests };
    return { policy: await compileAgain(bundle, input.signal), diagnostics: warningsOf(bundle), tests };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { policy: null, diagnostics: [diagnosticOf(error)], tests: { total: 0, failed: 0 } };
  }
}

/** Compiles a bundle in short turns, so that other requests are not blocked. Stops when `signal` aborts. */
export function compileAgain(bundle: PolicyBundle, signal?: AbortSignal): Promise<CompiledPolicy> {
  return compileInTurns(bundle, nodeProvider, signal === undefined ? turns : { ...turns, signal });
}

/** Compiles the rules of a text without its tests. Throws PolicyError. */
export async function compileUntested(text: string, signal: AbortSignal): Promise<CompiledPolicy> {
  return await compileAgain({ ...parseDraft(text), tests: [] }, signal);
}

export function ceilingTexts({ ceilings }: Pick<PolicyInForce, 'ceilings'>): string[] {
  return ceilings.map((rule) => canonicalRule(rule));
}

function diagnosticOf({ code, path, message }: PolicyError): Found {
  return { severity: 'error', code, path, message };
}

function faultsOf(policy: CompiledPolicy, { inForce, ...request }: Input): Found[] {
  const found: Found[] = [];
  const lacked = missingCeiling(policy, ceilingTexts(inForce));
  if (lacked !== null) {
    const message = `The policy must contain the rule "${lacked}" unchanged, and no other rule may begin with "ceiling."`;
    found.push({ severity: 'error', code: 'CEILING_MISSING', path: '/rules', message });
  }
  if (isLockedOut(policy, request)) {
    const message =
      'Under this policy no owner could change the policy again: let a rule allow or escalate `policy.change` for one of them';
    found.push({ severity: 'error', code: 'LOCK_OUT', path: '/rules', message });
  }
  return found;
}

function warningsOf({ tests }: PolicyBundle): Found[] {
  if (tests.length > 0) return [];
  const message = 'The policy has no tests. Add a test for a call that it must never allow';
  return [{ severity: 'warning', code: 'NO_TESTS', path: '/tests', message }];
}
