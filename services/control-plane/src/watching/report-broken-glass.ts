import { WorkspaceId, type EventOf } from '@countersign/contracts';
import type { kernelGlassBroken } from '@countersign/contracts/governance-kernel';
import { reportSighting, type Watching } from './report-sighting.ts';
import { shownText } from './shown-text.ts';

const lettersMax = 500;

type Broken = EventOf<typeof kernelGlassBroken>['data'];

/** Opens an incident for each use of break glass in a workspace, so that other people review it afterwards. */
export async function reportBrokenGlass(context: Watching, broken: Broken): Promise<void> {
  const workspaceId = WorkspaceId.safeParse(broken.tenant_id);
  // Other tenants of the kernel have no workspace here.
  if (!workspaceId.success) return;
  const { approval_id, broken_at, broken_by, tool, action, reason, expires_at } = broken;
  await reportSighting(context, workspaceId.data, {
    title: 'One person approved alone by breaking the glass',
    ...{ severity: 'high', category: 'broken_glass', receipts: [] },
    note: `${broken_by} approved ${shownText(tool ?? action, lettersMax)} (${approval_id}) at ${broken_at}. The approval is valid until ${expires_at}. Reason: ${shownText(reason, lettersMax)}`,
    dedupKey: `broken-glass:${approval_id}`,
    sighting: broken_at,
  });
}
