import type { ReceiptId } from '@countersign/contracts';
import {
  tenantOfVector,
  type ConformanceProof,
  type SignedConformanceReport,
} from '@countersign/contracts/governance-kernel';
import type { KernelClient } from '@countersign/contracts/routes';
import { recordIdOf, ulidOf } from '@countersign/receipts';

/** Few enough that a busy kernel hardly notices. */
const readsAtOnce = 8;

/** Long enough to read the proof of every vector. The limit ends the reading of an endless list of receipts. */
const readingMsMax = 300_000;

type Ran = { signed: SignedConformanceReport; vectors: ConformanceProof['vectors'] };

/** Reads everything that proves a report, as any operator can. Rejects when that takes too long. */
export async function collectProof(
  client: KernelClient,
  { signed, vectors, withinMs = readingMsMax }: Ran & { withinMs?: number },
): Promise<ConformanceProof> {
  const { receipt_id } = signed;
  const inclusion = await client.as({ tenant: 'system' }).getInclusionProof({ query: { receipt_id } });
  return {
    format: 'countersign/conformance-proof.v1',
    signed,
    vectors,
    evidence: { ...(await evidenceOf(client, 'system', receipt_id)), inclusion: inclusion.body },
    decisions: await decisionsOf(client, signed, performance.now() + withinMs),
  };
}

async function evidenceOf(client: KernelClient, tenant: string, id: ReceiptId) {
  const reader = client.as({ tenant });
  const receipt = (await reader.getReceipt({ params: { receipt_id: id } })).body;
  const record = (await reader.getRecord({ params: { record_id: recordIdOf(ulidOf(id)) } })).body;
  return { receipt, record };
}

/** The decisions of the vectors that passed. Each occurs once, although a repeated call returns the same one. */
async function decisionsOf(client: KernelClient, { report }: SignedConformanceReport, untilMs: number) {
  const named = new Map<ReceiptId, string>();
  for (const { vector_id, outcome, seen } of report.results)
    for (const { receipt_id: id } of outcome === 'passed' ? seen : [])
      if (id !== null) named.set(id, tenantOfVector(vector_id));
  const remaining = [...named].entries();
  const decisions: ConformanceProof['decisions'] = [];
  const read = async () => {
    for (const [at, [id, tenant]] of remaining) {
      if (performance.now() > untilMs)
        throw new Error(`The report names ${named.size} receipts, which are too many to read in time`);
      decisions[at] = await evidenceOf(client, tenant, id);
    }
  };
  await Promise.all(Array.from({ length: readsAtOnce }, read));
  return decisions;
}
