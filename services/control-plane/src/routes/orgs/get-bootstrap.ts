import { getBootstrap, SetupStep } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { setupOf } from '../../orgs/setup-steps.ts';

export const getBootstrapRoute = (context: Context) =>
  handleWorkspace(getBootstrap)(async ({ caller }) => {
    const { org, done } = await setupOf(context, caller);
    return {
      workspace_id: caller.workspaceId,
      org: org === null ? null : { org_id: org.id, name: org.name },
      steps: SetupStep.options.map((step) => ({ step, done: done[step] })),
    };
  });
