import { sha256Of, type Digest } from '@countersign/contracts';
import {
  examplesMax,
  replayReceiptsMax,
  type Changed,
  type ReplayDetails,
  type ReplayFindings,
  type ReplayQuestion,
} from '@countersign/contracts/control-plane';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { decideAgain, decideAsRecorded, type CompiledPolicy, type DecidedAgain } from '@countersign/policy';
import { VerificationError, verifyRecord, type TrustedKeys } from '@countersign/verifier';
import { changeOf, claimedId, EntriesFromTheEnd, isAsked, type LedgerEntry } from './read-entries.ts';
import { countedInOrder, emptyMatrix } from './tally.ts';

type ReplayOptions = {
  question: ReplayQuestion;
  treeSize: number;
  /** `null` repeats each decision under its own policy. */
  draft: { policy: CompiledPolicy; ceilings: readonly string[] } | null;
  /** The policy of this hash, under which decisions were made. `null` when it is no longer available. */
  policyOf(hash: string): CompiledPolicy | null;
  trust: TrustedKeys;
  provider: CryptoProvider;
};

type Made = { receipt_hash: Digest; changed: Changed };
type Result = { findings: ReplayFindings; details: ReplayDetails };

/**
 * Reads receipts of a tenant like `WhatIf`, newest first, and shows each decision in question next to its repeated
 * decision. The findings do not identify callers or their calls. The details do.
 *
 * @example
 * const replay = new Replay({ question, treeSize, draft: null, policyOf, trust, provider });
 * for (const entry of entries) if (!replay.take(entry)) break;
 * const { findings, details } = replay.result({ isWhole: true });
 */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #entries: EntriesFromTheEnd;
  /** Newest first. */
  readonly #made: Made[] = [];
  readonly #refused: ReplayDetails['unverifiable'] = [];
  #refusals = 0;
  #receipts = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#entries = new EntriesFromTheEnd({ ...options, tenant: options.question.tenant_id });
  }

  get decisions(): number {
    return this.#made.length;
  }

  /** Returns `false` when nothing more needs to be read. */
  take(entry: LedgerEntry): boolean {
    this.#receipts += 1;
    try {
      this.#takeVerified(entry);
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      this.#refusals += 1;
      const refused = { receipt_id: claimedId(entry.receipt), code: error.code };
      if (this.#refused.length < examplesMax) this.#refused.push(refused);
    }
    return this.#made.length < this.#options.question.limit && this.#receipts < replayReceiptsMax;
  }

  /** `isWhole`: no older receipt of the tenant was left unread. */
  result({ isWhole }: { isWhole: boolean }): Result {
    const made = this.#made.toReversed();
    const differing = made.filter(differs);
    return {
      findings: this.#findings(made, isWhole),
      details: {
        first_difference: differing[0]?.changed ?? null,
        differences: differing.slice(0, examplesMax).map(({ changed }) => changed),
        unverifiable: this.#refused,
        missing: missingIn(made),
      },
    };
  }

  #findings(made: readonly Made[], isWhole: boolean): ReplayFindings {
    const { question, treeSize: tree_size, provider } = this.#options;
    const pairs = made.map(({ receipt_hash, changed: { before, after } }) => ({ receipt_hash, before, after }));
    const place = made.findIndex(differs);
    const first = pairs[place];
    const matrix = emptyMatrix();
    for (const { before, after } of pairs) matrix[before][after] += 1;
    const found = {
      type: 'countersign.replay.v1' as const,
      ...{ policy: question.policy, policy_hash: question.policy_hash, tree_size },
      is_narrowed: question.session_id !== null || question.from !== null || question.to !== null,
      ...{ decisions: pairs.length, is_whole: isWhole, unverifiable: this.#refusals, matrix, pairs },
      first_difference: first === undefined ? null : { ...first, place },
    };
    const replay_hash = sha256Of(provider, canonicalBytes(parsePlainJson(found)));
    return { ...found, replay_hash };
  }

  #takeVerified(entry: LedgerEntry): void {
    const { provider, question } = this.#options;
    const { payload, receipt_hash } = this.#entries.open(entry);
    const { session_id } = question;
    if (!isAsked(payload, question) || (session_id !== null && payload.session_id !== session_id)) return;
    const record = verifyRecord(entry.record, entry.receipt, provider);
    const changed = changeOf(record, this.#again(record));
    this.#made.push({ receipt_hash: receipt_hash as Digest, changed }); // the verifier computed it
  }

  #again(record: BoundaryRecord): DecidedAgain {
    const { draft, policyOf } = this.#options;
    const { policy_hash: hash } = record;
    const recorded = hash === null ? 'none' : (policyOf(hash) ?? 'unknown');
    if (draft === null) return decideAsRecorded(record, recorded);
    return decideAgain(record, { draft: draft.policy, recorded, ceilings: draft.ceilings });
  }
}

/** A decision that cannot be replayed does not count as different. */
function differs({ changed: { before, after } }: Made): boolean {
  return after !== 'UNREPLAYABLE' && after !== before;
}

function missingIn(made: readonly Made[]): ReplayDetails['missing'] {
  const counts = new Map<string, number>();
  for (const { changed } of made) for (const field of changed.missing) counts.set(field, (counts.get(field) ?? 0) + 1);
  return countedInOrder(counts);
}
