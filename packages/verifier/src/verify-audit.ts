import { AuditExportEnd } from '@countersign/contracts';
import { ScopedAuditEntry, ScopedAuditHeader } from '@countersign/contracts/control-plane';
import { AuditEntry, AuditExportHeader } from '@countersign/contracts/gateway';
import { canonicalize, digestOf, parseStrictJson, type CryptoProvider, type JsonValue } from '@countersign/crypto';
import { isUndecidable } from './export-report.ts';
import { lineBytesMax, lineLimits } from './read-lines.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { faultOf, VerificationError, type VerificationErrorCode } from './verification-error.ts';

export type AuditOptions = {
  provider: CryptoProvider;
  /** The scope that the caller requested: a workspace, or a person. */
  workspace?: string | undefined;
  /** Hashes of entries that were noted earlier and that the log must still contain. */
  heads?: readonly string[] | undefined;
};

export type AuditReport = {
  /** `INCOMPLETE`: nothing is wrong, but the end or a noted entry is missing. `UNDECIDABLE`: a line is too large. */
  verdict: 'VERIFIED' | 'NOT_VERIFIED' | 'INCOMPLETE' | 'UNDECIDABLE';
  /** The scope of the log: a workspace, or a person. */
  workspace: string | null;
  /** Entries that verified, up to the first that did not. */
  entries: number;
  /** The hash of the last entry. Note it: a later export without this entry was rewritten. */
  head: string | null;
  missing: string[];
  /** Lines count from 1, including the header. 0 when no line is at fault. */
  fault: { code: VerificationErrorCode; message: string; line: number } | null;
};

type AuditContent = { readonly [member: string]: JsonValue };

/**
 * The members of an entry that its chain depends on, whatever their names in its service. `content` is the hashed
 * part.
 */
type ChainedEntry = { scope: string; seq: number; prevHash: string | null; hash: string; content: AuditContent };

type Log = { scope: string; entryOf: (value: unknown) => ChainedEntry };

/**
 * SHA-256 over the canonical JSON (RFC 8785) of all members except the hash itself. With the entries, the chain can be
 * recomputed independently.
 */
export function auditHash(provider: CryptoProvider, content: AuditContent): string {
  return digestOf(provider, canonicalize({ ...content }));
}

/**
 * Verifies the audit log of a workspace or a person, a line at a time (`countersign/audit-export.v1` of the gateway,
 * `.v2` of the other services). A changed, added, removed or moved entry breaks the chain, and a truncated log lacks
 * its end. An attacker who can rewrite all of it can create a consistent chain, which `heads` that were noted earlier
 * reveal. Never throws for any export.
 */
export class AuditVerification {
  readonly #options: AuditOptions;
  readonly #noted: Set<string>;
  #log: Log | null = null;
  #entries = 0;
  #head: string | null = null;
  #line = 0;
  #isEnded = false;
  #fault: AuditReport['fault'] = null;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#noted = new Set(options.heads);
  }

  /** Reads the next line, without its line feed. `false` when nothing more needs to be read. */
  take(line: string | Uint8Array): boolean {
    if (this.#fault !== null) return false;
    this.#line += 1;
    try {
      this.#verifyLine(parseStrictJson(line, lineLimits));
      return true;
    } catch (error) {
      this.#fault = { ...faultOf(error), line: this.#line };
      return false;
    }
  }

  /** Called for a line that is longer than this package accepts. */
  refuseLine(): void {
    this.#fault ??= { code: 'TOO_LARGE', message: `a line has more than ${lineBytesMax} bytes`, line: this.#line + 1 };
  }

  report(): AuditReport {
    const missing = [
      ...(this.#isEnded ? [] : ['the end of the log']),
      ...[...this.#noted].map((hash) => `the entry ${hash}`),
    ];
    const fault = this.#fault ?? (this.#entries === 0 ? emptiness : null);
    return {
      verdict: verdictOf(fault, missing),
      workspace: this.#log?.scope ?? null,
      entries: this.#entries,
      head: this.#head,
      missing,
      fault,
    };
  }

  #verifyLine(value: unknown): void {
    if (this.#isEnded) throw new VerificationError('MALFORMED', 'an entry follows the end of the log');
    if (this.#log === null) this.#begin(logOf(value));
    else if (typeof value === 'object' && value !== null && 'end' in value)
      this.#end(parseUntrusted(AuditExportEnd, value, 'end'));
    else this.#add(this.#log.entryOf(value), this.#log);
  }

  #begin(log: Log): void {
    const { workspace } = this.#options;
    if (workspace !== undefined && workspace !== log.scope)
      throw new VerificationError('SUBJECT_MISMATCH', `the log belongs to ${log.scope}`);
    this.#log = log;
  }

  #add({ scope, seq, prevHash, hash, content }: ChainedEntry, log: Log): void {
    if (scope !== log.scope) throw new VerificationError('SUBJECT_MISMATCH', `entry ${seq} belongs to ${scope}`);
    if (seq !== this.#entries + 1)
      throw new VerificationError('CHAIN_GAP', `entry ${this.#entries + 1} is missing: entry ${seq} follows`);
    if (prevHash !== this.#head)
      throw new VerificationError('PREV_HASH_MISMATCH', `entry ${seq} does not link to its predecessor`);
    if (auditHash(this.#options.provider, content) !== hash)
      throw new VerificationError('HASH_MISMATCH', `the hash of entry ${seq} does not match its content`);
    this.#entries += 1;
    this.#head = hash;
    this.#noted.delete(hash);
  }

  #end({ end }: AuditExportEnd): void {
    if (end.seq !== this.#entries || end.hash !== this.#head)
      throw new VerificationError(
        'HEAD_MISMATCH',
        `the last entry is ${this.#entries}, but the log must end with the stated entry ${end.seq} and its hash`,
      );
    this.#isEnded = true;
  }
}

/** Like an export of receipts: an empty log proves nothing. */
const emptiness = { code: 'EMPTY', message: 'the log has no entries', line: 0 } as const;

function verdictOf(fault: AuditReport['fault'], missing: string[]): AuditReport['verdict'] {
  if (fault !== null) return isUndecidable(fault.code) ? 'UNDECIDABLE' : 'NOT_VERIFIED';
  return missing.length === 0 ? 'VERIFIED' : 'INCOMPLETE';
}

const scopedFormat = ScopedAuditHeader.shape.format.value;

function logOf(header: unknown): Log {
  const isScoped =
    typeof header === 'object' && header !== null && 'format' in header && header.format === scopedFormat;
  if (isScoped) return { scope: parseUntrusted(ScopedAuditHeader, header, 'header').scope, entryOf: scopedEntry };
  return { scope: parseUntrusted(AuditExportHeader, header, 'header').workspaceId, entryOf: workspaceEntry };
}

function workspaceEntry(value: unknown): ChainedEntry {
  const { hash, ...content } = parseUntrusted(AuditEntry, value, 'entry');
  const { workspaceId: scope, seq, prevHash } = content;
  return { scope, seq, prevHash, hash, content };
}

function scopedEntry(value: unknown): ChainedEntry {
  const { hash, ...content } = parseUntrusted(ScopedAuditEntry, value, 'entry');
  const { scope, seq, prev_hash: prevHash } = content;
  return { scope, seq, prevHash, hash, content };
}
