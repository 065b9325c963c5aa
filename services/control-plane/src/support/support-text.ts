import type { SupportReport } from '@countersign/contracts/control-plane';

type Report = Pick<SupportReport, 'versions' | 'mode' | 'decision' | 'policy'>;

/**
 * `ofCall` is the gateway's text of the failed call. It contains only known names and ids, so nothing needs escaping.
 */
export function supportText({ versions, mode, decision, policy }: Report, ofCall: string): string {
  const lines: [string, string][] = [
    ['control', versions.control_plane],
    ['kernel', versions.kernel ?? 'does not answer'],
    ['mode', mode === null ? 'unknown' : `${mode.mode}, ${mode.boundary}`],
    ['policy', policy === null ? 'none known' : `${policy.policy_hash} epoch ${policy.policy_epoch} (${policy.of})`],
    ['receipt', decision === null ? 'none' : receiptText(decision)],
  ];
  return `${ofCall}${lines.map(([name, value]) => `  ${name.padEnd(12)} ${value}\n`).join('')}`;
}

type Decision = NonNullable<SupportReport['decision']>;

function receiptText({ receipt_id, verdict, reason_code, verified, fault }: Decision): string {
  return `${receipt_id} ${verdict} ${reason_code}, ${verified ? 'verified' : `not verified: ${fault ?? ''}`}`;
}
