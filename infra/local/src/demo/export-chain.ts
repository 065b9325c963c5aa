import { ChainExport } from '@countersign/contracts/governance-kernel';
import { operatorClient, sessionId } from './agent.ts';
import type { StartedSystem } from './started-system.ts';

/** What a verifier pins: a copy of the public keys, taken from the operator and not from the export. */
export type Exported = { chain: ChainExport; keys: unknown };

/** Everything that proves one session: its receipts in order, their records, one checkpoint and a proof for each receipt. */
export async function exportChain(system: StartedSystem): Promise<Exported> {
  const operator = operatorClient(system, 'alice');
  const query = { session_id: sessionId as never, limit: 200 }; // the branded id of a literal that fits its pattern
  const receipts = (await operator.listReceipts({ query })).body.data.reverse();
  const records = (await operator.listRecords({ query })).body.data.reverse();
  const checkpoint = (await operator.createCheckpoint()).body;
  const proofs = [];
  for (const { payload } of receipts) {
    const { body } = await operator.getInclusionProof({ query: { receipt_id: payload.receipt_id } });
    const { receipt_id, log_index, tree_size, hashes } = body;
    proofs.push({ receipt_id, log_index, tree_size, hashes });
  }
  const chain = ChainExport.parse({
    format: 'countersign/chain-export.v1',
    receipts: receipts.map(({ payload, signature }) => ({ payload, signature })),
    records,
    checkpoint: { note: checkpoint.note },
    proofs,
  });
  return { chain, keys: (await operator.listTrustKeys()).body };
}
