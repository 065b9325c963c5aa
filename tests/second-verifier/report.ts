import type { Evidence } from './evidence.ts';
import type { Fault } from './fault.ts';

export type Report = {
  verdict: 'VERIFIED' | 'INCOMPLETE' | 'UNDECIDABLE' | 'NOT_VERIFIED';
  code?: string;
  line?: number;
  about?: string;
  missing: string[];
  integrity: 'VERIFIED' | 'UNDECIDED' | 'BROKEN';
  completeness: 'COMPLETE' | 'INCOMPLETE' | 'UNDECIDED';
  signer: 'TRUSTED' | 'UNKNOWN' | 'NOT_TRUSTED' | 'UNDECIDED';
  time: 'WITNESSED' | 'LOGGED' | 'CLAIMED' | 'CONTRADICTED' | 'UNDECIDED';
  witnessed: { after: string | null; by: string } | null;
  broken_glass: number;
  issuer_defects: number;
};

/** The report about evidence without a fault (12). */
export function reportOf({ missing, chains, witnesses, brokenGlass, issuerDefects }: Evidence): Report {
  const places = [...chains.values()].flatMap((chain) => [...chain.places.values()]);
  const isLogged = places.every(({ logIndex }) => logIndex !== undefined); // 12.4
  const isComplete = missing.size === 0; // 12.2
  const indexes = places.flatMap(({ logIndex }) => logIndex ?? []);
  const witnessed = isLogged && indexes.length > 0 ? (witnesses?.boundsOf(indexes) ?? null) : null; // 12.4
  const isSeen = witnessed !== null || witnesses === null || witnesses.asksNothing;
  const logged = witnessed === null ? 'LOGGED' : 'WITNESSED';
  return {
    verdict: isComplete && isLogged && isSeen ? 'VERIFIED' : 'INCOMPLETE', // 12.5
    missing: [...missing],
    integrity: 'VERIFIED',
    completeness: isComplete ? 'COMPLETE' : 'INCOMPLETE',
    signer: 'TRUSTED',
    time: isLogged ? logged : 'CLAIMED',
    witnessed,
    broken_glass: brokenGlass,
    issuer_defects: issuerDefects,
  };
}

const undecided = ['KEY_UNKNOWN', 'TOO_LARGE'];
const untrusted = ['SIGNATURE_INVALID', 'KEY_REVOKED', 'KEY_EXPIRED', 'KEY_NOT_VALID_YET'];

/** The report about evidence with a fault (12). */
export function reportOfFault({ code, message }: Fault, { line, brokenGlass, issuerDefects }: Evidence): Report {
  const isUndecided = undecided.includes(code);
  return {
    verdict: isUndecided ? 'UNDECIDABLE' : 'NOT_VERIFIED', // 12.5
    code,
    line,
    about: message,
    missing: [],
    integrity: isUndecided ? 'UNDECIDED' : 'BROKEN', // 12.1
    completeness: code === 'EMPTY' ? 'INCOMPLETE' : 'UNDECIDED', // 12.2
    signer: signerAfter(code),
    time: code === 'TIME_MISMATCH' ? 'CONTRADICTED' : 'UNDECIDED', // 12.4
    witnessed: null,
    broken_glass: brokenGlass,
    issuer_defects: issuerDefects,
  };
}

function signerAfter(code: string): Report['signer'] {
  if (code === 'KEY_UNKNOWN') return 'UNKNOWN'; // 12.3
  return untrusted.includes(code) ? 'NOT_TRUSTED' : 'UNDECIDED';
}
