import { getMe } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { listMemberships } from '../../store/members.ts';

export const getMeRoute = (context: Context) =>
  handlePerson(getMe)(async ({ caller: { user } }) => ({
    user,
    workspaces: await listMemberships(context.database.reader, user.id),
  }));
