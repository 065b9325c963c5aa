import { listConsoleWorkspaces } from '@countersign/contracts/control-plane';
import { getMe } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';
import { findOrgIds } from '../../store/orgs.ts';

export const listConsoleWorkspacesRoute = ({ gateway, database }: Context) =>
  handlePerson(listConsoleWorkspaces)(async ({ caller, signal }) => {
    const asPerson = gateway.as(caller.delegation, { getMe });
    const { workspaces } = await answerOf('gateway', () => asPerson.getMe({ signal }));
    const ids = workspaces.map(({ id }) => id);
    const orgs = await findOrgIds(database.reader, ids);
    const data = workspaces.map(({ id, name, role }) => ({
      ...{ workspace_id: id, name, role },
      org_id: orgs.get(id) ?? null,
    }));
    return { data, next_cursor: null };
  });
