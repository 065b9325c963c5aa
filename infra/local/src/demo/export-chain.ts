import type { ChainExport } from '@countersign/contracts/governance-kernel';
import type { StartedSystem } from '../started-system.ts';
import { operatorClient, sessionId } from './agent.ts';

export type Exported = {
  chain: ChainExport;
  /** What a verifier pins: taken from the operator, never from the export. */
  keys: unknown;
  /** Hash of the newest receipt, pinned too: without it nobody could tell that the end was cut off. */
  head: string;
};

/** Everything that proves one session: its receipts in order, their records, one checkpoint and a proof for each receipt. */
export async function exportChain(system: StartedSystem): Promise<Exported> {
  const operator = operatorClient(system, 'alice');
  const query = { session_id: sessionId };
  const { body: newest } = await operator.listReceipts({ query: { ...query, limit: 1 } });
  const { body: chain } = await operator.exportReceipts({ query });
  const { body: keys } = await operator.listTrustKeys();
  return { chain, keys, head: newest.data[0]?.receipt_hash ?? '' };
}
