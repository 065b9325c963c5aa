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
  /** An entry's hash that was noted earlier: the log has to hold it still. */
  heads?: readonly string[] | undefined;
};

export type AuditReport = {
  /** `INCOMPLETE`: nothing is wrong, and the end or a noted entry is missing. `UNDECIDABLE`: a line is too large. */
  verdict: 'VERIFIED' | 'NOT_VERIFIED' | 'INCOMPLETE' | 'UNDECIDABLE';
  /** The scope of the log: a workspace, or a person. */
  workspace: string | null;
  /** Entries that verified, up to the first that did not. */
  entries: number;
  /** Note it: a later export that lacks it was rewritten. */
  head: string | null;
  missing: string[];
  /** Lines count from 1, the header included; 0: it stands in none. */
  fault: { code: VerificationErrorCode; message: string; line: number } | null;
};

type AuditContent = { readonly [member: string]: JsonValue };

/** An entry by what its chain rests on, whatever its service calls the members. `content` is what the hash covers. */
type ChainedEntry = { scope: string; seq: number; prevHash: string | null; hash: string; content: AuditContent };

type Log = { scope: string; entryOf: (value: unknown) => ChainedEntry };

/** SHA-256 over the canonical JSON (RFC 8785) of all members but the hash itself: anyone with the entries recomputes the chain. */
export function auditHash(provider: CryptoProvider, content: AuditContent): string {
  return digestOf(provider, canonicalize({ ...content }));
}

/**
 * Verifies the audit log of a workspace or a person, a line at a time (`countersign/audit-export.v1` of the gateway,
 * `.v2` of its siblings). A changed, added, removed or moved entry breaks it, and a tail that was cut off lacks its
 * end. An attacker who can rewrite all of it can make a consistent chain: `heads` that were noted earlier show that.
 * Never throws for what the export holds.
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

  /** The next line, without its line feed. False when nothing more needs to be read. */
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
    if (this.#isEnded) throw new VerificationError('MALFORMED', 'something follows the end of the log');
    if (this.#log === null) this.#begin(logOf(value));
    else if (typeof value === 'object' && value !== null && 'end' in value)
      this.#end(parseUntrusted(AuditExportEnd, value, 'end'));
    else this.#add(this.#log.entryOf(value), this.#log);
  }

  #begin(log: Log): void {
    const { workspace } = this.#options;
    if (workspace !== undefined && workspace !== log.scope)
      throw new VerificationError('SUBJECT_MISMATCH', `the log is that of ${log.scope}`);
    this.#log = log;
  }

  #add({ scope, seq, prevHash, hash, content }: ChainedEntry, log: Log): void {
    if (scope !== log.scope) throw new VerificationError('SUBJECT_MISMATCH', `entry ${seq} is of ${scope}`);
    if (seq !== this.#entries + 1)
      throw new VerificationError('CHAIN_GAP', `entry ${this.#entries + 1} is missing: ${seq} follows`);
    if (prevHash !== this.#head)
      throw new VerificationError('PREV_HASH_MISMATCH', `entry ${seq} follows another than the one before it`);
    if (auditHash(this.#options.provider, content) !== hash)
      throw new VerificationError('HASH_MISMATCH', `entry ${seq} is not what was written`);
    this.#entries += 1;
    this.#head = hash;
    this.#noted.delete(hash);
  }

  #end({ end }: AuditExportEnd): void {
    if (end.seq !== this.#entries || end.hash !== this.#head)
      throw new VerificationError('HEAD_MISMATCH', `the log ends at ${this.#entries}, and should end at ${end.seq}`);
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
