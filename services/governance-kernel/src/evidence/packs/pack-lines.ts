import { setImmediate } from 'node:timers/promises';
import type { TenantId } from '@countersign/contracts';
import type { PackHeader, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { canonicalize, parsePlainJson, utf8Bytes } from '@countersign/crypto';
import { signatureText, type PackTally } from '@countersign/receipts';
import { pageLinks, canonicalLines, type ProofDeps } from '../receipts/proven-lines.ts';
import type { ChainLink } from '../../store/chain-link.ts';
import type { ActivationRow } from '../../store/evidence-store.ts';
import { sealedPayload, sealedRecord } from '../../ledger/sealed-text.ts';

type PackExportDeps = ProofDeps & {
  header: PackHeader;
  /** The chain links after the leaf `after`, in the order of the log. */
  listAfter(after: number): Promise<ChainLink[]>;
  /**
   * The activation of this policy, for the tenant or the installation, that was in force at `at`. `null` when the
   * ledger has lost it.
   */
  findActivation(named: {
    tenant: TenantId;
    policyHash: string;
    epoch: number;
    at: Date;
  }): Promise<ActivationRow | null>;
};

/**
 * Generates all lines except the last, and counts them in the tally. One page is in memory at a time. Other requests
 * are served between two pages.
 */
export async function* packLines(deps: PackExportDeps, tally: PackTally): AsyncGenerator<string> {
  const policies = new Set<string>();
  const counted = (line: string) => {
    tally.addLine(utf8Bytes(line));
    return `${line}\n`;
  };
  yield counted(canonicalize(parsePlainJson(deps.header)));
  for (let after = deps.header.scope.leaves.from - 1; ;) {
    const links = await deps.listAfter(after);
    const lines = await canonicalLines(deps, links);
    let page = '';
    for (const [at, link] of links.entries()) {
      const payload = sealedPayload(link.payload);
      const policy = await newPolicy(deps, policies, payload);
      if (policy !== null) tally.addPolicy();
      page += `${policy === null ? '' : counted(policy)}${counted(lines[at] ?? '')}`;
      const record = link.record === null ? undefined : sealedRecord(link.record);
      tally.addReceipt({ payload, receiptHash: link.receiptHash, record });
    }
    if (page !== '') yield page;
    const last = links.at(-1);
    if (last === undefined || links.length < pageLinks) return;
    after = last.logIndex;
    await setImmediate();
  }
}

/** The line of a policy that no earlier line contains. A pack without the line of a policy does not verify. */
async function newPolicy(
  { header, findActivation }: PackExportDeps,
  named: Set<string>,
  { kind, policy_hash: policyHash, policy_epoch: epoch, issued_at }: ReceiptPayload,
): Promise<string | null> {
  const name = `${epoch} ${policyHash ?? ''}`;
  if (kind !== 'decision' || policyHash === null || named.has(name)) return null;
  named.add(name);
  const row = await findActivation({ tenant: header.scope.tenant_id, policyHash, epoch, at: new Date(issued_at) });
  return row === null ? null : policyText(row);
}

/** The line of a policy. It contains the bundle's stored text, which is large and already canonical. */
function policyText({ tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at }: ActivationRow): string {
  const signed = signatureText({ alg: 'Ed25519', key_id, value: signature });
  const members = [
    `"bundle":${bundle}`,
    `"confirmed_at":${JSON.stringify(activated_at)}`,
    `"epoch":${epoch}`,
    `"policy_hash":${JSON.stringify(policy_hash)}`,
    `"signature":${signed}`,
    `"tenant_id":${canonicalize(tenant_id)}`,
  ];
  return `{"policy":{${members.join(',')}}}`;
}
