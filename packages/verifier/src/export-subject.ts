import type { EvidenceScope, PeriodHeader, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

/** The subject and period that the caller requested. Any other export is refused. */
export type ExportSubject = {
  tenant?: string | undefined;
  session?: string | undefined;
  /** The ends of the period. */
  from?: string | undefined;
  to?: string | undefined;
};

/** Checks each receipt of a session. Throws {@link VerificationError} `SUBJECT_MISMATCH`, like all functions here. */
export function assertSubject(
  { tenant_id, session_id }: Pick<ReceiptPayload, 'tenant_id' | 'session_id'>,
  { tenant, session }: ExportSubject,
): void {
  if ((tenant ?? tenant_id) !== tenant_id) throw mismatch(`of the tenant ${tenant_id}`);
  if ((session ?? session_id) !== session_id) throw mismatch(`of the session ${session_id}`);
}

export function assertPeriodAsked(header: PeriodHeader, { tenant, from, to }: ExportSubject): void {
  if ((tenant ?? header.tenant_id) !== header.tenant_id) throw mismatch(`of the tenant ${header.tenant_id}`);
  if ((from ?? header.from) !== header.from || (to ?? header.to) !== header.to)
    throw mismatch(`of the period ${header.from} to ${header.to}`);
}

/** Throws when the scope of the pack is not the requested one. */
export function assertPackSubject(scope: EvidenceScope, { tenant, session, from, to }: ExportSubject): void {
  const { tenant_id, sessions, issued } = scope;
  if ((tenant ?? tenant_id) !== tenant_id) throw mismatch(`of the tenant ${tenant_id}`);
  if (session !== undefined && (sessions?.length !== 1 || sessions[0] !== session))
    throw mismatch(`of ${sessions === null ? 'all sessions' : `the sessions ${sessions.join(', ')}`}`);
  if ((from !== undefined && issued?.from !== from) || (to !== undefined && issued?.to !== to))
    throw mismatch(issued === null ? 'not limited to a period' : `of the period ${issued.from} to ${issued.to}`);
}

export function assertNoPeriodAsked({ from, to }: ExportSubject): void {
  if ((from ?? to) !== undefined) throw mismatch('of a session, not of a period');
}

function mismatch(subject: string): VerificationError {
  return new VerificationError('SUBJECT_MISMATCH', `the export is ${subject}`);
}
