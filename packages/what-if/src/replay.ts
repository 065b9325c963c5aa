import type { Digest } from '@countersign/contracts';
import {
  examplesMax,
  replayReceiptsMax,
  type Changed,
  type ReplayDetails,
  type ReplayFindings,
  type ReplayQuestion,
} from '@countersign/contracts/control-plane';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { decideAgain, decideAsRecorded, type CompiledPolicy, type DecidedAgain } from '@countersign/policy';
import { VerificationError, verifyRecord, type TrustedKeys } from '@countersign/verifier';
import { changeOf, claimedId, EntriesFromTheEnd, isAsked, type LedgerEntry } from './read-entries.ts';
import { countedInOrder, emptyMatrix } from './tally.ts';

type ReplayOptions = {
  question: ReplayQuestion;
  treeSize: number;
  /** Null: each decision is made again under the policy that it was made by. */
  draft: { policy: CompiledPolicy; ceilings: readonly string[] } | null;
  /** The policy of this hash, under which decisions were made; `null` when it is no longer known. */
  policyOf(hash: string): CompiledPolicy | null;
  trust: TrustedKeys;
  provider: CryptoProvider;
};

type Made = { receipt_hash: Digest; changed: Changed };
type Result = { findings: ReplayFindings; details: ReplayDetails };

/**
 * Takes all receipts of a tenant like `WhatIf`, and shows each decision that is asked about beside what it is when it
 * is made again. The findings do not identify callers or their calls; `details` has.
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

  /** False when nothing more needs to be read. */
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

  /** `isWhole`: there was nothing older to take. */
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
    const replay_hash = digestOf(provider, canonicalBytes(parsePlainJson(found))) as Digest; // digestOf writes exactly this form
    return { ...found, replay_hash };
  }

  #takeVerified(entry: LedgerEntry): void {
    const { provider, question } = this.#options;
    const { payload, receipt_hash } = this.#entries.open(entry);
    const { session_id } = question;
    if (!isAsked(payload, question) || (session_id !== null && payload.session_id !== session_id)) return;
    const record = verifyRecord(entry.record, entry.receipt, provider);
    const changed = changeOf(record, this.#again(record));
    this.#made.push({ receipt_hash: receipt_hash as Digest, changed }); // as the verifier has made it
  }

  #again(record: BoundaryRecord): DecidedAgain {
    const { draft, policyOf } = this.#options;
    const { policy_hash: hash } = record;
    const recorded = hash === null ? 'none' : (policyOf(hash) ?? 'unknown');
    if (draft === null) return decideAsRecorded(record, recorded);
    return decideAgain(record, { draft: draft.policy, recorded, ceilings: draft.ceilings });
  }
}

/** A decision that cannot be replayed is not known to differ. */
function differs({ changed: { before, after } }: Made): boolean {
  return after !== 'UNREPLAYABLE' && after !== before;
}

function missingIn(made: readonly Made[]): ReplayDetails['missing'] {
  const counts = new Map<string, number>();
  for (const { changed } of made) for (const field of changed.missing) counts.set(field, (counts.get(field) ?? 0) + 1);
  return countedInOrder(counts);
}
