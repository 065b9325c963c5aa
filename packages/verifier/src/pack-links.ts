import type {
  BoundaryRecord,
  EvidenceScope,
  PackHeader,
  PackPolicy,
  PackStatement,
  ReportedPack,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, canonicalize, digestOf, equalBytes, parsePlainJson, utf8Bytes } from '@countersign/crypto';
import type { CryptoProvider, JsonValue } from '@countersign/crypto';
import { PackTally } from '@countersign/receipts';
import { ApprovalSessions } from './approval-sessions.ts';
import { ChainLinks } from './chain-links.ts';
import { controlLimits, isWholeLog, PackControls } from './pack-controls.ts';
import { rulesOfBundle, termsUnder, type PolicyRules } from './policy-rules.ts';
import { UsedApprovals } from './used-approvals.ts';
import { VerificationError } from './verification-error.ts';
import type { OpenedReceipt } from './verify-receipt.ts';

type PackOptions = { provider: CryptoProvider; heads?: readonly string[] | undefined };
/** A policy activated for a tenant. */
type Policy = { tenant: string; rules: PolicyRules };
/**
 * The most by which a receipt may be dated before a receipt that precedes it in the log. The clocks of two kernels
 * differ by at most 40 s, and a receipt may wait for its commit after it was dated.
 */
const disorderMaxMs = 120_000;

type Receipt = { opened: OpenedReceipt; record: BoundaryRecord | undefined; place: number };

/**
 * The receipts of a pack, in the order of the log: each within the scope, each chain without a gap, and all counted.
 * Decisions are compared with the policies, fences and identities that the pack contains.
 */
export class PackLinks {
  readonly #scope: EvidenceScope;
  readonly #provider: CryptoProvider;
  readonly #tally: PackTally;
  readonly #links: ChainLinks;
  readonly #controls: PackControls;
  /** The policies by hash and epoch. */
  readonly #policies = new Map<string, Policy>();
  readonly #approvals = new UsedApprovals();
  readonly #approvalSessions = new ApprovalSessions();
  #place = -1;
  /** The latest time of a receipt so far. */
  #latest = '';
  #stated: { statement: PackStatement; index: number } | null = null;

  constructor({ scope }: PackHeader, { provider, heads }: PackOptions) {
    const { leaves, issued } = scope;
    if (leaves.to < leaves.from) throw mismatch('a range that ends before it begins');
    this.#scope = scope;
    this.#provider = provider;
    this.#tally = new PackTally(provider);
    const isFromStart = leaves.from === 0 && issued === null;
    this.#links = new ChainLinks({ partial: !isFromStart, heads });
    this.#controls = new PackControls(scope);
  }

  /** Adds a line and its parsed value. Only the canonical form is accepted. Throws `MALFORMED`. */
  takeLine(line: Uint8Array | string, value: unknown): void {
    this.#assertNotEnded();
    const bytes = bytesOf(line);
    if (!equalBytes(bytes, canonicalBytes(value as JsonValue)))
      // read by parseStrictJson
      throw new VerificationError('MALFORMED', 'the line is not canonical JSON');
    if (!isEnd(value)) this.#tally.addLine(bytes);
  }

  /** Adds a line that was read as canonical, and is not the last one. Throws `MALFORMED`. */
  takeCanonicalLine(line: Uint8Array | string): void {
    this.#assertNotEnded();
    this.#tally.addLine(bytesOf(line));
  }

  #assertNotEnded(): void {
    if (this.#stated !== null) throw new VerificationError('MALFORMED', 'a line follows the end statement');
  }

  /** Throws `DUPLICATE`, `POLICY_MISMATCH`. Only policies of the tenant and of the installation decide its calls. */
  addPolicy({ policy }: PackPolicy): void {
    const { bundle, policy_hash, epoch, tenant_id } = policy;
    if (tenant_id !== this.#scope.tenant_id && tenant_id !== '*')
      throw new VerificationError('POLICY_MISMATCH', `the policy ${policy_hash} is of the tenant ${tenant_id}`);
    const name = policyName({ policy_hash, policy_epoch: epoch });
    if (this.#policies.has(name)) throw new VerificationError('DUPLICATE', `the policy ${policy_hash} occurs twice`);
    if (digestOf(this.#provider, canonicalize(parsePlainJson(bundle))) !== policy_hash)
      throw new VerificationError('POLICY_MISMATCH', 'policy_hash is not the hash of the bundle');
    this.#policies.set(name, { tenant: tenant_id, rules: rulesOfBundle(bundle) });
    this.#tally.addPolicy();
  }

  /**
   * Throws {@link VerificationError}: `PERIOD_MISMATCH` outside the scope, `DUPLICATE`, `TIME_MISMATCH`,
   * `POLICY_MISMATCH`, and those of chains, controls and approvals.
   */
  add({ opened, record, place }: Receipt): void {
    const { payload, receipt_hash } = opened;
    this.#assertInScope(opened, place);
    if (place <= this.#place)
      throw new VerificationError(
        'DUPLICATE',
        `place ${place} of the log does not come after the place of the previous receipt`,
      );
    this.#place = place;
    this.#assertInTime(payload.issued_at);
    if (payload.kind === 'decision' && payload.policy_hash !== null && !this.#policies.has(policyName(payload)))
      throw new VerificationError('POLICY_MISMATCH', `the activation of the policy ${payload.policy_hash} is missing`);
    this.#links.add(opened);
    const policy = this.#policies.get(policyName(payload));
    if (record !== undefined) {
      this.#links.learn(record);
      this.#controls.take(record, { payload, policyTenant: policy?.tenant });
      this.#approvalSessions.take(record);
    }
    const terms = record === undefined || policy === undefined ? [] : termsUnder(policy.rules, record);
    this.#approvals.take(payload, record, terms);
    this.#tally.addReceipt({ payload, receiptHash: receipt_hash, record });
  }

  /** Compares the scope and the counts of the statement with those of the pack. Throws `PERIOD_MISMATCH`. */
  expect({ statement, index }: { statement: PackStatement; index: number }): void {
    if (canonicalize(plain(statement.scope)) !== canonicalize(plain(this.#scope)))
      throw mismatch('an end statement about a different scope');
    const counted = this.#tally.counts();
    for (const [name, count] of Object.entries(counted))
      if (statement[name as keyof typeof counted] !== count)
        throw mismatch(`an end statement whose "${name}" is not ${String(count)}`);
    this.#stated = { statement, index };
  }

  get receipts(): number {
    return this.#tally.counts().receipts;
  }

  get summary(): ReportedPack {
    const { lines_hash: _lines, sessions_root: _root, ...counts } = this.#tally.counts();
    return { scope: this.#scope, counts, stated: statedBy(this.#stated) };
  }

  /** Facts that the pack cannot show, as text. */
  limits(): string[] {
    const before = 'approvals that were requested before the range: their votes may be outside the range';
    return [...this.#hiddenLimits(), ...controlLimits(this.#scope), ...(isWholeLog(this.#scope) ? [] : [before])];
  }

  /** Only the receipts of all tenants together would show that no leaf of the range was omitted. */
  #hiddenLimits(): string[] {
    const { from, to } = this.#scope.leaves;
    const hidden = to - from - this.receipts;
    if (hidden === 0) return [];
    return [`${hidden} of the ${to - from} leaves in the range: only the operator states that the scope excludes them`];
  }

  missing(): string[] {
    if (this.#stated === null) return ['the end statement, which is the last line'];
    return this.#links.missingHeads().map((head) => `no session ends with ${head}`);
  }

  /** A kernel seals nothing while its clock is wrong, so times rise along the log, except for skew and waiting. */
  #assertInTime(issuedAt: string): void {
    // Instants have one length, so their texts compare like times.
    if (issuedAt >= this.#latest) {
      this.#latest = issuedAt;
      return;
    }
    if (Date.parse(this.#latest) - Date.parse(issuedAt) > disorderMaxMs) {
      const problem = `the receipt is dated ${issuedAt}, but an earlier receipt of the log is dated ${this.#latest}`;
      throw new VerificationError('TIME_MISMATCH', problem);
    }
  }

  #assertInScope({ payload }: OpenedReceipt, place: number): void {
    const { tenant_id, leaves, sessions, issued } = this.#scope;
    if (payload.tenant_id !== tenant_id) throw mismatch(`a receipt of the tenant ${payload.tenant_id}`);
    if (place < leaves.from || place >= leaves.to) throw mismatch(`a receipt at place ${place} of the log`);
    if (sessions?.includes(payload.session_id) === false)
      throw mismatch(`a receipt of the session ${payload.session_id}`);
    // Instants have one length, so their texts compare like times.
    if (issued !== null && (payload.issued_at < issued.from || payload.issued_at >= issued.to))
      throw mismatch(`a receipt issued at ${payload.issued_at}`);
  }
}

function bytesOf(line: Uint8Array | string): Uint8Array {
  return typeof line === 'string' ? utf8Bytes(line) : line;
}

function isEnd(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'end' in value;
}

function policyName({ policy_hash, policy_epoch }: { policy_hash: string | null; policy_epoch: number }): string {
  return `${policy_epoch} ${policy_hash ?? ''}`;
}

function plain(value: unknown): JsonValue {
  return parsePlainJson(value);
}

function statedBy(stated: { statement: PackStatement; index: number } | null): ReportedPack['stated'] {
  if (stated === null) return null;
  const { receipts, log_size } = stated.statement;
  return { receipts, log_size, statement_index: stated.index };
}

function mismatch(found: string): VerificationError {
  return new VerificationError(
    'PERIOD_MISMATCH',
    `the pack must match its scope and its statement, but it has ${found}`,
  );
}
