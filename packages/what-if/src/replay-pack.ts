import type { BoundaryRecord, PackReplayReport, ReplayedReceipt } from '@countersign/contracts/governance-kernel';
import { utf8Text, type CryptoProvider } from '@countersign/crypto';
import {
  compilePolicy,
  decideAgain,
  decideAsRecorded,
  parsePolicyBundle,
  PolicyError,
  type CompiledPolicy,
  type DecidedAgain,
} from '@countersign/policy';
import { ExportVerification, type VerifierOptions, type TrustedKeys } from '@countersign/verifier';

type ReplayOptions = {
  trust: TrustedKeys;
  provider: CryptoProvider;
  expected: VerifierOptions;
  /** The policy to decide under. `null` repeats each decision under its own policy. */
  draft: CompiledPolicy | null;
};

/**
 * Verifies an evidence pack line by line, and repeats the decision of each verified line that contains a decision
 * record. Decisions are made under the policies in the pack or under a draft. Unverified decisions are not repeated.
 */
export class PackReplay {
  readonly #verification: ExportVerification;
  readonly #options: ReplayOptions;
  /** The policies by hash. `null` when this version cannot compile the policy, or computes a different hash. */
  readonly #policies = new Map<string, CompiledPolicy | null>();
  readonly #results: ReplayedReceipt[] = [];

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#verification = new ExportVerification({ ...options.expected, ...options });
  }

  /** Returns `false` when nothing more needs to be read. */
  take(line: string | Uint8Array): boolean {
    if (!this.#verification.take(line)) return false;
    const value = JSON.parse(typeof line === 'string' ? line : utf8Text(line)) as Line; // verified above
    if (value.policy !== undefined) this.#compile(value.policy);
    const { record } = value;
    if (record?.kind === 'decision') this.#results.push(resultOf(record, this.#again(record)));
    return true;
  }

  refuseLine(): void {
    this.#verification.refuseLine();
  }

  endWithoutLineFeed(): void {
    this.#verification.endWithoutLineFeed();
  }

  report(): PackReplayReport {
    const count = (outcome: ReplayedReceipt['outcome']) =>
      this.#results.filter((result) => result.outcome === outcome).length;
    const { verdict, fault } = this.#verification.report();
    return {
      evidence: { verdict, fault: fault === null ? null : { code: fault.code, line: fault.line } },
      policy: this.#options.draft === null ? 'recorded' : 'given',
      decisions: this.#results.length,
      match: count('MATCH'),
      diverged: count('DIVERGED'),
      unreplayable: count('UNREPLAYABLE'),
      first_divergence: this.#results.find(({ outcome }) => outcome === 'DIVERGED') ?? null,
      results: this.#results,
    };
  }

  #compile({ policy_hash, bundle }: PolicyLine): void {
    try {
      const policy = compilePolicy(parsePolicyBundle(bundle), this.#options.provider);
      this.#policies.set(policy_hash, policy.hash === policy_hash ? policy : null);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      this.#policies.set(policy_hash, null);
    }
  }

  #again(record: BoundaryRecord): DecidedAgain {
    const { policy_hash: hash } = record;
    const recorded = hash === null ? 'none' : (this.#policies.get(hash) ?? 'unknown');
    const { draft } = this.#options;
    return draft === null ? decideAsRecorded(record, recorded) : decideAgain(record, { draft, recorded, ceilings: [] });
  }
}

type PolicyLine = { policy_hash: string; bundle: unknown };
type Line = { policy?: PolicyLine; record?: BoundaryRecord };

function resultOf(record: BoundaryRecord, again: DecidedAgain): ReplayedReceipt {
  const { receipt_id, verdict, reason_code } = record;
  const recorded = { verdict, reason_code };
  if (again.kind === 'UNREPLAYABLE')
    return { receipt_id, outcome: 'UNREPLAYABLE', recorded, replayed: null, missing: again.missing };
  const replayed = { verdict: again.verdict, reason_code: again.reason_code };
  return { receipt_id, outcome: again.verdict === verdict ? 'MATCH' : 'DIVERGED', recorded, replayed, missing: [] };
}
