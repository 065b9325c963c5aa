import { setImmediate } from 'node:timers/promises';
import type { TenantId } from '@countersign/contracts';
import type { BoundaryRecord, PackHeader, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { canonicalize, parsePlainJson, utf8Bytes } from '@countersign/crypto';
import { signatureText, type PackTally } from '@countersign/receipts';
import { pageLinks, canonicalLines, type ProofParts } from '../receipts/proven-lines.ts';
import type { ChainLink } from '../store/chain-link.ts';
import type { ActivationRow } from '../store/evidence-store.ts';

type PackParts = ProofParts & {
  header: PackHeader;
  /** The links behind a leaf, in the order of the log. */
  listAfter(after: number): Promise<ChainLink[]>;
  /** The tenant's own, or that of the installation, whichever was in force at the time. `null`: the ledger has lost it. */
  findActivation(named: {
    tenant: TenantId;
    policyHash: string;
    epoch: number;
    at: Date;
  }): Promise<ActivationRow | null>;
};

/**
 * All lines but the last, each with its line feed, and the counts of them. One page is in memory at a time; decisions are made between two pages.
 */
export async function* packLines(parts: PackParts, tally: PackTally): AsyncGenerator<string> {
  const policies = new Set<string>();
  const counted = (line: string) => {
    tally.addLine(utf8Bytes(line));
    return `${line}\n`;
  };
  yield counted(canonicalize(parsePlainJson(parts.header)));
  for (let after = parts.header.scope.leaves.from - 1; ;) {
    const links = await parts.listAfter(after);
    const lines = await canonicalLines(parts, links);
    let page = '';
    for (const [at, link] of links.entries()) {
      const payload = JSON.parse(link.payload) as ReceiptPayload; // sealed by this kernel
      const policy = await newPolicy(parts, policies, payload);
      if (policy !== null) tally.addPolicy();
      page += `${policy === null ? '' : counted(policy)}${counted(lines[at] ?? '')}`;
      const record = link.record === null ? undefined : (JSON.parse(link.record) as BoundaryRecord); // as above
      tally.addReceipt({ payload, receiptHash: link.receiptHash, record });
    }
    if (page !== '') yield page;
    const last = links.at(-1);
    if (last === undefined || links.length < pageLinks) return;
    after = last.logIndex;
    await setImmediate();
  }
}

/** The line of a policy that no line before names. A pack without the line of a policy does not verify, and says so. */
async function newPolicy(
  { header, findActivation }: PackParts,
  named: Set<string>,
  { kind, policy_hash: policyHash, policy_epoch: epoch, issued_at }: ReceiptPayload,
): Promise<string | null> {
  const name = `${epoch} ${policyHash ?? ''}`;
  if (kind !== 'decision' || policyHash === null || named.has(name)) return null;
  named.add(name);
  const row = await findActivation({ tenant: header.scope.tenant_id, policyHash, epoch, at: new Date(issued_at) });
  return row === null ? null : policyText(row);
}

/** Keyed by its text: a bundle is large, and its text is canonical. */
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
