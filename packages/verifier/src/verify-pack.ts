import { PackEnd, PackPolicy, PackReceipt } from '@countersign/contracts/governance-kernel';
import type { PackHeader, ReportedPack } from '@countersign/contracts/governance-kernel';
import { InclusionPaths } from '@countersign/crypto';
import type { EarlierPlaces } from './earlier-places.ts';
import { ExportCheckpoints } from './export-checkpoints.ts';
import type { ExportEvidence } from './export-evidence.ts';
import { assertPackSubject, type ExportSubject } from './export-subject.ts';
import type { LogPolicy } from './log-policy.ts';
import { openLine } from './open-line.ts';
import { PackLineReader, type LineTexts, type ReadLine } from './pack-line-reader.ts';
import { PackLinks } from './pack-links.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';
import { verifyPackStatement } from './verify-pack-statement.ts';
import { assertPolicyActivation, assertPolicyStatement } from './verify-policy-statement.ts';
import type { OpenedReceipt } from './verify-receipt.ts';
import { assertParsedRecord } from './verify-record.ts';

type PackDeps = LogTrust &
  ExportSubject & {
    heads?: readonly string[] | undefined;
    evidence: ExportEvidence;
    earlier?: EarlierPlaces | undefined;
    places?: EarlierPlaces | undefined;
    policy?: LogPolicy | undefined;
  };

/** Verifies an evidence pack, a line at a time. Throws {@link VerificationError} at the first fault. */
export class PackVerification {
  readonly #deps: PackDeps;
  readonly #checkpoints: ExportCheckpoints;
  readonly #links: PackLinks;
  readonly #reader = new PackLineReader();
  readonly #paths: InclusionPaths;
  #isOpen = false;
  /** The policy on the last line that was read. It belongs to the receipt on the next line. */
  #policy: PackPolicy | null = null;
  /** Policies of revoked keys that no checkpoint shows to be signed before the revocation. */
  #undated = 0;

  constructor(header: PackHeader, deps: PackDeps) {
    this.#deps = deps;
    assertPackSubject(header.scope, deps);
    this.#checkpoints = new ExportCheckpoints(header, deps);
    if (this.#checkpoints.log?.origin !== header.log_origin)
      throw new VerificationError(
        'CHECKPOINT_INVALID',
        `no checkpoint of the header is of the log ${header.log_origin}`,
      );
    this.#links = new PackLinks(header, deps);
    this.#paths = new InclusionPaths(deps.provider);
  }

  /** Reads a line with a receipt. `null` for a line that only {@link take} can read or refuse. */
  read(line: Uint8Array | string): ReadLine | null {
    return this.#reader.read(line);
  }

  /** Takes a line that {@link read} has read. */
  takeReceipt(line: Uint8Array | string, { value, texts }: ReadLine): void {
    this.#links.takeCanonicalLine(line);
    this.#verifyReceipt(value, texts);
  }

  /** Takes any other line, including the header, as bytes and as its parsed value. */
  take(line: string | Uint8Array, value: unknown): void {
    this.#links.takeLine(line, value);
    if (!this.#isOpen) this.#isOpen = true;
    else if (hasMember(value, 'policy')) this.#takePolicy(parseUntrusted(PackPolicy, value, 'policy'));
    else if (hasMember(value, 'end')) this.#expectEnd(parseUntrusted(PackEnd, value, 'end'));
    else this.#verifyReceipt(parseUntrusted(PackReceipt, value, 'receipt line'));
  }

  get receipts(): number {
    return this.#links.receipts;
  }

  get checkpoints(): ExportCheckpoints {
    return this.#checkpoints;
  }

  get summary(): ReportedPack {
    return this.#links.summary;
  }

  limits(): string[] {
    const undated = `whether ${this.#undated} policies were signed before the revocation of their key: no checkpoint from before has a decision under them`;
    return [...this.#links.limits(), ...(this.#undated === 0 ? [] : [undated])];
  }

  missing(): string[] {
    return this.#links.missing();
  }

  #takePolicy(line: PackPolicy): void {
    this.#assertNoPolicy();
    this.#links.addPolicy(line);
    this.#policy = line;
  }

  /** `texts`: those of the line, if they are known. */
  #verifyReceipt(line: PackReceipt, texts?: LineTexts): void {
    const { trust, provider, evidence } = this.#deps;
    const { opened, checkpoint } = openLine(line, {
      trust,
      provider,
      texts,
      paths: this.#paths,
      checkpoints: this.#checkpoints,
      findCheckpoint: this.#findCheckpoint,
    });
    this.#openPolicy(line, opened);
    const { payload } = opened;
    const { record } = line;
    if (record !== undefined) assertParsedRecord(payload, record, { provider, text: texts?.record ?? null });
    this.#links.add({ opened, record, place: line.proof.log_index });
    if (record !== undefined) {
      const key = assertPolicyStatement(record, { trust, provider, seen: checkpoint });
      if (key !== null) evidence.sign(key);
    }
    const place = line.proof.log_index;
    const before = this.#checkpoints.findBefore(place);
    evidence.take(opened, { record, before: before?.time ?? null, logged: checkpoint?.time ?? null, place });
  }

  /**
   * Verifies the activation of a policy. The receipt that refers to the policy proves with its own key that the
   * activation was signed before it.
   */
  #openPolicy({ proof }: PackReceipt, { payload, key }: OpenedReceipt): void {
    if (this.#policy === null) return;
    const { policy_hash, epoch } = this.#policy.policy;
    if (payload.policy_hash !== policy_hash || payload.policy_epoch !== epoch) this.#assertNoPolicy();
    const seen = { time: payload.issued_at, key };
    const policyKey = assertPolicyActivation(this.#policy, { ...this.#deps, seen });
    // A pack need not have a checkpoint from before the revocation, since the policy key signed none of its receipts.
    const earliest = this.#checkpoints.findFirstWith(proof.log_index);
    if (policyKey.revoked_at !== undefined && !isSeenBefore(policyKey.revoked_at, earliest)) this.#undated += 1;
    this.#deps.evidence.sign(policyKey);
    this.#policy = null;
  }

  #expectEnd(line: PackEnd): void {
    this.#assertNoPolicy();
    const stated = verifyPackStatement(line, { ...this.#deps, checkpoints: this.#checkpoints });
    const { payload, key } = stated.opened;
    assertPackSubject({ ...stated.statement.scope, tenant_id: payload.tenant_id }, this.#deps);
    if (payload.tenant_id !== stated.statement.scope.tenant_id)
      throw new VerificationError(
        'PERIOD_MISMATCH',
        `the statement of ${payload.tenant_id} is about a different tenant`,
      );
    this.#links.expect(stated);
    this.#deps.evidence.sign(key);
    this.#deps.evidence.keys.add(key.key_id);
  }

  readonly #findCheckpoint = (size: number) => this.#checkpoints.find(size);

  #assertNoPolicy(): void {
    if (this.#policy !== null)
      throw new VerificationError('POLICY_MISMATCH', 'the line after a policy must be a receipt under that policy');
  }
}

/** Whether the checkpoint is from before the revocation, by a key that was still valid at the revocation. */
function isSeenBefore(revokedAt: string, checkpoint: TimedCheckpoint | undefined): boolean {
  if (checkpoint === undefined || checkpoint.time >= revokedAt) return false;
  const { valid_until: until } = checkpoint.key;
  return until === undefined || until > revokedAt;
}

function hasMember(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}
