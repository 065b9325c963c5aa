import { getWorkspaceSettings } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { getSettings } from '../../store/workspaces.ts';
import { settingsEtag } from '../../workspaces/settings.ts';

export const getWorkspaceSettingsRoute = ({ database }: Context) =>
  handleWorkspace(getWorkspaceSettings)(async ({ caller, setHeader }) => {
    const { settings } = await getSettings(database.reader, caller.workspaceId);
    setHeader('ETag', settingsEtag(settings));
    return settings;
  });
