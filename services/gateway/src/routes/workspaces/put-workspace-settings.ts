import { putWorkspaceSettings } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { recordAudit } from '../../store/audit.ts';
import { getSettings, lockSettings, nextSettingsVersion, putSettings } from '../../store/workspaces.ts';
import { holdRight } from '../../members/hold-role.ts';
import { refuseStale } from '../../workspaces/refuse-stale.ts';
import { refuseOtherCurrency, replaceSections, settingsEtag } from '../../workspaces/settings.ts';

export const putWorkspaceSettingsRoute = (context: Context) =>
  handleWorkspace(putWorkspaceSettings)(async ({ body, caller, req, requestId, setHeader }) => {
    const { workspaceId, actor } = caller;
    refuseOtherCurrency(body, context.config.currency);
    const settings = await context.transaction(async (tx) => {
      await holdRight(tx, caller, 'settings.manage');
      await lockSettings(tx, workspaceId);
      const { settings: stored, version } = await getSettings(tx, workspaceId);
      refuseStale(req, { current: settingsEtag(stored), message: 'The settings changed since they were read' });
      const replaced = replaceSections(stored, body);
      const now = context.now();
      const next = await nextSettingsVersion(tx, workspaceId, version);
      await putSettings(tx, workspaceId, { settings: replaced, version: next }, now);
      const { workspaceId: _, ...sections } = body;
      const event = { workspaceId, action: 'workspace.settings_replaced', actor, requestId } as const;
      const details = { sections: Object.keys(sections).sort(), etag: settingsEtag(replaced) };
      await recordAudit(tx, { ...event, verdict: 'allow', subject: workspaceId, details }, now);
      return replaced;
    });
    setHeader('ETag', settingsEtag(settings));
    return settings;
  });
