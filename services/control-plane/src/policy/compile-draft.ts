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

/** A diagnostic before its place in the text is looked up. */
type Found = Omit<PolicyDiagnostic, 'line'>;
/** A larger text would hold others up for longer than a turn. */
const placedTextMax = 65_536;

type Compiled = {
  /** Null where it has errors. */
  policy: CompiledPolicy | null;
  diagnostics: PolicyDiagnostic[];
  tests: { total: number; failed: number };
};
type Asked = {
  workspaceId: WorkspaceId;
  owners: readonly UserId[];
  now: Date;
  inForce: PolicyInForce;
  signal: AbortSignal;
};

const turns = { nextTurn: () => nextTurn(), monotonicMs: () => performance.now() };

/** Compiles a text as the kernel would, and finds out what else would keep it from being put into force. Never throws for what it holds; throws the reason of `signal`. */
export async function compileDraft(text: string, asked: Asked): Promise<Compiled> {
  const { diagnostics, ...compiled } = await diagnose(text, asked);
  return { ...compiled, diagnostics: placedIn(text, diagnostics) };
}

function placedIn(text: string, found: readonly Found[]): PolicyDiagnostic[] {
  const isPlaced = found.length > 0 && text.length <= placedTextMax;
  const lineOf = isPlaced ? linesOf(text) : () => null;
  return found.map((each) => ({ ...each, line: lineOf(each.path) }));
}

async function diagnose(text: string, asked: Asked): Promise<Omit<Compiled, 'diagnostics'> & { diagnostics: Found[] }> {
  try {
    const bundle = parseDraft(text);
    const untested = await compileAgain({ ...bundle, tests: [] }, asked.signal);
    const failed = await failedTestsInTurns(untested, bundle.tests, { ...turns, signal: asked.signal });
    const found = [...failed.map(diagnosticOf), ...faultsOf(untested, asked)];
    const tests = { total: bundle.tests.length, failed: failed.length };
    if (found.length > 0) return { policy: null, diagnostics: found, tests };
    return { policy: await compileAgain(bundle, asked.signal), diagnostics: warningsOf(bundle), tests };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { policy: null, diagnostics: [diagnosticOf(error)], tests: { total: 0, failed: 0 } };
  }
}

/** A bundle that was compiled before: it is what its hash says. Ends with `signal`, where a caller waits for it. */
export function compileAgain(bundle: PolicyBundle, signal?: AbortSignal): Promise<CompiledPolicy> {
  return compileInTurns(bundle, nodeProvider, signal === undefined ? turns : { ...turns, signal });
}

/** The rules of a text without its tests. Throws PolicyError. */
export async function compileUntested(text: string, signal: AbortSignal): Promise<CompiledPolicy> {
  return await compileAgain({ ...parseDraft(text), tests: [] }, signal);
}

export function ceilingTexts({ ceilings }: Pick<PolicyInForce, 'ceilings'>): string[] {
  return ceilings.map((rule) => canonicalRule(rule));
}

function diagnosticOf({ code, path, message }: PolicyError): Found {
  return { severity: 'error', code, path, message };
}

function faultsOf(policy: CompiledPolicy, { inForce, ...asked }: Asked): Found[] {
  const found: Found[] = [];
  const lacked = missingCeiling(policy, ceilingTexts(inForce));
  if (lacked !== null) {
    const message = `The rule "${lacked}" has to be there word for word, and no other rule may begin with "ceiling."`;
    found.push({ severity: 'error', code: 'CEILING_MISSING', path: '/rules', message });
  }
  if (isLockedOut(policy, asked)) {
    const message =
      'Under this policy no owner could change the policy again: let a rule allow or escalate `policy.change` for one of them';
    found.push({ severity: 'error', code: 'LOCK_OUT', path: '/rules', message });
  }
  return found;
}

function warningsOf({ tests }: PolicyBundle): Found[] {
  if (tests.length > 0) return [];
  const message = 'It has no tests: nothing says what it must never allow';
  return [{ severity: 'warning', code: 'NO_TESTS', path: '/tests', message }];
}
