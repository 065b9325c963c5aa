import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { foldedToolName } from '@countersign/policy';

/** The facts of a vote. A vote by passkey also has the signed statement and the public key. */
type SignedVote = {
  credential?: unknown;
  public_key?: JsonValue;
  statement?: { action: string; approval_expires_at: string };
};

/** The approving votes on one approval. Two spellings of one name are one person. */
export class ApprovalVotes {
  /** The people by the exact spellings of their names. */
  readonly #people = new Map<string, string>();
  /** The people whose votes count toward a quorum. */
  readonly #counted = new Set<string>();
  readonly #voted = new Set<string>();
  /** The person of each public key. The votes of one key count as the votes of one person. */
  readonly #owners = new Map<string, string>();
  readonly #shownActions = new Set<string>();
  /** The exact name of the person who broke the glass. */
  #brokenBy: string | null = null;
  #signedUntil = '~';

  add({ principal_id: by, kind }: BoundaryRecord, { credential, public_key, statement }: SignedVote): void {
    const person = foldedToolName(by);
    this.#voted.add(person);
    if (kind === 'break_glass') this.#brokenBy = by;
    if (credential === 'passkey' && public_key !== undefined && statement !== undefined) {
      this.#shownActions.add(statement.action);
      if (statement.approval_expires_at < this.#signedUntil) this.#signedUntil = statement.approval_expires_at;
      const key = canonicalize(public_key);
      if ((this.#owners.get(key) ?? person) !== person) return;
      this.#owners.set(key, person);
    }
    if (kind === 'break_glass') return;
    this.#people.set(by, person);
    this.#counted.add(person);
  }

  get isBroken(): boolean {
    return this.#brokenBy !== null;
  }

  /** The earliest expiry of the approval that a passkey signed. `~` is after every instant. */
  get signedUntil(): string {
    return this.#signedUntil;
  }

  isBy(name: string): boolean {
    return this.#voted.has(foldedToolName(name));
  }

  /** Whether each passkey signed a statement about a call with this action. */
  showed(action: string): boolean {
    return [...this.#shownActions].every((shown) => shown === action);
  }

  /** The number of people who voted. An approver in a rule is matched exactly. */
  count(approvers: readonly string[]): number {
    if (approvers.length === 0) return this.#counted.size;
    return new Set(approvers.flatMap((name) => this.#people.get(name) ?? [])).size;
  }

  /** Whether a person whom a rule names broke the glass. */
  isBrokenByOneOf(approvers: readonly string[]): boolean {
    return this.#brokenBy !== null && (approvers.length === 0 || approvers.includes(this.#brokenBy));
  }
}
