import type { ChainExport, Checkpoint, SignedReceipt } from '@countersign/contracts/governance-kernel';
import type { ChainLink } from '../store/record-store.ts';

/** What `countersign-verify` checks offline. `paths` stand in the order of the links. */
export function chainExportOf(
  links: readonly ChainLink[],
  { note, tree_size }: Checkpoint,
  paths: readonly string[][],
): ChainExport {
  return {
    format: 'countersign/chain-export.v1',
    receipts: links.map(({ receipt: { payload, signature } }): SignedReceipt => ({ payload, signature })),
    records: links.flatMap(({ record }) => (record === null ? [] : [record])),
    checkpoint: { note },
    proofs: links.map(({ receipt }, index) => ({
      receipt_id: receipt.payload.receipt_id,
      log_index: receipt.log_index,
      tree_size,
      hashes: paths[index] ?? [],
    })),
  };
}
