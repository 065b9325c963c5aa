import { listInvitesToMe } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { listInvitesTo } from '../../store/invites.ts';

export const listInvitesToMeRoute = (context: Context) =>
  handlePerson(listInvitesToMe)(async ({ caller: { user } }) => ({
    data: user.email === null ? [] : await listInvitesTo(context.database.reader, user.email, context.now()),
  }));
