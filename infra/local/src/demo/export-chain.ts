import type { ExportLine } from '@countersign/contracts/governance-kernel';
import type { StartedSystem } from '../started-system.ts';
import { operatorClient, sessionId } from './agent.ts';

export type Exported = {
  chain: ExportLine[];
  /** The keys that a verifier pins. They come from the operator and not from the export. */
  keys: unknown;
};

/**
 * All evidence of one session: its end, its receipts in order, their records, a checkpoint, and a proof for each
 * receipt.
 */
export async function exportChain(system: StartedSystem): Promise<Exported> {
  const operator = operatorClient(system, 'alice');
  const { body: chain } = await operator.exportReceipts({ query: { session_id: sessionId } });
  const { body: keys } = await operator.listTrustKeys();
  return { chain, keys };
}
