import type { HardwareRoot } from '@countersign/contracts/governance-kernel';
import { bytesIn } from './host-hashes.ts';

/** The length of an SEV-SNP report (AMD 56860, table 23). */
const snpReportBytes = 1184;

/**
 * Whether the evidence has the outer form of its kind. Signatures are not checked. Kinds without a known form are
 * accepted (`APPLE_SEP`, `OTHER`, and any other name).
 */
const forms: Readonly<Record<string, (bytes: Uint8Array) => boolean>> = {
  /** TPMS_ATTEST begins with TPM_GENERATED_VALUE. A TPM2B_ATTEST has a length prefix. */
  TPM2: (bytes) =>
    beginsWith(bytes, [0xff, 0x54, 0x43, 0x47]) || beginsWith(bytes.subarray(2), [0xff, 0x54, 0x43, 0x47]),
  /** COSE_Sign1: an array of four, with or without its tag. */
  AWS_NITRO: (bytes) => beginsWith(bytes, [0x84]) || beginsWith(bytes, [0xd2, 0x84]),
  AMD_SEV_SNP: (bytes) => bytes.length >= snpReportBytes,
  /** A quote of version 4 or 5, for TDX. */
  INTEL_TDX: (bytes) => (bytes[0] === 4 || bytes[0] === 5) && bytes[1] === 0 && bytes[4] === 0x81,
};

export function isWellFormed({ kind, evidence }: HardwareRoot): boolean {
  const form = Object.hasOwn(forms, kind) ? forms[kind] : undefined;
  const bytes = bytesIn(evidence, 'base64');
  return bytes !== null && (form === undefined || form(bytes));
}

function beginsWith(bytes: Uint8Array, begin: readonly number[]): boolean {
  return begin.every((byte, index) => bytes[index] === byte);
}
