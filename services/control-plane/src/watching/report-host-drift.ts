import { WorkspaceId, type EventOf } from '@countersign/contracts';
import type { kernelHostDrift } from '@countersign/contracts/governance-kernel';
import { reportSighting, type Watching } from './report-sighting.ts';
import { shownText } from './shown-text.ts';

const lettersMax = 200;

type Found = EventOf<typeof kernelHostDrift>['data'];

/** Opens an incident for an import in which an external recorder saw calls that no decision of the workspace covers. */
export async function reportHostDrift(context: Watching, found: Found): Promise<void> {
  const workspaceId = WorkspaceId.safeParse(found.tenant_id);
  // Other tenants of the kernel have no workspace here.
  if (!workspaceId.success) return;
  const { host_chain_id, chain_id, counts, receipt_ids, verified, imported_by, detected_at } = found;
  const { without_intent, after_deny, destination_mismatch, volume_exceeded } = counts;
  const all = without_intent + after_deny + destination_mismatch + volume_exceeded;
  await reportSighting(context, workspaceId.data, {
    title: 'A recorder saw network traffic that no decision covers',
    ...{ severity: 'high', category: 'conduct', receipts: receipt_ids },
    note: `${imported_by} imported the recorder chain ${shownText(chain_id, lettersMax)} (${host_chain_id}) at ${detected_at}. ${all} of its events drift: ${without_intent} without a decision, ${after_deny} after a denial, ${destination_mismatch} to another destination, ${volume_exceeded} with more bytes than allowed. For ${verified} of them, the receipts of the recorder verify.`,
    dedupKey: `host-drift:${host_chain_id}`,
    sighting: detected_at,
  });
}
