import type { Verification } from '@countersign/contracts/control-plane';
import type { ExportReport } from '@countersign/verifier';

/** The part of a report that the answer contains: counts, and nothing that identifies a receipt. */
export function verificationOf(report: ExportReport): Verification {
  const { verdict, integrity, completeness, signer, time, fault, missing, ...counts } = report;
  const { receipts, records, proofs, broken_glass, issuer_defects, keys } = counts;
  return {
    ...{ verdict, integrity, completeness, signer, time, missing },
    fault: fault === null ? null : { code: fault.code, line: fault.line },
    ...{ receipts, records, proofs, keys },
    ...{ broken_glass: broken_glass.count, issuer_defects: issuer_defects.count },
  };
}
